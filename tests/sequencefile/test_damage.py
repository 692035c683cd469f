"""SequenceFiles that are not what they should be: cut, flipped, lying about lengths, and what is left of them.

A file may end early or have any byte changed: what comes out is a prefix of its records and one documented error. With
resync=True everything after the next marker is read too, and the skipped parts add up.
"""

import io
import mmap
import random
import struct
import tracemalloc

import pytest

import typedbytes as tb
from support.sequencefiles import CODECS, FORMS, IO, files, header, record
from typedbytes import sequencefile
from typedbytes.sequencefile import _codecs, _native as _sequence

pytestmark = pytest.mark.lowest

KINDS = ["typed", "text-map", "null-null"]
SMALL = [(form, kind) for form in FORMS for kind in (KINDS if "-" not in form or "default" in form else KINDS[::2])]


def taken(data, **options):
    """Return the pairs that come, and the error that ends them, None at the end."""
    pairs = []
    try:
        reader = sequencefile.Reader(data, **options)
        pairs.extend(reader)
    except tb.DecodeError as error:
        return pairs, error
    assert reader.offset == len(data)
    return pairs, None


class Trickle(io.RawIOBase):
    """Give one byte a read."""

    def __init__(self, data):
        self.bytes = iter(data)

    def readable(self):
        return True

    def readinto(self, target):
        for target[0] in self.bytes:
            return 1
        return 0


def said(outcome):
    pairs, error = outcome
    return repr(pairs), error and (type(error), str(error))


@pytest.mark.parametrize("form, kind", SMALL)
def test_every_truncation(form, kind):
    data = files()[f"{form}/{kind}"]
    whole = sequencefile.Reader(data).read_all()
    start = sequencefile.Reader(data).offset
    ends = {start}  # where a file may end without anything missing
    reader = sequencefile.Reader(data)
    for _ in reader:
        ends.add(reader.offset)
    for nbytes in range(len(data)):
        pairs, error = taken(data[:nbytes])
        assert repr(pairs) == repr(whole[: len(pairs)])
        if nbytes in ends:
            assert error is None
            continue
        assert type(error) is tb.TruncatedError
        assert error.offset == nbytes
        assert error.record == (len(pairs) if nbytes >= start else None)
        if "block" not in form:
            assert len(pairs) == len([end for end in ends if end <= nbytes]) - (nbytes >= start)


@pytest.mark.parametrize("form, kind", SMALL)
def test_every_byte_changed(form, kind):
    """Whatever comes, it ends, the same however the bytes come in; with resync only the header can fail."""
    data = files()[f"{form}/{kind}"]
    start = sequencefile.Reader(data).offset
    rng = random.Random(f"{form} {kind}")
    for at in range(len(data)):
        for change in (0x01, rng.randrange(2, 256)):
            bad = bytearray(data)
            bad[at] ^= change
            outcome = taken(bytes(bad), max_bytes=1 << 16)
            again = sequencefile.Reader(bytes(bad), max_bytes=1 << 16, resync=True) if at >= start else None
            if again is not None:
                pairs = again.read_all()
                assert repr(pairs[: len(outcome[0])]) == repr(outcome[0])
                assert bool(again.skipped) == (outcome[1] is not None)
                assert all(type(each.error) is not None and start <= each.offset < len(data) for each in again.skipped)
            if change == 1:
                assert said(outcome) == said(taken_slowly(bytes(bad)))


def taken_slowly(data):
    pairs = []
    try:
        pairs.extend(sequencefile.Reader(Trickle(data), max_bytes=1 << 16))
    except tb.DecodeError as error:
        return pairs, error
    return pairs, None


def marked(compression, codec="default", **options):
    """Return a file of 60 records with a marker every few of them."""
    sink = io.BytesIO()
    with sequencefile.Writer(
        sink, key_class="IntWritable", value_class="Text", compression=compression, codec=codec,
        sync_marker=bytes(range(16)), **{"sync_interval": 150, "block_size": 100, **options},
    ) as writer:  # fmt: skip
        writer.writes((i, f"value {i}") for i in range(60))
    return sink.getvalue()


def with_damaged_bytes(whole, pairs):
    """Return the pairs when no more than one of them has another key or value: a changed byte of a number or a text."""
    assert len(whole) == len(pairs)
    assert sum(one != other for one, other in zip(whole, pairs)) <= 1
    return pairs


