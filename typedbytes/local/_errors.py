"""The errors of a job: what the user has to mend before it can run, and its failure."""

__all__ = ["CommandError", "InputError", "JobError", "OptionError", "OutputError"]


class OptionError(ValueError):
    """An option of a job is none: found out before anything is done. Any other ValueError is a fault of ours."""


class JobError(Exception):
    """A job failed, and has left no output.

    `tail` holds the last lines that the failing task said; `kept` is the folder that was kept of the job, or None.
    """

    def __init__(self, message, tail=()):
        super().__init__(message)
        self.tail = list(tail)
        self.kept = None


class CommandError(JobError):
    """The job's code cannot be started."""


class InputError(JobError):
    """What the job is to read is not there, or not as it should be."""


class OutputError(JobError):
    """The output cannot be made where it should be."""
