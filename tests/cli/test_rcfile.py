"""RCFiles by the command: named, their rows as values, and as tables by a schema.

Not here: the format. Invariant: the files are Hive's own, and the rows those that Hive reads.
"""

import io
import json

import pyarrow
import pyarrow.parquet
import pytest

import typedbytes as tb
from support.commands import bad, good
from support.vectors import read_jsonl

FILES = {each["name"]: each for each in read_jsonl("sequencefile/rcfiles.jsonl")}
SCHEMA = "id: long, name: string, x: double"


@pytest.fixture
def rcfile(file):
    return lambda name: file(bytes.fromhex(FILES[name]["hex"]))


def rows(name):
    return eval(FILES[name]["rows"], {"__builtins__": {}}, {})


def test_sniff_shows_the_header(rcfile):
    for name, version in (("gzip/text", 1), ("gzip/text/old", 0)):
        (row,) = map(json.loads, good("sniff", rcfile(name)).splitlines())
        assert (row["format"], row["holds"], row["version"], row["columns"]) == ("rcfile", "rows", version, 3)
        assert row["codec"] == "org.apache.hadoop.io.compress.GzipCodec"
        assert row["metadata"] == {"hive.io.rcfile.column.number": "3", "made by": "Hive"}


@pytest.mark.parametrize("name", ["groups/text", "none/text/old"])
def test_rows_are_vectors_of_text(name, rcfile):
    expected = [tuple(None if cell is None else str(cell) for cell in row) for row in rows(name)]
    assert list(tb.Reader(good("cat", rcfile(name)))) == expected
    assert list(tb.Reader(good("head", "-n", "7", rcfile(name)))) == expected[:7]
    assert int(good("count", rcfile(name))) == len(expected)


@pytest.mark.parametrize("name", ["groups/text", "groups/binary", "snappy/text/old", "empty"])
def test_a_schema_gives_parquet_its_columns(name, rcfile, tmp_path):
    out = tmp_path / "rows.parquet"
    good("convert", "--schema", SCHEMA, "--serde", FILES[name]["serde"], "-o", str(out), rcfile(name))
    table = pyarrow.parquet.read_table(out)
    assert [str(field.type) for field in table.schema] == ["int64", "string", "double"]
    assert [list(row.values()) for row in table.to_pylist()] == rows(name)


def test_chosen_columns_and_fields_are_written(rcfile, tmp_path):
    out = tmp_path / "rows.csv"
    how = ("--schema", "ints: list<int>, counts: map<string, long>, pair: row<a: int, b: string>")
    good("convert", *how, "--columns", "pair.b,pair.a", "-o", str(out), rcfile("nested/text"))
    assert out.read_text("utf-8").splitlines()[:2] == ['"pair.b","pair.a"', '"seven",7']


def test_rows_become_json_with_the_names_of_their_columns(rcfile):
    data = good("convert", "--schema", SCHEMA, "--structs", "map", "--to", "typedbytes", rcfile("default/text"))
    assert next(iter(tb.Reader(io.BytesIO(data)))) == {"id": 0, "x": 0.0}


def test_a_schema_that_is_none_is_refused(rcfile):
    assert "--schema: 'row<id>' is not a column type" in bad(64, "convert", "--schema", "id", "--to", "arrow", "-")[1]
