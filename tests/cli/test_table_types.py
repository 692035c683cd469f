"""The one schema of a conversion to Arrow or Parquet: values that share no column, types that hold all."""

import decimal
import itertools

import polars
import pyarrow
import pyarrow.parquet
import pytest

import typedbytes as tb
from support.commands import bad, good, run
from typedbytes import Ext

MANY = 70_000  # more records than the schema of a folder is taken from


@pytest.fixture
def inputs(tmp_path):
    """Return a function that writes lists of values, each to a file, and returns the paths."""

    def write(*lists):
        paths = [tmp_path / f"{number}.tb" for number in range(len(lists))]
        for path, values in zip(paths, lists):
            path.write_bytes(tb.Encoder().encode_all(values))
        return [str(path) for path in paths]

    return write


def values_of(path):
    with pyarrow.ipc.open_stream(path) as stream:
        return stream.read_all().column("value").to_pylist()


def encoded(*values):
    return [tb.dumps(value) for value in values]


@pytest.mark.parametrize(
    ("lists", "status", "said"),
    [
        ([[b"x"] * MANY + [5, b"y"]], 65, "values of several types, and the schema has bytes"),
        ([[Ext(60, b"x")] * MANY + [5]], 65, "values of several types, and the schema has ext<60>"),
        ([[Ext(60, b"x")] * MANY + [b"y"]], 65, "values of several types, and the schema has ext<60>"),
        ([[[b"x"]] * MANY + [[5]]], 65, "list<raw>, and the schema has list<bytes>"),
    ],
    ids=["bytes", "ext", "ext and bytes", "nested"],
)
def test_a_folder_holds_no_encoded_values_among_plain_ones(tmp_path, inputs, lists, status, said):
    done = run("convert", "--values", "--to", "arrow", *inputs(*lists), "-o", f"{tmp_path}/out/")
    assert (done.returncode, said in done.stderr.decode()) == (status, True), done.stderr


WIDENED = [
    ([[("k", b"xy"), ("k", 5)], [("k", b"zz")]], [{"0": "k", "1": tb.dumps(value)} for value in (b"xy", 5, b"zz")]),
    ([[[b"xy"]], [[b"xy"], [1]]], [encoded(b"xy"), encoded(b"xy"), encoded(1)]),
    ([[[Ext(60, b"a")]], [[b"b"]]], [encoded(Ext(60, b"a")), encoded(b"b")]),
    ([[{1: b"xy"}], [{1: "s"}]], [[(1, tb.dumps(b"xy"))], [(1, tb.dumps("s"))]]),
    ([[[1]], [[b"xy"], [1]]], [encoded(1), encoded(b"xy"), encoded(1)]),
    ([[(1, 2)], [(1, 2**40)]], [[1, 2], [1, 2**40]]),
    ([[[(1, 2)]], [[(1, 2.5)]]], [[[1.0, 2.0]], [[1.0, 2.5]]]),
    ([[2**53 + 1], [1.5]], encoded(2**53 + 1, 1.5)),
    ([[2**53 + 1] * 65536 + [1.5]], encoded(2**53 + 1) * 65536 + encoded(1.5)),
    ([[2**53] * 65536 + [1.5]], [2.0**53] * 65536 + [1.5]),
    ([[({b"a": 1}, {})], [({b"a": 2**40}, {})]], [{"0": [(b"a", 1)], "1": []}, {"0": [(b"a", 2**40)], "1": []}]),
    ([[{"x": decimal.Decimal("1.5")}], [{"z": 7}]],
     [{"z": None, "x": tb.dumps(decimal.Decimal("1.5"))[5:]}, {"z": 7, "x": None}]),
    ([[(None, 2), (1, 2)], [(3, 2**40)]], [{"0": None, "1": 2}, {"0": 1, "1": 2}, {"0": 3, "1": 2**40}]),
]  # fmt: skip


@pytest.mark.parametrize("out", ["out.arrow", "out/"])
@pytest.mark.parametrize(("lists", "rows"), WIDENED)
def test_widened_types_hold_all_records(tmp_path, inputs, lists, rows, out):
    done = run("convert", "--values", "--widen", "--to", "arrow", *inputs(*lists), "-o", f"{tmp_path}/{out}")
    assert done.returncode == 0, done.stderr
    parts = sorted((tmp_path / "out").glob("part-*")) or [tmp_path / out]
    assert [value for part in parts for value in values_of(part)] == rows


