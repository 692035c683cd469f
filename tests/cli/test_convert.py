"""The command convert: every format into every other."""

import csv
import datetime
import gzip
import io

import pyarrow
import pyarrow.parquet
import pytest

import typedbytes as tb
from support.commands import ONE, PAIR_STREAM, PAIRS, TEXT, bad, good, run, values
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


# The format by the suffix, rows of text, parts of columns.


def test_the_format_is_that_of_the_suffix(file, tmp_path):
    source = file(PAIR_STREAM, "p.tb")
    for suffix, to in ((".parquet", "parquet"), (".arrow", "arrow"), (".seq", "sequencefile"), (".tb", "typedbytes")):
        out = tmp_path / f"out{suffix}"
        good("convert", "--pairs", source, "-o", out)
        assert good("convert", "--to", "typedbytes", "--pairs", out) == PAIR_STREAM, to
    good("convert", "--pairs", source, "-o", tmp_path / "out.jsonl.gz")
    assert gzip.decompress((tmp_path / "out.jsonl.gz").read_bytes()) == good("to-json", "--pairs", source)
    for name in ("out", "out.xyz"):
        message = bad(64, "convert", "--pairs", source, "-o", tmp_path / name)[1]
        assert message.startswith("the format of the output is unknown: give --to FORMAT, or end OUT in .arrow,")
    assert "give --to" in bad(64, "convert", stdin=PAIR_STREAM)[1]
    message = bad(64, "convert", "--pairs", source, "-o", tmp_path / "out.parqet")[1]
    assert message == "no format has the suffix .parqet; did you mean .parquet?"


@pytest.mark.parametrize("words", [[], ["--to", "parquet"]])
def test_an_output_without_its_option(words, file, tmp_path):
    out = f"{tmp_path}/out.parquet"
    message = bad(64, "convert", *words, file(PAIR_STREAM), out)[1]
    assert message == f"{out} is an input that does not exist: -o {out} names the output"


def test_plain_json_is_read_as_it_is(file, tmp_path):
    """What is natural JSON, of an output in JSON, else of the inputs: an object is no tag, whatever its name is."""
    text = b'{"body": {"bytes": "0001"}}\n{"a": {"byte": false}}\n'
    path = file(text, "a.json")
    assert good("convert", "--plain", "--to", "typedbytes", path) == good("from-json", "--plain", stdin=text)
    assert good("convert", "--plain", "--from", "json", "--to", "typedbytes", path, file(b"", "b.tb"))
    good("convert", "--plain", file(text[:28], "first.json"), "-o", tmp_path / "t.parquet")
    (row,) = pyarrow.parquet.read_table(tmp_path / "t.parquet").to_pylist()
    assert row == {"value": [("body", [("bytes", "0001")])]}
    lossless = file(b'{"bytes": "aGk="}\n', "c.json")
    assert good("convert", "--plain", "--to", "json", lossless) == b'"hi"\n'
    other = file(PAIR_STREAM, "p.tb")
    for target in (["--to", "typedbytes"], ["--to", "arrow"], ["--to", "parquet", "-o", f"{tmp_path}/folder/"]):
        message = bad(64, "convert", "--plain", *target, other)[1]
        assert message == f"{other}: --plain is a form of JSON, and this is typedbytes"


@pytest.mark.parametrize(
    "value, held", [({"a": 1, "b": "x"}, "struct<a: int32, b: string>"), ([1, 2], "list<item: int32>")]
)
def test_what_no_cell_can_hold(value, held):
    message = bad(65, "convert", "--to", "csv", "--values", stdin=tb.dumps(value))[1]
    cure = "--flatten makes columns" if type(value) is dict else "--columns chooses others"
    assert f"the column value holds {held}, and a cell of text holds one value: {cure}" in message


