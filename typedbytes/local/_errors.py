"""The errors of a job: those found before it runs, and its failure."""

from typedbytes.errors import TypedBytesError

__all__ = ["CommandError", "InputError", "JobError", "OptionError", "OutputError"]


class OptionError(ValueError):
    """An option of a job is invalid; raised before anything is done. Any other ValueError is an internal error."""


class JobError(TypedBytesError):
    """A job failed, and has left no output.

    `tail` holds the last lines of the failing task on standard error; `kept` is the job's folder if it was kept, or None.
    """

    def __init__(self, message, tail=()):
        super().__init__(message)
        self.tail = list(tail)
        self.kept = None


class CommandError(JobError):
    """The job's code cannot be started."""


class InputError(JobError):
    """The input of the job is missing, or invalid."""


class OutputError(JobError):
    """The output cannot be created at its path."""
