"""MapFile: a folder with a sorted SequenceFile, `data`, and a file with every n-th key and its offset, `index`.

Here: look-up by key, in one and in the parts of a job. Not here: reading records. Invariant: keys are compared, and
hashed, as Hadoop does, so a class whose order is not known here is refused; an index that contradicts its data is an
error, and an incomplete one only costs time.
"""

from __future__ import annotations

import math
import struct
from bisect import bisect_left
from functools import partial

from typedbytes._base import locations
from typedbytes._core import PassedOptions, WrappedIterator
from typedbytes.errors import DecodeError, FormatError, relocated
from typedbytes.sequencefile import _writables
from typedbytes.sequencefile._files import Reader, decode, encode

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike
    from typing import Any

    from typing_extensions import Self, Unpack

    from typedbytes._base.options import MapFileOptions
    from typedbytes.sequencefile._native import Skipped

__all__ = ["MapFile"]

_IO = "org.apache.hadoop.io."


class MapFile:
    """Look up values by key in a MapFile, or in a BloomMapFile, whose filter is not used.

    path: of the folder, or of a folder of them, which a job with MapFileOutputFormat has written: a key is in the part
    that Hadoop's HashPartitioner chooses, one of a described class in any part; or a URL. Options as for `Reader`.
    Supports a part of a read-only mapping: `[key]`, `key in`, `get`, and iteration, which yields (key, value) pairs in
    order and opens a Reader of its own. The index is held in memory. Raises FormatError, TruncatedError and LimitError
    as a Reader does; with resync=True `skipped` lists what look-ups and iterations have skipped.

    >>> import os, tempfile
    >>> from typedbytes.sequencefile import Writer
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Writer(os.path.join(folder.name, "data"), key_class="Text", value_class="IntWritable") as data:
    ...     offset = data.offset
    ...     data.writes([("a", 1), ("b", 2)])
    2
    >>> with Writer(os.path.join(folder.name, "index"), key_class="Text", value_class="LongWritable") as index:
    ...     index.write("a", offset)
    >>> with MapFile(folder.name) as file:
    ...     file["b"], file.get("c"), "a" in file
    (2, None, True)
    >>> folder.cleanup()
    """

    __signature__: Any = PassedOptions(Reader, "raw", "start", "length")
    skipped: list[Skipped]

    def __new__(cls, path: str | PathLike[str], **options: Unpack[MapFileOptions]) -> Self:
        """Return an object for one MapFile, or for the parts of a job."""
        kind: Any = _PartitionedMapFile if cls is MapFile and locations.map_files(str(path)) else cls
        return super().__new__(kind)

    def __init__(self, path: str | PathLike[str], **options: Unpack[MapFileOptions]) -> None:
        path = str(path).rstrip("/")
        self._path = f"{path}/data"
        self._options = options
        self._data = Reader(self._path, raw=True, **options)
        self._first = self._data.offset
        self.skipped = self._data.skipped
        try:
            self._order = _order_of(self._data.key_class, options.get("classes"))
            self._keys, self._offsets = self._read_index(f"{path}/index")
        except BaseException:
            self._data.close()
            raise

    def _read_index(self, path):
        keys: list = []
        offsets: list[int] = []
        with Reader(path, raw=True) as index:
            if index.key_class != self._data.key_class or index.value_class != f"{_IO}LongWritable":
                raise FormatError(
                    f"expected an index from {self._data.key_class} to LongWritable, "
                    f"not from {index.key_class} to {index.value_class}",
                    0,
                )
            last, end = self._first, locations.size(self._path)
            for offset, key, value in self._records(index):
                to = _decode_at(index.value_class, value, offset)
                if not last <= to <= end or keys and key < keys[-1]:
                    raise FormatError(
                        f"index is not in order, or its offset {to} is outside of the data file of {end} bytes", offset
                    )
                keys.append(key)
                offsets.append(to)
                last = to
        return keys, offsets

    def _records(self, reader):
        """Yield for each remaining record the offset of it or its block, its key to compare, and its value's bytes."""
        order, start = self._order, reader.offset
        end = start
        for key, value in reader:
            now = reader.offset
            if now != end:
                start, end = end, now
            try:
                ordered = order(key)
            except DecodeError as error:
                raise _with_record_offset(error, start) from None
            yield start, ordered, value

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def get(self, key: Any, default: Any = None) -> Any:
        """Return the value of a key, or `default`; of several equal keys, the first one's."""
        found = self._find(key)
        return default if found is None else self._decoded(*found)

    def __getitem__(self, key: Any) -> Any:
        found = self._find(key)
        if found is None:
            raise KeyError(key)
        return self._decoded(*found)

    def __contains__(self, key: Any) -> bool:
        return self._find(key) is not None

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return WrappedIterator(self._pairs())

    def _pairs(self):
        self._data.seek(self._first)  # raises if it is closed or has failed
        with Reader(self._path, **self._options) as reader:
            try:
                yield from reader
            finally:
                self.skipped.extend(reader.skipped)

    def _encoded(self, key):
        options: dict[str, Any] = {
            name: value for name, value in self._options.items() if name in ("dialect", "unicode_errors", "classes")
        }
        encoded = encode(self._data.key_class, key, type=self._options.get("key_type"), **options)
        self._check_decoder(key, encoded)
        return encoded

    def _find(self, key):
        """Return (offset of the record, bytes of the value) of a key, or None."""
        wanted = self._order(self._encoded(key))
        # Equal keys can be before the one in the index, and other keys before its first.
        at = bisect_left(self._keys, wanted)
        self._data.seek(self._offsets[at - 1] if at else self._first)
        for offset, found, value in self._records(self._data):
            if found >= wanted:
                return (offset, value) if found == wanted else None
        return None

    def _check_decoder(self, key, encoded):
        """Raise TypeError for a key that a function of the caller's decodes from other bytes."""
        decoder = _writables.by_full_name(self._options.get("decoders")).get(self._data.key_class)
        if decoder is not None and not _decodes_to(decoder, encoded, key):
            raise TypeError(
                f"cannot look up {key!r:.80}: its bytes as {self._data.key_class} are {encoded[:40]!r}, "
                "which the function in decoders does not decode to it"
            )

    def _decoded(self, offset, value):
        options: dict[str, Any] = {
            name: value
            for name, value in self._options.items()
            if name not in ("max_bytes", "resync", "key_type", "value_type")
        }
        return _decode_at(self._data.value_class, value, offset, type=self._options.get("value_type"), **options)

    @property
    def closed(self) -> bool:
        """Whether the MapFile is closed."""
        return self._data.closed

    def close(self) -> None:
        """Close the data file; closing again does nothing."""
        self._data.close()


