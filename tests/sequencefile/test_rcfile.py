"""RCFiles of Hive as columns: the rows that Hive's own code reads from them, and what is damaged or hostile.

Here: vectors of both versions of the format, both serializations of cells, splits, folders, what is read of a file.
Not here: the columns themselves. Invariant: expected rows are those that Hive's code has made of the same file.
"""

import io
import os
import pickle
import struct
from datetime import date, datetime
from decimal import Context, Decimal
from math import inf, nan

import pytest

import typedbytes as tb
from fuzz.rcfiles import check_rcfile
from support.rcfiles import MARKER, group, header, vint
from support.vectors import read_jsonl
from typedbytes import columns
from typedbytes.sequencefile.rcfile import RCFile

pytest.importorskip("pyarrow")
VECTORS = {vector["name"]: vector for vector in read_jsonl("sequencefile/rcfiles.jsonl")}
VALUES = {"date": date, "datetime": datetime, "Decimal": Decimal, "inf": inf, "nan": nan, "bytes": bytes}


def data_of(name):
    return bytes.fromhex(VECTORS[name]["hex"])


def read(name, **options):
    """Return the rows of a vector by its schema."""
    schema = {column: ours for column, _, ours in VECTORS[name]["columns"]}
    return rows_of(data_of(name), schema=schema, serde=VECTORS[name]["serde"], **options)


def rows_of(source, **options):
    return columns.read(source, **options).to_arrow().to_pylist()


def expected(name):
    """Return the rows that Hive has read, each a list of values."""
    rows = eval(VECTORS[name]["rows"], {"__builtins__": {}}, VALUES)
    return [[plain(value, hive) for value, (_, hive, _) in zip(row, VECTORS[name]["columns"])] for row in rows]


def plain(value, hive=""):
    """Return a value as lists of lists; a char without the spaces that Hive adds; of equal keys, Hive's first."""
    if isinstance(value, dict):
        return [plain(each) for each in value.values()]
    if hive.startswith("map"):
        return [plain(pair) for pair in value and dict(reversed(value)).items()] if value is not None else None
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if isinstance(value, Decimal):
        return Context(prec=40).normalize(value)  # Hive's has no scale
    return value.rstrip() if hive.startswith("char") and value is not None else value


# -- Hive's files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VECTORS)
def test_rows_are_those_that_hive_reads(name):
    kinds = [hive for _, hive, _ in VECTORS[name]["columns"]]
    found = [[plain(value, kind) for value, kind in zip(row.values(), kinds)] for row in read(name)]
    assert repr([sorted_maps(row, kinds) for row in found]) == repr([sorted_maps(row, kinds) for row in expected(name)])


def sorted_maps(row, kinds):
    return [
        sorted(value, key=repr) if kind.startswith("map") and value is not None else value
        for value, kind in zip(row, kinds)
    ]


@pytest.mark.parametrize("name", ["scalars/text", "scalars/binary"])
def test_a_char_has_the_spaces_that_hive_has_written(name):
    assert [row["c"] for row in read(name)][:4] == ["ch   ", "     ", None, "five5"]


@pytest.mark.parametrize("name", VECTORS)
def test_chosen_columns_are_those_of_all(name):
    whole = read(name)
    for column, _, _ in VECTORS[name]["columns"]:
        assert repr(read(name, columns=[column])) == repr([{column: row[column]} for row in whole])
    last_first = [column for column, _, _ in VECTORS[name]["columns"]][::-1]
    assert repr(read(name, columns=last_first)) == repr([{each: row[each] for each in last_first} for row in whole])


def test_without_a_schema_columns_are_text_by_number():
    reader = columns.read(data_of("none/text"))
    assert reader.schema == {"0": "string", "1": "string", "2": "string"}
    rows = reader.to_arrow().to_pylist()
    assert [rows[0], rows[1]] == [{"0": "0", "1": None, "2": "0.0"}, {"0": "1", "1": "name 0", "2": "0.25"}]


def test_without_a_schema_binary_cells_are_bytes():
    rows = rows_of(data_of("none/binary"), serde="binary")
    assert rows[1] == {"0": b"\x01", "1": b"name 0", "2": struct.pack(">d", 0.25)}


