"""The types of Avro, and the bytes of their values both ways.

Here: a node for each type. Not here: the JSON of a schema. Invariant: lengths and counts are compared with the bytes
that are left, and depth is bounded. fastavro is not used: it loops over any count of empty items, overflows the stack
where records nest, and does not keep the width of numbers.
"""

from __future__ import annotations

import json
import re
import struct

from typedbytes._core import Decoder, Encoder
from typedbytes._types import Float, Long
from typedbytes.errors import EncodeTypeError, EncodeValueError, FormatError, LimitError, TruncatedError
from typedbytes.sequencefile._writables import format_decimal

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["MAX_DEPTH", "SCALARS", "Array", "Decimal", "Enum", "Fixed", "Map", "Record", "Source", "Union"]

MAX_DEPTH = 64
_MAX_EMPTY = 1 << 16  # values of no bytes in a value
_MAX_COLUMN_LEVELS = 24
_MAX_COLUMN_PARTS = 1 << 12
_INT = 1 << 31
_LONG = 1 << 63
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?", re.ASCII)
_NULL = Decoder(exact=True).decode(Encoder().encode(None))
_COLUMNS = {
    "null": "unknown", "boolean": "bool", "int": "int", "long": "long", "float": "float", "double": "double",
    "bytes": "bytes", "string": "string", "enum": "string", "fixed": "bytes", "decimal": "string",
}  # fmt: skip


class Source:
    """The bytes of a value, read in order."""

    def __init__(self, data):
        self.data = data
        self.offset = 0
        self._empty_count = 0

    def read_bytes(self, nbytes):
        """Return n bytes."""
        left = len(self.data) - self.offset
        if nbytes < 0:
            raise FormatError(f"negative length {nbytes}", self.offset)
        if nbytes > left:
            raise TruncatedError(f"expected {nbytes} bytes, found {left}", len(self.data))
        self.offset += nbytes
        return bytes(self.data[self.offset - nbytes : self.offset])

    def read_long(self, limit=_LONG):
        """Return a number in zigzag form with seven bits in each byte, the lowest first."""
        start, number = self.offset, 0
        for shift in range(0, 70, 7):
            if self.offset == len(self.data):
                raise TruncatedError("a number ends early", self.offset)
            byte = self.data[self.offset]
            self.offset += 1
            number |= (byte & 127) << shift
            if byte < 128:
                number = number >> 1 ^ -(number & 1)
                if -limit <= number < limit:
                    return number
                break
        raise FormatError(f"a number that does not fit in {limit.bit_length()} bits", start)

    def read_blocks(self, item):
        """Yield once for each item of an array or a map."""
        while count := self.read_long():
            if count < 0:
                count = -count
                self.read_long()  # the number of bytes
            left = len(self.data) - self.offset
            if not item.is_empty and count > left:
                raise FormatError(f"a count of {count}, with {left} bytes left", self.offset)
            if item.is_empty:
                self.charge_empty(count)
            yield from range(count)

    def charge_empty(self, count):
        """Raise LimitError if there are too many values without bytes, of which a few bytes can have any number."""
        self._empty_count += count
        if self._empty_count > _MAX_EMPTY:
            raise LimitError(f"more than {_MAX_EMPTY} values without bytes", self.offset)


class _Node:
    """A type: `read(source, depth)` returns an exact value, `write(value, sink)` appends it."""

    kind = ""
    is_empty = False  # whether values have no bytes
    nparts = 1  # of the type of a column, where no record is open

    def column(self, level):
        """Return the type of a column of such values, as text."""
        return _COLUMNS[self.kind]

    def refuse(self, value):
        """Raise EncodeTypeError for a value."""
        raise EncodeTypeError(f"expected a value of Avro's {self.kind}, not {type(value).__name__}")


class _Scalar(_Node):
    def __init__(self, kind, read, write):
        self.kind = kind
        self.is_empty = kind == "null"
        self._read = read
        self._write = write

    def read(self, source, depth):
        return self._read(source)

    def write(self, value, sink):
        data = self._write(value)
        if data is None:
            self.refuse(value)
        sink += data