class _PartitionedMapFile(MapFile):
    """The MapFiles of a job, each with the keys of one partition."""

    def __init__(self, path, **options):
        self._parts = []
        try:
            for part in locations.map_files(str(path)):
                self._parts.append(MapFile(part, **options))
        except BaseException:
            self.close()
            raise

    def _part_of(self, key):
        first = self._parts[0]
        hash_of = _HASHES.get(first._data.key_class)
        if hash_of is None:  # only the Java class knows its hashCode()
            return next((part for part in self._parts if key in part), first)
        return self._parts[(hash_of(first._encoded(key)) & 0x7FFFFFFF) % len(self._parts)]

    @property
    def skipped(self):  # type: ignore[override]
        return [each for part in self._parts for each in part.skipped]

    def get(self, key, default=None):
        return self._part_of(key).get(key, default)

    def __getitem__(self, key):
        return self._part_of(key)[key]

    def __contains__(self, key):
        return key in self._part_of(key)

    def _pairs(self):
        for part in self._parts:
            yield from part

    @property
    def closed(self):
        return all(part.closed for part in self._parts)

    def close(self):
        for part in self._parts:
            part.close()


def _order_of(class_name, classes):
    """Return a function of a key's bytes whose results compare as Hadoop compares the keys."""
    program = _writables.find_program(class_name, classes)
    if program is not None:
        from typedbytes.sequencefile._class_orders import order_of

        order = order_of(program, classes)
        if order is not None:
            return order
    elif class_name in _ORDERS:
        return _ORDERS[class_name]
    raise TypeError(
        f"cannot look up keys of unknown order, of class {class_name!r:.80}: "
        "read the MapFile's data as a SequenceFile; "
        f"known: {', '.join(name.rpartition('.')[2] for name in _ORDERS)}, and described classes of such fields"
    )


