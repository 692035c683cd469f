"""Values in Parquet: each is given back as it was, or is an error, in the first group of rows and in later ones.

Here: the output as an object. Not here: jobs. Invariant: what is expected is written here, not taken from pyarrow.
"""

import datetime as dt
import io
from decimal import Decimal
from uuid import UUID

import pytest

from typedbytes.streaming.formats import parquet
from typedbytes.streaming.formats.record_io import COUNT_NBYTES

pyarrow = pytest.importorskip("pyarrow")
np = pytest.importorskip("numpy")

NAIVE = dt.datetime(2026, 5, 1, 12, 30)
AWARE = NAIVE.replace(tzinfo=dt.timezone.utc)
VALUES = [
    1, 2**53 + 1, 1.5, True, "5", b"5", NAIVE.date(), NAIVE, AWARE, NAIVE.time(), dt.timedelta(1), Decimal("1.50"),
    UUID(int=1), [1], [1.5], [NAIVE], [NAIVE.date()], {"a": 1}, {"a": True}, {"a": NAIVE}, {"a": NAIVE.date()},
    {"a": [1]}, {"a": [1.5]}, {"b": {"c": 1}}, {"b": {"c": 1.5}},
]  # fmt: skip
SAME = [(1, 1.5), ([1], [1.5]), ({"a": [1]}, {"a": [1.5]}), ({"b": {"c": 1}}, {"b": {"c": 1.5}})]


def written(*given):
    """Return the rows of what a job returns one after the other."""
    import pyarrow.parquet as reader

    sink = io.BytesIO()
    output = parquet.ParquetOutput(sink)
    for each in given:
        output.writes(each)
    output.close()
    return reader.read_table(io.BytesIO(sink.getvalue()[:-COUNT_NBYTES])).to_pylist()


def rows_of(values):
    return [(None, {"v": value}) for value in values]


def shape(value):
    if isinstance(value, dict):
        return {name: shape(item) for name, item in value.items() if item is not None}
    if isinstance(value, list):
        return [*map(shape, value)]
    return type(value), isinstance(value, dt.datetime) and value.tzinfo is None


def given_back(values):
    """Return the values that come out, None where they are refused."""
    try:
        return [row["v"] for row in written(rows_of(values))]
    except ValueError as error:
        assert "the values of the column 'v' are not of" in str(error)
        return None


@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("first", VALUES, ids=str)
def test_two_values_are_given_back_or_refused(monkeypatch, group, first):
    monkeypatch.setattr(parquet, "GROUP_NROWS", group)
    for second in VALUES:
        values = [first, second]
        found = given_back(values)
        if found is not None and (first, second) not in SAME and (second, first) not in SAME:
            assert [*map(shape, found)] == [*map(shape, values)]
            if isinstance(first, dict) and first.keys() != second.keys():
                assert group == 2  # the fields of a struct are those of the first rows
                found = [{name: item for name, item in value.items() if item is not None} for value in found]
        if shape(first) == shape(second):
            assert found == values
        assert found is None or found == values


@pytest.mark.parametrize("group", [1, 2])
@pytest.mark.parametrize("values", SAME, ids=str)
def test_whole_numbers_beside_fractions_are_floats(monkeypatch, group, values):
    monkeypatch.setattr(parquet, "GROUP_NROWS", group)
    assert [row["v"] for row in written(rows_of(values[::-1]))] == [*values[::-1]]


@pytest.mark.parametrize(
    ("first", "later"),
    [
        (NAIVE.date(), 7), (NAIVE, 7), (NAIVE.time(), 7), (dt.timedelta(1), 7), (1.5, True), ({"a": 1}, {"b": 2}),
        ({"a": 1}, {"a": 1, "b": 2}), ([{"a": 1}], [{"b": 2}]), (NAIVE, AWARE), (AWARE, NAIVE), (1.5, 2**53 + 1),
        (NAIVE.time(), NAIVE.time().replace(tzinfo=dt.timezone.utc)), (Decimal("1.5"), Decimal("1.555")), ("a", b"a"),
        (b"a", "a"), (Decimal("1.50"), 1),
    ],
    ids=str,
)  # fmt: skip
def test_a_later_value_of_another_type_is_an_error(monkeypatch, first, later):
    monkeypatch.setattr(parquet, "GROUP_NROWS", 1)
    with pytest.raises(ValueError, match="the values of the column 'v' are not of .*, as in the first rows: "):
        written(rows_of([first, later]))


@pytest.mark.parametrize("values", [(NAIVE.date(), NAIVE), (1, UUID(int=1)), ({"a": NAIVE}, {"a": NAIVE.date()})])
def test_what_would_become_something_else_is_said(values):
    with pytest.raises(ValueError, match=r"not of one type: item \d, .*, would become "):
        written(rows_of(values))


class Level(int):
    """A number with a name."""


