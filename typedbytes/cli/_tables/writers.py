"""The writers of tables: streams of Arrow, files of Parquet, rows of text.

Not here: what a table becomes in Parquet (parquet) and in text (text_rows). Invariant: an error in the data names its
input and its column.
"""

from __future__ import annotations

from contextlib import suppress

from typedbytes.cli._tables import parquet
from typedbytes.cli._tables.arrow import as_data_failure, imported_pyarrow
from typedbytes.cli._tables.text_rows import DELIMITERS, header_of, rows_of

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["Groups", "table_writer", "write_group"]

_GROUP_NROWS, _GROUP_NBYTES = 1 << 19, 8 << 20  # a row group of Parquet ends with the batch that reaches one of them


class Groups:
    """Batches that are written together: a row group of Parquet has its own dictionaries, so small ones cost more."""

    def __init__(self, form: str) -> None:
        self._limits = (_GROUP_NROWS, _GROUP_NBYTES) if form == "parquet" else (0, 0)
        self._held: list[tuple[str, Any]] = []
        self._nrows = self._nbytes = 0

    def after(self, name: str, batch: Any) -> list[list[tuple[str, Any]]]:
        """Hold a batch of the input of this name; return the groups, of both, that are whole before it or with it."""
        groups = self.rest() if self._held and batch.schema != self._held[0][1].schema else []
        self._held.append((name, batch))
        self._nrows += batch.num_rows
        self._nbytes += _nbytes(batch)
        if self._nrows >= self._limits[0] or self._nbytes >= self._limits[1]:
            groups += self.rest()
        return groups

    def rest(self) -> list[list[tuple[str, Any]]]:
        """Return the group that is held, if there is one."""
        held, self._held, self._nrows, self._nbytes = self._held, [], 0, 0
        return [held] if held else []


def _nbytes(batch):
    try:
        return batch.nbytes
    except TypeError:  # pyarrow 18 does not count views
        return batch.get_total_buffer_size()


def write_group(writer: TableWriter, group: list[tuple[str, Any]]) -> None:
    """Write a group; raise Failure for what cannot be written, by the names of its input and its column."""
    pyarrow = imported_pyarrow()
    try:
        writer.write(pyarrow.Table.from_batches([batch for _, batch in group]))
    except MemoryError:
        raise  # pyarrow's is also an ArrowException
    except (pyarrow.ArrowException, ValueError, OSError):  # pyarrow raises OSError for some data too
        for name, batch in group:
            with as_data_failure(name):
                _write_each_column(writer, batch)
        with as_data_failure(group[0][0]):
            raise


def _write_each_column(writer, batch):
    """Write each column of a batch alone, and nowhere; ValueError for one that cannot be written, by its name."""
    for number, name in enumerate(batch.schema.names):
        try:
            writer.write_nowhere(batch.select([number]))
        except MemoryError:
            raise
        except (imported_pyarrow().ArrowException, OSError) as error:
            raise ValueError(f"the column {name}: {error}") from None


def table_writer(sink: Any, schema: Any, form: str, codec: str | None) -> TableWriter:
    """Return a writer of tables of a schema; ValueError for a column that cannot be written, by its name."""
    if form == "arrow":
        return _ArrowWriter(sink, schema)
    if form in DELIMITERS:
        return _RowWriter(sink, schema, form)
    return _ParquetWriter(sink, schema, codec or "none")


class TableWriter:
    """Writes tables to a sink, and at last the end."""

    _writer: Any = None  # that of pyarrow

    def __enter__(self) -> TableWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()

    def write(self, table: Any) -> None:
        """Write a table."""
        self._writer.write_table(table)

    def write_nowhere(self, batch: Any) -> None:
        """Raise the error of writing a batch, if it is one of the data."""

    def close(self) -> None:
        """Write the end."""
        self._close_once()

    def abandon(self) -> None:
        """Close pyarrow's writer, which would write the end when it is released: its sink may be closed then."""
        with suppress(Exception):  # the first error goes on
            self._close_once()

    def _close_once(self) -> None:
        """Close pyarrow's writer if there is one: that of Arrow writes a second end when it is closed again."""
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()


class _ArrowWriter(TableWriter):
    def __init__(self, sink, schema):
        self._writer = imported_pyarrow().ipc.new_stream(sink, schema)


class _RowWriter(TableWriter):
    """Writes a header and rows, which may have other types than the first."""

    def __init__(self, sink, schema, form):
        self._sink = sink
        self._form = form
        self._sink.write(header_of(schema, form))

    def write(self, table):
        for batch in table.to_batches():
            for rows in rows_of(batch, self._form):
                self._sink.write(rows)

    def write_nowhere(self, batch):
        for _ in rows_of(batch, self._form):
            pass


class _ParquetWriter(TableWriter):
    """Writes each table as a row group."""

    def __init__(self, sink, schema, codec):
        parquet.check_schema(schema)
        self._sink = sink
        self._schema = parquet.storable_schema(schema)
        self._codec = codec

    def write(self, table):
        table = parquet.storable(table)
        if self._writer is None:
            self._open(parquet.columns_with_dictionaries(table))
        self._writer.write_table(table)

    def write_nowhere(self, batch):
        pyarrow = imported_pyarrow()
        table = parquet.storable(pyarrow.Table.from_batches([batch]))
        pyarrow.parquet.write_table(table, pyarrow.MockOutputStream(), compression="none")

    def close(self):
        """Write the footer."""
        if self._writer is None:
            self._open(use_dictionary=True)
        self._close_once()

    def _open(self, use_dictionary):
        self._writer = imported_pyarrow().parquet.ParquetWriter(
            self._sink, self._schema, compression=self._codec, use_dictionary=use_dictionary
        )
