"""HBase's cells in SequenceFiles: KeyValue, and the protobuf messages of Result, Put and Delete.

Not here: protobuf beyond the fields of these messages, all of which are numbers or bytes. Invariant: lengths are
compared with the bytes that are left; fields of other numbers are skipped.
"""

from __future__ import annotations

from typedbytes._types import Long
from typedbytes.errors import FormatError, TruncatedError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["read_key_value", "read_mutation", "read_result"]

KEY_VALUE_COLUMN = "struct<row: bytes, family: bytes, qualifier: bytes, timestamp: long, type: string, value: bytes>"
RESULT_COLUMN = f"list<{KEY_VALUE_COLUMN}>"
MUTATION_COLUMN = f"struct<row: bytes, type: string, cells: list<{KEY_VALUE_COLUMN}>>"

_TYPES = {
    0: "MINIMUM", 4: "PUT", 8: "DELETE", 10: "DELETE_FAMILY_VERSION", 12: "DELETE_COLUMN", 14: "DELETE_FAMILY",
    255: "MAXIMUM",
}  # fmt: skip
_MUTATIONS = {0: "APPEND", 1: "INCREMENT", 2: "PUT", 3: "DELETE"}
_DELETIONS = {0: "DELETE", 1: "DELETE_COLUMN", 2: "DELETE_FAMILY", 3: "DELETE_FAMILY_VERSION"}
_LATEST = 2**63 - 1  # where no timestamp is given


def _cell(row, family, qualifier, timestamp, kind, value):
    return {
        "row": row,
        "family": family,
        "qualifier": qualifier,
        "timestamp": Long(timestamp),
        "type": kind,
        "value": value,
    }


def read_key_value(body):
    """Read a KeyValue as KeyValueUtil.write writes it: its length, those of key and value, key, value, tags."""
    start, nbytes = body.offset, body.read_number(">i")
    if not 0 <= nbytes <= len(body.data) - body.offset:
        raise FormatError(f"a KeyValue of {nbytes} bytes with {len(body.data) - body.offset} left", start)
    end = body.offset + nbytes
    nkey, nvalue = body.read_number(">i"), body.read_number(">i")
    if nkey < 0 or nvalue < 0 or nkey + nvalue > end - body.offset:
        raise FormatError(f"a key of {nkey} and a value of {nvalue} bytes in a KeyValue of {nbytes}", start)
    end_of_key = body.offset + nkey
    row = body.read_bytes(body.read_number(">h"))
    family = body.read_bytes(body.read_number(">B"))
    if end_of_key - body.offset < 9:
        raise FormatError(f"a key of {nkey} bytes is too short for its row and family", start)
    qualifier = body.read_bytes(end_of_key - body.offset - 9)
    timestamp, kind = body.read_number(">q"), body.read_number(">B")
    value = body.read_bytes(nvalue)
    body.read_bytes(end - body.offset)  # tags
    return _cell(row, family, qualifier, timestamp, _named(_TYPES, kind), value)


def _named(names, number):
    return names.get(number, str(number))


def read_result(body):
    """Read a Result: its cells."""
    return [_read_cell(body, *_part(body, value)) for number, value in _fields(body, *_extent(body)) if number == 1]


def read_mutation(body):
    """Read a Put or Delete: its row, its type and its cells."""
    start, end = _extent(body)
    row, kind, timestamp, families = b"", 2, _LATEST, []
    for number, value in _fields(body, start, end):
        if number == 1:
            row = _bytes(body, value)
        elif number == 2:
            kind = _number(body, value)
        elif number == 3:
            families.append(value)
        elif number == 4:
            timestamp = _number(body, value)
    cells: list = []
    for each in families:
        family = b""
        for number, value in _fields(body, *_part(body, each)):
            if number == 1:
                family = _bytes(body, value)
            elif number == 2:
                cells.append(_read_qualifier(body, value, row, family, timestamp, kind))
    body.offset = end
    return {"row": row, "type": _named(_MUTATIONS, kind), "cells": cells}


def _read_cell(body, start, end):
    fields: dict = {1: b"", 2: b"", 3: b"", 4: 0, 5: 4, 6: b""}
    for number, value in _fields(body, start, end):
        if number in fields:
            fields[number] = (_bytes if type(fields[number]) is bytes else _number)(body, value)
    return _cell(fields[1], fields[2], fields[3], fields[4], _named(_TYPES, fields[5]), fields[6])


def _read_qualifier(body, part, row, family, timestamp, mutation):
    qualifier, content, kind = b"", b"", _named(_MUTATIONS, mutation)
    for number, value in _fields(body, *_part(body, part)):
        if number == 1:
            qualifier = _bytes(body, value)
        elif number == 2:
            content = _bytes(body, value)
        elif number == 3:
            timestamp = _number(body, value)
        elif number == 4:
            kind = _named(_DELETIONS, _number(body, value))
    return _cell(row, family, qualifier, timestamp, kind, content)


# ---- protobuf --------------------------------------------------------------------------------------------------------


def _extent(body):
    """Return where a message after its length starts and ends."""
    nbytes = _varint(body)
    if nbytes > len(body.data) - body.offset:
        raise TruncatedError(f"a message of {nbytes} bytes with {len(body.data) - body.offset} left", len(body.data))
    return body.offset, body.offset + nbytes


def _fields(body, start, end):
    """Yield the number of each field of a message, and a number, or where its bytes start and end."""
    body.offset = start
    while body.offset < end:
        at, key = body.offset, _varint(body)
        kind = key & 7
        value: Any
        if kind == 0:
            value = _varint(body)
        elif kind in (1, 5):
            value = int.from_bytes(body.read_bytes(8 if kind == 1 else 4), "little")
        elif kind == 2:
            value = _extent(body)
            body.offset = value[1]
        else:
            raise FormatError(f"a field of unknown wire type {kind}", at)
        after = body.offset
        if after > end:
            raise FormatError(f"a field ends {after - end} bytes after its message", at)
        yield key >> 3, value
        body.offset = after


def _varint(body):
    return body.read_base128(70) & 0xFFFFFFFFFFFFFFFF


def _part(body, value):
    if type(value) is not tuple:
        raise FormatError("expected bytes in a field, found a number", body.offset)
    return value


def _bytes(body, value):
    start, end = _part(body, value)
    return bytes(body.data[start:end])


def _number(body, value):
    if type(value) is not int:
        raise FormatError("expected a number in a field, found bytes", body.offset)
    return value - (value >> 63 << 64)  # of int64
