import os

__all__ = [
    "BlockError",
    "DecodeError",
    "EncodeError",
    "EncodeTypeError",
    "EncodeValueError",
    "FormatError",
    "LimitError",
    "TruncatedError",
    "TypedBytesError",
]

class TypedBytesError(Exception): ...

class EncodeError(TypedBytesError):
    message: str
    path: str
    def __init__(self, message: str, path: str = "") -> None: ...

class EncodeTypeError(EncodeError, TypeError): ...
class EncodeValueError(EncodeError, ValueError): ...

class DecodeError(TypedBytesError, ValueError):
    message: str
    offset: int
    code: int | None
    path: str
    record: int | None
    filename: str | os.PathLike[str] | None
    def __init__(self, message: str, offset: int = 0, code: int | None = None, path: str = "", record: int | None = None) -> None: ...

class TruncatedError(DecodeError, EOFError): ...
class LimitError(DecodeError): ...
class FormatError(DecodeError): ...

class BlockError(FormatError):
    entry: int | None
    def __init__(
        self,
        message: str,
        offset: int = 0,
        code: int | None = None,
        path: str = "",
        record: int | None = None,
        entry: int | None = None,
    ) -> None: ...
