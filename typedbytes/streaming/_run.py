"""One task attempt from start to exit code.

The order matters: role and formats are known before the descriptors are taken over, the descriptors are
taken over before user code runs, and the exit code is 0 only after the input has ended at a record boundary, all
records were processed, and the output was flushed and closed. How a record is encoded is not known here.
"""

from __future__ import annotations

import os
import sys

from typedbytes._base.exit_codes import BAD_DATA, FAILED, INTERNAL, INTERRUPTED, IO_ERROR, OK, USAGE
from typedbytes._core import END, RecordGroups, RecordLoop
from typedbytes.errors import DecodeError
from typedbytes.streaming._descriptors import open_descriptors
from typedbytes.streaming._heartbeat import Heartbeat
from typedbytes.streaming._params import help_of
from typedbytes.streaming._process_exit import ProcessExit, set_signals
from typedbytes.streaming._reporter import counters, write_line
from typedbytes.streaming._sidefiles import side_files
from typedbytes.streaming._task_failure import fail_task
from typedbytes.streaming._user_code import (
    NAMES,
    Step,
    StopEarly,
    TooManyBadRecords,
    UserCode,
    check_steps,
    check_words,
    may_combine,
    pairs_of,
    step_line,
)  # fmt: skip
from typedbytes.streaming.formats import open_columns, open_files, open_input, open_output
from typedbytes.streaming.task_environment import (
    REFUSAL_LINE,
    Captured,
    GroupingError,
    ParameterError,
    Task,
    TaskStart,
    UsageError,
    combines_alone,
    find_format,
    find_role,
    find_step,
    has_combiner,
    is_query,
    usage,
)  # fmt: skip

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any


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
    steps=None,
    params=None,
):
    """Run one task of a Hadoop Streaming job and end the process.

    The role is the first argument of the script: ``job.py map``, ``job.py combine`` or ``job.py reduce``. Without one
    it is map or reduce as the environment says; a job with a combiner must name it. A combiner needs a reducer.

    A mapper is called as ``mapper(key, value)``, a reducer or combiner as ``reducer(key, values)`` for each run
    of pairs whose encoded keys are equal; both return an iterable of pairs, or None. ``values`` is an iterator
    that ends with the call. An object or a class may be given instead of a function: its method ``map`` or
    ``reduce`` is called, or the object itself; ``configure()``, if defined, is called before the first record and
    returns None, and ``close()``, if defined, after the last: it may return pairs too.

    One with a single parameter is called once instead, as ``mapper(pairs)`` or ``reducer(groups)``: an iterator of all
    (key, value) or (key, values), which it takes to the end. So there is no call for each record; a combiner may be
    called once for each part of the pairs. ``values`` then end where the next group is asked for.

    The formats are those Hadoop names in the environment, and typed bytes outside Hadoop. As text, keys and
    values are str; lines of a plain text file have their number as key. As raw bytes they are bytes.
    A parameter annotated with a record class gets instances of it, as in ``mapper(key, visit: Visit)`` or
    ``reducer(key, visits: Iterator[Visit])``, and ``-> Iterator[tuple[str, Visit]]`` says how pairs are written. Other
    annotations change nothing. This needs typed bytes as input.

    *argv* replaces sys.argv; *read_options* and *write_options* are keywords for PairReader and PairWriter.

    *group_by* is a function of a key: the reducer is called once for each run of adjacent pairs for whose keys
    *group_by* returns the same result, with the first of these keys and all their values. For keys like (year, order)
    ``group_by=operator.itemgetter(0)`` makes one call for a year with its values in order. All keys of a group reach
    the same reducer, whatever the number of reducers, and are adjacent there: map tasks send each key in a form that
    Hadoop sorts and partitions by the result of *group_by*. A reducer with an attribute ``partition_by``, a function of
    a key too, is called for each key, and one task has all keys of a part.

    *max_bad* is the number of records that a task may leave out, as a float the share of its records: those that cannot
    be decoded, and those for which user code raises an exception: in a reducer all records of its group, each of which
    counts. They are counted as typedbytes, BadRecords, and kept in the side file ``bad-records``. Their output is left
    out as a whole. Truncated input and input without valid structure still fail the task. *max_bad* needs functions
    that are called for each record.

    With *batch* the function is called as ``mapper(batch)`` or ``reducer(batch)`` for one columns.Batch after another
    and may return columns instead of pairs: anything that columns.write takes, such as a dict, a batch or Arrow data. A
    reducer's or combiner's batches hold all pairs of their keys. Both sides are typed bytes then, and *read_options*
    are keywords for columns.read; *write_options* may have those of columns.write for nulls and structs too.

    *steps* is a list of Step for a job of several, each with its own mapper, reducer and options: the output of a step
    is the input of the next. ``typedbytes run`` and ``typedbytes submit`` start one after the other; by hand, the
    variable ``typedbytes_step`` chooses one, from 1.

    *params* is a class with the job's parameters as fields: ``task().params_as(Params)`` returns an instance. One that
    is missing, unknown or of another type ends the job before it reads any input; ``job.py --help`` lists them.

    While the task runs, standard output is standard error and standard input is empty, for child processes
    too, and os._exit(0) and os.exec* do not end it. Never returns; the exit code, even where user code
    catches the SystemExit, is 0 only if all input was processed and all output delivered: see "How a task ends" in
    docs/streaming.md.

    Call it last, and only in the script itself::

        if __name__ == "__main__":
            run(mapper, reducer, combiner=reducer)
    """
    try:
        single_step = Step(
            mapper, reducer, combiner, batch=batch, group_by=group_by, max_bad=max_bad, read_options=read_options,
            write_options=write_options,
        )  # fmt: skip
        if steps is not None:
            check_steps(steps, single_step)
        if argv is not None:
            check_words(argv)
        described = "" if params is None else help_of(params)
        if params is not None and Captured.wanted:
            Task(os.environ).params_as(params)
    except (TypeError, ValueError, LookupError) as error:
        raise error.with_traceback(None) from None  # so that the traceback ends at the user's call
    if Captured.wanted:
        raise Captured(steps or [single_step])
    process_exit = ProcessExit()
    argv = sys.argv if argv is None else argv
    raise process_exit.set_code(_run(steps, single_step, params, described, argv, process_exit))