class Fixed(_Node):
    kind = "fixed"

    def __init__(self, nbytes):
        self._nbytes = int(nbytes)
        self.is_empty = not nbytes

    def read(self, source, depth):
        return source.read_bytes(self._nbytes)

    def write(self, value, sink):
        if type(value) is not bytes or len(value) != self._nbytes:
            self.refuse(value)
        sink += value


class Decimal(_Node):
    """A decimal, whose value is its text."""

    kind = "decimal"

    def __init__(self, nbytes, scale):
        self._nbytes = nbytes  # None: counted
        self._scale = int(scale)
        if not 0 <= self._scale <= 1000:
            raise ValueError(f"a decimal of scale {scale}")

    def read(self, source, depth):
        start = source.offset
        data = source.read_bytes(source.read_long() if self._nbytes is None else self._nbytes)
        if not 0 < len(data) <= 256:
            raise FormatError(f"a decimal of {len(data)} bytes", start)
        number = int.from_bytes(data, "big", signed=True)
        return format_decimal(number, self._scale)

    def write(self, value, sink):
        if type(value) is not str or not _NUMBER.fullmatch(value) or len(value) > 500:
            self.refuse(value)
        whole, _, decimals = value.partition(".")
        if len(decimals) > self._scale:
            raise EncodeValueError(f"{value!r} has more than {self._scale} decimals")
        number = int(whole + decimals.ljust(self._scale, "0"))
        nbytes = self._nbytes or (number + (number < 0)).bit_length() // 8 + 1
        try:
            data = number.to_bytes(nbytes, "big", signed=True)
        except OverflowError:
            raise EncodeValueError(f"{value!r} does not fit in {nbytes} bytes") from None
        sink += data if self._nbytes else _number(nbytes) + data


class Enum(_Node):
    kind = "enum"

    def __init__(self, symbols):
        self._symbols = [str(symbol) for symbol in symbols]

    def read(self, source, depth):
        start, number = source.offset, source.read_long()
        if not 0 <= number < len(self._symbols):
            raise FormatError(f"symbol {number} of an enum of {len(self._symbols)}", start)
        return self._symbols[number]

    def write(self, value, sink):
        if type(value) is not str or value not in self._symbols:
            self.refuse(value)
        sink += _number(self._symbols.index(value))


class _Container(_Node):
    read_parts: Any

    def read(self, source, depth):
        if depth >= MAX_DEPTH:
            raise LimitError(f"values nest deeper than {MAX_DEPTH}", source.offset)
        return self.read_parts(source, depth + 1)


class Array(_Container):
    kind = "array"

    def __init__(self, item):
        self._item = item
        self.nparts = 1 + item.nparts

    def column(self, level):
        return f"list<{self._item.column(level + 1)}>" if level < _MAX_COLUMN_LEVELS else "raw"

    def read_parts(self, source, depth):
        return [self._item.read(source, depth) for _ in source.read_blocks(self._item)]

    def write(self, value, sink):
        if not isinstance(value, (list, tuple)):
            self.refuse(value)
        if value:
            sink += _number(len(value))
        for item in value:
            self._item.write(item, sink)
        sink += b"\0"


class Map(_Container):
    kind = "map"

    def __init__(self, value):
        self._value = value
        self.nparts = 1 + value.nparts

    def column(self, level):
        return f"map<string, {self._value.column(level + 1)}>" if level < _MAX_COLUMN_LEVELS else "raw"

    def read_parts(self, source, depth):
        read_key, node = SCALARS["string"].read, self._value
        return {read_key(source, depth): node.read(source, depth) for _ in source.read_blocks(SCALARS["string"])}

    def write(self, value, sink):
        if type(value) is not dict:
            self.refuse(value)
        if value:
            sink += _number(len(value))
        for key, item in value.items():
            SCALARS["string"].write(key, sink)
            self._value.write(item, sink)
        sink += b"\0"


