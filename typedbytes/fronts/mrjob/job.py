"""The class of a job. `MRJob.run()` starts the job, or is a task of it where an engine starts the script."""

from __future__ import annotations

import codecs
import itertools
import logging
import os
import sys
from io import BytesIO
from operator import itemgetter

import typedbytes.fronts.mrjob.conf  # noqa: F401, which scripts find as mrjob.conf with no import of their own
from typedbytes.fronts.mrjob.declared import DeclaredJob
from typedbytes.fronts.mrjob.protocol import JSONProtocol, RawValueProtocol
from typedbytes.fronts.mrjob.step import FUNCTIONS, MRStep, SparkStep, StepFailedException
from typedbytes.fronts.mrjob.util import log_to_null, log_to_stream, to_lines
from typedbytes.fronts.refusals import Refusal, text_without_options
from typedbytes.fronts.started import is_started_by_engine
from typedbytes.streaming.task_environment import Captured

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from typedbytes.fronts.mrjob.runner import Runner

__all__ = ["MRJob", "UsageError"]

log: logging.Logger = logging.getLogger("mrjob.job")


class UsageError(Exception):
    """The job was used in a way that cannot work."""


class MRJob(DeclaredJob):
    """A job: a subclass has its mapper, combiner and reducer, or its steps, and its options and protocols."""

    INPUT_PROTOCOL: Any = RawValueProtocol
    INTERNAL_PROTOCOL: Any = JSONProtocol
    OUTPUT_PROTOCOL: Any = JSONProtocol

    def __init__(self, args: Any = None) -> None:
        self._stdin: Any
        self._stdout: Any
        self._stderr: Any
        self._stdin = self._stdout = self._stderr = None
        super().__init__(args)

    # -- what a subclass defines: the names that it has are those of its step

    def mapper(self, key: Any, value: Any) -> Any:
        """Yield pairs for a line of the input, or a pair of the step before."""
        raise NotImplementedError

    def reducer(self, key: Any, values: Any) -> Any:
        """Yield pairs for a key and its values."""
        raise NotImplementedError

    def combiner(self, key: Any, values: Any) -> Any:
        """Yield pairs for a key and some of its values."""
        raise NotImplementedError

    def mapper_raw(self, input_path: str, input_uri: str) -> Any:
        """Yield pairs for a whole file."""
        raise NotImplementedError

    def mapper_init(self) -> Any:
        """Yield pairs before the first record of a task."""
        raise NotImplementedError

    def mapper_final(self) -> Any:
        """Yield pairs after the last record of a task."""
        raise NotImplementedError

    mapper_cmd = mapper_final
    mapper_pre_filter = mapper_final
    reducer_init = mapper_final
    reducer_final = mapper_final
    reducer_cmd = mapper_final
    reducer_pre_filter = mapper_final
    combiner_init = mapper_final
    combiner_final = mapper_final
    combiner_cmd = mapper_final
    combiner_pre_filter = mapper_final

    def spark(self, input_path: str, output_path: str) -> Any:
        """Run a step of Spark's own API."""
        raise NotImplementedError

    def spark_args(self) -> list[str]:
        """Return words for spark-submit."""
        return []

    def steps(self) -> list[Any]:
        """Return the steps: by default one of the methods that the class defines."""
        own = [name for name in (*FUNCTIONS, "spark") if self._defines(name)]
        if own == ["spark"]:
            return [SparkStep(spark=self.spark, spark_args=self.spark_args(), jobconf={})]
        if "spark" in own:
            raise ValueError("Can't mix spark() with mappers, combiners and reducers")
        commands = tuple(name for name in own if name.endswith(("_cmd", "_pre_filter")))
        methods = {name: getattr(self, name)() if name in commands else getattr(self, name) for name in own}
        return [MRStep(**methods)]

    def _defines(self, name):
        return getattr(getattr(self, name), "__func__", None) is not getattr(MRJob, name)

    # -- the task

    def increment_counter(self, group: Any, counter: Any, amount: int = 1) -> None:
        """Add an amount to a counter."""
        if not isinstance(amount, int) and not (isinstance(amount, float) and amount.is_integer()):
            raise TypeError(f"amount must be an integer, not {amount!r}")
        group, counter = (str(each).replace(",", ";") for each in (group, counter))
        if self._stderr is not None or self._is_own_task():
            self._report(f"reporter:counter:{group},{counter},{int(amount)}\n")
            return
        from typedbytes import streaming

        streaming.counter(group, counter, int(amount))

    def set_status(self, msg: Any) -> None:
        """Report what the task does."""
        if self._stderr is not None or self._is_own_task():
            self._report(f"reporter:status:{msg}\n")
            return
        from typedbytes import streaming

        streaming.status(msg)

    def _is_own_task(self):
        """Return whether mrjob's own words have made this process a task: a shell, or a test."""
        return "mapreduce_job_id" not in os.environ

    def _report(self, line):
        self.stderr.write(line.encode("utf-8"))
        self.stderr.flush()

    def map_pairs(self, pairs: Iterable[Any], step_num: int = 0) -> Iterator[Any]:
        """Yield the pairs that the mapper of a step makes of pairs, in one task."""
        step = self._step(step_num)
        yield from _pairs_of(step["mapper_init"])
        if step["mapper_raw"]:
            for path, uri in [self.options.args] if pairs is None else pairs:
                yield from step["mapper_raw"](path, uri) or ()
        else:
            mapper = step["mapper"]
            for key, value in pairs:
                yield from mapper(key, value) or ()
        yield from _pairs_of(step["mapper_final"])

    def combine_pairs(self, pairs: Iterable[Any], step_num: int = 0) -> Iterator[Any]:
        """Yield the pairs that the combiner of a step makes of sorted pairs, in one task."""
        return self._reduced("combiner", pairs, step_num)

    def reduce_pairs(self, pairs: Iterable[Any], step_num: int = 0) -> Iterator[Any]:
        """Yield the pairs that the reducer of a step makes of sorted pairs, in one task."""
        return self._reduced("reducer", pairs, step_num)

    def _reduced(self, role, pairs, step_num):
        step = self._step(step_num)
        function = step[role]
        if function is None:
            raise ValueError(f"No {role} in step {step_num}")
        yield from _pairs_of(step[f"{role}_init"])
        for key, group in itertools.groupby(pairs, itemgetter(0)):
            yield from function(key, map(itemgetter(1), group)) or ()
        yield from _pairs_of(step[f"{role}_final"])

    def _step(self, step_num):
        steps = self.steps()
        if not 0 <= step_num < len(steps):
            raise ValueError(f"Out-of-range step: {step_num}")
        if not isinstance(steps[step_num], MRStep):
            raise TypeError(f"Step {step_num} is not a MRStep")
        return steps[step_num]

    def run_mapper(self, step_num: int = 0) -> None:
        """Be the mapper of a step: read lines from standard input, or from files, and write lines."""
        self._run_role("mapper", step_num)

    def run_combiner(self, step_num: int = 0) -> None:
        """Be the combiner of a step."""
        self._run_role("combiner", step_num)

    def run_reducer(self, step_num: int = 0) -> None:
        """Be the reducer of a step."""
        self._run_role("reducer", step_num)

    def _run_role(self, role, step_num):
        read, write = self.pick_protocols(step_num, role)
        function: Any = {"mapper": self.map_pairs, "combiner": self.combine_pairs, "reducer": self.reduce_pairs}[role]
        is_raw = role == "mapper" and bool(self._step(step_num)["mapper_raw"])
        pairs = None if is_raw else (read(line.rstrip(b"\r\n")) for line in self._lines())
        for key, value in function(pairs, step_num):
            self.stdout.write(write(key, value) + b"\n")

    def _lines(self):
        for path in self.options.args or ["-"]:
            if path == "-":
                yield from self.stdin
            else:
                with open(path, "rb") as file:
                    yield from to_lines(file)

    # -- protocols

    def input_protocol(self) -> Any:
        """Return the protocol of the job's input."""
        return self._protocol("INPUT_PROTOCOL")

    def internal_protocol(self) -> Any:
        """Return the protocol between mappers, reducers and steps."""
        return self._protocol("INTERNAL_PROTOCOL")

    def output_protocol(self) -> Any:
        """Return the protocol of the job's output."""
        return self._protocol("OUTPUT_PROTOCOL")

    def _protocol(self, name):
        kind = getattr(self, name)
        if not isinstance(kind, type):
            log.warning(f"{name} should be a class, not {kind}")
        return kind()

    def pick_protocols(self, step_num: int, step_type: str) -> tuple[Any, Any]:
        """Return the functions that read and write the lines of a "mapper", "combiner" or "reducer"."""
        scripts = [
            (number, role)
            for number, step in enumerate(self._steps_desc())
            for role in ("mapper", "reducer")
            if step.get(role, {}).get("type") == "script"
        ]
        if step_type == "combiner":
            protocol: Any = RawValueProtocol()
            if (step_num, "mapper") in scripts:
                is_last = scripts[-1] == (step_num, "mapper")
                protocol = self.output_protocol() if is_last else self.internal_protocol()
            return protocol.read, protocol.write
        if (step_num, step_type) not in scripts:
            raise ValueError("Can't pick a protocol for a non-script step")
        reads = self.input_protocol() if scripts[0] == (step_num, step_type) else self.internal_protocol()
        writes = self.output_protocol() if scripts[-1] == (step_num, step_type) else self.internal_protocol()
        return reads.read, writes.write

    def parse_output(self, chunks: Iterable[bytes]) -> Iterator[Any]:
        """Yield the pairs of the job's output, read by its protocol."""
        read = self.output_protocol().read
        return (read(line) for line in to_lines(chunks))

    def _steps_desc(self):
        return [step.description(number) for number, step in enumerate(self.steps())]

    # -- running

    @classmethod
    def run(cls) -> None:
        """Run the job of the command line, or the task that an engine has started the script for."""
        if Captured.wanted == "job":
            raise Captured(cls)
        try:
            if is_started_by_engine(sys.argv):
                from typedbytes.fronts.mrjob import tasks

                tasks.run_task(cls, sys.argv)
            cls().execute()
        except Refusal as error:
            sys.exit(str(error))

    def execute(self) -> None:
        """Run the job, or the task that mrjob's own options name."""
        for role in ("mapper", "combiner", "reducer"):
            if getattr(self.options, f"run_{role}"):
                getattr(self, f"run_{role}")(self.options.step_num)
                self.stdout.flush()
                return
        if self.options.run_spark:
            self.run_spark(self.options.step_num)
            return
        self.run_job()

    def run_spark(self, step_num: int) -> None:
        """Run a step of Spark's own API."""
        step = self.steps()[step_num] if 0 <= step_num < len(self.steps()) else None
        if step is None:
            raise ValueError(f"Out-of-range step: {step_num}")
        if not isinstance(step, SparkStep):
            raise TypeError(f"Step {step_num} is not a SparkStep")
        if len(self.options.args) != 2:
            raise ValueError("Wrong number of args")
        step.spark(*self.options.args)

    def run_job(self) -> None:
        """Run all steps, and write the output to standard output unless it has a folder."""
        from typedbytes.jobs.errors import OptionError

        stream = codecs.getwriter("utf-8")(self.stderr)
        self.set_up_logging(quiet=self.options.quiet, verbose=self.options.verbose, stream=stream)
        with self.make_runner() as runner:
            runner.is_of_command_line = True
            try:
                runner.run()
            except StepFailedException as error:
                log.error(str(error))
                sys.exit(1)
            except OptionError as error:
                sys.exit(text_without_options(error))
            wanted = self.options.cat_output
            if not self.options.output_dir if wanted is None else wanted:
                for chunk in runner.cat_output():
                    self.stdout.write(chunk)
                self.stdout.flush()

    @classmethod
    def set_up_logging(cls, quiet: bool = False, verbose: bool = False, stream: Any = None) -> None:
        """Have messages written to standard error."""
        for name in ("mrjob", "__main__"):
            log_to_null(name) if quiet else log_to_stream(name, stream, debug=verbose)

    def make_runner(self) -> Runner:
        """Return the runner that the options name, a context manager."""
        if self.is_task() or {"--mapper", "--combiner", "--reducer", "--step-num", "--spark"} & {*sys.argv}:
            raise UsageError(
                "make_runner() was called in a task, probably by a script without if __name__ == '__main__'"
            )
        from typedbytes.fronts.mrjob.runner import Runner

        return Runner(self)

    # -- streams, of bytes

    @property
    def stdin(self) -> Any:
        """Where lines are read."""
        return self._stdin if self._stdin is not None else getattr(sys.stdin, "buffer", sys.stdin)

    @property
    def stdout(self) -> Any:
        """Where lines are written."""
        return self._stdout if self._stdout is not None else getattr(sys.stdout, "buffer", sys.stdout)

    @property
    def stderr(self) -> Any:
        """Where messages are written."""
        return self._stderr if self._stderr is not None else getattr(sys.stderr, "buffer", sys.stderr)

    def sandbox(self, stdin: Any = None, stdout: Any = None, stderr: Any = None) -> MRJob:
        """Have the job read and write in memory, or by what is given."""
        self._stdin, self._stdout, self._stderr = (
            BytesIO() if each is None else each for each in (stdin, stdout, stderr)
        )
        return self


def _pairs_of(function):
    return () if function is None else function() or ()


if __name__ == "__main__":
    MRJob.run()
