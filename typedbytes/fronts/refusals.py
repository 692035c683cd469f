"""Errors for what an older library supports and this package does not; they are shown without a traceback."""

from __future__ import annotations

from typedbytes.errors import TypedBytesError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.jobs.errors import JobError

__all__ = [
    "BadLine", "MissingRequirement", "NoInput", "NoSuchTask", "NotAPair", "NotSupported", "Refusal", "UnknownKeyword",
    "text_without_options",
]  # fmt: skip


class Refusal(TypedBytesError):
    """An error that is shown in one line, without a traceback."""


class NotSupported(Refusal, NotImplementedError):
    """A feature of the library is not supported here, or needs a package that is not installed."""


class UnknownKeyword(Refusal, TypeError):
    """A function of the library has no keyword of this name."""


class MissingRequirement(Refusal, ValueError):
    """A job lacks what its script requires."""


class NoInput(Refusal, OSError):
    """An input does not exist."""


class BadLine(Refusal, ValueError):
    """A line of the input is not in the form that its format has."""


class NoSuchTask(Refusal, ValueError):
    """A partitioner has returned a number that no reduce task has."""


class NotAPair(Refusal, TypeError):
    """User code has yielded something else than a pair."""


def text_without_options(error: JobError) -> str:
    """Return the text of a job's error, without advice about options that the library does not have.

    >>> from typedbytes.jobs.errors import OutputError
    >>> from typedbytes.jobs.messages import option_named
    >>> text_without_options(OutputError("it exists", hint=option_named("overwrite", True) + " replaces it"))
    'it exists'
    """
    return error.message if error.hint_names_options else str(error)
