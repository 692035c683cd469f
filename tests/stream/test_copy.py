"""From a reader to a writer: all that is left is copied once, whatever fails."""

import io

import pytest

import typedbytes as tb
from support.writer_sinks import DATA, ENDS, PAIRS, PARTS, VALUES, RawSink

pytestmark = [pytest.mark.codec, pytest.mark.free_threaded, pytest.mark.oldest_python]

SOURCES = {
    "bytes": lambda data: data,
    "BytesIO": io.BytesIO,
    "short": lambda data: io.BufferedReader(io.BytesIO(data), 7),
}


@pytest.mark.parametrize("buffer_size", [1, 100, 65_536])
@pytest.mark.parametrize("source", SOURCES)
def test_copy_moves_all_that_is_left(source, buffer_size):
    sink = io.BytesIO()
    with (
        tb.Writer(sink, buffer_size=buffer_size) as writer,
        tb.Reader(SOURCES[source](DATA * 3), buffer_size=100) as reader,
    ):
        writer.write("first")
        assert reader.read() is True
        assert writer.copy(reader) == 3 * len(VALUES) - 1
        assert (reader.record, reader.offset, writer.record) == (3 * len(VALUES), 3 * len(DATA), 3 * len(VALUES))
        assert (writer.copy(reader), reader.read()) == (0, None)
        writer.write("last")
    assert sink.getvalue() == tb.dumps("first") + (DATA * 3)[2:] + tb.dumps("last")


@pytest.mark.parametrize("use", ["copy", "writes"])
@pytest.mark.parametrize("raw", [False, True])
def test_pairs_move_as_pairs(use, raw):
    sink = io.BytesIO()
    with (
        tb.PairWriter(sink, buffer_size=50) as writer,
        tb.PairReader(io.BytesIO(DATA), raw=raw, buffer_size=64) as reader,
    ):
        assert reader.skip() == 1
        assert getattr(writer, use)(reader) == len(PAIRS) - 1
        assert (writer.record, reader.record) == (len(PAIRS) - 1, len(PAIRS))
    if raw and use == "writes":
        # raw values are bytes like any others
        assert tb.Decoder().decode_all(sink.getvalue()) == PARTS[2:]
    else:
        assert sink.getvalue() == DATA[ENDS[2] :]


@pytest.mark.parametrize("use", ["copy", "writes"])
@pytest.mark.parametrize("bad", [b"\xff", b"\x09\x0c", b"\x03\0", b"\x02\1\x0b", b"\x02\1"])
def test_what_comes_before_a_fault_is_written(bad, use):
    sink = io.BytesIO()
    with tb.PairWriter(sink) as writer, tb.PairReader(io.BytesIO(DATA + bad), buffer_size=64) as reader:
        for _ in range(2):
            with pytest.raises(tb.DecodeError) as caught:
                getattr(writer, use)(reader)
            assert caught.value.record == len(PAIRS)
        assert (writer.record, reader.record) == (len(PAIRS), len(PAIRS))
    assert sink.getvalue() == DATA


@pytest.mark.parametrize("use", ["copy", "writes"])
def test_a_closed_writer_takes_nothing_from_a_reader(use):
    writer = tb.PairWriter(io.BytesIO())
    writer.close()
    with tb.PairReader(DATA) as reader:
        with pytest.raises(ValueError, match="closed writer"):
            getattr(writer, use)(reader)
        assert reader.read_all() == PAIRS


@pytest.mark.parametrize("use", ["copy", "writes"])
def test_a_sink_that_fails_loses_and_doubles_nothing_of_a_reader(use):
    sink = RawSink(3, OSError("later"), 2, OSError("later"))
    with tb.PairWriter(sink, buffer_size=30) as writer, tb.PairReader(DATA, buffer_size=64) as reader:
        for _ in range(2):
            with pytest.raises(OSError, match="later"):
                getattr(writer, use)(reader)
            assert (writer.record, writer.offset) == (reader.record, reader.offset)
        getattr(writer, use)(reader)
        assert writer.record == len(PAIRS)
    assert sink.getvalue() == DATA


def test_single_values_are_not_copied_as_pairs():
    sink = io.BytesIO()
    with tb.PairWriter(sink) as writer, tb.Reader(DATA[: ENDS[3]]) as reader:
        with pytest.raises((TypeError, ValueError)):
            writer.copy(reader)
    assert tb.Decoder().decode_pairs(sink.getvalue()) == []


@pytest.mark.parametrize("wrong", [None, DATA, [1], io.BytesIO(DATA)])
def test_copy_needs_a_reader(wrong):
    with tb.Writer(io.BytesIO()) as writer, pytest.raises(TypeError):
        writer.copy(wrong)


def test_a_reader_that_chooses_is_asked():
    class Chosen(tb.PairReader):
        def __next__(self):
            key, value = super().__next__()
            return key, "chosen"

    sink = io.BytesIO()
    with tb.PairWriter(sink) as writer, Chosen(tb.dumps("a") * 4) as reader:
        assert writer.writes(reader) == 2
    assert tb.Decoder().decode_pairs(sink.getvalue()) == [("a", "chosen")] * 2


def test_copy_in_the_middle_of_a_group_makes_no_pairs_up():
    sink = io.BytesIO()
    with (
        tb.PairWriter(sink) as writer,
        tb.PairReader(tb.Encoder().encode_pairs([("a", 1), ("b", 2), ("c", 3)])) as reader,
    ):
        next(reader.groups())
        for use in (writer.copy, writer.writes):
            with pytest.raises(RuntimeError):
                use(reader)
    assert sink.getvalue() == b""


def test_copy_and_its_ends_in_use():
    class Sink:
        def write(self, data):
            for use in (lambda: writer.copy(reader), writer.close, lambda: writer.writes(reader)):
                with pytest.raises(RuntimeError, match="in use"):
                    use()
            return len(data)

    with tb.PairWriter(Sink(), buffer_size=10) as writer, tb.PairReader(DATA) as reader:
        assert writer.copy(reader) == len(PAIRS)
