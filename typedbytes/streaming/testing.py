"""Jobs in unit tests: mappers, combiners and reducers called as a task calls them, on lists of pairs.

    call_map(mapper, pairs)             the pairs that a mapper makes of pairs
    call_reduce(reducer, pairs)         the pairs that a reducer or a combiner makes of sorted pairs
    shuffle(pairs)                      the pairs in the order in which they reach a reducer
    run_job(pairs, mapper, reducer)     a whole job, also of several steps
    run_script(script, pairs)           the job of a script, with its steps and options
    counted()                           the counters counted inside a with block

Every pair is encoded and decoded, as on Hadoop: a tuple stays a tuple, a NumPy scalar does not stay one. Record classes
in annotations have the same meaning; what comes back is of the types in the return annotation. Tasks run by the code
of a job's tasks, one of each role. Hadoop itself, its processes and files are not here: ``typedbytes run`` has those.

>>> from typedbytes.streaming import lib
>>> run_job([(0, "b a"), (4, "b")], lambda key, line: [(word, 1) for word in line.split()], lib.sumreducer)
[('a', 1), ('b', 2)]
"""

import io
import os
import sys
import tempfile
from contextlib import contextmanager, nullcontext

from typedbytes import Decoder, Encoder, PairReader
from typedbytes.streaming import _reporter
from typedbytes.streaming._run import TaskRun
from typedbytes.streaming._sidefiles import side_files
from typedbytes.streaming._user_code import Step, check_steps
from typedbytes.streaming.capture import captured, environment_of
from typedbytes.streaming.task_environment import PARAM, Task, variable_of_property

__all__ = ["call_map", "call_reduce", "counted", "run_job", "run_script", "shuffle"]


def __dir__():
    return __all__


INPUT_FILE = "mapreduce_map_input_file"
STEP_NUMBER = "typedbytes_step"
NREDUCERS = "mapreduce_job_reduces"
MAP_INPUT = "stream_map_input"
OUTPUT_FOLDER = "mapreduce_task_output_dir"


def call_map(mapper, pairs, *, input_file=None, params=None):
    """Return the pairs that a mapper, a function, object or class as for run(), makes of pairs.

    `input_file` is the value of task().input_file during the call, and `params` are the parameters in task().params.

    >>> call_map(lambda key, value: [(value, key)], [("a", 1)])
    [(1, 'a')]
    """
    variables = _variables(params)
    if input_file is not None:
        variables[INPUT_FILE] = input_file
    with _environment(variables):
        return _decoded(*_called("map", Step(mapper), _encoded(pairs)))


def call_reduce(reducer, pairs, *, group_by=None, params=None):
    """Return the pairs that a reducer or a combiner makes of pairs, grouped by adjacent equal keys.

    `group_by` is that of run(), and `params` are the parameters in task().params.

    >>> call_reduce(lambda key, values: [(key, sum(values))], [("a", 1), ("a", 2), ("b", 3)])
    [('a', 3), ('b', 3)]
    """
    with _environment(_variables(params)):
        return _decoded(*_called("reduce", Step(reducer=reducer, group_by=group_by), _encoded(pairs)))


def shuffle(pairs):
    """Return the pairs sorted by their encoded keys, as Hadoop sorts them; pairs of one key keep their order.

    >>> shuffle([("oslo", 1), ("rom", 2), (-1, 3), (1, 4)])
    [(1, 4), (-1, 3), ('rom', 2), ('oslo', 1)]
    """
    return Decoder().decode_pairs(_sorted(_encoded(pairs)))


def run_job(pairs, mapper=None, reducer=None, combiner=None, *, group_by=None, params=None, steps=None):
    """Return the pairs that a job of one map task and one reduce task makes of pairs.

    `group_by` is that of run(), and `params` are the parameters in task().params. `steps`, in the place of functions,
    is a list of Step, as run() takes it: each reads what its `inputs` say, and has its options and properties. Where a
    step with raw_text reads the pairs of this call, and they are numbers and texts, these are the lines of its input.

    >>> run_job([(0, 5), (1, 7)], lambda key, value: [("all", value)], lambda key, values: [(key, max(values))])
    [('all', 7)]
    """
    if steps is None:
        steps = [Step(mapper, reducer, combiner, group_by=group_by)]
    elif mapper is not None or reducer is not None or combiner is not None or group_by is not None:
        raise TypeError("steps have functions and options of their own: leave out those of run_job()")
    else:
        check_steps(steps, Step())
    outputs, types = [_encoded(pairs)], {}
    for number, step in enumerate(steps, 1):
        variables = {**_variables(params), STEP_NUMBER: str(number)} if len(steps) > 1 else _variables(params)
        sources = step.settings.get("inputs", [number - 1])
        data = b"".join(outputs[source] for source in sources)
        lines = _lines_of(data) if "raw_text" in step.settings and sources == [0] else None
        data, types = _run_step(step, data, lines, variables)
        outputs.append(data)
    return _decoded(data, types)


