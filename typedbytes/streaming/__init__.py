"""The task side of Hadoop Streaming: a mapper, a combiner and a reducer in one script.

A complete job, started by Hadoop as ``job.py map``, ``job.py combine`` and ``job.py reduce``::

    from typedbytes.streaming import counter, run

    def mapper(key, value):
        for word in value.split():
            yield word, 1

    def reducer(key, values):
        counter("words", "distinct")
        yield key, sum(values)

    if __name__ == "__main__":
        run(mapper, reducer, combiner=reducer)

Records arrive on standard input and leave on standard output in the format Hadoop names in the
environment (typed bytes, raw bytes or text). Both descriptors belong to the task alone while it runs:
what anything else prints goes to standard error. The exit code is 0 only when all input was read,
every record was processed and all output was delivered.
"""

from typedbytes.streaming._reporter import counter, ping, status
from typedbytes.streaming._run import run
from typedbytes.streaming._sidefiles import side_file
from typedbytes.streaming._user_code import Step, StopEarly, TooManyBadRecords
from typedbytes.streaming.task_environment import Task, task

__all__ = ["Step", "StopEarly", "Task", "TooManyBadRecords", "counter", "ping", "run", "side_file", "status", "task"]


def __dir__():
    return __all__
