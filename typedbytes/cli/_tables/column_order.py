"""The order of columns in several tables, whose rows become VECTORs and pairs, which have no names."""

from __future__ import annotations

from typedbytes.cli._failure import BAD_DATA, Failure, display_name

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["ColumnOrder"]

_PARTS = "value_type", "key_type", "item_type"  # of lists and maps


class ColumnOrder:
    """The columns of the first table, and the order in which those of the others are read.

    Other names are not compared. keeps_fields: structs become MAPs, in which fields have their names.
    """

    def __init__(self, keeps_fields: bool) -> None:
        self._keeps_fields = keeps_fields
        self._first: Any = None  # its schema

    def arranged(self, batch: Any, name: str) -> Any:
        """Return a batch of the input of this name with its columns in order; Failure where that cannot be done."""
        if self._first is None:
            self._first, self._first_name = batch.schema, display_name(name)
        names = self._first.names
        if _is_reordered(names, batch.schema.names):
            if len(set(names)) < len(names):
                raise _refusal(
                    name, f"the columns are in another order than in {self._first_name}, and several have one name"
                )
            batch = batch.select(names)
        if batch.schema.names == names and not self._keeps_fields:
            self._check_fields(batch.schema, name)
        return batch

    def _check_fields(self, schema, name):
        for before, field in zip(self._first, schema):
            if _has_reordered(before.type, field.type):
                raise _refusal(name, f"the column {field.name} has fields in another order than in {self._first_name}")


def _refusal(name, message):
    return Failure(BAD_DATA, f"{display_name(name)}: {message} (--structs map keeps their names)")


def _is_reordered(first, names):
    return first != names and sorted(first) == sorted(names)


def _has_reordered(first, kind):
    """Return whether structs in two Arrow types have the same fields in another order."""
    fields, others = _fields(first), _fields(kind)
    names = [field.name for field in fields]
    if names != [field.name for field in others]:
        return _is_reordered(names, [field.name for field in others])
    pairs = [(field.type, other.type) for field, other in zip(fields, others)]
    pairs += [
        (getattr(first, part), getattr(kind, part)) for part in _PARTS if hasattr(first, part) and hasattr(kind, part)
    ]
    return any(_has_reordered(*pair) for pair in pairs)


def _fields(kind):
    """Return the fields of a struct; no other type has names that get lost."""
    from pyarrow import types

    return list(kind) if types.is_struct(kind) else []
