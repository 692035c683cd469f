"""The command convert: every format into every other."""

import io

import pyarrow
import pyarrow.parquet
import pytest

from support.commands import ONE, PAIR_STREAM, PAIRS, TEXT, bad, good, values
from typedbytes import sequencefile
from typedbytes.cli._tables import arrow


@pytest.mark.parametrize("name", ["json", "sequencefile", "block"])
def test_every_format_and_back(name, file):
    other = good("cat", "--pairs", "--to", name, stdin=PAIR_STREAM)
    assert good("cat", "--pairs", stdin=other) == good("cat", "--pairs", file(other)) == PAIR_STREAM
    assert good("cat", "--pairs", "--from", name, stdin=other) == PAIR_STREAM
    assert good("count", "--pairs", stdin=other) == b"100\n"


# Each process that needs pyarrow costs more than all others of a test.
@pytest.mark.parametrize("name", ["arrow", "parquet"])
def test_tables_and_back(name, file):
    many = good("convert", "--pairs", "--to", name, file(PAIR_STREAM), file(PAIR_STREAM, "b.tb"))
    assert good("convert", "--pairs", "--from", name, "--to", "typedbytes", file(many)) == PAIR_STREAM * 2
    other = {"arrow": "parquet", "parquet": "arrow"}[name]
    same = good("convert", "--from", name, "--to", other, stdin=many)
    assert values(good("convert", "--from", other, "--to", "typedbytes", stdin=same)) == PAIRS * 2
    assert bad(65, "convert", "--from", name, "--to", "typedbytes", stdin=b"no table")


def test_no_tables():
    assert "no records to take the columns from" in bad(65, "convert", "--to", "arrow")[1]
    assert "STRING in column" in bad(65, "convert", "--to", "parquet", stdin=ONE + TEXT)[1]
    assert "expected 2 columns, key and value, not 1" in bad(
        65, "convert", "--pairs", "--from", "arrow", "--to", "json", stdin=good("convert", "--to", "arrow", stdin=ONE)
    )[1]  # fmt: skip


def test_mistakes_of_ours_are_not_blamed_on_the_data():
    with pytest.raises(TypeError, match="ours"), arrow.as_data_failure("table"):
        raise TypeError("ours")


def written_table(name, table):
    sink = io.BytesIO()
    if name == "parquet":
        pyarrow.parquet.write_table(table, sink)
    else:
        with pyarrow.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    return sink.getvalue()


@pytest.mark.parametrize("name", ["arrow", "parquet"])
def test_a_table_without_rows_has_columns(name):
    fields = [("a", pyarrow.int32()), pyarrow.field("b", pyarrow.list_(pyarrow.string()), nullable=False)]
    empty = pyarrow.schema(fields).empty_table()
    copied = good("convert", "--from", name, "--to", "parquet", stdin=written_table(name, empty))
    assert pyarrow.parquet.read_table(io.BytesIO(copied)).equals(empty)
    assert good("convert", "--from", name, "--to", "json", "--pairs", stdin=written_table(name, empty)) == b""


def test_a_null_of_a_table():
    data = written_table("parquet", pyarrow.table({"a": [1, None], "b": ["x", "y"]}))
    message = bad(65, "convert", "--from", "parquet", "--to", "json", "--pairs", stdin=data)[1]
    assert message == "standard input: value is null: --dialect hive writes NULL for it, column 0, at [1]"
    hive = good("convert", "--from", "parquet", "--to", "json", "--pairs", "--dialect", "hive", stdin=data)
    assert hive == b'[{"long": 1}, "x"]\n[null, "y"]\n'


@pytest.mark.parametrize("codec", ["none", "gzip", "zstd"])
def test_codecs(codec):
    data = good("convert", "--pairs", "--to", "sequencefile", "--codec", codec, stdin=PAIR_STREAM)
    assert good("dumptb", stdin=data) == PAIR_STREAM
    with sequencefile.Reader(data) as reader:
        assert reader.compression == ("none" if codec == "none" else "block")


def test_a_sequence_file_holds_pairs():
    assert "holds pairs" in bad(64, "cat", "--to", "sequencefile", stdin=ONE)[1]
