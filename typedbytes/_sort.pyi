from collections.abc import Iterable
from typing import Literal, Protocol

from _typeshed import WriteableBuffer

class _Source(Protocol):
    def readinto(self, target: WriteableBuffer, /) -> int | None: ...

class _Sink(Protocol):
    def write(self, data: memoryview, /) -> int | None: ...

class Sorter:
    def __init__(
        self,
        *,
        nparts: Literal[1, 2] = 2,
        npartitions: int = 1,
        secondary: int = 0,
        by: Literal["key", "partition"] = "key",
        memory: int = ...,
        dialect: Literal["hadoop", "hive"] = "hadoop",
        max_depth: int = 256,
    ) -> None: ...
    def fill(self, source: _Source) -> bool: ...
    def sort(self) -> list[int]: ...
    def write(self, partition: int, sink: _Sink) -> int: ...
    def clear(self) -> None: ...
    @property
    def record(self) -> int: ...
    @property
    def offset(self) -> int: ...

def merge(
    sources: Iterable[_Source],
    sink: _Sink,
    *,
    nparts: Literal[1, 2] = 2,
    buffer_size: int = ...,
    dialect: Literal["hadoop", "hive"] = "hadoop",
    max_depth: int = 256,
) -> int: ...
