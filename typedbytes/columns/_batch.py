"""A Batch: the columns of some records, as NumPy arrays, as buffers and as Arrow data.

Here: columns and their parts by name, arrays over their memory. Not here: decoding into the columns. NumPy is imported
only when an array is asked for.
"""

from __future__ import annotations

import sys

from typedbytes import _core
from typedbytes.columns import _native, type_strings
from typedbytes.columns._exports import Exports

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

__all__ = ["Batch", "BatchStream", "Remaining", "split_name"]


class Batch(_native.Batch, Exports):
    """Hold the columns of some records; returned by `read`, immutable.

    len() gives the number of rows. Consumers of Arrow data import a Batch by `__arrow_c_array__` or
    `__arrow_c_stream__`, any number of times; arrays and exports keep its memory alive.

    >>> import typedbytes
    >>> (batch,) = read(typedbytes.Encoder().encode_pairs([("a", 1.5), ("b", 2.5)]))
    >>> len(batch), batch.schema
    (2, {'key': 'string', 'value': 'double'})
    """

    __module__ = "typedbytes.columns"

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Batch(rows={len(self)}, schema={self.schema})"

    def _first_batch(self):
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, a tuple."""
        return super().names

    @property
    def schema(self) -> dict[str, str]:
        """The type of each column as text, by name.

        >>> import typedbytes
        >>> next(read(typedbytes.dumps((1, 2)), pairs=False)).schema
        {'value': 'vector<int * 2>'}
        """
        return dict(zip(self.names, map(type_strings.format_type, self._types)))

    def column(self, name: int | str) -> NDArray[Any] | tuple[Any, ...]:
        """Return a column as a NumPy array, read-only, over the memory of the batch.

        name: the number of a column, its name, or a path of names such as "value.0" to a part of it. The result is

        - for numbers and BOOLs one array of int8, bool, int16, int32, int64, float32 or float64;
        - for VECTORs of one arity and one kind of number an array of shape (rows, items), for other VECTORs a tuple of
          arrays, one for each item;
        - for LISTs a tuple of int32 offsets (rows + 1) and the column of all items;
        - for MAPs a tuple of offsets, keys and values, or as a struct a dict of arrays by field;
        - for dates and timestamps an array of datetime64, for times of day and durations of timedelta64;
        - for decimals, UUIDs and the values of an enum an array of objects;
        - for STRINGs and all else an array of str or bytes objects, which are copies.

        Nulls are masked among numbers, in a numpy.ma.MaskedArray, and None among objects; a LIST or a MAP that is null
        is empty here. Raises LookupError if there is no such column, ImportError without NumPy.

        >>> import typedbytes
        >>> batch = next(read(typedbytes.Encoder().encode_pairs([("a", (1, 2.5)), ("b", (3, 4.5))])))
        >>> batch.column("value.1").tolist(), batch.column(0).tolist()
        ([2.5, 4.5], ['a', 'b'])
        """
        number, path, column_type, item = self._find_part(name)
        found = self._array(number, path, column_type)
        return found if item is None else found[:, item]

    def buffers(self, name: int | str) -> dict[str, Any]:
        """Return the memory of a column as memoryviews by name; NumPy is not needed.

        Numbers and times have "data", decimals and UUIDs a row of bytes for each, an enum the number (int32) of each
        value in its type; STRINGs, BYTES and raw columns "offsets" (int32, rows + 1) and "data"; LISTs and MAPs
        "offsets" and the buffers of their parts by name, VECTORs those of their items, structs those of their fields. A
        column with nulls has "valid" too: a bit for each row, the least significant first, which is 0 for a null.

        >>> import typedbytes
        >>> held = next(read(typedbytes.dumps("ab") + typedbytes.dumps("c"), pairs=False)).buffers("value")
        >>> bytes(held["data"]), held["offsets"].tolist()
        (b'abc', [0, 2, 3])
        """
        number, path, column_type, item = self._find_part(name)
        if item is not None:
            raise LookupError(
                f"cannot return the buffer of one item of {type_strings.format_type(column_type)}: the items share one"
            )
        return self._buffers(number, path, column_type)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export the batch as a capsule "arrow_array_stream" of one array."""
        return _native.arrow_stream(BatchStream(iter((self,)), self))

    def _find_part(self, column):
        """Return the number of a column, the path to a part, its type, and the item number in an ARRAY or None."""
        number, names = self._find_column(column)
        column_type = self._types[number]
        path: list[int] = []
        for level, name in enumerate(names, 1):
            if level == len(names) and column_type[0] == "array" and _is_number(name) and int(name) < column_type[2]:
                return number, path, column_type, int(name)
            within = type_strings.parts(column_type)
            if name not in within:
                raise LookupError(f"no part {name!r} in {type_strings.format_type(column_type)}")
            path.append(list(within).index(name))
            column_type = within[name]
        return number, path, column_type, None

    def _find_column(self, column):
        if isinstance(column, int):
            if not 0 <= column < len(self.names):
                raise LookupError(f"no column {column}: the batch has {len(self.names)}")
            return column, []
        found = split_name(column, self.names)
        if found is None:
            raise LookupError(f"no column {column!r}: the batch has {', '.join(map(repr, self.names))}")
        return found

    def _array(self, number, path, column_type):
        numpy = _numpy()
        kind = column_type[0]
        valid = self._column_memory(number, path, "valid")
        if kind in type_strings.NUMBERS or (kind == "enum" and type(column_type[1][0]) is int):
            values = _numbers(numpy, self._column_memory(number, path, "data"), column_type)
            return values if valid is None else _masked(numpy, values, valid)
        if kind in ("variable", "raw", "decimal", "uuid", "enum"):
            if kind in ("variable", "raw"):
                offsets, data = self._offsets_and_data(number, path)
                values = _objects(numpy, offsets, data, column_type == ("variable", 7))
            else:
                values = _values(numpy, self._column_memory(number, path, "data"), column_type)
            if valid is not None:
                values[_is_null(numpy, valid, len(values))] = None
            return values
        if kind == "unknown":
            return numpy.full(self._nvalues(number, path), None)
        within = type_strings.parts(column_type)
        arrays = [self._array(number, [*path, index], part) for index, part in enumerate(within.values())]
        if kind in ("struct", "row"):
            return dict(zip(within, arrays))
        return (
            tuple(arrays) if kind == "tuple" else (numpy.asarray(self._column_memory(number, path, "offsets")), *arrays)
        )

    def _offsets_and_data(self, number, path):
        return self._column_memory(number, path, "offsets"), self._column_memory(number, path, "data")

    def _buffers(self, number, path, column_type):
        kind = column_type[0]
        buffers = {}
        valid = self._column_memory(number, path, "valid")
        if valid is not None:
            buffers["valid"] = valid
        if kind in ("variable", "raw", "list", "map"):
            buffers["offsets"] = self._column_memory(number, path, "offsets")
        if kind in ("variable", "raw", "decimal", "uuid", "enum", *type_strings.NUMBERS):
            buffers["data"] = self._column_memory(number, path, "data")
        for index, (name, part) in enumerate(type_strings.parts(column_type).items()):
            buffers[name] = self._buffers(number, [*path, index], part)
        return buffers


