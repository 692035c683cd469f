"""Rows of Hive's SELECT TRANSFORM: what a script gets from a TypedBytesRecordWriter, and what its reader takes.

A row is the values of its columns and then ENDOFRECORD, type code 177. Hive refuses a column whose width changes from
row to row, so a RowWriter is told the types of the columns.

>>> import io
>>> rows = bytes.fromhex("0400000000000000070700000001 61b1")
>>> sink = io.BytesIO()
>>> with RowWriter(sink, "points bigint, name string") as out:
...     for points, name in read_rows(io.BytesIO(rows)):
...         out.write((points, name))
>>> sink.getvalue() == rows
True
"""

from __future__ import annotations

import struct

from typedbytes._core import Encoder, WrappedIterator
from typedbytes._types import Byte, Ext, Float, Int, Long
from typedbytes.errors import EncodeTypeError, EncodeValueError, TruncatedError
from typedbytes.files import Reader, Writer

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from typing_extensions import Self

__all__ = ["RowWriter", "read_rows"]

_SHORT, _ENDOFRECORD = 11, 177
_END = Ext(_ENDOFRECORD, b"")


def __dir__() -> list[str]:
    return __all__


def read_rows(
    source: Any, *, max_bytes: int | None = None, unicode_errors: str = "strict"
) -> Iterator[tuple[Any, ...]]:
    """Return an iterator of the rows that Hive gives to a script, each a tuple of int, float, bool, str and None.

    - source: a path, a descriptor or a file in binary mode, such as sys.stdin.buffer
    - max_bytes: of a value; more is a LimitError
    - unicode_errors: what becomes of text that is not UTF-8, as in Reader

    Raises DecodeError for bytes that are not typed bytes of Hive, and TruncatedError for a row without its end, both
    after the rows before.

    >>> list(read_rows(bytes.fromhex("0300000001b10cb1")))
    [(1,), (None,)]
    """
    reader = Reader(source, dialect="hive", max_bytes=max_bytes, unicode_errors=unicode_errors)
    return WrappedIterator(_rows(reader))


def _rows(reader):
    with reader:
        row: list[Any] = []
        for value in reader:
            if type(value) is Ext and value.code == _ENDOFRECORD:
                yield tuple(row)
                row = []
            else:
                row.append(value)
        if row:
            raise TruncatedError(f"the input ends inside a row, after {len(row)} values", reader.offset)


def _smallint(value):
    return Ext(_SHORT, value.to_bytes(2, "big", signed=True))


def _float(value):
    struct.pack(">f", float(value))  # OverflowError for a number that it cannot hold
    return Float(value)


# by Hive's type: the Python types that are taken, and what makes the value that is written
_TYPES: dict[str, tuple[Any, Any]] = {
    "tinyint": (int, Byte), "smallint": (int, _smallint), "int": (int, Int), "bigint": (int, Long),
    "float": ((float, int), _float), "double": ((float, int), float), "boolean": (bool, bool), "string": (str, str),
}  # fmt: skip

# How Hive's other types of one value begin, which its SerDe does not know.
_OTHER_TYPES = ("date", "timestamp", "interval", "decimal", "numeric", "binary", "char", "varchar")


# Of an AS clause: spaces, a name in quotes, a literal, which is text in quotes once or more, any other word, a sign.
_TOKEN = r"""\s+|`(?:[^`]|``)*`|(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")+|[^\s`'"()<>,]+|."""
_QUOTES = "'", '"'


def _types_in(text):
    """Return the types in a text such as "name string comment 'of a town', price decimal(10, 2)"."""
    import re

    parts: list[list[str]] = [[]]
    depth, is_apart = 0, True  # whether a new word begins
    for token in re.findall(_TOKEN, text, re.DOTALL):
        is_literal = len(token) > 1 and token.startswith(_QUOTES)
        if token.isspace():
            is_apart = is_apart or not depth
        elif token == "," and not depth:
            parts.append([])
            is_apart = True
        elif is_apart or is_literal:
            parts[-1].append(token)
            is_apart = is_literal
        else:
            parts[-1][-1] += token
        depth += (token in "(<") - (token in ")>")
    return [_type_of(words) for words in parts]


def _type_of(words):
    """Return the type of a column, whose words are a name, a type and perhaps a comment."""
    last = words[-1] if words else ""
    if len(words) > 2 and words[-2].lower() == "comment" and len(last) > 1 and last[0] == last[-1] in _QUOTES:
        words = words[:-2]
    return words[-1] if words else ""


