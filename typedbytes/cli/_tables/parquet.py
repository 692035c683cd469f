"""What tables become in Parquet: types that it has, and dictionaries for columns whose values repeat."""

from __future__ import annotations

from contextlib import suppress

from typedbytes.cli._tables.arrow import empty_within, imported_pyarrow

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["check_schema", "columns_with_dictionaries", "storable", "storable_schema"]

_SAMPLE_NROWS, _SAMPLE_NBYTES = 1 << 16, 64 << 20  # what decides which columns get dictionaries
_REPEATED = 0.95  # of the bytes of its values: a column whose dictionary is at least as large does without


def check_schema(schema: Any) -> None:
    """Raise ValueError for a column whose type Parquet does not have: by its name."""
    for field in schema:
        what, kind = empty_within(field.type), field.type
        if what:
            raise ValueError(
                f"the column {field.name} holds {kind}, and Parquet has no type for {what} that are all empty: "
                "--widen looks at all records, and arrow and json have it"
            )
        if imported_pyarrow().types.is_decimal(kind) and kind.scale < 0:
            raise ValueError(
                f"the column {field.name} holds {kind}, and Parquet has no negative scale: arrow, csv and json have it"
            )


def storable(table: Any) -> Any:
    """Return a table with the types of `storable_schema`."""
    schema = table.schema
    stored = storable_schema(schema)
    return table if stored is schema else table.cast(stored)


def storable_schema(schema: Any) -> Any:
    """Return a schema of types that every pyarrow writes.

    Views of texts and bytes some do not write, or not in dictionaries. Of seconds Parquet has milliseconds, and pyarrow
    18 makes another time of one that is too large.
    """
    fields = [field.with_type(_storable_type(field.type)) for field in schema]
    if all(field.type == before.type for field, before in zip(fields, schema)):
        return schema
    return imported_pyarrow().schema(fields, schema.metadata)


def _storable_type(kind):
    pyarrow = imported_pyarrow()
    types = pyarrow.types
    if types.is_dictionary(kind):
        values = {pyarrow.string_view(): pyarrow.string(), pyarrow.binary_view(): pyarrow.binary()}
        return pyarrow.dictionary(kind.index_type, values.get(kind.value_type, kind.value_type), kind.ordered)
    if types.is_struct(kind):
        return pyarrow.struct([_storable_field(field) for field in kind])
    if types.is_map(kind):
        key, item = _storable_field(kind.key_field), _storable_field(kind.item_field)
        return pyarrow.map_(key, item, kind.keys_sorted)
    if types.is_fixed_size_list(kind):
        return pyarrow.list_(_storable_field(kind.value_field), kind.list_size)
    for is_list, new in ((types.is_list, pyarrow.list_), (types.is_large_list, pyarrow.large_list)):
        if is_list(kind):
            return new(_storable_field(kind.value_field))
    if types.is_timestamp(kind) and kind.unit == "s":
        return pyarrow.timestamp("ms", kind.tz)
    views = {pyarrow.string_view(): pyarrow.large_string(), pyarrow.binary_view(): pyarrow.large_binary()}
    return views.get(kind, kind)


def _storable_field(field):
    return field.with_type(_storable_type(field.type))


def columns_with_dictionaries(table: Any) -> list[str]:
    """Return the paths of the columns of Parquet whose values repeat in the first rows of a table.

    pyarrow writes a dictionary of every column, up to 1 MiB in each row group. Where no value repeats it takes a third
    of the time of the whole file, and a seventh of its bytes.
    """
    first = table.slice(0, _SAMPLE_NROWS)
    chunks = zip(_column_chunks(first, use_dictionary=True), _column_chunks(first, use_dictionary=False))
    return [
        chunk.path_in_schema
        for chunk, plain in chunks
        if chunk.has_dictionary_page
        and chunk.data_page_offset - chunk.dictionary_page_offset < plain.total_uncompressed_size * _REPEATED
    ]


def _column_chunks(table, use_dictionary):
    """Return the metadata of the columns of a table as Parquet."""
    pyarrow = imported_pyarrow()
    written: list[Any] = []
    writer = pyarrow.parquet.ParquetWriter(
        pyarrow.MockOutputStream(),
        table.schema,
        compression="none",
        write_statistics=False,
        use_dictionary=use_dictionary,
        dictionary_pagesize_limit=_SAMPLE_NBYTES,
        metadata_collector=written,
    )
    try:
        writer.write_table(table)
    except BaseException:
        with suppress(RuntimeError):  # pyarrow's: there is no metadata; the first error goes on
            writer.close()
        raise
    writer.close()
    group = written[0].row_group(0)
    return [group.column(i) for i in range(group.num_columns)]
