"""A streaming job on Spark: an engine whose tasks are Spark's.

Here: what the driver does. Invariant: Spark chooses where and how often a task runs; which pairs it gets, their order
and the part files are those of the other engines, and the output is there when the job has succeeded, and only then.
"""

from __future__ import annotations

import io
import os
import random
import sys
import tarfile
from dataclasses import replace
from functools import partial

from typedbytes.jobs.counters import HADOOP_COUNTERS, Counters
from typedbytes.jobs.errors import JobError
from typedbytes.jobs.modules import local_modules
from typedbytes.spark import BUNDLE, _tasks
from typedbytes.spark._tasks import PYTHON, Setting, TaskFailed

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from typedbytes.jobs.history import TaskHistory
    from typedbytes.jobs.job import Commands, Job
    from typedbytes.jobs.tasks.inputs import Split
    from typedbytes.jobs.tasks.output_folder import OutputFolder
    from typedbytes.jobs.tasks.processes import Processes

__all__ = ["SparkJob"]


class SparkJob:
    """One run of a job's step over splits into an OutputFolder."""

    def __init__(
        self,
        session: Any,
        job: Job,
        commands: Commands,
        splits: list[Split],
        output: OutputFolder,
        processes: Processes,
    ) -> None:
        self._context = session.sparkContext
        self._splits = list(enumerate(splits))
        self._output = output
        self._nreducers = job.nreducers or 0
        self.tasks: list[TaskHistory] = []  # of a job with a report, the attempts that count
        script, commands = _relocated(commands)
        shipped = _archive(script, processes.folder)
        own = {name: value for name, value in job.environment.items() if name != "PYTHONPATH"}
        job_id = f"job_spark{random.SystemRandom().randrange(10**9, 10**10)}_0001"
        self._setting = Setting(job_id, replace(job, environment=own), commands, len(splits), output.attempts, shipped)

    def run(self) -> Counters:
        """Run the job and return its counters. Raises JobError."""
        setting = self._context.broadcast(self._setting)
        try:
            outcomes = self._reduced(setting) if self._nreducers else self._mapped(setting)
        except Exception as error:
            found = TaskFailed.found_in(str(error))
            if found is not None:
                raise JobError(*found) from None
            if type(error).__module__.partition(".")[0] in ("py4j", "pyspark"):  # executors that were lost too often
                raise JobError(
                    f"Spark gave the job up: {str(error).strip().splitlines()[0]}", str(error).splitlines()
                ) from error
            raise
        finally:
            setting.unpersist()
        return self._committed(outcomes)

    def _tasks(self):
        return self._context.parallelize(self._splits, max(len(self._splits), 1))

    def _mapped(self, setting):
        return self._tasks().map(partial(_map_only, setting)).collect()

    def _reduced(self, setting):
        pieces = self._tasks().flatMap(partial(_map, setting))
        ordered = pieces.repartitionAndSortWithinPartitions(self._nreducers, _tasks.partition_of)
        return ordered.mapPartitionsWithIndex(partial(_reduce, setting)).collect()

    def _committed(self, outcomes):
        """Make the files of the attempts that count the output, and return the sum of their counters."""
        counters = Counters()
        for name, counted, history in outcomes:
            self._output.commit_attempt(os.path.join(self._output.attempts, name))
            counters.merge(counted)
            self.tasks += [history] if history else []
        exceeded = counters.exceeded_limit(*HADOOP_COUNTERS[self._nreducers > 0])
        if exceeded:
            raise JobError(f"the tasks have {exceeded}, not counting Hadoop's own counters")
        return counters


def _attempt_and_bundle():
    """Return a number that no other attempt has in this application, and the folder of the bundle, None without one."""
    from pyspark import SparkFiles, TaskContext

    context: Any = TaskContext.get()
    bundle = SparkFiles.get(BUNDLE)
    return context.taskAttemptId(), bundle if os.path.isdir(bundle) else None


def _map_only(setting, numbered):
    return _tasks.run_map_only(setting.value, *numbered, *_attempt_and_bundle())


def _map(setting, numbered):
    return _tasks.run_map(setting.value, *numbered, *_attempt_and_bundle())


def _reduce(setting, number, pieces):
    return _tasks.run_reduce(setting.value, number, pieces, *_attempt_and_bundle())


def _relocated(commands):
    """Return the script of commands, and the commands for a folder that holds it, with the Python of the machine."""
    words = commands["map"]
    start = 0 if words[0] != sys.executable else 3 if words[1] == "-m" else 1
    script = words[start]
    name = os.path.basename(script)
    first = [PYTHON, *words[1:start], name] if start else [os.path.join(".", name)]
    return script, {role: words and [*first, *words[start + 1 :]] for role, words in commands.items()}


def _archive(script, folder):
    """Return an archive of a script, the modules beside it that it imports, and the files of a folder."""
    beside = os.path.dirname(script)
    modules = local_modules(script, os.listdir(beside))[0] if script.endswith(".py") else []
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w", dereference=True) as archive:
        for path in (script, *modules):
            archive.add(path, os.path.basename(path), filter=_without_caches)
        for name in os.listdir(folder) if folder else ():
            archive.add(os.path.join(folder, name), name)
    return data.getvalue()


def _without_caches(member):
    return None if os.path.basename(member.name) == "__pycache__" else member
