"""What convert makes of the rows of Arrow and Parquet, and of the structs in them: VECTORs, or MAPs by the names of columns and fields."""

import io
import subprocess
import sys
import textwrap

import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest

import typedbytes as tb
from commands import bad, good
from typedbytes import sequencefile

TABLE = pyarrow.table({"id": [1, 2], "user": [{"name": "Ada", "tags": [{"t": 1}]}, {"name": "Grace", "tags": []}]})
AS_VECTORS = [(1, ("Ada", [(1,)])), (2, ("Grace", []))]
AS_MAPS = TABLE.to_pylist()


@pytest.fixture(params=["parquet", "arrow", "arrow file", "feather"])
def table(request):
    """Return the bytes of a table in each format."""
    sink = io.BytesIO()
    if request.param == "parquet":
        pyarrow.parquet.write_table(TABLE, sink)
    elif request.param == "feather":
        pyarrow.feather.write_feather(TABLE, sink)
    else:
        new = pyarrow.ipc.new_stream if request.param == "arrow" else pyarrow.ipc.new_file
        with new(sink, TABLE.schema) as writer:
            writer.write_table(TABLE)
    return sink.getvalue()


@pytest.mark.parametrize(("words", "rows"), [([], AS_VECTORS), (["--structs", "vector"], AS_VECTORS), (["--structs", "map"], AS_MAPS)])
def test_structs(table, words, rows):
    assert tb.Decoder().decode_all(good("convert", "--to", "typedbytes", *words, stdin=table)) == rows
    lines = good("convert", "--to", "json", *words, stdin=table)
    assert tb.Decoder().decode_all(good("from-json", stdin=lines)) == rows


def test_structs_of_pairs(table, tmp_path):
    words = ["convert", "--structs", "map", "--pairs", "--to"]
    pairs = [(row["id"], row["user"]) for row in AS_MAPS]
    assert tb.Decoder().decode_pairs(good(*words, "typedbytes", stdin=table)) == pairs
    good(*words, "sequencefile", "-o", str(tmp_path / "a.seq"), stdin=table)
    with sequencefile.Reader(tmp_path / "a.seq") as reader:
        assert list(reader) == pairs


def test_names_come_back_from_a_table(tmp_path):
    people = tb.Encoder().encode_pairs([("a", {"name": "Ada", "born": 1815}), ("b", {"name": "Grace", "born": 1906})])
    path = str(tmp_path / "people.parquet")
    good("convert", "--to", "parquet", "--pairs", "-o", path, stdin=people)
    assert good("convert", "--to", "typedbytes", "--structs", "map", "--pairs", path) == people


def test_nulls_of_maps():
    """A field that is null is left out, as by columns.write; Hive's dialect has a code for it."""
    sink = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"a": [1, None], "b": ["x", "y"]}), sink)
    words = ["convert", "--structs", "map", "--to", "typedbytes"]
    assert tb.Decoder().decode_all(good(*words, stdin=sink.getvalue())) == [{"a": 1, "b": "x"}, {"b": "y"}]
    hive = good(*words, "--dialect", "hive", stdin=sink.getvalue())
    assert tb.Decoder(dialect="hive").decode_all(hive) == [{"a": 1, "b": "x"}, {"a": None, "b": "y"}]


def test_the_row_of_a_null_counts_from_the_first_row_of_the_table():
    sink = io.BytesIO()
    batches = [pyarrow.record_batch({"a": part}) for part in ([1, 2], [3, 4, 5], [6, None])]
    with pyarrow.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    message = bad(65, "convert", "--to", "typedbytes", stdin=sink.getvalue())[1]
    assert message == "standard input: value is null: --dialect hive writes NULL for it, column 0, at [6]"


@pytest.mark.parametrize(("words", "row"), [([], ()), (["--structs", "map"], {})])
def test_rows_without_columns(words, row):
    sink = io.BytesIO()
    batch = pyarrow.record_batch({"a": [1, 2, 3]}).select([])
    with pyarrow.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    assert tb.Decoder().decode_all(good("convert", *words, "--to", "typedbytes", stdin=sink.getvalue())) == [row] * 3


def test_a_table_without_rows():
    sink = io.BytesIO()
    pyarrow.parquet.write_table(TABLE.slice(0, 0), sink)
    assert good("convert", "--structs", "map", "--to", "typedbytes", stdin=sink.getvalue()) == b""


@pytest.mark.parametrize("words, status", [([], 0), (["-o", "/dev/full"], 74)])
def test_no_thread_of_pyarrow_meets_an_interpreter_that_ends(table, words, status):
    """Such a thread aborted one of a thousand conversions of an Arrow file, after all was written."""
    script = """
        import atexit, os, sys
        from typedbytes.cli import main

        class Ended:
            def __del__(self):
                os.write(2, b"the interpreter has ended")

        held = Ended()
        atexit.register(os.write, 2, b"at exit")
        sys.exit(main())
    """
    command = [sys.executable, "-c", textwrap.dedent(script), "convert", "--to", "typedbytes", *words]
    done = subprocess.run(command, input=table, capture_output=True)
    assert (done.returncode, done.stderr[-len(b"at exit") :]) == (status, b"at exit")
    assert tb.Decoder().decode_all(done.stdout) == ([] if status else AS_VECTORS)


def test_structs_where_there_are_none():
    message = "--structs is for converting Arrow and Parquet to other formats"
    assert bad(64, "convert", "--structs", "map", "--to", "parquet")[1] == message