class Record(_Container):
    kind = "record"

    def __init__(self):
        self.fields: list[tuple[str, Any]] = []
        self._is_open = False  # its column is being described

    def set_fields(self, fields):
        """Set (name, node) of each field."""
        self.fields = fields
        self.is_empty = all(node.is_empty for _, node in fields)
        self.nparts = 1 + sum(node.nparts for _, node in fields)

    def column(self, level):
        if self._is_open or level >= _MAX_COLUMN_LEVELS or self.nparts > _MAX_COLUMN_PARTS or not self.fields:
            return "raw"
        self._is_open = True
        parts = [f"{json.dumps(name)}: {node.column(level + 1)}" for name, node in self.fields]
        self._is_open = False
        return f"struct<{', '.join(parts)}>"

    def read_parts(self, source, depth):
        if self.is_empty:
            source.charge_empty(1 + len(self.fields))
        return {name: node.read(source, depth) for name, node in self.fields}

    def write(self, value, sink):
        if isinstance(value, (list, tuple)) and len(value) == len(self.fields):
            value = {name: item for (name, _), item in zip(self.fields, value)}
        if type(value) is not dict:
            self.refuse(value)
        names = [name for name, _ in self.fields]
        if unknown := [name for name in value if name not in names]:
            raise EncodeValueError(f"a record of Avro without a field {unknown[0]!r:.80}")
        for name, node in self.fields:
            node.write(value.get(name), sink)


class Union(_Container):
    kind = "union"

    def __init__(self, members):
        self._members = members
        self.nparts = 1 + sum(node.nparts for node in members)
        self._kinds = {node.kind for node in members}

    def column(self, level):
        found = [node for node in self._members if node.kind != "null"]
        return found[0].column(level) if len(found) == 1 else "raw"

    def read_parts(self, source, depth):
        start, number = source.offset, source.read_long()
        if not 0 <= number < len(self._members):
            raise FormatError(f"member {number} of a union of {len(self._members)}", start)
        return self._members[number].read(source, depth)

    def write(self, value, sink):
        for number, node in enumerate(self._members):
            part = bytearray()
            if node.kind == "float" and "double" in self._kinds and type(value) is not Float:
                continue
            if node.kind == "record" and "array" in self._kinds and type(value) is list:
                continue
            try:
                node.write(value, part)
            except (EncodeTypeError, EncodeValueError):
                continue
            sink += _number(number) + part
            return
        self.refuse(value)


def _number(value):
    """Return a number in zigzag form."""
    rest, data = (value << 1) ^ (value >> 63), bytearray()
    while rest > 127:
        data.append(rest & 127 | 128)
        rest >>= 7
    data.append(rest)
    return bytes(data)


def _is_number(value, limit):
    return isinstance(value, int) and not isinstance(value, bool) and -limit <= value < limit


def _read_boolean(source):
    data = source.read_bytes(1)
    if data > b"\1":
        raise FormatError(f"a boolean of {data[0]}", source.offset - 1)
    return data == b"\1"


def _read_string(source):
    start, data = source.offset, source.read_bytes(source.read_long())
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"text is not UTF-8: {error.reason}", start) from None


def _write_string(value):
    if type(value) is str:
        data = value.encode()
        return _number(len(data)) + data
    return None


def _write_float(value):
    if not isinstance(value, float):
        return None
    try:
        return struct.pack("<f", value)
    except OverflowError:
        raise EncodeValueError(f"{value!r} does not fit in a float") from None


SCALARS = {
    node.kind: node
    for node in (
        _Scalar("null", lambda source: None, lambda value: b"" if value is None or value == _NULL else None),
        _Scalar("boolean", _read_boolean, lambda value: bytes([value]) if type(value) is bool else None),
        _Scalar(
            "int",
            lambda source: source.read_long(_INT),
            lambda value: _number(value) if _is_number(value, _INT) and type(value) is not Long else None,
        ),
        _Scalar(
            "long",
            lambda source: Long(source.read_long()),
            lambda value: _number(value) if _is_number(value, _LONG) else None,
        ),
        _Scalar("float", lambda source: Float(struct.unpack("<f", source.read_bytes(4))[0]), _write_float),
        _Scalar(
            "double",
            lambda source: struct.unpack("<d", source.read_bytes(8))[0],
            lambda value: struct.pack("<d", value) if isinstance(value, float) else None,
        ),
        _Scalar(
            "bytes",
            lambda source: source.read_bytes(source.read_long()),
            lambda value: _number(len(value)) + value if type(value) is bytes else None,
        ),
        _Scalar("string", _read_string, _write_string),
    )
}  # fmt: skip
