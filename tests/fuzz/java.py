"""Hadoop's own readers beside ours: many inputs, good and spoiled, in one Java virtual machine.

    python tests/fuzz/java.py --cases 100000 [--seed S]

Wants a JDK and Maven, as the tests marked `hadoop` do. Each case is a value with whatever follows it. Java's
read, readRaw, write, hashCode and partitions are held against decoding, skipping, tb.hash_code and tb.partition.
The two readers of Hadoop disagree with the format in known ways; each that was met is counted under its name, and
anything else is a finding.

Here: the comparison and the list of explained differences. Not here: how inputs are made. Invariant: what we read, Java
reads as the same value and over the same bytes, or it has a MAP whose keys its tree cannot order.
"""

import argparse
import collections
import json
import pathlib
import re
import struct
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

import typedbytes  # noqa: E402
from fuzz import inputs  # noqa: E402
from gates import figures  # noqa: E402
from support.java_view import bits_only, in_order, java_view, one_nan  # noqa: E402
from typedbytes.errors import DecodeError, FormatError, LimitError, TruncatedError  # noqa: E402

BATCH = 1000  # what a busy machine does in the two minutes that a command may take
MAX_BYTES = 2000
FLOAT, STRING, VECTOR, LIST, MAP, WRITABLE, MARKER = 5, 7, 8, 9, 10, 50, 255
#: A VECTOR or MAP of more than 5,119: where the file ends in one,
#: Java creates a null for each value of the declared count.
HUGE_COUNT = re.compile(rb"[\x08\x0a](?:[\x01-\x7f]..|\x00[\x01-\xff].|\x00\x00[\x14-\xff]).", re.DOTALL)
DECODER = typedbytes.Decoder(exact=True, pickle="raw", map_pairs=True)


def cases(seed):
    """Yield inputs without end; huge declared sizes are left out, since Java allocates them."""
    maker = inputs.Maker(f"java {seed}")
    while True:
        data = maker.wire()
        if 0 < len(data) <= MAX_BYTES and not HUGE_COUNT.search(data):
            yield data


def read_by_java(batch):
    """Return what Java's readers make of each input."""
    from support.hadoop_support import hadoop

    with tempfile.NamedTemporaryFile("w", suffix=".tsv") as table:
        table.writelines(f"{number}\t{data.hex()}\n" for number, data in enumerate(batch))
        table.flush()
        lines = hadoop()._demand("probe", table.name).splitlines()
    return [json.loads(line) for line in lines]


def compare(data, vector):
    """Return the names of the explained differences; raise AssertionError at any other."""
    assert vector["hex"] == data.hex()
    assert vector["hashCode"] == typedbytes.hash_code(data)
    for npartitions, partition in vector["partition"].items():
        assert partition == typedbytes.partition(data, int(npartitions))
    return [*compare_values(data, vector), *compare_raw(data, vector["readRaw"])]


def compare_values(data, vector):
    """Hold decoding against read() and write()."""
    found = vector["read"]
    try:
        value, end = DECODER.decode_from(data)
    except DecodeError as error:
        if "ok" in found:
            yield explained(error, found)
        return
    if "error" in found:
        assert found["error"] == "java.lang.ClassCastException" and holds_map(data), found
        yield "keys of several types in a MAP"
        return
    view = tree_view(data[:end])
    assert found["consumed"] == end and bits_only(found["ok"]) == view, (found, view)
    written = vector["rewrite"]
    assert "ok" in written, written
    again = tree_view(bytes.fromhex(written["ok"]))
    assert again == one_nan(view), (again, view)


def explained(error, found):
    """Return the name of the reason for which Java reads what we refuse."""
    if type(error) is TruncatedError and error.code in (VECTOR, LIST, MAP, None):
        return "end of file inside a container"
    if type(error) is FormatError and error.code == MARKER:
        return "MARKER read as null"
    if type(error) is FormatError and error.code == STRING:
        return "STRING of length -1, or not UTF-8"
    if type(error) is FormatError and error.code == MAP:
        return "MAP with a negative count"
    if type(error) is FormatError and error.code == WRITABLE:
        return "WRITABLE without a right class name"
    if type(error) is LimitError:
        return "deep nesting"
    raise AssertionError(f"{error!r} where Java reads {found}")


def compare_raw(data, found):
    """Hold skipping against readRaw()."""
    try:
        end = typedbytes.skip(data)
    except DecodeError as error:
        if "ok" in found:
            yield explained_raw(error, found)
        return
    assert found.get("ok") == data[:end].hex() and found["consumed"] == end, found


def explained_raw(error, found):
    """Return the name of the reason for which Java copies what we refuse."""
    if type(error) is FormatError and error.code in (VECTOR, MAP):
        return "readRaw: negative count"
    if type(error) is FormatError and error.code == MARKER and error.offset == 0:
        return "readRaw: MARKER read as the end"
    if type(error) is TruncatedError and error.code == LIST:
        return "readRaw: LIST closed by the end of file"
    if type(error) is LimitError:
        return "readRaw: deep nesting"
    raise AssertionError(f"{error!r} where Java copies {found}")


def holds_map(data):
    """Return whether there is a MAP in the bytes of a value, as well as can be known without decoding."""
    return MAP in data


def tree_view(data):
    """Return what java_view gives for a value, MAPs with one of the pairs whose keys are equal to Java."""
    view, offset = _tree_view(data, 0)
    assert offset == len(data)
    return view


def _tree_view(data, offset):
    code = data[offset]
    if code == VECTOR:
        (count,) = struct.unpack_from(">i", data, offset + 1)
        return _items(data, offset + 5, count)
    if code == LIST:
        return _items(data, offset + 1, None)
    if code == MAP:
        (count,) = struct.unpack_from(">i", data, offset + 1)
        return _entries(data, offset + 5, count)
    end = typedbytes.skip(data, offset)
    if code == FLOAT:  # by the bytes that we write: struct would make a signalling NaN quiet
        return {"float": typedbytes.dumps(typedbytes.loads(data[offset:end], exact=True))[1:].hex()}, end
    return java_view(typedbytes.loads(data[offset:end], exact=True, pickle="raw")), end


def _items(data, offset, count):
    items = []
    while len(items) != count and not (count is None and data[offset] == MARKER):
        item, offset = _tree_view(data, offset)
        items.append(item)
    return {"vector": items}, offset + (count is None)


def _entries(data, offset, count):
    entries = {}
    for _ in range(count):
        key, offset = _tree_view(data, offset)
        value, offset = _tree_view(data, offset)
        same = repr(one_nan(key))
        entries[same] = [entries[same][0] if same in entries else key, value]  # a tree keeps the first of equal keys
    return {"map": in_order(entries.values())}, offset


def main(arguments=None):
    """Run the cases, and print what was explained and what was not."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", default=str(time.time_ns()))
    options = parser.parse_args(arguments)
    met, bad, ncases, supply = collections.Counter(), 0, 0, cases(options.seed)
    print(f"seed {options.seed}")
    while ncases < options.cases and bad < 5:
        batch = [next(supply) for _ in range(min(BATCH, options.cases - ncases))]
        for data, vector in zip(batch, read_by_java(batch)):
            ncases += 1
            try:
                met.update(compare(data, vector))
            except AssertionError as error:
                bad += 1
                print(f"{data.hex()}\n  {error}", flush=True)
    for name, count in met.most_common():
        print(f"{count:>9,}  {name}")
    print(f"{ncases:,} cases beside Java, {bad} unexplained differences")
    figures.report(cases=ncases, unexplained=bad, explained=dict(met))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
