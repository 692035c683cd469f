"""Write columns as a stream of records.

Here: what may be a column, and the nulls of each kind of column. Not here: the encoding, which is compiled.
"""

import itertools

from typedbytes import _core
from typedbytes._core import Encoder
from typedbytes.columns import _native
from typedbytes.columns._batch import Batch
from typedbytes.columns._reader import BatchReader
from typedbytes.errors import EncodeTypeError, EncodeValueError
from typedbytes.files import Writer

__all__ = ["write"]

_WRITE_NBYTES = 1 << 20


def write(sink, columns, *, pairs=True, nulls="error", null_value=None):
    """Write columns as a stream of pairs, or of values, and return the number of rows.

    sink: whatever a Writer takes, or a Writer. columns: two of them, key and value, or with pairs=False one: a dict, a sequence, or
    anything with `__arrow_c_array__` or `__arrow_c_stream__`, such as a record batch, a table or a data frame; a Batch or a
    BatchReader, whose bytes come out as they came in.
    A column is a NumPy array or another buffer of numbers, an Arrow array, a sequence of Python objects, or a tuple of columns,
    which are the items of a VECTOR, as are the rows of an array of two dimensions. The bytes are those that the encoder
    writes for the same values; numbers keep their width, as NumPy's scalars do. nulls: "error", "hive" (Hive's NULL) or
    "value" (whatever null_value encodes to); None in a sequence of objects is a null, and so is what pandas marks as missing.

    Raises EncodeTypeError for columns without a type code, EncodeValueError for nulls that are refused and for columns of
    different lengths. Where a value is refused, some of the rows before it may have been written.

    >>> import array, io, typedbytes
    >>> sink = io.BytesIO()
    >>> write(sink, {"key": ["a", "b"], "value": array.array("d", [0.5, 1.5])})
    2
    >>> typedbytes.Decoder().decode_pairs(sink.getvalue())
    [('a', 0.5), ('b', 1.5)]
    """
    names = ("key", "value") if pairs else ("value",)
    null = _null(nulls, null_value)
    if isinstance(sink, _core.Writer):
        return _write(sink, columns, names, null)
    with Writer(sink) as writer:
        return _write(writer, columns, names, null)


def _write(writer, columns, names, null):
    nrows = 0
    for table in _tables(columns, names, null):
        for data, n in _encoded(table, null, nrows):
            writer._hand(data, n)
            nrows += n
    return nrows


def _null(nulls, null_value):
    """Return the bytes of a null, None to refuse them."""
    if nulls == "error":
        return None
    if nulls == "hive":
        return b"\x0c"
    if nulls == "value":
        return Encoder().encode(null_value)
    raise ValueError(f'nulls is "error", "hive" or "value", not {nulls!r}')


def _tables(columns, names, null):
    """Yield tables: for each column the list of its Rows."""
    if isinstance(columns, (dict, list, tuple)):
        found = list(columns.values()) if isinstance(columns, dict) else columns
        order = _order(list(columns) if isinstance(columns, dict) else range(len(columns)), names)
        yield [_rows(found[number], null) for number in order]
        return
    if isinstance(columns, (Batch, BatchReader)):
        for batch in columns if isinstance(columns, BatchReader) else (columns,):
            yield [[_native.rows_of_batch(batch, number)] for number in _order(batch.names, names)]
        return
    for lent in _lent(columns):
        fields = _native.arrow_names(lent)
        if fields is None:
            raise EncodeTypeError("a table of columns is needed; a column by itself stands in a list")
        yield [[_native.rows_of_arrow(lent, number)] for number in _order(fields, names)]


def _order(found, names):
    """Return the numbers of the columns in the order in which they are written."""
    found = list(found)
    if len(found) != len(names):
        raise EncodeValueError(f"{len(names)} columns are needed, {' and '.join(names)}, not {len(found)}")
    return [found.index(name) for name in names] if set(found) == set(names) else range(len(found))


def _lent(column):
    """Iterate over the arrays that an object lends by Arrow's interface; EncodeTypeError when it has none."""
    if hasattr(column, "__arrow_c_array__"):
        return iter((_native.ImportedArray(*column.__arrow_c_array__()),))
    if hasattr(column, "__arrow_c_stream__"):
        return iter(_native.ImportedArrayStream(column.__arrow_c_stream__()))
    raise EncodeTypeError(f"cannot take columns from a {type(column).__name__}")


