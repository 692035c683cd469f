"""Compressed input of very many parts with hardly any contents: what it takes, and that none of it is lost.

A decompressor of zstd is for one frame and is expensive to make, so empty frames are passed without one, and very many
very short frames are refused. That the frames passed are empty is for the library to say.
"""

import io
import itertools

import pytest

import typedbytes as tb
from support import short_parts
from typedbytes._base.compression import decompressed
from typedbytes._base.zstd import skip_empty_frames, stored_contents, zstd
from typedbytes.sequencefile._codecs import find

pytestmark = pytest.mark.quick

EMPTY, SKIPPED = zstd.compress(b""), short_parts.SKIPPED


def contents(data):
    """Return what is in a file, and check that a buffer of a SequenceFile gives the same."""
    found = decompressed(io.BytesIO(data)).read()
    assert find("zstd").decompress(data, 1 << 30) == found
    return found


def is_empty_frame(data):
    """Ask the library whether bytes are a whole frame without contents."""
    stream = zstd.ZstdDecompressor()
    try:
        return stream.decompress(data) == b"" and stream.eof and not stream.unused_data
    except zstd.ZstdError:
        return False


@pytest.mark.parametrize("checksum", [b"", bytes.fromhex("99e9d851"), bytes.fromhex("99e9d850"), bytes(4)])
def test_what_is_skipped_is_an_empty_frame_to_the_library(checksum):
    nskipped = 0
    for descriptor, byte, block in itertools.product(
        range(256), range(256), (b"\1\0\0", b"\0\0\0", b"\3\0\0", b"\x09\0\0")
    ):
        data = b"\x28\xb5\x2f\xfd" + bytes([descriptor, byte]) + block + checksum
        end = skip_empty_frames(data)
        assert end in (0, len(data)) or end == 9 and checksum and is_empty_frame(data[:9])
        if end == len(data):
            nskipped += 1
            assert is_empty_frame(data), data.hex()
    assert nskipped == {"": 138, "99e9d851": 138}.get(checksum.hex(), 0)


@pytest.mark.parametrize("size", [0, 1, 255])
def test_only_skippable_frames_without_contents_are_skipped(size):
    for byte in range(256):
        data = bytes([byte]) + b"\x2a\x4d\x18" + size.to_bytes(4, "little") + bytes(size)
        assert skip_empty_frames(data) == (8 if 0x50 <= byte <= 0x5F and size == 0 else 0)
        assert not skip_empty_frames(data) or is_empty_frame(data)


def test_stored_bytes_are_those_that_the_library_finds():
    nstored = 0
    for content in [bytes(range(size)) for size in range(256)] + [bytes(9), b"\x28\xb5\x2f\xfd\x20" * 3]:
        frame = zstd.compress(content)
        for data in (frame, memoryview(frame), frame + b"\0", frame[:-1], frame + EMPTY):
            found = stored_contents(data)
            if found is not None:
                assert zstd.decompress(data) == found
                nstored += 1
        for at in range(min(len(frame), 12)):
            for bit in range(8):
                data = frame[:at] + bytes([frame[at] ^ 1 << bit]) + frame[at + 1 :]
                found = stored_contents(data)
                assert found is None or zstd.decompress(data) == found
    assert nstored > 200
    with pytest.raises(tb.LimitError, match="max_bytes=4"):
        find("zstd").decompress(zstd.compress(b"short"), 4)


@pytest.mark.parametrize(
    "empty", [EMPTY, SKIPPED, EMPTY + SKIPPED, zstd.compress(b"", options={zstd.CompressionParameter.checksum_flag: 1})]
)
@pytest.mark.parametrize("count", [1, 2, 999, 1000, 1001, 30_000])
def test_no_contents_are_lost_between_empty_frames(empty, count):
    first, second = zstd.compress(b"first"), zstd.compress(bytes(range(256)) * 1000)
    data = EMPTY + empty * count + first + empty * count + second + empty * count
    assert contents(data) == b"first" + bytes(range(256)) * 1000


def test_zeros_may_stand_between_empty_frames_of_a_file():
    part = EMPTY + bytes(3) + SKIPPED + zstd.compress(b"a") + bytes(1) + EMPTY * 2 + bytes(70_000)
    assert decompressed(io.BytesIO(part * 5)).read() == b"aaaaa"


@pytest.mark.parametrize("nbytes", range(1, 9))
def test_an_empty_frame_that_is_cut_is_reported(nbytes):
    data = zstd.compress(b"a") + EMPTY * 3 + EMPTY[:nbytes]
    for use in (decompressed(io.BytesIO(data)).read, lambda: find("zstd").decompress(data, 9)):
        with pytest.raises(tb.TruncatedError):
            use()


def test_ten_thousand_short_frames_are_read_and_more_where_others_are_longer():
    short = zstd.compress(b"a")
    assert contents(short * 10_000) == b"a" * 10_000
    assert contents(EMPTY * 50_000 + short * 10_000) == b"a" * 10_000
    many = zstd.compress(bytes(range(64)))
    assert contents(many * 20_000) == bytes(range(64)) * 20_000


def test_a_hundred_thousand_short_frames_are_refused():
    data = zstd.compress(b"a") * 100_000
    message = "expected 32 bytes or more for each zstd frame after the first 10000, not 145"
    with pytest.raises(tb.LimitError, match=message) as caught:
        decompressed(io.BytesIO(data)).readall()
    assert 14_000 < caught.value.offset < 15_000
    with pytest.raises(tb.LimitError, match=message):
        find("zstd").decompress(data, 1 << 30)


@pytest.mark.parametrize("name", short_parts.FAMILIES)
def test_short_parts_are_valid(name):
    make, use = short_parts.FAMILIES[name]
    use(make(20_000))
