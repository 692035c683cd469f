"""The history of a job, which engines fill in step by step and task by task, and its report.

Here: when a report is written. Not here: what it looks like. Invariant: a job without a report keeps nothing of its
tasks; a report that cannot be written does not change how the job ends.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice

from typedbytes._base.locations import PART_PREFIX, is_url
from typedbytes.jobs.counters import numbers_of_tasks
from typedbytes.jobs.errors import JobError, OptionError
from typedbytes.jobs.paths import absolute

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from typedbytes.jobs.job import Job

__all__ = ["STOPPED", "JobHistory", "StepHistory", "TaskHistory", "bad_records_in", "nbytes_of_parts", "recorded"]

STOPPED = "the job was stopped"  # why an attempt has failed that was ended with its job
MAX_BAD_RECORDS = 20  # at most, in a report
MAX_ITEM_NBYTES = 1 << 16  # of a key or a value that is decoded to be shown


@dataclass
class TaskHistory:
    """One attempt of a task; times are seconds since 1970, 0.0 if not known."""

    kind: str  #: "map" or "reduce"
    number: int | None  #: None: all tasks of the kind, where more is not known
    source: str = ""  #: its input, as messages name it
    attempt: int = 0
    start: float = 0.0
    end: float = 0.0
    nbytes: int | None = None  #: of its input
    counted: dict[str, int] = field(default_factory=dict)  #: by the names of Hadoop's counters
    combined: list[tuple[float, float]] = field(default_factory=list)  #: when its combiner ran
    failure: str = ""


@dataclass
class StepHistory:
    """One step of a job."""

    name: str
    tasks: list[TaskHistory]
    nmaps: int | None
    nreducers: int | None
    start: float
    end: float = 0.0
    counters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  #: none of a step that has failed
    nbytes_written: int | None = None  #: of its part files

    @property
    def numbers(self) -> dict[str, int]:
        """Hadoop's counters of its tasks; of a step that has failed, the sums of those that succeeded."""
        if self.counters:
            return numbers_of_tasks(self.counters)
        sums: dict[str, int] = {}
        for task in self.tasks:
            for name, amount in task.counted.items():
                sums[name] = sums.get(name, 0) + amount
        return sums


@dataclass
class JobHistory:
    """A job that has ended."""

    name: str
    engine: str
    output: str
    command: list[str]  #: that repeats it, none if it was not started by one
    start: float
    end: float = 0.0
    steps: list[StepHistory] = field(default_factory=list)
    failure: str = ""
    tail: list[str] = field(default_factory=list)  #: of the standard error of the task that failed
    bad_records: list[tuple[str, str, str]] = field(default_factory=list)  #: the file, the key and the value of each


@contextmanager
def recorded(job: Job, engine: str) -> Iterator[JobHistory]:
    """Yield the history of a job that the block runs, and write its report, also if the job fails."""
    name = job.name or os.path.basename(job.script) or "typedbytes"
    history = JobHistory(name, engine, job.output, [], time.time())
    if not job.report:
        yield history
        return
    path = _checked(job.report, [job.script, job.output, *job.inputs])
    history.command = _own_command()
    try:
        yield history
    except OptionError:  # before anything was done
        raise
    except JobError as error:
        history.failure, history.tail = str(error) or type(error).__name__, error.tail
        _write(history, path)
        raise
    _write(history, path)


def _checked(report, others):
    """Return the path of a report, if there can be one that is none of the other files of the job."""
    if is_url(report):
        raise OptionError(f"the report is a file of this machine, not a URL such as {report}: give a path")
    path = absolute(report)
    paths = [each for each in others if isinstance(each, (str, os.PathLike)) and not is_url(each)]
    if os.path.realpath(path) in map(os.path.realpath, paths):
        raise OptionError(f"the report {report} is another file of the job too: give it a path of its own")
    folder, _ = os.path.split(path)
    if not os.path.isdir(folder):
        raise OptionError(f"there is no folder {folder} for the report {report}; create it first")
    if os.path.isdir(path):
        raise OptionError(f"the report {report} is a folder: give the path of a file")
    return path


def _write(history, path):
    from typedbytes._base.atomic import atomic_file
    from typedbytes._core import write_all
    from typedbytes.jobs.report import page_of

    history.end = time.time()
    try:
        with atomic_file(path) as file, file:
            write_all(file, page_of(history).encode("utf-8"))
    except OSError as error:
        if sys.stderr is not None:
            print(f"typedbytes: the report {path} cannot be written: {error.strerror}", file=sys.stderr)


def _own_command():
    """Return the words that started this process, none of one at a prompt or of a notebook."""
    main = sys.modules["__main__"]
    if not hasattr(main, "__file__") or "ipykernel" in sys.modules:
        return []
    module = getattr(getattr(main, "__spec__", None), "name", "").removesuffix(".__main__")
    start = [sys.executable, *(["-m", module, *sys.argv[1:]] if module else sys.argv)]
    words = list(getattr(sys, "orig_argv", start))  # from Python 3.10 on
    if words[1:3] == ["-m", "typedbytes"]:
        return ["typedbytes", *words[3:]]
    return words[1:] if os.path.basename("".join(words[1:2])) == "typedbytes" else words


def nbytes_of_parts(folder: str) -> int | None:
    """Return the number of bytes in the part files of an output on this machine, None if it is not there any more."""
    try:
        with os.scandir(folder) as entries:
            contents = [*entries]
        folders = [entry.path for entry in contents if entry.is_dir(follow_symlinks=False)]  # of an output by key
        nbytes = sum(entry.stat().st_size for entry in contents if entry.name.startswith(PART_PREFIX))
    except OSError:  # another process has moved it
        return None
    return nbytes + sum(nbytes_of_parts(path) or 0 for path in folders)


def bad_records_in(folder: str) -> list[tuple[str, str, str]]:
    """Return the first bad records of an output on this machine, each as its file and the texts of its key and value.

    Those of lines have no key.
    """
    try:
        names = sorted(name for name in os.listdir(folder) if "bad-records-" in name)
        records = ((name, *record) for name in names for record in _records_in(os.path.join(folder, name)))
        return [*islice(records, MAX_BAD_RECORDS)]
    except OSError:  # another process has moved it, or it is not on this machine
        return []


def _records_in(path: str) -> Iterable[tuple[str, str]]:
    from typedbytes import PairReader
    from typedbytes.errors import DecodeError

    try:
        with PairReader(path, raw=True) as reader:
            for key, value in reader:
                yield _shown(key), _shown(value)
    except DecodeError:
        with open(path, "rb") as file:  # lines, as text between tasks has them, or records of raw bytes
            for line in file:
                yield "", repr(line[:MAX_ITEM_NBYTES].rstrip(b"\n"))[1:]


def _shown(item):
    from typedbytes import loads

    try:
        return repr(loads(item)) if len(item) <= MAX_ITEM_NBYTES else f"{len(item):,} bytes"
    except (ValueError, RecursionError):
        return repr(bytes(item))
