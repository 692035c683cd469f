"""The errors of submitting a job to a cluster and of running it there."""

from typedbytes.errors import TypedBytesError


class SubmitError(TypedBytesError):
    """Report a job that cannot be submitted; the message says what to do."""


class OptionError(SubmitError):
    """Report a script, an option or a field of a Plan that is wrong by itself or for this script, wherever the job would run."""


class JobFailedError(SubmitError):
    """Report a job that Hadoop ran and that failed.

    `report` is the failing task's own error report, a list of lines, empty if there is none; `code` is the exit code of
    Hadoop's command.
    """

    def __init__(self, message, report=(), code=1):
        super().__init__(message)
        self.report = list(report)
        self.code = code
