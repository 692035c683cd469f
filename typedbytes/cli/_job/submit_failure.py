"""The exit codes of jobs that fail or cannot be submitted, and of bundles that cannot be made; their messages."""

from __future__ import annotations

from ast import literal_eval

from typedbytes.cli._failure import FAILED, IO_ERROR, NO_INPUT, UNAVAILABLE, USAGE, Failure
from typedbytes.jobs.errors import CommandError, InputError, JobError, OptionError, OutputError, SubmitError
from typedbytes.jobs.job import FIELD_OF, Job

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


def failure_of(error: JobError) -> Failure:
    """Return an error of a job as the Failure of a command."""
    status = next(status for kinds, status in STATUS.items() if isinstance(error, kinds))
    if status == FAILED and isinstance(error.__cause__, OSError):
        status = IO_ERROR
    text = str(error)
    for named in error.options:  # at the start, or in the advice at the end
        before, _, after = ("", "", text[len(named) :]) if text.startswith(named) else text.rpartition(named)
        text = f"{before}{words_of(named)}{after}"
    return Failure(status, f"{text}; {error.kept} was kept" if error.kept else text)


def words_of(named: str) -> str:
    """Return an option that a message names as Python does in the words of a command.

    >>> words_of("reducers=1"), words_of("overwrite=True"), words_of("properties={'a.b': '3'}")
    ('--reducers 1', '--overwrite', '-D a.b=3')
    """
    name, sign, text = named.partition("=")
    declared = Job.options()[FIELD_OF.get(name, name)]
    if not declared.flags:
        return named
    flag = declared.flags[-1]
    value = literal_eval(text) if sign else None
    if isinstance(value, dict):
        return " ".join(f"{flag} {key}={item}" for key, item in value.items())
    if value is False:
        return f"--no-{flag[2:]}"
    return flag if value is None or value is True else f"{flag} {value}"
