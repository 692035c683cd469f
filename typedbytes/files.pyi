from collections.abc import Iterable
from typing import Any

from typing_extensions import Unpack

from typedbytes import _core
from typedbytes._base.options import DecodeOptions, EncodeOptions

__all__ = ["PairReader", "PairWriter", "Reader", "Writer", "dump", "dump_all", "iter_load", "load"]

class Reader(_core.Reader):
    def __init__(
        self,
        file: Any,
        *,
        raw: bool = False,
        read_ahead: bool = True,
        buffer_size: int = 131072,
        **options: Unpack[DecodeOptions],
    ) -> None: ...

class PairReader(_core.PairReader):
    def __init__(
        self,
        file: Any,
        *,
        raw: bool = False,
        read_ahead: bool = True,
        buffer_size: int = 131072,
        **options: Unpack[DecodeOptions],
    ) -> None: ...

class Writer(_core.Writer):
    def __init__(self, file: Any, *, buffer_size: int = 65536, **options: Unpack[EncodeOptions]) -> None: ...

class PairWriter(_core.PairWriter):
    def __init__(self, file: Any, *, buffer_size: int = 65536, **options: Unpack[EncodeOptions]) -> None: ...

def dump(obj: Any, file: Any, **options: Unpack[EncodeOptions]) -> None: ...
def load(file: Any, **options: Unpack[DecodeOptions]) -> Any: ...
def dump_all(iterable: Iterable[Any], file: Any, **options: Unpack[EncodeOptions]) -> int: ...
def iter_load(
    file: Any,
    *,
    raw: bool = False,
    read_ahead: bool = True,
    buffer_size: int = 131072,
    **options: Unpack[DecodeOptions],
) -> Reader: ...
