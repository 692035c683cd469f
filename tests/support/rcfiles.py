"""RCFiles by struct, from the cells of their columns: what the library's reader is tried on, beside Hive's own files.

Here: the format in the simplest form. Not here: what a cell means. Invariant: typedbytes is never imported.
"""

import struct
import zlib

MARKER = bytes(range(16))
DEFAULT_CODEC = b"org.apache.hadoop.io.compress.DefaultCodec"
COLUMN_COUNT = b"hive.io.rcfile.column.number"


def vint(number):
    """Return a number as WritableUtils.writeVLong writes it."""
    if -112 <= number <= 127:
        return struct.pack("b", number)
    first, number = (-120, ~number) if number < 0 else (-112, number)
    data = number.to_bytes((number.bit_length() + 7) // 8, "big")
    return struct.pack("b", first - len(data)) + data


def text(data):
    """Return the bytes of a Text."""
    return vint(len(data)) + data


def header(ncolumns, codec=DEFAULT_CODEC):
    """Return the header of an RCFile."""
    start = b"RCF\1" + (b"\0" if codec is None else b"\1" + text(codec))
    return start + struct.pack(">i", 1) + text(COLUMN_COUNT) + text(b"%d" % ncolumns) + MARKER


def lengths(cells):
    """Return the lengths of cells, with the repetitions of one in one number."""
    found, last, nrepeats = [], None, 0
    for cell in [*map(len, cells), None]:
        if cell == last:
            nrepeats += 1
            continue
        if nrepeats:
            found.append(vint(~nrepeats))
        if cell is not None:
            found.append(vint(cell))
        last, nrepeats = cell, 0
    return b"".join(found)


def group(columns, compress=zlib.compress, **wrong):
    """Return a row group of columns of cells; wrong: other numbers for what is in its key."""
    compress = compress or bytes
    key, parts = vint(wrong.get("nrows", len(columns[0]) if columns else 0)), []
    for cells in columns:
        data = b"".join(cells)
        parts.append(compress(data))
        counted = wrong.get("lengths", lengths(cells))
        key += vint(len(parts[-1])) + vint(wrong.get("size", len(data))) + text(counted)
    packed = compress(key)
    nkey = len(key)
    head = struct.pack(">iii", nkey + sum(map(len, parts)), nkey, len(packed))
    return b"\xff\xff\xff\xff" + MARKER + head + packed + b"".join(parts)
