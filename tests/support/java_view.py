"""The tagged JSON in which Hadoop's Java describes what it has read, and the same for a value of ours.

Here: what java_view gives for a Python value and bits_only for Java's own JSON are equal exactly when both sides read
the same. Floats are compared by their bits, since digits do not distinguish NaNs; the entries of a MAP are in one
order, since Java sorts them.
"""

import re
import struct

from typedbytes import Byte, Ext, Float, Long, Writable

NONE_AS_PICKLE = "80024e2e"


def java_view(value):
    """Return the tagged JSON that Java's reader shows for the encoding of a value."""
    kind = type(value)
    if kind is bytes:
        return {"bytes": value.hex()}
    if kind is Ext:
        return {"bytes": value.data.hex()}
    if kind is Writable:
        name = value.class_name.encode()
        return {"bytes": (struct.pack(">i", len(name)) + name + value.data).hex()}
    if value is None:
        return {"bytes": NONE_AS_PICKLE}
    if kind is Byte:
        return {"byte": int(value)}
    if kind is bool:
        return {"bool": value}
    if kind is Float:
        return {"float": struct.pack(">f", value).hex()}
    if kind is float:
        return {"double": struct.pack(">d", value).hex()}
    if kind is str:
        return {"string": value}
    if kind in (tuple, list):
        return {"vector": [java_view(item) for item in value]}
    if kind is dict:
        return {"map": in_order([java_view(key), java_view(item)] for key, item in value.items())}
    if kind is Long or not -(2**31) <= value < 2**31:
        return {"long": str(int(value))}
    return {"int": value}


def digits_by_value(text):
    """Return Java's tagged JSON, as bytes, with floats in Python's digits; since Java 19 its own are the fewest.

    Digits of another number stay those of another number, and nothing else of the text changes.
    """
    return re.sub(rb'"(float|double)":"([^"]+)"', respelled, text)


def respelled(member):
    tag, digits = member.groups()
    layout = ">f" if tag == b"float" else ">d"
    (number,) = struct.unpack(layout, struct.pack(layout, float(digits)))
    return b'"%b":"%b"' % (tag, repr(number).encode())


def bits_only(tagged):
    """Return Java's tagged JSON with floats by their bits, MAPs in one order, every list as Java's readers see it."""
    (tag, content), *bits = tagged.items()
    if bits:
        return {tag: tagged["bits"]}
    if tag in ("vector", "list"):
        return {"vector": [bits_only(item) for item in content]}
    if tag == "map":
        return {"map": in_order([bits_only(key), bits_only(item)] for key, item in content)}
    return tagged


def one_nan(view):
    """Return what java_view gave, with every NaN as Java's writer writes it: it knows one only."""
    [(tag, content)] = view.items()
    if tag == "float" and is_nan(">f", content):
        return {tag: "7fc00000"}
    if tag == "double" and is_nan(">d", content):
        return {tag: "7ff8000000000000"}
    if tag == "vector":
        return {tag: [one_nan(item) for item in content]}
    if tag == "map":
        return {tag: in_order([one_nan(key), one_nan(item)] for key, item in content)}
    return view


def is_nan(layout, bits):
    (number,) = struct.unpack(layout, bytes.fromhex(bits))
    return number != number


def in_order(entries):
    return sorted(entries, key=repr)
