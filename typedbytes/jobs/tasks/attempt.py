"""One attempt of a map or a reduce task, whichever engine runs the job.

Here: what a task does from its input to its sorted runs or its part file. Not here: which task runs when and where, and
what becomes of its failure. Invariant: a pair goes through no Python object.
"""

from __future__ import annotations

import resource
import time
from contextlib import contextmanager
from functools import partial

from typedbytes._sorting.external import MAX_FILES, Spills
from typedbytes.jobs.counters import TASK_COUNTERS, Messages
from typedbytes.jobs.environment import attempt_id, combiner_environment, combining_environment, task_environment
from typedbytes.jobs.history import TaskHistory
from typedbytes.jobs.tasks.map_task import MapTask, feed_split
from typedbytes.jobs.tasks.output_folder import write_part
from typedbytes.jobs.tasks.processes import TaskError
from typedbytes.jobs.tasks.sinks import ProgressSink

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Protocol

    from typedbytes.jobs.job import Job
    from typedbytes.jobs.tasks.inputs import Split
    from typedbytes.jobs.tasks.processes import Processes

    ReportProgress = Callable[[int], object]
else:
    Protocol = object

__all__ = [
    "PHASES", "TaskAttempt", "TaskContext", "TaskFolders", "described", "max_files", "total_bytes", "total_records",
]  # fmt: skip

PIECE_NBYTES = 1 << 16
PHASES = {"m": "map", "r": "reduce"}


class TaskFolders(Protocol):
    """Where attempts have their folders."""

    def attempt_folder(self, name: str, /) -> str:
        """Make the folder of an attempt's part of the output."""

    def spill_prefix(self, name: str, /) -> str:
        """Return what the paths of an attempt's temporary files begin with."""


class TaskContext(Protocol):
    """What an engine gives the attempts of a job's tasks."""

    job: Job  #: of one step, with its number of reducers
    commands: Mapping[str, Sequence[str] | None]  #: of "map", "combine" and "reduce"
    id: str
    environ: Mapping[str, str]
    part_options: Mapping[str, Any]  #: how part files are written
    memory: int  #: of a task
    max_files: int  #: that a task merges at once
    processes: Processes
    output: TaskFolders


class TaskAttempt:
    """The state of one attempt of a task: folders, environment, messages, temporary files.

    source: its input, as messages name it.
    """

    def __init__(
        self, context: TaskContext, kind: str, number: int, count: int, environ: Mapping[str, str], source: str
    ) -> None:
        name = attempt_id(context.id, kind, number, count)
        job = context.job
        self.folder: str = context.output.attempt_folder(name)
        self.messages: Messages = Messages(job.quiet)
        self.spills: Spills = Spills(
            context.output.spill_prefix(name), codec=job.codec, memory=context.memory, max_files=context.max_files
        )
        self._environ = {**context.environ, **environ, **task_environment(context.id, kind, number, count, self.folder)}
        self._context = context
        self._job = job
        self._number = number
        self.name: str = name
        self.history: TaskHistory = TaskHistory(PHASES[kind], number, source)

    def run(self, role: str, feed: Callable[[Any], object], collect: Callable[[Any], Any]) -> Any:
        """Run the command of a role; as Processes.run."""
        environ = {**self._environ, **combiner_environment()} if role == "combine" else self._environ
        start = time.time()
        try:
            return self._context.processes.run(
                self._context.commands[role] or [], environ, feed, collect, self.messages
            )
        finally:
            if role == "combine":
                self.history.combined.append((start, time.time()))

    @contextmanager
    def _timed(self, nbytes: int | None) -> Iterator[dict[str, int]]:
        """Yield the counters of the task, which the block fills; nbytes: of its input, if that is known."""
        counted: dict[str, int] = {}
        history = self.history
        history.start, history.nbytes = time.time(), nbytes
        try:
            yield counted
            history.counted = counted
        except BaseException as error:
            history.failure = str(error) or type(error).__name__
            raise
        finally:
            history.end = time.time()

    def run_map(self, split: Split, report_progress: ReportProgress) -> tuple[list[Any], dict[str, int]]:
        """Run a map task; return its sorted runs, each with a Segment for every partition, and its counters.

        report_progress(nbytes): input read.
        """
        nreducers, context = self._job.nreducers, self._context
        has_combiner = nreducers and context.commands["combine"]
        # A report says how long the combiner took.
        may_combine = has_combiner and not self._job.report
        combines_itself = may_combine and context.processes.may_combine(context.commands["map"], self._environ)
        if combines_itself:
            self._environ.update(combining_environment())
        combine = partial(self.run, "combine") if has_combiner and not combines_itself else None
        task = MapTask(self.spills, self._job.partitioning(nreducers or 1), context.memory, combine)
        with self._timed(split.nbytes or None) as counted:

            def feed(sink):
                counted["MAP_INPUT_RECORDS"] = feed_split(split, sink, report_progress)

            counted["MAP_OUTPUT_RECORDS"] = self.run("map", feed, task.collect if nreducers else self._write_part)
            counted.update(task.counted)
            if combines_itself:
                ours = self.messages.counters.get(TASK_COUNTERS, {})
                counted["MAP_OUTPUT_RECORDS"] = ours.get("COMBINE_INPUT_RECORDS", counted["MAP_OUTPUT_RECORDS"])
        return task.runs, counted

    def run_reduce(self, segments: Iterable[Any], report_progress: ReportProgress) -> dict[str, int]:
        """Run a reduce task on segments, in the order of the map tasks; return its counters."""
        nrecords = total_records(segments)

        def feed(sink):
            self.spills.merge(segments, ProgressSink(sink, report_progress))

        with self._timed(total_bytes(segments)) as counted:
            counted["REDUCE_INPUT_RECORDS"] = nrecords
            # A reducer without input is not run: Hadoop drops its output.
            nwritten = self.run("reduce", feed, self._write_part) if nrecords else self._write_part(None)
            counted["REDUCE_OUTPUT_RECORDS"] = nwritten
        return counted

    def _write_part(self, source):
        if self._job.output_by_key:  # the task has written its files itself
            data = None if source is None else source.read(PIECE_NBYTES)
            if data:
                raise TaskError(f"its output is by key, and it wrote {len(data)} bytes to standard output", final=True)
            return 0
        return write_part(self.folder, self._number, self._job.output_format, self._context.part_options, source)


def total_records(segments: Iterable[Any]) -> int:
    """Return the number of records in segments."""
    return sum(segment.nrecords for segment in segments)


def total_bytes(segments: Iterable[Any]) -> int:
    """Return the number of bytes in segments."""
    return sum(segment.nbytes for segment in segments)


def described(split: Split) -> str:
    """Return a split as messages name it."""
    if split.others:
        return f"{split.path} and {len(split.others)} more"
    return f"{split.path}, bytes {split.start} to {split.start + split.length}"


def max_files(nprocesses: int) -> int:
    """Return how many files each of several tasks of a process may have open."""
    # Half of the descriptors is left for pipes and everything else.
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_FILES if limit == resource.RLIM_INFINITY else min(MAX_FILES, limit // 2 // nprocesses)
