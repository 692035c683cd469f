"""The reader and writer of SequenceFiles as their users meet them: places, options, misuse, many files at once."""

import ctypes
import gc
import io
import os
import pathlib
import random
import signal
import socket
import struct
import sys
import threading
import time
import warnings
from concurrent.futures.process import BrokenProcessPool

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

import reference
import typedbytes as tb
from fresh import run_fresh
from sequencefile_bytes import MARKER, written
from sequencefiles import IO, files, header, kinds, record
from strategies import values
from typedbytes import sequencefile
from typedbytes.sequencefile import _codecs, _native as _sequence

FORMS = [("none", "default"), ("record", "default"), ("block", "zstd")]


def pairs_of(place, **options):
    """Return the pairs of a file or of a split."""
    with sequencefile.Reader(place, **options) as reader:
        return reader.read_all()


NUMBERS = [(i, f"value {i}") for i in range(1000)]


# -- round trips ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compression, codec", FORMS)
@settings(max_examples=40)
@given(pairs=st.lists(st.tuples(values, values), max_size=8), block_size=st.integers(1, 200))
def test_typed_bytes_come_back(compression, codec, pairs, block_size):
    data = written(pairs, compression=compression, codec=codec, block_size=block_size, sync_interval=50)
    plain = tb.Encoder().encode_pairs(pairs)
    assert sequencefile.Reader(data).read_typed(1 << 30) == plain
    options = {"exact": True, "map_pairs": True, "pickle": "raw"}
    assert repr(pairs_of(data, **options)) == repr(tb.Decoder(**options).decode_pairs(plain))


INTS = {"IntWritable": 32, "LongWritable": 64, "VIntWritable": 32, "VLongWritable": 64, "ShortWritable": 16, "ByteWritable": 8}


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
        ("IntWritable", "1"), ("IntWritable", True), ("IntWritable", 1.0), ("Text", b"a"), ("BytesWritable", "a"), ("BytesWritable", 5),
        ("NullWritable", 0), ("BooleanWritable", 1), ("DoubleWritable", "1"), ("FloatWritable", True), ("a.B", "text"),
        ("a.B", tb.Writable("a.C", b"")), ("TypedBytesWritable", object()),
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


def test_classes_of_ones_own():
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


# -- markers, blocks, buffers -----------------------------------------------------------------------------


def test_markers_stand_where_hadoop_puts_them():
    data = written(NUMBERS, key_class="IntWritable", value_class="Text", sync_interval=1000)
    start = sequencefile.Reader(data).offset
    places = [at for at in range(start, len(data)) if data.startswith(b"\xff" * 4 + MARKER, at)]
    last, at = 0, start
    expected = []
    for key, value in NUMBERS:
        if at >= last + 1000:
            expected.append(at)
            last = at = at + 20
        at += len(record(bytes(4), b"\0" + value.encode()))
    assert places == expected and len(places) > 15


def test_an_interval_that_never_ends():
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
ROOM = 65536 + 8192


AT_THE_END = [1, 1 << 40, 1 << 80, True, 1.5, "text", "t\xebxt", b"", b"bytes", (1, "a"), [2.5], {}]


@pytest.mark.parametrize("value, options", [*((value, {}) for value in AT_THE_END), (1, {"int_width": 64})])
def test_records_that_end_where_the_buffer_does(value, options):
    start = written([])
    for left in range(-30, 60):  # after the key, which has 17 bytes of lengths and code in front of it
        key = bytes(ROOM - len(start) - 17 - left)
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
        places = []
        with sequencefile.Writer(sink, compression=compression, codec=codec, block_size=400) as writer:
            for i in range(500):
                if compression == "block":
                    if i % 50 == 0:
                        writer.sync()
                        places.append((writer.offset, i))
                else:
                    places.append((writer.offset, i))
                writer.write(i, str(i))
        for source in (sink.getvalue(), io.BytesIO(sink.getvalue())):
            reader = sequencefile.Reader(source)
            random.Random(1).shuffle(places)
            for place, i in places:
                reader.seek(place)
                assert reader.read() == (i, str(i))
            with pytest.raises(ValueError, match="inside the header"):
                reader.seek(5)
            reader.seek(10**9)
            assert reader.read() is None
    data = written([(i, "x" * 1000) for i in range(1000)])
    places = [place for place in range(len(data)) if data[place : place + 20] == b"\xff" * 4 + MARKER]
    for place in (places[0], places[-1]):
        ahead, beside = sequencefile.Reader(Pipe(data)), sequencefile.Reader(data)
        ahead.seek(place)
        beside.seek(place)
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
def test_numbers_that_are_none(options):
    with pytest.raises(ValueError, match="start and length must not be negative|max_bytes must be"):
        sequencefile.Reader(files()["none/typed"], **options)


# -- places -----------------------------------------------------------------------------------------------


