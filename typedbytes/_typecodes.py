"""The names of the type codes, for Python; `src/typedbytes/core/typecode.pxd` holds them for the core, and a test compares both."""

import enum

__all__ = ["TypeCode"]


class TypeCode(enum.IntEnum):
    """Name the type codes of the wire.

    SHORT, NULL and ENDOFRECORD belong to Hive's dialect only.

    >>> TypeCode(7).name
    'STRING'
    """

    BYTES = 0
    BYTE = 1
    BOOL = 2
    INT = 3
    LONG = 4
    FLOAT = 5
    DOUBLE = 6
    STRING = 7
    VECTOR = 8
    LIST = 9
    MAP = 10
    SHORT = 11
    NULL = 12
    WRITABLE = 50
    PICKLE = 100
    BYTESTRING = 101
    NDARRAY = 102
    ENDOFRECORD = 177
    MARKER = 255
