"""The reader and writer of SequenceFiles: round trips, sync markers, blocks, splits, memory."""

import contextlib
import ctypes
import io
import itertools
import mmap
import pathlib
import random
import struct

import hypothesis.strategies as st
import pytest
from hypothesis import given

import typedbytes as tb
from support import reference
from support.sequencefiles import IO, files, kinds, record
from support.small_sequencefiles import FORMS, MARKER, NUMBERS, pairs_of, written
from support.strategies import examples, values
from support.subprocess_runs import run_fresh
from typedbytes import sequencefile
from typedbytes._core import PairIterator
from typedbytes.sequencefile import _codecs

pytestmark = [pytest.mark.newest_python, pytest.mark.lowest]

# -- round trips ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compression, codec", FORMS)
@examples(40)
@given(pairs=st.lists(st.tuples(values, values), max_size=8), block_size=st.integers(1, 200))
def test_typed_bytes_come_back(compression, codec, pairs, block_size):
    data = written(pairs, compression=compression, codec=codec, block_size=block_size, sync_interval=50)
    plain = tb.Encoder().encode_pairs(pairs)
    assert sequencefile.Reader(data).read_typed(1 << 30) == plain
    options = {"exact": True, "map_pairs": True, "pickle": "raw"}
    assert repr(pairs_of(data, **options)) == repr(tb.Decoder(**options).decode_pairs(plain))


#: Its Writable has 143 bytes, and the vint of 143 is the byte 143 twice:
#: to take the first byte as the length would seem right.
LONG_TEXT = "a" * 134
MANY = [
    (key, value)
    for key in ("k", 5, 2**40, (1,), LONG_TEXT)
    for value in (1, 2**40, "a" * 118, LONG_TEXT, [1], b"", 1.5)
] * 100


@pytest.mark.parametrize("nbytes", [1, 100, 5_000, 1 << 30])
@pytest.mark.parametrize("block_size", [300, 10_000, 1 << 29])
def test_typed_bytes_of_blocks(block_size, nbytes):
    """As many whole pairs as were asked for, each with the offset of its block."""
    pairs = random.Random(1).sample(MANY, len(MANY))
    data = written(pairs, compression="block", block_size=block_size)
    beside = sequencefile.Reader(data)
    expected, end = [[b"", []]], beside.offset
    for key, value in pairs:
        assert beside.read() == (key, value)
        if beside.offset != end:
            start, end = end, beside.offset
        if len(expected[-1][0]) >= nbytes:
            expected.append([b"", []])
        expected[-1][0] += tb.dumps(key) + tb.dumps(value)
        expected[-1][1].append(start)
    reader = sequencefile.Reader(data)
    assert list(iter(lambda: reader.read_typed(nbytes), b"")) == [encoded for encoded, _ in expected]
    assert reader.record == len(pairs)
    reader = sequencefile.Reader(data)
    found = iter(lambda: reader.__read_encoded__(nbytes), (b"", b""))
    assert [[encoded, memoryview(starts).cast("q").tolist()] for encoded, starts in found] == expected


def test_typed_bytes_of_a_block_before_a_bad_value():
    """A length inside a value that is one too large, after many that are right."""
    sink = io.BytesIO()
    with sequencefile.Writer(sink, compression="block") as writer:
        for number in range(1500):
            writer.write(number, 1.5)
        writer.write_raw(struct.pack(">i", 5) + tb.dumps(1500), struct.pack(">i", 10) + tb.dumps(1.5))
        writer.write(1501, 1.5)
    reader = sequencefile.Reader(sink.getvalue())
    assert tb.Decoder().decode_pairs(reader.read_typed(1 << 30)) == [(number, 1.5) for number in range(1500)]
    with pytest.raises(tb.DecodeError) as caught:
        reader.read_typed(1 << 30)
    assert caught.value.record == 1500
    reader = sequencefile.Reader(sink.getvalue(), resync=True)
    assert tb.Decoder().decode_pairs(reader.read_typed(1 << 30)) == [(number, 1.5) for number in (*range(1500), 1501)]
    assert [skipped.nrecords for skipped in reader.skipped] == [1]


