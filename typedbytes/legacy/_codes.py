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

# Types of values that have no bytes in them.
PLAIN = frozenset({bool, int, float, str, type(None)})


class Bytes(bytes):
    """Hold the bytes of a BYTES value, to distinguish them from other strings.

    >>> Bytes(b"raw")
    Bytes(b'raw')
    """

    __module__ = "typedbytes.legacy"
    __slots__ = ()

    def __repr__(self):
        return f"Bytes({bytes.__repr__(self)})"


def to_native(value):
    """Return a value with its bytes as `Bytes`, also those inside containers."""
    kind = type(value)
    if kind is bytes:
        return Bytes(value)
    if kind is list:
        return value if _are_plain(value) else [to_native(item) for item in value]
    if kind is tuple:
        return value if _are_plain(value) else tuple([to_native(item) for item in value])
    if kind is dict and not (_are_plain(value) and _are_plain(value.values())):
        return {to_native(key): to_native(item) for key, item in value.items()}
    return value


def _are_plain(items):
    return PLAIN.issuperset(map(type, items))


def to_native_pair(pair):
    key, value = pair
    return pair if type(key) in PLAIN and type(value) in PLAIN else (to_native(key), to_native(value))
