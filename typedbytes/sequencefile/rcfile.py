"""RCFiles of Hive by name, for columns and the command: rows as typed bytes.

Here: opening, codecs, and the columns of a file whose types are not given. Not here: bytes of the format. Invariant:
a file opened here is closed here, after a failure too.
"""

from __future__ import annotations

from typedbytes._base import locations
from typedbytes._base.codes import BYTES, STRING
from typedbytes.sequencefile import _codecs, _native

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["SERDES", "RCFile", "column_types"]

SERDES = ("text", "binary")  # ColumnarSerDe, LazyBinaryColumnarSerDe


def column_types(ncolumns: int, serde: str) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """Return the names and the types of columns of which nothing is known: text, or the bytes of the cells."""
    kind = ("variable", BYTES if serde == "binary" else STRING)
    return tuple(map(str, range(ncolumns))), (kind,) * ncolumns


class RCFile(_native.RowGroups):
    """Read the rows of an RCFile, or of a split of it, as typed bytes.

    file: as for a Reader. find_types: called with the number of columns, returns the numbers, the names and the types
    of those wanted; None: all, as `column_types` has them. resync: go on after damage, as a Reader does.
    """

    __slots__ = ()

    def __init__(
        self, file: Any, *, serde: str = "text", dialect: str = "hadoop", find_types: Any = None,
        max_bytes: int | None = 1 << 28, start: int = 0, length: int | None = None, resync: bool = False,
    ) -> None:  # fmt: skip
        if serde not in SERDES:
            raise ValueError(f'serde must be "text" or "binary", not {serde!r}')
        source, ours = locations.opened(file, "r")
        try:
            super().__init__(
                source,
                find_types=find_types or (lambda n: (tuple(range(n)), *column_types(n, serde))),
                find_codec=lambda name: _codecs.find(name).decompress,
                is_binary=serde == "binary",
                hive=dialect == "hive",
                start=start,
                length=length,
                max_bytes=2**31 - 1 if max_bytes is None else max_bytes,
                resync=resync,
                owns=ours,
                filename=file if ours else None,
            )
        except BaseException:
            if ours:
                source.close()
            raise
