"""Columns of Python objects in frames of pandas and Polars, and pandas' index: written as those of a list."""

import datetime
import uuid

import numpy
import pandas
import polars
import pyarrow
import pytest

import typedbytes as tb
from support.column_pairs import written

pytestmark = pytest.mark.lowest

IDS = [uuid.UUID(int=number) for number in range(2)]


def test_objects_of_polars_are_written_as_their_values():
    ids = polars.Series(IDS)
    expected = tb.Encoder().encode_pairs(zip(IDS, [1.5, 2.5]))
    for given_columns in (
        polars.DataFrame({"value": [1.5, 2.5], "key": ids}),
        {"key": ids, "value": [1.5, 2.5]},
        [ids, [1.5, 2.5]],
    ):
        assert written(given_columns) == expected
    vectors = tb.Encoder().encode_all(zip(IDS, IDS, [1.5, 2.5]))
    assert written([(ids, ids, [1.5, 2.5])], pairs=False) == vectors
    frame = polars.DataFrame({"a": ids, "b": ids, "c": [1.5, 2.5]})
    assert written([frame], pairs=False) == vectors
    with pytest.raises(
        tb.EncodeTypeError, match="^column 'value': a frame with a column of objects cannot be a column of MAPs"
    ):
        written([frame], pairs=False, structs="map")


def test_objects_of_polars_that_are_refused():
    column = polars.Series(["a", object()], dtype=polars.Object)
    with pytest.raises(tb.EncodeTypeError, match=r"^column 'key': cannot encode an object of type object.*, at \[1\]$"):
        written(polars.DataFrame({"key": column, "value": [1, 2]}))
    column = polars.Series(["a", None], dtype=polars.Object)
    assert written([column], pairs=False, nulls="value") == tb.Encoder().encode_all(["a", None])
    with pytest.raises(tb.EncodeValueError, match=r"^column 'value': value is null.*, at \[1\]$"):
        written([column], pairs=False)


OBJECTS = [["y", b"x"], [1.0, True], [1, 2.5], [True, 2], [{1}, {2}], [(1, "a"), ()], [[(1, "a")], []], [2**64, 1],
           [1, 2], ["a", "b"], [datetime.date(2020, 1, 1), "a"], [{"a": 1}, "a"],
           [numpy.int8(1), tb.Long(2)], IDS]  # fmt: skip


@pytest.mark.parametrize("values", OBJECTS, ids=str)
def test_objects_of_pandas_are_written_as_those_of_a_list(values):
    column = pandas.Series(values, dtype=object)
    encode = tb.Encoder().encode_all
    for given_column in (
        column,
        pandas.Index(column, dtype=object),
        pandas.DataFrame({"n": column}).n,
        column.to_numpy(),
    ):
        assert written([given_column], pairs=False) == encode(values)
        assert written([(given_column, [1, 2])], pairs=False) == encode(zip(values, [1, 2]))
    frame = pandas.DataFrame({"value": column, "key": numpy.array([1, 2], "i1")})
    pairs = [*zip(map(tb.Byte, [1, 2]), values)]
    assert written(frame) == tb.Encoder().encode_pairs(pairs)
    assert written(frame[["value"]], pairs=False) == encode(values)
    assert written([frame[["key", "value"]]], pairs=False) == encode(pairs)
    indexed = pandas.DataFrame({"n": column.to_numpy()}, pandas.Index([b"a", 7], name="id"))
    assert written(indexed) == tb.Encoder().encode_pairs(zip(values, [b"a", 7]))


@pytest.mark.parametrize("missing", [None, float("nan"), pandas.NaT, pandas.NA], ids=str)
def test_what_pandas_marks_as_missing_among_objects_is_null(missing):
    for values in (["a", missing, b"b"], ["a", missing, "b"], [1, missing, 2.5], [missing] * 3):
        column = pandas.Series(values, dtype=object)
        expected = [None if value is missing else value for value in values]
        row = expected.index(None)
        frame = pandas.DataFrame({"key": [0.5, float("nan"), 1.5], "value": column})
        for given_column in (column, pandas.Index(column, dtype=object)):
            assert written([given_column], pairs=False, nulls="value") == tb.Encoder().encode_all(expected)
            with pytest.raises(tb.EncodeValueError, match=rf"^column 'value': value is null.*, at \[{row}\]$"):
                written([given_column], pairs=False)
        assert written(frame, nulls="value") == tb.Encoder().encode_pairs(zip([0.5, None, 1.5], expected))


def test_arrows_structs_and_lists_come_back_from_pandas():
    table = pyarrow.table({"key": [[1, 2], None, []], "value": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}, None]})
    for structs in ("vector", "map"):
        expected = written(table, nulls="value", structs=structs)
        frame = table.to_pandas()
        assert written(frame, nulls="value", structs=structs) == expected
        assert written({"key": frame.key, "value": frame.value}, nulls="value", structs=structs) == expected
    column = pandas.Series([{"a": (1, "b")}])
    with pytest.raises(
        tb.EncodeTypeError, match="^column 'value': pyarrow cannot make one type of its values: .* its to_numpy"
    ):
        written(pandas.DataFrame({"key": [1], "value": column}))
    assert written([column.to_numpy()], pairs=False) == tb.dumps({"a": (1, "b")})


