"""Write columns as a stream of records.

Here: objects accepted as columns, and their nulls. Not here: the encoding, which is compiled.
"""

from __future__ import annotations

from collections import namedtuple
from itertools import chain, islice

from typedbytes import _core
from typedbytes._core import Encoder
from typedbytes.columns import _frames, _native
from typedbytes.columns._batch import Batch, Remaining
from typedbytes.columns._reader import BatchReader
from typedbytes.columns._sources import is_sequence_writer
from typedbytes.errors import EncodeError, EncodeTypeError, EncodeValueError, relocated, with_hint
from typedbytes.files import Writer

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, Literal

__all__ = ["write"]

_WRITE_NBYTES = 1 << 20
_Options = namedtuple("_Options", "null structs_as_maps")  # null: the bytes written for one, None to refuse them
_CHUNK = 4096  # Python objects encoded together: their bytes stay in the cache until they are written


def write(
    sink: Any, columns: Any, *, pairs: bool = True, nulls: Literal["error", "hive", "value"] = "error",
    null_value: Any = None, structs: Literal["vector", "map"] = "vector",
) -> int:  # fmt: skip
    """Write columns as a stream of pairs, or of values, and return the number of rows.

    - sink: anything that a Writer accepts, a Writer, or a sequencefile.Writer, whose classes the values become.
    - columns: two of them, key and value, or with pairs=False one: a dict, a sequence, or an object with
      `__arrow_c_array__` or `__arrow_c_stream__`, such as a record batch, a table or a data frame; a Batch or a
      BatchReader, which are written as the bytes that were read. Columns with other names than key and value are taken
      by their order. A column is a NumPy array or another buffer of numbers, an Arrow array, a sequence of Python
      objects, or a tuple of columns, which are the items of a VECTOR, as are the rows of an array of two dimensions.
      The bytes are those that the encoder writes for the same values; numbers keep their width, as NumPy scalars do.
    - nulls: "error", "hive" (Hive's NULL) or "value" (the encoding of null_value); None in a sequence of objects is a
      null, and so are values that pandas marks as missing. With "error" the nulls of a Batch are written as they were
      read.
    - structs: what an Arrow struct becomes, "vector" or "map": a MAP with the names of the fields as keys, without the
      fields that are null unless `nulls` says what to write for them.

    Raises EncodeTypeError for columns without a type code, EncodeValueError for nulls (with nulls="error"), for columns
    of different lengths, and for a pair whose first column is named "value" or whose second "key", unless they are both
    or "value" and "count". If a value is refused, some of the rows before it may have been written.

    >>> import array, io, typedbytes
    >>> sink = io.BytesIO()
    >>> write(sink, {"key": ["a", "b"], "value": array.array("d", [0.5, 1.5])})
    2
    >>> typedbytes.Decoder().decode_pairs(sink.getvalue())
    [('a', 0.5), ('b', 1.5)]
    """
    names = ("key", "value") if pairs else ("value",)
    if structs not in ("vector", "map"):
        raise ValueError(f'structs must be "vector" or "map", not {structs!r}')
    pieces = _pieces(columns, names, _Options(_null(nulls, null_value), structs == "map"))
    if isinstance(sink, _core.PairWriter) and not pairs:
        raise TypeError("a PairWriter takes pairs: pairs=False needs a Writer")
    first = list(islice(pieces, 1))  # refused columns must not truncate an existing file
    if isinstance(sink, _core.Writer):
        return _write(sink.__write_encoded__, chain(first, pieces))
    if is_sequence_writer(sink):
        if not pairs:
            raise TypeError("a SequenceFile has pairs: pairs=False needs another sink")
        if nulls == "hive":
            raise ValueError('nulls="hive" is a type code that SequenceFiles do not have: pass nulls="value"')
        return _write(lambda data, nrows: sink.write_typed(data), chain(first, pieces))
    with Writer(sink) as writer:
        return _write(writer.__write_encoded__, chain(first, pieces))


