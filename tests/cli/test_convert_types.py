"""Tables whose columns have the types of a record class."""

import datetime as dt
import decimal
import json

import pyarrow
import pytest
from pyarrow import parquet

import typedbytes as tb
from support.commands import bad, good

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


@pytest.mark.parametrize(
    "words, message",
    [
        (["--to", "typedbytes"], "--type is for arrow, parquet and json, not for typedbytes"),
        (
            ["--to", "parquet", "--widen", "-o", "a.parquet"],
            "--type is for one file of arrow or parquet, without --widen",
        ),
        (["--to", "parquet", "-o", "folder/"], "--type is for one file of arrow or parquet, without --widen"),
    ],
)
def test_what_has_no_types(words, message):
    assert bad(64, "convert", "--type", "visits:Visit", *words, "in.tb") == (b"", message)
