"""One task attempt from start to exit code.

Order is everything here: role and formats are known before the descriptors are taken, the descriptors are
ours before user code runs, and the code is 0 only after the input has ended between two records, all of them
were processed, and the output was flushed and closed. What cannot be known here: how a record is encoded.
"""

import _signal  # signal itself imports enum, which would be half of the time a task takes to start
import os
import sys

from typedbytes._core import PairGroups
from typedbytes.errors import DecodeError
from typedbytes.streaming._descriptors import take_over
from typedbytes.streaming._formats import open_columns, open_input, open_output
from typedbytes.streaming._heartbeat import Heart
from typedbytes.streaming._process_exit import Exits
from typedbytes.streaming._report import counters, write_failure, write_line
from typedbytes.streaming._sidefiles import side_files
from typedbytes.streaming._task import GroupingError, Task, UsageError, find_format, find_role
from typedbytes.streaming._user_code import Calls, StopEarly, TooManyBadRecords

OK, USER, USAGE, DATA, INTERNAL, IO = 0, 1, 64, 65, 70, 74
INTERRUPTED, TERMINATED = 130, 143

CAUSES = {
    USER: "user code failed",
    DATA: "bad input",
    INTERNAL: "internal error",
    IO: "input or output failed",
    INTERRUPTED: "interrupted",
}
KEY_NBYTES = 64  # of a key shown in a report
DRAIN_NBYTES = 1024 * 1024
NO_KEY = object()


def run(
    mapper=None,
    reducer=None,
    combiner=None,
    *,
    batch=False,
    group_by=None,
    max_bad=0,
    argv=None,
    read_options=None,
    write_options=None,
):
    """Run one task of a Hadoop Streaming job and end the process.

    The role is the first argument of the script: ``job.py map``, ``job.py combine`` or ``job.py reduce``.
    Without one it is map or reduce as the environment says, unless the job has a combiner.

    A mapper is called as ``mapper(key, value)``, a reducer or combiner as ``reducer(key, values)`` for each run
    of pairs whose encoded keys are equal; both return an iterable of pairs, or None. ``values`` is an iterator
    that ends with the call. An object or a class may stand for the function: its method ``map`` or ``reduce``
    is called, or the object itself; ``configure()`` before the first record and ``close()`` after the last,
    which may return pairs too, where it has them.

    The formats are those Hadoop names in the environment, and typed bytes outside Hadoop. As text, keys and
    values are str; lines of a plain text file have their number as key. As raw bytes they are bytes.
    *argv* stands for sys.argv; *read_options* and *write_options* are keywords for PairReader and PairWriter.

    *group_by* is a function of a key: the reducer is called once for each run of pairs to whose keys it gives the same, with
    the first of these keys and all their values. For keys like (year, order) ``group_by=operator.itemgetter(0)`` makes one
    call for a year with its values in order. All keys of a group reach one reducer, whatever the number of reducers, and lie beside
    each other there: map tasks send each key in a form that Hadoop sorts and partitions by what *group_by* gives. A reducer
    with an attribute ``partition_by``, such a function, is called for each key, and has all keys of a part in one task.

    *max_bad* is the number of records that a task may leave out, as a float the share of its records: those that cannot be
    decoded and those for which user code raises an exception. They are counted as typedbytes, BadRecords, and kept in the
    side file ``bad-records``; the output of such a record, or of a reducer's group, is left out as a whole. Input that is broken
    off or without structure fails the task all the same.

    With *batch* the function is called as ``mapper(batch)`` or ``reducer(batch)`` with one columns.Batch after the other and
    may return columns, anything that columns.write takes as a dict, a batch or Arrow's data, instead of pairs. A
    reducer's or combiner's batches hold all pairs of their keys. Both sides are typed bytes then, and *read_options* are
    keywords for columns.read.

    While the task runs, standard output is standard error and standard input is empty, for child processes
    too, and os._exit(0) and os.exec* do not end it. Never returns; the exit code, whatever becomes of the
    SystemExit, is

    ===  =====================================================================
    0    all input read, all of it processed, all output delivered
    1    an exception in user code, sys.exit() among them
    64   no role, nothing given for it, or keys that cannot be grouped
    65   bad input
    70   an error of this module
    74   reading or writing failed, also because nobody reads the output
    130  SIGINT
    143  SIGTERM
    ===  =====================================================================

    Start it last, and only in the script itself::

        if __name__ == "__main__":
            run(mapper, reducer, combiner=reducer)
    """
    jobs = {"map": mapper, "combine": combiner, "reduce": reducer}
    ways = Ways(batch, group_by, max_bad, read_options or {}, write_options or {}, getattr(reducer, "partition_by", None))
    exits = Exits()
    raise exits.settle(_run(jobs, sys.argv if argv is None else argv, ways))


