"""Options that are wrong, sources and sinks that fail, objects that are misused."""

import gc
import io
import random
import struct
import sys

import numpy
import pytest

import typedbytes as tb
from support.sequencefiles import files, header
from support.small_sequencefiles import FORMS, MARKER, NUMBERS, pairs_of, written
from support.subprocess_runs import run_fresh
from typedbytes import sequencefile
from typedbytes.sequencefile import _native as _sequence

pytestmark = [pytest.mark.free_threaded, pytest.mark.oldest_python, pytest.mark.lowest]


@pytest.mark.parametrize(
    "options, message",
    [
        ({"compression": "all"}, "compression"),
        ({"compression": "block", "codec": "lzo"}, "cannot be written, only read"),
        ({"version": 3}, "version must be 4 to 6"), ({"version": 7}, "version must be 4 to 6"),
        ({"version": 4, "compression": "block", "codec": "gzip"}, "no codec but DefaultCodec"),
        ({"version": 5, "metadata": {"a": "b"}}, "metadata"), ({"sync_marker": b"short"}, "16 bytes"),
        ({"sync_interval": 0}, "at least 1"), ({"block_size": 0}, "at least 1"),
        ({"block_size": 1 << 31}, "less than 2.30"),
    ],
)  # fmt: skip
def test_writer_options_that_are_refused(options, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        sequencefile.Writer(tmp_path / "f", **options)
    gc.collect()


def test_an_unknown_codec_is_named():
    with pytest.raises(
        tb.FormatError, match="unknown codec 'com.example.Best'; known: default, gzip, bzip2, snappy, lz4, zstd, lzo"
    ):
        sequencefile.Reader(header("a", "b", compressed=True, codec="com.example.Best"))
    with pytest.raises(
        tb.FormatError, match="unknown codec 'best'; known: default, gzip, bzip2, snappy, lz4, zstd, class names"
    ):
        sequencefile.Writer(io.BytesIO(), compression="block", codec="best")


REFUSED = {
    ("IntWritable", 3_000_000_000): "the int 3000000000 does not fit in an IntWritable (-2147483648 to 2147483647)",
    ("VIntWritable", -(2**31) - 1): "the int -2147483649 does not fit in a VIntWritable (-2147483648 to 2147483647)",
    ("ShortWritable", 32768): "the int 32768 does not fit in a ShortWritable (-32768 to 32767)",
    ("ByteWritable", 128): "the int 128 does not fit in a ByteWritable (-128 to 127)",
    ("LongWritable", 2**70): (
        "an int of 71 bits does not fit in a LongWritable (-9223372036854775808 to 9223372036854775807)"
    ),
    ("FloatWritable", 1e39): "the number 1e+39 is too large for a FloatWritable",
    ("DoubleWritable", 2**53 + 1): "an int of 54 bits is not exactly a DoubleWritable",
    ("DoubleWritable", 10**400): "an int of 1329 bits is too large for a DoubleWritable",
    ("BooleanWritable", 1): "a BooleanWritable cannot hold an object of type int",
    ("BytesWritable", "text"): "expected a bytes-like object for a BytesWritable, not str",
    ("Text", 1): "expected a str for a Text, not int",
    ("Foo", 1): (
        "unknown class 'Foo': pass encoders=, or bytes instead of int; known: TypedBytesWritable, BytesWritable, "
        "Text, IntWritable, LongWritable, VIntWritable, VLongWritable, ShortWritable, ByteWritable, FloatWritable, "
        "DoubleWritable, BooleanWritable, NullWritable"
    ),
}


@pytest.mark.parametrize("class_name, value", REFUSED, ids=lambda each: str(each)[:20])
def test_what_a_class_cannot_hold_is_named(class_name, value):
    message = REFUSED[class_name, value]
    with pytest.raises(tb.EncodeError) as caught:
        sequencefile.encode(class_name, value)
    assert str(caught.value) == message
    with sequencefile.Writer(io.BytesIO(), key_class=class_name) as writer, pytest.raises(tb.EncodeError) as caught:
        writer.write(value, 1)
    assert str(caught.value) == message


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


def test_a_child_forked_inside_a_record_cannot_close_its_parent_s_writer(tmp_path):
    code = """
        import os, sys
        from typedbytes import sequencefile
        def hook(value):
            if os.fork() == 0:
                try:
                    writer.close()
                except RuntimeError as error:
                    print(error, flush=True)
                os._exit(0)
            os.wait()
            return "by hook"
        with sequencefile.Writer(sys.argv[1], default=hook) as writer:
            writer.write("key", object())
    """
    assert run_fresh(code, tmp_path / "file") == "this Writer belongs to the process that created it"


def test_a_hook_that_re_enters():
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

    def __init__(self, capacity):
        self.capacity = capacity
        self.taken = b""

    def writable(self):
        return True

    def write(self, data):
        if not self.capacity:
            raise OSError("disk full")
        count = min(self.capacity, len(data), 1000)
        self.capacity -= count
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


def assert_raised_again(writer, error):
    """Check that each call of a writer that has failed raises what it failed with, and that it can be closed."""
    for call in (lambda: writer.write(1, 2), lambda: writer.writes([(1, 2)]), writer.sync, writer.flush):
        with pytest.raises(type(error)) as raised:
            call()
        assert raised.value is error
    writer.close()


def test_a_sink_that_fails():
    sink = Failing(3000)
    writer = sequencefile.Writer(sink)
    with pytest.raises(OSError, match="disk full") as first:
        writer.writes((i, "x" * 1000) for i in range(1000))
    assert_raised_again(writer, first.value)
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


def test_an_unclosed_writer_whose_sink_fails_warns_and_is_reported(monkeypatch):
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: reported.append(unraisable.exc_type))
    writer = sequencefile.Writer(Failing(100))
    writer.writes(NUMBERS)
    with pytest.warns(ResourceWarning, match="unclosed Writer"):
        del writer
        gc.collect()
    assert reported == [OSError]


