"""Values alone, as lines of text: the keys of a job's output are left out.

To Hadoop a task writes typed bytes, since a combiner has the format of the reducer's output: pairs of an empty key and
a text, which TextOutputFormat writes as the text alone if the separator is empty, too.
"""

from __future__ import annotations

from typedbytes.streaming.formats.record_io import checked_pair
from typedbytes.streaming.formats.text import TextOutput
from typedbytes.streaming.formats.typed_bytes import TypedBytesOutput

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = ["TypedValuesOutput", "ValuesOutput"]


class ValuesOutput(TextOutput):
    """Write the values of pairs as lines: bytes as they are, None as an empty line, anything else as its str."""

    def __init__(self, sink: Any) -> None:
        super().__init__(sink, b"")

    def encode(self, key: Any, value: Any) -> bytes:
        """Return the line of a pair."""
        return super().encode(b"", b"" if value is None else value)


class TypedValuesOutput(TypedBytesOutput):
    """Write pairs of an empty key and a value as a text."""

    def encoded(self, pair: Any) -> Any:
        """Return the two encoded values of a pair."""
        _, value = checked_pair(pair)
        if isinstance(value, (bytes, bytearray)):
            value = value.decode()
        return super().encoded(("", "" if value is None else str(value)))

    def writes(self, pairs: Iterable[Any]) -> Any:
        """Write every pair of an iterable."""
        encoded, write = self.encoded, self.write_raw
        for pair in pairs:
            write(*encoded(pair))
