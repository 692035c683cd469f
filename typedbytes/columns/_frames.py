"""Columns of pandas and Polars, and frames, whose export to Arrow would not keep their values.

Here: which those are, and what is written instead. Not here: how it is written. Neither library is imported here: a
caller with such a column has imported it.
"""

from __future__ import annotations

import sys
from itertools import chain

from typedbytes.errors import EncodeTypeError

__all__ = ["parts_of", "replaced", "without_unnamed_index"]


def replaced(column):
    """Return what is written instead of a column of objects: a list, or an Arrow array. None: the column itself.

    A list has None for what is missing.
    """
    if _is_a(column, "polars", "Series") and column.dtype == sys.modules["polars"].Object:
        return column.to_list()  # Arrow would be given the addresses of the objects
    if _is_a(column, "pandas", "Series", "Index") and column.dtype == object:
        return _objects_of_pandas(column)
    return None


def parts_of(frame):
    """Return the names and the columns of a frame that is to be written column by column.

    None: Arrow has its values, or it is not a frame.
    """
    if _is_a(frame, "polars", "DataFrame") and sys.modules["polars"].Object in frame.dtypes:
        return frame.columns, frame.get_columns()
    if _is_a(frame, "pandas", "DataFrame"):
        return _parts_of_pandas(frame)
    return None


def without_unnamed_index(frame):
    """Return a frame of pandas as Arrow takes it with the levels of its index that have a name, and no others.

    Other objects are returned as they are.
    """
    if not _is_a(frame, "pandas", "DataFrame"):
        return frame
    unnamed = [level for level, name in enumerate(frame.index.names) if name is None]
    if unnamed and _is_a(frame.index, "pandas", "RangeIndex"):
        return frame  # Arrow leaves it out
    import pyarrow

    if unnamed:  # Arrow would make a column of the index of selected rows
        frame = frame.reset_index(level=unnamed, drop=True)
    return pyarrow.Table.from_pandas(frame, preserve_index=frame.index.names != [None])


def _is_a(given, library, *names):
    found = sys.modules.get(library)
    return found is not None and isinstance(given, tuple(getattr(found, name) for name in names))


def _parts_of_pandas(frame):
    index = frame.index
    levels = [index.get_level_values(number).to_series() for number, name in enumerate(index.names) if name is not None]
    series = [frame.iloc[:, number] for number in range(frame.shape[1])] + levels
    if all(map(_is_in_arrow, series)):
        return None
    return [str(column.name) for column in series], [
        column if column.dtype == object else _in_arrow(column) for column in series
    ]


def _is_in_arrow(series):
    """Return whether Arrow has the values of a column of pandas: objects that are all str it does."""
    objects = getattr(series.dtype, "categories", series)
    return objects.dtype != object or sys.modules["pandas"].api.types.infer_dtype(objects, skipna=True) == "string"


def _objects_of_pandas(column):
    values = column.to_numpy(copy=True)
    values[sys.modules["pandas"].isna(values)] = None
    values = values.tolist()
    return _in_arrow(column) if _are_nested(values) else values


def _are_nested(values):
    """Return whether values are what pyarrow makes of Arrow's structs and lists, which they become again."""
    nested = (dict, sys.modules["numpy"].ndarray)
    first = next((value for value in values if value is not None), None)
    return isinstance(first, nested) and all(value is None or isinstance(value, nested) for value in values)


def _in_arrow(column):
    import pyarrow

    try:
        array = pyarrow.array(column, from_pandas=True)
        if _may_mix(array.type) and _mixes_text_and_bytes(
            array.type, getattr(column.dtype, "categories", column).to_numpy()
        ):
            raise TypeError("texts and bytes")
    except (ValueError, TypeError, OverflowError) as error:  # pyarrow's own errors among them
        raise EncodeTypeError(
            f"pyarrow cannot make one type of its values: {error}: its to_numpy() is written value by value"
        ) from None
    return array


def _may_mix(kind):
    """Return whether values of an Arrow type may have been texts and bytes."""
    from pyarrow import types

    return types.is_nested(kind) or types.is_dictionary(kind) or types.is_string(kind) or types.is_binary(kind)


def _mixes_text_and_bytes(kind, values):
    """Return whether both are among the values of an Arrow type, of which pyarrow has made one.

    It makes bytes of them; only items of a list become text if the first is. Nothing else is looked at.
    """
    from pyarrow import types

    if types.is_dictionary(kind):
        return _mixes_text_and_bytes(kind.value_type, values)
    if types.is_struct(kind):
        structs = [value for value in values if isinstance(value, dict)]
        return any(
            _mixes_text_and_bytes(field.type, [struct.get(field.name) for struct in structs])
            for field in kind
            if not (types.is_primitive(field.type) or types.is_string(field.type))
        )
    if types.is_list(kind):
        items = (value for value in values if hasattr(value, "__iter__"))  # others are missing
        return not types.is_primitive(kind.value_type) and _mixes_text_and_bytes(
            kind.value_type, list(chain.from_iterable(items))
        )
    if not (types.is_string(kind) or types.is_binary(kind)):
        return False
    found = set(map(type, values))
    return any(issubclass(of, str) for of in found) and any(
        issubclass(of, (bytes, bytearray, memoryview)) for of in found
    )
