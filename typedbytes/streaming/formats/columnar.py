"""Records as columns: reads batches of typed bytes, writes pairs or columns, as the other formats do."""

from __future__ import annotations

import io

from typedbytes import PairReader, columns
from typedbytes.streaming.formats.record_io import Input, are_columns
from typedbytes.streaming.formats.typed_bytes import TypedBytesOutput

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class ColumnsInput(Input):
    """Read batches of typed bytes; options are those of columns.read."""

    def __init__(self, source: Any, options: Mapping[str, Any]) -> None:
        super().__init__(columns.read(source, **options))

    def batches(self) -> Any:
        """Return an iterator of batches."""
        return self._reader

    def whole_groups(self) -> Any:
        """Return an iterator of batches that end where a key ends."""
        return self._reader.groups()


class ColumnsOutput(TypedBytesOutput):
    """Write the columns or pairs that a job returns.

    options: of PairWriter. column_options: of columns.write.
    """

    def __init__(self, sink: Any, options: Mapping[str, Any], column_options: Mapping[str, Any]) -> None:
        super().__init__(sink, options)
        self._column_options = column_options

    def writes(self, given: Any) -> Any:
        """Write columns, or every pair of an iterable."""
        if _are_no_pairs(given):
            return columns.write(self, given, **self._column_options)
        return super().writes(given)


class ColumnsAsPairs:
    """Write the columns or pairs that a job returns as pairs of another output.

    options: of columns.write. reading: those of columns.read. rows: whether each row is a dict by the names of the
    columns, as in Parquet; else two columns are keys and values.
    """

    def __init__(self, output: Any, options: Mapping[str, Any], reading: Mapping[str, Any], rows: bool) -> None:
        self._output = output
        self._options = options
        self._reading = reading
        self._has_rows = rows

    @property
    def record(self) -> int:
        """The number of records written."""
        return self._output.record

    def writes(self, given: Any) -> Any:
        """Write columns, or every pair of an iterable."""
        if not _are_no_pairs(given):
            return self._output.writes(given)
        if not self._has_rows:
            return self._output.writes(self._pairs(given))
        from typedbytes.streaming.formats.column_rows import rows_of

        return self._output.write_rows(rows_of(given, self._reading))

    def close(self) -> None:
        """Write the rest; the sink stays open."""
        self._output.close()

    def _pairs(self, given):
        sink = io.BytesIO()
        columns.write(sink, given, **self._options)
        return PairReader(sink.getvalue())


def _are_no_pairs(given):
    # columns.write names what is neither, such as a LazyFrame; as pairs it fails within its own library
    return are_columns(given) or not hasattr(given, "__iter__")
