"""Values alone, as lines of text: the keys of a job's output are left out."""

from __future__ import annotations

from typedbytes.streaming.formats.text import TextOutput

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["ValuesOutput"]


class ValuesOutput(TextOutput):
    """Write the values of pairs as lines: bytes as they are, None as an empty line, anything else as its str."""

    def __init__(self, sink: Any) -> None:
        super().__init__(sink, b"")

    def encode(self, key: Any, value: Any) -> bytes:
        """Return the line of a pair."""
        return super().encode(b"", b"" if value is None else value)
