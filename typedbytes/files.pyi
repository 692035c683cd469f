from collections.abc import Iterable
from typing import Any

from typing_extensions import Unpack

from typedbytes import _core

class Reader(_core.Reader):
    def __init__(
        self,
        file: Any,
        *,
        raw: bool = False,
        read_ahead: bool = True,
        buffer_size: int = 131072,
        **options: Unpack[_core.DecodeOptions],
    ) -> None: ...

class PairReader(_core.PairReader):
    def __init__(
        self,
        file: Any,
        *,
        raw: bool = False,
        read_ahead: bool = True,
        buffer_size: int = 131072,
        **options: Unpack[_core.DecodeOptions],
    ) -> None: ...

class Writer(_core.Writer):
    def __init__(self, file: Any, *, buffer_size: int = 65536, **options: Unpack[_core.EncodeOptions]) -> None: ...

class PairWriter(_core.PairWriter):
    def __init__(self, file: Any, *, buffer_size: int = 65536, **options: Unpack[_core.EncodeOptions]) -> None: ...

def dump(obj: Any, file: Any, **options: Unpack[_core.EncodeOptions]) -> None: ...
def load(file: Any, **options: Unpack[_core.DecodeOptions]) -> Any: ...
def dump_all(iterable: Iterable[Any], file: Any, **options: Unpack[_core.EncodeOptions]) -> int: ...
def iter_load(
    file: Any,
    *,
    raw: bool = False,
    read_ahead: bool = True,
    buffer_size: int = 131072,
    **options: Unpack[_core.DecodeOptions],
) -> Reader: ...
