"""The errors of jobs: one tree for every engine.

TypedBytesError
    JobError            a job failed, and has left no output
        InputError, OutputError
        SubmitError     a job cannot be submitted as it is
            CommandError    its script or function cannot be started, here or on a cluster
            OptionError     an option is invalid, wherever the job would run
            JobFailedError  Hadoop ran the job, and it failed
"""

from __future__ import annotations

from errno import EDQUOT, EFBIG, ENOSPC

from typedbytes.errors import TypedBytesError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ADVICE", "CommandError", "InputError", "JobError", "JobFailedError", "OptionError", "OutputError", "SubmitError",
    "unwritten",
]  # fmt: skip

NO_SPACE = "free disk space, or choose other folders: for the output, and tmp (--tmp) for temporary files"
#: What to do about a disk that is full: by the number of the system's error.
ADVICE = {ENOSPC: NO_SPACE, EDQUOT: NO_SPACE, EFBIG: "raise the limit on the size of a file: ulimit -f unlimited"}


class JobError(TypedBytesError):
    """A job failed, and has left no output.

    `tail` holds the last lines of the failing task on standard error; `kept` is the job's folder if it was kept, or
    None. `hint` says what to do, if that is known: the text of the error is `message` and, after a semicolon, the hint.
    `options` has the options that the text names as Python does, "reducers" or "overwrite=True": a command shows its
    own words in their place.
    """

    def __init__(
        self, message: str, tail: Iterable[str] = (), *, hint: str | None = None, options: Iterable[str] = ()
    ) -> None:
        super().__init__(f"{message}; {hint}" if hint else message)
        self.tail: list[str] = list(tail)
        self.options: tuple[str, ...] = tuple(options)
        self.kept: str | None = None
        self.message: str = message
        self.hint: str = hint or ""


class SubmitError(JobError):
    """A job cannot be submitted; the message says what to do."""


class CommandError(SubmitError):
    """The job's code cannot be started, or does not have what the job needs."""


class InputError(JobError):
    """The input of the job is missing, or invalid."""


class OutputError(JobError):
    """The output cannot be created at its path."""


class OptionError(SubmitError, ValueError):
    """An option of a job is wrong by itself, wherever the job would run; raised before anything is done."""


class JobFailedError(SubmitError):
    """Hadoop ran a job, and it failed.

    `report` is the failing task's own error report, a list of lines, empty if there is none; `code` is the exit code of
    Hadoop's command.
    """

    def __init__(self, message: str, report: Iterable[str] = (), code: int = 1) -> None:
        super().__init__(message)
        self.report: list[str] = list(report)
        self.code = code


def unwritten(otherwise: type[JobError], message: str, error: OSError, hint: str | None = None) -> JobError:
    """Return the exception to raise from an OSError: a JobError for a full disk, else one of `otherwise`."""
    full = ADVICE.get(error.errno or 0)
    return JobError(message, hint=full) if full else otherwise(message, hint=hint)