class RowWriter:
    """Write rows that Hive's TypedBytesRecordReader takes from a script.

    - sink: a path, a descriptor or a file in binary mode, such as sys.stdout.buffer
    - types: a type of Hive for each column, or one text as in the AS clause of the query: "name string, points bigint"
    - unicode_errors: what becomes of text that UTF-8 cannot encode, as in Writer: that of read_rows, to write it back

    Known types: tinyint, smallint, int, bigint, float, double, boolean, string. Raises ValueError for others.

    >>> import io
    >>> sink = io.BytesIO()
    >>> with RowWriter(sink, ["smallint", "boolean"]) as out:
    ...     out.write((7, True))
    >>> sink.getvalue().hex()
    '0b00070201b1'
    """

    def __init__(self, sink: Any, types: str | Sequence[str], *, unicode_errors: str = "strict") -> None:
        if isinstance(types, str):
            types = _types_in(types)
        self.types: tuple[str, ...] = tuple(name.lower() for name in types)  #: of the columns, in lower case
        for name in self.types:
            if name not in _TYPES:
                cure = "; write it as a string, and CAST it in the query" if name.startswith(_OTHER_TYPES) else ""
                raise ValueError(f"unknown type {name!r:.80} of a column; known: {', '.join(_TYPES)}{cure}")
        if not self.types:
            raise ValueError("a row has at least one column")
        self._columns = [_TYPES[name] for name in self.types]
        self._nrows = 0
        self._encoder: Any = Encoder(dialect="hive", unicode_errors=unicode_errors)
        self._writer = Writer(sink, dialect="hive")

    def write(self, row: Iterable[Any]) -> None:
        """Write a row.

        Raises EncodeTypeError or EncodeValueError, with the row and its column by number from 1, and writes nothing of
        it. A None is refused: Hive's reader does not take the NULL that its own writer gives.

        >>> import io
        >>> RowWriter(io.BytesIO(), "points int").write((2**31,))
        Traceback (most recent call last):
            ...
        typedbytes.errors.EncodeValueError: row 1, column 1: the value does not fit in int
        """
        values = [*row]
        if len(values) != len(self._columns):
            raise EncodeValueError(f"row {self._nrows + 1} has {len(values)} columns, not {len(self._columns)}")
        for i, (kinds, make) in enumerate(self._columns):
            value = values[i]
            if not isinstance(value, kinds) or (type(value) is bool) is not (kinds is bool):
                found = type(value).__name__
                if value is None:
                    found = "None: Hive takes no NULL from a script; write a value that stands for it"
                raise EncodeTypeError(f"{self._where(i)}: expected {self.types[i]}, not {found}")
            try:
                values[i] = make(value)
            except (ValueError, OverflowError):
                raise EncodeValueError(f"{self._where(i)}: the value does not fit in {self.types[i]}") from None
        try:
            data = self._encoder.encode_all((*values, _END))  # of the whole row, so that none is written in part
        except EncodeValueError as error:
            raise self._located(error, values) from None
        self._writer.__write_encoded__(data, len(values) + 1)
        self._nrows += 1

    def writes(self, rows: Iterable[Iterable[Any]]) -> None:
        """Write rows, as write() does.

        >>> import io
        >>> RowWriter(io.BytesIO(), "n int").writes([(1,), (2,)])
        """
        for row in rows:
            self.write(row)

    def _located(self, error, values):
        """Return the error of a row as that of its first value that cannot be encoded, with row and column."""
        for i, value in enumerate(values):
            try:
                self._encoder.encode(value)
            except EncodeValueError as found:
                found.message = f"{self._where(i)}: {found.message}"
                return found
        return error

    def _where(self, i):
        return f"row {self._nrows + 1}, column {i + 1}"

    def flush(self) -> None:
        """Pass on what is buffered.

        >>> import io
        >>> sink = io.BytesIO()
        >>> out = RowWriter(sink, "n int")
        >>> out.write((1,)), out.flush(), len(sink.getvalue())
        (None, None, 6)
        """
        self._writer.flush()

    def close(self) -> None:
        """Pass on what is buffered, and close what was opened.

        >>> import io
        >>> RowWriter(io.BytesIO(), "n int").close()
        """
        self._writer.close()

    @property
    def closed(self) -> bool:
        """Whether the writer is closed."""
        return self._writer.closed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: Any = None, error: Any = None, traceback: Any = None) -> None:
        self._writer.__exit__(kind, error, traceback)