def test_numbers_of_numpy_and_of_subclasses_are_numbers():
    given = [np.int32(5), Level(6), np.int64(7)]
    assert [row["v"] for row in written(rows_of(given))] == [5, 6, 7]
    given = [np.float32(0.1), np.float64(0.5)]
    assert [row["v"] for row in written(rows_of(given))] == [float(np.float32(0.1)), 0.5]
    given = [np.array([1, 2]), np.array([3])]
    assert [row["v"] for row in written(rows_of(given))] == [[1, 2], [3]]
    given = [np.datetime64("2026-05-01T12:30:00.000001"), np.datetime64("2026-05-02", "us")]
    assert [row["v"] for row in written(rows_of(given))] == [NAIVE.replace(microsecond=1), dt.datetime(2026, 5, 2)]
    given = [dt.date(2026, 5, 1), np.datetime64("2026-05-01T12:30")]
    with pytest.raises(ValueError, match="the values of the column 'v'"):
        written(rows_of(given))


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_times_of_numpy_are_times_and_nat_is_null(unit):
    time, delta = np.datetime64("2026-05-01T12:30:00", unit), np.timedelta64(90, "s").astype(f"m8[{unit}]")
    for value, expected in ((time, NAIVE), (delta, dt.timedelta(seconds=90))):
        nat = type(value)("NaT", unit)
        assert [row["v"] for row in written(rows_of([value, nat, None]))] == [expected, None, None]
        given = [np.array([value, nat]), None, np.array([value])]
        assert [row["v"] for row in written(rows_of(given))] == [[expected, None], None, [expected]]


@pytest.mark.parametrize("later", [np.array([1], "M8[ns]"), np.array([7]), np.array(["2026-05-01"], "M8[D]"), [7]])
def test_times_of_numpy_that_are_cut_or_of_another_type_are_an_error(monkeypatch, later):
    monkeypatch.setattr(parquet, "GROUP_NROWS", 1)
    with pytest.raises(ValueError, match="the values of the column 'v' are not of list<.*us.*, as in the first rows: "):
        written(rows_of([[NAIVE], later]))


@pytest.mark.parametrize("value", [Level(1), np.bool_(True)])
def test_neither_a_number_nor_a_bool_is_the_other(monkeypatch, value):
    monkeypatch.setattr(parquet, "GROUP_NROWS", 1)
    first = True if isinstance(value, int) else 1.5
    with pytest.raises(ValueError, match="the values of the column 'v'"):
        written(rows_of([first, value]))


FIRST = {"n": np.array([1, 2]), "flag": np.array([True, False]), "f": np.array([1.5, 2.5], "f4"), "s": ["a", "b"]}


@pytest.mark.parametrize(
    ("name", "later"),
    [
        ("n", ["5"]), ("n", [1.5]), ("n", [1.0]), ("n", [True]), ("flag", [7]), ("flag", ["true"]), ("f", [1e300]),
        ("f", [0.1]), ("s", [2.5]), ("s", [b"x"]), ("n", np.array([2**63], "u8")), ("s", [NAIVE]),
        ("n", [NAIVE]), ("n", [[1]]),
    ],
    ids=str,
)  # fmt: skip
def test_columns_of_a_later_batch_are_not_parsed_or_rounded(name, later):
    columns = {each: pyarrow.array(later if each == name else FIRST[each][:1]) for each in FIRST}
    with pytest.raises(ValueError, match=f"the values of the column {name!r} are not of .*, as in the first rows: "):
        written(pyarrow.table(FIRST), pyarrow.table(columns))


def table(kind, values):
    return pyarrow.table({"v": pyarrow.array(values, kind)})


@pytest.mark.parametrize(
    ("first", "later"),
    [
        (table("int64", [1]), table("int32", [2])), (table("int32", [1]), table("int64", [2])),
        (table("float64", [1.0]), table("float32", [2.5])), (table("float64", [1.5]), table("int64", [2])),
        (table("string", ["a"]), table("null", [None])), (table("string", ["a"]), table("large_string", ["b"])),
        (table(pyarrow.dictionary(pyarrow.int8(), pyarrow.string()), ["a"]), table("string", ["b"])),
        (table("string", ["a"]), table(pyarrow.dictionary(pyarrow.int8(), pyarrow.string()), ["b"])),
        (table(pyarrow.list_(pyarrow.field("item", "int64", False)), [[1]]),
         table(pyarrow.list_(pyarrow.int32()), [[None]])),
        (table(pyarrow.struct([pyarrow.field("a", "float64", False)]), [{"a": 1.0}]),
         table(pyarrow.struct([pyarrow.field("a", "int32")]), [{"a": None}])),
        (table(pyarrow.timestamp("us"), [NAIVE]), table(pyarrow.timestamp("ms"), [NAIVE])),
        (table(pyarrow.timestamp("ms"), [NAIVE]), table(pyarrow.timestamp("us"), [NAIVE.replace(microsecond=1000)])),
        (table(pyarrow.timestamp("ms", "UTC"), [AWARE]), table(pyarrow.timestamp("us", "+00:00"), [AWARE])),
        (table("time64[us]", [NAIVE.time()]), table("time32[ms]", [NAIVE.time()])),
        (table("time32[ms]", [NAIVE.time()]), table("time64[us]", [NAIVE.time()])),
        (table("duration[ms]", [dt.timedelta(1)]), table("duration[us]", [dt.timedelta(2)])),
        (table(pyarrow.list_(pyarrow.timestamp("us")), [[NAIVE]]),
         table(pyarrow.list_(pyarrow.timestamp("ms")), [[NAIVE]])),
        (table(pyarrow.decimal128(9, 2), [Decimal("1.50")]), table(pyarrow.decimal128(3, 2), [Decimal("2.25")])),
        (table(pyarrow.map_(pyarrow.string(), pyarrow.field("value", "int64", False)), [[("a", 1)]]),
         table(pyarrow.map_(pyarrow.string(), pyarrow.int64()), [[("a", None)]])),
    ],
    ids=str,
)  # fmt: skip
def test_a_later_batch_may_have_another_type_that_loses_nothing(first, later):
    assert written(first, later) == [*first.to_pylist(), *later.to_pylist()]