def test_parts_of_columns_are_columns():
    rows = read("nested/text", columns=["pair.b", "ints"])
    assert [row["pair.b"] for row in rows] == [row[2] and row[2][1] for row in expected("nested/text")]


@pytest.mark.parametrize("as_type", ["struct<a: int, b: string>", "row<a: int, b: string>"])
def test_a_struct_of_hive_is_one_or_a_vector(as_type):
    name = "nested/binary"
    schema = [as_type if ours.startswith("row") else ours for _, _, ours in VECTORS[name]["columns"]]
    rows = rows_of(data_of(name), schema=schema, serde="binary", columns=["2"])
    assert [plain(row["2"]) for row in rows] == [row[2] for row in expected(name)]


# -- the serialization, which a file does not say ----------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in VECTORS if VECTORS[name]["serde"] == "binary"])
def test_binary_cells_that_are_read_as_text_are_an_error_that_names_the_option(name):
    """Their numbers came as nulls."""
    schema = {column: ours for column, _, ours in VECTORS[name]["columns"]}
    found = set()
    for column, kind in schema.items():
        try:
            rows_of(data_of(name), schema=schema, columns=[column])
        except tb.FormatError as error:
            assert error.option == "serde"
            if kind != "string":
                assert error.record == 0
                assert error.message.startswith(f"the cells of column {column!r} are binary, not text (Hive")
                found.add(kind)
    assert found == {kind for kind in schema.values() if kind not in ("string", "bytes")}


INTS = [vint(number) for number in range(33, 61)]  # ten of them have a number as text
BINARY_OR_TEXT = [
    ("int", [vint(number) for number in (1, 65, 48)], True),
    ("int", INTS, True),
    ("short", [b"ab", b"\xc3\xa9"], True),
    ("int", [b"", b"\\N", b"A", b"B"], False),
    ("int", [b"7", b"8", b"-"], False),
    ("short", [b"\\N", b"\\N", b"12"], False),
    ("int", ["größer".encode(), "größer".encode("latin-1"), b"abc"], False),
    ("int", [b"1\x022", b"12"], False),  # the column was an array
    ("double", [b"nonsense", b"no value"], False),
    ("double", [b"12345678", struct.pack(">d", 0.1)], True),
    ("timestamp<s>", [b"2024-01-01 00:00:00", b"none"], False),
    ("timestamp<s>", [b"\xe5\x93\x0a\x01\x05"], True),  # the column holds no fraction, but that is not the question
    ("bool", [b"Y", b"N"], False),
    ("list<int>", [b"1\x022", b"\\N", b""], False),
    ("list<int>", [b"\x02\x03\x01\x02"], True),
    ("string", [b"\x01", b"\0"], False),
]


@pytest.mark.parametrize("kind, cells, is_binary", BINARY_OR_TEXT)
def test_text_that_is_not_a_value_is_null_and_binary_cells_are_not_text(kind, cells, is_binary):
    data = header(1) + group([cells])
    if is_binary:
        with pytest.raises(tb.FormatError, match=r'are binary, not text \(Hive.s default is serde="binary"\)'):
            rows_of(data, schema=[kind])
    else:
        assert len(rows_of(data, schema=[kind])) == len(cells)


@pytest.mark.parametrize("kind", ["long", "string", "decimal<38, 2>"])
def test_a_wide_struct_may_be_null(kind):
    schema = {"c": f"struct<{', '.join(f'a{number}: {kind}' for number in range(60))}>"}
    full = b"\x02".join(b"%d" % number for number in range(60))
    rows = rows_of(header(1) + group([[full, b"\\N", full]]), schema=schema)
    assert rows[1] == {"c": None} and rows[0] == rows[2] and len(rows[0]["c"]) == 60


def test_only_the_first_cells_of_the_first_group_say_what_all_are():
    number = [b"\x01"]
    assert len(rows_of(header(1) + group([[b"12"]]) + group([number]), schema=["int"])) == 2
    with pytest.raises(tb.FormatError, match="are binary"):
        rows_of(header(1) + group([[]]) + group([number]), schema=["int"])