def _pieces(columns, names, options):
    """Yield the encoded rows of columns in pieces, each with its number of rows."""
    nrows = 0
    for table in _tables(columns, names, options):
        for data, n in _encoded(table, options.null, nrows):
            yield data, n
            nrows += n


def _write(use, pieces):
    nrows = 0
    for data, n in pieces:
        use(data, n)
        nrows += n
    return nrows


def _null(nulls, null_value):
    """Return the bytes written for a null, None to refuse nulls."""
    if nulls == "error":
        return None
    if nulls == "hive":
        return b"\x0c"
    if nulls == "value":
        return Encoder().encode(null_value)
    raise ValueError(f'nulls must be "error", "hive" or "value", not {nulls!r}')


def _tables(columns, names, options):
    """Yield tables: for each column the list of its Rows."""
    named = _named(columns)
    if named is not None:
        fields, found = named
        yield [_named_rows(name, found[number], options) for name, number in zip(names, _order(fields, names))]
        return
    if isinstance(columns, (Batch, BatchReader)):
        for batch in Remaining(columns) if isinstance(columns, BatchReader) else (columns,):
            yield [[_native.rows_of_batch(batch, number)] for number in _order(batch.names, names)]
        return
    for imported in _imported(columns, options):
        fields = _native.arrow_names(imported)
        if fields is None:
            raise EncodeTypeError("expected a table of columns: put a single column in a list")
        yield [[_native.rows_of_arrow(imported, number)] for number in _order(fields, names)]


def _named(columns):
    """Return the names and the columns of what is written column by column, None for other objects."""
    if isinstance(columns, dict):
        return list(columns), list(columns.values())
    if isinstance(columns, (list, tuple)):
        return range(len(columns)), columns
    return _frames.parts_of(columns)


def _order(given, names):
    """Return the numbers of the columns in the order in which they are written."""
    given = list(given)
    if len(given) != len(names):
        raise EncodeValueError(
            f"expected {len(names)} columns, {' and '.join(names)}, not {len(given)}{_index_advice(given)}"
        )
    if set(given) == set(names):
        return [given.index(name) for name in names]
    _check_names(given, names)
    return range(len(given))


def _index_advice(found):
    index = next((name for name in found if str(name).startswith("__index_level_")), None)  # as pyarrow names it
    return f": {index!r} is the index of a pandas frame, which frame.reset_index(drop=True) removes" if index else ""


def _check_names(given, names):
    """Refuse a first column named like a value, or a second named like a key: they would be exchanged."""
    if given == ["value", "count"]:  # as engines name the values that they have counted
        return
    for name, expected in zip(given, names):
        if name in names and name != expected:
            number = "first" if name == "value" else "second"
            shown = " and ".join(map(repr, given))
            raise EncodeValueError(
                f"the columns are named {shown}, and {name!r} is not the {number} of a pair: rename one"
            )


def _imported(column, options):
    """Iterate over the arrays that an object exports through the Arrow C data interface, or EncodeTypeError."""
    column = _frames.without_unnamed_index(column)
    if hasattr(column, "__arrow_c_array__"):
        return iter((_native.ImportedArray(*column.__arrow_c_array__(), structs_as_maps=options.structs_as_maps),))
    if hasattr(column, "__arrow_c_stream__"):
        return iter(_native.ImportedArrayStream(column.__arrow_c_stream__(), structs_as_maps=options.structs_as_maps))
    raise EncodeTypeError(
        f"columns must be a dict, a sequence, a table of Arrow, a Batch or a BatchReader, not {type(column).__name__}"
    )


def _named_rows(name, column, options):
    """Return the Rows of a column; an error says which column it is."""
    try:
        return _rows(column, options)
    except EncodeError as error:
        raise relocated(error, f"column {name!r}: {error.message}", error.path) from None


