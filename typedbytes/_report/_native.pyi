from collections.abc import Callable
from typing import Any

from _typeshed import ReadableBuffer

from typedbytes._base.options import Dialect

__all__ = ["RecordStatistics", "Schema", "Walker", "WholeRecords", "lines"]

TAGS: frozenset[bytes]

def lines(data: ReadableBuffer, *, pairs: bool = False, plain: bool = False, dialect: Dialect = "hadoop") -> bytes: ...

class Walker:
    @property
    def nrecords(self) -> int: ...
    def write(self, data: ReadableBuffer) -> None: ...
    def read(self, reader: Any) -> None: ...
    def __use_piece__(self, data: ReadableBuffer) -> tuple[int, int]: ...

class RecordStatistics(Walker):
    def __init__(
        self,
        *,
        pairs: bool = False,
        dialect: Dialect = "hadoop",
        max_bytes: int | None = None,
        npartitions: int = 0,
        top: dict[bytes, int] | None = None,
    ) -> None: ...
    @property
    def partitions(self) -> list[int]: ...
    def by_type(self, part: int) -> dict[int, dict[str, Any]]: ...

class WholeRecords(Walker):
    def __init__(
        self,
        sink: Callable[[bytes, list[tuple[int, int, int, int | None]]], object],
        *,
        pairs: bool = False,
        dialect: Dialect = "hadoop",
        max_bytes: int | None = None,
        leaves_out: bool = True,
        unicode_errors: str = "strict",
    ) -> None: ...
    def flush(self) -> None: ...

class Schema(Walker):
    def __init__(self, *, pairs: bool = False, dialect: Dialect = "hadoop", max_bytes: int | None = None) -> None: ...
    def paths(self) -> list[tuple[str, dict[int, int]]]: ...
