"""The tasks of a streaming job within Spark's: what runs on a worker. Needs no Spark.

A map task sorts its output as it would for Hadoop and hands Spark's shuffle pieces of its sorted runs; a reduce task
merges those of its partition. Invariant: Spark moves bytes, and no pair becomes an object; what a task has counted, and
which files it has written, travels with its output, so that it counts once however often Spark tries the task.
"""

import io
import json
import os
import pickle
import sys
import tarfile
import tempfile
from collections import namedtuple
from contextlib import contextmanager
from dataclasses import replace

from typedbytes._base.atomic import sync_contents
from typedbytes._core import write_all
from typedbytes._sorting.external import Segment
from typedbytes.errors import DecodeError
from typedbytes.jobs.counters import TASK_COUNTERS
from typedbytes.jobs.environment import job_environment, map_environment
from typedbytes.jobs.hadoop_properties import part_options
from typedbytes.jobs.tasks.attempt import PHASES, TaskAttempt, TaskContext, described, max_files
from typedbytes.jobs.tasks.processes import Processes, TaskError

__all__ = ["PYTHON", "Setting", "TaskFailed", "partition_of", "run_map", "run_map_only", "run_reduce"]

PIECE_NBYTES = 1 << 16  # Spark gathers up to a thousand pieces before it looks at their size
MEMORY = 128 << 20  # of a task
PYTHON = "{python}"  # the first word of a command that starts with the Python of the machine

# What all tasks of a job have in common. attempts: the folder in which each attempt has one for its part of the output.
# shipped: the script, its modules and what else is to be in a task's folder, as the bytes of a tar archive.
Setting = namedtuple("Setting", "id job commands nmaps attempts shipped")


class TaskFailed(Exception):
    """An attempt failed. The text has what the driver needs, in one line, in whatever Spark puts around it."""

    MARK = "typedbytes-task-failed:"

    def __init__(self, reason, tail):
        super().__init__(self.MARK + json.dumps([reason, list(tail)]))

    @classmethod
    def found_in(cls, text):
        """Return (reason, tail) of the failure reported in the text of an error, or None."""
        for line in text.splitlines():
            _, mark, found = line.partition(cls.MARK)
            if mark:
                return json.JSONDecoder().raw_decode(found)[0]
        return None


class _Worker(TaskContext):
    """The context of a task on a worker, which runs one."""

    def __init__(self, setting, folder, bundle, processes):
        python = [sys.executable]
        self.commands = {
            role: words and (python if words[0] == PYTHON else words[:1]) + words[1:]
            for role, words in setting.commands.items()
        }
        inherited = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
        path = os.pathsep.join([folder, *filter(None, [bundle]), *map(os.path.abspath, inherited)])
        self.job = replace(setting.job, environment={**setting.job.environment, "PYTHONPATH": path})
        self.id = setting.id
        self.environ = job_environment(self.job, self.id, setting.nmaps)
        self.part_options = part_options(self.job.properties, self.job.output_format)
        self.memory = MEMORY
        self.max_files = max_files(os.cpu_count() or 1)
        self.processes = processes
        self.output = self
        self._attempts = setting.attempts
        self._folder = folder

    def attempt_folder(self, name):
        """Make the folder of an attempt's part of the output."""
        path = os.path.join(self._attempts, name)
        os.mkdir(path)
        return path

    def spill_prefix(self, name):
        """Return what the paths of an attempt's temporary files begin with."""
        return os.path.join(self._folder, f".{name}-")


