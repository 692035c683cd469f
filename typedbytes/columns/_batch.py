"""A Batch: the columns of some records, as NumPy arrays, as buffers and as Arrow data.

Here: columns and their parts by name, arrays over their memory. Not here: how the columns were filled. NumPy is imported when an array
is asked for, and nothing else ever is.
"""

from typedbytes import _core
from typedbytes.columns import _native, _type_strings

__all__ = ["Batch", "BatchStream", "is_number", "split_name"]


class Batch(_native.Batch):
    """Hold the columns of some records; made by `read`, and never changed.

    len() gives the number of rows. Arrow's consumers take a Batch by its `__arrow_c_array__` or `__arrow_c_stream__`, as often as
    they like; arrays and exports keep its memory alive.

    >>> import typedbytes
    >>> (batch,) = read(typedbytes.Encoder().encode_pairs([("a", 1.5), ("b", 2.5)]))
    >>> len(batch), batch.schema
    (2, {'key': 'string', 'value': 'double'})
    """

    __module__ = "typedbytes.columns"

    __slots__ = ()

    @property
    def schema(self):
        """Give the type of each column as text, by name.

        >>> import typedbytes
        >>> next(read(typedbytes.dumps((1, 2)), pairs=False)).schema
        {'value': 'vector<int * 2>'}
        """
        return dict(zip(self.names, map(_type_strings.spell, self._types)))

    def column(self, place):
        """Return a column as a NumPy array, read-only, over the memory of the batch.

        place: the number of a column, its name, or a path of names such as "value.0" to a part of it. Numbers and BOOLs are one
        array of int8, bool, int16, int32, int64, float32 or float64; VECTORs of one arity and one kind of number are an array
        of shape (rows, items), other VECTORs a tuple of arrays, one for each item. A LIST column is a tuple of int32 offsets
        (rows + 1) and the column of all items; MAPs are offsets, keys, values. STRINGs and all else are made anew, as an
        array of str or bytes objects. Raises LookupError where there is no such column, ImportError without NumPy.

        >>> import typedbytes
        >>> batch = next(read(typedbytes.Encoder().encode_pairs([("a", (1, 2.5)), ("b", (3, 4.5))])))
        >>> batch.column("value.1").tolist(), batch.column(0).tolist()
        ([2.5, 4.5], ['a', 'b'])
        """
        number, path, described, item = self._find(place)
        found = self._array(number, path, described)
        return found if item is None else found[:, item]

    def buffers(self, place):
        """Return the memory of a column as memoryviews by name; NumPy is not needed.

        Numbers have "data"; STRINGs, BYTES and raw columns "offsets" (int32, rows + 1) and "data"; LISTs and MAPs "offsets" and the
        buffers of their parts by name, VECTORs those of their items.

        >>> import typedbytes
        >>> held = next(read(typedbytes.dumps("ab") + typedbytes.dumps("c"), pairs=False)).buffers("value")
        >>> bytes(held["data"]), held["offsets"].tolist()
        (b'abc', [0, 2, 3])
        """
        number, path, described, item = self._find(place)
        if item is not None:
            raise LookupError(f"the items of {_type_strings.spell(described)} have one memory")
        return self._buffers(number, path, described)

    def __arrow_c_stream__(self, requested_schema=None):
        """Export the batch as a capsule "arrow_array_stream" of one array."""
        return _native.arrow_stream(BatchStream(iter((self,)), self))

    def _find(self, place):
        """Return the number of a column, the way to a part, the part's type, and the number of an ARRAY's item or None."""
        number, names = self._place(place)
        described, path = self._types[number], []
        for level, name in enumerate(names, 1):
            if level == len(names) and described[0] == "array" and is_number(name) and int(name) < described[2]:
                return number, path, described, int(name)
            within = _type_strings.parts(described)
            if name not in within:
                raise LookupError(f"there is no {name!r} in {_type_strings.spell(described)}")
            path.append(list(within).index(name))
            described = within[name]
        return number, path, described, None

    def _place(self, place):
        if isinstance(place, int):
            if not 0 <= place < len(self.names):
                raise LookupError(f"there is no column {place} among {len(self.names)}")
            return place, []
        found = split_name(place, self.names)
        if found is None:
            raise LookupError(f"there is no column {place!r}, but {', '.join(map(repr, self.names))}")
        return found

    def _array(self, number, path, described):
        import numpy

        kind = described[0]
        if kind in ("fixed", "array"):
            return numpy.asarray(self._column_memory(number, path, "data"))
        if kind in ("variable", "raw"):
            return _objects(numpy, *self._sized(number, path), described == ("variable", 7))
        if kind == "unknown":
            return numpy.empty(0, object)
        within = _type_strings.parts(described)
        arrays = [self._array(number, [*path, index], part) for index, part in enumerate(within.values())]
        return tuple(arrays) if kind == "tuple" else (numpy.asarray(self._column_memory(number, path, "offsets")), *arrays)

    def _sized(self, number, path):
        return self._column_memory(number, path, "offsets"), self._column_memory(number, path, "data")

    def _buffers(self, number, path, described):
        kind = described[0]
        found = {}
        if kind in ("variable", "raw", "list", "map"):
            found["offsets"] = self._column_memory(number, path, "offsets")
        if kind in ("fixed", "array", "variable", "raw"):
            found["data"] = self._column_memory(number, path, "data")
        for index, (name, part) in enumerate(_type_strings.parts(described).items()):
            found[name] = self._buffers(number, [*path, index], part)
        return found


def split_name(place, names):
    """Return the number of the column that a path starts with, and the names behind it; None where there is none."""
    for number, name in enumerate(names):
        if place == name:
            return number, []
    for number, name in enumerate(names):
        if place.startswith(name + "."):
            return number, place[len(name) + 1 :].split(".")
    return None


def is_number(name):
    return name.isascii() and name.isdecimal()


def _objects(numpy, offsets, data, is_text):
    """Return an array of the str or bytes between offsets."""
    ends = offsets.tolist()
    whole = bytes(data)
    if is_text and whole.isascii():
        whole, is_text = whole.decode("ascii"), False
    values = [whole[start:end] for start, end in zip(ends, ends[1:])]
    if is_text:
        values = [value.decode("utf-8") for value in values]
    array = numpy.empty(len(values), object)
    array[:] = values
    return array


@_core.step_as_base
class BatchStream(_core.RecordIterator):
    """Be what a stream of Arrow's asks: iterate over batches of one schema."""

    def __init__(self, batches, first):
        self._batches = batches
        self._first = first

    def arrow_schema(self):
        """Return the schema of all batches."""
        return self._first.__arrow_c_schema__()

    def _step(self):
        batch = next(self._batches, _core.END)
        if batch is not _core.END and batch._types != self._first._types:
            raise ValueError(f"the schema became {batch.schema} after {self._first.schema}: a stream has one; schema= can say it first")
        return batch
