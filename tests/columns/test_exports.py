"""Columns in data frames of pandas, Polars, pyarrow and DuckDB, and lazy frames that read what a query needs."""

import io
import os
import random

import duckdb
import pandas
import polars
import pyarrow
import pytest

import typedbytes as tb
from typedbytes import columns, sequencefile
from typedbytes.columns.tables import SchemaError

ROWS = [(f"w{n % 7}", n) for n in range(5000)]
DATA = tb.Encoder().encode_pairs(ROWS)


@pytest.fixture
def folder(tmp_path):
    for number in range(4):
        part = ROWS[number::4]
        with sequencefile.Writer(tmp_path / f"part-{number}", codec="gzip", block_size=5000) as writer:
            writer.writes(part)
    (tmp_path / "_SUCCESS").touch()
    return tmp_path


def in_files():
    return [row for number in range(4) for row in ROWS[number::4]]


SOURCES = pytest.mark.parametrize(
    "source", [columns.read, lambda data: next(columns.read(data, 10000))], ids=["reader", "batch"]
)


@SOURCES
def test_frames_have_the_rows(source):
    assert list(map(tuple, source(DATA).to_pandas().itertuples(index=False))) == ROWS
    assert source(DATA).to_polars().rows() == ROWS
    table = source(DATA).to_arrow()
    assert isinstance(table, pyarrow.Table) and list(map(tuple, (row.values() for row in table.to_pylist()))) == ROWS
    found = source(DATA)  # noqa: F841 - the query names it
    assert duckdb.sql("select key, sum(value) from found group by key order by key").fetchall() == [
        (f"w{k}", sum(range(k, 5000, 7))) for k in range(7)
    ]


def test_what_is_left_of_a_reader():
    reader = columns.read(DATA, 1000)
    next(reader)
    assert [len(batch) for batch in reader.read_all()] == [1000] * 4
    reader = columns.read(DATA, 1000)
    next(reader)
    assert reader.to_polars().rows() == ROWS[1000:]
    assert columns.read(b"").to_pandas().shape == (0, 2)


WHOLE = {
    "read_all": lambda reader: reader.read_all(),
    "to_arrow": lambda reader: reader.to_arrow(),
    "to_pandas": lambda reader: reader.to_pandas(),
    "to_polars": lambda reader: reader.to_polars(),
    "pyarrow": pyarrow.table,
    "duckdb": lambda reader: duckdb.sql("from reader").fetchall(),
    "write": lambda reader: columns.write(io.BytesIO(), reader),
}


@pytest.mark.parametrize("second", WHOLE)
@pytest.mark.parametrize("first", WHOLE)
def test_a_reader_is_read_once(first, second):
    """The second result would be empty. Without records the first one is."""
    for data in (DATA, b""):
        reader = columns.read(data, 1000)
        WHOLE[first](reader)
        for _ in range(2):
            with pytest.raises((ValueError, duckdb.Error), match="BatchReader has been read; open it again with"):
                WHOLE[second](reader)
        assert list(reader) == [] and reader.failure is None and list(reader.schema) == ["key", "value"]


def test_a_reader_at_its_end_that_was_iterated():
    reader = columns.read(DATA)
    assert sum(map(len, reader)) == len(ROWS)
    assert list(reader) == [] and reader.to_arrow().num_rows == 0
    with pytest.raises(ValueError, match="has been read"):
        reader.to_arrow()


def test_streams_of_a_reader_share_its_batches():
    """DuckDB asks for several, of which it reads some, or none for a schema."""
    reader = columns.read(DATA, 1000)
    unused, first, second = (pyarrow.RecordBatchReader.from_stream(reader) for _ in range(3))
    assert unused.schema.names == ["key", "value"] and first.read_all().num_rows == len(ROWS)
    with pytest.raises(OSError, match="ValueError: this BatchReader has been read"):  # pyarrow's
        second.read_all()
    reader = columns.read(DATA, 1000)
    assert duckdb.sql("select count(*) from reader a join reader b using (value)").fetchall() == [(len(ROWS),)]
    reader = columns.read(DATA, 1000)
    assert next(pyarrow.RecordBatchReader.from_stream(reader)).num_rows == 1000
    assert reader.to_arrow().num_rows == len(ROWS) - 1000


def test_options_of_pandas():
    frame = columns.read(DATA).to_pandas(types_mapper=pandas.ArrowDtype)
    assert frame["value"].dtype == pandas.ArrowDtype(pyarrow.int32())


@SOURCES
def test_the_constructor_of_pandas_is_refused(source):
    """It would make one column of batches."""
    with pytest.raises((TypeError, ValueError)):
        pandas.DataFrame(source(DATA))


