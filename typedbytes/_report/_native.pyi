from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from _typeshed import ReadableBuffer
from typing_extensions import Self

from typedbytes._base.options import Dialect

__all__ = [
    "ChosenRecords",
    "ColumnTypes",
    "DistinctRecords",
    "Fields",
    "JsonRecords",
    "MatchingRecords",
    "RecordCounts",
    "RecordStatistics",
    "Reservoir",
    "Schema",
    "Sums",
    "TextLines",
    "TextRecords",
    "Walker",
    "WholeRecords",
    "WithoutSortKeys",
    "lines",
]

TAGS: frozenset[bytes]
TAG_NAMES: tuple[bytes, ...]

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

class Fields:
    def __new__(
        cls,
        paths: Iterable[tuple[bool, Sequence[int | str]]],
        *,
        nkeys: int = 0,
        null: bytes | None = None,
        dialect: Dialect = "hadoop",
    ) -> Self: ...
    def cut(self, data: ReadableBuffer, nparts: int) -> tuple[bytes, tuple[int, int, int] | None]: ...
    def with_sort_keys(
        self, data: ReadableBuffer, nparts: int, other: Callable[[bytes], list[int]]
    ) -> tuple[bytes, tuple[int, int, int | Exception] | None]: ...

class WithoutSortKeys:
    def take(self, data: bytes) -> bytes: ...

class TextLines:
    def __new__(
        cls,
        separator: bytes,
        *,
        pairs: bool = False,
        rows: bool = False,
        header: bool = False,
        dialect: Dialect = "hadoop",
    ) -> Self: ...
    @property
    def pairs(self) -> bool: ...
    @property
    def nrecords(self) -> int: ...
    def lines(
        self, data: ReadableBuffer, ends: list[int] | None = None
    ) -> tuple[bytes, tuple[int, int, str] | None]: ...

class TextRecords:
    def __new__(
        cls,
        separator: bytes,
        *,
        pairs: bool = False,
        rows: bool = False,
        header: bool = False,
        max_bytes: int | None = None,
    ) -> Self: ...
    @property
    def nlines(self) -> int: ...
    @property
    def fault(self) -> tuple[int, str] | None: ...
    def take(self, data: ReadableBuffer, is_last: bool, lines: list[int] | None = None) -> bytes: ...

class Sums:
    def __new__(cls, other: Callable[..., Any] | None, *, dialect: Dialect = "hadoop") -> Self: ...
    def __len__(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def value_offset(self) -> int: ...
    @property
    def record(self) -> int: ...
    def add(self, data: ReadableBuffer, nparts: int) -> None: ...
    def number(self, number: int) -> Any: ...
    def key(self, number: int) -> bytes | None: ...
    def lines(self, first: int, nlines: int, other: Callable[[int], str]) -> bytes: ...

class JsonRecords:
    def __new__(
        cls, *, pairs: bool = False, plain: bool = False, dialect: Dialect = "hadoop", max_bytes: int | None = None
    ) -> Self: ...
    @property
    def is_refused(self) -> bool: ...
    @property
    def line_nbytes(self) -> int: ...
    @property
    def nlines(self) -> int: ...
    @property
    def rest(self) -> bytes: ...
    def take(self, data: ReadableBuffer, is_last: bool) -> bytes: ...

class ColumnTypes:
    def __new__(cls, *, pairs: bool = False, dialect: Dialect = "hadoop") -> Self: ...
    @property
    def nchanges(self) -> int: ...
    def add(self, records: bytes) -> bytes: ...
    def convert(self, records: bytes) -> tuple[bytes, int]: ...

class ChosenRecords:
    def __new__(cls, nparts: int, *, dialect: Dialect = "hadoop") -> Self: ...
    def take(self, data: ReadableBuffer, *, first: int = 0, step: int = 1) -> bytes: ...

class DistinctRecords(ChosenRecords):
    def __init__(
        self, nparts: int, *, by_key: bool = False, all: bool = False, dialect: Dialect = "hadoop"
    ) -> None: ...

class RecordCounts(ChosenRecords):
    def add(self, data: ReadableBuffer, times: int) -> None: ...
    def surplus(self) -> Iterator[tuple[bytes, int]]: ...

class MatchingRecords(ChosenRecords):
    def __init__(
        self,
        nparts: int,
        literal: bytes,
        search: Callable[[str], object] | None = None,
        *,
        is_folded: bool = False,
        may_be_number: bool = False,
        part: int = -1,
        invert: bool = False,
        dialect: Dialect = "hadoop",
    ) -> None: ...
    @property
    def nfound(self) -> int: ...

class Reservoir:
    ahead: int
    def __new__(cls, size: int, seed: int, *, dialect: Dialect = "hadoop") -> Self: ...
    def take(self, data: ReadableBuffer, nparts: int, source: object) -> None: ...
    def pieces(self) -> Iterator[tuple[Any, bytes]]: ...