@pytest.mark.parametrize(
    "value, held, what",
    [
        ({}, "map<null, null>", "MAPs"),
        ({"a": {}}, "map<string, map<null, null>>", "MAPs"),
        ([{}], "list<item: map<null, null>>", "MAPs"),
        ((), "struct<>", "VECTORs"),
        ((1, ()), "struct<0: int32, 1: struct<>>", "VECTORs"),
    ],
)
def test_empty_values_alone_in_parquet(value, held, what, file, tmp_path):
    """Their types are unknown; where later records have some, --widen finds them."""
    source = file(tb.dumps(value))
    for target in ("out.parquet", "folder/"):
        done = run("convert", "--to", "parquet", "--values", source, "-o", f"{tmp_path}/{target}")
        assert done.returncode == 65 and done.stderr.decode().endswith(
            f"typedbytes convert: {source}: the column value holds {held}, and Parquet has no type for {what} that are "
            "all empty: --widen looks at all records, and arrow and json have it\n"
        )
    message = bad(65, "convert", "--to", "csv", "--values", "--columns", "value", source)[1]
    is_flat = held.startswith("struct<0")
    cure = "--flatten makes columns of its fields" if is_flat else "--columns chooses others, and json has it"
    assert message.endswith(cure)
    assert good("convert", "--values", "--to", "json", source)
    more = file(tb.dumps(value) + tb.dumps({"b": {"c": 1}}), "more.tb")
    assert run("convert", "--widen", "--values", more, "-o", tmp_path / "more.parquet").returncode == 0


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_bytes_that_are_no_text(form, file, tmp_path):
    source = file(tb.dumps("a") + tb.dumps(-1))
    for words in (["--widen"], ["--widen", "-o", f"{tmp_path}/folder/"]):
        message = run("convert", *words, "--to", form, "--values", source).stderr.decode()
        assert (
            f"typedbytes convert: {source}: the column value holds bytes that are not UTF-8, and {form} is text: "
            f"typedbytes to-text --{form} writes bytes as they are, and typedbytes to-json --plain as base64\n"
        ) in message
    assert good("to-text", f"--{form}", "--values", source) == b"a\n-1\n"