@contextmanager
def _attempt(setting, kind, number, attempt_number, bundle, environ, source):
    """Yield a TaskAttempt and its own folder with the job's files; failures become TaskFailed."""
    tail: object = ()
    try:
        with Processes() as processes:
            # The caretaker removes it when the process is killed.
            folder = os.path.join(tempfile.gettempdir(), f"typedbytes-{os.urandom(8).hex()}")
            processes.caretaker.add(folder)
            os.mkdir(folder, 0o700)
            with tarfile.open(fileobj=io.BytesIO(setting.shipped)) as archive:
                archive.extraction_filter = getattr(tarfile, "tar_filter", None)
                archive.extractall(folder)
            processes.folder = folder
            worker = _Worker(setting, folder, bundle, processes)
            attempt = TaskAttempt(worker, kind, number, attempt_number, environ, source)
            tail = attempt.messages.tail
            yield attempt, folder
            sync_contents(attempt.folder)
    except (TaskError, OSError, DecodeError) as error:
        where = "" if isinstance(error, TaskError) else "temporary files or output: "
        raise TaskFailed(f"{PHASES[kind]} task {number} ({source}) failed: {where}{error}", tail) from None


def _outcome(setting, attempt, counted):
    """Return (folder name, counters, history) of an attempt, for the driver; None without a report."""
    counters = attempt.messages.counters
    counters.merge({TASK_COUNTERS: counted})
    history = attempt.history if setting.job.report else None
    return attempt.name, {group: dict(names) for group, names in counters.items()}, history


def _map_attempt(setting, number, split, attempt_number, bundle):
    return _attempt(setting, "m", number, attempt_number, bundle, map_environment(split), described(split))


def run_map_only(setting, number, split, attempt_number, bundle):
    """Run a map task whose output is the job's; return its outcome. bundle: its folder, or None."""
    with _map_attempt(setting, number, split, attempt_number, bundle) as (attempt, _):
        _, counted = attempt.run_map(split, _ignore)
    return _outcome(setting, attempt, counted)


def run_map(setting, number, split, attempt_number, bundle):
    """Run a map task; yield its outcome for the first partition, and the pieces of its sorted runs.

    The keys of the pieces are in the order of reading. A key is the partition, the number of the map task, that of the
    run and that of the piece; a value the number of records in the segment and bytes.
    """
    with _map_attempt(setting, number, split, attempt_number, bundle) as (attempt, _):
        runs, counted = attempt.run_map(split, _ignore)
        for i, run in enumerate(runs):
            for partition, segment in enumerate(run):
                if segment.nrecords:
                    for j, piece in enumerate(_pieces(segment)):
                        yield (partition, number, i, j), (segment.nrecords, piece)
    yield (0, number, -1, 0), (0, pickle.dumps(_outcome(setting, attempt, counted)))


def _ignore(nbytes):
    """Take note of progress, which Spark shows itself."""


def _pieces(segment):
    with open(segment.path, "rb") as file:
        file.seek(segment.start)
        left = segment.nbytes
        while left:
            piece = file.read(min(left, PIECE_NBYTES))
            if not piece:
                raise OSError(f"the temporary file {segment.path} lacks {left} bytes")
            left -= len(piece)
            yield piece


def partition_of(key):
    """Return the partition of a piece."""
    return key[0]


def run_reduce(setting, number, pieces, attempt_number, bundle):
    """Run a reduce task on the pieces of its partition, in order; return the outcomes that it has, its own the last."""
    outcomes: list[tuple] = []
    with _attempt(setting, "r", number, attempt_number, bundle, {}, "the output of the map tasks") as (attempt, folder):
        segments = list(_received(pieces, os.path.join(folder, ".received"), outcomes))
        counted = attempt.run_reduce(segments, _ignore)
    return [*outcomes, _outcome(setting, attempt, counted)]


def _received(pieces, path, outcomes):
    """Write pieces to a file and yield the segments that they are of."""
    with open(path, "wb", buffering=0) as file:
        current, start, total = None, 0, 0
        for (_, number, run, _), (nrecords, data) in pieces:
            if run < 0:
                outcomes.append(pickle.loads(data))
                continue
            if current != (number, run):
                if current is not None:
                    yield Segment(path, start, file.tell() - start, total, "none")
                current, start, total = (number, run), file.tell(), nrecords
            write_all(file, data)
        if current is not None:
            yield Segment(path, start, file.tell() - start, total, "none")
