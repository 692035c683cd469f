"""The JSON form: one encoded value as a tree of JSON values, and back, byte for byte.

Here: the grammar of docs/json-form.md, nothing else. A *tree* is what the json module reads and writes.
Not here: files, options, lines of a stream, Python values. The walk goes over the encoded bytes themselves, because
decoding is not lossless: BOOL 5, a MAP with a key twice and a MAP beside a LIST of VECTORs look alike as Python values.
Always true: ``from_tree(to_tree(encoded)) == encoded`` for every structurally valid value, and ``to_tree`` is given
only such values, as ``Reader(raw=True)`` hands them out. Nothing is unpickled and no class is looked up.
"""

import binascii
import itertools
import json
import math
import re
import reprlib
import struct

from typedbytes import TypeCode

MAX_DEPTH = 256
PICKLED_NONE = b"\x64\x00\x00\x00\x04\x80\x02N."

_U8, _I8, _I16, _I32, _I64 = (struct.Struct(">" + kind) for kind in "Bbhiq")
_F32, _F64 = struct.Struct(">f"), struct.Struct(">d")


class JsonFormError(ValueError):
    """Say why a line of JSON is not the form of a value."""


# Text. JSON may hold any character as it is; those that a terminal obeys or that end a line elsewhere are escaped.

_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_encode_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False).encode