@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_inputs_that_only_look_alike_in_arrow_are_refused(tmp_path, inputs, form):
    """As they are within one input: BYTES, application data and pickles are all binary in Arrow."""
    names = inputs([b"raw bytes"], [Ext(60, b"app payload")], [decimal.Decimal("1.5")])
    for first, second in itertools.permutations(range(3), 2):
        done = run("convert", "--values", "--to", form, names[first], names[second], "-o", f"{tmp_path}/out.x")
        kinds = ("bytes", "ext<60>", "ext<100>")
        said = (
            f"{names[second]}: the column value holds {kinds[second]}, and that of the inputs before {kinds[first]} "
            "(--widen finds a type for all)"
        )
        assert (done.returncode, said in done.stderr.decode()) == (65, True), done.stderr
    assert run("convert", "--values", "--widen", "--to", "arrow", *names, "-o", f"{tmp_path}/out.arrow").returncode == 0
    assert values_of(tmp_path / "out.arrow") == encoded(b"raw bytes", Ext(60, b"app payload"), decimal.Decimal("1.5"))


@pytest.mark.parametrize("option", [("--max-bytes", "9"), ("--from", "typedbytes")])
def test_options_that_widen_would_ignore_are_refused(inputs, option):
    words = ["convert", "--values", "--widen", "--to", "arrow", *option]
    assert bad(64, *words, *inputs([b"x" * 100]))[1].startswith(f"{option[0]} cannot be used with --widen")


FRAME = polars.DataFrame({
    "number": [1, 2, 3],
    "text": ["a", None, "b"],
    "bytes": [b"x", b"", None],
    "category": polars.Series(["p", None, "q"], dtype=polars.Categorical),
    "choice": polars.Series(["u", "v", None], dtype=polars.Enum(["v", "u"])),
    "tags": polars.Series([["p"], [], ["q", "p"]], dtype=polars.List(polars.Categorical)),
    "names": [["a"], None, ["b", None]],
}).with_columns(polars.struct("text", "category").alias("both"))  # fmt: skip


@pytest.mark.parametrize("write", ["write_ipc", "write_ipc_stream"])
@pytest.mark.parametrize("names", [FRAME.columns, ["category"], ["text"]], ids=["all", "category", "text"])
def test_columns_of_polars_become_parquet(write, names, tmp_path):
    """Polars writes views of texts, also as the values of categories, for which pyarrow has no Parquet."""
    frame = FRAME.select(names)
    getattr(frame, write)(tmp_path / "a.arrow")
    good("convert", tmp_path / "a.arrow", "-o", tmp_path / "a.parquet")
    assert polars.read_parquet(tmp_path / "a.parquet").to_dicts() == frame.to_dicts()
    assert pyarrow.parquet.read_table(tmp_path / "a.parquet").to_pylist() == frame.to_dicts()
    getattr(frame.clear(), write)(tmp_path / "none.arrow")
    good("convert", tmp_path / "none.arrow", tmp_path / "a.arrow", "-o", tmp_path / "b.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "b.parquet").to_pylist() == frame.to_dicts()


@pytest.mark.parametrize("nrows", [0, 1])
def test_decimals_that_parquet_does_not_have_are_named(nrows, tmp_path):
    price = pyarrow.array([decimal.Decimal("1500")] * nrows, pyarrow.decimal128(10, -2))
    table = pyarrow.table({"id": pyarrow.array([1] * nrows, pyarrow.int64()), "price": price})
    with pyarrow.ipc.new_stream(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    message = bad(65, "convert", tmp_path / "a.arrow", "-o", tmp_path / "a.parquet")[1]
    assert message.startswith(f"{tmp_path}/a.arrow: the column price holds decimal128(10, -2), and Parquet has no ")


@pytest.mark.parametrize("names, found", [("b", "b"), ("a,b", "b"), ("s.x", "x"), ("b.c", "b"), ("s", None)])
def test_a_name_that_several_columns_have_is_no_choice(names, found, tmp_path):
    structs = pyarrow.StructArray.from_arrays([pyarrow.array([1]), pyarrow.array([2])], ["x", "x"])
    arrays = [pyarrow.array([1]), pyarrow.array([2]), pyarrow.array([3]), structs]
    table = pyarrow.table(arrays, names=["a", "b", "b", "s"])
    with pyarrow.ipc.new_stream(tmp_path / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    words = ["convert", "--to", "arrow", "--columns", names, tmp_path / "a.arrow"]
    if found is None:
        assert good(*words)
    else:
        message = bad(64, *words)[1]
        assert message == f"several columns are named {found!r}, and --columns cannot say which"
