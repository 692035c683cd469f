"""The errors of submitting a job to a cluster and of running it there."""

from typedbytes.errors import TypedBytesError


class SubmitError(TypedBytesError):
    """Report a job that cannot be submitted; the message says what to do."""


class JobFailedError(SubmitError):
    """Report a job that Hadoop ran and that failed.

    `report` is what the failing task said of itself, a list of lines, empty where nobody knows; `code` is that of Hadoop's
    command.
    """

    def __init__(self, message, report=(), code=1):
        super().__init__(message)
        self.report = list(report)
        self.code = code