def _decodes_to(decoder, encoded, key):
    try:
        return decoder(encoded) == key
    except Exception:
        return False  # bytes that it does not know


def _decode_at(class_name, value, offset, **options):
    try:
        return decode(class_name, value, **options)
    except DecodeError as error:
        raise _with_record_offset(error, offset) from None


def _with_record_offset(error, offset):
    """Return an error of a key or a value with the offset of its record."""
    return relocated(error, f"{error.message}, byte {error.offset} of a key or value", offset, error.code, error.path)


def _number(layout, data):
    if len(data) != layout.size:
        raise FormatError(f"expected a number of {layout.size} bytes, got {len(data)}")
    return layout.unpack(data)[0]


def _by_number(layout):
    return partial(_number, struct.Struct(layout))


def _by_float(layout):
    """Return the order of Float.compare and Double.compare: -0.0 is less than 0.0, and NaN is greatest."""
    layout = struct.Struct(layout)

    def order(data):
        number = _number(layout, data)
        return (1,) if math.isnan(number) else (0, number, math.copysign(1, number))

    return order


def _without_length(data):
    return data[4:]


_ORDERS = {
    f"{_IO}Text": lambda data: decode(f"{_IO}Text", data, unicode_errors="surrogateescape").encode(
        "utf-8", "surrogateescape"
    ),
    f"{_IO}BytesWritable": _without_length,
    _writables.full_name("TypedBytesWritable"): _without_length,
    f"{_IO}IntWritable": _by_number(">i"),
    f"{_IO}LongWritable": _by_number(">q"),
    f"{_IO}ShortWritable": _by_number(">h"),
    f"{_IO}ByteWritable": _by_number(">b"),
    f"{_IO}FloatWritable": _by_float(">f"),
    f"{_IO}DoubleWritable": _by_float(">d"),
    f"{_IO}VIntWritable": lambda data: decode(f"{_IO}VIntWritable", data),
    f"{_IO}VLongWritable": lambda data: decode(f"{_IO}VLongWritable", data),
    f"{_IO}BooleanWritable": _by_number(">?"),
    f"{_IO}MD5Hash": lambda data: decode(f"{_IO}MD5Hash", data),
}


def _hash_of_bytes(data):
    """Return WritableComparator.hashBytes."""
    code = 1
    for byte in data:
        code = 31 * code + (byte ^ 0x80) - 0x80 & 0xFFFFFFFF
    return code


def _low_bits(data):
    """Return the low 32 bits of a number, or of the bits of a float, which is its hash code."""
    return int.from_bytes(data[-4:], "big")


def _first_bytes(data):
    return int.from_bytes(data[:4], "big")


def _number_by(class_name):
    return lambda data: decode(class_name, data) & 0xFFFFFFFF


# hashCode() of the same classes, as its 32 bits
_HASHES = {
    f"{_IO}Text": lambda data: _hash_of_bytes(_ORDERS[f"{_IO}Text"](data)),
    f"{_IO}BytesWritable": lambda data: _hash_of_bytes(data[4:]),
    _writables.full_name("TypedBytesWritable"): lambda data: _hash_of_bytes(data[4:]),
    **{f"{_IO}{name}Writable": _low_bits for name in ("Int", "Long", "Float", "Double")},
    **{f"{_IO}{name}Writable": _number_by(f"{_IO}{name}Writable") for name in ("Short", "Byte", "VInt", "VLong")},
    f"{_IO}MD5Hash": _first_bytes,
    f"{_IO}BooleanWritable": lambda data: 0 if data != b"\0" else 1,
}
