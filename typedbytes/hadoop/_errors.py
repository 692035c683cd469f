"""What can go wrong with a job on the way to a cluster and on it. This file imports nothing of ours."""


class SubmitError(Exception):
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
