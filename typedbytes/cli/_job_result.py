"""What the commands report of a job that ran by tasks of typedbytes.local, on this machine or on Spark."""

from __future__ import annotations

from typedbytes import local
from typedbytes.cli._failure import IO_ERROR, JOB_FAILED, NO_INPUT, UNAVAILABLE, USAGE, Failure, say
from typedbytes.local._errors import OptionError

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from collections.abc import Callable


def run_and_report(job: Callable[[], local.Result], quiet: bool) -> None:
    """Call a function that runs a job; report its counters, or raise the Failure of a job that fails."""
    try:
        result = job()
    except local.JobError as error:
        failure = error
    except (OptionError, ModuleNotFoundError) as error:
        raise Failure(UNAVAILABLE if isinstance(error, ModuleNotFoundError) else USAGE, str(error)) from None
    else:
        if not quiet:
            _report(result)
        return
    raise _failure_of(failure, quiet)


def _failure_of(error, quiet):
    """Return the Failure of a job; write the last output of its task, unless that was written already."""
    if quiet or isinstance(error, local.CommandError):
        for line in error.tail:
            say(line)
    kept = f"; {error.kept} was kept" if error.kept else ""
    otherwise = IO_ERROR if isinstance(error.__cause__, OSError) else JOB_FAILED
    status = {local.InputError: NO_INPUT, local.OutputError: USAGE, local.CommandError: USAGE}.get(type(error), otherwise)
    return Failure(status, f"{error}{kept}")


def _report(result):
    for step, counters in counters_by_step(result):
        for group, names in sorted(counters.items()):
            for name, amount in sorted(names.items()):
                say(f"{step}{group.rpartition('.')[2]}: {name} = {amount:,}")
    tasks = f"{result.nmaps} map and {result.nreducers} reduce tasks"
    say(f"typedbytes: done: {result.output}, {tasks}, {result.seconds:.1f} s")


def counters_by_step(result):
    """Return how the lines of each step start and its counters: their sums would count the pairs between steps twice."""
    return [(f"step {number}: ", each.counters) for number, each in enumerate(result.steps, 1)] or [("", result.counters)]