def intervals(data):
    """Return (start, end, first record, last record + 1) of what is between markers."""
    marker = b"\xff\xff\xff\xff" + bytes(range(16))
    starts = [sequencefile.Reader(data).offset]
    while (at := data.find(marker, starts[-1] + 1)) >= 0:
        starts.append(at)
    found, nrecords = [], 0
    for start, end in zip(starts, [*starts[1:], len(data)]):
        n = len(sequencefile.Reader(data[: starts[0]] + data[start:end]).read_all())
        found.append((start, end, nrecords, nrecords + n))
        nrecords += n
    return [each for each in found if each[2] < each[3]]


@pytest.mark.parametrize("compression", ["none", "record", "block"])
def test_resync_loses_no_more_than_is_between_two_markers(compression):
    data = marked(compression)
    whole = sequencefile.Reader(data).read_all()
    parts = intervals(data)
    assert len(parts) > 6 and parts[-1][3] == 60
    rng = random.Random(5)
    for start, end, first, last in parts:
        for at in range(start, end):
            bad = bytearray(data)
            bad[at] ^= rng.randrange(1, 256)
            reader = sequencefile.Reader(bytes(bad), resync=True)
            pairs = reader.read_all()
            assert pairs[:first] == whole[:first]
            # A marker that is damaged joins two intervals.
            lost = next(each for each in parts if each[0] >= end)[3] if at < start + 20 and end < len(data) else last
            assert (
                pairs[len(pairs) - (60 - last) :] == whole[last:] or pairs[len(pairs) - (60 - lost) :] == whole[lost:]
            )
            assert len(reader.skipped) <= 2
            for each in reader.skipped:
                assert start - 200 <= each.offset <= end and 0 < each.nbytes <= 2 * (end - start) + 200


@pytest.mark.parametrize("seeks", [True, False])
def test_a_record_that_has_swallowed_the_start_of_a_marker_costs_no_more(seeks):
    sink = io.BytesIO()
    with sequencefile.Writer(
        sink, key_class="IntWritable", value_class="IntWritable", sync_marker=bytes(range(16)), sync_interval=150
    ) as writer:
        writer.writes((i, i) for i in range(60))
    data, whole = sink.getvalue(), [(i, i) for i in range(60)]
    start, end, first, last = intervals(data)[3]
    bad = data[: end - 4] + data[end:]  # the value of the record before the marker is now the marker's first four bytes
    source = io.BytesIO(bad)
    source.seekable = lambda: seeks
    reader = sequencefile.Reader(source, resync=True)
    assert reader.read_all() == [*whole[: last - 1], (last - 1, -1), *whole[last:]]
    (skipped,) = reader.skipped
    assert (skipped.offset, skipped.nbytes, skipped.nrecords) == (end, 0, None)


@pytest.mark.parametrize("raw", [True, False])
def test_bytes_that_are_not_decoded_lose_no_more_than_is_between_two_markers(raw):
    """A byte that is missing moves the lengths after it, to 256 times what they were; only a marker inside tells."""
    name, sink = "Text" if raw else "org.example.Unknown", io.BytesIO()
    with sequencefile.Writer(
        sink, key_class=name, value_class=name, sync_marker=bytes(range(16)), sync_interval=15000
    ) as writer:
        for i in range(3000):
            writer.write_raw(*(bytes([5 + i % 7]) + b"a" * (5 + i % 7) for _ in range(2)))
    data = sink.getvalue()
    whole = sequencefile.Reader(data, raw=True).read_all()
    for start, end, first, last in intervals(data):
        for at in range(start + 20, end, 97):
            reader = sequencefile.Reader(data[:at] + data[at + 1 :], resync=True, raw=raw)
            pairs = [tuple(map(raw_bytes, pair)) for pair in reader]
            assert pairs[:first] == whole[:first] and pairs[len(pairs) - (3000 - last) :] == whole[last:], at


def raw_bytes(value):
    """Return the bytes of a Writable that was not decoded."""
    return value[1] if isinstance(value, tb.Writable) else value


def test_what_was_passed_over_is_reported():
    data = marked("block")
    start, end, first, last = intervals(data)[3]
    bad = data[: start + 26] + bytes(2) + data[start + 28 :]
    reader = sequencefile.Reader(bad, resync=True)
    whole = sequencefile.Reader(data).read_all()
    assert reader.read_all() == whole[:first] + whole[last:]
    (skipped,) = reader.skipped
    assert (skipped.offset, skipped.nbytes, skipped.nrecords) == (start, end - start, last - first)
    assert type(skipped.error) is tb.FormatError and skipped.error.offset == start
    assert skipped.error.record == first


