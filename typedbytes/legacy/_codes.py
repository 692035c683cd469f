"""The type codes by their old names, and the class of byte strings."""

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
PICKLE = 100
BYTESTRING = 101
MARKER = 255

MAX_DEPTH = 256  # of containers in containers


class Bytes(bytes):
    """Hold the bytes of a BYTES value, to distinguish them from other strings.

    >>> Bytes(b"raw")
    Bytes(b'raw')
    """

    __module__ = "typedbytes.legacy"
    __slots__ = ()

    def __repr__(self):
        return f"Bytes({bytes.__repr__(self)})"
