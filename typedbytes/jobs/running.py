"""A job from its script to its result, by whichever engine runs its tasks.

Here: what is the same for all: the processes and their caretaker, files to ship, the steps, their splits and the folder
of the output. Not here: which task runs when and where, which the engine knows.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from typedbytes._base.locations import is_url
from typedbytes.jobs.errors import CommandError, JobError
from typedbytes.jobs.hadoop_properties import check_by_key, part_options
from typedbytes.jobs.history import StepHistory, bad_records_in, nbytes_of_parts, recorded
from typedbytes.jobs.remote import OutputAtUrl, path_here
from typedbytes.jobs.result import Result
from typedbytes.jobs.script import (
    commands_of,
    end_nested_job,
    ends_in_run,
    find_steps_by_asking,
    refuse_own_job,
    variable_of,
)
from typedbytes.jobs.shipped import ship_files
from typedbytes.jobs.source import Source
from typedbytes.jobs.steps import run_steps, with_settings
from typedbytes.jobs.tasks.input_kinds import PAIRS
from typedbytes.jobs.tasks.inputs import find_files, make_splits, pairs_in, with_raw_text
from typedbytes.jobs.tasks.output_folder import OutputFolder
from typedbytes.jobs.tasks.processes import Processes

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from typedbytes.jobs.counters import Counters
    from typedbytes.jobs.history import TaskHistory
    from typedbytes.jobs.job import Commands, Job
    from typedbytes.jobs.tasks.inputs import Split

    class Step(Protocol):
        """One run of a job's step."""

        tasks: list[TaskHistory]  #: of a job with a report

        def run(self) -> Counters:
            """Run it and return its counters."""

    Engine = Callable[[Job, Commands, list[Split], OutputFolder, Processes], Step]

__all__ = ["run_with_engine"]


def run_with_engine(
    engine: Engine, job: Job, commands: Commands | None = None, tasks: Any = None, where: str = "this machine"
) -> Result:
    """Run a job, each step by an engine: engine(job, commands, splits, output, processes).run() returns its counters.

    commands: the command of each role, for a job of functions; None: ask the script. tasks: what runs the tasks;
    None: a process for each. where: the name of the engine. An output at a URL is made in a temporary folder of this
    machine, and copied when it is complete. Raises JobError.
    """
    end_nested_job()
    if not is_url(job.output):
        return _run_here(engine, job, commands, tasks, where)
    url = os.fspath(job.output)
    target = OutputAtUrl(url, job.overwrite)
    folder = tempfile.mkdtemp(prefix="typedbytes-", dir=job.tmp if job.tmp and os.path.isdir(job.tmp) else None)
    is_kept = False
    try:
        here = replace(job, output=os.path.join(folder, "output"), overwrite=False)
        result = _run_here(engine, here, commands, tasks, where, url)
        is_kept = job.keep_failed  # if the copy fails
        target.put(result.output)
        is_kept = False
    except JobError as error:
        is_kept = is_kept or error.kept is not None
        raise
    finally:
        if not is_kept:
            shutil.rmtree(folder, ignore_errors=True)
    last = [replace(each, output=url) for each in result.steps[-1:]]
    return replace(result, output=url, steps=(*result.steps[:-1], *last))


def _run_here(engine, job, commands, tasks, where, shown_output=None):
    """Run a job whose output is a folder of this machine; its report names shown_output."""
    job.check_formats()
    check_by_key(job)
    part_options(job.properties, job.output_format)  # raises OptionError before anything is done
    if commands is None and tasks is None:
        refuse_own_job(job.script)
    with recorded(job, where) as history, tasks or Processes() as processes:
        result = _Run(engine, history, processes, shown_output).run(job, commands, tasks)
        history.output = shown_output or result.output
        history.bad_records = bad_records_in(result.output) if job.report else []
        return result


class _Run:
    """One run of a job: what its steps share."""

    def __init__(self, engine, history, processes, url=None):
        """url: what the output is copied to when the job is done."""
        self._engine = engine
        self._history = history
        self._processes = processes
        self._url = url

    def run(self, job, commands, tasks):
        """Run all steps of a job."""
        processes = self._processes
        processes.folder, environ = ship_files(job.files, job.archives, job.environment, processes.caretaker)
        if commands is None and tasks is None:
            environ = {**environ, **variable_of(job.script)}
        job = replace(job, environment=environ, name=job.name or os.path.basename(job.script) or "typedbytes")
        if tasks is None and job.fork:
            processes.forks.can_fork = partial(ends_in_run, job)
        if commands is None:
            roles = find_steps_by_asking(job, processes) if tasks is None else tasks.find_steps(job)
            steps = commands_of(job, roles, None if tasks is None else [])
            settings = [each.settings for each in roles]
        else:
            steps, settings = [commands], [{}]
        asked, _ = job.asked_reducers
        job = replace(job, nreducers=1 if asked is None else asked)
        if len(steps) == 1:
            return self._run_step(with_settings(job, settings[0]), steps[0])
        part_options(job.properties, "sequencefile")
        target = path_here(self._url) if self._url and job.step_output else None
        return run_steps(self._run_step, job, steps, settings, processes.caretaker, target)

    def _run_step(self, job, commands, side_file_folders=()):
        start = time.monotonic()
        nreducers = job.nreducers if commands["reduce"] else 0
        history = StepHistory(job.name, [], None, nreducers, time.time())
        self._history.steps.append(history)
        caretaker = self._processes.caretaker
        with (
            _hint_at_lines(job),
            OutputFolder(job.output, caretaker, job.keep_failed, job.tmp, job.overwrite) as folder,
        ):
            splits = _splits(job, folder)
            raw_text = job.raw_text and all(split.kind == "text" for split in splits)
            # Tasks get no inputs of this process.
            job = replace(job, inputs=(), nreducers=nreducers, raw_text=raw_text)
            splits = with_raw_text(splits) if raw_text else splits
            step = self._engine(job, commands, splits, folder, self._processes)
            history.tasks, history.nmaps = step.tasks, len(splits)
            counters = step.run()
            for earlier in side_file_folders:
                folder.take_from(earlier)
        history.counters, history.end = counters, time.time()
        if job.report:
            history.nbytes_written = nbytes_of_parts(folder.path)
        return Result(folder.path, counters, len(splits), nreducers, time.monotonic() - start)


@contextmanager
def _hint_at_lines(job):
    """Have the error of a job say what its script is, if it seems to read and print lines."""
    try:
        yield
    except JobError as error:
        if not error.hint and _prints_lines(job):
            hint = (
                f"{job.script} does not call streaming.run(...): a script that reads lines and prints lines is a "
                f"command: typedbytes run --mapper 'python {os.path.basename(job.script)}' [--reducer COMMAND] INPUT"
            )
            error.add(hint=hint)
        raise


def _prints_lines(job):
    try:
        if job.front or not job.script.endswith(".py"):
            return False
        source = Source(job.script)
        return not source.imports("typedbytes") and not source.calls_any_run
    except CommandError:
        return False


def _splits(job, folder):
    records, paths = pairs_in(job.inputs)
    if records is not None:
        return make_splits([folder.keep_records(records)], PAIRS)
    named = [folder.keep_stdin() if path == "-" else path for path in paths]
    files = find_files(named, job.reads_nested_folders)
    return make_splits(
        files, job.input_format, job.split_size, in_order=job.library.reads_in_order, combines=job.combine_files
    )
