"""Rows of record classes that a return annotation names: what JSON, CSV and Parquet have."""

import csv
import dataclasses
import datetime as dt
import enum
import io
import json
import pickle
import typing
from decimal import Decimal
from uuid import UUID

import pytest

from support.local_jobs import run, write_script
from typedbytes import EncodeError, Ext, local
from typedbytes.streaming.formats.rows import CsvOutput, JsonOutput, row_of, rows_by

JOB = """
import dataclasses, datetime as dt, decimal, enum, typing, uuid
from typing import Annotated, Iterator, NamedTuple, Optional
from typedbytes import records
from typedbytes.streaming import run

class Color(enum.Enum):
    RED = 1
    BLUE = 2

class Point(NamedTuple):
    x: float
    day: dt.date

@dataclasses.dataclass
class Page:
    url: str
    tags: typing.Set[str]
    n: int
    color: Annotated[Color, records.Name]
    other: Color
    at: Annotated[dt.datetime, records.UTC]
    points: typing.List[Point]
    price: decimal.Decimal
    id: uuid.UUID
    note: Optional[str] = None

def page(line):
    at = dt.datetime(2026, 5, 1, tzinfo=dt.timezone.utc)
    n = line if line == "misfit" else len(line)
    point = Point(1.5, at.date())
    price, id = decimal.Decimal("1.50"), uuid.UUID(int=5)
    note = None if line == "a" else "x"
    return Page(line, {"news"}, n, Color.RED, Color.BLUE, at, [point], price, id, note)
"""
RESULT = """
def mapper(offset, line) -> Iterator[tuple[Point, Page]]:
    yield Point(0.5, dt.date(2026, 5, 2)), page(line)

if __name__ == "__main__":
    run(mapper)
"""
AT = dt.datetime(2026, 5, 1, tzinfo=dt.timezone.utc)


def output_of(tmp_path, output_format, job=JOB + RESULT, **options):
    script = write_script(tmp_path, job)
    (tmp_path / "in.txt").write_text("a\nbc\n")
    run(script, tmp_path / "in.txt", tmp_path / output_format, output_format=output_format, **options)
    return tmp_path / output_format


ROW = {
    "x": 0.5, "day": "2026-05-02", "url": "a", "tags": ["news"], "n": 1, "color": "RED", "other": 2,
    "at": "2026-05-01T00:00:00+00:00", "points": [[1.5, "2026-05-01"]], "price": 1.5,
    "id": "00000000-0000-0000-0000-000000000005", "note": None,
}  # fmt: skip


def test_json_and_csv_have_what_the_type_writes_and_dates_as_text(tmp_path):
    lines = (output_of(tmp_path, "json") / "part-00000").read_text().splitlines()
    assert [*map(json.loads, lines)] == [ROW, {**ROW, "url": "bc", "n": 2, "note": "x"}]
    with open(output_of(tmp_path, "csv") / "part-00000", newline="") as file:
        rows = [*csv.DictReader(file)]
    expected = {
        **{name: item if isinstance(item, str) else json.dumps(item) for name, item in ROW.items()},
        "note": "", "price": "1.50",
    }  # fmt: skip
    assert rows == [expected, {**expected, "url": "bc", "n": "2", "note": "x"}]


