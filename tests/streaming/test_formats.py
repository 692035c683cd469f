"""Text and raw bytes as records; what typed bytes are is tested with the codec."""

import io

import pytest

from typedbytes import FormatError, TruncatedError
from typedbytes._core import TextReader
from typedbytes.streaming.formats.raw_bytes import RawBytesInput, RawBytesOutput
from typedbytes.streaming.formats.record_io import BUFFER_NBYTES
from typedbytes.streaming.formats.text import TextInput, TextOutput

pytestmark = pytest.mark.quick


class OneByteFile(io.RawIOBase):
    """A source that gives a byte at a time."""

    def __init__(self, data):
        self._data = io.BytesIO(data)

    def readable(self):
        return True

    def readinto(self, buffer):
        return self._data.readinto(memoryview(buffer)[:1])


class ShortSink(io.BytesIO):
    """A sink that takes three bytes at a time."""

    def write(self, data):
        return super().write(data[:3])


def raw(*items):
    return b"".join(len(item).to_bytes(4, "big") + item for item in items)


def listed(groups):
    return [(key, list(values)) for key, values in groups]


def written(output, sink, pairs):
    output.writes(pairs)
    output.close()
    return sink.getvalue()


@pytest.mark.parametrize("source", [io.BytesIO, OneByteFile])
@pytest.mark.parametrize(
    "data, pairs",
    [
        (b"", []),
        (b"\n", [(0, "")]),
        (b"one\ntwo\t2\n", [(0, "one"), (1, "two\t2")]),
        (b"one\r\nlast", [(0, "one\r"), (1, "last")]),
        ("h\u00e9\U0001f40d\n".encode(), [(0, "h\u00e9\U0001f40d")]),
        (b"\xff\x00\n", [(0, "\udcff\x00")]),
    ],
)
def test_plain_lines(source, data, pairs):
    assert list(TextInput(source(data)).pairs()) == pairs


@pytest.mark.parametrize(
    "data, separator, nfields, pairs",
    [
        (b"a\t1\nb\t2\t3\n", b"\t", 1, [("a", "1"), ("b", "2\t3")]),
        (b"a\t\n\t1\nbare\n", b"\t", 1, [("a", ""), ("", "1"), ("bare", "")]),
        (b"a::1\n", b"::", 1, [("a", "1")]),
        (b"a\tb\t1\t2\n", b"\t", 2, [("a\tb", "1\t2")]),
        (b"short\t\n", b"\t", 2, [("short", "")]),
    ],
)
def test_lines_with_keys(data, separator, nfields, pairs):
    assert list(TextInput(io.BytesIO(data), separator, nfields).pairs()) == pairs


def test_text_input_counts_what_it_read():
    lines = TextInput(io.BytesIO(b"a\t1\nbc\t2\nd"), b"\t")
    assert [(lines.record, lines.offset) for _ in lines.pairs()] == [(1, 4), (2, 9), (3, 10)]
    assert lines.failure() is None
    assert lines.item_bytes("\udcff") == b"\xff"


def test_lines_in_groups():
    lines = TextInput(io.BytesIO(b"a\t1\na\t2\nb\t3\n\xff\t4\na\t5\n"), b"\t")
    assert listed(lines.groups()) == [("a", ["1", "2"]), ("b", ["3"]), ("\udcff", ["4"]), ("a", ["5"])]


@pytest.mark.parametrize(
    "pair, line",
    [
        (("a", 1), b"a\t1\n"),
        ((b"\xff", "\udcff"), b"\xff\t\xff\n"),
        ((None, True), b"None\tTrue\n"),
        ((1.5, (1, "x")), b"1.5\t(1, 'x')\n"),
        ((bytearray(b"a"), memoryview(b"b")), b"a\tb\n"),
        (("\u00e9", ""), b"\xc3\xa9\t\n"),
    ],
)
def test_text_output(pair, line):
    sink = io.BytesIO()
    assert written(TextOutput(sink, b"\t"), sink, [pair]) == line


@pytest.mark.parametrize("pair", [("a\nb", 1), ("a", "b\n"), (b"\n", b""), ("a\rb", 1), (b"a", b"b\r")])
def test_text_output_refuses_a_second_line(pair):
    sink = io.BytesIO()
    output = TextOutput(sink, b"\t")
    with pytest.raises(ValueError, match="line end inside a record"):
        output.writes([("first", 1), pair])
    output.close()
    assert sink.getvalue() == b"first\t1\n"