def _rows(column, options, chunk=_CHUNK):
    """Return the Rows of a column: a list, because it may come in chunks. chunk: see _encoded_objects."""
    if isinstance(column, (str, bytes, dict)):
        raise _not_a_column(column)
    column = _without_objects(column, options)
    if isinstance(column, tuple):
        return [_native.rows_of_children([_single_chunk(part, options) for part in column])]
    if hasattr(column, "__arrow_c_array__") or hasattr(column, "__arrow_c_stream__"):
        return [_native.rows_of_arrow(imported) for imported in _imported(column, options)]
    if hasattr(column, "mask") and hasattr(column, "filled"):
        raise EncodeTypeError("cannot use a masked array as a column: its mask would be lost")
    if hasattr(column, "__array__") and not hasattr(column, "__buffer__"):
        if _has_null_mask(column):
            return _rows_with_mask(getattr(column, "array", column), options, chunk)
        column = column.__array__()
    if _is_numbers(column):
        return [_native.rows_of_buffer(column)]
    if getattr(getattr(column, "dtype", None), "kind", "") in ("M", "m"):
        return [_rows_of_times(column)]
    if hasattr(column, "__array__") and column.ndim != 1:
        return [_rows_of_grid(column.__array__(), options)]
    return _encoded_objects(column, options, chunk)


def _without_objects(column, options):
    """Return what is written instead of a column or frame of objects of pandas or Polars; others as they are."""
    replaced = _frames.replaced(column)
    if replaced is not None:
        return replaced
    parts = _frames.parts_of(column)
    if parts is None:
        return column
    if options.structs_as_maps:
        raise EncodeTypeError("a frame with a column of objects cannot be a column of MAPs: pass a list of dicts")
    return tuple(parts[1])  # as items of VECTORs are


def _not_a_column(found):
    return EncodeTypeError(f"expected an array or a sequence of values, not {type(found).__name__}")


def _rows_of_grid(grid, options):
    """Return the Rows of a two-dimensional array of objects other than numbers."""
    if grid.ndim != 2:
        raise EncodeTypeError(f"cannot use an array of {grid.ndim} dimensions as a column")
    if not grid.shape[1]:
        return _encoded_objects([()] * len(grid), options, None)[0]
    return _native.rows_of_children([_single_chunk(column, options) for column in grid.T])


def _rows_of_times(times):
    """Return the Rows of an array of datetime64 or timedelta64: datetime64[D] as INTs, else LONGs of microseconds."""
    import numpy

    unit = "D" if times.dtype == numpy.dtype("M8[D]") else "us"
    converted = _in_unit(times, unit)
    is_null = numpy.isnat(times)
    lost = (converted.astype(times.dtype) != times) & ~is_null
    numbers = converted.view("i8")
    if unit == "D":
        lost |= (numbers != numbers.astype("i4")) & ~is_null
        numbers = numbers.astype("i4")
    if lost.any():
        raise _lost_time(times, unit, numpy.argwhere(lost)[0])
    if not is_null.any():
        return _native.rows_of_buffer(numbers)
    if times.ndim != 1:
        raise EncodeValueError(f"value is null: NaT in an array of {times.ndim} dimensions")
    return _native.rows_of_buffer(numbers, numpy.packbits(~is_null, bitorder="little").tobytes())


def _in_unit(times, unit):
    """Return an array of datetime64 or timedelta64 in a unit; NumPy before 2.5 wraps what does not fit around."""
    import numpy

    wanted = f"{times.dtype.kind}8[{unit}]"
    try:
        return times.astype(wanted)
    except OverflowError:
        for row, time in numpy.ndenumerate(times):
            try:
                time.astype(wanted)
            except OverflowError as error:
                raise _lost_time(times, unit, row) from error
        raise


def _lost_time(times, unit, row):
    kind = "an INT of days" if unit == "D" else "a LONG of microseconds"
    return EncodeValueError(f"{times.dtype} does not fit {kind}", "".join(f"[{number}]" for number in row))


def _has_null_mask(column):
    """Return whether a pandas type stores nulls apart from the values, unlike the NaNs of NumPy floats."""
    dtype: Any = getattr(column, "dtype", None)
    return hasattr(dtype, "na_value") and not (dtype.kind == "f" and isinstance(dtype.na_value, float))


