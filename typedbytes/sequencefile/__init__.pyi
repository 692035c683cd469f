from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, NamedTuple, overload

from _typeshed import ReadableBuffer
from typing_extensions import Self, Unpack

from typedbytes._base.options import DecodeOptions, EncodeOptions, ValueOptions
from typedbytes.errors import DecodeError
from typedbytes.sequencefile import _native

__all__ = ["MapFile", "Reader", "Skipped", "Writer", "decode", "encode", "open", "read"]

@overload
def open(file: Any, mode: Literal["r"] = "r", **options: Any) -> Reader: ...
@overload
def open(file: Any, mode: Literal["w"], **options: Any) -> Writer: ...

class Skipped(NamedTuple):
    offset: int
    nbytes: int
    nrecords: int | None
    error: DecodeError

class Reader(_native.Reader):
    def __init__(
        self,
        file: Any,
        *,
        start: int = 0,
        length: int | None = None,
        raw: bool = False,
        resync: bool = False,
        max_bytes: int | None = 268435456,
        decoders: Mapping[str, Callable[[bytes], Any]] | None = None,
        pickle: Literal["safe", "trust", "raw"] = "safe",
        exact: bool = False,
        map_pairs: bool = False,
        ext_hook: Callable[[int, bytes], Any] | None = None,
        unicode_errors: str = "strict",
        dialect: Literal["hadoop", "hive"] = "hadoop",
        max_depth: int = 256,
    ) -> None: ...

class Writer(_native.Writer):
    def __init__(
        self,
        file: Any,
        *,
        key_class: str = "TypedBytesWritable",
        value_class: str = "TypedBytesWritable",
        compression: Literal["none", "record", "block"] | None = None,
        codec: str | None = None,
        metadata: Mapping[str, str] | None = None,
        version: int = 6,
        sync_marker: bytes | None = None,
        sync_interval: int = 102400,
        block_size: int = 1000000,
        encoders: Mapping[str, Callable[[Any], bytes]] | None = None,
        int_width: Literal["auto", 32, 64] = "auto",
        pickle: Literal["safe", "trust", "raw"] = "safe",
        default: Callable[[Any], Any] | None = None,
        sort_keys: bool = False,
        unicode_errors: str = "strict",
        dialect: Literal["hadoop", "hive"] = "hadoop",
        max_depth: int = 256,
    ) -> None: ...

class MapFile:
    skipped: list[Skipped]
    def __init__(
        self,
        path: str | PathLike[str],
        *,
        max_bytes: int | None = 268435456,
        decoders: Mapping[str, Callable[[bytes], Any]] | None = None,
        resync: bool = False,
        **options: Unpack[ValueOptions],
    ) -> None: ...
    def get(self, key: Any, default: Any = None) -> Any: ...
    def __getitem__(self, key: Any) -> Any: ...
    def __contains__(self, key: Any) -> bool: ...
    def __iter__(self) -> Iterator[tuple[Any, Any]]: ...
    @property
    def closed(self) -> bool: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...

def read(
    paths: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    processes: int = 1,
    ordered: bool = False,
    progress: Callable[[int, int], Any] | None = None,
    split_size: int = 16777216,
    **options: Any,
) -> Iterator[tuple[Any, Any]]: ...
def decode(
    class_name: str,
    data: ReadableBuffer,
    *,
    decoders: Mapping[str, Callable[[bytes], Any]] | None = None,
    **options: Unpack[DecodeOptions],
) -> Any: ...
def encode(
    class_name: str,
    obj: Any,
    *,
    encoders: Mapping[str, Callable[[Any], bytes]] | None = None,
    **options: Unpack[EncodeOptions],
) -> bytes: ...
