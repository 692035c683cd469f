"""Records as lines of text: key, separator, value, line feed.

This is Hadoop Streaming's default format. Keys and values are str. Bytes that are
not UTF-8 become lone surrogates when read and the same bytes again when written, so no line is lost or
changed. No line is invalid; the last one may lack its line feed.
"""

from __future__ import annotations

from typedbytes._core import TextReader
from typedbytes.streaming.formats.record_io import BUFFER_NBYTES, ReaderInput, RecordOutput

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Any


def _decode(data):
    return data.decode("utf-8", "surrogateescape")


def _encode(value):
    if isinstance(value, (bytes, bytearray, memoryview)):
        return value
    return str(value).encode("utf-8", "surrogateescape")


class TextInput(ReaderInput):
    """Read lines; without a separator they are values, and keys are the numbers of lines, from 0.

    raw: as bytes, for decode_key() and decode_value().
    """

    def __init__(self, source: Any, separator: bytes | None = None, nfields: int = 1, raw: bool = False) -> None:
        super().__init__(TextReader(source, separator, nfields, raw=raw, buffer_size=BUFFER_NBYTES))
        self._separator = separator

    def decode_key(self, item: Any) -> Any:
        """Return a key or a value."""
        return _decode(item) if isinstance(item, bytes) else item

    decode_value = decode_key

    def packed(self, key: Any, value: Any) -> bytes:
        """Return the line of a raw pair."""
        return value + b"\n" if self._separator is None else b"%b%b%b\n" % (key, self._separator, value)

    def item_bytes(self, item: Any) -> bytes:
        """Return the bytes of a key or value as in the line."""
        return _encode(item)


class TextOutput(RecordOutput):
    """Write lines: bytes as they are, anything else as its str."""

    def __init__(self, sink: Any, separator: bytes, key_ends: Collection[tuple[bytes, int]] = ()) -> None:
        """key_ends: (separator, number of fields in a key), by each of which the key must be found again."""
        super().__init__(sink)
        self._separator = separator
        self._key_ends = key_ends

    def encode(self, key: Any, value: Any) -> bytes:
        """Return the line of a pair; ValueError if it would be several lines, or its key be found shorter."""
        encoded = _encode(key)
        line = b"%b%b%b" % (encoded, self._separator, _encode(value))
        if b"\n" in line or b"\r" in line:  # Hadoop ends a line at both
            raise ValueError(f"a line end inside a record would cut its line of text in two: {line[:80]!r}")
        for separator, nfields in self._key_ends:
            if any((b"%b%b" % (encoded, separator)).split(separator, nfields)[nfields:]):
                raise ValueError(
                    f"a separator inside a key of text would end it before the reducer: {line[:80]!r}; "
                    f"replace {separator!r} in keys, or send typed bytes between map and reduce"
                )
        return line + b"\n"