def test_places_to_read_from(tmp_path):
    data = written(NUMBERS)
    path = tmp_path / "f"
    path.write_bytes(data)
    assert pairs_of(path) == pairs_of(str(path)) == NUMBERS
    assert pairs_of(bytearray(data)) == pairs_of(memoryview(data)) == NUMBERS
    assert pairs_of(memoryview(b"".join(bytes([each, 0]) for each in data))[::2]) == NUMBERS
    with open(path, "rb") as file, open(path, "rb", buffering=0) as raw:
        assert pairs_of(file) == pairs_of(raw) == NUMBERS
        assert not file.closed and not raw.closed
    descriptor = os.open(path, os.O_RDONLY)
    assert pairs_of(descriptor) == NUMBERS
    os.close(descriptor)
    reading, writing = socket.socketpair()
    with reading, writing, reading.makefile("rb") as file:
        writing.sendall(data[:5000])
        writing.close()
        reader = sequencefile.Reader(file)
        assert reader.read() == NUMBERS[0]


def test_places_to_write_to(tmp_path):
    data = written(NUMBERS)
    for place in (tmp_path / "a", str(tmp_path / "b"), os.open(tmp_path / "c", os.O_WRONLY | os.O_CREAT)):
        with sequencefile.open(place, "w", sync_marker=MARKER) as writer:
            writer.writes(NUMBERS)
        if isinstance(place, int):
            os.close(place)
    with open(tmp_path / "d", "wb") as file, sequencefile.Writer(file, sync_marker=MARKER) as writer:
        writer.writes(NUMBERS)
    assert {(tmp_path / name).read_bytes() for name in "abcd"} == {data}


def test_places_that_are_none(tmp_path):
    for place in (io.StringIO(), object(), 5.5):
        with pytest.raises(TypeError):
            sequencefile.Reader(place)
        with pytest.raises(TypeError):
            sequencefile.Writer(place)
    with pytest.raises(FileNotFoundError):
        sequencefile.Reader(tmp_path / "no")
    with pytest.raises(IsADirectoryError):
        sequencefile.Reader(tmp_path)
    with pytest.raises(ValueError, match="mode"):
        sequencefile.open(tmp_path / "f", "rb")
    (tmp_path / "bad").write_bytes(b"nothing")
    with pytest.raises(tb.FormatError, match="not a SequenceFile"):
        sequencefile.Reader(tmp_path / "bad")
    gc.collect()  # what was opened has been closed, or this would warn


def test_urls(tmp_path):
    data = written(NUMBERS, sync_interval=100)
    with sequencefile.open("memory://folder/part-00000", "w", sync_marker=MARKER, sync_interval=100) as writer:
        writer.writes(NUMBERS)
    import fsspec

    assert fsspec.open("memory://folder/part-00000").open().read() == data
    with fsspec.open("memory://folder/_SUCCESS", "wb"):
        pass
    assert pairs_of("memory://folder/part-00000") == NUMBERS
    halves = [pairs_of("memory://folder/part-00000", start=start, length=9000) for start in range(0, len(data), 9000)]
    assert sum(halves, []) == NUMBERS and len(halves) > 2
    (tmp_path / "f").write_bytes(data)
    assert list(sequencefile.read(["memory://folder", f"file://{tmp_path}/f"])) == NUMBERS * 2


@pytest.mark.parametrize("said", [0, None])
def test_a_file_that_does_not_say_its_size_is_read_to_its_end(said, tmp_path, monkeypatch):
    """As files of some servers and of some file systems in user space."""
    monkeypatch.setattr(sequencefile._locations, "size", lambda place: said)
    (tmp_path / "f").write_bytes(written(NUMBERS, sync_interval=100))
    told = []
    assert list(sequencefile.read(tmp_path / "f", split_size=500, progress=lambda *now: told.append(now))) == NUMBERS
    assert told == [(0, 0)]


def test_without_a_library_the_error_says_what_to_install():
    code = """
        import io, sys
        sys.modules.update(dict.fromkeys(["cramjam", "lz4", "lz4.block", "backports.zstd", "compression", "lzallright", "fsspec"]))
        from typedbytes import sequencefile
        from typedbytes.sequencefile import _codecs
        for codec in ("snappy", "lz4", "zstd", "lzo"):
            try:
                sequencefile.Writer(io.BytesIO(), compression="block", codec=codec)
            except ModuleNotFoundError as error:
                print(error)
        try:
            sequencefile.open("s3://bucket/file")
        except ModuleNotFoundError as error:
            print(error)
    """
    lines = run_fresh(code).splitlines()
    for line, extra in zip(lines, ["snappy", "lz4", "zstd", "lzo", "fsspec"]):
        assert line.endswith(f": pip install 'typedbytes[{extra}]'")
    assert "org.apache.hadoop.io.compress.SnappyCodec needs the library cramjam" in lines[0]
    assert len(lines) == 5


@pytest.mark.parametrize("missing", ["", 'sys.modules["pyarrow.fs"] = None'])
def test_what_hdfs_takes_is_said(missing):
    code = f"""
        import sys
        {missing}
        from typedbytes import sequencefile
        for act in (sequencefile.open, lambda place: sequencefile.open(place, "w"), lambda place: list(sequencefile.read(place))):
            try:
                act("hdfs://no-such-host.invalid:8020/part-00000")
            except ({"ImportError" if missing else "OSError"}) as error:
                print(error)
    """
    lines = run_fresh(code).splitlines()
    assert len(lines) == 3
    for line in lines:
        assert "JAVA_HOME" in line and "CLASSPATH" in line and "webhdfs://me@namenode:9870/path" in line


