"""Names of classes, and which kinds of values one field can have."""

from __future__ import annotations

import re

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typedbytes.cli._classes.shapes import Shape

#: What each kind is written as: a union cannot have two that are written in one form.
FORMS = {
    "bool": "BOOL",
    "int": "INTEGER",
    "float": "DOUBLE",
    "str": "STRING",
    "bytes": "BYTES",
    "list": "LIST",
    "set": "LIST",
    "vector": "VECTOR",
    "map": "MAP",
    "decimal.Decimal": "STRING",
    "uuid.UUID": "BYTES",
    **dict.fromkeys(("datetime.date", "datetime.time", "datetime.timedelta"), "INTEGER"),
    **dict.fromkeys(("datetime.datetime", "datetime.datetime in UTC"), "INTEGER"),
}


def are_distinct(kinds: Iterable[str]) -> bool:
    """Return whether a type can have values of all these kinds, told apart by their forms."""
    forms = [FORMS.get(kind) for kind in kinds]
    return None not in forms and len(set(forms)) == len(forms)


def has_fixed_items(shape: Shape) -> bool:
    """Return whether all VECTORs of a shape have one length, so that each position has a type."""
    return len(shape.nitems) == 1 and 0 < max(shape.nitems) == len(shape.items)


class ClassNames:
    """Names of classes, each given once."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = set(taken)

    def name(self, hint: str) -> str:
        """Return a name of a class for what has this name."""
        words = re.findall("[A-Za-z0-9]+", hint)
        plain = "".join(word[0].upper() + word[1:] for word in words)
        plain = plain if plain[:1].isalpha() else "Record"
        unique, n = plain, 2
        while unique in self._taken:
            unique, n = f"{plain}{n}", n + 1
        self._taken.add(unique)
        return unique
