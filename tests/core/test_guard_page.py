"""Bytes with nothing after them: the next page cannot be touched, so one byte too far kills.

Here: walks over memory that ends at a forbidden page. Not here: what is right: that is what comes out for the same
bytes elsewhere. Invariant: a walk runs in a process of its own.
"""

import ctypes
import functools
import struct
from pathlib import Path

import pytest

import typedbytes as tb
from fuzz.guard import Guard
from support.subprocess_runs import run_fresh
from support.vectors import outcome, short_seeds
from typedbytes import _core, sequencefile
from typedbytes._base import magic

pytestmark = pytest.mark.untraced

HERE = Path(__file__).parent

USES = {
    "loads": tb.loads,
    "exact": lambda data: tb.loads(data, exact=True, map_pairs=True, pickle="raw", unicode_errors="replace"),
    "hive": lambda data: tb.loads(data, dialect="hive"),
    "decode_from": lambda data: tb.Decoder().decode_from(data),
    "decode_all": lambda data: tb.Decoder().decode_all(data),
    "skip": tb.skip,
    "count": tb.count,
    "index": lambda data: list(tb.index(data)),
    "reader": lambda data: list(tb.Reader(data)),
    "reader_skip": lambda data: tb.Reader(data).skip(99),
    "groups": lambda data: [len(list(values)) for _, values in tb.PairReader(data).groups()],
    "advance": lambda data: [
        _core.advance(data, 0, 9, min_nbytes=least, step=2) for least in (None, 1, 2, max(len(data), 1), len(data) + 1)
    ],
    "hash_code": tb.hash_code,
    "sequencefile": lambda data: list(sequencefile.Reader(data)),
}


def walk(inputs):
    """Compare what becomes of bytes at the edge with what becomes of them elsewhere."""
    # of its own copy of the first bytes; every use asks for the same
    magic.description_of = functools.lru_cache(magic.description_of)
    edge, ninputs = Guard(), 0
    for data in inputs:
        for name, use in USES.items():
            assert outcome(use, edge.put(data)) == outcome(use, data), (name, data.hex())
        ninputs += 1
    print(ninputs)


def every_cut():
    """Walk over every short vector, good or bad, cut at every byte."""
    walk({seed[:cut] for seed in short_seeds() for cut in range(len(seed) + 1)})


def every_code():
    """Walk over every type code with 0 to 20 bytes after it."""
    walk(
        bytes([code]) + filler * nbytes
        for filler in (b"\0", b"\1", b"\xff")
        for code in range(256)
        for nbytes in range(21)
    )


LENGTHS = (*range(65), 127, 128, 129, 255, 256, 511, 512, 513)


def every_length():
    """Walk over values whose payload is of every length, whole and one byte short."""
    whole = [
        encoded
        for nbytes in LENGTHS
        for text in ("a", "\xe9", "\u20ac", "\U0001f600")
        for encoded in (
            tb.dumps(b"x" * nbytes),
            tb.dumps(text * nbytes),
            tb.dumps("a" * nbytes + text),
            tb.dumps(tb.Ext(60, b"x" * nbytes)),
            tb.dumps([True] * nbytes),
            tb.dumps({text * nbytes: True}),
        )
    ]
    walk({data for encoded in whole for data in (encoded, encoded[:-1], encoded[:-1] + b"\xff", encoded + b"\2")})


def every_array_header():
    """Walk over arrays whose header ends, with the value, at every byte."""
    headers = [
        f"{{'descr': '{dtype}', 'fortran_order': {order}, 'shape': (2, 3), }}\n".encode()
        for dtype in ("", "<", "<f8", "|S3")
        for order in (True, False)
    ]
    walk(
        b"\x66" + struct.pack(">i", 10 + nbytes) + b"\x93NUMPY\x01\0" + struct.pack("<H", nbytes) + header[:nbytes]
        for header in headers
        for nbytes in range(len(header) + 1)
    )


def every_writing():
    """Encode into memory that ends with the value, and into too little."""
    edge, values = (
        Guard(),
        [None, 5, 2.5, tb.Byte(1), tb.Float(2), tb.Ext(60, b"abc"), tb.Writable("a", b"b"), {"k": [1, (2,)]}],
    )
    values += [
        make(nbytes)
        for nbytes in LENGTHS
        for make in (bytes, "a".__mul__, "\xe9".__mul__, "\u20ac".__mul__, "\U0001f600".__mul__)
    ]
    for value in values:
        encoded = tb.dumps(value)
        target = edge.put(bytes(len(encoded)))
        assert tb.Encoder().encode_into(value, target) == len(encoded)
        assert target == encoded
        with pytest.raises(ValueError, match="do not fit"):
            tb.Encoder().encode_into(value, edge.put(bytes(len(encoded) - 1)))
    print(len(values))


@pytest.mark.parametrize(
    "inputs, at_least",
    [(every_cut, 2000), (every_code, 16_000), (every_length, 3000), (every_array_header, 400), (every_writing, 300)],
)
def test_nothing_is_touched_beyond_the_bytes(inputs, at_least):
    found = run_fresh(
        f"import test_guard_page; test_guard_page.{inputs.__name__}()", flags=("-X", "faulthandler"), folders=[HERE]
    )
    assert int(found) >= at_least


def no_steps():
    """Refuse to advance by numbers that lead nowhere, at the edge."""
    edge = Guard()
    for data in (b"", b"\2\1" * 9):
        for numbers in (
            {"min_nbytes": 0},
            {"min_nbytes": -5},
            {"step": 0},
            {"step": -1},
            {"nvalues": -1},
            {"offset": len(data) + 1},
        ):
            with pytest.raises(ValueError):
                _core.advance(**{"data": edge.put(data), "offset": len(data), "nvalues": 4, "min_nbytes": 3, **numbers})
    print("refused")


def test_advance_refuses_numbers_that_lead_nowhere():
    """No bytes at all would be read beyond the input, and steps of 0 never end."""
    assert (
        run_fresh("import test_guard_page; test_guard_page.no_steps()", flags=("-X", "faulthandler"), folders=[HERE])
        == "refused"
    )


def too_far():
    """Read a byte too far, to see that this kills."""
    last = Guard().put(b"\0")
    address = ctypes.addressof(ctypes.c_char.from_buffer(last))
    print(ctypes.string_at(address, 1), flush=True)
    ctypes.string_at(address, 2)


@pytest.mark.unsanitized("AddressSanitizer catches the signal and aborts")
def test_a_byte_too_far_kills():
    with pytest.raises(AssertionError, match=r"exit code -(?:7|11)\nb'\\x00'"):
        run_fresh("import test_guard_page; test_guard_page.too_far()", folders=[HERE])


def test_every_alignment_is_the_same():
    values = [tb.dumps(value) for value in ([1, 2**40, 1.5, "text", b"raw", {"k": (True,)}], tb.Float(1.5), 2**100)]
    for offset in range(16):
        for encoded in values:
            view = memoryview(bytearray(offset) + encoded)[offset:]
            assert tb.loads(view) == tb.loads(encoded)
            assert tb.skip(view) == len(encoded)


def test_advance_passes_no_more_values_than_it_is_told():
    data = b"\x02\x01" * 9
    assert [_core.advance(data, 0, n, min_nbytes=2, step=5) for n in range(10)] == [0, 2, 4, 6, 8, *[10] * 5]
