"""What the commands report of a job that ran by tasks of typedbytes.local, on this machine or on Spark."""

from __future__ import annotations

import os

from typedbytes.cli._failure import UNAVAILABLE, Failure, say, say_message
from typedbytes.cli._job.submit_failure import failure_of
from typedbytes.jobs.counters import TASK_GROUPS, numbers_of_tasks
from typedbytes.jobs.errors import CommandError, JobError
from typedbytes.jobs.hadoop_properties import ignored, text_suffix

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

    from typedbytes.jobs.job import Job
    from typedbytes.jobs.result import Result

#: Groups of counters that jobs have without code of their own.
HADOOP_GROUPS = {
    *TASK_GROUPS, "File System Counters", "Job Counters", "Shuffle Errors", "File Input Format Counters",
    "File Output Format Counters",
}  # fmt: skip


def run_and_report(job: Job, run: Callable[[], Result], is_shown: bool = False) -> None:
    """Call a function that runs a job; report its counters, or raise the Failure of a job that fails.

    is_shown: whether the result goes to standard output, and its folder is temporary.
    """
    if not job.quiet:
        _report_ignored(job)
    try:
        result = run()
    except ModuleNotFoundError as error:
        raise Failure(UNAVAILABLE, str(error)) from None
    except JobError as error:
        if job.quiet or isinstance(error, CommandError):  # else the last output of its task was written already
            for line in error.tail:
                say(line)
        failure = failure_of(error)
    else:
        if not job.quiet:
            _report(result, is_shown)
        return
    raise failure


def _report_ignored(job):
    """Report each property of the job with which Hadoop would give another result, and which has no effect outside it.

    Where text is compressed, as Hadoop does it, the names of part files are others than usual: that is reported too.
    """
    for name, what in ignored(job.properties, job.output_format).items():
        say_message(f"-D {name} has no effect here: {what}")
    suffix = text_suffix(job.properties, job.output_format)
    if suffix:
        say_message(f"part files end in {suffix}: mapreduce.output.fileoutputformat.compress is set")


def _report(result, is_shown):
    has_side_files = _has_side_files(result.output)
    for step, counters in counters_by_step(result):
        for group, names in sorted(counters.items()):
            for name, amount in sorted(names.items()):
                say(f"{step}{group.rpartition('.')[2]}: {name} = {amount:,}")
        for hint in () if has_side_files else hints(counters):
            say_message(f"{step}{hint}")
    tasks = f"{result.nmaps} map and {result.nreducers} reduce tasks"
    where = "" if is_shown else f"{result.output}, "
    say_message(f"done: {where}{tasks}, {result.seconds:.1f} s")


def _has_side_files(folder):
    from typedbytes._base.locations import is_hidden, visible_names

    try:
        names = [name for name in os.listdir(folder) if not is_hidden(name)]
    except OSError:  # another process has moved the output already
        return False
    return len(visible_names(names)) < len(names)


def hints(counters):
    """Return what to say of a role whose tasks had input, wrote nothing and counted nothing.

    The counters are ours or Hadoop's.
    """
    from typedbytes.streaming.advice import hint_at_no_output
    from typedbytes.streaming.task_environment import NAMES

    of_splits = counters.get("typedbytes", {})
    groups = {group for group in counters if group != "typedbytes" or [*of_splits] != ["MapInputRecords"]}
    if not groups <= HADOOP_GROUPS:
        return []
    amounts = numbers_of_tasks(counters)
    nrecords = {
        role: [amounts.get(f"{role.upper()}_{side}_RECORDS", 0) for side in ("INPUT", "OUTPUT")] for role in NAMES
    }
    return [hint_at_no_output(NAMES[role], read) for role, (read, written) in nrecords.items() if read and not written]


def counters_by_step(result):
    """Return the start of each step's lines and its counters: sums would count pairs between steps twice."""
    return [(f"step {number}: ", each.counters) for number, each in enumerate(result.steps, 1)] or [
        ("", result.counters)
    ]
