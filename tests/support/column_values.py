"""What columns hold, as the values that an exact decoder gives for the same bytes.

Here: the way from a batch's memory to objects, by the type of each column, slow and obvious; a struct as the
pairs of its fields that are not null. Not here: how columns were filled. Invariant: only the bytes of `buffers`
are looked at, by struct.
"""

import struct

import typedbytes as tb
from support import reference
from typedbytes.columns import type_strings

EXACT = {"exact": True, "pickle": "raw", "map_pairs": True}

POLICIES = ("error", "widen", "split")  # what a reader does at a record of another type

NULL_WRITABLE = tb.Writable("org.apache.hadoop.io.NullWritable", b"")

_NUMBERS = {1: "b", 2: "?", 3: "i", 4: "q", 5: "I", 6: "d", 11: "h"}


class Unreadable:
    """Encoded bytes whose structure is valid, but which no decoder accepts."""


def rows_of(batch, dialect="hadoop"):
    """Return the rows of a batch as tuples of values."""
    columns = [
        values_of(batch.buffers(number), parsed(text), len(batch), dialect)
        for number, text in enumerate(batch.schema.values())
    ]
    return list(zip(*columns)) if columns else [()] * len(batch)


def parsed(text):
    """Return the description of a type, and see that its text is the only one."""
    described = type_strings.parse(text)
    assert type_strings.format_type(described) == text
    return described


def values_of(held, described, nvalues, dialect):
    """Return the values of a column from its buffers; nulls as the decoder gives what they were read from."""
    null = decoded_null(dialect)
    if described == ("unknown",):
        return [null] * nvalues
    values = values_with_nulls(held, described, nvalues, dialect)
    valid = bytes(held["valid"]) if "valid" in held else b"\xff" * nvalues
    return [value if valid[n >> 3] >> (n & 7) & 1 else null for n, value in enumerate(values)]


def decoded_null(dialect):
    """Return what a decoder gives for the bytes that are read as a null."""
    return decoded(b"\x0c" if dialect == "hive" else tb.dumps(None), dialect)


def as_struct(value, dialect="hadoop"):
    """Return a value, with the pairs of MAPs that may be structs in order of their keys, and without nulls.

    A NullWritable is a null.
    """
    if value == NULL_WRITABLE:
        return decoded_null(dialect)
    if type(value) not in (list, tuple):
        return value
    items = [as_struct(item, dialect) for item in value]
    if type(value) is tuple:
        return tuple(items)
    if not items or not all(type(item) is tuple and len(item) == 2 and type(item[0]) is str for item in items):
        return items
    if len({key for key, _ in items}) < len(items):
        return items
    return sorted(((key, item) for key, item in items if item != decoded_null(dialect)), key=lambda pair: pair[0])


def values_with_nulls(held, described, nvalues, dialect):
    """Return the values of a column, and anything where there is a null."""
    kind = described[0]
    if kind == "fixed":
        return numbers(held["data"], described[1], nvalues)
    if kind == "array":
        items = numbers(held["data"], described[1], nvalues * described[2])
        return [tuple(items[n * described[2] : (n + 1) * described[2]]) for n in range(nvalues)]
    if kind in ("variable", "raw"):
        # A field that its MAP lacks has no bytes; an encoded value has some.
        return [
            payload(piece, described, dialect) if piece or kind == "variable" else None
            for piece in pieces(held, nvalues)
        ]
    parts = type_strings.parts(described)
    if kind == "struct":
        return [
            [(name, value) for name, value in zip(parts, row) if value != decoded_null(dialect)]
            for row in zip(*(values_of(held[name], part, nvalues, dialect) for name, part in parts.items()))
        ]
    if kind == "tuple":
        columns = [values_of(held[name], part, nvalues, dialect) for name, part in parts.items()]
        return list(zip(*columns)) if columns else [()] * nvalues
    ends = offsets(held, nvalues)
    columns = [values_of(held[name], part, ends[-1], dialect) for name, part in parts.items()]
    items = columns[0] if kind == "list" else list(zip(*columns))
    make = tuple if kind == "list" and described[1] == 8 else list
    return [make(items[start:end]) for start, end in zip(ends, ends[1:])]


def numbers(data, code, n):
    """Return scalars as an exact decoder gives them."""
    found = struct.unpack(f"={n}{_NUMBERS[code]}", data.cast("B") if n else b"")
    if code == 1:
        return [tb.Byte(number) for number in found]
    if code == 4:
        return [tb.Long(number) if -(2**31) <= number < 2**31 else number for number in found]
    if code == 5:
        return [tb.Float(reference.widen(bits)) for bits in found]
    if code == 11:
        return [tb.Ext(11, struct.pack(">h", number)) for number in found]
    return list(found)


def offsets(held, nvalues):
    """Return the offsets of values, which rise from 0."""
    ends = held["offsets"].tolist()
    assert len(ends) == nvalues + 1 and ends[0] == 0 and ends == sorted(ends)
    return ends


def pieces(held, nvalues):
    """Return the bytes of each value."""
    ends, data = offsets(held, nvalues), bytes(held["data"])
    assert ends[-1] == len(data)
    return [data[start:end] for start, end in zip(ends, ends[1:])]


def payload(piece, described, dialect):
    """Return the value of a payload, or of encoded bytes."""
    if described == ("raw",):
        return decoded(piece, dialect)
    code = described[1]
    if code == 7:
        return piece.decode("utf-8")
    if code == 0:
        return piece
    return decoded(bytes([code]) + struct.pack(">i", len(piece)) + piece, dialect)


def decoded(encoded, dialect):
    """Return an encoded value; its structure is right."""
    try:
        return tb.loads(encoded, dialect=dialect, **EXACT)
    except tb.DecodeError:
        assert tb.skip(encoded, dialect=dialect) == len(encoded)
        return Unreadable
