"""SequenceFiles for the tests: those that Hadoop wrote, what is in them, and headers spelled by hand.

Here: reading the vectors, and comparing what Hadoop's reader gives with Python values. Not here: which implementation
is being tested. Invariant: a float is compared by its bits.
"""

import functools
import json
import struct

from support.java_view import digits_by_value
from support.vectors import ROOT, read_jsonl

CODECS = ["default", "gzip", "bzip2", "snappy", "lz4", "zstd", "lzo"]
FORMS = ["none", *(f"{codec}-{compression}" for codec in CODECS for compression in ("record", "block"))]
IO = "org.apache.hadoop.io."


@functools.cache
def kinds():
    """Return what Hadoop wrote, by kind: classes and records."""
    lines = digits_by_value((ROOT / "sequencefile" / "records.jsonl").read_bytes()).splitlines()
    return {line["kind"]: line for line in map(json.loads, lines)}


@functools.cache
def files():
    """Return the bytes of the files that Hadoop wrote, by name."""
    return {line["name"]: bytes.fromhex(line["hex"]) for line in read_jsonl("sequencefile/files.jsonl")}


def same(value, view):
    """Return whether a Python value is what Hadoop's reader gives for the same bytes."""
    (tag, content), *bits = view.items()
    if tag in ("number", "int", "long", "byte"):
        return type(value) is int and str(value) == content or value == content
    if tag in ("float", "double"):
        return struct.pack(">f" if tag == "float" else ">d", value).hex() == bits[0][1]
    if tag in ("vector", "list"):
        return len(value) == len(content) and all(map(same, value, content))
    if tag == "map":
        items = list(value.items())
        return len(items) == len(content) and all(
            any(same(key, entry[0]) and same(item, entry[1]) for key, item in items) for entry in content
        )
    if tag == "bytes":
        return value == bytes.fromhex(content)
    return value is None if tag == "null" else type(value) is type(content) and value == content


def text(data):
    """Return a Text shorter than 128 bytes."""
    data = data.encode() if isinstance(data, str) else data
    return bytes([len(data)]) + data


def header(
    key_class, value_class, *, version=6, compressed=False, blocks=False, codec=None, metadata=(), marker=bytes(16)
):
    """Return a header, spelled by hand from the format's description."""
    parts = [b"SEQ", bytes([version]), text(key_class), text(value_class), bytes([compressed, blocks])]
    if compressed and version >= 5:
        parts.append(text(codec))
    if version >= 6:
        parts.append(struct.pack(">i", len(metadata)))
        parts += [text(part) for pair in metadata for part in pair]
    return b"".join([*parts, marker])


def record(key, value):
    """Return a record of the bytes of a key and of a value."""
    return struct.pack(">ii", len(key) + len(value), len(key)) + key + value