def test_a_block_that_cannot_be_compressed_is_the_end():
    def fail(data):
        raise OSError("worn out")

    writer = _sequence.Writer(
        io.BytesIO(), key_class="a.B", value_class="a.B", compression="block", codec="c", compress=fail,
        sync_marker=MARKER,
    )  # fmt: skip
    writer.write(b"key", b"value")
    with pytest.raises(OSError, match="worn out") as first:
        writer.sync()
    assert_raised_again(writer, first.value)


@pytest.mark.parametrize("compression, codec", FORMS)
def test_typed_bytes_are_written_as_their_values(compression, codec):
    large = random.Random(1).randbytes(90_000)
    pairs = [
        *NUMBERS,
        ("key", [(1, 2.5), {}]),
        (large, large),
        *NUMBERS,
        *(("x" * (number % 50), number) for number in range(20_000)),
    ]
    for interval in (1, 1000, (1 << 63) - 1):
        options = {"compression": compression, "codec": codec, "sync_interval": interval, "sync_marker": MARKER}
        sink = io.BytesIO()
        with sequencefile.Writer(sink, **options) as writer:
            assert writer.write_typed(tb.Encoder().encode_pairs(pairs)) == len(pairs)
        assert sink.getvalue() == written(pairs, **options)


@pytest.mark.parametrize("value", [[1], 1], ids=["list", "scalar"])
@pytest.mark.parametrize("compression, codec", FORMS)
def test_typed_bytes_that_end_early_or_are_invalid(compression, codec, value):
    pair = tb.dumps("key") + tb.dumps(value)
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
            assert (writer.record, caught.value.record) == (2, 2) and caught.value.offset >= 2 * len(pair)
            assert writer.write_typed(pair) == 1
        assert sequencefile.Reader(sink.getvalue()).read_typed(1 << 20) == pair * 3


def test_typed_bytes_that_a_class_cannot_hold():
    for key_class, value_class, value, message in (
        ("Text", "Text", 1, "value of record 1: expected a str for a Text, not int"),
        ("Text", "IntWritable", 1 << 40, "value of record 1: the int 1099511627776 does not fit in an IntWritable"),
        ("LongWritable", "Text", "x", "key of record 0: a LongWritable cannot hold an object of type str"),
        ("Text", "NullWritable", 0, "value of record 1: a NullWritable cannot hold an object of type int"),
        ("Text", "my.Own", [1], "value of record 1: unknown class 'my.Own'"),
    ):
        good = {"Text": "t", "IntWritable": 5, "NullWritable": None, "my.Own": tb.Writable("my.Own", b"1")}[value_class]
        with sequencefile.Writer(io.BytesIO(), key_class=key_class, value_class=value_class) as writer:
            with pytest.raises(tb.EncodeError, match=f"^{message}"):
                writer.write_typed(tb.Encoder().encode_pairs([("k", good), ("k", value)]))
            assert writer.record == (0 if message.startswith("key") else 1)


SCALARS = [b"", b"bytes", tb.Byte(-1), True, 7, 1 << 40, tb.Float(0.5), 2.5, "", "text" * 9]


@pytest.mark.parametrize("compression, codec", FORMS)
def test_every_cut_of_a_scalar_is_found(compression, codec):
    for scalar in SCALARS:
        encoded = tb.dumps(scalar)
        for cut in [encoded[:n] for n in range(len(encoded))] + [
            encoded[:1] + b"\x7f\xff\xff\xff" + encoded[5:],
            encoded[:1] + b"\xff" * 8,
        ]:
            for bad in (encoded + cut, cut):
                with sequencefile.Writer(io.BytesIO(), compression=compression, codec=codec) as writer:
                    try:
                        wanted = list(tb.PairReader(bad, raw=True))
                    except tb.DecodeError as error:
                        with pytest.raises(type(error)) as caught:
                            writer.write_typed(bad)
                        assert (caught.value.offset, caught.value.code, writer.record) == (
                            error.offset,
                            error.code,
                            error.record,
                        )
                    else:
                        assert writer.write_typed(bad) == len(wanted)