@pytest.mark.parametrize(
    ("first", "later"),
    [
        (table(pyarrow.timestamp("ms"), [NAIVE]), table(pyarrow.timestamp("us"), [NAIVE.replace(microsecond=1)])),
        (table(pyarrow.timestamp("ns"), [NAIVE]), table(pyarrow.timestamp("us"), [dt.datetime(9999, 1, 1)])),
        (table(pyarrow.timestamp("us"), [NAIVE]), table(pyarrow.timestamp("us", "UTC"), [AWARE])),
        (table(pyarrow.timestamp("us", "UTC"), [AWARE]), table(pyarrow.timestamp("us", "Asia/Tokyo"), [AWARE])),
        (table("time32[ms]", [NAIVE.time()]), table("time64[us]", [NAIVE.time().replace(microsecond=1)])),
        (table("duration[s]", [dt.timedelta(1)]), table("duration[us]", [dt.timedelta(0, 0, 1)])),
        (table("duration[ns]", [dt.timedelta(1)]), table("duration[us]", [dt.timedelta(200_000)])),
        (table("duration[s]", [dt.timedelta(1)]), table("time32[s]", [NAIVE.time()])),
        (table("int64", [1]), table("float64", [float("nan")])),
    ],
    ids=str,
)  # fmt: skip
def test_times_of_a_later_batch_that_would_be_cut_are_an_error(first, later):
    with pytest.raises(ValueError, match="the values of the column 'v' are not of .*, as in the first rows: "):
        written(first, later)


def test_the_metadata_of_the_first_batch_is_kept():
    import pyarrow.parquet as reader

    inner = pyarrow.field("a", "int64", metadata={"inner": "2"})
    fields = [pyarrow.field("n", "int64", False, {"unit": "m"}), pyarrow.field("s", pyarrow.struct([inner]))]
    sink = io.BytesIO()
    output = parquet.ParquetOutput(sink)
    output.writes(pyarrow.table({"n": [1], "s": [{"a": 1}]}, pyarrow.schema(fields, {"pandas": "{}"})))
    output.writes(pyarrow.table({"n": [None], "s": [{"a": 2}]}, pyarrow.schema([("n", "int32"), fields[1]])))
    output.writes([(None, {"n": 3})])
    output.close()
    schema = reader.read_table(io.BytesIO(sink.getvalue()[:-COUNT_NBYTES])).schema
    assert schema.metadata[b"pandas"] == b"{}" and schema.field("n").metadata[b"unit"] == b"m"
    assert schema.field("s").type.field("a").metadata[b"inner"] == b"2" and schema.field("n").nullable


def test_a_later_batch_may_lack_a_column_as_later_rows_may():
    schema = pyarrow.schema([pyarrow.field("a", "int64", False), pyarrow.field("b", "string", False)])
    first = pyarrow.table({"a": [1], "b": ["x"]}, schema)
    expected = [{"a": 1, "b": "x"}, {"a": 2, "b": None}, {"a": None, "b": "y"}]
    assert written(first, {"a": np.array([2])}, [(None, {"b": "y"})]) == expected
    with pytest.raises(ValueError, match="two columns of Parquet have one name"):
        written(pyarrow.table([[1], [2]], names=["a", "a"]))


def test_rows_after_a_batch_are_of_its_types():
    first = table(pyarrow.timestamp("ms"), [NAIVE])
    assert written(first, rows_of([NAIVE.replace(second=1)])) == [{"v": NAIVE}, {"v": NAIVE.replace(second=1)}]
    for kind, value, later in (
        (pyarrow.timestamp("ms"), NAIVE, NAIVE.replace(microsecond=1)), (pyarrow.float32(), 0.5, 0.1),
        (pyarrow.time32("s"), NAIVE.time(), NAIVE.time().replace(microsecond=1)), (pyarrow.int32(), 1, 2**31),
        (pyarrow.map_(pyarrow.string(), pyarrow.int64()), {"a": 1}, {"a": 1.5}),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="the values of the column 'v' are not of "):
            written(table(kind, [value]), rows_of([later]))
    assert written(table(pyarrow.map_(pyarrow.string(), pyarrow.int64()), [{"a": 1}]), rows_of([{"b": 2}]))[1] == {
        "v": [("b", 2)]
    }
