"""The names of the type codes, for Python."""

import enum

from typedbytes import _codes

__all__ = ["TypeCode"]


class TypeCode(enum.IntEnum):
    """Name the type codes of the wire.

    SHORT, NULL and ENDOFRECORD belong to Hive's dialect only.

    >>> TypeCode(7).name
    'STRING'
    """

    BYTES = _codes.BYTES
    BYTE = _codes.BYTE
    BOOL = _codes.BOOL
    INT = _codes.INT
    LONG = _codes.LONG
    FLOAT = _codes.FLOAT
    DOUBLE = _codes.DOUBLE
    STRING = _codes.STRING
    VECTOR = _codes.VECTOR
    LIST = _codes.LIST
    MAP = _codes.MAP
    SHORT = _codes.SHORT
    NULL = _codes.NULL
    WRITABLE = _codes.WRITABLE
    PICKLE = _codes.PICKLE
    BYTESTRING = _codes.BYTESTRING
    NDARRAY = _codes.NDARRAY
    ENDOFRECORD = _codes.ENDOFRECORD
    MARKER = _codes.MARKER