@pytest.mark.parametrize(
    "options", [{}, {"exact": True}, {"pickle": "raw"}, {"max_bytes": 1 << 20}, {"raw": True}], ids=str
)
@pytest.mark.parametrize("compression, codec", FORMS)
def test_pairs_of_a_task_are_those_of_the_reader(compression, codec, options):
    """Without the fast path for two scalars: a reader iterated over, one record after the other."""
    pairs = [
        *MANY[:70],
        *((scalar, scalar) for scalar in (True, tb.Byte(3), 2.5, tb.Float(0.5), "\N{SNOWMAN}", None, 1 << 70, {})),
        *MANY,
    ]
    data = written(pairs, compression=compression, codec=codec, block_size=5000, sync_interval=300)
    plain = {name: value for name, value in options.items() if name != "raw"}
    taken = PairIterator(sequencefile.Reader(data, **options))
    assert repr(list(taken)) == repr(pairs_of(data, **plain))
    for wrong in (data[:-1], data[:-100]):
        taken, reader = PairIterator(sequencefile.Reader(wrong, **options)), sequencefile.Reader(wrong, **plain)
        found = [[], []]
        for records, kept in zip((taken, reader), found):
            with pytest.raises(tb.DecodeError) as caught:
                kept.extend(iter(lambda: next(records), None))  # noqa: B023
            kept.append(str(caught.value))
        assert repr(found[0]) == repr(found[1])


@pytest.mark.parametrize("compression, codec", FORMS)
def test_damage_is_skipped_by_a_task_as_by_the_reader(compression, codec):
    data = written(MANY[:40], compression=compression, codec=codec, block_size=300, sync_interval=1000)
    start = data.index(MARKER) + 16
    reader = sequencefile.Reader(data)
    reader.read()
    in_second_key = reader.offset + 8 + 3  # where records are not compressed: the length within the key
    for first, at in itertools.product((None, in_second_key), range(start, len(data))):
        damaged = bytearray(data)
        damaged[at] ^= 0x41
        if first is not None:
            damaged[first] ^= 0x41
        taken, iterated = (sequencefile.Reader(damaged, resync=True) for _ in range(2))
        assert repr(list(PairIterator(taken))) == repr(list(iterated)), (first, at)
        assert repr(taken.skipped) == repr(iterated.skipped) and taken.record == iterated.record


INTS = {
    "IntWritable": 32,
    "LongWritable": 64,
    "VIntWritable": 32,
    "VLongWritable": 64,
    "ShortWritable": 16,
    "ByteWritable": 8,
}


@pytest.mark.parametrize("name", INTS)
@given(data=st.data())
def test_numbers_come_back(name, data):
    least = -(1 << INTS[name] - 1)
    number = data.draw(st.integers(least, -least - 1))
    encoded = sequencefile.encode(name, number)
    assert sequencefile.decode(name, encoded) == number
    assert pairs_of(written([(number, None)], key_class=name, value_class="NullWritable")) == [(number, None)]


@pytest.mark.parametrize("name", ["Point", "", "text"])
def test_a_class_in_no_package_keeps_its_name(name):
    point = tb.Writable(name, b"\x01")
    data = written([(point, None)], key_class=name, value_class="NullWritable")
    assert sequencefile.Reader(data).key_class == name
    assert sequencefile.decode(name, b"\x01") == point == pairs_of(data)[0][0]


@pytest.mark.parametrize("name", INTS)
def test_numbers_beyond_a_class(name):
    least = -(1 << INTS[name] - 1)
    for number in (least, -least - 1):
        assert sequencefile.decode(name, sequencefile.encode(name, number)) == number
    for number in (least - 1, -least, 1 << 80):
        with pytest.raises(tb.EncodeValueError, match=name):
            sequencefile.encode(name, number)