def test_one_bad_value_costs_one_record():
    good = struct.pack(">i", 5)
    data = (
        header(f"{IO}IntWritable", f"{IO}Text") + record(good, b"\1a") + record(good, b"\1\xff") + record(good, b"\1c")
    )
    reader = sequencefile.Reader(data, resync=True)
    assert reader.read_all() == [(5, "a"), (5, "c")]
    (skipped,) = reader.skipped
    offset = len(header(f"{IO}IntWritable", f"{IO}Text")) + 14
    assert (skipped.offset, skipped.nbytes, skipped.nrecords, skipped.error.offset) == (offset, 14, 1, offset + 12)
    assert sequencefile.Reader(data, unicode_errors="replace").read_all()[1] == (5, "\ufffd")


def test_a_reader_that_failed_stays_failed():
    data = files()["none/text-int"]
    reader = sequencefile.Reader(data[:-1])
    nrecords = 0
    with pytest.raises(tb.TruncatedError) as caught:
        for _ in reader:
            nrecords += 1
    for call in (reader.read, reader.read_all, reader.read_typed, reader.skip):
        with pytest.raises(tb.TruncatedError) as again:
            call()
        assert again.value is caught.value
    assert nrecords == reader.record == caught.value.record


def test_blocks_that_are_bad_are_passed_over_by_skipping_too():
    data = marked("block")
    start, end, first, last = intervals(data)[3]
    bad = data[: start + 20] + b"\x80" + data[start + 21 :]
    reader = sequencefile.Reader(bad, resync=True)
    nrecords = len(sequencefile.Reader(data).read_all())
    assert reader.skip(10**9) == nrecords - (last - first)
    assert [(skipped.offset, skipped.nbytes) for skipped in reader.skipped] == [(start, end - start)]


@pytest.mark.parametrize("error", [ValueError("bad"), OSError("bad"), KeyboardInterrupt("bad")], ids=repr)
def test_pairs_before_a_converter_that_raises_are_returned(error):
    def convert(data):
        if data == b"2":
            raise error
        return tb.dumps(data)

    data = header("a.B", "a.B") + b"".join(record(b"k", b"%d" % number) for number in range(4))
    reader = _sequence.Reader(data, find_converters=lambda name, part: (None, convert, None))
    if isinstance(error, Exception):
        assert reader.read_typed(1000) == tb.Encoder().encode_pairs([(b"k", b"0"), (b"k", b"1")])
    for call in (reader.read_typed, reader.read):
        with pytest.raises(type(error), match="bad"):
            call()


def test_writables_that_are_wrong_have_no_typed_bytes():
    for name, value in (("IntWritable", b"abc"), ("MapWritable", b"\0\0\0"), ("SortedMapWritable", b"\0")):
        start = header(f"{IO}NullWritable", IO + name)
        with pytest.raises(tb.DecodeError) as caught:
            sequencefile.Reader(start + record(b"", value)).read_typed()
        assert len(start) <= caught.value.offset <= len(start) + 8 + len(value) and caught.value.record == 0


def test_typed_bytes_before_the_fault_come_first():
    data = files()["none/text-int"]
    whole = sequencefile.Reader(data).read_typed(1 << 20)
    reader = sequencefile.Reader(data[:-1])
    assert whole.startswith(reader.read_typed(1 << 20))
    with pytest.raises(tb.TruncatedError):
        reader.read_typed()


def test_a_boolean_that_is_neither():
    """Java reads it as true, and writes that as 1."""
    data = header(f"{IO}BooleanWritable", f"{IO}BooleanWritable") + record(b"\2", b"\0")
    assert taken(data) == ([(True, False)], None)
    assert sequencefile.Reader(data).read_typed() == b"\x02\1\x02\0"


def test_a_writable_too_long_for_a_length_of_typed_bytes(tmp_path):
    """Code 50 counts the class name too. The file is a hole, which need not be read."""
    start = header(f"{IO}NullWritable", "a.B")
    with open(tmp_path / "f", "w+b") as file:
        file.write(start + struct.pack(">ii", 2**31 - 1, 0))
        file.truncate(len(start) + 8 + 2**31 - 1)
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory:
            with (
                sequencefile.Reader(memory, max_bytes=None) as reader,
                pytest.raises(tb.LimitError, match="2147483647 bytes") as caught,
            ):
                reader.read_typed()
    assert (caught.value.offset, caught.value.record) == (len(start) + 8, 0)


