"""What convert makes of rows of Arrow and Parquet, and structs in them: VECTORs, or MAPs by field names."""

import datetime
import decimal
import io
import subprocess
import sys
import textwrap

import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest

import typedbytes as tb
from support.commands import bad, good
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


@pytest.mark.parametrize(
    ("words", "rows"), [([], AS_VECTORS), (["--structs", "vector"], AS_VECTORS), (["--structs", "map"], AS_MAPS)]
)
def test_structs(table, words, rows):
    assert tb.Decoder().decode_all(good("convert", "--to", "typedbytes", *words, stdin=table)) == rows
    lines = good("convert", "--to", "json", *words, stdin=table)
    assert tb.Decoder().decode_all(good("from-json", stdin=lines)) == rows


@pytest.fixture
def tables(tmp_path):
    """Return a function that writes tables to files of a folder and returns their paths."""

    def write(**contents):
        paths = [str(tmp_path / f"{name}.parquet") for name in contents]
        for path, columns in zip(paths, contents.values()):
            pyarrow.parquet.write_table(columns if isinstance(columns, pyarrow.Table) else pyarrow.table(columns), path)
        return paths

    return write


@pytest.mark.parametrize("words", [["--values"], ["--pairs"], ["--pairs", "--structs", "map"]], ids=" ".join)
def test_columns_in_another_order_are_found_by_their_names(tables, tmp_path, words):
    """Those of other names are not."""
    ab, ba, cd = tables(ab={"id": ["a"], "name": ["x"]}, ba={"name": ["x"], "id": ["a"]}, cd={"c": ["a"], "d": ["x"]})
    decode = tb.Decoder().decode_pairs if "--pairs" in words else tb.Decoder().decode_all
    for inputs, wanted in (
        ([ab, ba, ab], [("a", "x"), ("a", "x"), ("a", "x")]),
        ([ba, ab, cd], [("x", "a"), ("x", "a"), ("a", "x")]),
        ([str(tmp_path)], [("a", "x"), ("a", "x"), ("a", "x")]),
    ):
        assert decode(good("convert", "--to", "typedbytes", *words, *inputs)) == wanted


def test_columns_of_a_wider_table_are_found_by_their_names(tables):
    """Those that the first does not have come after them."""
    two, moved, wider, same, later, shorter = tables(
        two={"id": [1], "name": ["a"]},
        moved={"name": ["b"], "id": [2], "extra": ["x"]},
        wider={"extra": ["y"], "id": [3], "name": ["c"], "more": [0]},
        same={"id": [4], "name": ["d"], "extra": ["z"]},
        later={"id": [5], "other": ["e"]},
        shorter={"id": [6]},
    )
    words = "convert", "--to", "json", "--plain"
    assert good(*words, two, moved, wider, same, later, shorter) == (
        b'[1, "a"]\n[2, "b", "x"]\n[3, "c", "y", 0]\n[4, "d", "z"]\n[5, "e"]\n[6]\n'
    )
    assert good(*words, wider, wider) == b'["y", 3, "c", 0]\n' * 2


@pytest.mark.parametrize("names", [["name"], ["name", "age"], ["name", "age", "id2"]], ids=" ".join)
def test_a_column_of_the_first_table_is_not_read_as_another(tables, names):
    first, other = tables(first={"id": [1], "name": ["a"]}, other={name: [7] for name in names})
    message = bad(65, "convert", "--to", "json", first, other)[1]
    cure = "(--structs map keeps their names)"
    assert message == f"{other}: the columns are in another order than in {first}, without id {cure}"
    assert len(good("convert", "--to", "json", "--structs", "map", first, other).splitlines()) == 2


def struct_of(**fields):
    """Return an array of one struct, with its fields in this order, which some pyarrow takes otherwise from dicts."""
    return pyarrow.StructArray.from_arrays([pyarrow.array([text]) for text in fields.values()], list(fields))


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda users: users,
        lambda users: pyarrow.ListArray.from_arrays([0, 1], users),
        lambda users: pyarrow.StructArray.from_arrays([pyarrow.ListArray.from_arrays([0, 1], users)], ["more"]),
    ],
    ids=["struct", "list", "deeper"],
)
def test_fields_of_structs_in_another_order_are_refused(tables, wrapped):
    ab, ba, c = tables(
        ab={"id": [1], "user": wrapped(struct_of(a="x", b="y"))},
        ba={"user": wrapped(struct_of(b="y", a="x")), "id": [1]},
        c={"id": [1], "user": wrapped(struct_of(c="y", d="x"))},
    )
    message = bad(65, "convert", "--to", "json", ab, ba)[1]
    assert (
        message == f"{ba}: the column user has fields in another order than in {ab} (--structs map keeps their names)"
    )
    (wider,) = tables(wider={"id": [1], "user": wrapped(struct_of(b="y", a="x", c="z")), "more": [1]})
    message = bad(65, "convert", "--to", "json", ab, wider)[1]
    assert message.startswith(f"{wider}: the column user has fields in another order than in {ab}")
    for kind in "--values", "--pairs":
        assert len(good("convert", "--to", "json", "--structs", "map", kind, ab, ba).splitlines()) == 2
    assert len(good("convert", "--to", "json", ab, c).splitlines()) == 2


