"""Block messages, slow and obvious: the other implementation, which tests compare the compiled one with.

Here: encode and decode of whole messages on both wires, written from docs/block-format.md by struct and slices, and the
published lists of arguments. Not here: buffers, descriptors, speed. Invariant: bytes are walked once from left to
right, and the first thing that is wrong is the error.
"""

import base64
import re
import struct

import numpy

from support import reference
from typedbytes._types import Byte, Float, Long
from typedbytes.block import ArrowStream, Command
from typedbytes.errors import BlockError, DecodeError, LimitError, TruncatedError

LAYOUTS = ("line", "block", "bytes", "type8", "total", "header")
WIRES = (*LAYOUTS, "native")
BYTES, STRING, COMMAND, INT, LONG, DOUBLE = range(6)
ELEMENTS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "?")
INLINE = {1: Byte, 2: bool, 3: int, 4: Long, 5: Float, 6: float, 0x22: None}

A, REF, HELLO, TEXT = Command("a"), "r15", "hello", ("very long string \n " + "\u00e9" * 13) * 1000
SMALL, WIDE, THIRD = -789456123, 361231231231231231, 1 / 3


def published(size, raw=None):
    """Return the arguments of a published size, 0 to 10; raw: larger ones' bytes instead of those of their size."""
    if raw is None:
        raw = bytes(range(64)) if size == 8 else bytes({9: 64, 10: 256}.get(size, 0) << 20)
    return [
        [], [A], [A, REF], [A, A, REF], [A, HELLO, SMALL, HELLO], [A, A, HELLO, THIRD, THIRD],
        [A, A, HELLO, HELLO, WIDE, WIDE], [A, A, TEXT, *[HELLO] * 4], [A, raw, *[HELLO] * 6], [A, raw, *[HELLO] * 7],
        [A, raw, *[HELLO] * 8],
    ][size]  # fmt: skip


# -- encode -----------------------------------------------------------------------------------------------


def legacy_value(value):
    """Return a value as (type, its bytes on the binary layouts, its text on the others)."""
    if isinstance(value, str):
        return COMMAND if isinstance(value, Command) else STRING, value.encode(), value.encode()
    if isinstance(value, int):
        kind = INT if -(2**31) <= value < 2**31 and not isinstance(value, Long) else LONG
        return kind, struct.pack(">i" if kind == INT else ">q", value), b"%d" % value
    if isinstance(value, float):
        return DOUBLE, struct.pack(">d", value), repr(float(value)).encode()
    return BYTES, bytes(value), bytes(value)


def encode(wire, args, id=0, reply=False, checksum=False):
    """Return a message as bytes."""
    if wire == "native":
        return encode_native(args, id, reply, checksum)
    values = [legacy_value(value) for value in args]
    if wire == "line":
        return b"".join(b"%d\n%s\n" % (kind, line_text(kind, text)) for kind, _, text in values) + b"e\n"
    count = struct.pack(">i", len(values))
    if wire == "block":
        return count + b"".join(struct.pack(">ii", kind, len(text)) + text for kind, _, text in values)
    if wire == "header":
        table = b"".join(struct.pack(">ii", kind, len(data)) for kind, data, _ in values)
        return count + table + b"".join(data for _, data, _ in values)
    parts = []
    for kind, data, _ in values:
        parts.append(bytes([kind]) if wire == "type8" else struct.pack(">i", kind))
        parts.append((struct.pack(">i", len(data)) if kind <= COMMAND else b"") + data)
    message = count + b"".join(parts)
    return struct.pack(">i", len(message)) + message if wire == "total" else message


def line_text(kind, text):
    """Return the second line of an argument."""
    if kind == BYTES:
        return base64.b64encode(text)
    return text.replace(b"\\", b"\\\\").replace(b"\r", b"\\r").replace(b"\n", b"\\n") if kind == STRING else text


def encode_native(args, id, reply, checksum):
    """Return a native message."""
    table, body = [], b""
    for value in args:
        code, element, ndim, inline, data = native_value(value)
        if data is not None:
            body += bytes(-len(body) % 8) + data
            inline = struct.pack(">Q", len(data))
        table.append(struct.pack(">BBBBI", code, element, ndim, 0, 0) + inline)
    flags = 1 | 2 * checksum | 4 * reply
    message = struct.pack(">IBBHIIQ", 0xF5424201, flags, 3, 0, len(args), id, len(body)) + b"".join(table) + body
    return message + struct.pack(">I", crc32c(message)) if checksum else message