def test_text_that_is_not_utf8_may_be_binary():
    data = header(2) + group([[b"12"], [b"\xbf"]])  # an empty text of the binary serialization
    with pytest.raises(tb.FormatError, match=r'not UTF-8.*\(Hive.s default is serde="binary"\)') as caught:
        rows_of(data, schema=["int", "string"])
    assert caught.value.option == "serde"
    with pytest.raises(tb.FormatError) as caught:
        rows_of(header(1) + group([[b"\xff"]]), serde="binary", schema=["string"])
    assert "serde" not in str(caught.value)


# -- files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["groups/text", "groups/binary"])
def test_each_row_is_in_one_split(name, tmp_path):
    path = tmp_path / "000000_0"
    path.write_bytes(data_of(name))
    whole = read(name)
    for size in (1, 97, 300, 10_000):
        found = []
        for split in pickle.loads(pickle.dumps(columns.splits(path, size))):
            found += rows_of(
                split, schema={column: ours for column, _, ours in VECTORS[name]["columns"]},
                serde=VECTORS[name]["serde"],
            )  # fmt: skip
        assert found == whole, size


def test_a_folder_has_the_rows_of_its_files(tmp_path):
    for number, name in enumerate(["none/text", "gzip/text/old", "wider schema"]):
        (tmp_path / f"00000{number}_0").write_bytes(data_of(name))
    (tmp_path / "_SUCCESS").touch()
    schema = ["long", "string", "double"]
    rows = [list(row.values()) for row in rows_of(tmp_path, schema=schema)]
    assert rows == [row for name in ("none/text", "gzip/text/old", "wider schema") for row in expected(name)]


def test_a_lazy_frame_of_polars_has_the_columns_of_a_folder(tmp_path):
    for number, name in enumerate(["none/text", "groups/text"]):
        (tmp_path / f"00000{number}_0").write_bytes(data_of(name))
    frame = columns.scan_polars(tmp_path, schema={"id": "long", "name": "string", "x": "double"}, split_size=300)
    rows = [(row[2], row[0]) for name in ("none/text", "groups/text") for row in expected(name)]
    assert frame.select("x", "id").collect().rows() == rows


def test_a_later_file_with_more_columns_needs_a_schema(tmp_path):
    (tmp_path / "part-0").write_bytes(data_of("wider schema"))
    (tmp_path / "part-1").write_bytes(data_of("none/text"))
    with pytest.raises(tb.FormatError, match="3 columns, and the files before have 2: pass a schema"):
        list(columns.read(tmp_path))


@pytest.mark.parametrize("first", ["a", "b"])
def test_other_files_are_not_read_with_rcfiles(first, tmp_path):
    (tmp_path / first).write_bytes(data_of("none/text"))
    (tmp_path / ("b" if first == "a" else "a")).write_bytes(tb.dumps(1))
    with pytest.raises(ValueError, match="RCFiles and other files cannot be read together"):
        list(columns.read(tmp_path, pairs=False))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"serde": "orc"}, 'serde must be "text" or "binary"'),
        ({"type": int}, "the columns of an RCFile have a schema"),
        ({"on_mismatch": "split"}, "infers types again, and those of an RCFile are given"),
        ({"schema": "long"}, "schema must be a list of types"),
        ({"schema": {0: "long"}}, "the columns of a schema have names"),
        ({"schema": ["raw"]}, "no column of this type: raw"),
        ({"schema": ["vector<int, int>"]}, "name its items"),
        ({"schema": [f"{'list<' * 8}int{'>' * 8}"]}, "8 separators"),
        ({"columns": ["3"]}, "no column '3'"),
    ],
)
def test_what_columns_cannot_be_is_refused(options, message):
    with pytest.raises((ValueError, TypeError, LookupError), match=message):
        columns.read(data_of("none/text"), **options)


class Watched:
    """A file that knows which bytes were read."""

    def __init__(self, path):
        self._file = open(path, "rb", buffering=0)
        self.nbytes = 0
        for name in ("seek", "tell", "seekable", "close"):
            setattr(self, name, getattr(self._file, name))

    def readinto(self, target):
        nbytes = self._file.readinto(target)
        self.nbytes += nbytes
        return nbytes

    def read(self, nbytes):
        data = self._file.read(nbytes)
        self.nbytes += len(data)
        return data


