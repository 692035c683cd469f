"""The names of the type codes, for Python."""

import enum

from typedbytes._base import codes

__all__ = ["TypeCode"]


class TypeCode(enum.IntEnum):
    """Name the type codes of the wire.

    SHORT, NULL and ENDOFRECORD belong to Hive's dialect only.

    >>> TypeCode(7).name
    'STRING'
    """

    BYTES = codes.BYTES
    BYTE = codes.BYTE
    BOOL = codes.BOOL
    INT = codes.INT
    LONG = codes.LONG
    FLOAT = codes.FLOAT
    DOUBLE = codes.DOUBLE
    STRING = codes.STRING
    VECTOR = codes.VECTOR
    LIST = codes.LIST
    MAP = codes.MAP
    SHORT = codes.SHORT
    NULL = codes.NULL
    WRITABLE = codes.WRITABLE
    PICKLE = codes.PICKLE
    BYTESTRING = codes.BYTESTRING
    NDARRAY = codes.NDARRAY
    ENDOFRECORD = codes.ENDOFRECORD
    MARKER = codes.MARKER
