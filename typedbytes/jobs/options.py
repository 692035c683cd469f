"""How an option of a job is declared, beside its field in Job: its words in commands, its engines, what it may be.

Here: forms of options. Not here: which there are, and parsing a command line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from operator import index

from typedbytes.jobs.errors import OptionError
from typedbytes.jobs.messages import option_named

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["ENGINES", "Option", "converted", "option", "path_of"]

ENGINES = "local", "spark", "hadoop"
#: The forms of an option: given once, as a word, an integer, a size in bytes or a switch; either --NAME or --no-NAME;
#: or repeated, as words or as NAME=VALUE.
FORMS = "word", "integer", "size", "switch", "either", "words", "named"


@dataclass(frozen=True)
class Option:
    """An option of a job, as the command line has it. flags: none for one that only programs give."""

    flags: tuple[str, ...]
    form: str
    help: str
    metavar: str | None
    choices: tuple[str, ...] | None
    engines: tuple[str, ...]  #: those that follow it; the others refuse it
    commands: tuple[str, ...]
    make_default: Callable[[], Any]

    @property
    def dest(self) -> str:
        """The name of its words among those of a parsed command line."""
        return f"job_{self.flags[-1].strip('-').replace('-', '_')}"

    @property
    def shown(self) -> str | None:
        """What a help text calls its value, None where that is one of the choices."""
        return self.metavar if self.metavar or self.choices else self.flags[-1].strip("-").upper()


def option(
    default: Any,
    *flags: str,
    form: str = "word",
    help: str = "",
    metavar: str | None = None,
    choices: tuple[str, ...] | None = None,
    engines: tuple[str, ...] = ENGINES,
    commands: tuple[str, ...] | None = None,
) -> Any:
    """Return the field of a dataclass for an option; `default`: its value, or the class of an empty one.

    Where `commands` does not say otherwise, run has the options of tasks of this machine, and submit those of Hadoop.
    """
    assert form in FORMS
    if commands is None:
        commands = tuple(command for command, engine in (("run", "local"), ("submit", "hadoop")) if engine in engines)
    is_class = isinstance(default, type)
    make_default = default if is_class else lambda: default
    metadata = {"option": Option(flags, form, help, metavar, choices, engines, commands, make_default)}
    return field(default_factory=default, metadata=metadata) if is_class else field(default=default, metadata=metadata)


def converted(name: str, declared: Option, value: Any) -> Any:
    """Return the value of a field, given by a program, as its form has it; raises OptionError for others."""
    if declared.form in ("integer", "size"):
        return _integer(name, declared, value)
    if declared.form == "words":
        return _words(name, value)
    if declared.form == "named":
        return _named(name, value)
    if declared.make_default() == "" and value is None:
        return ""
    if isinstance(declared.make_default(), str) and not isinstance(value, str):
        raise OptionError(option_named(name) + f" must be a text, not {value!r:.80}")
    return value


def path_of(name: str, value: Any) -> str:
    """Return a path that a program gives as a text; raises OptionError."""
    path = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(path, str):
        raise OptionError(option_named(name) + f" must be a path, not {value!r:.80}")
    return path


def _integer(name, declared, value):
    if value is None and declared.make_default() is None:
        return None
    try:
        number = index(value)
    except TypeError:
        raise OptionError(option_named(name) + f" must be a whole number, not {value!r:.80}") from None
    if declared.form == "size" and number < 1:
        raise OptionError(option_named(name) + f" must be at least 1 byte, not {number}")
    if abs(number) > sys.maxsize:
        raise OptionError(option_named(name) + " must be a number of 64 bits")
    return number


def _words(name, value):
    """Return a list of texts or paths as a list of texts; a single path is a list of one."""
    if isinstance(value, (str, os.PathLike)) and name != "arguments":
        value = [value]
    if isinstance(value, (str, bytes)):
        raise OptionError(
            option_named(name) + f" must be a list of words, not the {type(value).__name__} {value!r:.80}"
        )
    try:
        return [*map(os.fspath, value)]
    except TypeError:
        raise OptionError(option_named(name) + f" must be a list of texts or paths, not {value!r:.80}") from None


def _named(name, values):
    """Return values by their names as texts, those of parameters as they are."""
    if not isinstance(values or {}, Mapping):
        raise OptionError(option_named(name) + f" must be a dict of names and values, not a {type(values).__name__}")
    found = dict(values or {})
    for key, value in found.items():
        if not isinstance(key, str):
            raise OptionError("a name in " + option_named(name) + f" must be a text, not {key!r:.80}")
        if not key or set("=\0") & set(key):
            raise OptionError("a name in " + option_named(name) + f" must not be empty, nor have = or NUL: {key!r:.80}")
        if value is None and name != "params":
            raise OptionError(
                f"{key} in " + option_named(name) + " must have a value, not None: leave it out, or give a text"
            )
        text = os.fsdecode(value) if isinstance(value, (bytes, os.PathLike)) else str(value)
        if "\0" in text:  # it is not shown, since it may be a password
            raise OptionError(f"the value of {key} in " + option_named(name) + " has a NUL, which no variable can hold")
        if name != "params":
            found[key] = text
    return found
