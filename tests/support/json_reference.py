"""The JSON form the slow way: a tree of JSON values for one encoded value, by the grammar of docs/json-form.md.

The walk goes over the encoded bytes and builds a tree, which the json module writes: another way than that of the
compiled writer, so that the two can disagree.
"""

import binascii
import json
import math
import re
import struct

from typedbytes import TypeCode

PICKLED_NONE = b"\x64\x00\x00\x00\x04\x80\x02N."
TAGS = {"bytes", "byte", "bool", "long", "float", "double", "string", "vector", "map", "writable", "ext", "short"}
UNPRINTABLE = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")

_I8, _I16, _I32, _I64, _F32, _F64 = (struct.Struct(">" + kind) for kind in "bhiqfd")


def line(encoded, dialect="hadoop"):
    """Return the line of JSON of one structurally valid encoded value."""
    text = json.dumps(to_tree(encoded, dialect), ensure_ascii=False, allow_nan=False)
    return UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _fits(number, nbits):
    return -1 << nbits - 1 <= number < 1 << nbits - 1


def to_tree(encoded, dialect="hadoop"):
    """Return the tree of one structurally valid encoded value."""
    readers = _READERS[dialect]
    return readers[encoded[0]](encoded, 1, readers)[0]


def _payload(data, offset):
    start = offset + 4
    end = start + _I32.unpack_from(data, offset)[0]
    return data[start:end], end


def _base64(payload):
    return binascii.b2a_base64(payload, newline=False).decode("ascii")


def _read_bytes(data, offset, readers):
    payload, end = _payload(data, offset)
    return {"bytes": _base64(payload)}, end


def _read_byte(data, offset, readers):
    return {"byte": _I8.unpack_from(data, offset)[0]}, offset + 1


def _read_bool(data, offset, readers):
    byte = data[offset]
    return bool(byte) if byte < 2 else {"bool": byte}, offset + 1


def _read_int(data, offset, readers):
    return _I32.unpack_from(data, offset)[0], offset + 4


def _read_long(data, offset, readers):
    number = _I64.unpack_from(data, offset)[0]
    return {"long": number} if _fits(number, 32) else number, offset + 8


def _read_float(data, offset, readers):
    number = _F32.unpack_from(data, offset)[0]
    return {"float": number if math.isfinite(number) else _special(number, data[offset : offset + 4])}, offset + 4


def _read_double(data, offset, readers):
    number = _F64.unpack_from(data, offset)[0]
    return number if math.isfinite(number) else {"double": _special(number, data[offset : offset + 8])}, offset + 8


def _special(number, payload):
    # The bits come from the payload: a signalling NaN of a FLOAT would turn quiet on its way through a Python float.
    return f"nan:{payload.hex()}" if math.isnan(number) else repr(number)


def _read_string(data, offset, readers):
    payload, end = _payload(data, offset)
    try:
        return payload.decode("utf-8"), end
    except UnicodeDecodeError:
        return {"string": _base64(payload)}, end


def _read_vector(data, offset, readers):
    items = []
    nitems = _I32.unpack_from(data, offset)[0]
    offset += 4
    for _ in range(nitems):
        item, offset = readers[data[offset]](data, offset + 1, readers)
        items.append(item)
    return {"vector": items}, offset


def _read_list(data, offset, readers):
    items = []
    while data[offset] != TypeCode.MARKER:
        item, offset = readers[data[offset]](data, offset + 1, readers)
        items.append(item)
    return items, offset + 1


def _read_map(data, offset, readers):
    pairs = []
    npairs = _I32.unpack_from(data, offset)[0]
    offset += 4
    for _ in range(npairs):
        key, offset = readers[data[offset]](data, offset + 1, readers)
        value, offset = readers[data[offset]](data, offset + 1, readers)
        pairs.append([key, value])
    return _map_tree(pairs), offset


def _map_tree(pairs):
    """Return a plain object when all keys are different strings and it cannot be taken for a tag."""
    members = {key: value for key, value in pairs if type(key) is str}
    return members if len(members) == len(pairs) and _tag(members) is None else {"map": pairs}


def _tag(members):
    """Return the tag of an object, or None for a plain one: a single member whose name is one of the tags."""
    if len(members) == 1:
        (name,) = members
        return name if name in TAGS else None
    return None


def _read_writable(data, offset, readers):
    payload, end = _payload(data, offset)
    try:
        name, name_end = _payload(payload, 0)
        if 4 <= name_end <= len(payload):
            return {"writable": [name.decode("utf-8"), _base64(payload[name_end:])]}, end
    except (struct.error, UnicodeDecodeError):
        pass
    return {"ext": [TypeCode.WRITABLE, _base64(payload)]}, end


def _read_ext(data, offset, readers):
    payload, end = _payload(data, offset)
    return {"ext": [data[offset - 1], _base64(payload)]}, end


def _read_pickle(data, offset, readers):
    tree, end = _read_ext(data, offset, readers)
    return None if data[offset - 1 : end] == PICKLED_NONE else tree, end


def _read_short(data, offset, readers):
    return {"short": _I16.unpack_from(data, offset)[0]}, offset + 2


def _read_null(data, offset, readers):
    return None, offset


def _read_endofrecord(data, offset, readers):
    return {"ext": [TypeCode.ENDOFRECORD, ""]}, offset


_HIVE_READERS = {
    TypeCode.BYTES: _read_bytes,
    TypeCode.BYTE: _read_byte,
    TypeCode.BOOL: _read_bool,
    TypeCode.INT: _read_int,
    TypeCode.LONG: _read_long,
    TypeCode.FLOAT: _read_float,
    TypeCode.DOUBLE: _read_double,
    TypeCode.STRING: _read_string,
    TypeCode.VECTOR: _read_vector,
    TypeCode.LIST: _read_list,
    TypeCode.MAP: _read_map,
    TypeCode.SHORT: _read_short,
    TypeCode.NULL: _read_null,
    TypeCode.WRITABLE: _read_writable,
    **dict.fromkeys(range(51, 201), _read_ext),
    TypeCode.ENDOFRECORD: _read_endofrecord,
}
_HADOOP_READERS = {**_HIVE_READERS, TypeCode.PICKLE: _read_pickle, TypeCode.ENDOFRECORD: _read_ext}
_READERS = {"hadoop": _HADOOP_READERS, "hive": _HIVE_READERS}