def test_reprs(tmp_path):
    reader = columns.read(DATA)
    assert repr(reader) == "<BatchReader of {'key': 'string', 'value': 'int'}>"
    assert reader.to_polars().rows() == ROWS
    assert repr(reader) == "<BatchReader, closed>"
    read_end, write_end = os.pipe()
    with open(read_end, "rb") as pipe, open(write_end, "wb"):
        assert repr(columns.read(pipe)) == "<BatchReader, not read yet>"
        assert columns.read(pipe)._repr_html_() is None
    damaged = columns.read(b"\x07")
    assert repr(damaged).startswith("<BatchReader, failed: input ends")
    assert repr(columns.read(DATA, schema=["string", "long"])).startswith("<BatchReader, failed: INT in column 'value'")


def test_notebooks_show_the_first_rows():
    data = tb.Encoder().encode_pairs([("<b>", n) for n in range(50)])
    for shown in (columns.read(data), next(columns.read(data))):
        html = shown._repr_html_()
        assert "<th>key<br><small>string</small></th>" in html and "&lt;b&gt;" in html and "<b>" not in html
        assert html.count("<td>&lt;b&gt;</td>") == 10


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("split_size", [1000, 1 << 20])
def test_a_lazy_frame_has_the_rows_in_order(folder, threads, split_size):
    frame = columns.scan_polars(folder, threads=threads, split_size=split_size)
    assert frame.collect_schema() == {"key": polars.String, "value": polars.Int32}
    assert frame.collect().rows() == in_files()
    assert frame.select("value").collect().rows() == [(n,) for _, n in in_files()]
    assert frame.filter(polars.col("value") % 1000 == 7).select("key").collect().rows() == [
        (key,) for key, n in in_files() if n % 1000 == 7
    ]
    assert frame.head(1300).collect().rows() == in_files()[:1300]
    assert (
        frame.filter(polars.col("key") == "w3").head(2).collect().rows()
        == [row for row in in_files() if row[0] == "w3"][:2]
    )
    counted = frame.group_by("key").agg(polars.col("value").sum()).sort("key").collect(engine="streaming")
    assert counted.rows() == [(f"w{k}", sum(range(k, 5000, 7))) for k in range(7)]


def query(seed, frame):
    """Return a frame after a few random steps, the same for a seed."""
    numbers = random.Random(seed)
    for _ in range(numbers.randint(1, 4)):
        n, step = numbers.randint(0, 900), numbers.randrange(6)
        if step == 0:
            frame = frame.head(n)
        elif step == 1:
            frame = frame.filter(polars.col("key") == f"w{n % 8}")
        elif step == 2:
            frame = frame.filter(polars.col("value") % 3 != n % 3)
        elif step == 3:
            frame = frame.slice(n % 90, n)
        elif step == 4:
            frame = frame.tail(n)
        else:
            frame = frame.with_columns(polars.col("value") + n)
    return frame.select("value") if numbers.random() < 0.3 else frame


@pytest.mark.parametrize("threads", [1, 2])
def test_a_query_finds_the_rows_that_it_finds_in_a_plain_frame(folder, threads):
    """Polars names a number of rows and a filter together, and means the rows before the filter."""
    plain = polars.DataFrame(in_files(), schema={"key": polars.String, "value": polars.Int32}, orient="row").lazy()
    lazy = columns.scan_polars(folder, threads=threads, split_size=1000)
    of_key = polars.col("key") == "w3"
    assert lazy.head(40).filter(of_key).collect().rows() == [row for row in in_files()[:40] if row[0] == "w3"]
    for seed in range(60):
        assert query(seed, lazy).collect().rows() == query(seed, plain).collect().rows(), seed


def test_what_a_query_does_not_need_is_not_read(folder):
    """Damage is found only where a query reads."""
    frame = columns.scan_polars(str(folder))
    for number in (1, 2, 3):
        (folder / f"part-{number}").write_bytes(b"not a part")
    assert frame.head(1000).collect().rows() == in_files()[:1000]
    with pytest.raises(Exception, match="part-1"):
        frame.collect()
    # A value that no column of a query has is skipped, whatever it is.
    (folder / "wide").write_bytes(DATA + tb.Encoder().encode_pairs([("w", "text")]))
    assert columns.scan_polars(folder / "wide").select("key").collect().height == len(ROWS) + 1


