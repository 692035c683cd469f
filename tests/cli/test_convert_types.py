"""Tables whose columns have the types of a record class."""

import datetime as dt
import decimal
import glob
import json
import os
import pathlib

import pyarrow
import pytest
from pyarrow import parquet

import typedbytes as tb
from support.commands import bad, good, run
from typedbytes import sequencefile

MODULE = """
import datetime, decimal, typing
from typedbytes import records

class Visit(typing.NamedTuple):
    user: str
    at: typing.Annotated[datetime.datetime, records.UTC]
    day: datetime.date
    price: typing.Optional[decimal.Decimal] = None
"""
ROWS = [("ann", 1777636800000000, 20574, "1.50"), ("bob", 0, 0)]
SHOWN = [
    ("ann", dt.datetime(2026, 5, 1, 12, tzinfo=dt.timezone.utc), dt.date(2026, 5, 1), decimal.Decimal("1.50")),
    ("bob", dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc), dt.date(1970, 1, 1), None),
]
NAMES = ["user", "at", "day", "price"]


@pytest.fixture(autouse=True)
def in_folder_of_the_module(tmp_path, monkeypatch):
    (tmp_path / "visits.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)


def test_each_field_is_a_column():
    stdin = tb.Encoder().encode_all(ROWS)
    good("convert", "--values", "--to", "parquet", "--type", "visits:Visit", "-o", "out.parquet", stdin=stdin)
    table = parquet.read_table("out.parquet")
    assert table.column_names == NAMES
    assert table.schema.field("at").type == pyarrow.timestamp("us", "UTC")
    assert table.schema.field("day").type == pyarrow.date32()
    assert [tuple(row.values()) for row in table.to_pylist()] == SHOWN


def test_pairs_have_two_types():
    stdin = tb.Encoder().encode_pairs([(20574, row) for row in ROWS])
    words = ("convert", "--pairs", "--to", "arrow", "--type", "visits:Visit", "-o", "out.arrow")
    good(*words, "--key-type", "datetime:date", stdin=stdin)
    with pyarrow.ipc.open_stream("out.arrow") as reader:
        rows = reader.read_all().to_pylist()
    assert [(row["key"], tuple(row["value"].values())) for row in rows] == [(dt.date(2026, 5, 1), row) for row in SHOWN]
    _, message = bad(64, *words, stdin=stdin)
    assert message == "columns of pairs need --type and --key-type, such as builtins:str; those of values --type"


def test_a_value_that_does_not_fit_is_bad_data():
    stdin = tb.Encoder().encode_all([ROWS[0], ("bob", "x", 0)])
    words = ("convert", "--values", "--to", "parquet", "--type", "visits:Visit", "-o", "out.parquet")
    _, message = bad(65, *words, stdin=stdin)
    assert 'expected datetime, found STRING "x"' in message and "record 1" in message


def test_json_shows_values_as_the_class_has_them():
    stdin = tb.dumps(ROWS[0])
    line = good("convert", "--values", "--to", "json", "--type", "visits:Visit", stdin=stdin)
    shown = {"user": "ann", "at": "2026-05-01T12:00:00Z", "day": "2026-05-01", "price": "1.50"}
    assert json.loads(line) == shown


FOLDER_TYPE = pyarrow.struct([
    pyarrow.field("user", pyarrow.string(), False), pyarrow.field("at", pyarrow.timestamp("us", "UTC"), False),
    pyarrow.field("day", pyarrow.date32(), False), pyarrow.field("price", pyarrow.decimal128(38, 18)),
])  # fmt: skip


@pytest.mark.parametrize("widen", [[], ["--widen"]])
def test_the_files_of_a_folder_have_the_columns_of_the_class(widen):
    """The first input alone would say another type: a MAP without a price, and dates as text."""
    with sequencefile.Writer("a.seq") as writer:
        writer.write(1, {"day": "2026-05-01", "at": 0, "user": "ann"})
    with sequencefile.Writer("b.seq") as writer:
        writer.writes(enumerate(ROWS))
    words = ("convert", "--to", "parquet", *widen, "--type", "visits:Visit", "a.seq", "b.seq", "-o", "out/")
    _, message = bad(64, *words)
    assert message == "columns of pairs need --type and --key-type, such as builtins:str; those of values --type"
    assert not os.path.exists("out")
    good(*words, "--key-type", "builtins:int", "--split-size", "10")
    names = sorted(name for name in os.listdir("out") if name.endswith(".parquet"))
    tables = [parquet.read_table(f"out/{name}") for name in names]
    assert len(names) > 2 and {table.schema.field("value").type for table in tables} == {FOLDER_TYPE}
    rows = [row for table in tables for row in table.to_pylist()]
    assert [(row["key"], tuple(row["value"].values())) for row in rows] == [
        (1, ("ann", dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc), dt.date(2026, 5, 1), None)),
        *enumerate(SHOWN),
    ]


