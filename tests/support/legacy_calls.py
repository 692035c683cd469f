"""The drop-in names as their users call them: what is written, and every way of reading.

Not here: what a test expects.
"""

import datetime
import decimal
import io

import pytest

from typedbytes.legacy import DOUBLE, Bytes, Input, Output

STAMP = datetime.datetime(2011, 1, 20, 12, 30, 45, 123456)
OBJECTS = [
    *(True, 1234, 3000000000, 12345, 2**70, 1.23, "trala", "\u16a0", "tra\0la", Bytes(b"raw\xff"), None),
    *((1, 2, 3), [1, 2, 3, 4], {1: 2, 3: 4}, {1, 2, 3}, decimal.Decimal("123.456"), STAMP),
    *((1, [b"deep", {(2, b"key"): b"value"}]), [], (), {}),
]


def written(*objects, cls=Output, **options):
    file = io.BytesIO()
    cls(file, **options).writes(objects)
    return file.getvalue()


def with_neutral_handler(source):
    """Register a handler that changes no result: all values then take the slow path, which handlers need."""
    source.register(DOUBLE, Input.read_double)
    return source


WAYS = {"plain": lambda source: source, "with handlers": with_neutral_handler}
in_both_ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


READINGS = {
    "read": lambda source: lambda: iter(source.read, None),
    "reads": lambda source: source.reads,
    "one, then reads": lambda source: lambda: [source.read(), *source.reads()],
    "iterate, then read": lambda source: lambda: [next(iter(source), None), *iter(source.read, None)],
    "each by an iteration of its own": lambda source: lambda: iter(lambda: next(iter(source), None), None),
}
