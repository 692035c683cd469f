"""The errors, one small tree.

A class exists only where a caller would handle it differently, and each also inherits the builtin that a newcomer
would expect. This file imports nothing of ours.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from os import PathLike
    from typing import TypeVar

    _Error = TypeVar("_Error", bound="TypedBytesError")
    _Advised = TypeVar("_Advised", "EncodeError", "DecodeError")

__all__ = [
    "TypedBytesError", "EncodeError", "EncodeTypeError", "EncodeValueError", "DecodeError", "TruncatedError",
    "LimitError", "DecodeTypeError", "FormatError", "BlockError", "CallError",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


def _shown(path: str) -> str:
    """Shorten a path for a message; the attribute has all of it."""
    return path if len(path) <= 120 else f"{path[:60]}...{path[-50:]}"


def relocated(error: _Error, message: str, *where: object) -> _Error:
    """Return an error in a part as one of the whole: of the same class, and with what it says of an option."""
    found = type(error)(message, *where)
    found.option, found.hint = error.option, error.hint
    return found


def with_hint(error: _Advised, hint: str) -> _Advised:
    """Return an error after its own hint, which its message has if there is one, has become another."""
    error.message = error.message.replace(error.hint, hint) if error.hint else error.message + hint
    error.hint = hint
    return error


class TypedBytesError(Exception):
    """The base of every error of this library.

    `option` is the name of the option by which what is refused here can be read or written, such as "pickle", None
    where there is none; `hint` is the part of the message that says so.

    >>> import typedbytes
    >>> issubclass(typedbytes.FormatError, typedbytes.TypedBytesError)
    True
    """

    option: str | None = None
    hint: str = ""

    def __init__(self, *args: object) -> None:  # inspect.signature finds none in a compiled base
        super().__init__(*args)


class EncodeError(TypedBytesError):
    """Report an object that cannot be written; `path` is its location in the value given.

    >>> import typedbytes
    >>> try:
    ...     typedbytes.dumps([1, object])
    ... except typedbytes.EncodeError as error:
    ...     print(error.path)
    [1]
    """

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message, path)
        self.message = message
        self.path = path

    def __str__(self) -> str:
        return self.message + (f", at {_shown(self.path)}" if self.path else "")


class EncodeTypeError(EncodeError, TypeError):
    """Report an object of a type that has no type code here.

    >>> import typedbytes
    >>> typedbytes.dumps(object())  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    typedbytes.errors.EncodeTypeError: cannot encode an object of type object: pass default=, ...
    """


class EncodeValueError(EncodeError, ValueError):
    """Report an object of a known type whose value the format cannot hold.

    >>> import typedbytes
    >>> typedbytes.dumps(2**40, int_width=32)
    Traceback (most recent call last):
    typedbytes.errors.EncodeValueError: int does not fit an INT of 32 bits
    """


class DecodeError(TypedBytesError, ValueError):
    r"""Report bytes that are not valid.

    `offset` counts bytes from the start of the input, `code` is the type code being read (None: none), `path`
    leads to the value inside its record (like ``[3]["key"]``, a key of more than 1000 characters cut), `record`
    is the record's index in a stream (None: not a stream), `filename` the path that a Reader has opened (None: it
    was given something else).

    >>> import typedbytes
    >>> try:
    ...     typedbytes.loads(b"\x09\x0b")
    ... except typedbytes.DecodeError as error:
    ...     print(error.offset, error.code, error.path)
    1 11 [0]
    """

    filename: str | PathLike[str] | None = None

    def __init__(
        self, message: str, offset: int = 0, code: int | None = None, path: str = "", record: int | None = None
    ) -> None:
        super().__init__(message, offset, code, path, record)
        self.message = message
        self.offset = offset
        self.code = code
        self.path = path
        self.record = record

    def __str__(self) -> str:
        location = f" at offset {self.offset}"
        if self.record is not None:
            location += f", record {self.record}"
        if self.path:
            location += f", path {_shown(self.path)}"
        return f"{'' if self.filename is None else f'{self.filename}: '}{self.message}{location}"


class TruncatedError(DecodeError, EOFError):
    r"""Report input that ends inside a value; `offset` is where the bytes end.

    >>> import typedbytes
    >>> typedbytes.loads(b"\x03\x00")
    Traceback (most recent call last):
    typedbytes.errors.TruncatedError: input ends inside INT: at least 3 more bytes needed at offset 2
    """


class LimitError(DecodeError):
    r"""Report input beyond a limit that the caller set or left at its default.

    >>> import typedbytes
    >>> typedbytes.loads(b"\x09\x09\xff\xff", max_depth=1)
    Traceback (most recent call last):
    typedbytes.errors.LimitError: containers nest deeper than max_depth=1 at offset 1, path [0]
    """


class DecodeTypeError(DecodeError, TypeError):
    r"""Report a value that is not of the type that was asked for; `path` leads to it by the names of fields.

    >>> import typing, typedbytes
    >>> class Visit(typing.NamedTuple):
    ...     user: str
    ...     ms: int
    >>> typedbytes.loads(typedbytes.dumps([("ann", 1), ("bob", "2")]), type=list[Visit])
    Traceback (most recent call last):
    typedbytes.errors.DecodeTypeError: expected int, found STRING "2" at offset 32, path [1].ms
    """


class FormatError(DecodeError):
    r"""Report bytes that no TypedBytes writer should produce.

    >>> import typedbytes
    >>> typedbytes.loads(b"\xff")
    Traceback (most recent call last):
    typedbytes.errors.FormatError: MARKER outside a LIST at offset 0
    """


class BlockError(FormatError):
    """Report a binary block message that is invalid in its layout; `entry` is the index of the invalid value, or None.

    >>> from typedbytes.block import BlockDecoder
    >>> try:
    ...     BlockDecoder().feed(bytes.fromhex("0000000100000009"))
    ... except BlockError as error:
    ...     print(error.offset, error.entry)
    4 0
    """

    def __init__(
        self,
        message: str,
        offset: int = 0,
        code: int | None = None,
        path: str = "",
        record: int | None = None,
        entry: int | None = None,
    ) -> None:
        super().__init__(message, offset, code, path, record)
        self.args: tuple[object, ...] = (*self.args, entry)
        self.entry = entry


class CallError(TypedBytesError, RuntimeError):
    """Report a call that the other side of a connection could not answer; `kind` is the name of its exception.

    >>> from typedbytes.block import Command, connect, serve
    >>> with serve(("127.0.0.1", 0), {"divide": lambda a, b: a / b}) as server, connect(server.address) as connection:
    ...     connection.call(Command("divide"), 1, 0)
    Traceback (most recent call last):
    typedbytes.errors.CallError: ZeroDivisionError: division by zero
    """

    def __init__(self, message: str, kind: str = "") -> None:
        super().__init__(message, kind)
        self.message = message
        self.kind = kind

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}" if self.kind else self.message