@pytest.mark.parametrize("compression, codec", FORMS)
def test_a_scalar_with_a_wrong_length_is_refused(compression, codec):
    for scalar in SCALARS:
        encoded = tb.dumps(scalar)
        for wrong in (encoded + b"\0", encoded[:-1], encoded[:1] + b"\x7f\xff\xff\xff" + encoded[5:]):
            sink = io.BytesIO()
            with sequencefile.Writer(sink, compression=compression, codec=codec) as writer:
                writer.write(1, scalar)
                for pair in ((encoded, wrong), (wrong, encoded)):
                    writer.write_raw(*(struct.pack(">i", len(each)) + each for each in pair))
            objects = sequencefile.Reader(sink.getvalue(), resync=True)
            values = list(objects)
            typed = sequencefile.Reader(sink.getvalue(), resync=True)
            assert repr(list(tb.PairReader(typed.read_typed(1 << 20)))) == repr(values)
            assert len(values) + len(objects.skipped) == 3
            assert [each.error.offset for each in typed.skipped] == [each.error.offset for each in objects.skipped]


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


@pytest.mark.parametrize(
    "answer, error", [("text", TypeError), (None, BlockingIOError), (b"x" * 10**6, ValueError), (5, TypeError)]
)
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
    with pytest.raises(error, match="from the sink") as first:
        writer.write(*pair) if call == "write" else writer.write_typed(tb.Encoder().encode_pairs([pair]))
    assert_raised_again(writer, first.value)


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
def test_iterating_over_a_subclass_calls_its_next(kind):
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


def test_pairs_are_not_changed_by_the_next_step():
    """The tuple that is given out again is one that no code holds."""
    reader = sequencefile.Reader(written(NUMBERS[:20]))
    kept = list(reader)
    assert kept == NUMBERS[:20] and len(set(map(id, kept))) == 20
    reader = sequencefile.Reader(written([([i], [i]) for i in range(100)]))
    for i, (key, value) in enumerate(reader):
        assert (key, value) == ([i], [i])
        if i % 10 == 0:
            gc.collect()


def test_a_codec_by_itself_compresses(tmp_path):
    path = str(tmp_path / "a.seq")
    for options, expected in (
        ({"codec": "gzip"}, "block"),
        ({}, "none"),
        ({"codec": "gzip", "compression": "record"}, "record"),
    ):
        with sequencefile.open(path, "w", **options) as file:
            file.write("key", "text" * 100)
        with sequencefile.open(path) as file:
            assert (file.compression, list(file)) == (expected, [("key", "text" * 100)])
    with pytest.raises(tb.FormatError, match="unknown codec 'gz'; known: default, gzip, "):
        sequencefile.open(path, "w", codec="gz")


def test_what_is_not_a_sequencefile_is_named(tmp_path):
    (tmp_path / "a.tb").write_bytes(tb.dumps("text"))
    with pytest.raises(tb.FormatError, match=r"^.*a\.tb: not a SequenceFile: "):
        sequencefile.open(tmp_path / "a.tb")
    with pytest.raises(tb.FormatError, match="^not a SequenceFile: "):
        sequencefile.open(tb.dumps("text"))


@pytest.mark.parametrize(
    "read",
    [list, sequencefile.Reader.read_all, sequencefile.Reader.read_typed, sequencefile.Reader.skip],
    ids=lambda read: read.__name__,
)
def test_damage_after_the_header_names_the_file_too(tmp_path, read):
    path = tmp_path / "a.seq"
    with sequencefile.open(path, "w") as writer:
        writer.write("key", "value")
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])
    with sequencefile.open(path) as reader:
        for _ in range(2):  # the error that is kept
            with pytest.raises(tb.TruncatedError, match=r"^.*a\.seq: ") as caught:
                read(reader)
            assert caught.value.filename == path
    with pytest.raises(tb.TruncatedError) as caught:
        read(sequencefile.open(whole[:-3]))
    assert caught.value.filename is None


def test_a_source_cannot_close_the_reader_that_is_being_made():
    class Source:
        def read(self, _):
            with pytest.raises(RuntimeError, match="in use"):
                reader.close()
            return b""

    reader = sequencefile.Reader.__new__(sequencefile.Reader)
    with pytest.raises(tb.DecodeError):
        reader.__init__(Source())
    assert reader.closed


def test_a_writer_refuses_what_is_not_bytes_and_goes_on():
    sink = io.BytesIO()
    with sequencefile.Writer(sink) as writer:
        with pytest.raises(TypeError):
            writer.write_typed(5)
        writer.write(1, 2)
    assert list(sequencefile.Reader(sink.getvalue())) == [(1, 2)]


def test_a_length_of_numpy_is_a_number():
    sink = io.BytesIO()
    with sequencefile.Writer(sink, sync_interval=2000) as writer:
        writer.writes((number, "v" * 20) for number in range(5000))
    counts = [
        len(list(sequencefile.Reader(sink.getvalue(), start=20_000, length=length)))
        for length in (20_000, numpy.int16(20_000))
    ]
    assert counts[0] == counts[1] > 0
