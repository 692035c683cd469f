"""Batches as rows of CSV and TSV.

Here: what is a cell, and its text where pyarrow has none. Not here: quotes, which are pyarrow's. Invariant: a batch is
quoted by its own types, so one of other types than the first is as right as the first.
"""

from __future__ import annotations

import io
import uuid

from typedbytes.cli._tables.arrow import empty_within, imported_pyarrow

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["DELIMITERS", "header_of", "rows_of"]

DELIMITERS = {"csv": ",", "tsv": "\t"}
_NROWS = 1 << 13  # of a buffer: batches of other programs may be whole tables
_DAY = 86_400
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_YEARS = "the years from -32767 to 32767"
_FIRST_SECOND, _END_SECOND = -1_096_193_779_200, 971_890_963_200  # of these years


def header_of(schema: Any, form: str) -> Any:
    """Return the header of rows of a schema as a buffer; ValueError for a column that has no cells, by its name."""
    pyarrow = imported_pyarrow()
    arrays = [pyarrow.nulls(0, field.type) for field in schema]
    return _text_of(_of_cells(pyarrow.RecordBatch.from_arrays(arrays, schema.names), form), form, header=True)


def rows_of(batch: Any, form: str) -> Iterator[Any]:
    """Yield the rows of a batch as buffers; ValueError for a column that has no cells, by its name."""
    cells = _of_cells(batch, form)
    for start in range(0, cells.num_rows, _NROWS):
        yield _text_of(cells.slice(start, _NROWS), form)


def _of_cells(batch, form):
    names = batch.schema.names
    arrays = [_cells(name, array, form) for name, array in zip(names, batch.columns)]
    if len(arrays) == 1:
        arrays = [_only_cells(arrays[0])]
    return imported_pyarrow().RecordBatch.from_arrays(arrays, names) if arrays else batch


def _text_of(batch, form, header=False):
    from pyarrow import csv

    sink = imported_pyarrow().BufferOutputStream()
    csv.write_csv(batch, sink, csv.WriteOptions(include_header=header, delimiter=DELIMITERS[form]))
    text = sink.getvalue()
    if batch.num_columns == 1 and batch.column(0).null_count:
        return b"".join(row if row != b"\n" else b'""\n' for row in io.BytesIO(text))
    return text


def _only_cells(array):
    """Return the only column; of texts, with empty ones for nulls, which pyarrow puts in quotes.

    An empty line is no row to other readers, and there may be empty lines within texts.
    """
    types = imported_pyarrow().types
    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    is_text = types.is_string(array.type) or types.is_large_string(array.type)
    return array.fill_null("") if is_text and array.null_count else array


def _cells(name, array, form):
    """Return an array as one that pyarrow writes as cells."""
    pyarrow, kind = imported_pyarrow(), array.type
    types = pyarrow.types
    if isinstance(kind, pyarrow.BaseExtensionType):
        return _texts_of_uuids(array) if kind.extension_name == "arrow.uuid" else _cells(name, array.storage, form)
    if types.is_dictionary(kind):
        return pyarrow.DictionaryArray.from_arrays(array.indices, _cells(name, array.dictionary, form))
    if types.is_run_end_encoded(kind):
        from pyarrow import compute

        return _cells(name, compute.run_end_decode(array), form)
    if types.is_nested(kind):
        raise ValueError(f"the column {name} holds {kind}, and a cell of text holds one value: {_cure(kind)}")
    if types.is_string_view(kind):
        return array.cast(pyarrow.large_string())
    kinds_of_bytes = types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view
    if any(is_bytes(kind) for is_bytes in kinds_of_bytes):
        return _texts_of_bytes(name, array, form)
    _check_times(name, array)
    return array


def _texts_of_uuids(array):
    values = array.storage.to_pylist()
    texts = [value if value is None else str(uuid.UUID(bytes=value)) for value in values]
    return imported_pyarrow().array(texts, "string")


def _texts_of_bytes(name, array, form):
    pyarrow = imported_pyarrow()
    try:
        return array.cast(pyarrow.large_binary()).cast(pyarrow.large_string())
    except pyarrow.ArrowInvalid:
        raise ValueError(
            f"the column {name} holds bytes that are not UTF-8, and {form} is text: typedbytes to-text --{form} "
            "writes bytes as they are, and typedbytes to-json --plain as base64"
        ) from None


def _cure(kind):
    types = imported_pyarrow().types
    if types.is_struct(kind) and kind.num_fields:
        return "--flatten makes columns of its fields"
    others = "json has it" if empty_within(kind) else "parquet and json have it"
    return f"--columns chooses others, and {others}"


def _check_times(name, array):
    """Raise ValueError for a date or time without a text: pyarrow writes "<value out of range", or another year."""
    pyarrow, kind = imported_pyarrow(), array.type
    types = pyarrow.types
    if types.is_timestamp(kind):
        margin = _DAY if kind.tz else 0  # the text has the year of the zone
        first, end, what = _FIRST_SECOND + margin, _END_SECOND - margin, _YEARS
    elif types.is_date(kind):
        first, end, what = _FIRST_SECOND, _END_SECOND, _YEARS
    elif types.is_time(kind):
        first, end, what = 0, _DAY, "the times of a day"
    else:
        return
    from pyarrow import compute

    if types.is_date32(kind):
        first, end = first // _DAY, end // _DAY
    else:
        per_second = _PER_SECOND["ms" if types.is_date64(kind) else kind.unit]
        first, end = first * per_second, end * per_second
    for number in compute.min_max(array.view(f"int{kind.bit_width}")).as_py().values():
        if number is not None and not first <= number < end:
            raise ValueError(f"the column {name} holds {number} as {kind}, and text has {what}: arrow has it")