def test_columns_that_have_one_name_are_not_put_in_order(tables):
    twice = [pyarrow.array(["x"]), pyarrow.array(["y"]), pyarrow.array(["z"])]
    first, other, same = tables(
        a=pyarrow.table(twice, names=["a", "a", "b"]),
        b=pyarrow.table(twice, names=["a", "b", "a"]),
        c=pyarrow.table(twice, names=["a", "a", "b"]),
    )
    assert len(good("convert", "--to", "json", first, same).splitlines()) == 2
    message = bad(65, "convert", "--to", "json", first, other)[1]
    assert message == (
        f"{other}: the columns are in another order than in {first}, and several have one name "
        "(--structs map keeps their names)"
    )


def test_structs_of_pairs(table, tmp_path):
    words = ["convert", "--structs", "map", "--pairs", "--to"]
    pairs = [(row["id"], row["user"]) for row in AS_MAPS]
    assert tb.Decoder().decode_pairs(good(*words, "typedbytes", stdin=table)) == pairs
    good(*words, "sequencefile", "-o", str(tmp_path / "a.seq"), stdin=table)
    with sequencefile.Reader(tmp_path / "a.seq") as reader:
        assert list(reader) == pairs


def test_pairs_whose_columns_have_the_name_of_the_other_are_refused(tmp_path):
    path = tmp_path / "sums.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"value": [1], "word": ["a"]}), path)
    said = bad(65, "convert", "--pairs", "--to", "json", str(path))[1]
    assert said.endswith(
        "sums.parquet: the columns are named 'value' and 'word', and 'value' is not the first of a pair: rename one"
    )


def test_pairs_of_more_columns_are_refused_by_the_name_of_the_file(tmp_path):
    path = tmp_path / "kept.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"key": ["a"], "value": [1], "__index_level_0__": [7]}), path)
    said = bad(65, "convert", "--pairs", "--to", "json", str(path))[1]
    assert (
        "kept.parquet: expected 2 columns, key and value, not 3: '__index_level_0__' is the index of a pandas frame"
        in said
    )


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
    assert message == "standard input: value is null: --dialect hive writes NULL for it, column 0, at [6][0]"


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


def test_dates_times_and_decimals_are_numbers_and_text(tmp_path):
    moment = datetime.datetime(2026, 11, 28, 5, 4, 59, 123_456)
    table = pyarrow.table({
        "at": pyarrow.array([moment], pyarrow.timestamp("us", "UTC")), "day": [moment.date()], "time": [moment.time()],
        "took": [datetime.timedelta(seconds=1.5)], "price": [decimal.Decimal("850.00")], "tags": [[moment.date()]],
    })  # fmt: skip
    pyarrow.parquet.write_table(table, tmp_path / "in.parquet")
    microseconds = (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)
    row = (microseconds, 20785, microseconds % 86_400_000_000, 1_500_000, "850.00", [20785])
    assert tb.loads(good("convert", "--to", "typedbytes", str(tmp_path / "in.parquet"))) == row
    assert tb.loads(good("convert", "--to", "typedbytes", "--structs", "map", str(tmp_path / "in.parquet"))) == dict(
        zip(table.column_names, row)
    )
    nanoseconds = pyarrow.table({"n": [1, 2], "at": pyarrow.array([0, 1]).cast(pyarrow.timestamp("ns"))})
    pyarrow.parquet.write_table(nanoseconds, tmp_path / "nanoseconds.parquet")
    said = bad(65, "convert", "--to", "typedbytes", str(tmp_path / "nanoseconds.parquet"))[1]
    assert "nanoseconds that are not a whole number of microseconds, column 0, at [1][1]" in said