@pytest.mark.parametrize(
    "name, obj",
    [
        ("IntWritable", "1"), ("IntWritable", True), ("IntWritable", 1.0), ("Text", b"a"), ("BytesWritable", "a"),
        ("BytesWritable", 5), ("NullWritable", 0), ("BooleanWritable", 1), ("DoubleWritable", "1"),
        ("FloatWritable", True), ("a.B", "text"), ("a.B", tb.Writable("a.C", b"")), ("TypedBytesWritable", object()),
    ],
)  # fmt: skip
def test_objects_that_a_class_cannot_hold(name, obj):
    with pytest.raises(tb.EncodeTypeError):
        sequencefile.encode(name, obj)
    sink = io.BytesIO()
    with sequencefile.Writer(sink, key_class=name, value_class=name) as writer:
        with pytest.raises(tb.EncodeTypeError):
            writer.write(obj, obj)
        assert writer.record == 0
    assert pairs_of(sink.getvalue()) == []


@pytest.mark.parametrize("obj", ["\ud800", 1e300, 10**400])
def test_values_that_a_class_cannot_hold(obj):
    name = "Text" if type(obj) is str else "FloatWritable"
    with pytest.raises(tb.EncodeValueError):
        sequencefile.encode(name, obj)


def test_bytes_longer_than_a_record_can_be():
    huge = (ctypes.c_ubyte * 2**31).from_address(4096)  # they must not be read
    for name in ("BytesWritable", "a.B"):
        with pytest.raises(tb.EncodeValueError, match="2147483648 bytes"):
            sequencefile.encode(name, huge)
    sink = io.BytesIO()
    with sequencefile.Writer(sink, sync_marker=MARKER) as writer:
        with pytest.raises(tb.EncodeValueError, match="2147483648 bytes"):
            writer.write_raw(b"key", huge)
        writer.write(1, 2)
    assert sink.getvalue() == written([(1, 2)])


@pytest.mark.once  # gigabytes, where every Python does the same
def test_a_value_longer_than_a_record_can_be():
    # Of one byte more the codec itself says that it is too long. Pages that were never written
    # to are one page of zeros.
    with mmap.mmap(-1, 2**31 - 1, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ) as pages:
        with contextlib.suppress(OSError):  # a kernel without huge pages: the same, after 512 times as many page faults
            pages.madvise(mmap.MADV_HUGEPAGE)
        with memoryview(pages) as view, pytest.raises(tb.EncodeValueError, match="2147483656 bytes is too long"):
            sequencefile.encode("TypedBytesWritable", view)


def test_text_longer_than_a_record_can_be():
    text = "".join(map(chr, range(48, 58)))  # nothing else refers to it
    length = ctypes.c_ssize_t.from_address(id(text) + object.__basicsize__)
    length.value = 2**31 - 1  # what is there must not be read
    try:
        with pytest.raises(tb.EncodeValueError, match="2147483647 bytes is too long"):
            sequencefile.encode("Text", text)
    finally:
        length.value = 10


def test_floats_keep_their_bits():
    for number in (1.5, -0.0, float("inf"), 2.0**-149):
        assert sequencefile.encode("FloatWritable", number) == struct.pack(">f", number)
        assert sequencefile.encode("DoubleWritable", number) == struct.pack(">d", number)
    assert sequencefile.encode("DoubleWritable", 7) == struct.pack(">d", 7)


def test_text_with_the_errors_of_the_option():
    data = written([("a\udcff", 1)], key_class="Text", unicode_errors="surrogateescape")
    assert pairs_of(data, unicode_errors="surrogateescape") == [("a\udcff", 1)]
    with pytest.raises(tb.FormatError, match="not UTF-8"):
        pairs_of(data)


