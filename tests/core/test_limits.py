"""Memory: what input may cost that declares large sizes, or that was made to cost much for its size.

Here: bounds on memory, and the measuring of it. Not here: clocks (bench/bounds.py has them). Invariant: the memory
of a process is measured from outside the interpreter, in a process of its own for each input, and counted from
when the input was there.
"""

import contextlib
import io
import os
import tracemalloc
from pathlib import Path

import pytest

import typedbytes as tb
from support.call_variants import by_feed
from support.families import FAMILIES
from support.process_memory import resident
from support.reference import LENGTH_CODES
from support.subprocess_runs import run_fresh, within

pytestmark = pytest.mark.untraced

HERE = Path(__file__).parent

MEBIBYTE = 1 << 20
KIBIBYTE = 1 << 10


class Parts:
    """Give a few thousand bytes at a time, as a pipe may."""

    def __init__(self, data):
        self.file = io.BytesIO(data)

    def read(self, nbytes):
        """Return some."""
        return self.file.read(min(nbytes, 5000))


def fed(data):
    """Push a few thousand bytes at a time."""
    found = []
    by_feed((data[offset : offset + 5000] for offset in range(0, len(data), 5000)), found)
    return found


IN_MEMORY = {
    "loads": tb.loads,
    "exact": lambda data: tb.loads(data, exact=True, map_pairs=True, unicode_errors="replace"),
    "hook": lambda data: tb.loads(data, ext_hook=lambda code, data: None, unicode_errors="backslashreplace"),
    "decode_all": lambda data: tb.Decoder().decode_all(data),
    "skip": tb.skip,
    "count": tb.count,
    "index": tb.index,
}
FROM_STREAMS = {
    "reader": lambda data: tb.Reader(Parts(data)).read(),
    "raw": lambda data: tb.Reader(Parts(data), raw=True).read(),
    "exact_reader": lambda data: tb.Reader(Parts(data), read_ahead=False).read(),
    "reader_skip": lambda data: tb.Reader(Parts(data)).skip(),
    "groups": lambda data: [key for key, values in tb.PairReader(Parts(data)).groups()],
    "fed": fed,
}

# -- declared sizes ---------------------------------------------------------------------------------------

DECLARED = [
    bytes([code]) + length.to_bytes(4, "big") + more
    for code in LENGTH_CODES
    for length in (2**31 - 1, 2**24)
    for more in (b"", b"\2\1" * 50, b"\0\x7f\xff\xff\xff", b"\x0a\x7f\xff\xff\xff\x08\x7f\xff\xff\xff")
]


def allocated(use, data):
    """Return the most bytes that the interpreter's allocators held at once while bytes were used."""
    tracemalloc.start()
    try:
        with contextlib.suppress(tb.DecodeError):
            use(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("way", IN_MEMORY)
def test_a_declared_length_in_memory_costs_less_than_64_kib(way):
    for data in DECLARED:
        allocated(IN_MEMORY[way], data)  # what describes an error is imported once
        assert allocated(IN_MEMORY[way], data) < 64 * KIBIBYTE, data.hex()


@pytest.mark.parametrize("way", FROM_STREAMS)
def test_a_declared_length_in_a_stream_costs_less_than_2_mib(way):
    for data in DECLARED:
        assert allocated(FROM_STREAMS[way], data) < 2 * MEBIBYTE, data.hex()


@pytest.mark.parametrize(
    "head", [b"\x08\x7f\xff\xff\xff", b"\x0a\x7f\xff\xff\xff\2\1", b"\x08\0\1\xff\xff", b"\x0a\0\1\xff\xff\2\1"]
)
def test_nested_declared_counts_do_not_all_reserve_memory(head):
    # each could be kept by what follows, if the others were not
    data = head * 255 + tb.dumps("x" * MEBIBYTE)
    for uses in (IN_MEMORY, FROM_STREAMS):
        for name, use in uses.items():
            assert allocated(use, data) < 5 * len(data), name


# -- a mebibyte -------------------------------------------------------------------------------------------


def growth(use, data):
    """Return by how many bytes the process grew while bytes were used, whatever came of it."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the most there was is forgotten
    before = resident("VmRSS")
    with contextlib.suppress(tb.DecodeError):
        use(data)
    return resident("VmHWM") - before


def grow(*ways):
    """Print each way and family, the size of its input, and by how much a process grows that uses it in this way."""
    small = tb.dumps([1, "a", {"k": (2.5, 2**70, b"b")}])
    uses = {way: {**IN_MEMORY, **FROM_STREAMS}[way] for way in ways}
    for use in uses.values():
        growth(use, small)  # what is loaded or made once
    for name, make in FAMILIES.items():
        data = make(MEBIBYTE)
        for way, use in uses.items():
            child = os.fork()
            if child == 0:
                growth(use, small)  # a child of fork maps the pages of the program's file when it uses them
                print(way, name, len(data), growth(use, data), sep="|", flush=True)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0


# A list of one item is 2 bytes on the wire and takes 80 of the interpreter's: 64, and 16 for its item's slot. Its
# allocator adds 1.5 % of its own to these. From a stream the bytes are held too, those of a key twice.
MOST = {"loads": 40.6, "groups": 43, "fed": 43}


@pytest.fixture(scope="module")
def grown():
    """Return the rows of all ways: the inputs are made once, which takes long."""
    printed = run_fresh(f"import test_limits; test_limits.grow(*{[*MOST]!r})", folders=[HERE])
    return [row.split("|") for row in printed.splitlines()]


@pytest.mark.unsanitized("it keeps what was freed")
@pytest.mark.parametrize("way", MOST)
def test_a_mebibyte_costs_no_more_than_its_lists(way, grown):
    rows = [row[1:] for row in grown if row[0] == way]
    assert len(rows) == len(FAMILIES)
    for name, size, nbytes in rows:
        assert int(size) >= 0.9 * MEBIBYTE
        assert int(nbytes) < MOST[way] * int(size) + MEBIBYTE, name


# -- much of one kind -------------------------------------------------------------------------------------


def test_a_million_keys_and_ten_million_items_are_no_more_than_that():
    with within():
        value = dict.fromkeys(range(10**9, 10**9 + 10**6), True)
        assert tb.loads(tb.dumps(value)) == value
        assert tb.loads(tb.dumps([True] * 10**7)) == [True] * 10**7
        assert len(list(tb.Reader(Parts(tb.dumps(5) * 10**6)))) == 10**6
