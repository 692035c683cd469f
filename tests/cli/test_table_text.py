"""The cells of CSV and TSV: each value as its text, or an error that names the input and the column."""

import csv
import datetime
import io
import uuid

import polars
import pyarrow
import pyarrow.parquet
import pytest

from support.commands import bad, good, run

IDS = [uuid.UUID(int=2**128 - 1), None, uuid.UUID(int=5)]


def stream(*arrays, names="ab"):
    """Return a stream of Arrow with these columns."""
    table, sink = pyarrow.table(list(arrays), names=list(names[: len(arrays)])), io.BytesIO()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def rows_of(text, delimiter=","):
    return list(csv.reader(io.StringIO(text.decode(), newline=""), delimiter=delimiter))


@pytest.mark.parametrize("form, delimiter", [("csv", ","), ("tsv", "\t")])
@pytest.mark.parametrize(
    "texts",
    [
        ["id,code\n1,12\n", 'id,code\n2,"7,5"\n3,"say ""hi"""\n4,"two\n\nlines"\n', "id,code\n5,1.5\n"],
        ['id,code\nx,"7,5"\n', "id,code\n2,12\n", 'id,code\n2026-05-01,"a\t"\n'],
        ["id\n1\n", 'id\n"a,b"\n""\n', "id\n1.5\n\n"],
    ],
    ids=["numbers first", "texts first", "one column"],
)
def test_rows_of_other_types_than_the_first_are_right(texts, form, delimiter, tmp_path):
    """The quotes were those of the first types: cells with commas became two."""
    paths, expected = [], None
    for number, text in enumerate(texts):
        paths.append(tmp_path / f"{number}.csv")
        paths[-1].write_text(text)
        header, *rows = list(csv.reader(io.StringIO(text, newline="")))
        expected = (expected or [header]) + [row or [""] for row in rows]
    good("convert", *paths, "-o", tmp_path / f"out.{form}")
    assert rows_of((tmp_path / f"out.{form}").read_bytes(), delimiter) == expected


@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_a_column_of_another_type_is_named(form, tmp_path):
    for name, text in (("a", "id,code\n1,12\n"), ("b", "id,code\n1,x\n")):
        (tmp_path / f"{name}.csv").write_text(text)
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    message = bad(65, "convert", "--to", form, first, second)[1]
    assert message == f"{second}: the column code holds string, and that of {first} int64"


FRAME = polars.DataFrame(
    {
        "text": ["a", None, 'say "hi", all'],
        "bytes": [b"x", b"", None],
        "category": polars.Series(["p", None, "q,r"], dtype=polars.Categorical),
        "choice": polars.Series(["u", "v", None], dtype=polars.Enum(["v", "u"])),
    }
)
CELLS = [["a", "x", "p", "u"], ["", "", "", "v"], ['say "hi", all', "", "q,r", ""]]


@pytest.mark.parametrize("form, delimiter", [("csv", ","), ("tsv", "\t")])
@pytest.mark.parametrize("write", ["write_ipc", "write_ipc_stream"])
def test_texts_of_polars_are_cells(write, form, delimiter, tmp_path):
    getattr(FRAME, write)(tmp_path / "a.arrow")
    text = good("convert", "--to", form, tmp_path / "a.arrow")
    assert rows_of(text, delimiter) == [FRAME.columns, *CELLS]
    for number, name in enumerate(FRAME.columns):
        text = good("convert", "--to", form, "--columns", name, tmp_path / "a.arrow")
        assert rows_of(text, delimiter) == [[name], *([row[number]] for row in CELLS)]


def test_categories_in_structs_are_cells(tmp_path):
    FRAME.select(polars.struct("text", "category").alias("s")).write_ipc(tmp_path / "a.arrow")
    text = good("convert", "--to", "csv", "--flatten", tmp_path / "a.arrow")
    assert rows_of(text) == [["s.text", "s.category"], *([row[0], row[2]] for row in CELLS)]


@pytest.mark.parametrize("columns", ["a,b", "a"])
def test_uuids_are_cells(columns):
    values = pyarrow.array([each and each.bytes for each in IDS], pyarrow.binary(16))
    data = stream(pyarrow.ExtensionArray.from_storage(pyarrow.uuid(), values), pyarrow.array([1, 2, 3]))
    rows = rows_of(good("convert", "--to", "csv", "--columns", columns, stdin=data))
    assert [row[0] for row in rows] == ["a", *("" if each is None else str(each) for each in IDS)]


def dictionary(*values):
    return pyarrow.DictionaryArray.from_arrays([0, 1, None, 0], pyarrow.array(values))