def _run(steps, single_step, params, described, argv, process_exit):
    try:
        if argv[1:2] in (["-h"], ["--help"]):
            doc = getattr(sys.modules["__main__"], "__doc__", None) or ""
            print(usage(argv), *filter(None, [doc, described]), sep="\n\n", flush=True)
            return OK
        asks_roles = is_query()
        if (hook := TaskStart.take_hook()) is not None:
            from typedbytes.streaming import _combining  # noqa: F401, once for all tasks

            step, role = _find_step_and_role(steps, single_step, argv)
            hook(process_exit, role == "map" and may_combine(step))
        if params is not None:
            Task(os.environ).params_as(params)
        if asks_roles or (steps is not None and argv[1:2] == ["steps"]):  # submit and users ask by the word
            for each in steps or [single_step]:
                write_line(step_line(each))
            return OK
        step, role = _find_step_and_role(steps, single_step, argv)
        task_run = TaskRun(role, step)
        source, sink = open_descriptors()
        set_signals()
        return task_run.run(source, sink)
    except ParameterError as error:
        write_line(f"{REFUSAL_LINE if is_query() else 'typedbytes: '}{error}")
        return FAILED if is_query() else USAGE
    except UsageError as error:
        write_line(f"typedbytes: {error}")
        if not isinstance(error, GroupingError):
            write_line(usage(argv))
        return USAGE
    except OSError as error:
        return fail_task(IO_ERROR, error)
    except Exception as error:
        return fail_task(INTERNAL, error)


def _find_step_and_role(steps, single_step, argv):
    step = single_step if steps is None else steps[find_step(len(steps), os.environ) - 1]
    return step, find_role(argv, os.environ, step.functions["combine"] is not None)