def test_little_more_than_the_columns_wanted_is_read(tmp_path):
    path = tmp_path / "wide"
    column = [os.urandom(40) for _ in range(2000)]
    path.write_bytes(header(20) + 5 * group([column] * 20))
    file = Watched(path)
    reader = columns.read(columns._sources.OpenRCFile(file), schema=["bytes"] * 20, columns=["3", "9", "10"])
    assert sum(map(len, reader)) == 10_000
    file.close()
    assert file.nbytes < 1.1 * 3 / 20 * os.path.getsize(path)


def test_columns_that_are_not_wanted_are_not_decompressed():
    good, spoiled = [b"good"] * 100, [b"%d" % number for number in range(100)]
    data = header(2) + group([good, spoiled])
    packed = data.rindex(b"\x78\x9c")  # of the last column
    damaged = data[: packed + 2] + bytes(len(data) - packed - 2)
    assert len(rows_of(damaged, columns=["0"])) == 100
    with pytest.raises(tb.FormatError, match="damaged compressed data"):
        rows_of(damaged, columns=["1"])


# -- damage -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["default/text", "groups/binary", "none/text/old"])
def test_a_cut_file_gives_its_first_groups_and_an_error(name):
    data = data_of(name)
    whole = read(name)
    schema = {column: ours for column, _, ours in VECTORS[name]["columns"]}
    for end in range(60, len(data), 7):
        try:
            reader = columns.read(data[:end], schema=schema, serde=VECTORS[name]["serde"])
            found = [row for batch in reader for row in batch_rows(batch)]
        except tb.TruncatedError as error:
            assert error.offset == end
        else:
            assert found == whole[: len(found)]  # cut between two groups


def batch_rows(batch):
    import pyarrow

    return pyarrow.record_batch(batch).to_pylist()


