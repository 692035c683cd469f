"""The formats of a job's inputs: one for all, or PATTERN=FORMAT for those that a pattern names.

Here: which format an input has by what the job says. Not here: what an input holds.
"""

from __future__ import annotations

from fnmatch import fnmatch

from typedbytes.jobs.errors import InputError, OptionError
from typedbytes.jobs.messages import option_named

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["INPUT_FORMATS", "formats_of", "named_formats"]

#: The formats of tasks of this package; Hadoop has Java classes, too.
INPUT_FORMATS = ("auto", "text", "json", "csv", "file", "pairs", "sequencefile")


def named_formats(text: str) -> list[tuple[str, str]]:
    """Return pairs of a pattern and a format; the pattern * is that of a format alone. Raises OptionError.

    >>> named_formats("csv"), named_formats("users/*=csv,*.json=json,text")
    ([('*', 'csv')], [('users/*', 'csv'), ('*.json', 'json'), ('*', 'text')])
    """
    formats = []
    for word in text.split(","):
        pattern, sign, name = word.rpartition("=")
        if name not in INPUT_FORMATS or (sign and not pattern):
            raise OptionError(
                option_named("input_format") + f" must be one of {', '.join(INPUT_FORMATS)}, or PATTERN=FORMAT, "
                f"joined by commas, not {text!r}"
            )
        formats.append((pattern if sign else "*", name))
    return formats


def formats_of(paths: Iterable[str], text: str) -> list[tuple[str, str]]:
    """Return pairs of a path and its format: that of the first pattern for it or for its folder, or else "auto".

    Raises InputError for a pattern that matches no path.
    """
    named, used = named_formats(text), {"*"}
    formats = []
    for path in paths:
        pattern, name = next(((each, name) for each, name in named if _is_of(path, each)), ("*", "auto"))
        used.add(pattern)
        formats.append((path, name))
    for pattern, _ in named:
        if pattern not in used:
            raise InputError(f"the input format of {pattern!r} is that of no input: correct the pattern")
    return formats


def _is_of(path, pattern):
    pattern = pattern.rstrip("/").removeprefix("./")
    return any(fnmatch(path, glob) for glob in (pattern, f"*/{pattern}", f"{pattern}/*", f"*/{pattern}/*"))