def objects(*items):
    return numpy.array(items, dtype=object)


@pytest.mark.parametrize(
    "values",
    [
        [{"a": "x"}, {"a": b"\xff"}],
        [{"a": b"x"}, None, {"a": "x"}],
        [{"a": bytearray(b"x")}, {"a": "y"}],
        [{"n": 1, "a": {"b": ["x", "y"]}}, {"n": 2, "a": {"b": [b"x"]}}],
        [{"a": ["x", b"y"]}, {"a": []}],
        [{"a": [b"x", "y"]}, {"a": None}],
        [{"a": [{"b": "x"}, {"b": b"y"}]}],
        [{"a": "x", "b": objects("x", b"y")}],
        [objects("x", b"y"), objects("z")],
        [objects(b"y", "x"), None],
        [objects("x"), objects(b"y")],
    ],
    ids=str,
)
def test_texts_and_bytes_are_not_made_one_type(values):
    """By pyarrow they are, without a word."""
    column = pandas.Series(values)
    said = "pyarrow cannot make one type of its values: texts and bytes: its to_numpy"
    frame = pandas.DataFrame({"key": range(len(values)), "value": column})
    for given_columns in (
        frame,
        {"key": frame.key, "value": column},
        {"key": frame.key, "value": pandas.Index(column)},
    ):
        with pytest.raises(tb.EncodeTypeError, match=f"^column 'value': {said}"):
            written(given_columns, nulls="value")
    with pytest.raises(tb.EncodeTypeError, match=f"^column 'key': {said}"):
        written(pandas.DataFrame({"value": range(len(values)), "key": column}).set_index("key"), nulls="value")


@pytest.mark.parametrize("categories", [["x", b"y"], [b"y", "x"]])
def test_categories_that_are_texts_and_bytes_are_refused(categories):
    column = pandas.Series(pandas.Categorical(categories))
    with pytest.raises(tb.EncodeTypeError, match="pyarrow cannot make one type of its values: texts and bytes"):
        written(pandas.DataFrame({"key": column, "value": [1, 2]}))
    for same in (["x", "y"], [b"x", b"y"]):
        frame = pandas.DataFrame({"key": pandas.Categorical(same), "value": [1, 2]})
        assert written(frame) == tb.Encoder().encode_pairs(zip(same, map(tb.Long, [1, 2])))


def test_texts_and_bytes_in_columns_of_their_own():
    column = pandas.Series([{"a": "x", "b": b"y", "c": [b"x"], "d": ["y"]}, {"a": None, "b": None, "c": [], "d": None}])
    expected = [("x", b"y", [b"x"], ["y"]), (None, None, [], None)]
    assert written([column], pairs=False, nulls="value") == tb.Encoder().encode_all(expected)


def test_objects_of_pandas_that_are_refused():
    for column in (pandas.Series(["a", object()]), pandas.Index(["a", object()])):
        with pytest.raises(
            tb.EncodeTypeError, match=r"^column 'value': cannot encode an object of type object.*, at \[1\]$"
        ):
            written([column], pairs=False)


@pytest.mark.parametrize("value", [1, "a", b"a"])
def test_an_index_without_a_name_is_no_column(value):
    pairs = [("a", value), ("b", 2), ("a", value), ("c", value)]
    frame = pandas.DataFrame(pairs, columns=["key", "value"])
    kept = frame[frame.key.isin(["a", "c"])]
    expected = written(frame.iloc[[0, 2, 3]].reset_index(drop=True))
    assert len(tb.Decoder().decode_pairs(expected)) == 3
    assert written(kept) == expected and written([kept], pairs=False) == written([(kept.key, kept.value)], pairs=False)
    assert written(kept.set_index([kept.index, kept.index])) == expected
    for index in (kept.index, [3, 4, 5], range(3)):  # pandas makes a RangeIndex of numbers in steps
        by_key = kept.set_index(pandas.Index(index, name="n"))[["key"]]
        assert written(by_key) == written({"key": by_key.key, "n": numpy.asarray(index)})
        assert written(by_key.set_index(by_key.index.rename(None), append=True)) == written(by_key)
    maps = written([frame[["key"]][1:].set_index([[7, 5, 7]])], pairs=False, structs="map")
    assert maps == tb.Encoder().encode_all([{"key": "b"}, {"key": "a"}, {"key": "c"}])


def test_an_index_without_a_name_in_a_table_is_named_in_the_error():
    table = pyarrow.Table.from_pandas(pandas.DataFrame({"key": ["a"], "value": [1]}, [7]))
    with pytest.raises(
        tb.EncodeValueError,
        match=r"not 3: '__index_level_0__' is the index of a pandas frame, .*reset_index\(drop=True\)",
    ):
        written(table)