def _rows(column, null):
    """Return the Rows of a column, one or more that follow each other."""
    if isinstance(column, (str, bytes, dict)):
        raise EncodeTypeError(f"a column is no {type(column).__name__}")
    if isinstance(column, tuple):
        return [_native.rows_of_parts([_whole(part, null) for part in column])]
    if hasattr(column, "__arrow_c_array__") or hasattr(column, "__arrow_c_stream__"):
        return [_native.rows_of_arrow(lent) for lent in _lent(column)]
    if hasattr(column, "mask") and hasattr(column, "filled"):
        raise EncodeTypeError("cannot take a masked array: its mask would be lost")
    if hasattr(column, "__array__") and not hasattr(column, "__buffer__"):
        if _marks_nulls(column):
            return _marked(getattr(column, "array", column), null)
        column = column.__array__()
    if _is_numbers(column):
        return [_native.rows_of_buffer(column)]
    if hasattr(column, "__array__") and column.ndim != 1:
        return [_of_columns(column.__array__(), null)]
    return [_encoded_objects(column, null)]


def _of_columns(grid, null):
    """Return the Rows of an array of two dimensions that holds no numbers."""
    if grid.ndim != 2:
        raise EncodeTypeError(f"cannot take an array of {grid.ndim} dimensions as a column")
    if not grid.shape[1]:
        return _encoded_objects([()] * len(grid), null)
    return _native.rows_of_parts([_whole(column, null) for column in grid.T])


def _marks_nulls(column):
    """Tell whether a column is one of pandas's own types whose nulls are beside its values: not NaNs among floats, as in NumPy's."""
    dtype = getattr(column, "dtype", None)
    return hasattr(dtype, "na_value") and not (dtype.kind == "f" and isinstance(dtype.na_value, float))


def _marked(column, null):
    """Return the Rows of an array that marks its nulls: as a whole it may become floats, with NaNs for them."""
    lent = _lent_by_extension(column)
    if lent is not None:
        return _rows(lent, null)
    is_null = column.isna()
    if not is_null.any():
        return _rows(column.__array__(), null)
    values = iter(column[~is_null].__array__())
    return [_encoded_objects([None if missing else next(values) for missing in is_null], null)]


def _lent_by_extension(column):
    """Return the Arrow array of one of pandas's, None where it has none, or of a type that is more than its numbers, as a Period's."""
    try:
        lent = column.__arrow_array__()
    except (AttributeError, ImportError):  # pyarrow is not there
        return None
    return None if hasattr(lent.type, "extension_name") else lent


def _whole(part, null):
    """Return the Rows of a column that is a part of another."""
    rows = _rows(part, null)
    if len(rows) != 1:
        raise EncodeTypeError("a part of a VECTOR comes in several chunks; make it one")
    return rows[0]


def _is_numbers(column):
    """Tell whether a column is a buffer of numbers; one of text or of objects has no format, or one of several letters."""
    try:
        with memoryview(column) as view:
            return len(view.format.lstrip("@=<>!")) == 1 and view.format[-1] in "?bBhHiIlLqQnNefd"
    except (TypeError, ValueError, BufferError):
        return False


def _encoded_objects(column, null):
    encoder = Encoder()
    values = list(column)
    if not any(value is None for value in values):
        data = encoder.encode_all(values)
        return _native.rows_of_encoded(data, _core.index(data))
    if null is None:
        place = next(number for number, value in enumerate(values) if value is None)
        raise EncodeValueError("value is null: pass nulls=... to say what to write", f"[{place}]")
    parts = [null if value is None else encoder.encode(value) for value in values]
    return _native.rows_of_encoded(b"".join(parts), list(itertools.accumulate(map(len, parts[:-1]), initial=0)))


def _encoded(table, null, nbefore):
    """Yield the bytes of a table, so many rows behind the first, part by part, each with its number of rows."""
    if len({sum(map(len, chunks)) for chunks in table}) > 1:
        raise EncodeValueError("the columns differ in length")
    chunks = [iter(chunks) for chunks in table]
    rows = [next(some, None) for some in chunks]
    starts = [0] * len(rows)
    while True:
        for number, some in enumerate(chunks):
            while rows[number] is not None and starts[number] == len(rows[number]):
                rows[number], starts[number] = next(some, None), 0
        if None in rows:
            return
        n = min(len(some) - start for some, start in zip(rows, starts))
        data, n = _native.encode_rows(rows, starts, n, _WRITE_NBYTES, null, nbefore)
        yield data, n
        nbefore += n
        starts = [start + n for start in starts]
