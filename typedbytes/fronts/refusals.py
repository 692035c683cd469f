"""What a library's command line asks for and cannot have here: errors whose text says it all."""

from __future__ import annotations

from typedbytes.errors import TypedBytesError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.jobs.errors import JobError

__all__ = ["NoInput", "NotAPair", "NotHere", "Refusal", "said_of"]


class Refusal(TypedBytesError):
    """An error that is shown in one line, without a traceback."""


class NotHere(Refusal, NotImplementedError):
    """What the library has is not here."""


class NoInput(Refusal, OSError):
    """An input does not exist."""


class NotAPair(Refusal, TypeError):
    """User code has yielded something else than a pair."""


def said_of(error: JobError) -> str:
    """Return the text of a job's error, without advice in words of this package, which the library does not have.

    >>> from typedbytes.jobs.errors import OutputError
    >>> from typedbytes.jobs.messages import option_named
    >>> said_of(OutputError("it exists", hint=option_named("overwrite", True) + " replaces it"))
    'it exists'
    """
    return error.message if error.hint_names_options else str(error)
