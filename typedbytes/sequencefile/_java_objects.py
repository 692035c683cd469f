"""Objects as Java serializes them: strings, boxed numbers, enums by name, and arrays of these.

Here: the stream of java.io.ObjectOutputStream, with its header or, as Hadoop's JavaSerialization writes it, without.
Not here: objects of other classes, which are refused. Invariant: no class is looked for; counts are compared with the
bytes that are left, depth is bounded, and an array that is repeated by reference is refused, so that the result is in
proportion to the bytes.
"""

from __future__ import annotations

import struct

from typedbytes._types import Byte, Float, Long
from typedbytes.errors import FormatError, LimitError, TruncatedError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["read_object"]

_NULL, _REFERENCE, _CLASS_DESCRIPTION, _OBJECT, _STRING, _ARRAY = range(0x70, 0x76)
_RESET, _LONG_STRING, _PROXY_DESCRIPTION, _ENUM = 0x79, 0x7C, 0x7D, 0x7E
_END_OF_BLOCK = 0x78
_FIRST_HANDLE = 0x7E0000
_HEADER = b"\xac\xed\0\5"
_MAX_DEPTH = 50
_PRIMITIVES = {"B": ">b", "C": ">H", "D": ">d", "F": ">f", "I": ">i", "J": ">q", "S": ">h", "Z": ">?"}
_BOXES = {
    "java.lang.Byte": "B", "java.lang.Character": "C", "java.lang.Double": "D", "java.lang.Float": "F",
    "java.lang.Integer": "I", "java.lang.Long": "J", "java.lang.Short": "S", "java.lang.Boolean": "Z",
}  # fmt: skip
_EXACT: dict[str, Callable[[Any], Any]] = {"B": Byte, "J": Long, "F": Float, "C": chr}


def read_object(data):
    """Return the object at the start of the data, and the number of bytes that it takes."""
    stream = _Stream(data)
    if data[:4] == _HEADER:
        stream.offset = 4
    while data[stream.offset : stream.offset + 1] == bytes([_RESET]):
        stream.offset += 1
    return stream.read_content(0), stream.offset


class _Description:
    """A class: its name and fields, and the class that it extends."""

    def __init__(self, name):
        self.name = name
        self.fields = []  # (type code, name)
        self.base = None


class _Stream:
    def __init__(self, data):
        self._data = data
        self.offset = 0
        self._handles = []  # what has been read, by the order in which it began

    def _error(self, message, offset=None):
        return FormatError(f"Java serialization: {message}", self.offset if offset is None else offset)

    def _bytes(self, nbytes):
        if nbytes > len(self._data) - self.offset:
            raise TruncatedError("a serialized Java object ends early", len(self._data))
        self.offset += nbytes
        return bytes(self._data[self.offset - nbytes : self.offset])

    def _number(self, layout):
        return struct.unpack(layout, self._bytes(struct.calcsize(layout)))[0]

    def _text(self, nbytes):
        start = self.offset
        data = self._bytes(nbytes).replace(b"\xc0\x80", b"\0")
        try:
            return data.decode("utf-8", "surrogatepass").encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeDecodeError as error:
            raise self._error(f"text is not modified UTF-8: {error.reason}", start) from None

    def read_content(self, depth):
        if depth > _MAX_DEPTH:
            raise LimitError(f"serialized Java objects nest deeper than {_MAX_DEPTH}", self.offset)
        start, tag = self.offset, self._number("B")
        if tag == _NULL:
            return None
        if tag in (_STRING, _LONG_STRING):
            text = self._text(self._number(">H" if tag == _STRING else ">Q"))
            self._handles.append(text)
            return text
        if tag == _REFERENCE:
            value = self._referenced(start)
            if isinstance(value, (_Description, list)):
                raise self._error("a repeated array is not read", start)
            return value
        if tag == _ARRAY:
            return self._array(depth)
        if tag == _OBJECT:
            return self._object(depth, start)
        if tag == _ENUM:
            self._description(depth)
            self._handles.append(None)
            index = len(self._handles) - 1
            name = self.read_content(depth + 1)
            self._handles[index] = name
            return name
        raise self._error(f"tag {tag:#x} is not that of a string, a number or an array", start)

    def _referenced(self, start):
        index = self._number(">i") - _FIRST_HANDLE
        if not 0 <= index < len(self._handles):
            raise self._error("a reference to nothing", start)
        return self._handles[index]

    def _description(self, depth):
        if depth > _MAX_DEPTH:
            raise LimitError(f"serialized Java classes extend more than {_MAX_DEPTH}", self.offset)
        start, tag = self.offset, self._number("B")
        if tag == _NULL:
            return None
        if tag == _REFERENCE:
            described = self._referenced(start)
            if not isinstance(described, _Description):
                raise self._error("a reference to no class", start)
            return described
        if tag != _CLASS_DESCRIPTION:
            raise self._error(f"expected a class, found tag {tag:#x}", start)
        described = _Description(self._text(self._number(">H")))
        self._bytes(8)  # serialVersionUID
        self._handles.append(described)
        self._bytes(1)  # flags
        for _ in range(self._number(">H")):
            code = chr(self._number("B"))
            name = self._text(self._number(">H"))
            if code in "[L":
                self.read_content(depth + 1)  # the name of its class
            elif code not in _PRIMITIVES:
                raise self._error(f"field of unknown type {code!r}", start)
            described.fields.append((code, name))
        if self._number("B") != _END_OF_BLOCK:
            raise self._error(f"class {described.name!r:.80} has annotations", start)
        described.base = self._description(depth + 1)
        return described

    def _array(self, depth):
        start = self.offset
        kind = self._description(depth)
        name = kind.name if kind is not None else ""
        index = len(self._handles)
        self._handles.append(None)
        count, code = self._number(">i"), name[1:2]
        nbytes = struct.calcsize(_PRIMITIVES.get(code, "B"))
        if count < 0 or count > (len(self._data) - self.offset) // nbytes:
            raise self._error(f"count {count} with {len(self._data) - self.offset} bytes left", self.offset - 4)
        value: Any
        if name == "[B":
            value = self._bytes(count)
        elif name[:1] == "[" and code in _PRIMITIVES:
            numbers = struct.unpack(f">{count}{_PRIMITIVES[code][1]}", self._bytes(count * nbytes))
            value = [_EXACT.get(code, lambda number: number)(number) for number in numbers]
        elif name[:2] in ("[L", "[["):
            value = [self.read_content(depth + 1) for _ in range(count)]
        else:
            raise self._error(f"array of unknown class {name!r:.80}", start)
        self._handles[index] = value if type(value) is bytes else []
        return value

    def _object(self, depth, start):
        kind = self._description(depth)
        name = kind.name if kind is not None else ""
        index = len(self._handles)
        self._handles.append(None)
        if name not in _BOXES:
            raise self._error(f"class {name!r:.80} is not one of strings, numbers and arrays", start)
        code = _BOXES[name]
        bases = []
        while kind is not None:
            bases.append(kind)
            kind = kind.base
        if [field for each in bases for field in each.fields] != [(code, "value")] or len(bases) > 2:
            raise self._error(f"class {name!r:.80} has other fields than Java's own", start)
        value = self._number(_PRIMITIVES[code])
        value = _EXACT[code](value) if code in _EXACT else value
        self._handles[index] = value
        return value
