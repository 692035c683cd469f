"""Dates, times, durations, decimals and UUIDs as columns: from numbers, texts and BYTES, and what does not fit."""

import datetime as dt
import decimal
import re
import uuid

import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, strategies as st

import typedbytes as tb
from support.column_pairs import written

pytestmark = pytest.mark.newest_python

EPOCH = dt.datetime(1970, 1, 1)
MICROSECOND = dt.timedelta(microseconds=1)
TIMES = [
    dt.datetime(1969, 12, 31, 23, 59, 59, 999_000),
    EPOCH,
    dt.datetime(2026, 11, 28, 5, 4, 59),
    dt.datetime(1, 1, 1),
    dt.datetime(9999, 12, 31),
]


def plain(value):
    """Return what a value of Python is on the wire."""
    if isinstance(value, dt.datetime):
        return tb.Long(
            (
                value.replace(tzinfo=None) - EPOCH
                if value.tzinfo is None
                else value - EPOCH.replace(tzinfo=dt.timezone.utc)
            )
            // MICROSECOND
        )
    if isinstance(value, dt.date):
        return (value - EPOCH.date()).days
    if isinstance(value, dt.time):
        return tb.Long((dt.datetime.combine(EPOCH, value) - EPOCH) // MICROSECOND)
    if isinstance(value, dt.timedelta):
        return tb.Long(value // MICROSECOND)
    if isinstance(value, decimal.Decimal):
        return str(value)
    return value.bytes if isinstance(value, uuid.UUID) else value


def encoded(values):
    return tb.Encoder().encode_all(map(plain, values))


def whole(values, unit):
    """Return times without what a unit does not have."""
    step = {"s": 1_000_000, "ms": 1000}.get(unit, 1)
    return [
        value - (value - EPOCH) % (MICROSECOND * step) for value in values if unit != "ns" or 1700 < value.year < 2200
    ]


UNITS = ("s", "ms", "us", "ns")
ARROW = [
    *[pyarrow.array(whole(TIMES, unit), pyarrow.timestamp(unit)) for unit in UNITS],
    *[pyarrow.array(whole(TIMES[:3], unit), pyarrow.timestamp(unit, tz))
      for unit in UNITS for tz in ("UTC", "Asia/Kolkata", "+05:30")],
    *[pyarrow.array([time.date() for time in TIMES], kind) for kind in (pyarrow.date32(), pyarrow.date64())],
    *[pyarrow.array([time.time() for time in whole(TIMES, str(kind)[7:-1])], kind)
      for kind in (pyarrow.time32("s"), pyarrow.time32("ms"), pyarrow.time64("us"), pyarrow.time64("ns"))],
    *[pyarrow.array([time - EPOCH for time in whole(TIMES, unit)], pyarrow.duration(unit)) for unit in UNITS],
    pyarrow.array([uuid.UUID(int=number).bytes for number in (0, 2**128 - 1, 7**40)], pyarrow.uuid()),
]  # fmt: skip
NUMBERS = [decimal.Decimal(text) for text in ("0.00", "1.50", "-1.50", "-0.01", "99999.99", "12")]
DECIMALS = [
    *[pyarrow.array(NUMBERS, kind) for kind in (pyarrow.decimal32(7, 2), pyarrow.decimal64(18, 2),
                                                pyarrow.decimal128(38, 2), pyarrow.decimal256(76, 2))],
    pyarrow.array([decimal.Decimal(number).scaleb(-10)
                   for number in (0, 1, -1, 12, 99_999, 10**9, 10**10, 10**37, -(10**37))], pyarrow.decimal128(38, 10)),
    pyarrow.array([decimal.Decimal(number).scaleb(3) for number in (0, 1, -1, 12, 10**10)], pyarrow.decimal128(38, -3)),
    pyarrow.array([10**38 - 1, 1 - 10**38, 0], pyarrow.decimal128(38, 0)),
    pyarrow.array([10**76 - 1, 1 - 10**76, 2**255 // 10, 10**9, 10**18, 2**64, 2**96], pyarrow.decimal256(76, 0)),
    pyarrow.array([decimal.Decimal(number).scaleb(-76) for number in (1, 0, 10**70, -1)], pyarrow.decimal256(76, 76)),
]  # fmt: skip


@pytest.mark.parametrize("column", ARROW + DECIMALS, ids=lambda column: str(column.type))
def test_columns_of_arrow_are_numbers_and_text(column):
    values = column.to_pylist()
    for part in (slice(None), slice(1, 3), slice(0, 0)):
        assert written([column[part]], pairs=False) == encoded(values[part])
        assert written([column[part], list(map(plain, values[part]))]) == tb.Encoder().encode_pairs(
            (plain(value),) * 2 for value in values[part]
        )
    nulls = pyarrow.concat_arrays([column, pyarrow.nulls(1, column.type)])
    assert written([nulls], pairs=False, nulls="hive") == encoded(values) + b"\x0c"
    with pytest.raises(tb.EncodeValueError, match=rf"value is null.*column 0, at \[{len(values)}\]"):
        written([nulls], pairs=False)


@pytest.mark.parametrize("column", ARROW + DECIMALS, ids=lambda column: str(column.type))
def test_they_are_written_within_lists_structs_and_dictionaries(column):
    values = list(map(plain, column.to_pylist()))
    encode = tb.Encoder().encode_all
    lists = pyarrow.ListArray.from_arrays([0, 1, 1, 3], column)
    assert written([lists[1:]], pairs=False) == encode([[], values[1:3]])
    fixed = pyarrow.FixedSizeListArray.from_arrays(column[:2], 2)
    assert written([fixed], pairs=False) == encode([tuple(values[:2])])
    struct = pyarrow.StructArray.from_arrays([column, column], ["a", "b"])
    assert written([struct[1:]], pairs=False) == encode((value, value) for value in values[1:])
    assert written([struct], pairs=False, structs="map") == encode({"a": value, "b": value} for value in values)
    maps = pyarrow.MapArray.from_arrays([0, 2], column[:2], column[:2])
    assert written([maps], pairs=False) == encode([dict(zip(values[:2], values[:2]))])
    if column.type != pyarrow.uuid():
        words = pyarrow.DictionaryArray.from_arrays(pyarrow.array([1, None, 0]), column)
        assert written([words], pairs=False, nulls="value") == encode([values[1], None, values[0]])


@pytest.mark.parametrize("column", ARROW + DECIMALS, ids=lambda column: str(column.type))
def test_parquet_and_ipc_files_are_written(column, tmp_path):
    table = pyarrow.table({"value": column})
    with pyarrow.ipc.new_file(tmp_path / "table.arrow", table.schema) as writer:
        writer.write_table(table)
    found = [pyarrow.ipc.open_file(tmp_path / "table.arrow").read_all()]
    if "(38, -3)" not in str(column.type):  # Parquet has no such decimal
        pyarrow.parquet.write_table(table, tmp_path / "table.parquet")
        found.append(pyarrow.parquet.read_table(tmp_path / "table.parquet"))
    for read in found:
        assert written(read, pairs=False) == encoded(column.to_pylist())


@given(
    st.decimals(allow_nan=False, allow_infinity=False).filter(
        lambda number: number.adjusted() < 30 and number.as_tuple().exponent > -40
    )
)
def test_decimals_are_the_text_of_python(number):
    digits = len(number.as_tuple().digits)
    kind = pyarrow.decimal256(min(76, max(digits, 40)), -number.as_tuple().exponent)
    if digits <= 76:
        (found,) = tb.Reader(written([pyarrow.array([number], kind)], pairs=False))
        assert found == str(number).replace("-0", "0", 1 if not number else 0)  # Arrow has no negative zero


DAY = 86_400_000
UNFIT = [
    (pyarrow.array([1000, 1001], pyarrow.int64()).cast(pyarrow.timestamp("ns")),
     "nanoseconds that are not a whole number of microseconds"),
    (pyarrow.array([0, -1], pyarrow.int64()).cast(pyarrow.timestamp("ns", "UTC")),
     "nanoseconds that are not a whole number of microseconds"),
    (pyarrow.array([0, 2**63 // 10**6 + 1], pyarrow.int64()).cast(pyarrow.timestamp("s")),
     "time does not fit a LONG of microseconds"),
    (pyarrow.array([0, -(2**63)], pyarrow.int64()).cast(pyarrow.duration("ms")),
     "time does not fit a LONG of microseconds"),
    (pyarrow.array([0, 999], pyarrow.int64()).cast(pyarrow.duration("ns")),
     "nanoseconds that are not a whole number of microseconds"),
    (pyarrow.array([0, 1], pyarrow.int64()).cast(pyarrow.time64("ns")),
     "nanoseconds that are not a whole number of microseconds"),
    (pyarrow.array([0, DAY * 1000], pyarrow.int64()).view(pyarrow.time64("us")),
     "time of day that is not within a day"),
    (pyarrow.array([0, -1], pyarrow.int32()).view(pyarrow.time32("s")), "time of day that is not within a day"),
    (pyarrow.array([DAY, DAY + 1], pyarrow.int64()).view(pyarrow.date64()),
     "milliseconds of a date that are not a whole number of days"),
    (pyarrow.array([0, DAY * 2**31], pyarrow.int64()).view(pyarrow.date64()), "date does not fit an INT of days"),
]  # fmt: skip


@pytest.mark.parametrize(("column", "fault"), UNFIT, ids=lambda given: str(getattr(given, "type", "")))
def test_numbers_that_would_lose_something_are_refused_with_their_row(column, fault):
    with pytest.raises(tb.EncodeValueError) as caught:
        written([column], pairs=False)
    assert str(caught.value) == f"{fault}, column 0, at [1]"
    first = written([column[:1]], pairs=False)
    assert len(first) == (5 if str(column.type).startswith("date") else 9)
    struct = pyarrow.table({"n": [1, 2], "when": column}).to_struct_array().combine_chunks()
    for structs, path in (("vector", "[1][1]"), ("map", "[1]['when']")):
        with pytest.raises(tb.EncodeValueError, match=re.escape(f"{fault}, column 0, at {path}")):
            written([struct], pairs=False, structs=structs)
    with pytest.raises(tb.EncodeValueError, match=re.escape(f"{fault}, column 1, at [1]")):
        written(pyarrow.table({"n": [1, 2], "when": column}))
    nothing = pyarrow.ListArray.from_arrays([0, 1], column)
    assert written([nothing], pairs=False) == b"\x09" + first + b"\xff"
    words = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1]), column)
    assert written([words[:1]], pairs=False) == first
    with pytest.raises(tb.EncodeValueError, match=re.escape(f"{fault}, column 0, at [1]")):
        written([words], pairs=False)


def test_what_is_under_a_null_is_not_refused():
    numbers = pyarrow.array(numpy.array([1, 2000]), mask=numpy.array([True, False])).cast(pyarrow.timestamp("ns"))
    assert written([numbers], pairs=False, nulls="hive") == b"\x0c" + tb.dumps(tb.Long(2))


@pytest.mark.parametrize("unit", ["D", "h", "m", "s", "ms", "us", "ns"])
@pytest.mark.parametrize("kind", ["M8", "m8"])
def test_arrays_of_numpy(kind, unit):
    days = numpy.array([0, 1, -1, 20_000], "i8")
    column = (days.astype(f"{kind}[D]")).astype(f"{kind}[{unit}]")
    expected = [tb.Long(day * DAY * 1000) for day in days]
    if (kind, unit) == ("M8", "D"):
        expected = days.tolist()
    assert written([column], pairs=False) == tb.Encoder().encode_all(expected)
    assert written([column[::-2]], pairs=False) == tb.Encoder().encode_all(expected[::-2])
    grid = numpy.stack([column, column], axis=1)
    assert written([grid], pairs=False) == tb.Encoder().encode_all((value, value) for value in expected)
    column[1] = "NaT"
    expected[1] = None
    assert written([column], pairs=False, nulls="value") == tb.Encoder().encode_all(expected)
    with pytest.raises(tb.EncodeValueError, match=r"value is null.*\[1\]"):
        written([column], pairs=False)
    with pytest.raises(tb.EncodeValueError, match="value is null: NaT in an array of 2 dimensions"):
        written([numpy.stack([column, column])], pairs=False)


@pytest.mark.parametrize(
    ("column", "fault"),
    [
        (numpy.array([1000, 1], "M8[ns]"), "datetime64[ns] does not fit a LONG of microseconds, at [1]"),
        (numpy.array([0, 2**62], "m8[s]"), "timedelta64[s] does not fit a LONG of microseconds, at [1]"),
        (numpy.array([0, 2**31], "M8[D]"), "datetime64[D] does not fit an INT of days, at [1]"),
        (numpy.array([[0, 1]], "M8[ns]"), "datetime64[ns] does not fit a LONG of microseconds, at [0][1]"),
    ],
)
def test_arrays_of_numpy_that_would_lose_something(column, fault):
    with pytest.raises(tb.EncodeValueError, match=re.escape(fault)):
        written([column], pairs=False)


def test_frames():
    when = [dt.datetime(2026, 1, 31, 12, tzinfo=dt.timezone.utc), None]
    expected = tb.Encoder(dialect="hive").encode_pairs([(1, plain(when[0])), (2, None)])
    ones = numpy.array([1, 2], "i4")
    for column in (pandas.Series(when), pandas.Series(when).dt.tz_convert("Asia/Kolkata"),
                   pandas.array(when, "datetime64[us, UTC]"), pandas.Series(when).dt.tz_localize(None),
                   polars.Series(when), polars.Series(when).dt.cast_time_unit("ms"),
                   pandas.Series(when, dtype="timestamp[us, UTC][pyarrow]")):  # fmt: skip
        assert written({"key": ones, "value": column}, nulls="hive") == expected
        if isinstance(column, pandas.Series):
            assert written(pandas.DataFrame({"key": ones, "value": column}), nulls="hive") == expected
        if isinstance(column, polars.Series):
            assert written(polars.DataFrame({"key": ones, "value": column}), nulls="hive") == expected
    prices = polars.Series([decimal.Decimal("1.50"), None])
    assert written([prices], pairs=False, nulls="hive") == tb.dumps("1.50") + b"\x0c"
    assert written([polars.Series([dt.date(2026, 1, 31), dt.date(1, 1, 1)])], pairs=False) == encoded(
        [dt.date(2026, 1, 31), dt.date(1, 1, 1)]
    )
    assert written([polars.Series([dt.time(23, 59, 59, 5)])], pairs=False) == encoded([dt.time(23, 59, 59, 5)])
