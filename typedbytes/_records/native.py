"""Record classes and Enums as they are written where no type is given.

What counts is what the class says of its fields, not of their types.
"""

from __future__ import annotations

import sys

from typedbytes._records.classes import family_of
from typedbytes._records.model import Node, Record, Refused

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["native_of"]

BUILTINS = (int, float, str, bytes, bytearray, list, tuple, dict, set, frozenset)


class Untyped:
    """What stands in place of the annotations of a class: every field may be anything."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}
        self.any = Node("any", "Any")

    def node(self, name: str, annotation: Any = None) -> Node:
        """Return the node of a field."""
        return self.any

    def without_unset(self, name: str) -> tuple[Any, bool]:
        """Return that any field of a Struct may be UNSET."""
        return None, True


def native_of(cls: Any) -> Node | None:
    """Return the node of a record class or an Enum, None for any other class."""
    if issubclass(cls, BUILTINS):
        return None
    enum = getattr(sys.modules.get("enum"), "Enum", ())
    if enum and issubclass(cls, enum):
        return Node("enum", cls.__name__, cls=cls, by_name=False, by_value={}, names=dict(cls.__members__))
    family = family_of(cls)
    if family is None:
        return None
    form, describe = family
    record = Record(cls, cls.__name__, form)
    try:
        describe(record, Untyped())  # type: ignore[arg-type]
    except Refused:  # an abstract class
        return None
    return Node("record", record.name, record=record)
