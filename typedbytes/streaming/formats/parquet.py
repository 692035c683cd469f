"""The output of a job as Parquet: a task writes its part, by pyarrow, and after it the number of its rows.

Here: rows as columns. Not here: what a row is, and the file. Invariant: a task without rows writes nothing; memory is
bounded by the rows of one group.
"""

from __future__ import annotations

from copy import deepcopy

from typedbytes._core import write_all
from typedbytes.streaming._changes import UNCHANGING
from typedbytes.streaming.formats.arrow_values import array_of, column_of, with_nulls
from typedbytes.streaming.formats.record_io import COUNT_NBYTES, are_columns, checked_pair
from typedbytes.streaming.formats.rows import check_columns, rows_by

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

__all__ = ["ParquetOutput"]

GROUP_NROWS, GROUP_NBYTES = 1 << 16, 64 << 20  # at most, of texts and bytes


class ParquetOutput:
    """Write rows; the columns and their types are those of the first group.

    options: of PairWriter, for the types of keys and values. reading: the options of columns.read by which a
    job reads batches.
    """

    def __init__(
        self, sink: Any, options: Mapping[str, Any] | None = None, reading: Mapping[str, Any] | None = None
    ) -> None:
        import pyarrow.parquet  # imported before the first record is read

        self._pyarrow = pyarrow
        self._sink = sink
        self._row_of = rows_by(options or {}, "parquet")
        self._reading = reading or {}
        self._rows: list[dict[str, Any]] = []
        self._nbytes = 0
        self._writer: Any = None
        self._schema: Any = None
        self.record: int = 0

    def encoded(self, pair: Any) -> dict[str, Any]:
        """Return the row of a pair, which does not change with the objects that the job has yielded."""
        return {name: _copied(item) for name, item in self._row_of(*checked_pair(pair)).items()}

    def check(self, key: Any, value: Any) -> None:
        """Raise the error that making a row of a pair would raise."""
        self._row_of(key, value)

    def writes(self, given: Any) -> None:
        """Write columns, or every pair of an iterable."""
        if not are_columns(given):
            self.write_encoded(map(self.encoded, given))
            return
        from typedbytes.streaming.formats.column_rows import has_encoded, parts_of, rows_of, table_of

        for part in parts_of(given):
            if has_encoded(part):  # values of several types: no column of Parquet has them
                self.write_encoded(rows_of(part, self._reading))
            else:
                self._write_table(table_of(part))

    def _write_table(self, table):
        if not table.num_rows:
            return
        if self._rows:
            self._flush()
        names = table.column_names
        if len({*names}) < len(names):
            raise ValueError(f"two columns of Parquet have one name: {names}")
        self._check_names(names)
        schema = self._schema
        if schema is None:
            fields = [field.with_type(with_nulls(self._pyarrow, field.type)) for field in table.schema]
            schema = self._pyarrow.schema([field.with_nullable(True) for field in fields], table.schema.metadata)
        columns = [self._column(table, field.name, field.type) for field in schema]
        self._write(self._pyarrow.table(columns, schema))
        self.record += table.num_rows

    def write_encoded(self, records: Iterable[Any]) -> None:
        """Write rows."""
        for row in records:
            self._rows.append(row)
            self.record += 1
            self._nbytes += sum(len(item) for item in row.values() if type(item) in (str, bytes))
            if len(self._rows) >= GROUP_NROWS or self._nbytes >= GROUP_NBYTES:
                self._flush()

    def drop_encoded(self) -> None:
        """Do nothing: nothing is kept of a row that was encoded."""

    def close(self) -> None:
        """Write the rest, the footer and the number of rows; the sink stays open."""
        try:
            if self._rows:
                self._flush()
            if self._writer is not None:
                self._writer.close()
                write_all(self._sink, self.record.to_bytes(COUNT_NBYTES, "big"))
                self._writer = None
        except BaseException:
            if self._writer is not None:
                self._writer.is_open = False  # else it writes its footer when it is deleted
            raise

    def _flush(self):
        names = [*dict.fromkeys(name for row in self._rows for name in row)]
        self._check_names(names)
        types = dict.fromkeys(names) if self._schema is None else dict(zip(self._schema.names, self._schema.types))
        arrays = [self._array(name, kind) for name, kind in types.items()]
        self._write(self._pyarrow.table(arrays, names=[*types]))
        self._rows, self._nbytes = [], 0

    def _check_names(self, names):
        if self._schema is None:
            check_columns("Parquet", names)
        elif others := [name for name in names if name not in self._schema.names]:
            raise ValueError(f"the first rows do not have the columns {others}, only {self._schema.names}")

    def _write(self, table):
        if self._writer is None:
            self._schema = table.schema
            self._writer = self._pyarrow.parquet.ParquetWriter(_File(self._sink), self._schema)
        self._writer.write_table(table)

    def _array(self, name, kind):
        return self._checked(name, kind, array_of, [row.get(name) for row in self._rows])

    def _column(self, table, name, kind):
        if name not in table.column_names:
            return self._pyarrow.nulls(table.num_rows, kind)
        return self._checked(name, kind, column_of, table[name])

    def _checked(self, name, kind, make, items):
        """Return items of a column in a type, None: of their own. Raises ValueError where a value would change."""
        try:
            return make(self._pyarrow, items, kind)
        except (self._pyarrow.ArrowException, OverflowError, TypeError, ValueError) as error:
            first = f"{kind}, as in the first rows" if kind is not None else "one type"
            raise ValueError(f"the values of the column {name!r} are not of {first}: {error}") from None


def _copied(item):
    if type(item) in UNCHANGING:
        return item
    if isinstance(item, dict):
        return {key: _copied(value) for key, value in item.items()}
    if isinstance(item, (list, tuple)):
        return [*map(_copied, item)]
    return bytes(item) if isinstance(item, (bytearray, memoryview)) else deepcopy(item)


class _File:
    """What pyarrow writes to."""

    closed = False

    def __init__(self, sink):
        self._sink = sink
        self._offset = 0

    def write(self, data):
        write_all(self._sink, data)
        self._offset += len(data)
        return len(data)

    def tell(self):
        return self._offset

    def flush(self):
        """Do nothing: nothing is held."""

    def close(self):
        """Do nothing: the sink stays open."""