@pytest.mark.parametrize("compression, codec", FORMS)
def test_a_record_that_fails_leaves_nothing(compression, codec):
    sink = io.BytesIO()
    with sequencefile.Writer(sink, compression=compression, codec=codec, sync_interval=10, block_size=20) as writer:
        for i in range(30):
            writer.write(i, "good")
            with pytest.raises(tb.EncodeTypeError):
                writer.write("key", object())
            with pytest.raises(tb.EncodeTypeError):
                writer.write(object(), "value")
    assert pairs_of(sink.getvalue()) == [(i, "good") for i in range(30)]


@pytest.mark.parametrize("compression, codec", FORMS)
@pytest.mark.parametrize("error", [KeyError, StopIteration, KeyboardInterrupt])
def test_what_a_hook_raises_keeps_the_records_before_it(compression, codec, error):
    def default(obj):
        raise error("from the hook")

    sink = io.BytesIO()
    with sequencefile.Writer(sink, compression=compression, codec=codec, default=default) as writer:
        for pair in (("key", object()), (object(), "value")):
            with pytest.raises(error, match="from the hook"):
                writer.writes([*NUMBERS[:10], pair, *NUMBERS])
        assert writer.record == 20
        writer.write("last", 1)
    assert pairs_of(sink.getvalue()) == [*NUMBERS[:10] * 2, ("last", 1)]


def test_a_record_that_fails_leaves_no_depth():
    sink = io.BytesIO()
    with sequencefile.Writer(sink, max_depth=2) as writer:
        for i in range(3):
            for pair in ((i, [[object()]]), ([[object()]], i), ([[i]], [[[i]]])):
                with pytest.raises(tb.EncodeError):
                    writer.writes([pair])
            assert writer.writes([([[i]], [[i]])]) == 1
    assert pairs_of(sink.getvalue(), map_pairs=True) == [([[i]], [[i]]) for i in range(3)]


def test_user_defined_classes():
    name = "com.example.Point"

    def pack(point):
        return struct.pack(">ii", *point)

    data = written([((1, 2), (3, 4))], key_class=name, value_class=name, encoders={name: pack})
    assert pairs_of(data) == [(tb.Writable(name, pack((1, 2))), tb.Writable(name, pack((3, 4))))]
    decoders = {name: lambda data: struct.unpack(">ii", data)}
    assert pairs_of(data, decoders=decoders) == [((1, 2), (3, 4))]
    assert tb.Decoder().decode_pairs(sequencefile.Reader(data, decoders=decoders).read_typed()) == [((1, 2), (3, 4))]
    again = written(pairs_of(data), key_class=name, value_class=name)
    assert again == data == written(pairs_of(data, raw=True), key_class=name, value_class=name)
    with pytest.raises(struct.error):
        pairs_of(written([(b"short", b"")], key_class=name, value_class=name), decoders=decoders)


def test_functions_in_place_of_the_classes_that_are_known():
    """As for Text in another encoding than UTF-8, or a number that means a date."""
    words, short = ["中文", "a", ""], {"Text": lambda text: b"%c" % len(text.encode("gbk")) + text.encode("gbk")}
    data = written(enumerate(words), key_class="IntWritable", value_class="Text", encoders=short)
    raw = [
        (i.to_bytes(4, "big"), bytes([len(word.encode("gbk"))]) + word.encode("gbk")) for i, word in enumerate(words)
    ]
    assert pairs_of(data, raw=True) == raw
    with pytest.raises(tb.FormatError, match="Text is not UTF-8"):
        pairs_of(data)
    for names in ("Text", "IntWritable"), ("org.apache.hadoop.io.Text", "org.apache.hadoop.io.IntWritable"):
        decoders = dict(zip(names, (lambda body: body[1:].decode("gbk"), lambda body: ("number", body))))
        expected = [(("number", key), word) for (key, _), word in zip(raw, words)]
        assert pairs_of(data, decoders=decoders) == expected
        assert tb.Decoder().decode_pairs(sequencefile.Reader(data, decoders=decoders).read_typed()) == expected
        assert sequencefile.decode(names[0], raw[0][1], decoders=decoders) == words[0]
        assert sequencefile.encode(names[0], words[0], encoders={names[0]: short["Text"]}) == raw[0][1]
    assert pairs_of(written([(1, 2)]), decoders={"TypedBytesWritable": lambda body: body[4:]}) == [
        (tb.dumps(1), tb.dumps(2))
    ]
    with pytest.raises(KeyError):
        pairs_of(data, decoders={"Text": {}.__getitem__})