def _rows_with_mask(column, options, chunk):
    """Return the Rows of a pandas array with a null mask, which NumPy might convert to floats with NaNs."""
    converted = _as_arrow(column)
    if converted is not None:
        return _rows(converted, options, chunk)
    if column.dtype.kind == "M":  # with a zone: the array of its instants has none
        return [_rows_of_times(column.__array__(f"M8[{column.dtype.unit}]"))]
    is_null = column.isna()
    if not is_null.any():
        return _rows(column.__array__(), options, chunk)
    values = iter(column[~is_null].__array__())
    return _encoded_objects([None if missing else next(values) for missing in is_null], options, chunk)


def _as_arrow(column):
    """Return a pandas array as an Arrow array; None if it cannot be one, or has an extension type such as Period."""
    try:
        converted = column.__arrow_array__()
    except (AttributeError, ImportError):  # pyarrow is not installed
        return None
    return None if hasattr(converted.type, "extension_name") else converted


def _single_chunk(part, options):
    """Return the Rows of a column that is an item of a VECTOR."""
    rows = _rows(part, options, None)
    if len(rows) != 1:
        raise EncodeTypeError("an item of a VECTOR has several chunks: combine them into one")
    return rows[0]


def _is_numbers(column):
    """Return whether a column is a buffer of numbers, whose format is one letter, unlike text and objects."""
    try:
        with memoryview(column) as view:
            return len(view.format.lstrip("@=<>!")) == 1 and view.format[-1] in "?bBhHiIlLqQnNefd"
    except (TypeError, ValueError, BufferError):
        return False


def _encoded_objects(column, options, chunk):
    """Return the Rows of Python objects, in chunks of this many values; None: in one."""
    if not (hasattr(column, "__iter__") or hasattr(column, "__getitem__")):
        raise _not_a_column(column)
    values = column if type(column) is list else list(column)
    valid = _native.validity_bitmap(values)
    if valid is not None and options.null is None:
        row = next(number for number, value in enumerate(values) if value is None)
        hint = ": pass nulls=... to say what to write"
        error = EncodeValueError(f"value is null{hint}", f"[{row}]")
        error.option, error.hint = "nulls", hint
        raise error
    encoder = Encoder()
    nvalues = len(values)
    chunk = chunk or max(nvalues, 1)
    rows = []
    for start in range(0, max(nvalues, 1), chunk):
        try:
            data = encoder.encode_all(values[start : start + chunk])
        except EncodeError as error:
            raise _in_row(error, encoder, values, start) from None
        rows.append(_native.rows_of_encoded(data, _core.index(data), valid, start))
    if sum(map(len, rows)) != nvalues:  # `valid` has no bits for others
        raise RuntimeError("the column changed size while it was encoded")
    return rows


def _in_row(error, encoder, values, start):
    """Return an error of the encoder with the row of the value, from `start` on.

    Without advice on options that `write` does not have.
    """
    path = error.path
    for row, value in enumerate(values[start:], start):
        try:
            encoder.encode(value)
        except EncodeError as again:
            path = f"[{row}]{again.path}"
            break
    advice = ": make plain values of such objects first" if error.option == "default" else ""
    return type(error)(with_hint(error, advice).message, path)


def _encoded(table, null, nbefore):
    """Yield the bytes of a table in pieces, each with its number of rows; nbefore rows were written before."""
    lengths = [sum(map(len, chunks)) for chunks in table]
    if len({*lengths}) > 1:
        raise EncodeValueError(f"the columns differ in length: {' and '.join(map(str, lengths))} rows")
    chunk_iterators = [iter(chunks) for chunks in table]
    rows: list[Any] = [next(chunks, None) for chunks in chunk_iterators]
    starts = [0] * len(rows)
    while True:
        for number, chunks in enumerate(chunk_iterators):
            while rows[number] is not None and starts[number] == len(rows[number]):
                rows[number], starts[number] = next(chunks, None), 0
        if None in rows:
            return
        n = min(len(chunk) - start for chunk, start in zip(rows, starts))
        data, n = _native.encode_rows(rows, starts, n, _WRITE_NBYTES, null, nbefore)
        yield data, n
        nbefore += n
        starts = [start + n for start in starts]