@pytest.mark.parametrize("name", VECTORS)
def test_any_byte_may_be_wrong(name):
    """What is read ends at an unreadable page; only an error of the data may come out."""
    data = data_of(name)
    for at in range(0, len(data), max(1, len(data) // 40)):
        check_rcfile(b"\0\0" + data[:at] + bytes([data[at] ^ (1 + at % 255)]) + data[at + 1 :])


HOSTILE = {
    "rows": (header(1) + group([[b""] * 5], nrows=2**31 - 1, lengths=b"\0" + vint(~(2**31 - 2))), "2147483647 rows"),
    "cells": (header(1) + group([[b"ab"] * 5], lengths=vint(3) + vint(~9)), "9 cells of 3 bytes"),
    "few": (header(1) + group([[b"ab"] * 5], nrows=6), "1 rows and 0 bytes more"),
    "size": (header(1) + group([[b"ab"] * 5], size=9), "4 cells of 2 bytes, where 4 with 7 bytes are left"),
    "less": (header(1) + group([[b"ab"] * 5], size=9, lengths=vint(1) + vint(~3) + vint(5)), "9 bytes after decompr"),
    "large": (header(1) + group([[b"ab"] * 5], size=2**31 - 1), "greater than max_bytes"),
    "columns": (header(10**8) + group([[b"ab"]]), "100000000 columns"),
    "no columns": (header(0).replace(b"\x010" + MARKER, b"\x01x" + MARKER), "number of columns"),
    "more columns": (header(3) + group([[b"ab"]]), "ends early"),
    "fewer columns": (header(1) + group([[b"ab"], [b"cd"]]), "bytes after its key"),
    "lengths": (header(1, None) + struct.pack(">iii", 5, 6, 6), "do not fit each other"),
    "key": (header(1, None) + struct.pack(">iii", 2**31 - 1, 9, 9), "greater than max_bytes"),
    "codec": (header(1, b"com.example.Codec"), "unknown codec"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_is_refused_with_its_place(what, tmp_path):
    data, message = HOSTILE[what]
    path = tmp_path / "hostile"
    path.write_bytes(data)
    with pytest.raises(tb.DecodeError, match=message) as caught:
        list(columns.read(path))
    assert caught.value.filename in (path, str(path))
    assert 0 <= caught.value.offset <= len(data)


def test_rows_before_damage_come_first():
    data = header(1, None) + group([[b"1", b"2"]], None) + group([[b"3"]], None, nrows=2)
    reader = columns.read(data, schema=["long"])
    assert batch_rows(next(reader)) == [{"0": 1}, {"0": 2}]
    with pytest.raises(tb.FormatError, match="1 rows") as caught:
        next(reader)
    assert (caught.value.offset, caught.value.record) == (data.rindex(MARKER) + len(MARKER), 2)


class Pipe:
    """A source that is read in small pieces, and cannot go back."""

    def __init__(self, data):
        self._file = io.BytesIO(data)

    def read(self, nbytes):
        return self._file.read(min(nbytes, 1000))


@pytest.mark.parametrize("make", [bytes, io.BytesIO, Pipe])
@pytest.mark.parametrize("wrong", [{"nrows": 9}, {"lengths": b"\x7f"}, {"size": 3}])
def test_after_damage_reading_goes_on_at_the_next_marker(make, wrong):
    cells = [b"%d" % number for number in range(3000)]
    intact, damaged = group([cells], None), group([cells], None, **wrong)
    data = header(1, None) + intact + damaged + intact + damaged + damaged + intact
    file = RCFile(make(data), resync=True)
    found = b"".join(iter(lambda: file.__read_encoded__(1 << 16)[0], b""))
    assert [value for (value,) in tb.Reader(found)] == 3 * [cell.decode() for cell in cells]
    marker = len(MARKER) + 4
    third = data.rindex(damaged)
    places = [(start + marker, len(damaged) - marker) for start in (data.index(damaged), third - len(damaged), third)]
    assert [(part.offset, part.nbytes) for part in file.skipped] == places
    file = RCFile(data[:-5], resync=True)
    assert file.__read_encoded__(-(10**6)) == (b"", b"")
    assert sum(1 for _ in tb.Reader(b"".join(iter(lambda: file.__read_encoded__(1 << 16)[0], b"")))) == 6000
    (*_, last) = file.skipped
    assert last.offset + last.nbytes == len(data) - 5 and isinstance(last.error, tb.TruncatedError)


BINARY = [
    ("int", b"\x8b\x7f\xff\xff\xff\xff", "does not fit in an int"),
    ("int", b"\x8c\x01", "expected a value of 5 bytes, found 2"),
    ("long", b"\x01\x01", "bytes after a value"),
    ("double", b"\0" * 7, "expected a value of 8 bytes, found 7"),
    ("bool", b"\1\1", "bytes after a value"),
    ("date", b"\x88\x7f\xff\xff\xff\xff\xff\xff\xff", "does not fit in an int"),
    ("timestamp<us>", b"\xff\xff\xff\xff\x80\x01\x02\x03\x04\x05\x06\x07\x08", "nanoseconds|expected"),
    ("timestamp<s>", b"\x80\0\0\0\x05", "a fraction that column '0' does not hold: give it the type timestamp<us>"),
    ("timestamp<us>", b"\x80\0\0\0\x8c\x3a\xde\x68\xb1", "does not hold: give it the type bytes"),
    ("decimal<10, 2>", b"\x02\x7f", "expected a value of 127 bytes"),
    ("decimal<10, 2>", b"\x02\x70" + bytes(112), "a decimal of 112 bytes"),
    ("list<int>", b"\x7f\xff", "a count of 127"),
    ("list<string>", b"\x01\x01\x7f", "expected a value of 127 bytes"),
    ("list<list<int>>", b"\x01\x01\xff\xff\xff\xff", "expected a value of -1 bytes"),
    ("list<list<int>>", b"\x01\x01\0\0\0\x04\x01\x01\x05\x06", "1 bytes after the parts"),
    ("map<int, int>", b"\x02\x0f\x01\x02\x03", "expected a value of 1 bytes"),
]


@pytest.mark.parametrize("as_type, cell, message", BINARY)
def test_a_binary_cell_of_another_type_is_refused(as_type, cell, message):
    with pytest.raises(tb.FormatError, match=message):
        rows_of(header(1) + group([[cell]]), schema=[as_type], serde="binary")


def test_text_that_is_not_utf8_is_an_error_unless_its_encoding_is_given():
    data = header(1) + group([["größer".encode("latin-1")]])
    with pytest.raises(tb.FormatError, match="UTF-8"):
        rows_of(data)
    assert rows_of(data, encoding="latin-1") == [{"0": "größer"}]