@pytest.mark.parametrize("compression", ["record", "block"])
@pytest.mark.parametrize("name, ours", [("deflate.JdkDeflateCodec", "default"), ("bzip2.BZip2Codec", "bzip2")])
def test_names_of_aircompressors_codecs(name, ours, compression):
    """test_hadoop.py has files of these classes themselves."""
    pairs = [("a", 1), ("b", 2)]
    data = written(pairs, compression=compression, codec=f"io.airlift.compress.{name}")
    assert pairs_of(data) == pairs and sequencefile.Reader(data).codec == f"io.airlift.compress.{name}"
    assert pairs_of(data, raw=True) == pairs_of(written(pairs, compression=compression, codec=ours), raw=True)


# -- markers, blocks, buffers -----------------------------------------------------------------------------


def test_markers_are_where_hadoop_writes_them():
    data = written(NUMBERS, key_class="IntWritable", value_class="Text", sync_interval=1000)
    start = sequencefile.Reader(data).offset
    offsets = [at for at in range(start, len(data)) if data.startswith(b"\xff" * 4 + MARKER, at)]
    last, at = 0, start
    expected = []
    for key, value in NUMBERS:
        if at >= last + 1000:
            expected.append(at)
            last = at = at + 20
        at += len(record(bytes(4), b"\0" + value.encode()))
    assert offsets == expected and len(offsets) > 15


def test_an_interval_that_never_ends():
    """The offset of the next marker would wrap, and each record have one."""
    sink = io.BytesIO()
    with sequencefile.Writer(sink, sync_marker=MARKER, sync_interval=2**63 - 1) as writer:
        writer.sync()
        writer.writes(NUMBERS)
    assert sink.getvalue().count(MARKER) == 2 and pairs_of(sink.getvalue()) == NUMBERS


def test_sync_writes_one_marker():
    sink = io.BytesIO()
    with sequencefile.Writer(sink, sync_marker=MARKER) as writer:
        writer.write(1, 2)
        writer.sync()
        writer.sync()
    assert sink.getvalue().endswith(b"\xff" * 4 + MARKER) and sink.getvalue().count(MARKER) == 2
    assert pairs_of(sink.getvalue()) == [(1, 2)]


def test_blocks_end_at_their_size_and_on_request():
    sink = io.BytesIO()
    with sequencefile.Writer(sink, compression="block", sync_marker=MARKER, block_size=90) as writer:
        writer.writes((i, i) for i in range(10))  # of 18 bytes each
        assert sink.getvalue().count(MARKER) == 0
        writer.flush()
        assert sink.getvalue().count(MARKER) == 3
        writer.write("last", 1)
        writer.sync()
        writer.sync()
        writer.flush()
        assert sink.getvalue().count(MARKER) == 4
        assert writer.offset == len(sink.getvalue())
    assert len(pairs_of(sink.getvalue())) == 11


@pytest.mark.parametrize("compression, codec", FORMS)
def test_records_larger_than_every_buffer(compression, codec):
    noise = random.Random(1).randbytes(3_000_000)
    pairs = [("small", 1), (noise, noise[::-1]), ("small", 2), ("large", noise), (b"", b"")]
    data = written(pairs, compression=compression, codec=codec)
    assert pairs_of(data) == pairs_of(io.BytesIO(data)) == pairs


#: Bytes that a Writer gathers at most before its buffer grows.
CAPACITY = 65536 + 8192

AT_THE_END = [1, 1 << 40, 1 << 80, True, 1.5, "text", "t\xebxt", b"", b"bytes", (1, "a"), [2.5], {}]


