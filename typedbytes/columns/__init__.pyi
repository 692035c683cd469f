from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, NamedTuple, Optional, Union

from numpy.typing import NDArray
from typing_extensions import Self

from typedbytes.errors import DecodeError

__all__ = ["Batch", "BatchReader", "MismatchError", "Split", "read", "splits", "write"]

_Path = Union[str, PathLike[str]]
_Schema = Union[Mapping[str, str], Mapping[int, str], Iterable[str]]

class MismatchError(DecodeError): ...

class Split(NamedTuple):
    path: _Path
    start: Optional[int]
    length: Optional[int]

class Batch:
    def __len__(self) -> int: ...
    @property
    def names(self) -> tuple[str, ...]: ...
    @property
    def schema(self) -> dict[str, str]: ...
    def column(self, name: Union[int, str]) -> Union[NDArray[Any], tuple[Any, ...]]: ...
    def buffers(self, name: Union[int, str]) -> dict[str, Any]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_array__(self, requested_schema: Optional[object] = None) -> tuple[object, object]: ...
    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...

class BatchReader:
    def __init__(
        self,
        source: Any,
        batch_rows: int = 65536,
        schema: Optional[_Schema] = None,
        *,
        batch_nbytes: Optional[int] = None,
        columns: Optional[Sequence[str]] = None,
        pairs: bool = True,
        on_mismatch: Literal["error", "widen", "split"] = "error",
        threads: int = 1,
        dialect: Literal["hadoop", "hive"] = "hadoop",
        max_depth: int = 256,
    ) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...
    def __iter__(self) -> Iterator[Batch]: ...
    def __next__(self) -> Batch: ...
    @property
    def schema(self) -> dict[str, str]: ...
    @property
    def record(self) -> int: ...
    @property
    def offset(self) -> int: ...
    @property
    def failure(self) -> Optional[BaseException]: ...
    def groups(self) -> Self: ...
    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...
    @property
    def closed(self) -> bool: ...
    def close(self) -> None: ...

def read(
    source: Any,
    batch_rows: int = 65536,
    schema: Optional[_Schema] = None,
    *,
    batch_nbytes: Optional[int] = None,
    columns: Optional[Sequence[str]] = None,
    pairs: bool = True,
    on_mismatch: Literal["error", "widen", "split"] = "error",
    threads: int = 1,
    dialect: Literal["hadoop", "hive"] = "hadoop",
    max_depth: int = 256,
) -> BatchReader: ...
def splits(paths: Union[_Path, Sequence[_Path]], split_size: int = ...) -> list[Split]: ...
def write(
    sink: Any,
    columns: Any,
    *,
    pairs: bool = True,
    nulls: Literal["error", "hive", "value"] = "error",
    null_value: Any = None,
    structs: Literal["vector", "map"] = "vector",
) -> int: ...
