"""Values larger than the buffer, long streams, and offsets beyond 32 bits."""

import io
import mmap
import os
import tracemalloc

import pytest

import typedbytes as tb
from support.reader_sources import OnlyRead, ReadInto

pytestmark = [pytest.mark.debug, pytest.mark.quick]

SIZES = [
    4095, 4096, 4097, 65_530, 65_531, 65_535, 65_536, 65_537, 65_538, 131_066, 131_067, 131_072, 131_073, 1 << 20,
    (1 << 20) + 1, 3 << 20,
]  # fmt: skip

LONG = {
    "bytes": lambda size: b"\0\1\2" * (size // 3) + bytes(size % 3),
    "str": lambda size: "a" * size,
    "wide_str": lambda size: "\u20ac" * (size // 3) + "a" * (size % 3),
    "ext": lambda size: tb.Ext(144, b"e" * size),
    "list": lambda size: [1] * (size // 5),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("form", LONG)
def test_long_values(form, size):
    values = ["before", LONG[form](size), "between", LONG[form](size), 7]
    data = b"".join(map(tb.dumps, values))
    for source, options in [
        (io.BytesIO(data), {}),
        (io.BytesIO(data), {"read_ahead": False}),
        (io.BytesIO(data), {"buffer_size": 64, "max_bytes": size + 100}),
        (OnlyRead(data, 50_001), {}),
        (ReadInto(data), {"buffer_size": 4096}),
    ]:
        reader = tb.Reader(source, **options)
        assert list(reader) == values
        assert reader.offset == len(data)


@pytest.mark.parametrize("form", LONG)
def test_the_buffer_shrinks_after_a_long_value(form):
    small = b"".join(map(tb.dumps, range(1000)))
    reader = tb.Reader(io.BytesIO(tb.dumps(LONG[form](8 << 20)) + small))
    tracemalloc.start()
    try:
        reader.read()
        reader.skip(1)
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert after < 1 << 20
    assert list(reader) == list(range(1, 1000))


@pytest.mark.parametrize("form", ["values", "raw", "pairs", "skip", "fed"])
def test_a_long_stream_costs_no_memory(form):
    part = tb.dumps(["a", 1, {"k": (b"x" * 50, 2.5)}] * 4)
    data = part * 4000
    decoder = tb.Decoder()

    def work():
        if form == "skip":
            assert tb.Reader(io.BytesIO(data)).skip(5000) == 4000
        elif form == "fed":
            for offset in range(0, len(data), 5000):
                decoder.feed(data[offset : offset + 5000])
                for _ in decoder:
                    pass
        else:
            reader = tb.PairReader if form == "pairs" else tb.Reader
            for _ in reader(io.BytesIO(data), raw=form == "raw"):
                pass

    tracemalloc.start()
    try:
        work()
        assert tracemalloc.get_traced_memory()[1] < len(data) + (1 << 19)
    finally:
        tracemalloc.stop()


FAR = [5 + 2**31 - 1, 2 * (5 + 2**31 - 1) + 5]


class Zeros:
    """Read two BYTES of 2**31 - 1 zeros, a 7 after each, and a LIST whose second item is bad."""

    def __init__(self):
        head = b"\0\x7f\xff\xff\xff"
        self.parts = [head, 2**31 - 1, tb.dumps(7), head, 2**31 - 1, tb.dumps(7), b"\x09\x02\x01\x0b"]
        self.zeros = bytes(131_072)

    def read(self, nbytes):
        """Return what comes next, of one part."""
        part = self.parts.pop(0) if self.parts else b""
        if type(part) is bytes:
            assert len(part) <= nbytes
            return part
        if part > nbytes:
            self.parts.insert(0, part - nbytes)
        return self.zeros[: min(part, nbytes)]


def test_offsets_beyond_32_bits_are_exact():
    reader = tb.Reader(Zeros())
    for far in FAR:
        assert (reader.skip(), reader.offset) == (1, far)
        assert (reader.read(), reader.offset) == (7, far + 5)
    with pytest.raises(tb.FormatError) as caught:
        reader.read()
    assert (caught.value.offset, caught.value.record, caught.value.path) == (FAR[1] + 5 + 3, 4, "[1]")


def sparse_file(path):
    """Write a file of the same values; its zeros are holes."""
    with path.open("wb") as file:
        for _ in FAR:
            file.write(b"\0\x7f\xff\xff\xff")
            file.seek(2**31 - 1, os.SEEK_CUR)
            file.write(tb.dumps(7))
    return path


def test_offsets_of_a_scan_beyond_32_bits_are_exact(path):
    with sparse_file(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as pages:
        assert list(tb.index(pages)) == [0, FAR[0], FAR[0] + 5, FAR[1]]
        assert tb.Reader(pages).skip(9) == 4
        assert tb.skip(pages, FAR[0] + 5) == FAR[1]
        assert tb.Decoder().decode_from(pages, FAR[1]) == (7, FAR[1] + 5)
