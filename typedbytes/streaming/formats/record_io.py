"""The common part of the formats: the interface of an input, and output in whole records.

Only the formats know what bytes mean and where a record ends.
"""

from __future__ import annotations

from typedbytes._core import write_all

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

BUFFER_NBYTES = 128 * 1024  # what Hadoop buffers on its side of each pipe
COUNT_NBYTES = 8  # of the number of rows after a Parquet file, big-endian


class Input:
    """Read records or batches by a compiled reader, which keeps its error."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    @property
    def offset(self) -> int:
        """The number of bytes of the records read so far."""
        return self._reader.offset

    @property
    def record(self) -> int:
        """The number of records read so far."""
        return self._reader.record

    def failure(self) -> BaseException | None:
        """Return the error the input has failed with, or None."""
        return self._reader._failure

    def check_end(self) -> None:
        """Raise the error of the input, or RuntimeError if its end has not been read."""
        self._reader._check_end()


class ReaderInput(Input):
    """Read pairs; a format adds ``item_bytes(item)``."""

    def pairs(self) -> Any:
        """Return an iterator of (key, value)."""
        return self._reader

    raw_pairs = pairs

    def groups(self) -> Any:
        """Return an iterator of (key, values) over adjacent pairs whose keys are the same bytes."""
        return self._reader.groups()


class RecordOutput:
    """Collect encoded records and write them whole; a format has its own `encode`."""

    def __init__(self, sink: Any) -> None:
        self._sink = sink
        self._buffer = bytearray()
        self.record: int = 0

    def encode(self, key: Any, value: Any) -> bytes:
        """Return the record of a key and a value; a format has its own."""
        raise NotImplementedError

    def writes(self, pairs: Iterable[Any]) -> Any:
        """Write every pair of an iterable."""
        for pair in pairs:
            self._append(self.encode(*checked_pair(pair)))

    def encoded(self, pair: Any) -> Any:
        """Return the record of a pair."""
        return self.encode(*checked_pair(pair))

    def check(self, key: Any, value: Any) -> None:
        """Raise the error that writing a pair would raise."""
        self.encode(key, value)

    def write_encoded(self, records: Iterable[Any]) -> None:
        """Write records that were encoded before."""
        for record in records:
            self._append(record)

    def drop_encoded(self) -> None:
        """Forget the records that were encoded or checked since the last were written."""

    def close(self) -> None:
        """Write the rest; the sink stays open."""
        self._flush()

    def _append(self, record):
        self._buffer += record
        self.record += 1
        if len(self._buffer) >= BUFFER_NBYTES:
            self._flush()

    def _flush(self):
        write_all(self._sink, self._buffer)
        self._buffer.clear()


def are_columns(given: Any) -> bool:
    """Return whether a job has returned columns, not pairs."""
    return isinstance(given, dict) or hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__")


def value_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of the options of PairReader or PairWriter that are for any value."""
    own = "buffer_size", "key_type", "value_type"
    return {name: value for name, value in options.items() if name not in own}


def checked_pair(pair: Any) -> Any:
    """Return the pair; raises TypeError if it is not one."""
    # A string of two characters would unpack too.
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise TypeError(f"a pair is a tuple of a key and a value, not {type(pair).__name__} {pair!r:.80}")
    return pair
