"""Rows of Hive's TRANSFORM: the bytes that hive-contrib gives to a script, and what its reader makes of ours.

Here: rows that Hive's own classes wrote and read; what a script has to be refused. Not here: single codes of the
dialect. Invariant: expected bytes are Hive's.
"""

import io
import re
import struct

import pytest

import typedbytes as tb
from support.vectors import read_jsonl
from typedbytes import hive

ROWS = read_jsonl("foreign/hive/rows.jsonl")
GIVEN = {each["given"]: each for each in ROWS if "given" in each}
TAKEN = {each["taken"]: each for each in ROWS if "taken" in each}
PYTHON = {"float": lambda text: struct.unpack(">f", struct.pack(">f", float(text)))[0], "double": float,
          "boolean": lambda text: text == "true", "string": str}  # fmt: skip


def row_of(values, types):
    """Return a row by the texts of its values in Java."""
    return tuple(
        None if value is None else PYTHON.get(name, int)(value) for value, name in zip(values, types.split(","))
    )


def written(rows, types):
    sink = io.BytesIO()
    with hive.RowWriter(sink, types) as out:
        out.writes(rows)
    return sink.getvalue()


@pytest.mark.parametrize("name", [name for name, each in GIVEN.items() if "hex" in each])
def test_a_row_that_hive_gives_is_read(name):
    vector = GIVEN[name]
    data, row = bytes.fromhex(vector["hex"]), row_of(vector["row"], vector["types"])
    assert list(hive.read_rows(data)) == [row]
    assert list(hive.read_rows(io.BytesIO(data * 3))) == [row] * 3
    for cut in range(1, len(data)):
        rows = hive.read_rows(data + data[:cut])
        assert next(rows) == row
        with pytest.raises(tb.TruncatedError):
            next(rows)


@pytest.mark.parametrize("name", ["least", "most", "infinite"])
def test_the_bytes_that_hive_gives_are_written(name):
    vector = GIVEN[name]
    data, row = bytes.fromhex(vector["hex"]), row_of(vector["row"], vector["types"])
    assert written([row, list(row)], vector["types"]) == 2 * data
    assert written([row], vector["types"].split(",")) == data
    words = ",  ".join(f"`c {n}` {name.upper()}" for n, name in enumerate(vector["types"].split(",")))
    assert written([row], words) == data


def test_rows_are_those_that_hives_reader_took():
    """Of the types of the table each, whatever number a value is."""
    vector = TAKEN["both"]
    assert vector["error"] is None
    rows = [row_of(row, vector["types"]) for row in vector["rows"]]
    assert written(rows, vector["types"]).hex() == vector["hex"]
    assert TAKEN["int then long"]["error"].endswith("datatype of row changed from INT to LONG")
    assert written([(1,), (2,)], "bigint").hex() == "040000000000000001b1040000000000000002b1"


def test_a_null_is_given_for_a_string_alone_and_never_taken():
    """As its own reader looks for the type of a column where there is none."""
    for name, each in GIVEN.items():
        if name.startswith("null of ") and name != "null of string":
            assert each["error"].startswith("java.lang.NullPointerException")
    for name in ("null first", "null second"):
        assert TAKEN[name]["error"]
    assert list(hive.read_rows(bytes.fromhex(GIVEN["null of string"]["hex"]))) == [(None,)]
    with pytest.raises(tb.EncodeTypeError, match="row 1, column 2: expected string, not None: Hive takes no"):
        written([(1, None)], "int,string")


@pytest.mark.parametrize("name", ["cut after a value", "no end of the last row"])
def test_a_row_without_its_end_is_an_error_where_hive_loses_it(name):
    vector = TAKEN[name]
    assert vector["error"] is None and len(vector["rows"]) == 1
    with pytest.raises(tb.TruncatedError, match="the input ends inside a row, after 1 values"):
        list(hive.read_rows(bytes.fromhex(vector["hex"])))


@pytest.mark.parametrize("name", ["too few", "too many", "empty row"])
def test_rows_of_other_lengths_are_refused_as_hive_fails(name):
    vector = TAKEN[name]
    assert vector["error"]
    (row, *_) = hive.read_rows(bytes.fromhex(vector["hex"]))
    with pytest.raises(tb.EncodeValueError, match=r"row 1 has \d columns, not \d"):
        written([row], vector["types"])


BEYOND = [
    ("tinyint", 128), ("tinyint", -129), ("smallint", 1 << 15), ("smallint", -(1 << 15) - 1), ("int", 1 << 31),
    ("bigint", 1 << 63), ("float", 1e39), ("double", 10**400), ("string", "\ud83d"),
]  # fmt: skip
OTHERS = [
    ("int", True), ("int", 1.0), ("int", "1"), ("boolean", 1), ("float", False), ("double", "1"), ("string", b"a"),
    ("string", 5), ("bigint", None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "value", "error"),
    [*((*each, tb.EncodeValueError) for each in BEYOND), *((*each, tb.EncodeTypeError) for each in OTHERS)],
)
def test_a_value_that_is_none_of_its_column_is_refused_and_nothing_of_its_row_written(kind, value, error):
    sink = io.BytesIO()
    with hive.RowWriter(sink, ["string", kind]) as out:
        good = ("a", "b" if kind == "string" else kind == "boolean" or 1)
        out.write(good if kind != "boolean" else ("a", True))
        with pytest.raises(error):
            out.write(("c", value))
        out.write(good if kind != "boolean" else ("a", True))
    assert [name for name, _ in hive.read_rows(sink.getvalue())] == ["a", "a"]


