"""MapFile: a folder with a sorted SequenceFile, `data`, and every so many of its keys with their places, `index`.

Here: looking up by key. Not here: reading records. Always true: keys are compared as Hadoop's comparators do, so a class whose
order is not known here is refused.
"""

import struct
from bisect import bisect_right

from typedbytes.errors import FormatError
from typedbytes.sequencefile import _writables
from typedbytes.sequencefile._files import Reader, decode, encode

__all__ = ["MapFile"]

_IO = "org.apache.hadoop.io."


class MapFile:
    """Look up values by key in a MapFile, or in a BloomMapFile, whose filter is not used.

    place: the folder, a path or URL. Options as for `Reader`. Works as a read-only mapping as far as it goes: `[key]`,
    `key in`, `get`, iteration over (key, value) pairs in order. The index is held in memory.

    >>> import os, tempfile
    >>> from typedbytes.sequencefile import Writer
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Writer(os.path.join(folder.name, "data"), key_class="Text", value_class="IntWritable") as data:
    ...     place = data.offset
    ...     data.writes([("a", 1), ("b", 2)])
    2
    >>> with Writer(os.path.join(folder.name, "index"), key_class="Text", value_class="LongWritable") as index:
    ...     index.write("a", place)
    >>> with MapFile(folder.name) as file:
    ...     file["b"], file.get("c"), "a" in file
    (2, None, True)
    >>> folder.cleanup()
    """

    def __init__(self, place, **options):
        place = str(place).rstrip("/")
        self._options = {name: value for name, value in options.items() if name not in ("max_bytes", "resync")}
        self._data = Reader(f"{place}/data", raw=True, **options)
        self._first = self._data.offset
        try:
            self._order = _order_of(self._data.key_class)
            self._keys, self._places = self._read_index(f"{place}/index")
        except BaseException:
            self._data.close()
            raise

    def _read_index(self, place):
        keys, places = [], []
        with Reader(place, raw=True) as index:
            if index.key_class != self._data.key_class or index.value_class != f"{_IO}LongWritable":
                raise FormatError(f"an index from {index.key_class} to {index.value_class}", 0)
            for key, offset in index:
                keys.append(self._order(key))
                places.append(decode(index.value_class, offset))
        return keys, places

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def get(self, key, default=None):
        """Return the value of a key, of several equal ones the first found, or `default`."""
        value = self._find(key)
        return default if value is None else self._decoded(value)

    def __getitem__(self, key):
        value = self._find(key)
        if value is None:
            raise KeyError(key)
        return self._decoded(value)

    def __contains__(self, key):
        return self._find(key) is not None

    def __iter__(self):
        self._data.seek(self._first)
        options, key_class, value_class = self._options, self._data.key_class, self._data.value_class
        for key, value in self._data:
            yield decode(key_class, key, **options), decode(value_class, value, **options)

    def _find(self, key):
        """Return the bytes of a key's value, None when the key is not there."""
        wanted = self._order(encode(self._data.key_class, key))
        at = bisect_right(self._keys, wanted)
        if at == 0:
            return None
        # Equal keys may stand before the one that the index has.
        while at > 1 and self._keys[at - 1] == wanted:
            at -= 1
        self._data.seek(self._places[at - 1])
        for found, value in self._data:
            found = self._order(found)
            if found >= wanted:
                return value if found == wanted else None
        return None

    def _decoded(self, value):
        return decode(self._data.value_class, value, **self._options)

    def close(self):
        """Close the data file; closing again does nothing."""
        self._data.close()


def _order_of(class_name):
    """Return a function of a key's bytes whose results compare as Hadoop compares the keys."""
    if class_name in _IN_ORDER:
        return _IN_ORDER[class_name]
    raise TypeError(f"the order of {class_name} is not known: its MapFile can be read as a SequenceFile")


def _by_number(layout):
    return lambda data: struct.unpack(layout, data)[0]


def _counted(data):
    return data[4:]


_IN_ORDER = {
    f"{_IO}Text": lambda data: decode(f"{_IO}Text", data, unicode_errors="surrogateescape").encode("utf-8", "surrogateescape"),
    f"{_IO}BytesWritable": _counted,
    _writables.full_name("TypedBytesWritable"): _counted,
    f"{_IO}IntWritable": _by_number(">i"),
    f"{_IO}LongWritable": _by_number(">q"),
    f"{_IO}ShortWritable": _by_number(">h"),
    f"{_IO}ByteWritable": _by_number(">b"),
    f"{_IO}FloatWritable": _by_number(">f"),
    f"{_IO}DoubleWritable": _by_number(">d"),
    f"{_IO}VIntWritable": lambda data: decode(f"{_IO}VIntWritable", data),
    f"{_IO}VLongWritable": lambda data: decode(f"{_IO}VLongWritable", data),
    f"{_IO}BooleanWritable": _by_number(">?"),
}
