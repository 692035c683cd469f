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

    A name that the first does not have says nothing of a column, which keeps its number, or comes after those that the
    first has. keeps_fields: structs become MAPs, in which fields have their names.
    """

    def __init__(self, keeps_fields: bool) -> None:
        self._keeps_fields = keeps_fields
        self._first: Any = None  # its schema

    def arranged(self, batch: Any, name: str) -> Any:
        """Return a batch of the input of this name with its columns in order; Failure where that cannot be done."""
        if self._first is None:
            self._first, self._first_name = batch.schema, display_name(name)
        first, names = self._first.names, batch.schema.names
        if _has_moved(first, names):
            if len({*first}) < len(first) or len({*names}) < len(names):
                raise self._refusal(name, "the columns are in another order", ", and several have one name")
            missing = [each for each in first if each not in names]
            if missing:
                raise self._refusal(name, "the columns are in another order", f", without {', '.join(missing)}")
            batch = batch.select([*first, *(each for each in names if each not in first)])
        if not self._keeps_fields:
            for before, field in zip(self._first, batch.schema):
                if before.name == field.name and _has_moved_fields(before.type, field.type):
                    raise self._refusal(name, f"the column {field.name} has fields in another order")
        return batch

    def _refusal(self, name, what, more=""):
        message = f"{what} than in {self._first_name}{more} (--structs map keeps their names)"
        return Failure(BAD_DATA, f"{display_name(name)}: {message}")


def _has_moved(first, names):
    """Return whether a name of the first list has another number in the second."""
    if names == first:
        return False
    before = {*enumerate(first)}
    return not {name for number, name in enumerate(names) if (number, name) not in before}.isdisjoint(first)


def _has_moved_fields(first, kind):
    """Return whether structs in two Arrow types have a field of one name at different numbers."""
    fields, others = _fields(first), _fields(kind)
    if _has_moved([field.name for field in fields], [field.name for field in others]):
        return True
    pairs = [(field.type, other.type) for field, other in zip(fields, others) if field.name == other.name]
    pairs += [
        (getattr(first, part), getattr(kind, part)) for part in _PARTS if hasattr(first, part) and hasattr(kind, part)
    ]
    return any(_has_moved_fields(*pair) for pair in pairs)


def _fields(kind):
    """Return the fields of a struct; no other type has names that get lost."""
    from pyarrow import types

    return list(kind) if types.is_struct(kind) else []
