"""Records as raw bytes: the length of the key, the key, the length of the value, the value.

Lengths are 32-bit big-endian integers. Keys and values are bytes, whatever a Writable makes of itself.
An input that has failed stays failed.
"""

from __future__ import annotations

from typedbytes._core import RawBytesReader
from typedbytes.streaming.formats.record_io import BUFFER_NBYTES, ReaderInput, RecordOutput

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any


class RawBytesInput(ReaderInput):
    """Read pairs of bytes."""

    def __init__(self, source: Any) -> None:
        super().__init__(RawBytesReader(source, buffer_size=BUFFER_NBYTES))

    def decode_key(self, item: Any) -> Any:
        """Return a key or a value, which is its bytes."""
        return item

    decode_value = decode_key

    def packed(self, key: Any, value: Any) -> bytes:
        """Return the record of a raw pair."""
        return _record(key, value)

    def item_bytes(self, item: Any) -> bytes:
        """Return the bytes of a key or value."""
        return item


class RawBytesOutput(RecordOutput):
    """Write pairs of bytes-like objects."""

    def encode(self, key: Any, value: Any) -> bytes:
        """Return the record of a pair; raises TypeError for anything but bytes."""
        return _record(key, value)


def _record(key, value):
    return b"".join((*_item(key), *_item(value)))


def _item(value):
    data = memoryview(value)
    return data.nbytes.to_bytes(4, "big", signed=True), data.tobytes()
