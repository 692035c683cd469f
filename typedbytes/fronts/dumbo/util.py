"""Options, and the form that dumbo gives records in text."""

from __future__ import annotations

import ast
import os
import re
import sys

from typedbytes.fronts.refusals import BadLine
from typedbytes.streaming.task_environment import REFUSAL_LINE, ROLE_QUERY

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, NoReturn

__all__ = ["Options", "dumpcode", "dumptext", "incrcounter", "loadcode", "loadtext", "parseargs", "setstatus"]


class Options:
    """Options by their names, each with all its values, in their order."""

    def __init__(self, seq: Iterable[tuple[str, Any]] | None = None, **kwargs: Any) -> None:
        self._values: dict[str, list[Any]] = {}
        for key, value in [*(seq or ()), *kwargs.items()]:
            self.add(key, value)

    def add(self, key: str, value: Any) -> None:
        """Add a value at the end, to which one that is there moves."""
        values = self._values.setdefault(key, [])
        if value in values:
            values.remove(value)
        values.append(value)

    def update(self, key: str, values: Iterable[Any]) -> None:
        """Add values."""
        for value in values:
            self.add(key, value)

    def get(self, key: str) -> list[Any]:
        """Return the values of an option."""
        return list(self._values.get(key, []))

    __getitem__ = get

    def __delitem__(self, key: str) -> None:
        self._values.pop(key, None)

    def __iadd__(self, other: Iterable[tuple[str, Any]]) -> Options:
        for key, value in other:
            self.add(key, value)
        return self

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return iter([(key, value) for key, values in self._values.items() for value in values])

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __len__(self) -> int:
        return sum(map(len, self._values.values()))

    def __bool__(self) -> bool:
        return bool(self._values)

    def filter(self, keys: Iterable[str]) -> Options:
        """Return those of some names."""
        wanted = set(keys)
        return Options([(key, value) for key, value in self if key in wanted])

    def allopts(self) -> list[tuple[str, Any]]:
        """Return all names with values."""
        return list(self)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the values by name."""
        return {key: list(values) for key, values in self._values.items()}

    def remove(self, *keys: str) -> None:
        """Remove options."""
        for key in keys:
            self._values.pop(key, None)

    def pop(self, key: str, default: Any = None) -> list[Any]:
        """Remove an option and return its values."""
        return self._values.pop(key, default or [])


def parseargs(args: Iterable[str]) -> Options:
    """Return the options of a command line, each a word with a dash and the words of its value."""
    found, key = Options(), None
    values: list[str] = []
    for word in args:
        if word.startswith("-") and len(word) > 1 and (key is None or values):
            if key is not None:
                found.add(key, " ".join(values))
            key, values = word[1:], []
        else:
            values.append(word)
    if key is not None:
        found.add(key, " ".join(values))
    return found


def named_values(opts: Options, *keys: str) -> dict[str, str]:
    """Return the values of options that take NAME=VALUE; the process ends with a message for another word."""
    found = {}
    for key in keys:
        for word in map(str, opts[key]):
            name, sign, found[name] = word.partition("=")
            if not sign or not name:
                fail(f"-{key} takes NAME=VALUE, not {word}")
    return found


def number_of(opts: Options, key: str) -> int | None:
    """Return the first value of an option that takes a number, None without one."""
    if not opts[key]:
        return None
    word = str(opts[key][0])
    if not (word.isascii() and word.isdigit()):
        fail(f"-{key} takes a number, not {word}")
    return int(word)


def dumpcode(outputs: Iterable[tuple[Any, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the reprs of keys and values."""
    return ((repr(key), repr(value)) for key, value in outputs)


def loadcode(inputs: Iterable[str]) -> Iterator[tuple[Any, Any]]:
    """Yield the keys and values of lines of reprs."""
    for line in inputs:
        key, tab, value = line.rstrip("\r\n").partition("\t")
        try:
            if not tab:
                raise ValueError("there is no TAB")
            yield _literal(key), _literal(value)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            message = f"a line must have the repr of a key, a TAB and that of a value, not {line!r:.80}"
            raise BadLine(message) from None


#: A string, which stays as it is, or an integer of Python 2 with its L.
_LONG = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|\b(\d+)L\b""")


def _literal(text):
    return ast.literal_eval(_LONG.sub(lambda found: found[1] or found[2], text) if "L" in text else text)


def dumptext(outputs: Iterable[tuple[Any, Any]]) -> Iterator[tuple[str, str]]:
    """Yield keys and values as text, with TABs between the items of tuples and lists."""
    for key, value in outputs:
        yield _as_text(key), _as_text(value)


def _as_text(item):
    return "\t".join(map(str, item)) if isinstance(item, (tuple, list)) else str(item)


def loadtext(inputs: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield lines with their offsets."""
    offset = 0
    for line in inputs:
        yield offset, line
        offset += len(line)


def incrcounter(group: str, counter: str, amount: int) -> None:
    """Add an amount to a counter."""
    from typedbytes import streaming

    streaming.counter(group, counter, amount)


def setstatus(message: Any) -> None:
    """Report what the task does."""
    from typedbytes import streaming

    streaming.status(message)


def fail(message: str) -> NoReturn:
    """End the process with a message, also for the engine that asks a script for its steps."""
    sys.exit(f"{REFUSAL_LINE if ROLE_QUERY in os.environ else 'ERROR: '}{message}")
