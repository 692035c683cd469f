"""The errors of a job: those found before it runs, and its failure."""

from errno import EDQUOT, EFBIG, ENOSPC

from typedbytes.errors import TypedBytesError

__all__ = ["ADVICE", "CommandError", "InputError", "JobError", "OptionError", "OutputError", "unwritten"]

NO_SPACE = "; free disk space, or choose other folders: for the output, and tmp (--tmp) for temporary files"
#: What to do about a disk that is full: by the number of the system's error, the end of a message.
ADVICE = {ENOSPC: NO_SPACE, EDQUOT: NO_SPACE, EFBIG: "; raise the limit on the size of a file: ulimit -f unlimited"}


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


def unwritten(otherwise, message, error, advice=""):
    """Return the exception to raise from an OSError: a JobError if the disk is full, or else one of the class `otherwise`, with its advice."""
    return JobError(message + ADVICE[error.errno]) if error.errno in ADVICE else otherwise(message + advice)