class TaskRun:
    """The work between open descriptors and an exit code."""

    def __init__(self, role, step):
        functions, options = step.functions, step.options
        if functions[role] is None:
            raise UsageError(f"the job has no {NAMES[role]}: run(...) was called without {NAMES[role]}=")
        self._role = role
        self._user_function = functions[role]
        self._combiner = functions["combine"]
        self._has_reducer = functions["reduce"] is not None
        self._options, self._options_of = options, step.options_of
        self._raw_text = "raw_text" in step.settings
        self._group_by = options.group_by if role == "reduce" else None  # a combiner's keys go on to the sort
        self._input_format = find_format(role, "input", os.environ)
        self._output_format = find_format(role, "output", os.environ)
        step.check_formats(role, self._input_format, self._output_format)
        self._composite_keys = None
        if options.part_of is not None:
            from typedbytes.streaming.formats.secondary_sort import find_composite_keys

            formats = self._input_format, self._output_format
            grouping = options.part_of, options.group_by is not None
            self._composite_keys = find_composite_keys(*grouping, role, formats, os.environ)
        self._input: Any = None
        self._output: Any = None
        self._file: Any = None  # what the output is written to: the sink, or a file on it
        self._details = []  # for the report: where in the input user code failed

    def run(self, source, sink):
        """Do the task and return its exit code."""
        self._source, self._sink = source, sink
        side_files.start(self._role)
        try:
            self._open()
            heartbeat = Heartbeat(lambda: self._input.record)
            heartbeat.start()
            self._work()
            self._finish()
            heartbeat.release()
            return OK
        except GroupingError:
            self._drop_output()
            raise
        except BaseException as error:
            code = self._fail(error)
            self._drop_output()
            return code

    def _open(self):
        role, keys, options = self._role, self._composite_keys, self._options
        reading, writing = self._options_of(role)
        source, self._file = open_files(self._input_format, self._output_format, self._source, self._sink, os.environ)
        if self._combines_itself():
            from typedbytes.streaming._combining import CombiningSink

            self._file = CombiningSink(self._sink, self._combiner, *self._options_of("combine"))
            self._file.counters = counters if combines_alone(os.environ) else None
        if options.batch:
            files = source, self._file
            self._input, self._output = open_columns(self._output_format, files, role, os.environ, options)
            return
        undecoded = bool(options.max_bad) or (self._raw_text and self._input_format == "text")
        self._input = open_input(self._input_format, source, role, os.environ, reading, undecoded, keys)
        self._output = open_output(self._output_format, self._file, role, os.environ, writing, keys, self._has_reducer)

    def _combines_itself(self):
        """Return whether this map task runs the job's combiner on its own output: it has a whole split, or is to."""
        return (
            (self._role, self._output_format) == ("map", "typedbytes")
            and (self._input_format == "split" or combines_alone(os.environ))
            and not (self._options.batch or self._options.max_bad)
            and self._composite_keys is None
            and self._combiner is not None
            and has_combiner(os.environ)
        )

    def _work(self):
        user_code = UserCode(self._role, self._user_function)
        try:
            user_code.start(self._options_of(self._role)[1])
            self._process_all(user_code)
            self._input.check_end()
        except StopEarly:
            self._drain()
        self._output.writes(user_code.end())

    def _process_all(self, user_code):
        if self._options.batch:
            self._process_batches(user_code.process)
        elif self._options.max_bad:
            self._process_and_skip_bad(user_code.for_each_record())
        else:
            self._process(user_code)

    def _process(self, user_code):
        records = self._records()
        loop = RecordLoop(records, user_code.process, self._output, user_code.takes_all)
        try:
            loop.run()
            # the end of the loop does not prove it: user code may have caught an error raised instead of a record
            records._check_end()
        except BaseException:
            self._note_failure_details(loop.key, loop.value if self._role == "map" else END, loop.returned)
            if user_code.takes_all:
                from typedbytes.streaming.advice import details_of_call

                self._details += details_of_call(user_code.process)
            raise

    def _process_batches(self, process):
        try:
            for batch in self._input.batches() if self._role == "map" else self._input.whole_groups():
                self._output.writes(pairs_of(process(batch)))
        except BaseException:
            self._note_failure_details()
            raise

    def _process_and_skip_bad(self, process):
        from typedbytes.streaming._bad_records import BadRecordSkipper

        max_bad, has_groups = self._options.max_bad, self._composite_keys is not None
        skipper = BadRecordSkipper(max_bad, self._group_by, self._input, self._output, self._is_broken, has_groups)
        try:
            skipper.run(skipper.map if self._role == "map" else skipper.reduce, process)
        except BaseException:
            self._note_failure_details()
            raise
        skipper._check_end()

    def _is_broken(self):
        return bool(self._source.error or self._sink.error or self._input.failure())

    def _records(self):
        if self._role == "map":
            return self._input.pairs()
        if self._group_by is None or self._composite_keys is not None:
            return self._input.groups()
        return RecordGroups(self._input.pairs(), self._group_by)

    def _drain(self):
        buffer = bytearray(1 << 20)
        while self._source.readinto(buffer):
            pass

    def _finish(self):
        self._sink.check()  # a process forked by user code fails here, before it has reported anything
        # An error of the input fails the task even if user code has caught it.
        error = self._source.error or self._input.failure()
        if error is not None:
            raise error
        self._source.check_end()
        if self._role == "reduce" and self._output.record and not self._input.record:
            write_line("typedbytes: a reducer without input has output, which Hadoop discards")
        if self._has_no_output():
            from typedbytes.streaming.advice import hint_at_no_output

            write_line(f"typedbytes: {hint_at_no_output(NAMES[self._role], self._input.record)}")
        if self._input_format == "split":  # Hadoop has counted pieces of the split
            counters.add("typedbytes", "MapInputRecords", self._input.record)
        self._output.close()
        self._file.close()  # the file may call the combiner
        counters.send()
        self._sink.close()
        side_files.commit()

    def _has_no_output(self):
        """Return whether the task had input and did nothing that lasts; of a job, its engine finds that out."""
        is_silent = self._input.record and not (self._output.record or counters.are_used or side_files.are_used)
        return is_silent and not Task(os.environ).job_id

    def _drop_output(self):
        # The attempt is discarded. Its buffered output must not be written later, where a failure would go unnoticed.
        side_files.drop()
        for file in (self._sink, self._output, self._file):
            try:
                if file is not None:
                    file.close()
            except Exception:
                pass  # a closed sink accepts nothing, as intended, and a file that has failed raises its error again

    def _note_failure_details(self, key=END, value=END, returned=None):
        from typedbytes.streaming.advice import details_of_item, details_of_returned

        self._details = [("input read", f"{self._input.record} records, {self._input.offset} bytes")]
        for name, item in (("key", key), ("value", value)):
            if item is not END:
                self._details += details_of_item(name, item, self._input.item_bytes)
        if returned is not None:
            self._details += details_of_returned(returned)

    def _fail(self, error):
        if self._source.error or self._sink.error or side_files.error:
            return fail_task(IO_ERROR, error, self._details)
        broken = None if self._input is None else self._input.failure()
        if isinstance(broken, DecodeError):
            from typedbytes.streaming.advice import advice_on

            where = [("bad record", f"{broken.record}, at byte {broken.offset}"), ("reason", broken)]
            advice = advice_on(self._role, broken, os.environ) if self._input_format == "typedbytes" else None
            return fail_task(BAD_DATA, error, where, advice)
        if isinstance(error, TooManyBadRecords):
            return fail_task(BAD_DATA, error, self._details)
        from typedbytes.streaming.advice import details_of

        code = INTERRUPTED if isinstance(error, KeyboardInterrupt) else FAILED
        return fail_task(code, error, self._details + details_of(error))
