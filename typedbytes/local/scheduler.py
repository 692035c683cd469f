"""A job from inputs to output: map tasks side by side, the shuffle between, reduce tasks side by side.

Here: which task runs when, with how much memory, and what becomes of its failure. Not here: processes, files and
formats, the order of keys. Invariant: a pair goes through no Python object between two tasks; of equal keys the
values come in the order of the map tasks and, of one task, as it wrote them; the output is there when the job has
succeeded, and only then.
"""

from __future__ import annotations

import os
import random
from functools import partial
from queue import Empty, SimpleQueue
from threading import Lock

from typedbytes._sorting.external import memory_for_records
from typedbytes.errors import DecodeError
from typedbytes.jobs.counters import HADOOP_COUNTERS, TASK_COUNTERS, Counters
from typedbytes.jobs.environment import job_environment, map_environment
from typedbytes.jobs.errors import ADVICE, JobError, OptionError
from typedbytes.jobs.hadoop_properties import part_options
from typedbytes.jobs.messages import option_named
from typedbytes.jobs.tasks.attempt import (
    PHASES,
    TaskAttempt,
    TaskContext,
    described,
    max_files,
    total_bytes,
    total_records,
)
from typedbytes.jobs.tasks.processes import TaskError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from typedbytes._sorting.external import Segment
    from typedbytes.jobs.history import TaskHistory
    from typedbytes.jobs.job import Commands, Job
    from typedbytes.jobs.tasks.inputs import Split
    from typedbytes.jobs.tasks.output_folder import OutputFolder
    from typedbytes.jobs.tasks.processes import Processes

    Progress = Callable[[str, int, int], object]

__all__ = ["Scheduler", "check_memory"]

MIN_MEMORY = 1 << 20  # of a process
POLL_SECONDS = 0.2


def check_memory(job: Job) -> None:
    """Raise OptionError for a job with too little memory for its processes."""
    nprocesses = _nprocesses(job)
    if job.memory < nprocesses * MIN_MEMORY:
        raise OptionError(
            option_named("memory")
            + f" must be at least {nprocesses * MIN_MEMORY >> 20} MiB, one for each of {nprocesses} processes, "
            f"not {job.memory} bytes"
        )


def _nprocesses(job):
    return job.processes or os.cpu_count() or 1


class Scheduler(TaskContext):
    """One run of a job's step over splits into an OutputFolder."""

    def __init__(
        self,
        progress: Progress | None,
        job: Job,
        commands: Commands,
        splits: list[Split],
        output: OutputFolder,
        processes: Processes,
    ) -> None:
        self.job = job
        self.commands: Commands = commands
        self._splits = splits
        self.output: OutputFolder = output
        self._progress = progress
        self.processes = processes
        self._lock = Lock()
        self._counters = Counters()  # of attempts that have succeeded
        self.tasks: list[TaskHistory] = []  # of a job with a report, each attempt
        self.id: str = f"job_local{random.SystemRandom().randrange(10**9, 10**10)}_0001"
        self.environ: dict[str, str] = job_environment(job, self.id, len(splits))
        self.part_options: dict[str, Any] = part_options(job.properties, job.output_format)
        self._nprocesses = _nprocesses(job)
        self.memory: int = memory_for_records(job.memory) // self._nprocesses
        self.max_files: int = max_files(self._nprocesses)
        # by map task: its sorted runs, a Segment for each partition
        self._segments: list[list[Sequence[Segment]]] = [[]] * len(splits)

    def run(self) -> Counters:
        """Run the job and return its counters. Raises JobError."""
        try:
            self._run_phase("map", self._map, [split.nbytes for split in self._splits])
            self._run_phase(
                "reduce",
                self._reduce,
                [total_bytes(self._segments_of(number)) for number in range(self.job.nreducers or 0)],
            )
        except OSError as error:
            raise JobError(
                f"writing or reading temporary files or output failed: {error}", hint=ADVICE.get(error.errno or 0)
            ) from error
        except DecodeError as error:
            raise JobError(f"a temporary file does not hold what was written to it: {error}") from error
        return self._counters

    def _run_phase(self, phase, function, sizes):
        """Call function(number, report_progress) for each task, some of them side by side; sizes: of their inputs."""
        done, total = [0] * len(sizes), sum(sizes)
        ended: SimpleQueue = SimpleQueue()
        with self.processes.threads(self._nprocesses) as pool:
            for number in range(len(sizes)):
                pool.submit(function, number, partial(done.__setitem__, number)).add_done_callback(ended.put)
            nrunning = len(sizes)
            while nrunning:
                try:
                    ended.get(timeout=POLL_SECONDS).result()
                    nrunning -= 1
                except Empty:
                    pass
                if self._progress is not None:
                    self._progress(phase, min(sum(done), total) if nrunning else total, total)

    # -- attempts

    def _attempt(self, kind, number, source, environ, run):
        """Call run(attempt) until it succeeds, and keep the files and counters of that attempt."""
        for tries in range(self.job.attempts):
            attempt = TaskAttempt(self, kind, number, tries, environ, source)
            if self.job.report:
                attempt.history.attempt = tries
                self.tasks.append(attempt.history)
            try:
                counted = run(attempt)
            except TaskError as error:
                what = f"{PHASES[kind]} task {number} ({source}) failed: {error}"
                if error.final or tries + 1 == self.job.attempts or self.processes.stopped:
                    raise JobError(what, attempt.messages.tail) from None
                attempt.messages.handle(f"typedbytes: {what}; trying again\n".encode())
                self.output.drop_attempt(attempt.name)
            else:
                self.output.settle_attempt(attempt.folder)
                with self._lock:
                    self.output.commit_attempt(attempt.folder)
                    self._counters.merge(attempt.messages.counters)
                    self._counters.merge({TASK_COUNTERS: counted})
                    exceeded = self._counters.exceeded_limit(*HADOOP_COUNTERS[bool(self.job.nreducers)])
                if exceeded:
                    raise JobError(
                        f"the tasks have {exceeded}, not counting Hadoop's own counters", attempt.messages.tail
                    )
                return

    # -- map

    def _map(self, number, report_progress):
        split = self._splits[number]

        def run(attempt):
            self._segments[number], counted = attempt.run_map(split, report_progress)
            return counted

        self._attempt("m", number, described(split), map_environment(split), run)

    # -- reduce

    def _segments_of(self, number):
        """Return the segments of a reduce task, in the order of the map tasks."""
        return [run[number] for runs in self._segments for run in runs]

    def _reduce(self, number, report_progress):
        segments = self._segments_of(number)
        self._attempt(
            "r",
            number,
            f"{total_records(segments):,} pairs",
            {},
            lambda attempt: attempt.run_reduce(segments, report_progress),
        )