def run_script(script, pairs, arguments=(), *, params=None):
    """Return the pairs that the job of a script makes of pairs, all in this process: breakpoints work.

    The script calls run(); arguments are the words that follow the role. Its counters are those of counted().
    """
    words = [os.fspath(script), "map", *arguments]
    before = sys.argv, sys.modules["__main__"], sys.path[:]
    try:
        with _environment(_variables(params)):
            steps = captured(*words[:1], words[1:])
            sys.argv = words
            return run_job(pairs, params=params, steps=steps)
    finally:
        sys.argv, sys.modules["__main__"], sys.path[:] = before


def _run_step(step, data, lines, variables):
    """Return the encoded pairs that a step makes of encoded pairs, or of lines, and the types of its annotations."""
    mapper, combiner, reducer = (step.functions[role] for role in ("map", "combine", "reduce"))
    if mapper is None:
        raise TypeError("a job needs a mapper: lib.identitymapper passes pairs on")
    own = {variable_of_property(name): value for name, value in step.settings.get("properties", {}).items()}
    has_reducer = reducer is not None and Task(own).nreducers != 0
    # Streaming's own say how a task is fed, which is not asked here.
    own = {name: value for name, value in own.items() if not name.startswith("stream_")}
    variables = {**own, **variables, NREDUCERS: str(int(has_reducer))}
    if lines is not None:
        data, variables[MAP_INPUT] = lines, "text"
    with _environment(variables):
        data, types = _called("map", step, data)
        if combiner is not None and has_reducer:
            data, types = _called("combine", step, _sorted(data))
        return _called("reduce", step, _sorted(data)) if has_reducer else (data, types)


@contextmanager
def counted():
    """Return a context manager whose dict has, after the block, what it counted by (group, name).

    >>> from typedbytes.streaming import counter
    >>> with counted() as amounts:
    ...     counter("words", "seen", 2)
    >>> amounts
    {('words', 'seen'): 2}
    """
    amounts = {}
    before, _reporter.counters = _reporter.counters, _reporter.CounterBuffer()
    try:
        yield amounts
    finally:
        amounts.update(_reporter.counters.pop_unsent())
        _reporter.counters = before


class _TaskInMemory(TaskRun):
    """A task that reads and writes bytes of this process, and whose errors are raised."""

    def run(self, data):
        """Return the bytes that the task makes of its input."""
        self._source, self._sink = _Bytes(data), _Bytes()
        try:
            self._open()
            self._work()
            failure = self._input.failure()
            if failure is not None:  # user code has caught it
                raise failure
            self._output.close()
            return self._sink.getvalue()
        except BaseException:
            self._drop_output()
            raise


class _Bytes(io.BytesIO):
    error = None  # a source and a sink of a task have one


def _called(role, step, data):
    """Return the encoded pairs that a role of a step makes of encoded pairs, and the types that it gives them."""
    _, writing = step.options_of(role)
    types = {name: writing[name] for name in ("key_type", "value_type", "dialect") if name in writing}
    with _bad_records_dropped(role) if step.options.max_bad else nullcontext():
        return _TaskInMemory(role, step).run(data), types


@contextmanager
def _bad_records_dropped(role):
    """Have a folder for the side file of the bad records of a task."""
    with tempfile.TemporaryDirectory() as folder, _environment({OUTPUT_FOLDER: folder}):
        side_files.start(role)
        try:
            yield
        finally:
            side_files.drop()
            side_files.start(None)


def _sorted(data):
    """Return encoded pairs in the order of their encoded keys."""
    raw = sorted(PairReader(data, raw=True), key=lambda pair: pair[0])
    return b"".join(item for pair in raw for item in pair)


def _lines_of(data):
    """Return the lines of a text whose pairs these are, encoded, or None if they are other pairs."""
    pairs = Decoder().decode_pairs(data)
    if not all(type(key) is int and isinstance(value, str) and not {*"\n\r"} & {*value} for key, value in pairs):
        return None
    return b"".join(value.encode("utf-8", "surrogateescape") + b"\n" for _, value in pairs)


def _encoded(pairs):
    return Encoder().encode_pairs(pairs)


def _decoded(data, types):
    return Decoder(**types).decode_pairs(data)


def _variables(params):
    return {PARAM + name: str(value) for name, value in (params or {}).items()}


def _environment(variables):
    return environment_of({**os.environ, **variables})
