"""The published algorithms, written again from their descriptions: baselines of the race of block messages.

Here: the six wires with one send for each part, as the experiments with Py4J's successors had them, and the best of
them with all parts joined. Not here: typedbytes' encoders. Invariant: the parts of a message, joined, are the message.
"""

import base64
import struct

from typedbytes.block import Command

BYTES, STRING, COMMAND, INT, LONG, DOUBLE = range(6)


def i32(number):
    """Return a number in four bytes."""
    return struct.pack("!i", number)


def type_of(value):
    """Return the type of an argument."""
    if isinstance(value, str):
        return COMMAND if isinstance(value, Command) else STRING
    if isinstance(value, bytes):
        return BYTES
    if isinstance(value, float):
        return DOUBLE
    return INT if -(2**31) <= value < 2**31 else LONG


def binary(kind, value):
    """Return a value's bytes, numbers in their width."""
    if kind in (STRING, COMMAND):
        return value.encode("utf-8")
    return value if kind == BYTES else struct.pack({INT: "!i", LONG: "!q", DOUBLE: "!d"}[kind], value)


def text(kind, value):
    """Return a value's bytes, numbers as text."""
    return binary(kind, value) if kind <= COMMAND else repr(value).encode("ascii")


def line_parts(args):
    """Give a type and a value a line each, the end as a line too."""
    for value in args:
        kind = type_of(value)
        yield b"%d\n" % kind
        if kind == BYTES:
            yield base64.b64encode(value) + b"\n"
        elif kind == STRING:
            yield text(kind, value).replace(b"\\", b"\\\\").replace(b"\r", b"\\r").replace(b"\n", b"\\n") + b"\n"
        else:
            yield text(kind, value) + b"\n"
    yield b"e\n"


def block_parts(args):
    """Give each argument a type, a length and its text."""
    yield i32(len(args))
    for value in args:
        kind = type_of(value)
        data = text(kind, value)
        yield from (i32(kind), i32(len(data)), data)


def bytes_parts(args, type_bytes=i32):
    """Give each argument a type and its bytes, with a length where it has none by itself."""
    yield i32(len(args))
    for value in args:
        kind = type_of(value)
        data = binary(kind, value)
        yield type_bytes(kind)
        if kind <= COMMAND:
            yield i32(len(data))
        yield data


def type8_parts(args):
    """As `bytes`, a type in one byte."""
    return bytes_parts(args, lambda kind: bytes([kind]))


def total_parts(args):
    """As `bytes`, after the number of all bytes: the values have to be made first."""
    parts = list(bytes_parts(args))
    yield i32(sum(map(len, parts)))
    yield from parts


def header_parts(args):
    """Give the types and lengths of all arguments in one part, then their bytes in another."""
    kinds = [type_of(value) for value in args]
    values = [binary(kind, value) for kind, value in zip(kinds, args)]
    yield i32(len(args))
    yield b"".join(i32(kind) + i32(len(data)) for kind, data in zip(kinds, values))
    yield b"".join(values)


PARTS = {
    "line": line_parts, "block": block_parts, "bytes": bytes_parts, "type8": type8_parts, "total": total_parts,
    "header": header_parts,
}  # fmt: skip


def send_parts(sock, wire, args):
    """Send each part by itself, with Nagle's algorithm off."""
    for part in PARTS[wire](args):
        sock.sendall(part)


def send_joined(sock, args):
    """Join all parts of the wire `bytes` and send them at once: the best of the published variants."""
    sock.sendall(b"".join(bytes_parts(args)))
