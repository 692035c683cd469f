from collections.abc import Iterable
from typing import Any, overload

from typing_extensions import TypeVar, Unpack

from typedbytes import _core
from typedbytes._base.options import (
    DecodeOptions as _DecodeOptions,
    EncodeOptions as _EncodeOptions,
    ReaderOptions as _ReaderOptions,
    WriterOptions as _WriterOptions,
)

__all__ = ["Reader", "PairReader", "Writer", "PairWriter", "dump", "load", "dump_all", "iter_load"]

_Value = TypeVar("_Value")
_Result = TypeVar("_Result")
_Item = TypeVar("_Item", default=Any)
_Key = TypeVar("_Key", default=Any)
_Content = TypeVar("_Content", default=Any)

class Reader(_core.Reader[_Item]):
    @overload
    def __init__(self: Reader[_Value], file: Any, *, type: type[_Value], **options: Unpack[_ReaderOptions]) -> None: ...
    @overload
    def __init__(self: Reader[Any], file: Any, *, type: Any = None, **options: Unpack[_ReaderOptions]) -> None: ...

class PairReader(_core.PairReader[_Key, _Content]):
    @overload
    def __init__(
        self: PairReader[_Value, _Result],
        file: Any,
        *,
        key_type: type[_Value],
        value_type: type[_Result],
        **options: Unpack[_ReaderOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: PairReader[_Value, Any],
        file: Any,
        *,
        key_type: type[_Value],
        value_type: Any = None,
        **options: Unpack[_ReaderOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: PairReader[Any, _Value],
        file: Any,
        *,
        key_type: Any = None,
        value_type: type[_Value],
        **options: Unpack[_ReaderOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: PairReader[Any, Any],
        file: Any,
        *,
        key_type: Any = None,
        value_type: Any = None,
        **options: Unpack[_ReaderOptions],
    ) -> None: ...

class Writer(_core.Writer):
    def __init__(self, file: Any, *, type: Any = None, **options: Unpack[_WriterOptions]) -> None: ...

class PairWriter(_core.PairWriter):
    def __init__(
        self, file: Any, *, key_type: Any = None, value_type: Any = None, **options: Unpack[_WriterOptions]
    ) -> None: ...

def dump(
    obj: Any, file: Any, *, type: Any = None, omit_none: bool = False, **options: Unpack[_EncodeOptions]
) -> None: ...
def dump_all(
    iterable: Iterable[Any], file: Any, *, type: Any = None, omit_none: bool = False, **options: Unpack[_EncodeOptions]
) -> int: ...
@overload
def load(file: Any, *, type: type[_Value], strict: bool = True, **options: Unpack[_DecodeOptions]) -> _Value: ...
@overload
def load(file: Any, *, type: Any = None, strict: bool = True, **options: Unpack[_DecodeOptions]) -> Any: ...
@overload
def iter_load(file: Any, *, type: type[_Value], **options: Unpack[_ReaderOptions]) -> Reader[_Value]: ...
@overload
def iter_load(file: Any, *, type: Any = None, **options: Unpack[_ReaderOptions]) -> Reader[Any]: ...