@pytest.mark.parametrize("form, delimiter", [("csv", ","), ("tsv", "\t")])
def test_rows_of_text_both_ways(form, delimiter, tmp_path):
    """As Python's csv module reads and writes them."""
    rows = [["name", "n", "x", "day"], ["a,\tb", "1", "0.5", "2024-01-02"], ['say "hi"\nthere', str(1 << 40), "", ""]]
    path = tmp_path / f"in.{form}"
    with open(path, "w", newline="") as sink:
        csv.writer(sink, delimiter=delimiter).writerows(rows)
    good("convert", path, "-o", tmp_path / "t.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "t.parquet")
    assert table.to_pylist() == [
        {"name": "a,\tb", "n": 1, "x": 0.5, "day": datetime.date(2024, 1, 2)},
        {"name": 'say "hi"\nthere', "n": 1 << 40, "x": None, "day": None},
    ]
    good("convert", tmp_path / "t.parquet", "-o", tmp_path / f"back.{form}")
    with open(tmp_path / f"back.{form}", newline="") as source:
        assert list(csv.reader(source, delimiter=delimiter)) == rows
    plain = "name,n\na,1\n".replace(",", delimiter).encode()
    assert good("convert", "--from", form, "--to", "json", "--plain", stdin=plain) == b'["a", 1]\n'
    assert good("convert", "--from", form, "--to", "json", stdin=b"") == b""


@pytest.mark.parametrize("form", ["csv", "tsv"])
@pytest.mark.parametrize(
    ("column", "back"),
    [
        (pyarrow.array([1, None, None, 3]), None),
        (pyarrow.array([None, 1.5, None]), None),
        (pyarrow.array([None, True]), None),
        (pyarrow.array([datetime.date(2026, 5, 1), None]), None),
        (pyarrow.array([None, None]), None),
        (pyarrow.array(["a", None, "", 'two\n\n"lines"']), ["a", "", "", 'two\n\n"lines"']),
        (pyarrow.array(["a", None]).dictionary_encode(), ["a", ""]),
        (pyarrow.array([b"a\n\nb", None, b""]), ["a\n\nb", "", ""]),
        (pyarrow.array([b"ab", None], pyarrow.binary(2)), ["ab", ""]),
    ],
    ids=lambda given: str(given.type) if isinstance(given, pyarrow.Array) else None,
)
def test_no_row_of_one_column_is_lost(form, column, back, tmp_path):
    """An empty cell alone is in quotes, as to-text --csv writes it."""
    pyarrow.parquet.write_table(pyarrow.table({"a": column}), tmp_path / "in.parquet")
    text = (
        good("convert", tmp_path / "in.parquet", "-o", tmp_path / f"t.{form}", "--columns", "a")
        or (tmp_path / f"t.{form}").read_bytes()
    )
    expected = column.to_pylist() if back is None else back
    with io.StringIO(text.decode(), newline="") as lines:
        assert len([row for row in csv.reader(lines) if row]) == 1 + len(column)
    good("convert", tmp_path / f"t.{form}", "-o", tmp_path / "back.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "back.parquet")["a"].to_pylist() == expected
    rows = tb.Decoder().decode_all(good("from-text", f"--{form}", "--header", stdin=text))
    assert [row["a"] for row in rows].count("") == expected.count(None) + expected.count("")


def test_empty_lines_are_rows_where_there_is_one_column():
    def read(text):
        words = ("--from", "csv", "--to", "typedbytes", "--dialect", "hive")
        return tb.Decoder(dialect="hive").decode_all(good("convert", *words, stdin=text))

    for text, rows in (
        (b"a\n1\n\n3\n", [1, None, 3]),
        (b"\n\na\n1\n\n3", [1, None, 3]),
        (b'\xef\xbb\xbf"a\n\n,"\r\n1\r\n\r\n', [1, None]),
        (b"a\n", []),
        (b"a\nx\n\n\n", ["x", "", ""]),
        (b"a,b\n\n1,2\n\n3,4\n\n", [(1, 2), (3, 4)]),
        (b"\n\na,b\n\n1,2", [(1, 2)]),
        (b"a" * 200_000 + b"\n1\n", [1]),
    ):
        assert read(text) == [row if type(row) is tuple else (row,) for row in rows]


def test_fields_of_maps_as_columns(file):
    values = [{"id": 1, "at": (2.5, "x"), "tags": ["t"]}, {"id": 2, "at": (3.5, "y"), "tags": []}]
    stream = tb.Encoder().encode_pairs(list(zip("ab", values)))

    def written(*words):
        return pyarrow.ipc.open_stream(good("convert", "--pairs", "--to", "arrow", *words, stdin=stream)).read_all()

    flat = written("--flatten")
    assert flat.schema.names == ["key", "value.id", "value.at.0", "value.at.1", "value.tags"]
    assert flat.to_pylist()[1] == {
        "key": "b", "value.id": 2, "value.at.0": 3.5, "value.at.1": "y", "value.tags": [],
    }  # fmt: skip
    assert written("--columns", "value.at.1,key").to_pydict() == {"value.at.1": ["x", "y"], "key": ["a", "b"]}
    assert written("--columns", "value.at", "--flatten").schema.names == ["value.at.0", "value.at.1"]
    assert written("--flatten", "--widen").equals(flat)
    message = bad(64, "convert", "--pairs", "--to", "arrow", "--columns", "value.no", stdin=stream)[1]
    assert message == "no column 'no': there are 'id', 'at', 'tags'"
    assert "--flatten makes columns of its fields" in bad(65, "convert", "--pairs", "--to", "csv", stdin=stream)[1]
    assert "not for json" in bad(64, "convert", "--pairs", "--to", "json", "--flatten", stdin=stream)[1]
    rows = good("convert", "--pairs", "--to", "csv", "--flatten", "--columns", "key,value.id", stdin=stream)
    assert rows == b'"key","value.id"\n"a",1\n"b",2\n'


def test_inputs_without_records_are_empty_tables(tmp_path):
    assert good("convert", "--to", "csv", stdin=b"") == b'"value"\n'
    assert good("convert", "--to", "csv", "--pairs", stdin=b"") == b'"key","value"\n'
    folder = tmp_path / "empty"
    folder.mkdir()
    with sequencefile.Writer(folder / "part-0", key_class="Text", value_class="LongWritable"):
        pass
    good("convert", folder, "-o", tmp_path / "one.parquet")
    good("convert", "--to", "parquet", folder, "-o", f"{tmp_path}/many/")
    for name in ("one.parquet", "many/part-00000.parquet"):
        found = pyarrow.parquet.read_table(tmp_path / name)
        assert found.schema == pyarrow.schema([("key", pyarrow.string()), ("value", pyarrow.int64())])
        assert found.num_rows == 0
