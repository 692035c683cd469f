from typing import Any

from _typeshed import ReadableBuffer

from typedbytes._options import Dialect

__all__ = ["RecordStatistics", "Schema", "Walker", "lines"]

TAGS: frozenset[bytes]

def lines(data: ReadableBuffer, *, pairs: bool = False, plain: bool = False, dialect: Dialect = "hadoop") -> bytes: ...

class Walker:
    @property
    def nrecords(self) -> int: ...
    def write(self, data: ReadableBuffer) -> None: ...

class RecordStatistics(Walker):
    def __init__(
        self, *, pairs: bool = False, dialect: Dialect = "hadoop", npartitions: int = 0, top: dict[bytes, int] | None = None
    ) -> None: ...
    @property
    def partitions(self) -> list[int]: ...
    def by_type(self, part: int) -> dict[int, dict[str, Any]]: ...

class Schema(Walker):
    def __init__(self, *, pairs: bool = False, dialect: Dialect = "hadoop") -> None: ...
    def paths(self) -> list[tuple[str, dict[int, int]]]: ...
