"""Counting over encoded bytes: where damage is reported, what is refused, and that a long count checks for signals.

What stats, schema and freq print is tested in cli/test_stats.py and the files of the others.
"""

import collections
import io
import random

import pytest

import typedbytes as tb
from support.signal_checks import times_checked
from typedbytes._report._native import RecordStatistics, Schema, Walker

KINDS = [Walker, RecordStatistics, Schema]


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_reported_with_its_offset(kind):
    walker = kind(pairs=True)
    walker.write(b"\2\1\2\1")
    with pytest.raises(tb.FormatError) as raised:
        walker.write(b"\2\1\2\1\2\0\x0b")
    assert (raised.value.offset, walker.nrecords) == (6, 2)
    with pytest.raises(tb.TruncatedError):
        walker.write(b"\2\1")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("data", [b"\2\1" * 100_000, tb.dumps([True] * 100_000)])
def test_signals_are_checked(kind, data):
    nvalues = 100_000 if kind is Schema else tb.count(data)
    walker = kind()
    assert times_checked(lambda: walker.write(data)) >= nvalues // 16_384
    assert walker.nrecords == tb.count(data)


@pytest.mark.parametrize("npartitions", [-1, 65_537])
def test_partitions_are_limited(npartitions):
    with pytest.raises(ValueError, match="partitions must be 0 to 65536"):
        RecordStatistics(npartitions=npartitions)


@pytest.mark.parametrize("pairs, part", [(False, 1), (True, 2), (True, -1)])
def test_a_record_has_no_other_offsets(pairs, part):
    with pytest.raises(ValueError, match=f"part must be less than .*, not {part}"):
        RecordStatistics(pairs=pairs).by_type(part)


def test_an_unknown_dialect_is_refused():
    with pytest.raises(ValueError, match="dialect"):
        Walker(dialect="pig")


class Pieces(io.RawIOBase):
    """Give a few bytes at a time."""

    def __init__(self, data, nbytes):
        self._file, self._nbytes = io.BytesIO(data), nbytes

    def readable(self):
        return True

    def readinto(self, target):
        piece = self._file.read(min(self._nbytes, len(target)))
        target[: len(piece)] = piece
        return len(piece)


def some_value(choose, depth=0):
    kind = choose.choice("istbSB" if depth == 4 else "istbSBvlm")
    size = choose.choice([0, 1, 3, 70])
    if kind == "l" or kind == "v":
        items = [some_value(choose, depth + 1) for _ in range(min(size, 9))]
        return items if kind == "l" else tuple(items)
    if kind == "m":
        keys = [
            choose.choice(
                ["", "k", "name" * 9, "keys", "values", "items", "x" * 4096, "x" * 4097, 7, b"bytes", (1, "a")]
            )
            for _ in range(min(size, 5))
        ]
        return {key: some_value(choose, depth + 1) for key in keys}
    return {"i": 5, "s": "s" * size, "t": "größer" * size, "b": True, "S": "l" * 3000, "B": b"b" * size}[kind]


def add_types(value, path, found):
    """Count the types of a value and of its items by the rules that schema's help gives."""
    names = {int: "INT", str: "STRING", bool: "BOOL", bytes: "BYTES", list: "LIST", tuple: "VECTOR", dict: "MAP"}
    found[path, names[type(value)]] += 1
    if type(value) is dict:
        for key, item in value.items():
            is_name = type(key) is str
            if not is_name:
                add_types(key, path + ".key()", found)
            add_types(item, f"{path}[{key!r}]" if is_name and len(key) <= 4096 else f"{path}[*]", found)
    elif type(value) in (list, tuple):
        for i, item in enumerate(value):
            add_types(item, f"{path}[{i}]" if type(value) is tuple else f"{path}[]", found)


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("nbytes", [1, 7, 100, 1 << 20])
def test_records_that_come_in_pieces(pairs, nbytes):
    choose = random.Random(nbytes)
    values = [some_value(choose) for _ in range(200)]
    encoded = [tb.dumps(value) for value in values]
    names = ("key", "value") if pairs else ("value",)
    read = tb.PairReader if pairs else tb.Reader

    def reader():
        return read(Pieces(b"".join(encoded), nbytes), buffer_size=64)

    schema = Schema(pairs=pairs)
    schema.read(reader())
    expected = collections.Counter()
    for i, value in enumerate(values):
        add_types(value, names[i % len(names)], expected)
    assert expected == {
        (path, tb.TypeCode(code).name): n for path, counts in schema.paths() for code, n in counts.items()
    }
    top = {}
    statistics = RecordStatistics(pairs=pairs, npartitions=3, top=top)
    statistics.read(reader())
    keys = encoded[:: len(names)]
    assert top == collections.Counter(keys)
    assert statistics.partitions == [sum(tb.partition(key, 3) == number for key in keys) for number in range(3)]
    for part in range(len(names)):
        of_part = encoded[part :: len(names)]
        for code, row in statistics.by_type(part).items():
            sizes = [len(value) for value in of_part if value[0] == code]
            assert (row["count"], row["bytes"]) == (len(sizes), sum(sizes))
            if code in (tb.TypeCode.STRING, tb.TypeCode.BYTES):
                assert (row["least"], row["most"]) == (min(sizes) - 5, max(sizes) - 5)
    assert statistics.nrecords == schema.nrecords == 200 // len(names)


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize(
    "end",
    [
        b"", b"\x0b", b"\x03\0", b"\x00\0\0\0\x63" + bytes(70), b"\x08\0\0\0\2\2\1", b"\xff", b"\x09\2\1",
        b"\x07\xff\xff\xff\xff",
    ]
    + [b"\x09" + b"\2\1" * 45 + fault for fault in (b"\x0b", b"\x08\xff\xff\xff\xff")],  # beyond the limit
)  # fmt: skip
@pytest.mark.parametrize("max_bytes", [None, 80])
def test_an_error_is_that_of_skipping(pairs, end, max_bytes):
    """Its kind, text, offset and record."""
    data = tb.Encoder().encode_all(["a" * 50, 1, "b", 2, "c"]) + end
    read = tb.PairReader if pairs else tb.Reader

    def outcome(call):
        try:
            return call()
        except tb.DecodeError as error:
            return type(error), str(error), error.offset, error.record, error.code

    for nbytes in (1, 9, 1 << 20):
        expected = outcome(lambda: read(io.BytesIO(data), max_bytes=max_bytes).skip(9) and None)
        for kind in KINDS:
            reader = read(Pieces(data, nbytes), buffer_size=64, max_bytes=max_bytes)
            assert outcome(lambda: kind(pairs=pairs, max_bytes=max_bytes).read(reader)) == expected
