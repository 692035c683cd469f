"""The exit codes of jobs that fail or cannot be submitted, and of bundles that cannot be made; their messages."""

from __future__ import annotations

from typedbytes.cli._failure import FAILED, IO_ERROR, NO_INPUT, UNAVAILABLE, USAGE, Failure
from typedbytes.jobs.errors import CommandError, InputError, JobError, OptionError, OutputError, SubmitError
from typedbytes.jobs.job import Job
from typedbytes.jobs.messages import OptionName

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["failure_of", "words_of"]

#: The exit code of each kind of error, the most special kinds first.
STATUS: dict[Any, int] = {
    (OptionError, CommandError, OutputError): USAGE,  # the command line is wrong
    InputError: NO_INPUT,
    SubmitError: UNAVAILABLE,
    JobError: FAILED,
}


#: The flags of submit for what is an argument of a function, or a field that also says what a bundle is for.
_FLAGS = {"jar": "--streaming-jar", "python_versions": "--python-version"}


def failure_of(error: JobError) -> Failure:
    """Return an error of a job as the Failure of a command."""
    status = next(status for kinds, status in STATUS.items() if isinstance(error, kinds))
    if status == FAILED and isinstance(error.__cause__, OSError):
        status = IO_ERROR
    text = error.in_words(words_of)
    return Failure(status, f"{text}; {error.kept} was kept" if error.kept else text)


def words_of(option: OptionName) -> str:
    """Return an option that a message names in the words of a command.

    >>> words_of(OptionName("nreducers", (1,))), words_of(OptionName("combiner", (False,)))
    ('--reducers 1', '--no-combiner')
    >>> words_of(OptionName("overwrite", (True,))), words_of(OptionName("properties", ({"a.b": "3"},)))
    ('--overwrite', '-D a.b=3')
    >>> words_of(OptionName("python_versions", (["3.9", "3.11"],))), words_of(OptionName("jar"))
    ('--python-version 3.9 --python-version 3.11', '--streaming-jar')
    """
    declared = Job.options().get(option.name)
    flag = declared.flags[-1] if declared and declared.flags else _FLAGS.get(option.name)
    if flag is None:
        return str(option)
    (value,) = option.value or (None,)
    if isinstance(value, list):
        return " ".join(f"{flag} {item}" for item in value)
    if isinstance(value, dict):
        return " ".join(f"{flag} {key}={item}" for key, item in value.items())
    if value is False:
        return f"--no-{flag[2:]}"
    return flag if value is None or value is True else f"{flag} {value}"
