"""Rows: what a pair is in JSON lines, CSV and Parquet, and the output of a job in these formats.

The columns of a pair are those of its key and then those of its value: the entries of a dict, the fields of a record,
key1, key2 and so on for the items of a tuple, and one column `key` or `value` for anything else. A key that is None has
none.

Invariant: a line of JSON is one row, in CSV each part starts with the names of the columns, and what would be cut or
changed on its way through Hadoop's lines of text is an error.
"""

from __future__ import annotations

import csv
from types import SimpleNamespace

from typedbytes import Encoder
from typedbytes._report import lines
from typedbytes.streaming.formats.record_io import RecordOutput, value_options

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping
    from typing import Any

__all__ = ["CsvOutput", "JsonOutput", "check_columns", "row_of", "rows_by"]

_fields_of: dict[type, Any] = {}  # by record class: of each field its attribute, its name and what is left out


def row_of(key: Any, value: Any) -> dict[str, Any]:
    """Return the columns of a pair by name. Raises ValueError for names that are equal or not str.

    >>> row_of("rose", 4)
    {'key': 'rose', 'value': 4}
    >>> row_of(None, {"word": "rose", "count": 4})
    {'word': 'rose', 'count': 4}
    >>> row_of((2026, 5), {"sum": 1.5})
    {'key1': 2026, 'key2': 5, 'sum': 1.5}
    """
    if key is None:
        return dict(_columns("value", value))
    row = dict(_columns("key", key))
    for name, item in _columns("value", value):
        if name in row:
            raise ValueError(f"the key and the value of a row both have the column {name!r}")
        row[name] = item
    return row


def _columns(name, item):
    """Return (name, value) of the columns of a key or a value."""
    kind = type(item)
    if kind in (str, int, float, bool) or item is None:
        return [(name, item)]
    if isinstance(item, dict):
        for key in item:
            if not isinstance(key, str):
                raise ValueError(f"the names of columns are str, not {key!r}")
        return item.items()
    if isinstance(item, tuple):
        names = getattr(item, "_fields", None) or [f"{name}{i}" for i in range(1, len(item) + 1)]
        return zip(names, item)
    if kind not in _fields_of:
        _fields_of[kind] = _described(kind)
    fields = _fields_of[kind]
    if fields is None:
        return [(name, item)]
    columns = [(key, getattr(item, attribute), absent) for attribute, key, absent in fields]
    return [(key, value) for key, value, absent in columns if value is not absent]


def _described(kind):
    from typedbytes._records import native_of

    node = native_of(kind)
    if node is None or node.kind != "record":
        return None
    return [(field.name, field.key, field.absent) for field in node.record.fields if field.written]


def rows_by(options: Mapping[str, Any], form: str) -> Callable[[Any, Any], dict[str, Any]]:
    """Return the function that makes the row of a key and a value: row_of, with what their declared types write.

    options: of PairWriter. form: of the output.
    """
    kinds = options.get("key_type"), options.get("value_type")
    if kinds == (None, None):
        return row_of
    from typedbytes.streaming.formats.typed_rows import writing_of

    own = value_options(options)
    key_of, value_of = [_same if kind is None else writing_of(own, kind, form) for kind in kinds]
    return lambda key, value: row_of(key_of(key), value_of(value))


def _same(item):
    return item


def check_columns(form: str, names: Collection[str]) -> None:
    """Raise ValueError where the first rows have no columns: such rows would not be there when they are read."""
    if not names:
        raise ValueError(f"a row of {form} has at least one column")


class _RowOutput(RecordOutput):
    """Write rows as lines; options are those of PairWriter, for what is in a row."""

    form: str
    _line_of: Any  # of a row, in the format

    def __init__(self, sink: Any, options: Mapping[str, Any]) -> None:
        super().__init__(sink)
        self._row_of = rows_by(options, self.form)
        self._encode = Encoder(**value_options(options)).encode

    def encode(self, key: Any, value: Any) -> bytes:
        """Return the line of a pair."""
        return self._line_of(self._row_of(key, value))

    def write_rows(self, rows: Iterable[dict[str, Any]]) -> None:
        """Write rows that are no pairs: the columns of a batch."""
        for row in rows:
            self._append(self._line_of(row))

    def _json(self, item):
        return lines(self._encode(item), plain=True)


class JsonOutput(_RowOutput):
    """Write each row as an object, in the plain JSON of `typedbytes to-json --plain`."""

    form = "json"

    def _line_of(self, row):
        return self._json(row)


class CsvOutput(_RowOutput):
    """Write rows as comma-separated values, after the names of the columns, which are those of the first row.

    A column that a later row does not have is empty there. The first row may be one that is encoded or checked: its
    names are kept from the next write_encoded() on, and forgotten by drop_encoded().
    """

    form = "csv"

    def __init__(self, sink: Any, options: Mapping[str, Any]) -> None:
        super().__init__(sink, options)
        self._names: list[str] | None = None
        self._is_settled = False  # whether the names are those of a row that is not dropped any more

    def _line_of(self, row):
        """Return the line of a row; ValueError for a column that the first row does not have."""
        line = _line([self._cell(row.get(name)) for name in self._names or row])
        if self._names is None:
            check_columns("CSV", row)
            _header(row)
            self._names = [*row]
        elif row.keys() - self._names:
            others = sorted(row.keys() - self._names)
            raise ValueError(f"the columns of CSV are {self._names}, as in the first row, which does not have {others}")
        return line

    def write_encoded(self, records: Iterable[Any]) -> None:
        """Write lines that were encoded before."""
        self._is_settled = self._names is not None
        super().write_encoded(records)

    def drop_encoded(self) -> None:
        """Forget the names of columns that only rows have which are dropped."""
        if not self._is_settled:
            self._names = None

    def _append(self, record):
        if not self.record:
            self._buffer += _header(self._names or ())
            self._is_settled = True
        super()._append(record)

    def _cell(self, item):
        kind = type(item)
        if kind in (str, int, float) or item is None:  # the module csv writes them as their str, None as nothing
            return item
        if kind is bool:
            return "true" if item else "false"
        if isinstance(item, (bytes, bytearray, memoryview)):
            return bytes(item).decode("utf-8", "surrogateescape")
        text = self._json(item).decode()[:-1]
        if text[:1] == '"':
            import json

            return json.loads(text)
        return text


def _header(names: Iterable[str]) -> bytes:
    if any("\n" in name for name in names):  # the header is one line, so that parts can be put together
        raise ValueError(f"the name of a column of CSV has a line end: {[*names]}")
    return _line(names)


#: Writing a row returns what the file's write() returns: the line.
_text_of = csv.writer(SimpleNamespace(write=str), lineterminator="\n").writerow


def _line(cells):
    """Return a line of CSV; ValueError for a carriage return, for which Hadoop would write a line feed."""
    text: Any = _text_of(cells)
    if "\r" in text:
        raise ValueError(f"a carriage return inside a row of CSV would become a line feed on Hadoop: {text[:80]!r}")
    return text.encode("utf-8", "surrogateescape")
