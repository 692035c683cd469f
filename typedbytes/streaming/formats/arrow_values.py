"""What an array of pyarrow has to keep of the values that it is made of: pyarrow cuts, parses and rounds silently.

Here: which types of Python an Arrow type represents, and which Arrow types hold the values of another. Not here: rows
and files. Invariant: a value that an array would give back as another value, or as one of another type, is an error;
only whole numbers may become floats, those that are equal.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from itertools import chain
from uuid import UUID

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["array_of", "column_of", "with_nulls"]

#: By the text of an Arrow type, the types of Python whose values it keeps whatever they are, or refuses itself.
_KEPT: dict[str, set[type]] = {
    "bool": {bool}, **dict.fromkeys(("int8", "int16", "int32", "int64"), {int}),
    **dict.fromkeys(("uint8", "uint16", "uint32", "uint64"), {int}), "double": {float, int},
    **dict.fromkeys(("string", "large_string"), {str}), **dict.fromkeys(("binary", "large_binary"), {bytes}),
    "date32[day]": {dt.date}, "duration[us]": {dt.timedelta}, "extension<arrow.uuid>": {UUID},
}  # fmt: skip
#: In order of precedence: bool before int, datetime before date.
_KINDS = bool, int, float, str, bytes, dt.datetime, dt.date, dt.time, dt.timedelta, Decimal, UUID
_UTC = {"UTC", "+00:00"}
_SAME_VALUES = {"large_string": "string", "string_view": "string", "large_binary": "binary", "binary_view": "binary"}


def array_of(pyarrow: Any, items: list[Any], kind: Any = None) -> Any:
    """Return items as an array of a type, None: of theirs. Raises ValueError for what the array would not give back.

    Raises what pyarrow raises, too.
    """
    array = pyarrow.array(items)
    if kind is not None and array.type != kind:
        array = pyarrow.array(items, kind)
    if not _are_kept(pyarrow, items, array.type):
        for number, (item, back) in enumerate(zip(items, array.to_pylist()), 1):
            if not _is_same(item, back):
                raise ValueError(f"item {number}, {item!r:.80}, would become {back!r:.80}")
    return array


def _are_kept(pyarrow, items, kind):
    """Return whether an array of a type keeps such items, by their types alone; False: it may keep them."""
    found = {*map(type, items)} - {type(None)}
    name, types = str(kind), pyarrow.types
    if not found or found <= _KEPT.get(name, set()):
        return True
    if found == {dt.datetime} and types.is_timestamp(kind) and kind.unit == "us":
        return all((item.tzinfo is None) is (kind.tz is None) for item in items if item is not None)
    if found == {dt.time} and name == "time64[us]":
        return all(item.tzinfo is None for item in items if item is not None)
    if found == {Decimal} and types.is_decimal(kind):
        return True
    if found <= {list, tuple} and (types.is_list(kind) or types.is_large_list(kind)):
        return _are_kept(pyarrow, [*chain.from_iterable(filter(None, items))], kind.value_type)
    if found == {dict} and types.is_struct(kind):
        given = [item for item in items if item is not None]
        names = {field.name for field in kind}
        return all(map(names.issuperset, given)) and all(
            _are_kept(pyarrow, [item.get(field.name) for item in given], field.type) for field in kind
        )
    return False


def _is_same(item, back):
    """Return whether what an array gives back is the item; a struct may have more fields, without values."""
    if getattr(getattr(item, "dtype", None), "kind", "") in ("M", "m"):  # of NumPy, whose tolist() may be of numbers
        if item.shape == ():
            return bool(item != item) if back is None else bool(item == back)  # NaT is null
        item = [*item]
    elif hasattr(item, "tolist"):
        item = item.tolist()
    if item is None or back is None:
        return item is back
    if isinstance(item, dict):
        if isinstance(back, list):  # of pairs, from a map
            back = dict(back)
        return item.keys() <= back.keys() and all(_is_same(item.get(name), value) for name, value in back.items())
    if isinstance(item, (list, tuple)):
        return isinstance(back, list) and len(item) == len(back) and all(map(_is_same, item, back))
    kinds = _kind_of(item), _kind_of(back)
    if kinds[0] is not kinds[1] and kinds != (int, float):
        return False
    if kinds[0] in (dt.datetime, dt.time) and (item.tzinfo is None) is not (back.tzinfo is None):
        return False
    return bool(item == back) or (item != item and back != back)


def _kind_of(value):
    return next((kind for kind in _KINDS if isinstance(value, kind)), type(value))


def with_nulls(pyarrow: Any, kind: Any) -> Any:
    """Return a type that is the same except that all of its items may be null.

    Whether they may is in a type that was made of one batch, and says nothing of the next.
    """
    types = pyarrow.types

    def nullable(field):
        return field.with_type(with_nulls(pyarrow, field.type)).with_nullable(True)

    if types.is_struct(kind):
        return pyarrow.struct([nullable(field) for field in kind])
    if types.is_map(kind):
        return pyarrow.map_(with_nulls(pyarrow, kind.key_type), nullable(kind.item_field))
    if types.is_list(kind):
        return pyarrow.list_(nullable(kind.value_field))
    if types.is_large_list(kind):
        return pyarrow.large_list(nullable(kind.value_field))
    return kind


def column_of(pyarrow: Any, column: Any, kind: Any) -> Any:
    """Return a column with its values in another type. Raises ValueError for types that may not hold them.

    Raises what pyarrow raises for a number that does not fit.
    """
    own = with_nulls(pyarrow, column.type)
    if own != column.type:
        column = column.cast(own)
    if own == kind:
        return column
    if not _holds(pyarrow.types, own, kind):
        raise ValueError(f"they are of {own}")
    return column.cast(kind)


def _holds(types, own, kind):
    """Return whether a cast changes no value, or raises an error."""
    if types.is_dictionary(own):
        return _holds(types, own.value_type, kind)
    if types.is_dictionary(kind):
        return _holds(types, own, kind.value_type)
    if types.is_integer(own):
        return types.is_integer(kind) or types.is_float64(kind)
    if types.is_floating(own):
        return types.is_floating(kind) and own.bit_width <= kind.bit_width
    if types.is_decimal(own):
        return types.is_decimal(kind) and own.scale == kind.scale and own.precision <= kind.precision
    if types.is_timestamp(own) and types.is_timestamp(kind):
        return own.tz == kind.tz or {own.tz, kind.tz} == _UTC
    if types.is_time(own) and types.is_time(kind) or types.is_duration(own) and types.is_duration(kind):
        return True  # where it is cut, or out of range, the cast is an error
    names = [_SAME_VALUES.get(str(each), str(each)) for each in (own, kind)]
    if own == kind or types.is_null(own) or names[0] == names[1]:
        return True
    if types.is_struct(own) and types.is_struct(kind):
        pairs = [*zip(own, kind)]
        return len(own) == len(kind) and all(a.name == b.name and _holds(types, a.type, b.type) for a, b in pairs)
    if (types.is_list(own) or types.is_large_list(own)) and (types.is_list(kind) or types.is_large_list(kind)):
        return _holds(types, own.value_type, kind.value_type)
    if types.is_map(own) and types.is_map(kind):
        return own.key_type == kind.key_type and _holds(types, own.item_type, kind.item_type)
    return False
