"""Columns of Python objects in frames of pandas and Polars, and the index of pandas's: the values are written as those of a list."""

import uuid

import polars
import pytest

import typedbytes as tb
from column_pairs import written

IDS = [uuid.UUID(int=number) for number in range(2)]


def test_objects_of_polars_are_written_as_their_values():
    ids = polars.Series(IDS)
    expected = tb.Encoder().encode_pairs(zip(IDS, [1.5, 2.5]))
    for given_columns in (polars.DataFrame({"value": [1.5, 2.5], "key": ids}), {"key": ids, "value": [1.5, 2.5]}, [ids, [1.5, 2.5]]):
        assert written(given_columns) == expected
    vectors = tb.Encoder().encode_all(zip(IDS, IDS, [1.5, 2.5]))
    assert written([(ids, ids, [1.5, 2.5])], pairs=False) == vectors
    frame = polars.DataFrame({"a": ids, "b": ids, "c": [1.5, 2.5]})
    assert written([frame], pairs=False) == vectors
    with pytest.raises(tb.EncodeTypeError, match="^column 'value': a frame with a column of objects cannot be a column of MAPs"):
        written([frame], pairs=False, structs="map")


def test_objects_of_polars_that_are_refused():
    column = polars.Series(["a", object()], dtype=polars.Object)
    with pytest.raises(tb.EncodeTypeError, match=r"^column 'key': cannot encode an object of type object.*, at \[1\]$"):
        written(polars.DataFrame({"key": column, "value": [1, 2]}))
    column = polars.Series(["a", None], dtype=polars.Object)
    assert written([column], pairs=False, nulls="value") == tb.Encoder().encode_all(["a", None])
    with pytest.raises(tb.EncodeValueError, match=r"^column 'value': value is null.*, at \[1\]$"):
        written([column], pairs=False)