def _run(jobs, argv, ways):
    try:
        role = find_role(argv, os.environ, jobs["combine"] is not None)
        attempt = Attempt(role, jobs[role], ways)
        source, sink = take_over()
        _set_signals()
        return attempt.run(source, sink)
    except UsageError as error:
        write_line(f"typedbytes: {error}")
        if not isinstance(error, GroupingError):
            write_line(f"usage: {argv[0]} map|combine|reduce")
        return USAGE
    except OSError as error:
        return _fail(IO, error)
    except Exception as error:
        return _fail(INTERNAL, error)


def _fail(code, error, facts=()):
    task = Task(os.environ)
    cause = f"{CAUSES[code]} (exit code {code})"
    places = ("attempt", task.attempt_id), ("input file", task.input_file)
    named = [(name, text) for name, text in places if text is not None]
    write_failure([("task failed", cause), *named, *facts], error)
    return code


def _may_hold_pairs(returned):
    # What a newcomer returns instead: one pair, its key, a dict.
    if isinstance(returned, tuple):
        return all(isinstance(each, (tuple, list)) for each in returned)
    return hasattr(returned, "__iter__") and not isinstance(returned, (str, bytes, dict))


def _set_signals():
    _signal.signal(_signal.SIGPIPE, _signal.SIG_IGN)  # a closed pipe is an error with a report, not a death
    _signal.signal(_signal.SIGTERM, _stop)
    _signal.signal(_signal.SIGINT, _stop)


def _stop(signum, frame):
    # Hadoop gives a quarter of a second, and the attempt is void: nothing is flushed, nobody may catch this.
    name, code = ("SIGINT", INTERRUPTED) if signum == _signal.SIGINT else ("SIGTERM", TERMINATED)
    write_line(f"typedbytes: stopped by {name}")
    os._exit(code)


class Ways:
    """How the job wants its records: the options of run()."""

    def __init__(self, batch, group_by, max_bad, read_options, write_options, partition_by=None):
        self.batch = batch
        self.group_by = group_by
        self.part_of = partition_by if group_by is None else group_by  # of a key: what chooses its reducer
        self.max_bad = max_bad
        self.read_options = read_options
        self.write_options = write_options
        if batch and (group_by is not None or max_bad):
            raise TypeError("group_by and max_bad are for single pairs, not for batch=True")
        if group_by is not None and partition_by is not None:
            raise TypeError("a reducer with partition_by is called for each key, not for groups: leave out group_by")
        if max_bad < 0:
            raise ValueError(f"max_bad is a number of records or a share of them, not {max_bad}")