@pytest.mark.parametrize("value, options", [*((value, {}) for value in AT_THE_END), (1, {"int_width": 64})])
def test_records_that_end_where_the_buffer_does(value, options):
    start = written([])
    for left in range(-30, 60):  # after the key, which has 17 bytes of lengths and code in front of it
        key = bytes(CAPACITY - len(start) - 17 - left)
        sides = [reference.dumps(side, **options) for side in (key, value)]
        expected = start + record(*(struct.pack(">i", len(side)) + side for side in sides))
        assert written([(key, value)], **options) == expected


def test_skip():
    for compression, codec in FORMS:
        data = written(NUMBERS, compression=compression, codec=codec, block_size=500)
        for step in (1, 7, 40, 999, 1000, 5000):
            reader = sequencefile.Reader(data)
            assert reader.skip(step) == min(step, 1000)
            assert reader.record == min(step, 1000)
            assert reader.read_all() == NUMBERS[step:]
            assert reader.skip() == 0
        reader = sequencefile.Reader(data)
        assert reader.skip(0) == reader.skip(-1) == 0 and reader.read() == NUMBERS[0]


def test_blocks_that_are_skipped_are_not_decompressed():
    data = written(NUMBERS, compression="block", block_size=500)
    at = data.index(MARKER, data.index(MARKER) + 1) + 20
    bad = data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]
    assert sequencefile.Reader(bad).skip(5000) == 1000
    with pytest.raises(tb.FormatError):
        sequencefile.Reader(bad).read_all()


def test_seek():
    for compression, codec in FORMS:
        sink = io.BytesIO()
        offsets = []
        with sequencefile.Writer(sink, compression=compression, codec=codec, block_size=400) as writer:
            for i in range(500):
                if compression == "block":
                    if i % 50 == 0:
                        writer.sync()
                        offsets.append((writer.offset, i))
                else:
                    offsets.append((writer.offset, i))
                writer.write(i, str(i))
        for source in (sink.getvalue(), io.BytesIO(sink.getvalue())):
            reader = sequencefile.Reader(source)
            random.Random(1).shuffle(offsets)
            for offset, i in offsets:
                reader.seek(offset)
                assert reader.read() == (i, str(i))
            with pytest.raises(ValueError, match="inside the header"):
                reader.seek(5)
            reader.seek(10**9)
            assert reader.read() is None
    data = written([(i, "x" * 1000) for i in range(1000)])
    offsets = [offset for offset in range(len(data)) if data[offset : offset + 20] == b"\xff" * 4 + MARKER]
    for offset in (offsets[0], offsets[-1]):
        ahead, beside = sequencefile.Reader(Pipe(data)), sequencefile.Reader(data)
        ahead.seek(offset)
        beside.seek(offset)
        assert ahead.read_all() == beside.read_all() != []
    ahead = sequencefile.Reader(Pipe(data))
    ahead.seek(len(data) + 1)
    assert ahead.read() is None
    reader = sequencefile.Reader(Pipe(data))
    start = reader.offset
    reader.skip(500)
    with pytest.raises(io.UnsupportedOperation, match="cannot seek backwards"):
        reader.seek(start)


def test_typed_bytes_of_no_bytes_are_not_the_end():
    reader = sequencefile.Reader(written(NUMBERS))
    for nbytes in (0, -1, -(2**40)):
        with pytest.raises(ValueError, match="nbytes must be at least 1"):
            reader.read_typed(nbytes)
    assert reader.read_all() == NUMBERS


# -- splits -----------------------------------------------------------------------------------------------


class Pipe(io.RawIOBase):
    """Give what can be read once only."""

    def __init__(self, data):
        self.data = io.BytesIO(data)

    def readable(self):
        return True

    def readinto(self, target):
        return self.data.readinto(target)


