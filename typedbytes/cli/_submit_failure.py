"""The exit code of a job that cannot be submitted, and of a bundle that cannot be made."""

from typedbytes.cli._failure import UNAVAILABLE, USAGE, Failure
from typedbytes.hadoop._submit_errors import OptionError


def failure_of(error):
    """Return a SubmitError as the Failure of a command: the command line is wrong, or the job cannot be submitted as it is."""
    return Failure(USAGE if isinstance(error, OptionError) else UNAVAILABLE, str(error))