def test_parquet_has_the_types_of_arrow(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = parquet.read_table(output_of(tmp_path, "parquet") / "part-00000.parquet").to_pylist()
    expected = {
        "x": 0.5, "day": dt.date(2026, 5, 2), "url": "a", "tags": ["news"], "n": 1, "color": "RED", "other": 2,
        "at": AT, "points": [{"x": 1.5, "day": AT.date()}], "price": Decimal("1.50"), "id": UUID(int=5), "note": None,
    }  # fmt: skip
    assert rows == [expected, {**expected, "url": "bc", "n": 2, "note": "x"}]


@pytest.mark.parametrize("output_format", ["sequencefile", "json", "csv", "parquet"])
@pytest.mark.parametrize("by_key", [False, True])
def test_what_does_not_fit_is_an_error_or_left_out(tmp_path, output_format, by_key):
    pytest.importorskip("pyarrow")
    job = JOB + RESULT.replace("page(line)", 'page("misfit" if line == "bc" else line)')
    if by_key:
        job = job.replace("tuple[Point", "tuple[tuple[str, Point]").replace("yield Point(0.5", 'yield ("f", Point(0.5')
        job = job.replace("2)), page", "2))), page")
    with pytest.raises(local.JobError) as caught:
        output_of(tmp_path, output_format, job, output_by_key=by_key)
    assert any("expected int, found str 'misfit', at .n" in line for line in caught.value.tail), caught.value.tail
    folder = output_of(
        tmp_path, output_format, job.replace("run(mapper)", "run(mapper, max_bad=1)"), output_by_key=by_key
    )
    parts = [path for path in folder.rglob("*part-0*") if path.parent.name == ("f" if by_key else output_format)]
    assert len(parts) == 1
    if output_format == "json":
        assert [json.loads(line)["url"] for line in parts[0].read_text().splitlines()] == ["a"]


def test_the_columns_of_csv_are_all_fields(tmp_path):
    """Also those that a first row leaves out."""
    job = JOB + RESULT.replace("run(mapper)", 'run(mapper, write_options={"omit_none": True})')
    with open(output_of(tmp_path, "csv", job) / "part-00000", newline="") as file:
        assert [row["note"] for row in csv.DictReader(file)] == ["", "x"]
    lines = [*map(json.loads, (output_of(tmp_path, "json", job) / "part-00000").read_text().splitlines())]
    assert ["note" in line for line in lines] == [False, True]


def test_a_type_of_values_alone_and_of_a_part_of_the_key(tmp_path):
    job = JOB + RESULT.replace("tuple[Point, Page]", "tuple[tuple[int, Point], int]")
    job = job.replace(
        "yield Point(0.5, dt.date(2026, 5, 2)), page(line)", "yield (7, Point(1, dt.date(2026, 5, 1))), 5"
    )
    lines = (output_of(tmp_path, "json", job) / "part-00000").read_text().splitlines()
    assert json.loads(lines[0]) == {"key1": 7, "key2": [1.0, "2026-05-01"], "value": 5}
    job = JOB + RESULT.replace("tuple[Point, Page]", "tuple[None, Point]")
    job = job.replace("yield Point(0.5, dt.date(2026, 5, 2)), page(line)", "yield None, Point(1, dt.date(2026, 5, 1))")
    (tmp_path / "json").rename(tmp_path / "first")
    lines = (output_of(tmp_path, "json", job) / "part-00000").read_text().splitlines()
    assert json.loads(lines[0]) == {"x": 1.0, "day": "2026-05-01"}


PLAIN = {
    "day": AT.date(), "at": AT, "span": dt.timedelta(1), "price": Decimal("1.50"), "id": UUID(int=5), "s": "\u00fc",
    "n": 2**40, "f": 1.5, "parts": [AT.date(), {"b": AT.date(), "a": dt.date(2026, 5, 2)}],
}  # fmt: skip


def of_type(value, kind, form="json", **options):
    """Return a row of a value by its type."""
    return rows_by({"value_type": kind, **options}, form)(None, value)


@pytest.mark.parametrize("options", [{}, {"sort_keys": True}, {"pickle": "trust"}], ids=str)
@pytest.mark.parametrize("kind", [typing.Any, dict, dict[str, typing.Any]], ids=str)
def test_a_row_of_a_type_is_that_without_one(kind, options):
    for form in ("json", "csv", "parquet"):
        found, expected = of_type(PLAIN, kind, form, **options), row_of(None, PLAIN)
        assert found == expected and [*found] == [*expected]
    for output in (JsonOutput, CsvOutput):
        typed, plain = (output(io.BytesIO(), {**options, **more}) for more in ({"value_type": kind}, {}))
        assert typed.encode(None, PLAIN) == plain.encode(None, PLAIN)


class Days(typing.TypedDict):
    """Keys that are written in this order."""

    first: dt.date
    second: dt.date


@pytest.mark.parametrize("options", [{}, {"sort_keys": True}], ids=str)
def test_parts_have_their_own_keys(options):
    """Whatever the order that they are written in."""
    days = {"second": dt.date(2026, 5, 2), "first": dt.date(2026, 5, 1)}
    for kind in (Days, dict[str, dt.date]):
        assert of_type(days, kind, **options) == days
        assert of_type({"x": [days]}, dict[str, list[kind]], **options) == {"x": [days]}
        line = JsonOutput(io.BytesIO(), {"value_type": kind, **options}).encode(None, days)
        assert json.loads(line) == {name: str(day) for name, day in days.items()}
    assert [*of_type({"zz": 1, "b": 2}, dict[str, int], **options)] == ["zz", "b"]
    numbers = {8, 9, 1, 2**20}
    found = of_type({"x": numbers}, dict[str, set[int]], **options)["x"]
    assert found == (sorted(numbers) if options else [*numbers])


class Color(enum.Enum):
    """Keys that are written as str."""

    R = "r"


def test_keys_that_become_another_or_one():
    day, other = dt.date(2026, 5, 1), dt.date(2026, 5, 2)
    assert of_type({Color.R: day, "x": other}, dict) == {"r": day, "x": other}
    assert of_type({Color.R: 1, "r": 2, "x": 3}, dict) == {"r": 2, "x": 3}
    assert of_type({"r": 2, Color.R: 1, "x": day}, dict) == {"r": 1, "x": day}


class Other:
    """Pickled as an object of a class."""

    def __eq__(self, other):
        return type(other) is Other

    __hash__ = None


def test_what_may_be_pickled_is_in_rows_as_without_a_type():
    for form in ("json", "parquet"):
        assert of_type({"x": Other()}, dict, form, pickle="trust") == {"x": Other()}
    assert of_type({"x": Ext(200, b"7")}, dict) == {"x": Ext(200, b"7")}
    given = {"x": Ext(100, pickle.dumps(7, 2)), "n": 1}
    assert of_type(given, dict, pickle="raw") == given
    outputs = [JsonOutput(io.BytesIO(), {"pickle": "raw", **more}) for more in ({}, {"value_type": dict})]
    assert outputs[0].encode(None, given) == outputs[1].encode(None, given)
    for output in outputs:
        with pytest.raises(EncodeError):
            output.encode(None, {"x": AT})


def test_a_class_of_the_name_decimal_is_what_its_type_writes():
    @dataclasses.dataclass
    class Page:
        price: float

    Page.__name__ = "Decimal"
    assert of_type(Page(1.5), Page) == {"price": 1.5}
    assert of_type({"x": Page(1.5)}, dict[str, Page]) == {"x": {"price": 1.5}}