def test_a_folder_names_the_input_and_the_field_that_does_not_fit():
    tb.dump_all(ROWS, "a.tb")
    tb.dump_all([ROWS[0], ("bob", "x", 0)], "b.tb")
    words = ("convert", "--values", "--to", "parquet", "--type", "visits:Visit", "a.tb", "b.tb", "-o", "out/")
    done = run(*words)
    assert done.returncode == 65
    assert 'b.tb: expected datetime, found STRING "x" at offset 49, record 1, path .at' in done.stderr.decode()
    unfinished = json.loads(pathlib.Path("out.unfinished/_conversion.json").read_text())
    assert unfinished["type"] == "<class 'visits.Visit'>"
    tb.dump_all(ROWS, "b.tb")
    _, message = bad(64, *words, "--codec", "gzip")
    assert "left by an unfinished run with other inputs or options" in message
    assert run(*words).returncode == 0 and len(os.listdir("out")) == 4


SECONDS = """
import datetime, typing
from typedbytes import records

class Visit(typing.NamedTuple):
    number: int
    at: typing.Annotated[datetime.datetime, records.Seconds]
"""


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize("out", ["out.{}", "out/"])
@pytest.mark.parametrize("nbefore", [0, 100_000])
def test_a_value_that_no_table_has_is_named_by_its_input_and_column(form, out, nbefore):
    """It was a traceback: of Parquet for a column after the first, in a folder for any."""
    pathlib.Path("seconds.py").write_text(SECONDS)
    tb.dump_all([(1, 1)], "a.tb")
    tb.dump_all([(2, 2)] * nbefore + [(3, 1 << 60)], "b.tb")
    tb.dump_all([(4, 4)], "c.tb")
    words = ("convert", "--values", "--to", form, "--type", "seconds:Visit", "--flatten", "--split-size", "10K")
    words = words[: None if out == "out/" else -2]
    done = run(*words, "a.tb", "b.tb", "c.tb", "-o", out.format(form))
    *notes, message = done.stderr.decode().splitlines()
    assert (done.returncode, len(notes)) == (65, 1 if out == "out/" else 0), done.stderr
    assert message.startswith("typedbytes convert: b.tb: the column at") and not os.path.exists(out.format(form))


def test_widening_changes_nothing_of_a_class():
    tb.dump_all([{"user": "ann", "at": 0, "day": 0}, *ROWS], "in.tb")
    words = ("convert", "--values", "--type", "visits:Visit", "in.tb", "-o")
    good(*words, "a.parquet")
    good(*words, "b.parquet", "--widen")
    assert parquet.read_table("b.parquet").equals(parquet.read_table("a.parquet"))
    good(
        "convert", "--values", "--widen", "--type", "visits:Visit", "--to", "parquet", "-o", "c.parquet",
        stdin=pathlib.Path("in.tb").read_bytes(),
    )  # fmt: skip
    assert parquet.read_table("c.parquet").equals(parquet.read_table("a.parquet"))


@pytest.mark.parametrize("words", [["-o", "out.parquet"], ["--widen", "-o", "out.parquet"], ["-o", "out/"]])
def test_without_records_a_table_has_the_columns_of_the_class(words):
    tb.dump_all([], "in.tb")
    good("convert", "--values", "--to", "parquet", "--type", "visits:Visit", "in.tb", *words)
    (path,) = ["out.parquet"] if words[-1] != "out/" else glob.glob("out/*.parquet")
    table = parquet.read_table(path)
    assert table.schema.equals(pyarrow.schema(list(FOLDER_TYPE))) and table.num_rows == 0


@pytest.mark.parametrize(
    "words, message", [(["--to", "typedbytes"], "--type is for arrow, parquet and json, not for typedbytes")]
)
def test_what_has_no_types(words, message):
    assert bad(64, "convert", "--type", "visits:Visit", *words, "in.tb") == (b"", message)
