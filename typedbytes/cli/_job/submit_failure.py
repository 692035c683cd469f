"""The exit codes of jobs that fail or cannot be submitted, and of bundles that cannot be made."""

from __future__ import annotations

from typedbytes.cli._failure import FAILED, IO_ERROR, NO_INPUT, UNAVAILABLE, USAGE, Failure
from typedbytes.jobs.errors import CommandError, InputError, JobError, OptionError, OutputError, SubmitError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["failure_of"]

#: The exit code of each kind of error, the most special kinds first.
STATUS: dict[Any, int] = {
    (OptionError, CommandError, OutputError): USAGE,  # the command line is wrong
    InputError: NO_INPUT,
    SubmitError: UNAVAILABLE,
    JobError: FAILED,
}


def failure_of(error: JobError) -> Failure:
    """Return an error of a job as the Failure of a command."""
    status = next(status for kinds, status in STATUS.items() if isinstance(error, kinds))
    if status == FAILED and isinstance(error.__cause__, OSError):
        status = IO_ERROR
    return Failure(status, f"{error}; {error.kept} was kept" if error.kept else str(error))