@pytest.mark.parametrize("compression, codec", FORMS)
@given(data=st.data())
def test_the_splits_are_the_file(compression, codec, data):
    nrecords = data.draw(st.integers(0, 60))
    file = written(NUMBERS[:nrecords], compression=compression, codec=codec, sync_interval=60, block_size=60)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(file)), max_size=6)))
    kind = data.draw(st.sampled_from([bytes, io.BytesIO, Pipe]))
    found = []
    for start, end in zip([0, *cuts], [*cuts, len(file)]):
        found += pairs_of(kind(file), start=start, length=end - start)
    assert found == NUMBERS[:nrecords]


def test_a_split_of_a_file_that_is_not_at_its_start():
    file = io.BytesIO(b"before" + written(NUMBERS, sync_interval=100))
    file.seek(6)
    assert pairs_of(file, start=3000)[-1] == NUMBERS[-1]


@pytest.mark.parametrize("options", [{"start": -1}, {"length": -1}, {"max_bytes": 0}])
def test_numbers_out_of_range_are_refused(options):
    with pytest.raises(ValueError, match="start and length must not be negative|max_bytes must be"):
        sequencefile.Reader(files()["none/typed"], **options)


# -- memory -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compression, codec", FORMS)
def test_memory_is_flat(compression, codec, tmp_path):
    """Over a file of many buffers, read, skipped, copied and written."""
    code = """
        import resource, sys
        from typedbytes import sequencefile
        path, compression, codec = sys.argv[1:]

        def work(nrecords):
            with sequencefile.Writer(path, compression=compression, codec=codec, block_size=100_000) as writer:
                writer.writes((i, b"x" * 100) for i in range(nrecords))
            for use in (list_pairs, skip, copy):
                with sequencefile.Reader(path) as reader:
                    use(reader)

        def list_pairs(reader):
            for key, value in reader:
                pass

        def skip(reader):
            while reader.skip(1000):
                pass

        def copy(reader):
            while reader.read_typed():
                pass

        work(20_000)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        work(200_000)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    """
    assert int(run_fresh(code, tmp_path / "f", compression, codec)) < 2048


def test_compressed_bytes_are_as_hadoop_cuts_them():
    """Chunks of the block codecs no longer than Hadoop's buffers can take."""
    for codec in ("snappy", "lz4"):
        data = random.Random(1).randbytes(1_000_000)
        compressed = _codecs.find(codec).compress(data)
        assert int.from_bytes(compressed[:4], "big") == len(data)
        at, nchunks = 4, 0
        while at < len(compressed):
            size = int.from_bytes(compressed[at : at + 4], "big")
            assert size <= 256 * 1024
            at += 4 + size
            nchunks += 1
        assert at == len(compressed) and nchunks >= 4


def test_kinds_of_the_vectors_are_known():
    """Every class of Hadoop's own that the vectors hold comes as an object."""
    for line in kinds().values():
        for name in (line["keyClass"], line["valueClass"]):
            if name.startswith(IO) or "typedbytes.Typed" in name:
                assert not isinstance(sequencefile.Reader(files()[f"none/{line['kind']}"]).read()[0], tb.Writable)
    assert pathlib.Path(sequencefile.__file__).name == "__init__.py"


@pytest.mark.parametrize("compression, codec", [("none", None), ("record", "gzip"), ("block", "gzip")])
def test_records_are_added_to_a_file(tmp_path, compression, codec):
    """After a sync marker, as SequenceFile.Writer.appendIfExists has it: any split finds each record once."""
    path = tmp_path / "a.seq"
    how = {"key_class": "Text", "value_class": "IntWritable", "compression": compression, "codec": codec}
    with sequencefile.open(path, "a", metadata={"made": "by"}, **how) as writer:
        writer.writes([("a", 1), ("b", 2)])
    before = path.read_bytes()
    with sequencefile.open(str(path), "a") as writer:
        assert writer.offset == len(before) + (0 if compression == "block" else 20)
        writer.write("c", 3)
    with sequencefile.open(f"file://{path}", "a", key_class="Text") as writer:
        writer.write("d", 4)
    pairs = [("a", 1), ("b", 2), ("c", 3), ("d", 4)]
    data = path.read_bytes()
    reader = sequencefile.Reader(data)
    assert data.startswith(before) and reader.metadata == {"made": "by"} and reader.read_all() == pairs
    assert data[len(before) :].startswith(b"\xff\xff\xff\xff" + reader.sync_marker)
    assert list(sequencefile.read(path, split_size=50)) == pairs
    no_or_other = "record" if codec is None else "none"
    for wrong in (
        {"value_class": "Text"}, {"compression": no_or_other}, {"metadata": {}}, {"sync_marker": bytes(16)},
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"the {next(iter(wrong))} of .*a.seq is .*: leave it out"):
            sequencefile.open(path, "a", **wrong)
    assert path.read_bytes() == data
    with pytest.raises(TypeError, match='mode "a" takes a path or a URL, not BytesIO'):
        sequencefile.open(io.BytesIO(data), "a")
    (tmp_path / "text").write_bytes(b"no SequenceFile")
    with pytest.raises(tb.FormatError):
        sequencefile.open(tmp_path / "text", "a")