class Attempt:
    """The work between open descriptors and an exit code."""

    def __init__(self, role, job, ways):
        if job is None:
            raise UsageError(f"nothing was given to run for the role {role!r}")
        self._role = role
        self._job = job
        self._ways = ways
        self._group_by = ways.group_by if role == "reduce" else None  # a combiner's keys go on to the sort
        self._input_format = find_format(role, "input", os.environ)
        self._output_format = find_format(role, "output", os.environ)
        if ways.batch and (self._input_format, self._output_format) != ("typedbytes", "typedbytes"):
            raise UsageError(f"batch=True needs typed bytes, not {self._input_format} in and {self._output_format} out")
        self._arrangement = None
        if ways.part_of is not None:
            from typedbytes.streaming._arranged import find_arrangement

            formats = self._input_format, self._output_format
            self._arrangement = find_arrangement(ways.part_of, ways.group_by is not None, role, formats, os.environ)
        self._input = self._output = None
        self._layers = []  # between the input and user code: each says whether all has come through
        self._facts = []  # where in the input user code failed

    def run(self, source, sink):
        """Do the task and return its exit code."""
        self._source, self._sink = source, sink
        side_files.start(self._role)
        try:
            self._open()
            Heart(lambda: self._input.record).start()
            self._work()
            self._finish()
            return OK
        except GroupingError:
            self._drop_output()
            raise
        except BaseException as error:
            code = self._fail(error)
            self._drop_output()
            return code

    def _open(self):
        ways = self._ways
        if ways.batch:
            self._input, self._output = open_columns(self._source, self._sink, ways.read_options, ways.write_options)
            return
        lenient = bool(ways.max_bad)
        role, arrangement = self._role, self._arrangement
        self._input = open_input(self._input_format, self._source, role, os.environ, ways.read_options, lenient, arrangement)
        self._output = open_output(self._output_format, self._sink, role, os.environ, ways.write_options, arrangement)

    def _work(self):
        calls = Calls(self._role, self._job)
        try:
            calls.start()
            self._process_all(calls.process)
            self._check_end()
        except StopEarly:
            self._drain()
        self._output.writes(calls.end())

    def _process_all(self, process):
        if self._ways.batch:
            self._process_batches(process)
        elif self._ways.max_bad:
            self._process_leniently(process)
        else:
            self._process(process)

    def _process(self, process):
        write = self._output.writes
        key, pairs = NO_KEY, None
        try:
            records = self._records()
            self._layers.append(records)
            for key, value in records:
                pairs = process(key, value)
                if pairs is not None:
                    write(pairs)
        except BaseException:
            self._note(key, pairs)
            raise

    def _process_batches(self, process):
        try:
            for batch in self._input.batches() if self._role == "map" else self._input.whole_groups():
                self._emit(process(batch))
        except BaseException:
            self._note(NO_KEY)
            raise

    def _process_leniently(self, process):
        from typedbytes.streaming._bad_records import Lenient

        lenient = Lenient(self._ways.max_bad, self._group_by, self._input, self._output, self._is_broken, self._arrangement is not None)
        self._layers.append(lenient)
        try:
            lenient.run(lenient.map if self._role == "map" else lenient.reduce, process)
        except BaseException:
            self._note(NO_KEY)
            raise

    def _is_broken(self):
        return bool(self._source.error or self._sink.error or self._input.failure())

    def _records(self):
        if self._role == "map":
            return self._input.pairs()
        if self._group_by is None or self._arrangement is not None:
            return self._input.groups()
        return PairGroups(self._input.pairs(), self._group_by)

    def _emit(self, pairs):
        if pairs is not None:
            self._output.writes(pairs)

    def _check_end(self):
        # That a loop has ended is no proof that its input has: user code may have caught what came instead of a record.
        for layer in self._layers:
            layer._check_end()
        self._input.check_end()

    def _drain(self):
        buffer = bytearray(DRAIN_NBYTES)
        while self._source.readinto(buffer):
            pass

    def _finish(self):
        self._sink.check()  # what user code forked ends here, before it has said anything
        # User code may have caught an error of the input; it still decides.
        error = self._source.error or self._input.failure()
        if error is not None:
            raise error
        self._source.check_end()
        if self._role == "reduce" and self._output.record and not self._input.record:
            write_line("typedbytes: a reducer without input has output, which Hadoop discards")
        counters.send()
        self._output.close()
        self._sink.close()
        side_files.commit()

    def _drop_output(self):
        # The attempt is void. What it gathered must not leave later, when nobody looks any more.
        side_files.drop()
        for each in (self._sink, self._output):
            try:
                if each is not None:
                    each.close()
            except (OSError, ValueError):
                pass  # a sink that is closed takes nothing, which is wanted

    def _note(self, key, returned=None):
        read = f"{self._input.record} records, {self._input.offset} bytes"
        self._facts = [("input read", read), *self._key_facts(key)]
        if returned is not None and not _may_hold_pairs(returned):
            self._facts.append(("returned", f"{type(returned).__name__}, where pairs of key and value are wanted: yield them, or return a list"))

    def _key_facts(self, key):
        if key is NO_KEY:
            return []
        try:
            return [("key", self._input.key_bytes(key)[:KEY_NBYTES].hex())]
        except Exception:
            return []  # made by options that encoding it again would need too

    def _fail(self, error):
        if self._source.error or self._sink.error or side_files.error:
            return _fail(IO, error, self._facts)
        broken = None if self._input is None else self._input.failure()
        if isinstance(broken, DecodeError):
            return _fail(DATA, error, [("bad record", f"{broken.record}, at byte {broken.offset}"), ("reason", broken)])
        if isinstance(error, TooManyBadRecords):
            return _fail(DATA, error, self._facts)
        code = INTERRUPTED if isinstance(error, KeyboardInterrupt) else USER
        return _fail(code, error, self._facts + self._exit_facts(error))

    def _exit_facts(self, error):
        if isinstance(error, SystemExit):
            return [("exit", "the task may end before its input only by raising StopEarly")]
        return []
