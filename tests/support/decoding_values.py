"""Values with their encoded form, error handlers and colliding MAP keys, for tests of the decoder."""

import codecs
import decimal
import itertools
import sys

import typedbytes as tb

VALUES = [
    True, 5, 2**40, 1.5, "na\u00efve \U0001f600", b"raw", (1, ("a",)), [1, [2, []]], {"k": None, 3: [b""]}, 2**90,
    "x" * 300, b"y" * 3000, tb.Ext(144, b"z" * 20), tb.Writable("org.example.It", b"\0\1"), [], "last",
]  # fmt: skip

PARTS = [tb.dumps(value) for value in VALUES]

DATA = b"".join(PARTS)

ENDS = list(itertools.accumulate(map(len, PARTS)))

EXT = b"\x90\0\0\0\1x"


def exts(count):
    """Return a LIST of application values."""
    return b"\x09" + EXT * count + b"\xff"


def encoded_map(keys):
    """Return a MAP with these encoded keys; the values are their indices."""
    return b"\x0a" + len(keys).to_bytes(4, "big") + b"".join(key + tb.dumps(index) for index, key in enumerate(keys))


BAD_TEXT = b"\x09\7\0\0\0\3a\xffb\xff"

HANDLERS = {
    "replaces": (lambda error: ("?", error.end), None),
    "decodes": (lambda error: (tb.loads(tb.dumps("?")), tb.Decoder().decode_from(tb.dumps(error.end))[0]), None),
    "says_nothing": (lambda error: None, TypeError),
    "says_no_str": (lambda error: (b"?", error.end), TypeError),
    "says_too_far": (lambda error: ("?", 10**9), IndexError),
    "raises": (lambda error: {}["k"], KeyError),
    "raises_itself": (codecs.strict_errors, tb.FormatError),
    "ends_iterations": (lambda error: next(iter(())), StopIteration),
}

MODULUS = sys.hash_info.modulus

COLLIDING = {
    "nested_vectors": [tb.dumps(tuple((-1, -2)[n >> bit & 1] for bit in range(14))) for n in range(5000)],
    "wide_ints": [tb.dumps(2**64 + n * MODULUS) for n in range(5000)],
    "decimals": [tb.dumps(decimal.Decimal(n * MODULUS)) for n in range(2, 5000)],
}


def many(count, item):
    """Return a function that makes a LIST of `count` encoded items."""
    return lambda: b"\x09" + item * count + b"\xff"