@pytest.mark.parametrize(
    "array, cells",
    [
        (dictionary("x", None), ["x", "", "", "x"]),
        (dictionary(b"x", b"y,"), ["x", "y,", "", "x"]),
        (dictionary(1.5, None), ["1.5", "", "", "1.5"]),
        (dictionary(datetime.date(2026, 5, 1), datetime.date(1, 1, 1)), ["2026-05-01", "0001-01-01", "", "2026-05-01"]),
        (pyarrow.RunEndEncodedArray.from_arrays([2, 4], ["x", "y,"]), ["x", "x", "y,", "y,"]),
        (pyarrow.array([b"ab", b"c,"], pyarrow.large_binary()), ["ab", "c,"]),
        (pyarrow.ExtensionArray.from_storage(pyarrow.opaque(pyarrow.string(), "t", "v"), pyarrow.array(["x", None])),
         ["x", ""]),
    ],
    ids=lambda given: str(given.type) if isinstance(given, pyarrow.Array) else "",
)  # fmt: skip
@pytest.mark.parametrize("names", ["a", "ab"])
def test_values_within_other_types_are_cells(array, cells, names):
    arrays = [array, pyarrow.array(range(len(array)))][: len(names)]
    rows = rows_of(good("convert", "--to", "csv", stdin=stream(*arrays)))
    assert rows == [list(names), *([cell, str(number)][: len(names)] for number, cell in enumerate(cells))]


@pytest.mark.parametrize("values", [[b"a", b"\xff"], [b"\xff", None]])
@pytest.mark.parametrize("kind", ["binary", "large_binary", "binary_view", "binary[1]", "dictionary"])
def test_bytes_of_every_type_that_are_no_text(kind, values):
    array = pyarrow.array(values)
    if kind == "dictionary":
        array = array.dictionary_encode()
    elif kind != "binary":
        array = array.cast(pyarrow.binary(1) if kind == "binary[1]" else getattr(pyarrow, kind)())
    message = bad(65, "convert", "--to", "csv", stdin=stream(pyarrow.array([1, 2]), array))[1]
    assert message.startswith("standard input: the column b holds bytes that are not UTF-8, and csv is text: ")


def test_a_column_without_a_text_is_named():
    intervals = pyarrow.array([pyarrow.MonthDayNano([1, 2, 3])])
    message = bad(65, "convert", "--to", "csv", stdin=stream(pyarrow.array([1]), intervals))[1]
    assert message.startswith("standard input: the column b: ") and "interval" in message


YEARS = "the years from -32767 to 32767"
TIMES = [
    (pyarrow.timestamp("s"), -1_096_193_779_200, 971_890_963_199, YEARS),
    (pyarrow.timestamp("ms"), -1_096_193_779_200_000, 971_890_963_199_999, YEARS),
    (pyarrow.timestamp("us"), -1_096_193_779_200_000_000, 971_890_963_199_999_999, YEARS),
    (pyarrow.timestamp("s", "UTC"), -1_096_193_692_800, 971_890_876_799, YEARS),
    (pyarrow.date32(), -12_687_428, 11_248_737, YEARS),
    (pyarrow.date64(), -1_096_193_779_200_000, 971_890_876_800_000, YEARS),
    (pyarrow.time32("s"), 0, 86_399, "the times of a day"),
    (pyarrow.time32("ms"), 0, 86_399_999, "the times of a day"),
    (pyarrow.time64("us"), 0, 86_399_999_999, "the times of a day"),
    (pyarrow.time64("ns"), 0, 86_399_999_999_999, "the times of a day"),
]


@pytest.mark.parametrize("kind, first, last, what", TIMES, ids=[str(each[0]) for each in TIMES])
def test_times_without_a_text_are_refused(kind, first, last, what):
    """pyarrow wrote "<value out of range: ...>" as a cell, and with a zone a year that is another."""

    def convert(*numbers):
        array = pyarrow.array([*numbers, None], f"int{kind.bit_width}").view(kind)
        return run("convert", "--to", "csv", stdin=stream(array, pyarrow.array(range(len(array)))))

    done = convert(first, last)
    assert done.returncode == 0 and len(rows_of(done.stdout)) == 4, done.stderr
    assert "range" not in done.stdout.decode()
    if what == YEARS:
        assert rows_of(done.stdout)[1][0].startswith("-32767-01-0") and "32767-12-3" in rows_of(done.stdout)[2][0]
    for number in (first - 1, last + 1 if kind != pyarrow.date64() else last + 86_400_000):
        done = convert(number, first)
        said = f"standard input: the column a holds {number} as {kind}, and text has {what}: arrow has it\n"
        assert (done.returncode, done.stderr.decode()) == (65, f"typedbytes convert: {said}")