def dump_line(tree):
    """Return a tree as one line of JSON, without the newline."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", _encode_json(tree))


def load_line(line):
    """Return the tree that one line of JSON holds, given as bytes of UTF-8."""
    try:
        return _decode_json(line.decode("utf-8"))
    except JsonFormError:
        raise
    except json.JSONDecodeError as error:
        raise JsonFormError(f"not JSON at column {error.colno}: {error.msg}") from None
    except ValueError as error:
        raise JsonFormError(f"not JSON: {error}") from None
    except RecursionError:
        raise JsonFormError("nested too deeply") from None


def _object(members):
    tree = dict(members)
    if len(tree) < len(members):
        raise JsonFormError('a name stands twice in an object; {"map": [[key, value], ...]} can hold a key twice')
    return tree


def _constant(name):
    raise JsonFormError(f'{name} is not JSON; write {{"double": "nan:7ff8000000000000"}}, "inf" or "-inf"')


_decode_json = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant).decode


# Encoded bytes to tree. A reader is given the bytes, the offset after the type code and the readers of the dialect;
# it returns the tree and the offset after the value.


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
        return name if name in _TAG_WRITERS else None
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


# Tree to encoded bytes. A writer is given the tree (a tag's writer: what the tag holds), the bytearray to append to and
# whether the dialect is Hive's. The writer of a container returns an iterator over what it holds, which is written
# next: nesting costs a stack entry and no call, so that Python's own recursion limit is never met before ours.


def from_tree(tree, dialect="hadoop"):
    """Return the encoded bytes of a tree, or raise JsonFormError."""
    out = bytearray()
    hive = dialect == "hive"
    stack = [iter((tree,))]
    while stack:
        for item in stack[-1]:
            held = _WRITERS[type(item)](item, out, hive)
            if held is not None:
                stack.append(held)
                break
        else:
            stack.pop()
        if len(stack) > MAX_DEPTH + 1:
            raise JsonFormError(f"nested deeper than {MAX_DEPTH} values")
    return bytes(out)


def _expect(met, wanted, found):
    if not met:
        raise JsonFormError(f"expected {wanted}, not {reprlib.repr(found)}")


def _fits(number, nbits):
    return -1 << nbits - 1 <= number < 1 << nbits - 1


def _put_number(layout, code, number, out):
    out.append(code)
    out += layout.pack(number)


def _put_integer(layout, code, number, out):
    nbits = 8 * layout.size
    _expect(type(number) is int and _fits(number, nbits), f"an integer of {nbits} bits", number)
    _put_number(layout, code, number, out)


def _put_payload(code, payload, out):
    _put_number(_I32, code, len(payload), out)
    out += payload


def _write_null(tree, out, hive):
    out += bytes([TypeCode.NULL]) if hive else PICKLED_NONE


def _write_truth(tree, out, hive):
    _put_number(_U8, TypeCode.BOOL, tree, out)


def _write_integer(tree, out, hive):
    if _fits(tree, 32):
        _put_number(_I32, TypeCode.INT, tree, out)
    else:
        _put_integer(_I64, TypeCode.LONG, tree, out)


def _write_text(tree, out, hive):
    _put_payload(TypeCode.STRING, _from_text(tree), out)


def _write_array(tree, out, hive):
    out.append(TypeCode.LIST)
    return itertools.chain(tree, (_END,))


def _write_end(tree, out, hive):
    out.append(TypeCode.MARKER)


def _write_object(tree, out, hive):
    name = _tag(tree)
    if name is not None:
        return _TAG_WRITERS[name](tree[name], out, hive)
    return _write_pairs(tree.items(), out)


def _write_pairs(pairs, out):
    _put_number(_I32, TypeCode.MAP, len(pairs), out)
    return itertools.chain.from_iterable(pairs)


def _write_bytes(held, out, hive):
    _put_payload(TypeCode.BYTES, _from_base64(held), out)


def _write_byte(held, out, hive):
    _put_integer(_I8, TypeCode.BYTE, held, out)


def _write_bool(held, out, hive):
    _expect(type(held) is int and 0 <= held < 256, "an integer from 0 to 255", held)
    _put_number(_U8, TypeCode.BOOL, held, out)


def _write_long(held, out, hive):
    _put_integer(_I64, TypeCode.LONG, held, out)


def _write_float(held, out, hive):
    out.append(TypeCode.FLOAT)
    out += _from_number(held, _F32)


def _write_double(held, out, hive):
    out.append(TypeCode.DOUBLE)
    out += _from_number(held, _F64)


def _write_string(held, out, hive):
    _put_payload(TypeCode.STRING, _from_base64(held), out)


def _write_vector(held, out, hive):
    _expect(type(held) is list, "an array of values", held)
    _put_number(_I32, TypeCode.VECTOR, len(held), out)
    return iter(held)


def _write_map(held, out, hive):
    met = type(held) is list and all(type(pair) is list and len(pair) == 2 for pair in held)
    _expect(met, "an array of [key, value] arrays", held)
    return _write_pairs(held, out)


def _write_writable(held, out, hive):
    class_name, payload = _from_two(held, str, 'an array ["class", "base64"]')
    name = _from_text(class_name)
    _put_payload(TypeCode.WRITABLE, _I32.pack(len(name)) + name + payload, out)


def _write_ext(held, out, hive):
    code, payload = _from_two(held, int, 'an array [code, "base64"]')
    _expect(50 <= code <= 200, "an application code from 50 to 200", code)
    if hive and code == TypeCode.ENDOFRECORD:
        _expect(not payload, "ENDOFRECORD without payload", payload)
        out.append(code)
    else:
        _put_payload(code, payload, out)


def _write_short(held, out, hive):
    if not hive:
        raise JsonFormError("a SHORT has no code outside Hive's dialect")
    _put_integer(_I16, TypeCode.SHORT, held, out)


# What stands in a tree to the bytes of a payload.

_BASE64 = re.compile("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def _from_text(held):
    try:
        return held.encode("utf-8")
    except UnicodeEncodeError:
        raise JsonFormError(f"half a surrogate pair in {reprlib.repr(held)}") from None


def _from_base64(held):
    _expect(type(held) is str and _BASE64.fullmatch(held), "base64 text", held)
    return binascii.a2b_base64(held)


def _from_two(held, kind, wanted):
    _expect(type(held) is list and len(held) == 2 and type(held[0]) is kind, wanted, held)
    return held[0], _from_base64(held[1])


def _from_number(held, layout):
    """Return the bits of a finite number, "inf", "-inf" or "nan:" and the bits themselves."""
    if type(held) is str:
        return _from_special(held, layout)
    _expect(type(held) in (int, float), _NUMBER, held)
    try:
        packed = layout.pack(held)
    except (OverflowError, struct.error):
        packed = layout.pack(math.inf)
    _expect(math.isfinite(layout.unpack(packed)[0]), f"a number in the range of {8 * layout.size} bits", held)
    return packed


def _from_special(held, layout):
    if held in ("inf", "-inf"):
        return layout.pack(float(held))
    _expect(re.fullmatch(f"nan:[0-9a-fA-F]{{{2 * layout.size}}}", held), _NUMBER, held)
    packed = bytes.fromhex(held[4:])
    _expect(math.isnan(layout.unpack(packed)[0]), "the bits of a NaN", held)
    return packed


_END = ...  # what no tree holds: stands after the items of a LIST
_NUMBER = 'a number, "inf", "-inf" or "nan:" and its bits in hex'

_WRITERS = {
    type(None): _write_null,
    bool: _write_truth,
    int: _write_integer,
    float: _write_double,
    str: _write_text,
    list: _write_array,
    dict: _write_object,
    type(_END): _write_end,
}
_TAG_WRITERS = {
    "bytes": _write_bytes,
    "byte": _write_byte,
    "bool": _write_bool,
    "long": _write_long,
    "float": _write_float,
    "double": _write_double,
    "string": _write_string,
    "vector": _write_vector,
    "map": _write_map,
    "writable": _write_writable,
    "ext": _write_ext,
    "short": _write_short,
}
