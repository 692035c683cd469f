"""Rows of keys and values whose type is declared: what such a type makes of them, as in typed bytes.

Here: a key or a value as what is written of it. Not here: its columns. Invariant: what does not fit its type is the
error of the encoder; dates, times, Decimals and UUIDs are what they are in rows without a type.
"""

from __future__ import annotations

import datetime as dt

from typedbytes import Decoder, Encoder
from typedbytes._records import native_of

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, ClassVar

__all__ = ["writing_of"]


def writing_of(options: Mapping[str, Any], kind: Any, form: str) -> Callable[[Any], Any]:
    """Return a function that gives, for a row, what is written of a key or a value of a type; form: of the output.

    options: of Encoder. A record becomes a dict by the names of its fields.
    """
    # Parts are in the order of the object's: sort_keys is for the line that is made of a row, and for sets.
    encode = Encoder(**{**options, "sort_keys": False, "type": kind}).encode
    own = {name: options[name] for name in ("dialect", "max_depth", "pickle", "unicode_errors") if name in options}
    decode = Decoder(**own).decode
    order = Encoder(**options).encode if options.get("sort_keys") else None

    def written(item):
        found, record = _row_value(item, decode(encode(item)), form, order), _Record.of(item)
        if record is None:
            return found
        columns = record.by_name(found)
        if form == "csv":  # its columns are those of the first row, which may have left out some
            columns.update({name: None for name in record.fields if name not in columns})
        return columns

    return written


class _Record:
    """The names of what is written of a record, and the attributes that have it."""

    _known: ClassVar[dict[type, _Record | None]] = {}

    def __init__(self, fields, tag=()):
        self.fields = fields  # attributes by names
        self._names = [*tag, *fields]

    @classmethod
    def of(cls, item):
        """Return that of an object, None for one that is not a record."""
        kind = type(item)
        if kind not in cls._known:
            cls._known[kind] = cls._described(kind)
        return cls._known[kind]

    @classmethod
    def _described(cls, kind):
        if issubclass(kind, tuple):
            return cls({name: name for name in kind._fields}) if hasattr(kind, "_fields") else None
        node = native_of(kind)
        if node is None or node.kind != "record":
            return None
        tag = node.record.tag
        return cls(
            {field.key: field.name for field in node.record.fields if field.written}, () if tag is None else tag[:1]
        )

    def by_name(self, plain):
        """Return what is written of the record, a dict or a tuple, as a dict."""
        return plain if isinstance(plain, dict) else dict(zip(self._names, plain))


#: Types whose objects are kept, by module and name: importing them costs time.
_KEPT = {("decimal", "Decimal"), ("uuid", "UUID")}
_NAMES = {str, int, float, bool, bytes}  # of a dict, that are not written as another


def _row_value(item, plain, form, order):
    """Return what is written of an item: what its typed bytes decode to; dates, times, Decimals and UUIDs are kept.

    A record inside becomes a struct of Parquet. order: of the elements of sets, None: as they are.
    """
    if isinstance(item, (dt.date, dt.time, dt.timedelta)) or (type(item).__module__, type(item).__name__) in _KEPT:
        return item
    record = _Record.of(item)
    if record is not None:
        given = {name: getattr(item, attribute, None) for name, attribute in record.fields.items()}
        parts = _by_name(given, record.by_name(plain), form, order)
        return parts if form == "parquet" or isinstance(plain, dict) else tuple(parts.values())
    if isinstance(item, dict) and isinstance(plain, dict):
        if {*map(type, item)} <= _NAMES and item.keys() >= plain.keys():  # in another order if it is a TypedDict
            return _by_name(item, plain, form, order)
        if len(item) == len(plain):
            return _by_name(dict(zip(plain, item.values())), plain, form, order)
    elif isinstance(item, (list, tuple, set, frozenset)) and type(plain) in (list, tuple) and len(item) == len(plain):
        pairs = [*zip(item, plain)]
        if isinstance(item, (list, tuple)):
            return type(plain)(_row_value(value, part, form, order) for value, part in pairs)
        if order is not None:
            pairs.sort(key=lambda pair: order(pair[1]))
        return [_row_value(value, part, form, order) for value, part in pairs]
    return plain


def _by_name(given, plain, form, order):
    """Return what is written of the parts of a dict or a record by name."""
    return {name: _row_value(given[name], part, form, order) if name in given else part for name, part in plain.items()}
