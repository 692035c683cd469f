"""What tables become in Parquet: types that it has, and dictionaries for columns whose values repeat."""

from __future__ import annotations

from contextlib import suppress

from typedbytes.cli._tables.arrow import empty_within, imported_pyarrow

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["check_schema", "columns_with_dictionaries"]

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
    pyarrow, written = imported_pyarrow(), []
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
