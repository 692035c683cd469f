"""Texts that name options of a job: its field nreducers=2 is local.run's reducers=2, and --reducers 2 of a command."""

from __future__ import annotations

from dataclasses import dataclass, replace

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Union

    Part = Union[str, "OptionName"]
    Text = Union[str, "Message"]

__all__ = ["Message", "OptionName", "option_named", "with_renamed_options", "with_reworded_options"]


@dataclass(frozen=True)
class OptionName:
    """An option by the name of its field in a Job, and its value if the text has one."""

    name: str
    value: tuple[Any, ...] = ()  # of one item, or none

    def __str__(self) -> str:
        return "=".join([self.name, *map(repr, self.value)])


@dataclass(frozen=True)
class Message:
    """A text made of parts, of which some are names of options; str() has them as programs give them.

    >>> str("leave out " + option_named("nreducers", 2) + ", or give the job a reducer")
    'leave out nreducers=2, or give the job a reducer'
    """

    parts: tuple[Part, ...]

    def __add__(self, after: Text) -> Message:
        return Message((*self.parts, *_parts_of(after)))

    def __radd__(self, before: str) -> Message:
        return Message((before, *self.parts))

    def __str__(self) -> str:
        return "".join(map(str, self.parts))


def option_named(name: str, *value: Any) -> Message:
    """Return the name of an option, with its value if that is given, as a part of a message.

    A name that begins with -- is an option of the command line only.
    """
    return Message((OptionName(name, value),))


def with_reworded_options(text: Text, words_of: Callable[[OptionName], str]) -> str:
    """Return a text in which each option is named in other words."""
    return "".join(words_of(part) if isinstance(part, OptionName) else part for part in _parts_of(text))


def with_renamed_options(text: Text, names: Mapping[str, str]) -> Text:
    """Return a text in which some options have other names.

    >>> str(with_renamed_options("leave out " + option_named("nreducers", 2), {"nreducers": "reducers"}))
    'leave out reducers=2'
    """
    if not isinstance(text, Message):
        return text
    return Message(
        tuple(
            replace(part, name=names.get(part.name, part.name)) if isinstance(part, OptionName) else part
            for part in text.parts
        )
    )


def _parts_of(text):
    return text.parts if isinstance(text, Message) else (text,)