def _numpy():
    try:
        import numpy
    except ModuleNotFoundError as error:
        message = (
            "a column as an array needs NumPy: pip install 'typedbytes[numpy]'; buffers() and Arrow data do without"
        )
        raise ModuleNotFoundError(message, name=error.name) from None
    return numpy


def split_name(path, names):
    """Return the number of the column that a path starts with, and the names after it; None if there is none."""
    for number, name in enumerate(names):
        if path == name:
            return number, []
    for number, name in enumerate(names):
        if path.startswith(name + "."):
            return number, path[len(name) + 1 :].split(".")
    return None


def _is_number(name):
    return name.isascii() and name.isdecimal()


def _is_null(numpy, valid, n):
    return numpy.unpackbits(numpy.asarray(valid), bitorder="little")[:n] == 0


def _masked(numpy, values, valid):
    """Return a masked array over the values, which hides the nulls."""
    mask = _is_null(numpy, valid, len(values))
    if values.ndim == 2:
        mask = numpy.repeat(mask[:, None], values.shape[1], axis=1)
    return numpy.ma.masked_array(values, mask)


def _numbers(numpy, data, column_type):
    """Return an array over numbers, which may be times."""
    values = numpy.asarray(data)
    kind, *settings = column_type
    if kind == "enum":
        return numpy.array(settings[0])[values]
    if kind == "date":
        return values.astype("M8[D]")  # of 64 bits
    if kind in ("fixed", "array"):
        return values
    return values.view(f"{'M' if kind == 'timestamp' else 'm'}8[{settings[0]}]")


def _values(numpy, data, column_type):
    """Return an array of the Decimals, UUIDs or values of an enum that this memory has."""
    kind, *settings = column_type
    if kind == "enum":
        return numpy.array(settings[0], object)[numpy.asarray(data)]
    values = numpy.empty(len(data), object)
    rows = (bytes(row) for row in numpy.asarray(data))
    if kind == "uuid":
        from uuid import UUID

        values[:] = [UUID(bytes=row) for row in rows]
    else:
        from decimal import Context

        exact = Context(prec=settings[0] + 1, Emin=-200)
        numbers = (int.from_bytes(row, sys.byteorder, signed=True) for row in rows)
        values[:] = [exact.scaleb(exact.create_decimal(number), -settings[1]) for number in numbers]
    return values


def _objects(numpy, offsets, data, is_text):
    """Return an array of the str or bytes between offsets."""
    ends = offsets.tolist()
    whole = bytes(data)
    values: list
    if is_text and whole.isascii():
        text = whole.decode("ascii")
        values = [text[start:end] for start, end in zip(ends, ends[1:])]
    else:
        values = [whole[start:end] for start, end in zip(ends, ends[1:])]
        if is_text:
            values = [value.decode("utf-8") for value in values]
    array = numpy.empty(len(values), object)
    array[:] = values
    return array


@_core.step_as_base  # otherwise Python looks up __next__ for each batch
class BatchStream(_core.RecordIterator):
    """Iterate over batches of one schema, for an Arrow stream."""

    def __init__(self, batches, first):
        self._batches = batches
        self._first = first

    def arrow_schema(self):
        """Return the schema of all batches."""
        return self._first.__arrow_c_schema__()

    def _step(self):
        batch = next(self._batches, _core.END)
        if batch is not _core.END and batch._types != self._first._types:
            raise ValueError(
                f"schema changed to {batch.schema} from {self._first.schema}: a stream has one schema; "
                "pass schema= to set it"
            )
        return batch


@_core.step_as_base
class Remaining(_core.RecordIterator):
    """Iterate over the batches that are left in a reader; ValueError if another Remaining has read it to its end."""

    def __init__(self, reader):
        self._reader = reader
        self._check()

    def _check(self):
        if self._reader._was_read:
            raise ValueError("this BatchReader has been read; open it again with columns.read")

    def _step(self):
        batch = next(self._reader, _core.END)
        if batch is _core.END:
            self._check()
            self._reader._was_read = True
        return batch
