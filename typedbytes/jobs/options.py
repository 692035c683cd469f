"""How an option of a job is declared, beside its field in Job: its words in commands, and its engines.

Here: forms of options. Not here: which there are, and parsing a command line.
"""

from __future__ import annotations

from dataclasses import dataclass, field

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["ENGINES", "Option", "option"]

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
