"""The value types: for values of the format that no Python type has.

This file imports nothing of ours and nothing slow: it is part of the start-up time of every Hadoop task.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, SupportsIndex

    from _typeshed import ReadableBuffer
    from typing_extensions import Self

__all__ = ["Byte", "Int", "Long", "Float", "Ext", "Writable"]


class Byte(int):
    """Hold an int that is written as BYTE (8 bits, signed).

    Raises ValueError outside -128..127.

    >>> import typedbytes
    >>> typedbytes.dumps(typedbytes.Byte(-2)).hex()
    '01fe'
    """

    __slots__ = ()

    def __new__(cls, value: int = 0) -> Self:
        self = super().__new__(cls, value)
        if not -128 <= self <= 127:
            raise ValueError(f"Byte must be in -128..127, not {int(self)}")
        return self

    def __repr__(self) -> str:
        return f"Byte({int(self)})"

    def __str__(self) -> str:
        return int.__repr__(self)


class Int(int):
    """Hold an int that is written as INT (32 bits, signed) and never as LONG.

    Raises ValueError outside 32 bits.

    >>> import typedbytes
    >>> typedbytes.dumps(typedbytes.Int(5)).hex()
    '0300000005'
    """

    __slots__ = ()

    def __new__(cls, value: int = 0) -> Self:
        self = super().__new__(cls, value)
        if not -(2**31) <= self < 2**31:
            raise ValueError("Int must fit 32 bits")
        return self

    def __repr__(self) -> str:
        return f"Int({int(self)})"

    def __str__(self) -> str:
        return int.__repr__(self)


class Long(int):
    """Hold an int that is written as LONG (64 bits) although an INT could hold it.

    Raises ValueError outside 64 bits.

    >>> import typedbytes
    >>> typedbytes.dumps(typedbytes.Long(5)).hex()
    '040000000000000005'
    """

    __slots__ = ()

    def __new__(cls, value: int = 0) -> Self:
        self = super().__new__(cls, value)
        if not -(2**63) <= self < 2**63:
            raise ValueError("Long must fit 64 bits")
        return self

    def __repr__(self) -> str:
        return f"Long({int(self)})"

    def __str__(self) -> str:
        return int.__repr__(self)


class Float(float):
    """Hold a float that is written as FLOAT (IEEE 754 binary32), narrowed when it is encoded.

    >>> import typedbytes
    >>> typedbytes.dumps(typedbytes.Float(1.5)).hex()
    '053fc00000'
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Float({float.__repr__(self)})"

    def __str__(self) -> str:
        return float.__repr__(self)


class _Opaque:
    """Hold the two fields of a tuple as an immutable, hashable pair that is equal only to its own type."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self: Any) -> int:
        return hash((type(self).__name__, *self))

    def __repr__(self: Any) -> str:
        if [*map(type, self)] != [type(self)._first_kind, bytes]:  # forged by tuple.__new__
            return f"{type(self).__name__}{tuple.__repr__(self)}"
        return f"{type(self).__name__}({self._shown_first()}, {self._shown_data()})"

    @property
    def data(self: Any) -> bytes:
        """The payload as bytes."""
        return self[1]

    def _shown_data(self: Any) -> str:
        """Show at most 32 bytes of the payload, so that a repr stays short whatever came in."""
        if len(self[1]) <= 32:
            return repr(self[1])
        return f"{self[1][:32]!r}... {len(self[1])} bytes"


class Ext(_Opaque, tuple[int, bytes]):
    r"""Hold the payload of an application code that has no meaning here; it re-encodes byte for byte.

    `code` is 50..200 (in Hive's dialect also 11, 12 and 177 with the payloads it defines), `data` any bytes-like
    object. Raises ValueError for another code.

    >>> import typedbytes
    >>> typedbytes.loads(bytes.fromhex("9000000002abcd"))
    Ext(144, b'\xab\xcd')
    """

    __slots__ = ()
    _first_kind = int

    def __new__(cls, code: SupportsIndex, data: ReadableBuffer = b"") -> Self:
        if not hasattr(code, "__index__"):
            raise TypeError(f"an application code must be an int, not {type(code).__name__}")
        code = code.__index__()
        if not (50 <= code <= 200 or code in (11, 12)):
            raise ValueError(f"an application code must be 50 to 200, not {code}")
        return tuple.__new__(cls, (code, bytes(memoryview(data))))

    def __getnewargs__(self) -> tuple[int, bytes]:
        return self[0], self[1]

    @property
    def code(self) -> int:
        """The type code."""
        return self[0]

    def _shown_first(self) -> str:
        return str(self.code)


class Writable(_Opaque, tuple[str, bytes]):
    """Hold a Hadoop Writable (code 50): its class name and its own bytes.

    The name is only text: nothing is ever imported by it.

    >>> import typedbytes
    >>> typedbytes.Writable("org.apache.hadoop.io.NullWritable")
    Writable('org.apache.hadoop.io.NullWritable', b'')
    """

    __slots__ = ()
    _first_kind = str

    def __new__(cls, class_name: str, data: ReadableBuffer = b"") -> Self:
        if not isinstance(class_name, str):
            raise TypeError("the class name of a Writable must be a str")
        return tuple.__new__(cls, (str(class_name), bytes(memoryview(data))))

    def __getnewargs__(self) -> tuple[str, bytes]:
        return self[0], self[1]

    @property
    def class_name(self) -> str:
        """The name of the Java class."""
        return self[0]

    def _shown_first(self) -> str:
        return repr(self.class_name if len(self.class_name) <= 128 else self.class_name[:128] + "...")