# -- what each part may say -------------------------------------------------------------------------------

START = header(f"{IO}IntWritable", f"{IO}Text")
GOOD = record(struct.pack(">i", 5), b"\1a")
BLOCKS = header(
    f"{IO}IntWritable", f"{IO}Text", compressed=True, blocks=True, codec="org.apache.hadoop.io.compress.DefaultCodec"
)


def vint(number):
    return bytes([number]) if number < 128 else b"\x8e" + number.to_bytes(2, "big")


def block(count, *buffers):
    """Return a block of these four buffers."""
    compressed = [_codecs.find("default").compress(buffer) for buffer in buffers]
    return b"\xff" * 4 + bytes(16) + vint(count) + b"".join(vint(len(each)) + each for each in compressed)


BAD = {
    "no magic": (b"SEK\6", "not a SequenceFile", 0, None),
    "version 3": (b"SEQ\3", "version 3", 3, None),
    "version 7": (b"SEQ\7", "version 7", 3, None),
    "class name not UTF-8": (b"SEQ\6\1\xff", "not UTF-8", 4, None),
    "negative name": (b"SEQ\6\x90", "negative Text length -112", 4, None),
    "blocks without compression": (header("a", "b", blocks=True), "blocks without compression", 9, None),
    "negative metadata": (b"SEQ\6\1a\1b\0\0\xff\xff\xff\xff", "negative metadata count -1", 10, None),
    "unknown codec": (
        header("a", "b", compressed=True, codec="c.D"), "unknown codec 'c.D'; known: default, gzip, ", 0, None,
    ),
    "negative length": (
        START + GOOD + b"\xff\xff\xff\xfe\0\0\0\0", "does not fit record length -2", len(START + GOOD), 1,
    ),
    "negative key": (
        START + b"\0\0\0\4\xff\xff\xff\xff\0\0\0\0", "key length -1 does not fit record length 4", len(START), 0,
    ),
    "key longer than the record": (
        START + b"\0\0\0\4\0\0\0\5\0\0\0\0", "key length 5 does not fit record length 4", len(START), 0,
    ),
    "marker of another file": (START + b"\xff" * 4 + b"x" * 16, "differs from that of the header", len(START), 0),
    "int of three bytes": (
        START + record(b"\0\0\1", b"\1a"), "expected 4 bytes for an IntWritable, got 3", len(START) + 8, 0,
    ),
    "text longer than its record": (
        START + record(bytes(4), b"\2a"), "Text length 2 with 1 bytes left", len(START) + 12, 0,
    ),
    "text shorter than its record": (
        START + record(bytes(4), b"\0a"), "Text length 0 with 1 bytes left", len(START) + 12, 0,
    ),
    "text of no bytes": (
        START + record(bytes(4), b""), "expected at least 1 byte for a Text, got 0", len(START) + 12, 0,
    ),
    "block without a marker": (BLOCKS + GOOD, "expected a sync marker at the start of a block", len(BLOCKS), 0),
    "negative count": (
        BLOCKS + block(0, b"", b"", b"", b"").replace(bytes(17), bytes(16) + b"\x90", 2),
        "invalid count or length -112 in a block", None, 0,
    ),
    "too few lengths": (
        BLOCKS + block(2, b"\4", bytes(4), b"\2\2", b"\1a\1b"), "2 records has 1 key lengths", len(BLOCKS), 0,
    ),
    "too many lengths": (
        BLOCKS + block(1, b"\4\0", bytes(4), b"\2", b"\1a"), "1 records has 2 key lengths", len(BLOCKS), 0,
    ),
    "lengths beyond the data": (
        BLOCKS + block(1, b"\5", bytes(4), b"\2", b"\1a"), "key length 5 in a block with 4", len(BLOCKS), 0,
    ),
    "lengths whose sum wraps round": (
        BLOCKS
        + block(3, b"\x88\x7f" + b"\xff" * 7 + b"\x88\x7f" + b"\xff" * 7 + b"\6", bytes(4), b"\2\2\2", b"\1a" * 3),
        "key length 9223372036854775807 in a block with 4",
        len(BLOCKS),
        0,
    ),
    "data beyond the lengths": (
        BLOCKS + block(1, b"\3", bytes(4), b"\2", b"\1a"), "and 1 bytes after its keys", len(BLOCKS), 0,
    ),
    "negative value length": (
        BLOCKS + block(1, b"\4", bytes(4), b"\xff", b""), "value length -1 in a block with", len(BLOCKS), 0,
    ),
    "a truncated length": (
        BLOCKS + block(1, b"\4", bytes(4), b"\x8e\1", b""), "value length of a block is truncated", len(BLOCKS), 0,
    ),
    "a bad value in a block": (
        BLOCKS + block(2, b"\4\4", bytes(8), b"\2\2", b"\1a\1\xff"),
        "Text is not UTF-8: invalid start byte at its byte 0, byte 0 of the decompressed value", len(BLOCKS), 1,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_and_where(name):
    data, message, offset, index = BAD[name]
    pairs, error = taken(data)
    assert type(error) is tb.FormatError
    assert message in str(error)
    if offset is not None:
        assert error.offset == offset
    assert error.record == index and len(pairs) == (index or 0)


TYPED = "org.apache.hadoop.typedbytes.TypedBytesWritable"


@pytest.mark.parametrize(
    "value, kind, offset, path",
    [
        (b"\x03\0\0", tb.TruncatedError, 7, ""),
        (b"\x0d", tb.FormatError, 4, ""),
        (b"\x02\1\x02\1", tb.FormatError, 6, ""),
        (b"\x08\0\0\0\2\x02\1\xff", tb.FormatError, 11, "[1]"),
        (b"\x09" * 300, tb.LimitError, 4 + 256, "[0]" * 256),
    ],
)
def test_typed_bytes_that_are_wrong(value, kind, offset, path):
    key = b"\0\0\0\2\x02\1"
    start = header(TYPED, TYPED)
    data = start + record(key, len(value).to_bytes(4, "big") + value)
    pairs, error = taken(data)
    assert (pairs, type(error), error.path, error.record) == ([], kind, path, 0)
    assert error.offset == len(start) + 8 + len(key) + offset
    reader = sequencefile.Reader(data)
    with pytest.raises(kind) as caught:
        reader.read_typed()
    assert caught.value.offset == error.offset
    # the same inside a compressed value is reported by the record, and the offset in the value
    compressed = record(key, _codecs.find("default").compress(len(value).to_bytes(4, "big") + value))
    start = header(TYPED, TYPED, compressed=True, codec="org.apache.hadoop.io.compress.DefaultCodec")
    _, error = taken(start + compressed)
    assert (type(error), error.offset, error.path) == (kind, len(start), path)
    assert f"byte {offset} of the decompressed value" in str(error)


def test_typed_bytes_of_another_length():
    start = header(TYPED, TYPED)
    _, error = taken(start + record(b"\0\0\0\3\x02\1", b"\0\0\0\2\x02\1"))
    assert "expected 7 bytes for a TypedBytesWritable, got 6" in str(error) and error.offset == len(start) + 8
    _, error = taken(start + record(b"\xff\xff\xff\xf9\x02\1", b"\0\0\0\2\x02\1"))
    assert "negative length -7 in a TypedBytesWritable" in str(error) and error.offset == len(start) + 8


def test_what_follows_the_value_in_typed_bytes():
    start = header(TYPED, TYPED)
    _, error = taken(start + record(b"\0\0\0\3\x02\1\2", b"\0\0\0\2\x02\1"))
    assert str(error).startswith("1 byte after the value at offset")


# -- limits -----------------------------------------------------------------------------------------------

WRITES = [codec for codec in CODECS if codec != "lzo"]


@pytest.mark.parametrize("codec", WRITES)
@pytest.mark.parametrize("compression", ["record", "block"])
def test_a_decompression_bomb_stays_small(codec, compression):
    sink = io.BytesIO()
    with sequencefile.Writer(sink, value_class="BytesWritable", compression=compression, codec=codec) as writer:
        writer.write(1, bytes(20_000_000))
    tracemalloc.start()
    try:
        pairs, error = taken(sink.getvalue(), max_bytes=1 << 20)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert pairs == [] and type(error) is tb.LimitError and "max_bytes=1048576" in str(error)
    assert peak < 8_000_000 + 2 * len(sink.getvalue())
    assert taken(sink.getvalue(), max_bytes=None)[1] is None


def test_a_long_record_is_refused_before_it_is_read():
    data = START + GOOD + struct.pack(">ii", 2**31 - 1, 4)
    pairs, error = taken(data, max_bytes=100)
    assert len(pairs) == 1 and type(error) is tb.LimitError and error.offset == len(START + GOOD)
    assert type(taken(data)[1]) is tb.LimitError
    assert type(taken(data, max_bytes=None)[1]) is tb.TruncatedError


@pytest.mark.parametrize(
    "codec, data",
    [
        ("snappy", struct.pack(">II", 1 << 30, 6) + b"\xff\xff\xff\xff\3a"),
        ("snappy", struct.pack(">II", 1 << 20, 5) + b"\x80\x80\x40ab"),
        ("lz4", struct.pack(">II", 1 << 27, 4) + b"\x1fa\1\0"),
        ("lzo", struct.pack(">II", 1 << 27, 4) + b"\x1fa\1\0"),
        ("snappy", struct.pack(">II", 10, 0)),
        ("lz4", struct.pack(">II", 10, 0)),
        ("lz4", b"\0\0"),
        ("snappy", struct.pack(">II", 10, 1 << 31)),
    ],
)
def test_chunks_with_a_declared_length_that_is_too_large(codec, data):
    tracemalloc.start()
    try:
        with pytest.raises((tb.FormatError, tb.TruncatedError, tb.LimitError)):
            _codecs.find(codec).decompress(data, 1 << 28)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


STREAMS = ["default", "gzip", "bzip2", "zstd"]


@pytest.mark.parametrize("codec", STREAMS)
def test_streams_in_a_row(codec):
    """Some short, some longer than one piece; an end within any is reported, and the limit counts them all."""
    decompress, compress = _codecs.find(codec)[1:]
    rng = random.Random(codec)
    parts = [rng.randbytes(nbytes) for nbytes in (10, 0, 5000, 1, 1023, 1024, 0, 100_000, 3)]
    whole = b"".join(parts)
    streams = [compress(part) for part in parts]
    data = b"".join(streams)
    for given in (data, memoryview(data), bytearray(data)):
        assert decompress(given, len(whole)) == whole
    with pytest.raises(tb.LimitError):
        decompress(data, len(whole) - 1)
    ends = {sum(map(len, streams[:n])) for n in range(len(streams) + 1)}
    for nbytes in sorted(
        {rng.randrange(len(data)) for _ in range(100)} | {end + 1 for end in ends} | {end - 1 for end in ends}
    ):
        if nbytes in ends or not 0 < nbytes < len(data):
            continue
        with pytest.raises(tb.TruncatedError):
            decompress(data[:nbytes], len(whole))
    with pytest.raises(tb.FormatError):
        decompress(data + b"nothing that is compressed", len(whole))


def test_a_great_many_streams_that_hold_nothing():
    """Each takes as long as it is: copying for each all that is left would take a quarter of a minute."""
    assert _codecs.find("default").decompress(_codecs.find("default").compress(b"") * 400_000, 1) == b""


@pytest.mark.parametrize("codec", WRITES)
def test_random_bytes_are_not_compressed_bytes(codec):
    decompress = _codecs.find(codec).decompress
    good = _codecs.find(codec).compress(b"some bytes " * 50)
    rng = random.Random(codec)
    for _ in range(300):
        data = bytearray(rng.randbytes(rng.randrange(60)) if rng.random() < 0.3 else good)
        for _ in range(rng.randrange(4)):
            if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            assert type(decompress(bytes(data), 1 << 16)) is bytes
        except tb.DecodeError:
            pass


NESTED = b"\0\2" + b"\0\x24org.apache.hadoop.io.ObjectWritable"


@pytest.mark.parametrize(
    "class_name, data",
    [
        ("MapWritable", b"\0\0\0\0\1\x8c\1a\x01"),
        ("MapWritable", b"\0\x7f\xff\xff\xff"),
        ("MapWritable", b"\0\xff\xff\xff\xff"),
        ("MapWritable", b"\0" + (b"\0\0\0\1\x89" + b"\x87\0") * 100),
        ("MapWritable", b"\0\0\0\0\2\x82\1\x89\x85\0\0\0\1\x89extra"),  # true and 1: no dict, but an end
        ("ObjectWritable", b"\0\3int\0\0"),
        ("ObjectWritable", b"\0\2\xff\xfe"),
        ("ObjectWritable", b"\0\x13[Ljava.lang.Object;\0\0\0\1" * 70),
        ("ArrayPrimitiveWritable", b"\0\4long\x7f\xff\xff\xff"),
        ("ArrayPrimitiveWritable", b"\0\4void\0\0\0\1"),
        ("ArrayPrimitiveWritable", b"\0\3int\0\0\0\1\0\0\0\1extra"),
        ("VIntWritable", b"\x88\x7f\xff\xff\xff\xff\xff\xff\xff"),
        ("VIntWritable", b"\x8c\1"),
        ("VIntWritable", b""),
        ("NullWritable", b"a"),
        ("BooleanWritable", b""),
    ],
)
def test_writables_that_are_wrong(class_name, data):
    """They are checked to their end, also where keys of a MapWritable are one key in Python."""
    with pytest.raises(tb.DecodeError) as caught:
        sequencefile.decode(class_name, data)
    assert 0 <= caught.value.offset <= len(data)


HALF = b"\0\3\xed\xa0\x80"  # of a surrogate pair, as Java writes the text "\ud800"


@pytest.mark.parametrize("class_name, start", [("UTF8", b""), ("ObjectWritable", b"\0\x10java.lang.String")])
def test_half_of_a_surrogate_pair_is_not_replaced(class_name, start):
    with pytest.raises(tb.FormatError, match="^text with half of a surrogate pair at offset") as caught:
        sequencefile.decode(class_name, start + HALF)
    assert caught.value.offset == len(start)
    assert sequencefile.decode(class_name, start + b"\0\6\xed\xa0\xbd\xed\xb8\x80") == "\U0001f600"
    assert sequencefile.decode(class_name, start + b"\0\x05\xef\xbb\xbf\xc0\x80") == "\ufeff\0"


def test_typed_bytes_of_a_map_keep_half_of_a_surrogate_pair():
    name = f"{IO}UTF8".encode()
    # an IntWritable and an UTF8
    value = b"\1\1" + len(name).to_bytes(2, "big") + name + b"\0\0\0\1\x85\0\0\0\1\1" + HALF
    typed = sequencefile.Reader(header(f"{IO}NullWritable", f"{IO}MapWritable") + record(b"", value)).read_typed()
    ((_, pairs),) = tb.Decoder(map_pairs=True).decode_pairs(typed)
    assert pairs == [(1, tb.Writable(f"{IO}UTF8", HALF))]


LATIN = b"\0\0\0\0\1\x8c\1a\x8c\1\xe9"  # a map of the Text "a" to a Text that is not UTF-8


@pytest.mark.parametrize(("class_name", "data", "expected"), [
    ("MapWritable", LATIN, {"a": "\udce9"}),
    ("UTF8", b"\0\1\xe9", "\udce9"),
    ("ObjectWritable", b"\0\x10java.lang.String\0\1\xe9", "\udce9"),
])  # fmt: skip
def test_text_that_is_not_utf_8_inside_a_writable(class_name, data, expected):
    with pytest.raises(tb.FormatError, match="text is not UTF-8: ") as caught:
        sequencefile.decode(class_name, data)
    assert (caught.value.option, caught.value.record) == ("unicode_errors", None)
    assert sequencefile.decode(class_name, data, unicode_errors="surrogateescape") == expected
    file = header(f"{IO}NullWritable", f"{IO}{class_name}") + record(b"", data)
    assert list(sequencefile.Reader(file, unicode_errors="surrogateescape")) == [(None, expected)]


def test_typed_bytes_of_a_map_keep_the_bytes_of_text():
    typed = sequencefile.Reader(header(f"{IO}Text", f"{IO}MapWritable") + record(b"\1k", LATIN)).read_typed()
    assert typed == b"\7\0\0\0\1k\n\0\0\0\1\7\0\0\0\1a\7\0\0\0\1\xe9"


@pytest.mark.parametrize("kind", ["text-map", "int-sortedmap", "text-object", "text-primitives"])
def test_self_describing_writables_cut_and_changed(kind):
    reader = sequencefile.Reader(files()[f"none/{kind}"], raw=True)
    for key, value in reader:
        if key == b"\5array":
            continue  # stays as it is
        for nbytes in range(len(value)):
            with pytest.raises(tb.DecodeError):
                sequencefile.decode(reader.value_class, value[:nbytes])
        for at in range(len(value)):
            bad = bytearray(value)
            bad[at] ^= 0x11
            try:
                sequencefile.decode(reader.value_class, bytes(bad))
            except tb.DecodeError as error:
                assert 0 <= error.offset <= len(bad)
