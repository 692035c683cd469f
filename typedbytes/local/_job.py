"""A job from inputs to output: map tasks side by side, the shuffle between, reduce tasks side by side.

Here: which task runs when, with how much memory, and what becomes of its failure. Not here: processes, files and formats, the order of
keys. Invariant: a pair goes through no Python object between two tasks; of equal keys the values come in the order of the map
tasks and, of one task, as it wrote them; the output is there when the job has succeeded, and only then.
"""

import random
import resource
from collections import namedtuple
from concurrent.futures import FIRST_COMPLETED, wait
from functools import partial
from threading import Lock

from typedbytes._sorting.external import MAX_FILES, memory_for_records
from typedbytes.errors import DecodeError
from typedbytes.local._attempt import TaskAttempt, described, total_records
from typedbytes.local._counters import Counters
from typedbytes.local._environment import job_environment, map_environment
from typedbytes.local._errors import ADVICE, JobError
from typedbytes.local._processes import TaskError

__all__ = ["HADOOP_COUNTERS", "TASK_COUNTERS", "Job", "JobSettings", "Result", "max_files"]

TASK_COUNTERS = "org.apache.hadoop.mapreduce.TaskCounter"
POLL_SECONDS = 0.2
# Hadoop's own counters that count towards its limits, and their groups, without and with reducers.
HADOOP_COUNTERS = {False: (2, 2), True: (8, 3)}
PHASES = {"m": "map", "r": "reduce"}

# commands: of "map", "combine" and "reduce", a list of words each or None. memory: bytes for all tasks together.
# variables: those of the job's properties, which tasks find in their environment. part_options: see local/_properties.py.
JobSettings = namedtuple(
    "JobSettings", "name commands nreducers secondary output_format part_options memory nprocesses attempts codec quiet environ variables"
)

# The result of a job that succeeded: the path of its output, its counters by group and name, its tasks, and its duration. steps: for a job of several
# steps, one Result per step; the other fields are then totals.
Result = namedtuple("Result", "output counters nmaps nreducers seconds steps", defaults=[()])


class Job:
    """One run of a job over splits into an OutputFolder."""

    def __init__(self, settings, splits, output, progress, processes):
        self.settings = settings
        self._splits = splits
        self.output = output
        self._progress = progress
        self.processes = processes
        self._lock = Lock()
        self._counters = Counters()  # of attempts that have succeeded
        self.id = f"job_local{random.SystemRandom().randrange(10**9, 10**10)}_0001"
        text_output = settings.output_format == "text"
        self.environ = job_environment(settings, self.id, len(splits), text_output)
        self.memory = memory_for_records(settings.memory) // settings.nprocesses  # of a task
        self.max_files = max_files(settings.nprocesses)  # that a task merges at once
        self._segments: list = [()] * len(splits)  # by map task: its sorted runs, a Segment for each partition

    def run(self):
        """Run the job and return its counters. Raises JobError."""
        try:
            self._run_phase("map", self._map, [split.length for split in self._splits])
            self._run_phase("reduce", self._reduce, [_nbytes(self._segments_of(number)) for number in range(self.settings.nreducers)])
        except OSError as error:
            advice = ADVICE.get(error.errno or 0, "")
            raise JobError(f"writing or reading temporary files or output failed: {error}{advice}") from error
        except DecodeError as error:
            raise JobError(f"a temporary file does not hold what was written to it: {error}") from error
        return self._counters

    def _run_phase(self, phase, function, sizes):
        """Call function(number, report_progress) for each task, some of them side by side; sizes: of their inputs."""
        done = [0] * len(sizes)
        with self.processes.threads(self.settings.nprocesses) as pool:
            waiting = {pool.submit(function, number, partial(done.__setitem__, number)) for number in range(len(sizes))}
            while waiting:
                ended, waiting = wait(waiting, POLL_SECONDS, FIRST_COMPLETED)
                for future in ended:
                    future.result()
                if self._progress is not None:
                    self._progress(phase, min(sum(done), sum(sizes)) if waiting else sum(sizes), sum(sizes))

    # -- attempts

    def _attempt(self, kind, number, source, environ, run):
        """Call run(attempt) until it succeeds, and keep the files and counters of that attempt."""
        for tries in range(self.settings.attempts):
            attempt = TaskAttempt(self, kind, number, tries, environ)
            try:
                counted = run(attempt)
            except TaskError as error:
                what = f"{PHASES[kind]} task {number} ({source}) failed: {error}"
                if error.final or tries + 1 == self.settings.attempts or self.processes.stopped:
                    raise JobError(what, attempt.messages.tail) from None
                attempt.messages.handle(f"typedbytes: {what}; trying again\n".encode())
                attempt.drop()
            else:
                self.output.settle_attempt(attempt.folder)
                with self._lock:
                    self.output.commit_attempt(attempt.folder)
                    self._counters.merge(attempt.messages.counters)
                    self._counters.merge({TASK_COUNTERS: counted})
                    exceeded = self._counters.exceeded_limit(*HADOOP_COUNTERS[self.settings.nreducers > 0])
                if exceeded:
                    raise JobError(f"the tasks have {exceeded}, not counting Hadoop's own counters", attempt.messages.tail)
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
        self._attempt("r", number, f"{total_records(segments)} pairs", {}, lambda attempt: attempt.run_reduce(segments, report_progress))


def max_files(nprocesses):
    """Return how many files each of several tasks of a process may have open."""
    # Half of the descriptors is left for pipes and everything else.
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_FILES if limit == resource.RLIM_INFINITY else min(MAX_FILES, limit // 2 // nprocesses)


def _nbytes(segments):
    return sum(segment.nbytes for segment in segments)
