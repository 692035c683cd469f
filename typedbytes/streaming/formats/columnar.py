"""Records as columns: reads batches of typed bytes, writes pairs or columns, as the other formats do."""

from __future__ import annotations

from typedbytes import columns
from typedbytes.streaming.formats.record_io import Input, are_columns
from typedbytes.streaming.formats.typed_bytes import TypedBytesOutput

TYPE_CHECKING = False  # typing itself is not imported: start-up time

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
        if are_columns(given):
            return columns.write(self, given, **self._column_options)
        return super().writes(given)
