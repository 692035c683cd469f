"""The errors of jobs: one tree for every engine.

TypedBytesError
    JobError            a job failed, and has left no output
        InputError, OutputError
        SubmitError     a job cannot be submitted as it is
            CommandError    its script or function cannot be started, here or on a cluster
            OptionError     an option is invalid, wherever the job would run
            JobFailedError  Hadoop ran the job, and it failed
"""

from __future__ import annotations

from contextlib import contextmanager
from errno import EDQUOT, EFBIG, ENOSPC

from typedbytes.errors import TypedBytesError
from typedbytes.jobs.messages import Message, option_named, with_renamed_options, with_reworded_options

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from typedbytes._base.locations import NestedFolderError
    from typedbytes.jobs.messages import OptionName, Text

__all__ = [
    "ADVICE", "KEYWORD_OF", "CommandError", "InputError", "JobError", "JobFailedError", "OptionError", "OutputError",
    "SubmitError", "nested_folder", "options_as_keywords", "unwritten",
]  # fmt: skip

NO_SPACE = (
    "free disk space, or choose other folders: for the output, and by " + option_named("tmp") + " for temporary files"
)
#: What to do about a disk that is full: by the number of the system's error.
ADVICE: dict[int, Text] = {
    ENOSPC: NO_SPACE,
    EDQUOT: NO_SPACE,
    EFBIG: "raise the limit on the size of a file: ulimit -f unlimited",
}
#: The keywords of local.run and spark.run_script for the fields of a Job that have other names.
KEYWORD_OF = {"nreducers": "reducers", "environment": "environ"}


class JobError(TypedBytesError):
    """A job failed, and has left no output.

    `tail` holds the last lines of the failing task on standard error; `kept` is the job's folder if it was kept, or
    None. `hint` says what to do, if that is known: the text of the error is `message` and, after a semicolon, the hint.
    Both name options as the caller did: by the fields of a Job, "nreducers" or "overwrite=True", or by the keywords of
    `local.run`, "reducers"; `in_words` names them otherwise.
    """

    def __init__(self, message: Text, tail: Iterable[str] = (), *, hint: Text | None = None) -> None:
        super().__init__(f"{message}; {hint}" if hint else str(message))
        self._message, self._hint = message, hint or ""
        self.tail: list[str] = list(tail)
        self.kept: str | None = None

    @property
    def message(self) -> str:
        """What is wrong."""
        return str(self._message)

    @property
    def hint(self) -> str:  # type: ignore[override]
        """What to do, or an empty text."""
        return str(self._hint)

    @property
    def hint_names_options(self) -> bool:
        """Whether the hint is about options, which the caller may not have."""
        return isinstance(self._hint, Message)

    def __str__(self) -> str:
        return self.in_words(str)

    def in_words(self, words_of: Callable[[OptionName], str]) -> str:
        """Return the text with each option in the words of another caller, such as the flags of a command."""
        message, hint = with_reworded_options(self._message, words_of), with_reworded_options(self._hint, words_of)
        return f"{message}; {hint}" if hint else message

    def rename_options(self, names: Mapping[str, str]) -> None:
        """Name options in the text as another caller does."""
        self._message = with_renamed_options(self._message, names)
        self._hint = with_renamed_options(self._hint, names)
        self.args: tuple[object, ...] = (str(self),)

    def add(self, *, before: str = "", hint: str = "") -> None:
        """Have the message begin with a text, and say what to do if it does not yet."""
        self._message = before + self._message
        self._hint = self._hint or hint


class SubmitError(JobError):
    """A job cannot be submitted; the message says what to do."""


class CommandError(SubmitError):
    """The job's code cannot be started, or does not have what the job needs."""


class InputError(JobError):
    """The input of the job is missing, or invalid."""


class OutputError(JobError):
    """The output cannot be created at its path."""


class OptionError(SubmitError, ValueError):
    """An option of a job is wrong by itself, wherever the job would run; raised before anything is done."""


class JobFailedError(SubmitError):
    """Hadoop ran a job, and it failed.

    `report` is the failing task's own error report, a list of lines, empty if there is none; `code` is the exit code of
    Hadoop's command.
    """

    def __init__(self, message: Text, report: Iterable[str] = (), code: int = 1) -> None:
        super().__init__(message)
        self.report: list[str] = list(report)
        self.code = code


@contextmanager
def options_as_keywords() -> Iterator[None]:
    """Have the errors of a job name options by the keywords of local.run, where those are not the fields of a Job."""
    try:
        yield
    except JobError as error:
        error.rename_options(KEYWORD_OF)
        raise


def nested_folder(error: NestedFolderError) -> InputError:
    """Return the exception to raise for a folder inside an input."""
    return InputError(error.message + " (" + option_named("recursive") + " reads it too)")


def unwritten(otherwise: type[JobError], message: str, error: OSError, hint: Text | None = None) -> JobError:
    """Return the exception to raise from an OSError: a JobError for a full disk, else one of `otherwise`."""
    full = ADVICE.get(error.errno or 0)
    return JobError(message, hint=full) if full else otherwise(message, hint=hint)
