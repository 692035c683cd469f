"""The JSON form: trees to encoded values, by the grammar of docs/json-form.md, and what is wrong with lines of JSON.

A *tree* is what the json module reads and writes. Lines that are right need none: they are read and written by compiled
code (typedbytes._report), and this reads one that is refused.
``from_tree(to_tree(encoded)) == encoded`` holds for every structurally valid value. Nothing is unpickled
and no class is looked up.
"""

import binascii
import itertools
import json
import math
import re
import reprlib
import struct

import typedbytes
from typedbytes import TypeCode, _report
from typedbytes.cli._failure import BAD_DATA, Failure
from typedbytes.cli._forms.json_values import JsonFormError, json_values, load_line

MAX_DEPTH = 256
PICKLED_NONE = b"\x64\x00\x00\x00\x04\x80\x02N."

_U8, _I8, _I16, _I32, _I64 = (struct.Struct(">" + kind) for kind in "Bbhiq")
_F32, _F64 = struct.Struct(">f"), struct.Struct(">d")


# Text. JSON may hold any character; control characters and those that end a line elsewhere are escaped.

_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_encode_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, check_circular=False).encode


def dump_line(tree):
    """Return a tree as one line of JSON, without the newline."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", _encode_json(tree))


def to_tree(encoded, dialect="hadoop"):
    """Return the tree of one structurally valid encoded value."""
    return load_line(_report.lines(encoded, dialect=dialect))


def encoded_lines(lines, pairs=False, dialect="hadoop", plain=False, max_bytes=None):
    """Yield the encoded record of each value in (location, line)s of JSON; a Failure names the location."""
    encoder = typedbytes.Encoder(dialect=dialect, pickle="raw")
    location = None
    try:
        for location, tree, text, start, end in json_values(lines, plain, max_bytes):
            if pairs:
                _expect(type(tree) is list and len(tree) == 2, "an array of a key and a value", tree)
            yield _encoded(tree, encoder, pairs, dialect, plain or not _MAY_HOLD_TAG.search(text, start, end))
    except JsonFormError as error:
        raise Failure(BAD_DATA, f"{error.location or location}: {error}") from None


def _encoded(tree, encoder, pairs, dialect, plain):
    """Return the bytes of a record. The encoder writes a plain tree the same way, or refuses it, but for None."""
    if plain:
        try:
            return encoder.encode_pairs((tree,)) if pairs else encoder.encode(tree)
        except typedbytes.EncodeError:
            pass
    return b"".join(from_tree(each, dialect, plain) for each in (tree if pairs else (tree,)))


# Tree to encoded bytes. A writer is given the tree (a tag's writer: what the tag holds), the bytearray to append to and
# whether the dialect is Hive's. The writer of a container returns an iterator over its items, which are written
# next: nesting takes a stack entry and no call, so that Python's recursion limit is never reached before MAX_DEPTH.


def from_tree(tree, dialect="hadoop", plain=False):
    """Return the encoded bytes of a tree, or raise JsonFormError; in plain JSON no object is a tag."""
    out = bytearray()
    writers = _PLAIN_WRITERS if plain else _WRITERS
    hive = dialect == "hive"
    stack = [iter((tree,))]
    while stack:
        for item in stack[-1]:
            held = writers[type(item)](item, out, hive)
            if held is not None:
                stack.append(held)
                break
        else:
            stack.pop()
        if len(stack) > MAX_DEPTH + 1:
            raise JsonFormError(f"nested deeper than {MAX_DEPTH} values")
    return bytes(out)


def _expect(holds, wanted, found):
    if not holds:
        raise JsonFormError(f"expected {wanted}, not {reprlib.repr(found)}")


def _fits(number, nbits):
    return -1 << nbits - 1 <= number < 1 << nbits - 1


def _append_number(layout, code, number, out):
    out.append(code)
    out += layout.pack(number)


def _append_integer(layout, code, number, out):
    nbits = 8 * layout.size
    _expect(type(number) is int and _fits(number, nbits), f"an integer of {nbits} bits", number)
    _append_number(layout, code, number, out)


def _append_payload(code, payload, out):
    _append_number(_I32, code, len(payload), out)
    out += payload


def _write_null(tree, out, hive):
    out += bytes([TypeCode.NULL]) if hive else PICKLED_NONE


def _write_boolean(tree, out, hive):
    _append_number(_U8, TypeCode.BOOL, tree, out)


def _write_integer(tree, out, hive):
    if _fits(tree, 32):
        _append_number(_I32, TypeCode.INT, tree, out)
    else:
        _append_integer(_I64, TypeCode.LONG, tree, out)


def _write_text(tree, out, hive):
    _append_payload(TypeCode.STRING, _from_text(tree), out)


def _write_array(tree, out, hive):
    out.append(TypeCode.LIST)
    return itertools.chain(tree, (_END,))


def _write_end(tree, out, hive):
    out.append(TypeCode.MARKER)


def _write_object(tree, out, hive):
    if len(tree) == 1:
        ((name, held),) = tree.items()
        if name in _TAG_WRITERS:
            try:
                return _TAG_WRITERS[name](held, out, hive)
            except JsonFormError as error:
                form = f'{{"{name}": ...}} is a form of the lossless JSON'
                raise JsonFormError(f"{error}; {form} (--plain of from-json and convert reads it as it is)") from None
    return _write_pairs(tree.items(), out)


def _write_members(tree, out, hive):
    return _write_pairs(tree.items(), out)


def _write_pairs(pairs, out):
    _append_number(_I32, TypeCode.MAP, len(pairs), out)
    return itertools.chain.from_iterable(pairs)


def _write_bytes(held, out, hive):
    _append_payload(TypeCode.BYTES, _from_base64(held), out)


def _write_byte(held, out, hive):
    _append_integer(_I8, TypeCode.BYTE, held, out)


def _write_bool(held, out, hive):
    _expect(type(held) is int and 0 <= held < 256, "an integer from 0 to 255", held)
    _append_number(_U8, TypeCode.BOOL, held, out)


def _write_long(held, out, hive):
    _append_integer(_I64, TypeCode.LONG, held, out)


def _write_float(held, out, hive):
    out.append(TypeCode.FLOAT)
    out += _from_number(held, _F32)


def _write_double(held, out, hive):
    out.append(TypeCode.DOUBLE)
    out += _from_number(held, _F64)


def _write_string(held, out, hive):
    _append_payload(TypeCode.STRING, _from_base64(held), out)


def _write_vector(held, out, hive):
    _expect(type(held) is list, "an array of values", held)
    _append_number(_I32, TypeCode.VECTOR, len(held), out)
    return iter(held)


def _write_map(held, out, hive):
    is_valid = type(held) is list and all(type(pair) is list and len(pair) == 2 for pair in held)
    _expect(is_valid, "an array of [key, value] arrays", held)
    return _write_pairs(held, out)


def _write_writable(held, out, hive):
    class_name, payload = _from_pair(held, str, 'an array ["class", "base64"]')
    name = _from_text(class_name)
    _append_payload(TypeCode.WRITABLE, _I32.pack(len(name)) + name + payload, out)


def _write_ext(held, out, hive):
    code, payload = _from_pair(held, int, 'an array [code, "base64"]')
    _expect(50 <= code <= 200, "an application code from 50 to 200", code)
    if hive and code == TypeCode.ENDOFRECORD:
        _expect(not payload, "ENDOFRECORD without payload", payload)
        out.append(code)
    else:
        _append_payload(code, payload, out)


def _write_short(held, out, hive):
    if not hive:
        raise JsonFormError("a SHORT has no code outside Hive's dialect")
    _append_integer(_I16, TypeCode.SHORT, held, out)


# From the contents of a tag to the bytes of a payload.

_BASE64 = re.compile("(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def _from_text(held):
    try:
        return held.encode("utf-8")
    except UnicodeEncodeError:
        raise JsonFormError(f"half a surrogate pair in {reprlib.repr(held)}") from None


def _from_base64(held):
    _expect(type(held) is str and _BASE64.fullmatch(held), "base64 text", held)
    return binascii.a2b_base64(held)


def _from_pair(held, kind, wanted):
    _expect(type(held) is list and len(held) == 2 and type(held[0]) is kind, wanted, held)
    return held[0], _from_base64(held[1])


def _from_number(held, layout):
    """Return the bits of a finite number, "inf", "-inf" or "nan:" and the bits themselves."""
    if type(held) is str:
        return _from_special_number(held, layout)
    _expect(type(held) in (int, float), _NUMBER, held)
    try:
        packed = layout.pack(held)
    except (OverflowError, struct.error):
        packed = layout.pack(math.inf)
    _expect(math.isfinite(layout.unpack(packed)[0]), f"a number in the range of {8 * layout.size} bits", held)
    return packed


def _from_special_number(held, layout):
    if held in ("inf", "-inf"):
        return layout.pack(float(held))
    _expect(re.fullmatch(f"nan:[0-9a-fA-F]{{{2 * layout.size}}}", held), _NUMBER, held)
    packed = bytes.fromhex(held[4:])
    _expect(math.isnan(layout.unpack(packed)[0]), "the bits of a NaN", held)
    return packed


_END = ...  # never in a tree: follows the items of a LIST
_NUMBER = 'a number, "inf", "-inf" or "nan:" and its bits in hex'

_WRITERS = {
    type(None): _write_null,
    bool: _write_boolean,
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
# A name with an escape in it may be any.
_MAY_HOLD_TAG = re.compile(r'\{\s*"(?:(?:%s)"|[^"\\]*\\)' % "|".join(_TAG_WRITERS))
_PLAIN_WRITERS = {**_WRITERS, dict: _write_members}