def test_output_goes_out_whole_when_the_buffer_is_full():
    sink = io.BytesIO()
    output = TextOutput(sink, b"\t")
    output.writes([("k", "x" * (BUFFER_NBYTES - 4))])
    assert sink.getvalue() == b""
    output.writes([("l", "")])
    assert sink.getvalue().endswith(b"x\nl\t\n")
    assert output.record == 2


def test_output_through_short_writes():
    sink = ShortSink()
    assert written(RawBytesOutput(sink), sink, [(b"key", b"value")]) == raw(b"key", b"value")


@pytest.mark.parametrize("source", [io.BytesIO, OneByteFile])
def test_raw_bytes(source):
    data = raw(b"", b"", b"k", b"v" * 300)
    items = RawBytesInput(source(data))
    assert list(items.pairs()) == [(b"", b""), (b"k", b"v" * 300)]
    assert (items.record, items.offset, items.failure()) == (2, len(data), None)


def test_raw_bytes_in_groups():
    items = RawBytesInput(io.BytesIO(raw(b"a", b"1", b"a", b"2", b"b", b"3")))
    assert listed(items.groups()) == [(b"a", [b"1", b"2"]), (b"b", [b"3"])]
    assert items.item_bytes(b"a") == b"a"


PAIR = raw(b"key", b"value")


@pytest.mark.parametrize("nbytes", range(1, len(PAIR)))
def test_raw_bytes_cut(nbytes):
    items = RawBytesInput(io.BytesIO(PAIR + PAIR[:nbytes]))
    with pytest.raises(TruncatedError) as caught:
        list(items.pairs())
    assert (caught.value.offset, caught.value.record) == (len(PAIR) + nbytes, 1)
    assert items.failure() is caught.value
    with pytest.raises(TruncatedError):
        next(items.pairs())


def test_raw_bytes_of_negative_length():
    items = RawBytesInput(io.BytesIO(raw(b"k") + b"\xff\xff\xff\xff"))
    with pytest.raises(FormatError, match="length -1 is negative") as caught:
        next(items.pairs())
    assert caught.value.offset == 5


def test_raw_bytes_of_a_length_that_is_not_there():
    with pytest.raises(TruncatedError):
        next(RawBytesInput(io.BytesIO(b"\x7f\xff\xff\xff" + b"k" * 10)).pairs())


@pytest.mark.parametrize("value", ["text", 5, None])
def test_raw_bytes_are_bytes(value):
    with pytest.raises(TypeError):
        RawBytesOutput(io.BytesIO()).writes([(b"k", value)])


def test_raw_bytes_from_any_contiguous_or_strided_buffer():
    sink = io.BytesIO()
    pair = bytearray(b"k"), memoryview(b"v1v2")[::2]
    assert written(RawBytesOutput(sink), sink, [pair]) == raw(b"k", b"vv")


@pytest.mark.parametrize("make", [lambda sink: TextOutput(sink, b"\t"), RawBytesOutput])
@pytest.mark.parametrize("pair", ["ab", b"ab", 5])
def test_a_pair_is_not_a_string(make, pair):
    with pytest.raises(TypeError, match="pair"):
        make(io.BytesIO()).writes([pair])


def text_groups():
    return TextInput(io.BytesIO(b"a\t1\na\t2\nb\t3\nb\t4\n"), b"\t").groups()


def test_values_not_read_are_skipped():
    assert [key for key, values in text_groups()] == ["a", "b"]
    assert [(key, next(values)) for key, values in text_groups()] == [("a", "1"), ("b", "3")]


def test_values_that_ended_stay_ended():
    _, values = next(text_groups())
    assert list(values) == ["1", "2"]
    assert list(values) == []


def test_values_are_gone_with_the_next_group():
    groups = text_groups()
    late = [values for key, values in groups]
    for values in late:
        for _ in range(2):
            with pytest.raises(RuntimeError, match="next group"):
                next(values)


def test_no_groups():
    assert listed(TextInput(io.BytesIO(b""), b"\t").groups()) == []


def test_a_separator_of_several_bytes_is_found_after_a_part_of_it():
    assert list(TextReader(b"axab1\nab\nax\n", separator=b"ab")) == [("ax", "1"), ("", ""), ("ax", "")]


def test_an_empty_separator_is_refused():
    with pytest.raises(ValueError, match="the separator must have at least one byte"):
        TextReader(b"", separator=b"")