def test_a_lazy_frame_of_types_and_of_several_schemas(tmp_path):
    columns.write(tmp_path / "a", {"value": [(1, "x")]}, pairs=False)
    columns.write(tmp_path / "b", {"value": [(1 << 40, "y")]}, pairs=False)
    files = [str(tmp_path / name) for name in "ab"]
    merged = columns.scan_polars(files, pairs=False, merge=True).unnest("value").collect()
    assert merged.rows() == [(1, "x"), (1 << 40, "y")]
    typed = columns.scan_polars(files, type=tuple[int, str])
    assert typed.unnest("value").collect().rows() == merged.rows()
    with pytest.raises(Exception, match="the schema has"):
        columns.scan_polars(files, pairs=False).collect()


def test_a_lazy_frame_names_the_option_for_several_types(tmp_path):
    """Those of the first records are merged, later ones need a type."""
    for name, values in {"a": [1, 2], "b": [1 << 40], "c": [2.5]}.items():
        (tmp_path / name).write_bytes(tb.Encoder().encode_pairs([("k", value) for value in values]))
    with pytest.raises(SchemaError, match="/b: .* all of the numbers: merge=True takes the schema from all") as caught:
        columns.scan_polars(tmp_path).collect()
    assert caught.value.filename == str(tmp_path / "b")
    assert columns.scan_polars(tmp_path, merge=True).collect()["value"].to_list() == [1, 2, 1 << 40, 2.5]
    (tmp_path / "d").write_bytes(tb.Encoder().encode_pairs([("k", 1)] * 70_000 + [("k", "text")]))
    with pytest.raises(SchemaError, match="/d: .*: key_type= and value_type= set the schema$"):
        columns.scan_polars(tmp_path, merge=True).collect()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"schema": ["string", "long"]}, "schema= .*RCFiles: merge=True takes the schema from all files, and key"),
        ({"schema": ["string", "long"], "key_type": str}, "schema= .*: .* key_type= and value_type= set it"),
        ({"on_mismatch": "widen", "pairs": False}, "on_mismatch= .*: .* all files, and type= sets it"),
        ({"columns": ["key"]}, r"columns= .*: a query names those that it needs, as in select\(\.\.\.\)"),
        ({"columns": ["key"], "key_type": str, "value_type": int}, "columns= .*: a query names"),
    ],
)
def test_options_that_a_lazy_frame_does_not_have(folder, options, message):
    with pytest.raises(ValueError, match=f"^scan_polars has {message}"):
        columns.scan_polars(folder, **options)


def test_an_option_that_is_none_is_not_given(folder):
    for types in ({}, {"key_type": str, "value_type": int}):
        frame = columns.scan_polars(folder, schema=None, on_mismatch=None, columns=None, **types)
        assert frame.collect().equals(columns.scan_polars(folder, **types).collect())


def test_a_lazy_frame_of_nothing(tmp_path):
    with pytest.raises(FileNotFoundError):
        columns.scan_polars(str(tmp_path / "none" / "part-*"))
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(SchemaError, match="no records to take the schema from: key_type= and value_type= set it$"):
        columns.scan_polars(tmp_path)
    with pytest.raises(SchemaError, match="no records to take the schema from: type= sets it$"):
        columns.scan_polars(tmp_path, pairs=False)
    assert columns.scan_polars(tmp_path, key_type=str, value_type=int).collect().shape == (0, 2)
    with columns.read(io.BytesIO(b"")) as reader:
        assert reader.to_polars().shape == (0, 2)


@pytest.mark.parametrize("name", ["to_arrow", "to_pandas", "to_polars", "read_all"])
@pytest.mark.parametrize("defect", [b"\x07\0\0", b"\x0e"], ids=["truncated", "unknown code"])
def test_damage_is_the_error_of_a_reader(name, defect):
    """Also where another library has called the reader, and has made an error of its own of it."""
    pytest.importorskip(name.removeprefix("to_") if name in ("to_pandas", "to_polars") else "pyarrow")
    with pytest.raises(tb.DecodeError) as expected:
        list(columns.read(DATA + defect))
    reader = columns.read(DATA + defect)
    with pytest.raises(type(expected.value)) as caught:
        getattr(reader, name)()
    assert caught.value is reader.failure and str(caught.value) == str(expected.value)
    assert name == "read_all" or type(caught.value).__name__ in str(caught.value.__cause__)


def test_the_error_of_a_reader_is_not_its_own_cause(tmp_path):
    """Where the library hands it on as it is."""
    pytest.importorskip("pyarrow")
    (tmp_path / "text").write_text("some text\n")
    with pytest.raises(tb.DecodeError) as caught:
        columns.read(tmp_path / "text").to_arrow()
    assert caught.value.__cause__ is not caught.value


def test_the_error_of_a_source_is_raised_from_a_frame():
    class Source:
        def read(self, nbytes):
            raise ConnectionError("worn out")

    with pytest.raises(ConnectionError, match="^worn out$"):
        columns.read(Source()).to_arrow()