def test_a_float_is_written_in_four_bytes_and_read_back():
    data = written([(0.1,), (3,)], "float")
    assert data == b"\5" + struct.pack(">f", 0.1) + b"\xb1\5" + struct.pack(">f", 3) + b"\xb1"
    assert list(hive.read_rows(data)) == [(struct.unpack(">f", struct.pack(">f", 0.1))[0],), (3.0,)]


@pytest.mark.parametrize("types", ["", "int,", "decimal(9, 2)", [], ["array<int>"], "points int string2"])
def test_types_that_the_serde_does_not_have_are_refused(types):
    with pytest.raises(ValueError, match="of a column; known: tinyint|a row has at least one column"):
        hive.RowWriter(io.BytesIO(), types)


@pytest.mark.parametrize("name", ["decimal(10,2)", "varchar(20)", "char(3)", "date", "timestamp", "binary"])
def test_types_that_hive_casts_are_refused_with_the_cure(name):
    message = re.escape(f"unknown type {name!r} of a column; known: tinyint, ")
    message += ".*; write it as a string, and CAST it in the query$"
    for types in (f"name string, price {name.upper()}, n int", [name], f"price {name.replace(',', ', ')}"):
        with pytest.raises(ValueError, match=message):
            hive.RowWriter(io.BytesIO(), types)


def test_commas_inside_a_type_do_not_end_it():
    for types in ("a int, s struct<x:int, y:decimal(3,1)>, b int", "struct<x:int,y:decimal(3,1)>"):
        with pytest.raises(ValueError, match=re.escape("unknown type 'struct<x:int,y:decimal(3,1)>' of a column")):
            hive.RowWriter(io.BytesIO(), types)


def test_values_that_are_no_typed_bytes_of_hive_are_an_error():
    rows = hive.read_rows(b"\3\0\0\0\1\xb1\x0d")
    assert next(rows) == (1,)
    for _ in range(2):
        with pytest.raises(tb.FormatError, match="unknown type code 13"):
            next(rows)


@pytest.mark.parametrize("name", ["float", "double"])
@pytest.mark.parametrize("value", [10**400, -(10**309)], ids=["most", "least"])
def test_whole_numbers_that_no_float_holds_are_refused(name, value):
    with pytest.raises(tb.EncodeValueError, match=f"^row 1, column 1: the value does not fit in {name}$"):
        written([(value,)], f"n {name}")


def test_text_that_is_not_utf8_is_written_back_as_it_was_read():
    data = b"\3\0\0\0\1\7\0\0\0\2\xffa\xb1"
    (row,) = hive.read_rows(data, unicode_errors="surrogateescape")
    sink = io.BytesIO()
    with hive.RowWriter(sink, "n int, name string", unicode_errors="surrogateescape") as out:
        out.write(row)
        with pytest.raises(tb.EncodeValueError, match="^row 2, column 2: str cannot be encoded as UTF-8"):
            out.write((2, "\ud83d"))
        out.write(row)
    assert sink.getvalue() == data * 2
    with pytest.raises(LookupError, match="unknown error handler"):
        hive.RowWriter(io.BytesIO(), "n int", unicode_errors="other")


def test_text_that_cannot_be_encoded_is_named_by_row_and_column():
    with pytest.raises(tb.EncodeValueError) as caught:
        written([(1, "a", "b"), (2, "a", "b\udcff")], "int,string,string")
    said = "row 2, column 3: str holds a lone surrogate, which UTF-8 cannot encode: pass unicode_errors="
    assert str(caught.value).startswith(said) and caught.value.option == "unicode_errors"


@pytest.mark.parametrize(
    "types",
    [
        "name STRING COMMENT 'who', points BIGINT", "name string comment 'who, or what (at' , points bigint",
        "`na,me` STRING COMMENT \"it's\", `points, (all` BIGINT COMMENT 'x'",
        "`a``,b` string, points\nbigint COMMENT ''", r"name STRING COMMENT 'it\'s, a', points BIGINT COMMENT 'a\\'",
        "name STRING COMMENT'a''b, c', points BIGINT",
    ],
)  # fmt: skip
def test_comments_and_quoted_names_of_the_as_clause_are_left_out(types):
    assert hive.RowWriter(io.BytesIO(), types).types == ("string", "bigint")


@pytest.mark.parametrize(
    "types",
    ["name STRING COMMENT name, n INT", "name STRING COMMENT 'name, n INT", "name STRING 'who'", "name COMMENT 'a'"],
)
def test_what_is_no_comment_is_no_type(types):
    with pytest.raises(ValueError, match="of a column; known: tinyint"):
        hive.RowWriter(io.BytesIO(), types)