def test_a_codec_of_ones_own(tmp_path):
    import lzma

    name = "io.sensesecure.hadoop.xz.XZCodec"
    with pytest.raises(tb.FormatError, match="those given to register_codec"):
        sequencefile.Writer(io.BytesIO(), codec=name)
    sequencefile.register_codec(name, lzma.decompress, lzma.compress)
    for compression in ("record", "block"):
        path = tmp_path / compression
        with sequencefile.open(path, "w", codec=name, compression=compression) as writer:
            writer.writes([(n, "x" * n) for n in range(300)])
        with sequencefile.Reader(path, max_bytes=10000) as reader:
            assert reader.codec == name and (compression == "block" or len(reader.read_all()) == 300)
        damaged = path.read_bytes()[:-30] + bytes(30)
        with pytest.raises(tb.DecodeError):
            sequencefile.Reader(damaged).read_all()
    with pytest.raises(tb.LimitError):
        sequencefile.Reader((tmp_path / "block").read_bytes(), max_bytes=5000).read_all()
    sequencefile.register_codec(name, lzma.decompress)
    with pytest.raises(ValueError, match="registered to read"):
        sequencefile.Writer(io.BytesIO(), codec=name)
    with pytest.raises(ValueError, match="with a package"):
        sequencefile.register_codec("xz", lzma.decompress)


def test_an_error_of_a_codec_of_ones_own_is_told(tmp_path):
    def decompress(data):
        raise error

    sequencefile.register_codec("a.Broken", decompress, bytes)
    with sequencefile.open(tmp_path / "file", "w", codec="a.Broken") as writer:
        writer.write("key", 5)
    for error, said in ((EOFError(), "EOFError"), (EOFError("too few bytes"), "too few bytes")):
        with pytest.raises(tb.FormatError, match=f"damaged compressed data: {said}"):
            sequencefile.Reader((tmp_path / "file").read_bytes()).read_all()


def test_functions_of_a_codec_that_return_no_bytes(tmp_path):
    path, name = tmp_path / "file", "a.Wrong"
    for function in ((5,), (bytes, 5)):
        with pytest.raises(TypeError, match="the functions of a.Wrong must be callable"):
            sequencefile.register_codec(name, *function)
    sequencefile.register_codec(name, bytes, lambda data: None)
    for compression in ("record", "block"):
        with pytest.raises(TypeError, match="the function compress of a.Wrong returned NoneType, not bytes"):
            with sequencefile.open(path, "w", codec=name, compression=compression) as writer:
                writer.write("key", 5)
    sequencefile.register_codec(name, bytearray, bytearray)
    with sequencefile.open(path, "w", codec=name) as writer:
        writer.write("key", 5)
    data = path.read_bytes()
    assert sequencefile.Reader(data).read_all() == [("key", 5)]
    sequencefile.register_codec(name, lambda data: 5)
    with pytest.raises(TypeError, match="the function decompress of a.Wrong returned int, not bytes"):
        sequencefile.Reader(data).read_all()