def native_value(value):
    """Return (type, element type, dimensions, the bytes of the entry, the bytes of the body)."""
    if value is None:
        return 0x22, 0, 0, bytes(8), None
    if isinstance(value, bool):
        return 2, 0, 0, struct.pack(">q", value), None
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        wide = isinstance(value, Long) or not -(2**31) <= value < 2**31
        return 1 if isinstance(value, Byte) else 4 if wide else 3, 0, 0, struct.pack(">q", value), None
    if isinstance(value, float):
        return 5 if isinstance(value, Float) else 6, 0, 0, struct.pack(">d", value), None
    if isinstance(value, str):
        return 0x23 if isinstance(value, Command) else 7, 0, 0, None, value.encode()
    if isinstance(value, bytes):
        return 0, 0, 0, None, value
    if isinstance(value, ArrowStream):
        return 0x21, 0, 0, None, bytes(value.data)
    if isinstance(value, numpy.ndarray):
        element = ELEMENTS.index("?" if value.dtype.kind == "b" else f"{value.dtype.kind}{value.itemsize}")
        return (
            0x20,
            element,
            value.ndim,
            None,
            struct.pack(f">{value.ndim}Q", *value.shape) + value.astype(value.dtype.newbyteorder("<")).tobytes(),
        )
    data = reference.dumps(value)
    return data[0], 0, 0, None, data


def crc_of_byte(byte):
    """Return what one byte makes of an empty sum, bit by bit."""
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    return byte


CRC_OF_BYTES = [crc_of_byte(byte) for byte in range(256)]