def test_importing_brings_no_library():
    code = """
        import sys, io
        from typedbytes import sequencefile
        with sequencefile.Writer(io.BytesIO()) as writer:
            writer.write(1, 2)
        print(sorted({"cramjam", "lz4", "fsspec", "bz2", "zlib", "numpy", "concurrent.futures", "typedbytes.streaming"} & set(sys.modules)))
    """
    assert run_fresh(code, flags=("-S",)) == "[]"


# -- options that are wrong, objects that are misused -----------------------------------------------------


@pytest.mark.parametrize(
    "options, message",
    [
        ({"compression": "all"}, "compression"), ({"compression": "block", "codec": "lzo"}, "cannot be written, only read"), ({"version": 3}, "version must be 4 to 6"),
        ({"version": 7}, "version must be 4 to 6"), ({"version": 4, "compression": "block", "codec": "gzip"}, "no codec but DefaultCodec"),
        ({"version": 5, "metadata": {"a": "b"}}, "metadata"), ({"sync_marker": b"short"}, "16 bytes"), ({"sync_interval": 0}, "at least 1"),
        ({"block_size": 0}, "at least 1"), ({"block_size": 1 << 31}, "less than 2.30"),
    ],
)  # fmt: skip
def test_writers_that_are_none(options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        sequencefile.Writer(tmp_path / "f", **options)
    gc.collect()


def test_an_unknown_codec_is_named():
    with pytest.raises(tb.FormatError, match="unknown codec 'com.example.Best'; known: default, gzip, bzip2, snappy, lz4, zstd, lzo"):
        sequencefile.Reader(header("a", "b", compressed=True, codec="com.example.Best"))
    with pytest.raises(tb.FormatError, match="unknown codec 'best'; known: default, gzip"):
        sequencefile.Writer(io.BytesIO(), compression="block", codec="best")


def test_options_that_do_not_exist():
    for make in (sequencefile.Reader, sequencefile.Writer):
        with pytest.raises(TypeError):
            make(io.BytesIO(files()["none/typed"]), no_such_option=1)


def test_a_closed_one_refuses():
    reader = sequencefile.Reader(written(NUMBERS))
    reader.close()
    reader.close()
    for call in (reader.read, reader.skip, reader.read_typed, lambda: reader.seek(1000)):
        with pytest.raises(ValueError, match="closed"):
            call()
    writer = sequencefile.Writer(io.BytesIO())
    writer.close()
    writer.close()
    for call in (lambda: writer.write(1, 2), lambda: writer.writes([(1, 2)]), writer.sync, writer.flush):
        with pytest.raises(ValueError, match="closed"):
            call()


def test_a_hook_that_comes_back():
    data = written([(tb.Ext(60, b"a"), 1)] * 2)
    said = []

    def hook(code, payload):
        for call in (lambda: next(reader), reader.skip, reader.read_typed, reader.close):
            with pytest.raises(RuntimeError, match="in use"):
                call()
        said.append(code)
        return code

    reader = sequencefile.Reader(data, ext_hook=hook)
    assert list(reader) == [(60, 1)] * 2 and said == [60, 60]
    sink = io.BytesIO()

    def default(obj):
        for call in (lambda: writer.write(1, 1), writer.flush, writer.sync, writer.close):
            with pytest.raises(RuntimeError, match="in use"):
                call()
        return "instead"

    with sequencefile.Writer(sink, default=default) as writer:
        writer.write(object(), 1)
    assert pairs_of(sink.getvalue()) == [("instead", 1)]


@pytest.mark.parametrize("error", [StopIteration, KeyError, KeyboardInterrupt])
def test_a_hook_that_raises(error):
    def hook(code, payload):
        raise error("from the hook")

    reader = sequencefile.Reader(written([(1, 1), (2, tb.Ext(60, b"a")), (3, 3)]), ext_hook=hook)
    assert reader.read() == (1, 1)
    for _ in range(2):
        with pytest.raises(RuntimeError if error is StopIteration else error):
            reader.read()


class Failing(io.RawIOBase):
    """Take some bytes and then none."""

    def __init__(self, room):
        self.room = room
        self.taken = b""

    def writable(self):
        return True

    def write(self, data):
        if not self.room:
            raise OSError("disk full")
        count = min(self.room, len(data), 1000)
        self.room -= count
        self.taken += bytes(data[:count])
        return count


def test_a_sink_that_takes_a_part_each_time():
    sink = Failing(10**9)
    with sequencefile.Writer(sink, sync_marker=MARKER) as writer:
        writer.writes(NUMBERS)
    assert sink.taken == written(NUMBERS)


@pytest.mark.parametrize("keep", [lambda data: data, bytes])
def test_a_sink_that_keeps_what_it_is_given(keep):
    pairs = [(i, bytes([i % 256]) * (i % 300)) for i in range(4000)]

    class Keeping(list):
        def write(self, data):
            self.append(keep(data))

    sink = Keeping()
    with sequencefile.Writer(sink, sync_marker=MARKER) as writer:
        writer.writes(pairs)
    assert len(sink) > 5
    assert b"".join(sink) == written(pairs) and pairs_of(b"".join(sink)) == pairs


def test_a_sink_that_fails():
    sink = Failing(3000)
    writer = sequencefile.Writer(sink)
    with pytest.raises(OSError, match="disk full"):
        writer.writes((i, "x" * 1000) for i in range(1000))
    with pytest.raises(ValueError, match="has failed"):
        writer.write(1, 2)
    writer.close()
    assert len(sink.taken) == 3000
    for count in (0, -1, 10**9):
        sink = Failing(10**9)
        sink.write = lambda data, count=count: count
        writer = sequencefile.Writer(sink)
        with pytest.raises(OSError, match="returned"):
            writer.flush()
        writer.close()
    sink.write = lambda data: None
    writer = sequencefile.Writer(sink)
    with pytest.raises(BlockingIOError):
        writer.flush()
    writer.close()


def test_a_forgotten_writer_whose_sink_fails_warns_and_is_told(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: told.append(unraisable.exc_type))
    writer = sequencefile.Writer(Failing(100))
    writer.writes(NUMBERS)
    with pytest.warns(ResourceWarning, match="unclosed Writer"):
        del writer
        gc.collect()
    assert told == [OSError]


def test_a_block_that_cannot_be_compressed_is_the_end():
    def fail(data):
        raise OSError("worn out")

    writer = _sequence.Writer(
        io.BytesIO(), key_class="a.B", value_class="a.B", compression="block", codec="c", compress=fail, sync_marker=MARKER
    )
    writer.write(b"key", b"value")
    with pytest.raises(OSError, match="worn out"):
        writer.sync()
    with pytest.raises(ValueError, match="has failed"):
        writer.write(b"key", b"value")
    writer.close()


@pytest.mark.parametrize("compression, codec", FORMS)
def test_typed_bytes_are_written_as_their_values(compression, codec):
    large = random.Random(1).randbytes(90_000)
    pairs = [*NUMBERS, ("key", [(1, 2.5), {}]), (large, large), *NUMBERS]
    for interval in (1, 1000, 1 << 40):
        options = {"compression": compression, "codec": codec, "sync_interval": interval, "sync_marker": MARKER}
        sink = io.BytesIO()
        with sequencefile.Writer(sink, **options) as writer:
            assert writer.write_typed(tb.Encoder().encode_pairs(pairs)) == len(pairs)
        assert sink.getvalue() == written(pairs, **options)


@pytest.mark.parametrize("compression, codec", FORMS)
def test_typed_bytes_that_end_early_or_are_none(compression, codec):
    pair = tb.dumps("key") + tb.dumps([1])
    for bad, kind in (
        (b"\3\0", tb.TruncatedError),
        (tb.dumps(1), tb.TruncatedError),
        (b"\xff", tb.FormatError),
        (tb.dumps(1) + b"\x0b", tb.FormatError),
    ):
        sink = io.BytesIO()
        with sequencefile.Writer(sink, compression=compression, codec=codec) as writer:
            with pytest.raises(kind) as caught:
                writer.write_typed(pair * 2 + bad)
            assert (writer.record, caught.value.record) == (2, 2)
            assert writer.write_typed(pair) == 1
        assert sequencefile.Reader(sink.getvalue()).read_typed(1 << 20) == pair * 3
    with (
        sequencefile.Writer(io.BytesIO(), value_class="Text") as writer,
        pytest.raises(TypeError, match="needs TypedBytesWritable keys and values"),
    ):
        writer.write_typed(pair)


def test_records_are_pairs_of_any_kind():
    assert written([[1, 2], iter((3, 4)), "ab"]) == written([(1, 2), (3, 4), ("a", "b")])
    for pair, error in (((1, 2, 3), ValueError), ((1,), ValueError), (None, TypeError)):
        sink = io.BytesIO()
        with sequencefile.Writer(sink, sync_marker=MARKER) as writer, pytest.raises(error):
            writer.writes([("a", 1), pair, ("b", 2)])
        assert sink.getvalue() == written([("a", 1)])


class Odd:
    """Give from read() what is wanted."""

    def __init__(self, answer):
        self.answer = answer

    def read(self, nbytes):
        return self.answer


@pytest.mark.parametrize("answer, error", [("text", TypeError), (None, BlockingIOError), (b"x" * 10**6, ValueError), (5, TypeError)])
def test_a_source_that_gives_what_it_must_not(answer, error):
    with pytest.raises(error):
        sequencefile.Reader(Odd(answer))


def test_a_source_that_fails():
    class Broken(io.RawIOBase):
        def __init__(self):
            self.parts = [written(NUMBERS)[:5000]]

        def readable(self):
            return True

        def read(self, nbytes=-1):
            if not self.parts:
                raise OSError("gone")
            return self.parts.pop()

    reader = sequencefile.Reader(Broken())
    found = []
    with pytest.raises(OSError, match="gone"):
        for pair in reader:
            found.append(pair)
    assert found == NUMBERS[: len(found)] and len(found) > 100


@pytest.mark.parametrize("error", [tb.EncodeValueError, tb.EncodeTypeError, tb.FormatError])
@pytest.mark.parametrize("call", ["write", "write_typed"])
def test_a_sink_that_fails_as_an_object_or_bytes_would(error, call):
    """A sink may have a codec of its own; what it did not take is not taken for a record that cannot be encoded."""

    class Coding:
        def write(self, data):
            raise error("from the sink")

    writer = sequencefile.Writer(Coding())
    pair = (1, bytes(3_000_000))
    with pytest.raises(error, match="from the sink"):
        writer.write(*pair) if call == "write" else writer.write_typed(tb.Encoder().encode_pairs([pair]))
    for _ in range(2):
        with pytest.raises(ValueError, match="has failed"):
            writer.write(1, 2)
    writer.close()


def test_a_writer_that_is_forgotten_warns_and_writes():
    sink = io.BytesIO()
    writer = sequencefile.Writer(sink, compression="block", sync_marker=MARKER)
    writer.write(1, 2)
    with pytest.warns(ResourceWarning, match="unclosed Writer"):
        del writer
        gc.collect()
    assert pairs_of(sink.getvalue()) == [(1, 2)]


def test_nothing_here_is_copied_or_made_twice():
    import copy
    import pickle

    reader, writer = sequencefile.Reader(written([])), sequencefile.Writer(io.BytesIO())
    for thing in (reader, writer):
        with pytest.raises(TypeError):
            pickle.dumps(thing)
        with pytest.raises(TypeError):
            copy.copy(thing)
    with pytest.raises(RuntimeError):
        reader.__init__(written([]))
    with pytest.raises(RuntimeError):
        writer.__init__(io.BytesIO())
    writer.close()
    raw = sequencefile.Reader.__new__(sequencefile.Reader)
    with pytest.raises(ValueError, match="closed"):
        raw.read()
    with pytest.raises(ValueError, match="closed"):
        sequencefile.Writer.__new__(sequencefile.Writer).write(1, 2)


@pytest.mark.parametrize("kind", [sequencefile.Reader, tb.PairReader, tb.Reader])
def test_a_class_of_ones_own_steps_as_it_says(kind):
    data = written(NUMBERS[:3]) if kind is sequencefile.Reader else tb.Encoder().encode_pairs(NUMBERS[:3])
    whole = list(kind(data))

    class Plain(kind):
        pass

    class Marked(kind):
        def __next__(self):
            return "own", super().__next__()

    assert list(Plain(data)) == whole and list(Marked(data)) == [("own", each) for each in whole]
    Plain.__next__ = lambda self: next(steps)
    steps = iter("ab")
    assert list(Plain(data)) == ["a", "b"] and list(kind(data)) == whole


def test_pairs_are_ones_own():
    """The tuple that is given out again is one that no code holds."""
    reader = sequencefile.Reader(written(NUMBERS[:20]))
    kept = list(reader)
    assert kept == NUMBERS[:20] and len(set(map(id, kept))) == 20
    reader = sequencefile.Reader(written([([i], [i]) for i in range(100)]))
    for i, (key, value) in enumerate(reader):
        assert (key, value) == ([i], [i])
        if i % 10 == 0:
            gc.collect()


# -- many files -------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    """Make a folder as a job leaves it: three part files and what is no data."""
    parts = [[(f"{part} {i}", i) for i in range(1500)] for part in range(3)]
    for part, pairs in enumerate(parts):
        compression, codec = FORMS[part]
        data = written(pairs, compression=compression, codec=codec, sync_interval=500, block_size=500)
        (tmp_path / f"part-{part:05}").write_bytes(data)
    for name in ("_SUCCESS", ".part-00000.crc", "_logs"):
        (tmp_path / name).write_bytes(b"no data")
    (tmp_path / "_temporary").mkdir()
    return tmp_path, sum(parts, [])


@pytest.mark.parametrize("processes, ordered", [(1, False), (2, True), (3, False)])
def test_a_folder_of_part_files(folder, processes, ordered):
    place, pairs = folder
    done = []
    found = list(sequencefile.read(place, processes=processes, ordered=ordered, split_size=4000, progress=lambda *now: done.append(now)))
    assert found == pairs if ordered or processes == 1 else sorted(found) == sorted(pairs)
    total = sum((place / f"part-{part:05}").stat().st_size for part in range(3))
    assert done[-1] == (total, total) and done == sorted(done) and len(done) > 10


def test_a_folder_among_part_files_is_not_left_out(folder):
    place, _ = folder
    (place / "part-00003").mkdir()
    with pytest.raises(IsADirectoryError, match="a folder among the part files: .*/part-00003"):
        sequencefile.read(place)


@pytest.mark.parametrize("processes", [1, 2])
def test_damage_in_one_of_many_files(folder, processes):
    place, pairs = folder
    path = place / "part-00001"
    data = bytearray(path.read_bytes())
    data[20000:20010] = bytes(10)
    path.write_bytes(data)
    found = []
    with pytest.raises(tb.DecodeError, match=f"^{path}: "):
        for pair in sequencefile.read(place, processes=processes, ordered=True, split_size=8000):
            found.append(pair)
    assert found == pairs[: len(found)] and len(found) > 1500
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = list(sequencefile.read(place, processes=processes, ordered=True, split_size=8000, resync=True))
    said = [str(each.message) for each in said if each.category is RuntimeWarning]  # a fork may have its own to say
    assert said and all(f"{path}: skipped " in each for each in said)
    assert 0 < len(pairs) - len(found) < 60
    assert set(found) < set(pairs)


def test_reading_many_files_can_be_left(folder):
    place, pairs = folder
    for processes in (1, 2):
        reading = sequencefile.read(place, processes=processes, ordered=True, split_size=4000)
        assert [next(reading) for _ in range(10)] == pairs[:10]
        reading.close()


def test_a_thread_of_the_pool_that_ends_the_reading_does_not_wait_for_itself(folder, monkeypatch):
    place, _ = folder
    monkeypatch.setattr("typedbytes.sequencefile._parallel.Kept", iter)  # to see inside
    reading = sequencefile.read(place, processes=2, split_size=4000)
    next(reading)
    answers = reading.gi_frame.f_locals["answers"]
    said, ended = [], threading.Event()

    def end(done):
        try:
            answers.close()
        except BaseException as error:
            said.append(error)
        said.append(threading.current_thread())
        ended.set()

    answers.gi_frame.f_locals["pool"].submit(time.sleep, 0.2).add_done_callback(end)
    assert ended.wait(30) and len(said) == 1
    assert said != [threading.main_thread()]
    reading.close()


@pytest.mark.parametrize("processes", [1, 2])
def test_an_error_says_where_in_the_file(folder, processes):
    place, pairs = folder
    path = place / "part-00000"
    data = bytearray(path.read_bytes())
    with sequencefile.Reader(path) as reader:
        reader.skip(1000)
        offset = reader.offset
    data[offset + 8 + 4] = 201  # the type code of the key
    path.write_bytes(data)
    for split_size, nrecord in ((1 << 20, 1000), (4000, None)):
        with pytest.raises(tb.FormatError) as info:
            list(sequencefile.read(place, processes=processes, split_size=split_size, ordered=True))
        assert (info.value.offset, info.value.record) == (offset + 12, nrecord), (
            "a later split does not know which record of the file it is"
        )


class HeavyError(Exception):
    """An exception that can be pickled, but not made again."""

    def __init__(self, place, reason):
        super().__init__(f"{place}: {reason}")


class LocalError(Exception):
    """An exception that cannot be pickled."""

    def __reduce__(self):
        raise TypeError("no")


def raises_heavy(data):
    """Fail as a decoder may."""
    raise HeavyError("here", "too heavy")


def raises_local(data):
    """Fail in another way."""
    raise LocalError("only here")


@pytest.mark.parametrize("decoder, message", [(raises_heavy, "HeavyError: here: too heavy"), (raises_local, "LocalError: only here")])
def test_an_exception_that_no_process_can_hand_over(decoder, message, tmp_path):
    path = tmp_path / "f"
    path.write_bytes(written([(1, b"1")], key_class="IntWritable", value_class="my.Own"))
    with pytest.raises(RuntimeError, match=f"^{message}$") as info:
        list(sequencefile.read(path, processes=2, decoders={"my.Own": decoder}))
    assert type(info.value) is RuntimeError


class OwnError(Exception):
    """What a decoder raises."""


def troubled(data):
    """Decode numbers as text, with trouble at some of them."""
    number = int(data)
    if number == 250:
        raise OwnError(number)
    if number == 251:
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 0:
        time.sleep(0.2)  # the first split comes last
    return number


def own_file(path, numbers):
    """Write a file of a class that `troubled` decodes."""
    path.write_bytes(written([(i, b"%d" % i) for i in numbers], key_class="IntWritable", value_class="my.Own", sync_interval=100))
    return {"decoders": {"my.Own": troubled}, "split_size": 500}


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_the_order_is_kept_when_the_first_comes_last(processes, tmp_path):
    options = own_file(tmp_path / "f", range(200))
    done = []
    for ordered in (True, False):
        found = sequencefile.read(tmp_path, processes=processes, ordered=ordered, progress=lambda *now: done.append(now), **options)
        found = list(found)
        assert (found if ordered else sorted(found)) == [(i, i) for i in range(200)]
        steps = [after - before for (before, _), (after, _) in zip([(0, 0), *done], done)]
        assert sum(steps) == (tmp_path / "f").stat().st_size and sorted(steps)[1:] == [500] * (len(steps) - 1)
        done.clear()


@pytest.mark.parametrize("processes", [1, 2])
def test_what_a_decoder_raises_comes_through(processes, tmp_path):
    options = own_file(tmp_path / "f", [*range(1, 251), *range(300, 400)])
    found = []
    with pytest.raises(OwnError, match="250"):
        for pair in sequencefile.read(tmp_path, processes=processes, ordered=True, **options):
            found.append(pair)
    assert found == [(i, i) for i in range(1, len(found) + 1)] and 200 < len(found) < 250


def test_a_process_that_dies_is_an_error(tmp_path):
    options = own_file(tmp_path / "f", [*range(1, 100), 251, *range(300, 400)])
    with pytest.raises(BrokenProcessPool):
        list(sequencefile.read(tmp_path, processes=2, **options))


@pytest.mark.parametrize("processes", [1, 2])
def test_a_file_that_has_gone(folder, processes):
    place, pairs = folder
    reading = sequencefile.read(place, processes=processes, ordered=True)
    (place / "part-00002").unlink()
    found = []
    with pytest.raises(FileNotFoundError, match="part-00002"):
        found.extend(reading)
    assert found == pairs[:3000]


@pytest.mark.parametrize("processes", [1, 2])
def test_what_progress_raises_comes_through(folder, processes):
    place, pairs = folder

    def stop(done, total):
        raise OwnError(done)

    with pytest.raises(OwnError, match="4000"):
        list(sequencefile.read(place, processes=processes, ordered=True, split_size=4000, progress=stop))


def test_processes_that_share_nothing(folder):
    place, pairs = folder
    code = f"""
        import multiprocessing
        from typedbytes import sequencefile
        multiprocessing.set_start_method("spawn")
        found = list(sequencefile.read({str(place)!r}, processes=2, ordered=True, split_size=30000))
        print(len(found), found[-1])
    """
    assert run_fresh(code) == f"{len(pairs)} {pairs[-1]}"


def test_what_read_refuses(tmp_path):
    for options in ({"processes": 0}, {"split_size": 0}):
        with pytest.raises(ValueError):
            sequencefile.read(tmp_path, **options)
    assert list(sequencefile.read(tmp_path)) == list(sequencefile.read([])) == []
    (tmp_path / "empty").touch()
    with pytest.raises(tb.TruncatedError, match="empty: the file ends"):
        list(sequencefile.read(tmp_path))
    with pytest.raises(FileNotFoundError):
        list(sequencefile.read(tmp_path / "no"))


# -- map files --------------------------------------------------------------------------------------------


ORDERED = {
    "Text": ["", "a", "ab", "é", "€", "\uffff", "😀"],
    "BytesWritable": [b"", b"\0", b"a", b"a\xff", b"\xff"],
    "TypedBytesWritable": [b"", False, True, 1, -1, 2**40, "", "b", "aa"],
    "IntWritable": [-(2**31), -1, 0, 2**31 - 1],
    "LongWritable": [-(2**63), -1, 0, 2**63 - 1],
    "VIntWritable": [-(2**31), -1, 0, 300],
    "VLongWritable": [-(2**63), -1, 0, 2**40],
    "ShortWritable": [-5, 0, 5],
    "ByteWritable": [-5, 0, 5],
    "FloatWritable": [float("-inf"), -1.5, -0.0, 0.0, 1.5, float("inf"), float("nan")],  # as Float.compare has them
    "DoubleWritable": [float("-inf"), -1.5, -0.0, 0.0, 1.5, float("inf"), float("nan")],
    "BooleanWritable": [False, True],
}


@pytest.mark.parametrize("name", ORDERED)
@pytest.mark.parametrize("step", [1, 2, 10])
def test_map_files_of_every_order(name, step, tmp_path):
    (tmp_path / "map").mkdir()
    keys = ORDERED[name]
    with sequencefile.Writer(tmp_path / "map" / "data", key_class=name, value_class="Text") as data:
        with sequencefile.Writer(tmp_path / "map" / "index", key_class=name, value_class="LongWritable", compression="block") as index:
            for i, key in enumerate(keys):
                if i % step == 0:
                    index.write(key, data.offset)
                data.write(key, repr(key))
    with sequencefile.MapFile(tmp_path / "map") as file:
        for key in keys:
            assert file[key] == repr(key) and key in file
        assert [repr(key) for key, _ in file] == [value for _, value in file] == list(map(repr, keys))


def map_file(folder, data, index, key_class="IntWritable", value_class="Text", **options):
    """Write a MapFile: `index` says of which records, by number, or which place of `data` a key shall have."""
    places, sink = [], io.BytesIO()
    with sequencefile.Writer(sink, key_class=key_class, value_class=value_class, sync_marker=MARKER, **options) as writer:
        for pair in data:
            places.append(writer.offset)
            (writer.write_raw if type(pair[0]) is bytes else writer.write)(*pair)
    (folder / "data").write_bytes(sink.getvalue())
    entries = [(data[each][0], places[each]) if type(each) is int else each for each in index]
    with sequencefile.Writer(folder / "index", key_class=key_class, value_class="LongWritable", sync_marker=MARKER) as writer:
        for pair in entries:
            (writer.write_raw if type(pair[0]) is bytes else writer.write)(*pair)
    return places


@pytest.mark.parametrize(
    "key_class, raw, key, options",
    [
        ("Text", b"\x01\xff", "\udcff", {"unicode_errors": "surrogateescape"}),
        ("TypedBytesWritable", b"\0\0\0\6\x07\0\0\0\1\xff", "\udcff", {"unicode_errors": "surrogateescape"}),
        ("TypedBytesWritable", b"\0\0\0\1\x0c", None, {"dialect": "hive"}),
    ],
    ids=["Text", "STRING", "Hive's NULL"],
)
def test_a_map_file_looks_keys_up_as_its_reader_gives_them(tmp_path, key_class, raw, key, options):
    map_file(tmp_path, [(raw, b"\x02ok")], [], key_class)
    with sequencefile.MapFile(tmp_path, **options) as file:
        assert list(file) == [(key, "ok")]
        assert file[key] == file.get(key) == "ok" and key in file


def test_a_map_file_is_looked_up_while_it_is_iterated(tmp_path):
    map_file(tmp_path, NUMBERS, range(0, 1000, 100))
    with sequencefile.MapFile(tmp_path) as file:
        found = []
        for pair in file:
            found.append(pair)
            assert file[999 - pair[0]] == NUMBERS[999 - pair[0]][1]
            assert next(iter(file)) == NUMBERS[0]
        assert found == NUMBERS
    for use in (lambda: next(iter(file)), lambda: file[5], lambda: 5 in file):
        with pytest.raises(ValueError, match="closed"):
            use()


@pytest.mark.parametrize("index", [[], [500], range(300, 1000, 7)])
def test_an_index_that_knows_too_little(index, tmp_path):
    """Hadoop looks from the first record on, too."""
    map_file(tmp_path, NUMBERS, index)
    with sequencefile.MapFile(tmp_path) as file:
        for key in (0, 1, 299, 300, 301, 500, 999):
            assert file[key] == f"value {key}"
        assert -1 not in file and 1000 not in file


@pytest.mark.parametrize("place", [-1, 0, 10, 2**40, 2**63 - 1])
@pytest.mark.parametrize("last", [0, 1])
def test_an_index_that_leads_out_of_its_data(place, last, tmp_path):
    map_file(tmp_path, NUMBERS[:20], [*[0] * last, (NUMBERS[10][0], place)])
    with pytest.raises(tb.FormatError, match=f"its offset {place} is outside of the data file of") as caught:
        sequencefile.MapFile(tmp_path)
    with sequencefile.Reader(tmp_path / "index") as index:
        index.skip(last)
        assert caught.value.offset == index.offset


def test_an_index_that_is_not_in_order(tmp_path):
    places = map_file(tmp_path, NUMBERS, [0, 500, 100])
    with pytest.raises(tb.FormatError, match="not in order"):
        sequencefile.MapFile(tmp_path)
    map_file(tmp_path, NUMBERS, [0, (3, places[5]), (2, places[5])])
    with pytest.raises(tb.FormatError, match="not in order"):
        sequencefile.MapFile(tmp_path)
    map_file(tmp_path, NUMBERS, [0, (1, places[5]), (2, places[1])])
    with pytest.raises(tb.FormatError, match="not in order"):
        sequencefile.MapFile(tmp_path)


@pytest.mark.parametrize("name", [name for name in ORDERED if name not in ("BytesWritable", "TypedBytesWritable")])
def test_keys_of_a_map_file_that_are_none(name, tmp_path):
    for where in ("data", "index"):
        key = b"\xff" * 11 if where == "data" else sequencefile.encode(name, ORDERED[name][-1])
        places = map_file(tmp_path, [(key, b"")], [], name, "NullWritable")
        if where == "index":
            map_file(tmp_path, [(key, b"")], [(b"\xff" * 11, struct.pack(">q", places[0]))], name, "NullWritable")
        with pytest.raises(tb.DecodeError) as caught, sequencefile.MapFile(tmp_path) as file:
            file.get(ORDERED[name][-1])
        with sequencefile.Reader(tmp_path / where) as reader:
            assert caught.value.offset == reader.offset


def test_a_value_of_a_map_file_that_is_none(tmp_path):
    data = [(struct.pack(">i", key), b"\1\xff" if key == 3 else b"\1a") for key in range(5)]
    places = map_file(tmp_path, data, [])
    file = sequencefile.MapFile(tmp_path)
    assert file[2] == file[4] == "a"
    with pytest.raises(tb.FormatError, match="not UTF-8") as caught:
        file[3]
    assert caught.value.offset == places[3]
    with pytest.raises(tb.FormatError, match="not UTF-8"):
        list(file)
    file.close()
    with sequencefile.MapFile(tmp_path, resync=True) as file:
        assert [key for key, _ in file] == [0, 1, 2, 4]
        assert [each.offset for each in file.skipped] == [places[3]]


def test_a_decoder_of_a_map_file_raises_for_itself(tmp_path):
    data = written([(1, b"value")], key_class="IntWritable", value_class="my.Own")
    (tmp_path / "data").write_bytes(data)
    index = written([(1, sequencefile.Reader(data).offset)], key_class="IntWritable", value_class="LongWritable")
    (tmp_path / "index").write_bytes(index)
    with sequencefile.MapFile(tmp_path, decoders={"my.Own": {}.__getitem__}) as file:
        assert file.get(2, "none") == "none"
        with pytest.raises(KeyError, match="value"):
            file.get(1, "none")


def test_map_files_that_are_none(tmp_path):
    with pytest.raises(FileNotFoundError):
        sequencefile.MapFile(tmp_path)
    for name, key_class, value_class, error in (
        ("odd", "a.B", "LongWritable", TypeError),
        ("other", "Text", "IntWritable", tb.FormatError),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "data").write_bytes(written([], key_class=key_class))
        (tmp_path / name / "index").write_bytes(written([], key_class=key_class, value_class=value_class))
        with pytest.raises(error):
            sequencefile.MapFile(tmp_path / name)
    gc.collect()


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