def crc32c(data):
    """Return the checksum, byte by byte."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_OF_BYTES[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


# -- decode -----------------------------------------------------------------------------------------------


def decode(wire, data, max_bytes=None, **nested):
    """Return the (id, values) of all messages and the error after them: None, or (class, offset, entry, record).

    nested: options of `reference.Walk` for values that are encoded in a native message.
    """
    walk, messages = Walk(data, max_bytes, nested), []
    try:
        while walk.offset < len(data):
            walk.start = walk.offset
            walk.entry = None
            messages.append(walk.message(wire))
            walk.record += 1
    except DecodeError as error:
        return messages, (type(error), error.offset, walk.entry, walk.record)
    return messages, None


class Walk:
    """One pass over messages."""

    def __init__(self, data, max_bytes, options):
        self.data, self.max_bytes, self.options = bytes(data), max_bytes, options
        self.offset = self.start = self.record = 0
        self.entry = None
        self.end = None  # of the frame

    def take(self, nbytes):
        """Return the next bytes and advance past them."""
        self.want(nbytes)
        self.offset += nbytes
        return self.data[self.offset - nbytes : self.offset]

    def want(self, nbytes):
        """Raise when `nbytes` bytes are not there, or must not be."""
        if self.end is not None and self.offset + nbytes > self.end:
            raise BlockError("beyond the frame", self.offset)
        if self.max_bytes and self.offset + nbytes - self.start > self.max_bytes:
            raise LimitError("too long", self.start)
        if self.offset + nbytes > len(self.data):
            raise TruncatedError("ends", len(self.data))

    def look(self, format):
        """Return a number without advancing."""
        nbytes = struct.calcsize(format)
        self.want(nbytes)
        return struct.unpack_from(format, self.data, self.offset)[0]

    def message(self, wire):
        """Return the next message."""
        self.end = None
        if self.look(">B") == 0xF5:
            return self.native()
        if wire == "native":
            raise BlockError("not native", self.offset)
        if wire == "line":
            return None, self.lines()
        if wire == "total":
            nbytes = self.look(">i")
            if nbytes < 4:
                raise BlockError("too short", self.offset)
            self.offset += 4
            self.end = self.offset + nbytes
        count = self.look(">i")
        if count < 0:
            raise BlockError("negative", self.offset)
        self.offset += 4
        if wire == "header":
            return None, self.with_table(count)
        values = []
        for self.entry in range(count):
            values.append(self.argument(wire))
        self.entry = count
        if self.end is not None and self.offset < self.end:
            raise BlockError("left over", self.offset)
        return None, values

    def argument(self, wire):
        """Return the next argument of a layout without a table."""
        ntype = 1 if wire == "type8" else 4
        kind = self.look(">B" if ntype == 1 else ">i")
        if not 0 <= kind <= DOUBLE:
            raise BlockError("type", self.offset)
        if kind > COMMAND and wire != "block":
            self.want(ntype + (4 if kind == INT else 8))
            self.offset += ntype
            return self.number(kind)
        self.want(ntype + 4)
        nbytes = struct.unpack_from(">i", self.data, self.offset + ntype)[0]
        if nbytes < 0:
            raise BlockError("negative", self.offset + ntype)
        self.want_rest(ntype + 4, nbytes)
        self.offset += ntype + 4
        return self.value(kind, self.take(nbytes))

    def number(self, kind):
        """Return the next number in binary."""
        return struct.unpack({INT: ">i", LONG: ">q", DOUBLE: ">d"}[kind], self.take(4 if kind == INT else 8))[0]

    def want_rest(self, nhead, nbytes):
        """Ask for a head and its body: a large body is asked for alone."""
        if nbytes < 65536:
            self.want(nhead + nbytes)
        else:
            self.offset += nhead
            try:
                self.want(nbytes)
            finally:
                self.offset -= nhead

    def value(self, kind, data, offset=None):
        """Return the value of bytes, or of the text of a number."""
        offset = self.offset - len(data) if offset is None else offset
        if kind == BYTES:
            return data
        if kind <= COMMAND:
            try:
                text = data.decode()
            except UnicodeDecodeError as error:
                raise BlockError("not UTF-8", offset + error.start) from None
            return Command(text) if kind == COMMAND else text
        if kind == DOUBLE:
            if re.fullmatch(rb"(?i)[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|nan|inf|infinity)", data):
                return float(data)
        elif re.fullmatch(rb"-?[0-9]{1,20}", data) and int(data) in (
            reference.INT_RANGE if kind == INT else reference.LONG_RANGE
        ):
            return int(data)
        raise BlockError("no number", offset)

    def with_table(self, count):
        """Return the values of the header layout."""
        table = []
        for self.entry in range(count):
            self.want(8)
            kind, nbytes = struct.unpack_from(">ii", self.data, self.offset)
            if not 0 <= kind <= DOUBLE:
                raise BlockError("type", self.offset)
            if nbytes < 0 or kind > COMMAND and nbytes != (4 if kind == INT else 8):
                raise BlockError("length", self.offset + 4)
            self.offset += 8
            table.append((kind, nbytes))
        values = []
        for self.entry, (kind, nbytes) in enumerate(table):
            values.append(self.number(kind) if kind > COMMAND else self.value(kind, self.take(nbytes)))
        return values

    def lines(self):
        """Return the values of a message of lines."""
        values = []
        while True:
            self.entry = len(values)
            self.want(2)
            head = self.data[self.offset : self.offset + 2]
            if head == b"e\n":
                self.offset += 2
                return values
            if head[1:] != b"\n" or head[:1] not in b"012345":
                raise BlockError("type", self.offset)
            found = self.data.find(b"\n", self.offset + 2)
            self.want((len(self.data) + 1 if found < 0 else found + 1) - self.offset)
            text = self.data[self.offset + 2 : found]
            values.append(self.line_value(int(head[:1]), text))
            self.offset = found + 1

    def line_value(self, kind, text):
        """Return the value of a line."""
        start = self.offset + 2
        if kind == BYTES:
            try:
                data = base64.b64decode(text, validate=True)
            except ValueError:
                data = None
            if data is None or base64.b64encode(data) != text:
                raise BlockError("base64", start)
            return data
        if kind > COMMAND:
            return self.value(kind, text, start)
        if kind == COMMAND and b"\r" in text:
            raise BlockError("line end", start)
        plain, rest = (b"", text) if kind == STRING else (text, b"")
        while rest:
            if rest[:1] == b"\r" or rest[:1] == b"\\" and rest[1:2] not in (b"\\", b"r", b"n"):
                raise BlockError("escape", start)
            nbytes = 2 if rest[:1] == b"\\" else 1
            plain += {b"\\\\": b"\\", b"\\r": b"\r", b"\\n": b"\n"}.get(rest[:nbytes], rest[:nbytes])
            rest = rest[nbytes:]
        try:
            return self.value(kind, plain, start)
        except BlockError:
            raise BlockError("not UTF-8", start) from None

    # the native format

    def native(self):
        """Return the id and the values of a native message."""
        start = self.offset
        self.want(4)
        if self.data[start : start + 3] != b"\xf5BB":
            raise BlockError("magic", start)
        if self.data[start + 3] != 1:
            raise BlockError("version", start + 3)
        self.want(24)
        _, flags, log2, reserved, count, id, nbody = struct.unpack_from(">IBBHIIQ", self.data, start)
        for wrong, at in ((flags & ~7, 4), (log2 not in (0, 3, 6), 5), (reserved, 6), (nbody >= 2**63, 16)):
            if wrong:
                raise BlockError("head", start + at)
        self.offset += 24
        table, end = [], 0
        for self.entry in range(count):
            self.want(16)
            code, element, ndim, more, reserved, number = struct.unpack_from(">BBBBIq", self.data, self.offset)
            at = self.wrong_entry(code, element, ndim, more or reserved, number)
            if at is None and code not in INLINE:
                end += -end % (1 << log2)
                at = 8 if not 0 <= number <= nbody - end else None
                end += number
            if at is not None:
                raise BlockError("entry", self.offset + at)
            self.offset += 16
            table.append((code, element, ndim, number))
        if end != nbody:
            self.entry = None
            raise BlockError("body", self.offset)
        values, body = [], self.offset
        for self.entry, entry in enumerate(table):
            values.append(self.native_body(entry, body, 1 << log2, flags))
        self.entry = None
        if flags & 2:
            right = crc32c(self.data[start : self.offset])
            if self.look(">I") != right:
                raise BlockError("checksum", self.offset)
            self.offset += 4
        return id, values

    def wrong_entry(self, code, element, ndim, reserved, number):
        """Return where in an entry something is wrong, None for nowhere."""
        if not (code in INLINE or code in (0, 7, 8, 9, 10, 0x20, 0x21, 0x23) or 50 <= code <= 200):
            return 0
        if code == 0x20 and (element > 10 or ndim > 64):
            return 1 if element > 10 else 2
        if code != 0x20 and (element or ndim):
            return 1
        if reserved:
            return 3
        limits = {1: range(-128, 128), 2: range(2), 3: reference.INT_RANGE, 0x22: range(1)}
        return 8 if code in limits and number not in limits[code] else None

    def native_body(self, entry, body, alignment, flags):
        """Return the value of an entry."""
        code, element, ndim, number = entry
        if code in INLINE:
            if code in (5, 6):
                return struct.unpack(">d", struct.pack(">q", number))[0]
            return None if code == 0x22 else bool(number) if code == 2 else number
        npad = -(self.offset - body) % alignment
        self.want(npad)
        for at in range(npad):
            if self.data[self.offset + at]:
                raise BlockError("padding", self.offset + at)
        self.offset += npad
        start, data = self.offset, self.take(number)
        if code in (0, 7, 0x23):
            return self.value({0: BYTES, 7: STRING, 0x23: COMMAND}[code], data)
        if code == 0x21:
            return ArrowStream(data)
        if code == 0x20:
            return array(data, element, ndim, flags, start)
        if data[:1] != bytes([code]):
            raise BlockError("nested", start)
        try:
            value, end = self.nested(data)
        except LimitError as error:
            raise LimitError("nested", start + error.offset) from None
        except DecodeError as error:
            raise BlockError("nested", start + error.offset) from None
        if end != len(data):
            raise BlockError("trailing", start + end)
        return value

    def nested(self, data):
        """Return a TypedBytes value and where it ends."""
        slow = reference.Walk(data, **self.options)
        return slow.value(), slow.offset


def array(data, element, ndim, flags, start):
    """Return an array."""
    if len(data) < 8 * ndim:
        raise BlockError("shape", start)
    shape = struct.unpack_from(f">{ndim}q", data)
    kind = numpy.dtype(ELEMENTS[element]).newbyteorder("<" if flags & 1 else ">")
    size = most = kind.itemsize
    for dimension in shape:
        size *= dimension
        most *= dimension or 1
    if min(shape, default=0) < 0 or most >= 2**63 or size != len(data) - 8 * ndim:
        raise BlockError("shape", start)
    return (
        numpy.frombuffer(data, kind, offset=8 * ndim).reshape(shape) if ndim <= 32 and size else ("array", shape, kind)
    )
