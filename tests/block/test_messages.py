"""Block messages: the bytes of every layout, every way to decode them, and malformed ones."""

import array
import copy
import ctypes
import enum
import hashlib
import io
import itertools
import pathlib
import pickle
import random
import struct
import subprocess
import sys

import hypothesis
import hypothesis.strategies as st
import numpy
import pyarrow
import pytest

import typedbytes as tb
from support import block_reference as slow
from support.block_calls import Pieces, by_feed, by_reader, formatted, same
from support.signal_checks import times_checked
from support.strategies import examples
from support.subprocess_runs import in_threads, run_fresh
from typedbytes.block import ArrowStream, BlockDecoder, BlockEncoder, BlockReader, BlockWriter, Command, Message
from typedbytes.block._native import array_view

pytestmark = [pytest.mark.free_threaded, pytest.mark.newest_python]

PYBUF_WRITABLE = 1

# -- bytes ------------------------------------------------------------------------------------------------

PUBLISHED_NBYTES = [4, 13, 24, 33, 47, 59, 72, 45_082, 163]
EXAMPLE = "00000004 00000002 00000001 61 00000001 00000005 68656c6c6f 00000003 d0f1db05 00000001 00000005 68656c6c6f"


def test_the_published_example():
    assert BlockEncoder().encode([Command("a"), "hello", -789456123, "hello"]) == bytes.fromhex(EXAMPLE)


@pytest.mark.parametrize("size", range(9))
def test_published_sizes(size):
    assert len(BlockEncoder().encode(slow.published(size))) == PUBLISHED_NBYTES[size]
    for wire in slow.WIRES:
        data = BlockEncoder(wire).encode(slow.published(size))
        assert data == slow.encode(wire, slow.published(size)), wire
        assert BlockDecoder(wire).feed(data) == [slow.published(size)]


@pytest.mark.parametrize("wire", slow.WIRES)
@pytest.mark.parametrize("size", [9, 10])
def test_the_largest_published_sizes(size, wire):
    data = BlockEncoder(wire).encode(slow.published(size))
    if size == 9 and wire in ("bytes", "native"):
        is_same = data == slow.encode(wire, slow.published(size))
        assert is_same  # without a comparison that pytest would show
    # Zeros around a few bytes of which all wires make as many zeros, or as many A:
    # the head and the tail stay as they are.
    few = slow.encode(wire, slow.published(size, bytes(99)))
    nraw, at = len(slow.published(size)[1]), few.index(b"AAAA" if wire == "line" else bytes(90))
    nbody = 4 * -(-nraw // 3) if wire == "line" else nraw + -nraw % 8
    nfew = 132 if wire == "line" else 99
    tail = few[at + nfew :].lstrip(b"\0A=")
    assert data.endswith(tail) and len(tail) >= 35
    assert len(data) - len(few) in range(nbody - nfew - 16, nbody - nfew + 1)
    if wire != "native":
        head = few[:at].replace(struct.pack(">i", 99), struct.pack(">i", nraw))
        assert data[4 * (wire == "total") :].startswith(head[4 * (wire == "total") :])


def test_a_large_message_equals_the_reference():
    args = slow.published(9, bytes(range(256)) * 1024)
    for wire in slow.WIRES:
        assert BlockEncoder(wire).encode(args) == slow.encode(wire, args), wire


TEXTS = st.text(max_size=20) | st.sampled_from(["\\", "\r\n", "a\\n", "\0", "é" * 40_000, "x" * 70_000])
INTS = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([-(2**31), 2**31 - 1, 2**31, -(2**31) - 1, 0])
PLAIN = st.one_of(TEXTS, TEXTS.map(Command), INTS, st.floats(), st.binary(max_size=40), st.just(bytes(70_000)))
MORE = st.one_of(
    st.booleans(),
    st.none(),
    st.integers(-128, 127).map(tb.Byte),
    st.integers(-(2**63), 2**63 - 1).map(tb.Long),
    st.floats(width=32).map(tb.Float),
    st.lists(st.integers() | st.text(max_size=5), max_size=4),
    st.tuples(st.text(max_size=3), st.lists(st.booleans(), max_size=2)),
    st.dictionaries(st.text(max_size=3), st.floats(), max_size=3),
    st.builds(tb.Ext, st.sampled_from([51, 144, 200]), st.binary(max_size=9)),
    st.binary(max_size=9).map(ArrowStream),
    st.builds(
        lambda kind, shape: numpy.arange(numpy.prod(shape, dtype=int)).astype(kind).reshape(shape),
        st.sampled_from(slow.ELEMENTS),
        st.lists(st.integers(0, 4), max_size=3),
    ),
)


def plain(value):
    """Return what a value is read back as."""
    return (
        int(value) if isinstance(value, (tb.Byte, tb.Long)) else float(value) if isinstance(value, tb.Float) else value
    )


@examples(150)
@hypothesis.given(st.lists(PLAIN, max_size=8), st.sampled_from(slow.LAYOUTS))
def test_legacy_layouts_equal_the_reference_and_round_trip(args, wire):
    if wire == "line":
        args = [
            Command(value.replace("\r", "").replace("\n", "")) if isinstance(value, Command) else value
            for value in args
        ]
    data = BlockEncoder(wire).encode(args)
    assert data == slow.encode(wire, args)
    (message,) = BlockDecoder(wire).feed(data)
    if wire in ("line", "block"):  # "nan" has no payload
        args = [float("nan") if value != value else value for value in args]
    assert formatted(message) == formatted(args)
    assert message.id is None


@examples(150)
@hypothesis.given(st.lists(PLAIN | MORE, max_size=8), st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_native_messages_equal_the_reference_and_round_trip(args, id, reply, checksum):
    data = BlockEncoder("native", checksum=checksum).encode(args, id=id, reply=reply)
    if len(data) < 60_000 or not checksum:
        assert data == slow.encode("native", args, id, reply, checksum)
    (message,) = BlockDecoder().feed(data)
    assert formatted(message) == formatted(map(plain, args))
    assert (message.id, message.wants_reply) == (id, reply)


def test_a_decoder_recognises_native_messages():
    for wire in slow.LAYOUTS:
        data = b"".join(BlockEncoder(each).encode(["x", 1]) for each in (wire, "native", wire, 1, "native", wire))
        assert [message.id for message in BlockDecoder(wire).feed(data)] == [None, 0, None, 0, 0, None]
    with pytest.raises(tb.BlockError, match="a native message starts with f5, not 00 at offset 0"):
        BlockDecoder("native").feed(bytes(4))


# -- values -----------------------------------------------------------------------------------------------

BYTES_LIKE = [b"ab", bytearray(b"ab"), memoryview(b"ab"), memoryview(b"abab")[::2][:2], array.array("B", b"ab"),
              numpy.frombuffer(b"ab", "u1"), (ctypes.c_char * 2)(*b"ab")]  # fmt: skip


@pytest.mark.parametrize("value", BYTES_LIKE, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("wire", slow.LAYOUTS)
def test_every_buffer_is_bytes_in_legacy_layouts(wire, value):
    (message,) = BlockDecoder(wire).feed(BlockEncoder(wire).encode([value]))
    assert message == [bytes(value)]


@pytest.mark.parametrize("value", BYTES_LIKE, ids=lambda value: type(value).__name__)
def test_native_messages_keep_arrays_as_arrays(value):
    (message,) = BlockDecoder().feed(BlockEncoder("native").encode([value]))
    assert type(message[0]) is (memoryview if isinstance(value, (array.array, numpy.ndarray)) else bytes)
    assert bytes(message[0]) == bytes(value)


@pytest.mark.parametrize("letter", "bBhHiIlLqQfd")
def test_arrays_of_every_letter(letter):
    given = array.array(letter, [1, 2, 100])
    (message,) = BlockDecoder().feed(BlockEncoder("native").encode([given]))
    assert (message[0].itemsize, message[0].tolist(), message[0].readonly) == (given.itemsize, [1, 2, 100], True)


def test_arrays_that_are_not_in_a_row():
    for value in (numpy.arange(12).reshape(3, 4).T, numpy.arange(12)[::-2], numpy.asfortranarray(numpy.eye(3))):
        (message,) = BlockDecoder().feed(BlockEncoder("native").encode([value]))
        assert numpy.array_equal(message[0], value)


def test_arrays_of_the_other_byte_order_are_byte_swapped():
    data = bytearray(BlockEncoder("native").encode([numpy.arange(5, dtype="i4")]))
    data[4] &= ~1
    data[48:] = numpy.arange(5, dtype=">i4").tobytes()
    (message,) = BlockDecoder().feed(data)
    assert message[0].tolist() == [0, 1, 2, 3, 4]


def test_numbers_of_numpy_are_numbers():
    args = [numpy.int8(5), numpy.uint64(2**62), numpy.float32(1.5), numpy.float64(2.5), numpy.bool_(True)]
    assert BlockDecoder().feed(BlockEncoder("native").encode(args)) == [[5, 2**62, 1.5, 2.5, True]]
    assert BlockDecoder().feed(BlockEncoder().encode(args[:4])) == [[5, 2**62, 1.5, 2.5]]


NO_CODE = {
    "bool": ([True], "the legacy layouts have no type for bool: pass default=, or use wire='native', at [0]"),
    "None": ([1, None], "the legacy layouts have no type for None: pass default=, or use wire='native', at [1]"),
    "list": ([[1]], "the legacy layouts have no type for list: pass default=, or use wire='native', at [0]"),
    "dict": ([{}], "the legacy layouts have no type for dict: pass default=, or use wire='native', at [0]"),
    "arrow": ([1, ArrowStream(b"abc")],
              "the legacy layouts have no type for ArrowStream: pass default=, or use wire='native', at [1]"),
    "table": ([pyarrow.table({"n": [1]})],
              "the legacy layouts have no type for Table: pass default=, or use wire='native', at [0]"),
    "wide": ([2**63], "int does not fit 64 bits, at [0]"),
    "surrogate": (["\ud800"], "str cannot be encoded as UTF-8: surrogates not allowed, at [0]"),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_CODE)
@pytest.mark.parametrize("wire", slow.LAYOUTS)
def test_values_without_a_type_in_legacy_layouts(wire, name):
    args, text = NO_CODE[name]
    encoder = BlockEncoder(wire)
    with pytest.raises(tb.EncodeError) as caught:
        encoder.encode(args)
    assert str(caught.value) == text
    assert encoder.encode(["still"]) == slow.encode(wire, ["still"])


@pytest.mark.parametrize(
    "value",
    [
        object(),
        numpy.longdouble(1),
        numpy.zeros(2, "c8"),
        numpy.zeros(2, ">i4"),
        numpy.array([None]),
        [object()],
        numpy.datetime64("2020"),
        numpy.timedelta64(5, "s"),
    ],
    ids=["object", "longdouble", "complex64", "big_endian", "objects", "list", "datetime64", "timedelta64"],
)
def test_values_without_a_type_in_native_messages(value):
    with pytest.raises(tb.EncodeTypeError) as caught:
        BlockEncoder("native").encode([1, value])
    assert caught.value.path.startswith("[1]")


@pytest.mark.parametrize("code", [11, 12])
def test_hives_codes_are_no_types_of_native_messages(code):
    value = tb.Ext(code, bytes(2) if code == 11 else b"")
    encoder = BlockEncoder("native", dialect="hive")
    with pytest.raises(tb.EncodeTypeError, match=rf"no type {code}.*\[1\]"):
        encoder.encode([1, value])
    (message,) = BlockDecoder(dialect="hive", exact=True).feed(encoder.encode([[value]]))
    assert message == [[value if code == 11 else None]]


@pytest.mark.parametrize("wire", slow.WIRES)
def test_exact_messages_keep_the_widths_of_their_numbers(wire):
    args = [tb.Long(5), 7, 2**40, 1.5, tb.Long(-(2**31))]
    args += [tb.Byte(-2), tb.Float(0.5), True, None, [tb.Long(3)]] * (wire == "native")
    sent = BlockEncoder(wire).encode(args)
    (found,) = BlockDecoder(wire, exact=True).feed(sent)
    assert [type(value) for value in found] == [type(value) for value in args] and found == args
    assert BlockEncoder(wire).encode(found) == sent
    (plain,) = BlockDecoder(wire).feed(sent)
    assert plain == args and not {tb.Long, tb.Byte, tb.Float} & {type(value) for value in plain}


class Text(str):
    """A str that is more."""


class Order(Command):
    """A Command that is more."""


def test_subclasses_are_what_they_are_made_of():
    values = [enum.IntEnum("Number", "one two").two, Text("abc"), Order("go")]
    for wire in slow.WIRES:
        (message,) = BlockDecoder(wire).feed(BlockEncoder(wire).encode(values))
        assert list(map(type, message)) == [int, str, Command] and message == [2, "abc", "go"]


def test_commands_that_come_again_are_those_that_were_sent():
    """A reader keeps some: texts of one length that begin and end alike are other texts."""
    texts = [*(f"a{number}z" for number in range(10)), "", "\u20ac", "a\u20acz", "a\0z", "x" * 64, "x" * 65] * 3
    messages = [[Command(text), text] for text in texts]
    for wire in ("native", "bytes"):
        found = list(BlockReader(b"".join(map(BlockEncoder(wire).encode, messages)), wire))
        assert found == messages
        assert all(type(command) is Command and type(text) is str for command, text in found)


def test_tables_of_arrow_go_as_streams():
    table = pyarrow.table({"word": ["a", None], "n": [1, 2]})
    for value in (table, table.to_batches()[0]):
        (message,) = BlockDecoder().feed(BlockEncoder("native").encode([1, value]))
        assert pyarrow.ipc.open_stream(message[1].data).read_all() == table
    assert BlockEncoder(default=lambda value: value.num_rows).encode([table]) == slow.encode("bytes", [2])


def test_buffers_without_a_memoryview():
    gone = memoryview(b"abc")
    gone.release()
    kind = ctypes.c_byte
    for _ in range(65):  # one dimension more than a memoryview has
        kind = kind * 1
    for value in (gone, kind()):
        for wire in ("bytes", "native"):
            with pytest.raises(tb.EncodeTypeError, match="cannot encode an object of type"):
                BlockEncoder(wire).encode([value])


def oversized(nbytes):
    """Return a buffer that declares nbytes bytes, which must not be read."""
    return (ctypes.c_ubyte * nbytes).from_address(4096)


@pytest.mark.parametrize("wire", slow.LAYOUTS)
def test_values_longer_than_their_length_field(wire):
    encoder = BlockEncoder(wire)
    with pytest.raises(tb.EncodeValueError, match=r"2147483648 bytes are more than 2\^31-1.*\[1\]"):
        encoder.encode([1, oversized(2**31)])
    assert encoder.encode([1]) == slow.encode(wire, [1])


def test_a_message_longer_than_its_total_field():
    encoder = BlockEncoder("total")
    with pytest.raises(tb.EncodeValueError, match=r"a message of 2147483676 bytes is longer than 2147483647"):
        encoder.encode([oversized(2**30)] * 2 + [1])
    assert encoder.encode([1]) == slow.encode("total", [1])


def test_parts_beyond_all_memory():
    encoder = BlockEncoder("native")
    with pytest.raises(MemoryError):
        encoder.encode([oversized(2**60)] * 3)
    assert encoder.encode([1]) == slow.encode("native", [1])
    with pytest.raises(tb.EncodeValueError, match=r"too large for a FLOAT.*\[1\]"):
        encoder.encode([1, tb.Float(1e300)])


def test_default_replaces():
    assert BlockEncoder(default=repr).encode([None, [True]]) == BlockEncoder().encode(["None", "[True]"])
    assert BlockEncoder("native", default=lambda value: 5).encode([object()]) == BlockEncoder("native").encode([5])
    with pytest.raises(tb.EncodeValueError, match="64 replacements"):
        BlockEncoder(default=lambda value: [value]).encode([None])


def test_a_hook_that_changes_the_message_is_caught():
    args = [None] * 5
    for change in (args.pop, lambda: args.append(1)):
        encoder = BlockEncoder(default=lambda value: change() or 1)
        with pytest.raises(RuntimeError, match="changed size"):
            encoder.encode(args)
        assert encoder.encode([]) == bytes(4)


@pytest.mark.parametrize("text", ["a\r", "a\nb", "\n"])
def test_a_command_with_a_line_end_is_not_a_line(text):
    encoder = BlockEncoder("line")
    with pytest.raises(tb.EncodeValueError, match=r"a Command in the layout 'line' cannot contain CR or LF, at \[1\]"):
        encoder.encode(["a", Command(text)])
    assert encoder.encode([text]) == slow.encode("line", [text])
    assert BlockDecoder("block").feed(BlockEncoder("block").encode([Command(text)])) == [[text]]


@pytest.mark.parametrize("wire", ["header", "native"])
def test_a_hook_that_lengthens_the_message_writes_nothing_after_its_table(wire):
    code = """
        import sys
        from typedbytes.block import BlockEncoder
        def lengthen(value):
            args.extend([1] * 300_000)
            return 5
        for _ in range(20):
            args = [object()]
            try:
                BlockEncoder(sys.argv[1], default=lengthen).encode(args)
            except RuntimeError as error:
                print(error)
    """
    assert run_fresh(code, wire).split("\n") == ["the message changed size while it was encoded"] * 20


def test_a_hook_that_re_enters_is_refused():
    encoder = BlockEncoder(default=lambda value: encoder.encode([1]))
    with pytest.raises(RuntimeError, match="in use"):
        encoder.encode([None])


@pytest.mark.parametrize("args", ["text", b"bytes", {"a": 1}, 5])
def test_a_message_is_a_sequence(args):
    with pytest.raises(TypeError):
        BlockEncoder().encode(args)
    assert BlockEncoder().encode(iter([1])) == BlockEncoder().encode([1])


def test_encode_into():
    encoder, data = BlockEncoder("total"), slow.encode("total", ["abc", bytes(70_000)])
    for buffer, offset in (
        (bytearray(), 0),
        (bytearray(3), 2),
        (bytearray(80_000), 5),
        (memoryview(bytearray(80_000)), 7),
    ):
        assert encoder.encode_into(["abc", bytes(70_000)], buffer, offset) == len(data)
        assert bytes(buffer[offset : offset + len(data)]) == data
    small = bytearray(b"kept")
    for buffer, offset in ((memoryview(small), 0), (small, 5), (small, -1)):
        with pytest.raises(ValueError):
            encoder.encode_into([1], buffer, offset)
    assert small == b"kept"


@pytest.mark.parametrize(
    "use",
    [
        lambda: BlockEncoder("wire"), lambda: BlockEncoder(2), lambda: BlockDecoder("wire"),
        lambda: BlockEncoder(checksum=True), lambda: BlockDecoder(max_bytes=0), lambda: BlockReader(b"", buffer_size=0),
        lambda: BlockWriter(io.BytesIO(), buffer_size=-1), lambda: BlockEncoder().encode([], id=1),
        lambda: BlockEncoder("native").encode([], id=2**32), lambda: BlockEncoder().encode([], reply=True),
        lambda: BlockReader(io.BytesIO(), "native").read_bytes(-1),
    ],
)  # fmt: skip
def test_options_are_checked(use):
    with pytest.raises(ValueError):
        use()


def test_streams_and_messages_are_compared_by_what_they_hold():
    stream = ArrowStream(b"abc")
    assert stream == ArrowStream(bytearray(b"abc")) and stream != ArrowStream(b"abd") and stream != b"abc"
    assert repr(stream) == "<ArrowStream of 3 bytes>"
    one, other, third = BlockDecoder().feed(slow.encode("bytes", [1]) * 2 + slow.encode("bytes", [2]))
    assert one == other and one != third


def test_the_elements_of_a_message_cannot_be_changed():
    (message,) = BlockDecoder().feed(BlockEncoder("native").encode([numpy.arange(9)]))
    with pytest.raises(BufferError, match="cannot be changed"):
        ctypes.pythonapi.PyObject_GetBuffer(
            ctypes.py_object(message[0].obj), ctypes.create_string_buffer(200), PYBUF_WRITABLE
        )
    assert message[0].tolist() == [*range(9)]


@pytest.mark.parametrize(
    "made",
    [BlockEncoder(), BlockDecoder(), BlockReader(b""), BlockWriter(io.BytesIO())],
    ids=lambda made: type(made).__name__,
)
def test_what_moves_messages_is_neither_pickled_nor_made_twice(made):
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(made)
    if type(made) is BlockEncoder:
        made.__init__("type8")  # an encoder has nothing to lose
        assert made.encode([1]) == slow.encode("type8", [1])
    else:
        with pytest.raises(RuntimeError, match="initialised again"):
            made.__init__(b"")


def test_a_hook_cannot_initialise_its_encoder_again():
    encoder = BlockEncoder("bytes", default=lambda value: encoder.__init__("type8"))
    with pytest.raises(RuntimeError, match="in use"):
        encoder.encode([object()])
    assert encoder.encode([1]) == slow.encode("bytes", [1])


def test_what_was_never_made():
    """An object made by __new__ alone refuses each call."""
    encoder = BlockEncoder.__new__(BlockEncoder)
    for use in (lambda: BlockDecoder.__new__(BlockDecoder).feed(b""), lambda: encoder.encode(["\u20ac"])):
        with pytest.raises(ValueError, match="not initialised"):
            use()
    encoder.__init__("type8")
    assert encoder.encode([1]) == slow.encode("type8", [1])


@pytest.mark.parametrize("wire", ["header", "native"])
def test_very_long_messages_between_short_ones(wire):
    messages = [[1], list(range(9000)), ["a"], ["x"] * 5000]
    data = b"".join(slow.encode(wire, args) for args in messages)
    assert BlockDecoder(wire).feed(data) == messages
    assert list(BlockReader(Pieces([data[:50_000], data[50_000:]]), wire)) == messages


def test_messages_are_sequences():
    (message,) = BlockDecoder().feed(BlockEncoder("native").encode([1, "a"], id=3))
    assert (len(message), message[-1], message[:1], "a" in message, list(message)) == (2, "a", (1,), True, [1, "a"])
    assert message == (1, "a") == message == [1, "a"] and message != [1] and message != "1a"
    assert repr(message) == "Message((1, 'a'), id=3)"
    with pytest.raises(TypeError):
        pickle.dumps(message)
    assert not Message()


# -- ways of decoding -------------------------------------------------------------------------------------


EVERYTHING = [
    None,
    True,
    -5,
    2**40,
    1.5,
    Command("do"),
    "na\u00efve \\ \r\n",
    b"raw\0",
    numpy.arange(6).reshape(2, 3),
    [1, {"k": (2,)}],
    ArrowStream(b"abc"),
]


def samples(wire):
    """Return the bytes of some messages."""
    lists = [slow.published(size) for size in (0, 1, 2, 5, 6, 8)] + [
        ["", b"", "\\\r\n", "\u20ac", float("nan"), -0.0, 1e300, float("-inf")]
    ]
    lists += [EVERYTHING] if wire == "native" else []
    return [slow.encode(wire, args, checksum=wire == "native" and index % 2) for index, args in enumerate(lists)]


@pytest.mark.parametrize("wire", slow.WIRES)
def test_every_split_and_every_cut(wire):
    for data in samples(wire):
        stream = data + slow.encode(wire, ["next"])
        expected = slow.decode(wire, stream)
        assert expected[1] is None
        same(by_feed(wire, [stream[at : at + 1] for at in range(len(stream))]), expected)
        for at in range(len(stream)):
            same(by_feed(wire, [stream[:at], stream[at:]]), expected)
            same(by_reader(wire, [stream[:at], stream[at:]]), expected)
            cut = slow.decode(wire, stream[:at])
            same(by_feed(wire, [stream[:at]]), cut)
            same(by_reader(wire, [stream[:at]]), cut)
            assert at in (0, len(data)) or cut[1][0] is tb.TruncatedError


@pytest.mark.parametrize("wire", slow.WIRES)
def test_spoiled_messages_come_to_what_the_reference_says(wire):
    rng = random.Random(wire)
    seeds = samples(wire)
    for _ in range(3000):
        data = bytearray(b"".join(rng.choices(seeds, k=rng.choice((1, 1, 2)))))
        for _ in range(rng.choice((1, 1, 2, 3))):
            at = rng.randrange(len(data))
            kind = rng.randrange(5)
            if kind == 0:
                data[at] ^= 1 << rng.randrange(8)
            elif kind == 1:
                data[at] = rng.choice((0, 1, 2, 5, 6, 0x20, 0x7F, 0x80, 0xF5, 0xFF))
            elif kind == 2:
                data[at : at + 4] = struct.pack(
                    ">i", rng.choice((0, 1, -1, 2**31 - 1, -(2**31), 65_535, 65_536, len(data)))
                )
            elif kind == 3:
                del data[at : rng.choice((at + 1, len(data)))]
            else:
                data[at:at] = rng.randbytes(rng.randrange(3))
            if not data:
                break
        limit = rng.choice((None, None, 30, 200))
        expected = slow.decode(wire, data, limit)
        at = rng.randint(0, len(data))
        same(by_feed(wire, [data], max_bytes=limit), expected)
        same(by_feed(wire, [data[:at], data[at:]], max_bytes=limit), expected)
        same(by_reader(wire, [bytes(data[:at]), bytes(data[at:])], max_bytes=limit), expected)


@pytest.mark.parametrize("wire", slow.WIRES)
def test_large_values_in_pieces(wire):
    args = ["x" * 65_535, "y" * 65_536, bytes(range(256)) * 1200, "\u20ac" * 30_000, Command("z" * 70_000), 5]
    data = slow.encode(wire, args)
    for step in (999, 65_536, 300_001):
        chunks = [data[at : at + step] for at in range(0, len(data), step)]
        same(by_feed(wire, chunks), ([(0 if wire == "native" else None, args)], None))
        same(by_reader(wire, chunks), ([(0 if wire == "native" else None, args)], None))


# -- O1 to O9 ---------------------------------------------------------------------------------------------

MALFORMED = {
    "total_negative": ("total", "ffffffff", tb.BlockError, 0),
    "total_zero": ("total", "00000000", tb.BlockError, 0),
    "total_three": ("total", "00000003 000000", tb.BlockError, 0),
    "total_most": ("total", "7fffffff 00000001", tb.TruncatedError, 8),
    "total_value_beyond": ("total", "0000000c 00000001 00000001 00000005 61", tb.BlockError, 8),
    "total_left_over": ("total", "00000005 00000000 00", tb.BlockError, 8),
    "count_negative": ("bytes", "ffffffff", tb.BlockError, 0),
    "count_most": ("bytes", "7fffffff", tb.TruncatedError, 4),
    "length_negative": ("bytes", "00000001 00000000 ffffffff", tb.BlockError, 8),
    "length_most": ("bytes", "00000001 00000000 7fffffff 00", tb.TruncatedError, 13),
    "type": ("type8", "00000002 03 00000001 06", tb.BlockError, 9),
    "header_length": ("header", "00000001 00000000 80000000", tb.BlockError, 8),
    "header_int": ("header", "00000002 00000000 00000000 00000003 00000005", tb.BlockError, 16),
    "header_int_of_a_long": ("header", "00000001 00000003 00000008 0000000000000000", tb.BlockError, 8),
    "header_long": ("header", "00000001 00000004 00000004 00000000", tb.BlockError, 8),
    "header_double": ("header", "00000001 00000005 00000000", tb.BlockError, 8),
    "header_double_most": ("header", "00000001 00000005 7fffffff", tb.BlockError, 8),
    "header_number_cut": ("header", "00000001 00000004 00000008 00000000", tb.TruncatedError, 16),
    "block_number": ("block", "00000001 00000003 00000002 2b31", tb.BlockError, 12),
    "block_wide": ("block", "00000001 00000003 0000000a 32313437343833363438", tb.BlockError, 12),
    "line_type": ("line", "36 0a", tb.BlockError, 0),
    "line_escape": ("line", "31 0a 5c78 0a", tb.BlockError, 2),
    "line_half_an_escape": ("line", "31 0a 5c5c5c 0a", tb.BlockError, 2),
    "line_return_in_a_command": ("line", "32 0a 610d 0a", tb.BlockError, 2),
    "line_base64": ("line", "30 0a 41 0a", tb.BlockError, 2),
    "line_cut": ("line", "31 0a 61", tb.TruncatedError, 3),
    "utf8": ("bytes", "00000001 00000001 00000002 61ff", tb.BlockError, 13),
    "native_count": ("native", "f5424201 00030000 ffffffff 00000000 0000000000000000", tb.TruncatedError, 24),
    "native_body": ("native", "f5424201 00030000 00000000 00000000 0000000000000001", tb.BlockError, 24),
    "native_version": ("native", "f5424202", tb.BlockError, 3),
    "native_reserved": ("native", "f5424201 00030001 00000000 00000000 0000000000000000", tb.BlockError, 6),
    "native_shared": ("native", "f5424201 08030000 00000000 00000000 0000000000000000", tb.BlockError, 4),
    "native_long_body": ("native", "f5424201 00030000 00000000 00000000 8000000000000000", tb.BlockError, 16),
    "native_promise": (
        "native", "f5424201 00030000 00000001 00000000 4000000000000000 00000000 00000000 4000000000000000",
        tb.TruncatedError, 40,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_messages(name):
    wire, digits, kind, offset = MALFORMED[name]
    data = bytes.fromhex(digits)
    for decode in (by_feed, by_reader):
        messages, found = decode(wire, [data])
        assert (messages, found[0], found[1]) == ([], kind, offset)
    same(by_feed(wire, [data]), slow.decode(wire, data))


def test_declared_lengths_take_no_memory():
    code = """
        import sys, tracemalloc
        from typedbytes.block import BlockDecoder, BlockReader
        import typedbytes, io
        tracemalloc.start()
        for line in sys.argv[1:]:
            wire, digits = line.split("=")
            data = bytes.fromhex(digits)
            for use in (lambda: BlockDecoder(wire).feed(data), lambda: list(BlockReader(io.BytesIO(data), wire))):
                try:
                    use()
                except typedbytes.DecodeError:
                    pass
        print(tracemalloc.get_traced_memory()[1] < 2 << 20)
    """
    assert run_fresh(code, *(f"{wire}={digits}" for wire, digits, *_ in MALFORMED.values())) == "True"


@pytest.mark.parametrize("wire", ["bytes", "native"])
def test_the_memory_of_a_long_message_is_freed(wire):
    code = f"""
        import gc, tracemalloc
        from typedbytes.block import BlockDecoder, BlockEncoder
        item, encoder = None if {wire!r} == "native" else "", BlockEncoder({wire!r})
        few, many = (encoder.encode([item] * count) for count in (10, 100_000))
        decoder = BlockDecoder({wire!r})
        decoder.feed(few)
        tracemalloc.start()
        held = []
        for data in (few, many, few):
            decoder.feed(data[:-1])
            decoder.feed(data[-1:])
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
        print(held[1] - held[0] < 100_000, held[2] - held[0] < 100_000)
    """
    assert run_fresh(code) == "True True"


def test_a_limit_holds_for_each_message():
    data = slow.encode("bytes", ["x" * 100]) * 2
    assert len(BlockDecoder(max_bytes=112).feed(data)) == 2
    decoder = BlockDecoder(max_bytes=111)
    with pytest.raises(tb.LimitError) as caught:
        decoder.feed(data)
    assert caught.value.offset == 0


def test_messages_before_a_fault_are_not_lost():
    decoder = BlockDecoder()
    assert decoder.feed(bytes(8) + b"\xff" * 4) == [[], []]
    for use in (decoder.close, lambda: decoder.feed(b"")):
        with pytest.raises(tb.BlockError) as caught:
            use()
        assert (caught.value.offset, caught.value.record) == (8, 2)


def test_a_message_in_a_message_is_bytes():
    inner = slow.encode("native", [1])
    for wire in slow.WIRES:
        assert BlockDecoder(wire).feed(slow.encode(wire, [inner, inner])) == [[inner, inner]]


def test_signals_are_handled_among_many_messages():
    data = bytes(4 << 20)
    assert times_checked(lambda: BlockDecoder().feed(data)) > 200
    assert times_checked(lambda: BlockDecoder().feed(BlockEncoder().encode([1] * 10**6))) > 100


def test_a_million_empty_messages_in_a_row():
    decoder = BlockDecoder()
    assert sum(len(decoder.feed(bytes(4000))) for _ in range(1000)) == 10**6
    assert (decoder.pending, decoder.skipped) == (0, 0)


@pytest.mark.parametrize("checksum", [False, True])
def test_each_flipped_bit_of_a_checked_message_is_seen(checksum):
    data = BlockEncoder("native", checksum=True).encode(EVERYTHING, id=7)
    for at, bit in itertools.product(range(len(data)), range(8)):
        spoiled = bytearray(data)
        spoiled[at] ^= 1 << bit
        messages, error = by_feed("native", [spoiled])
        assert error is not None
        assert not messages or (at, bit) == (4, 1)  # the flag itself: the checksum is then the start of a bad message


SKIPPABLE = {
    "text": ("bytes", ["ab"], lambda data: data[:-1] + b"\xff"),
    "number": ("block", [1], lambda data: data[:-1] + b"x"),
    "base64": ("line", [b"abc"], lambda data: data.replace(b"YWJj", b"YWJ!")),
    "type_in_a_frame": ("total", [1], lambda data: data[:11] + b"\x09" + data[12:]),
    "beyond_a_frame": ("total", ["abc"], lambda data: data[:15] + b"\x09" + data[16:]),
    "left_over_in_a_frame": ("total", [1, 2], lambda data: data[:7] + b"\1" + data[8:]),
    "nested": ("native", [[1]], lambda data: data[:-1] + b"\0"),
    "checksum": ("native", ["abc"], lambda data: data[:-1] + bytes([data[-1] ^ 1])),
}


@pytest.mark.parametrize("name", SKIPPABLE)
def test_what_is_bad_inside_is_skipped_if_wanted(name):
    wire, args, spoil = SKIPPABLE[name]
    good = slow.encode(wire, ["good", 1])
    bad = spoil(slow.encode(wire, args, checksum=name == "checksum"))
    assert slow.decode(wire, bad)[1] is not None
    stream = good + bad + bad + good
    for step in (1, 7, len(stream)):
        chunks = [stream[at : at + step] for at in range(0, len(stream), step)]
        decoder, messages = BlockDecoder(wire, skip_bad=True), []
        for chunk in chunks:
            messages += decoder.feed(chunk)
        decoder.close()
        assert (messages, decoder.skipped) == ([["good", 1]] * 2, 2)
        reader = BlockReader(Pieces(chunks), wire, skip_bad=True)
        assert (list(reader), reader.skipped) == ([["good", 1]] * 2, 2)


@pytest.mark.parametrize(
    "wire, digits", [("total", "ffffffff"), ("bytes", "00000001 00000009"), ("native", "f5424209")]
)
def test_what_is_bad_outside_is_not_skipped(wire, digits):
    with pytest.raises(tb.BlockError):
        BlockDecoder(wire, skip_bad=True).feed(bytes.fromhex(digits))


def test_hooks_of_nested_values():
    data = BlockEncoder("native").encode([[tb.Ext(60, b"x")]])
    assert BlockDecoder(ext_hook=lambda code, payload: (code, payload)).feed(data) == [[[(60, b"x")]]]
    decoder = BlockDecoder(ext_hook=lambda code, payload: decoder.feed(b""))
    with pytest.raises(RuntimeError, match="in use"):
        decoder.feed(data)
    deep = BlockEncoder("native").encode([[[[]]]])
    with pytest.raises(tb.LimitError) as caught:
        BlockDecoder(max_depth=2).feed(deep)
    assert (caught.value.offset, caught.value.path) == (42, "[0][0][0]")
    assert issubclass(tb.BlockError, tb.FormatError)


class Hooked(Exception):
    """What a hook raises."""


@pytest.mark.parametrize("nbytes", [1, 70_000])
def test_a_decoder_fails_after_an_exception_of_a_hook(nbytes):
    def hook(code, payload):
        raise Hooked

    good = slow.encode("native", [1])
    stream = good + BlockEncoder("native").encode([[tb.Ext(60, bytes(nbytes))], 2]) + good * 3
    decoder, reader = BlockDecoder(ext_hook=hook), BlockReader(stream, ext_hook=hook)
    assert reader.read() == [1]
    for use in (lambda: decoder.feed(stream), lambda: decoder.feed(good), reader.read, reader.read):
        with pytest.raises(Hooked):
            use()


def test_feeding_another_type_leaves_the_decoder_usable():
    decoder = BlockDecoder()
    for wrong in ("text", 5):
        with pytest.raises(TypeError):
            decoder.feed(wrong)
    assert decoder.feed(bytes(4)) == [[]]


def test_a_buffer_is_not_held():
    data = bytearray(slow.encode("native", [numpy.arange(9), b"x" * 70_000]) + b"\xf5")
    decoder = BlockDecoder()
    (message,) = decoder.feed(data)
    data[:] = bytes(10)
    assert (message[0].tolist(), message[1]) == ([*range(9)], b"x" * 70_000)


def test_decoders_of_threads_do_not_mix():
    def work(wire):
        for _ in range(200):
            assert BlockDecoder(wire).feed(slow.encode(wire, ["a", 1])) == [["a", 1]]

    in_threads(work, [(wire,) for wire in slow.WIRES])


# -- the checksum -----------------------------------------------------------------------------------------


def test_the_checksum_of_long_bodies():
    rng = random.Random(0)
    for nbytes in (0, 1, 7, 8, 9, 4096, 12_287, 12_288, 12_289, 24_576, 40_000, 70_001):
        raw = rng.randbytes(nbytes)
        data = BlockEncoder("native", checksum=True).encode([raw, 5])
        assert data[-4:] == struct.pack(">I", slow.crc32c(data[:-4])), nbytes
        assert BlockDecoder().feed(data) == [[raw, 5]]


def test_both_ways_to_the_checksum(tmp_path):
    source = '#include "block/crc32c.h"\nvoid start(int plain) { crc32c_start(plain); }\n'
    source += "uint32_t sum(uint32_t crc, const unsigned char *p, ptrdiff_t n) { return crc32c(crc, p, n); }\n"
    (tmp_path / "sum.c").write_text(source)
    command = [
        "cc",
        "-O1",
        "-shared",
        "-fPIC",
        "-I",
        pathlib.Path(__file__).resolve().parents[2] / "src" / "typedbytes",
        "-o",
        tmp_path / "sum.so",
        tmp_path / "sum.c",
    ]
    subprocess.run(command, check=True, capture_output=True)
    library = ctypes.CDLL(str(tmp_path / "sum.so"))
    library.sum.restype = ctypes.c_uint32
    data = b"".join(hashlib.sha256(bytes([seed])).digest() for seed in range(256)) * 8
    by_way = []
    for is_plain in (1, 0):
        library.start(is_plain)
        assert library.sum(0, b"123456789", 9) == 0xE3069283  # the check value of the algorithm's catalogue
        sums = [library.sum(0, data[:nbytes], nbytes) for nbytes in (0, 1, 31, 12_288, 12_295, 40_000, len(data))]
        assert sums[:3] == [slow.crc32c(data[:nbytes]) for nbytes in (0, 1, 31)]
        by_way.append(sums)
    assert by_way[0] == by_way[1]
    assert library.sum(library.sum(0, data[:99], 99), data[99:], len(data) - 99) == by_way[0][-1]


# -- memory that is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", ["line", "bytes", "native"])
def test_refused_memory_is_an_error_and_no_crash(wire):
    code = """
        import _testcapi, sys
        from typedbytes.block import BlockDecoder, BlockEncoder, Command
        wire = sys.argv[1]
        args = [Command("a"), "text", "\\u20ac" * 30, 2**40, 1.5, bytes(100), "x" * 70_000]
        encoder = BlockEncoder(wire)
        data = encoder.encode(args) * 2
        nrefused = 0
        # before, the interpreter gives itself up without memory for its errors
        for_good = [0] if sys.version_info >= (3, 11) else []
        calls = (lambda: BlockDecoder(wire).feed(data), [args, args]), (lambda: encoder.encode(args) * 2, data)
        for call, right in calls:
            for number in range(120):
                for stop in [number + 1, *for_good]:
                    _testcapi.set_nomemory(number, stop)
                    try:
                        call()
                    except MemoryError:
                        nrefused += 1
                    finally:
                        _testcapi.remove_mem_hooks()
                    assert call() == right
        print(nrefused > 20)
    """
    assert run_fresh(code, wire) == "True"


@pytest.mark.parametrize(
    "shape, nbytes",
    [
        ([3], 4),
        ([1], 4),
        ([0], 4),
        ([2, 2], 4),
        ([2**62, 4], 0),
        ([2**62, 0, 4], 0),
        ([2**62 + 1, 2], 4),
        ([2**63 - 1, 2], 4),
    ],
)
def test_an_array_is_as_large_as_its_bytes(shape, nbytes):
    """A length of 0 beside lengths beyond 2^63-1 has no bytes, and NumPy cannot take it."""
    with pytest.raises(ValueError, match="an array "):
        array_view("i2", shape, bytes(nbytes))
    assert array_view("i2", [2, 1], bytes([1, 0, 2, 0])).tolist() == [[1], [2]]
    assert array_view("i2", [0, 5], b"").tolist() == []


@pytest.mark.parametrize(
    "element, shape",
    [("i3", [1]), ("", [1]), ("i2", [-1]), ("i2", [2**63]), ("i2", [1.0]), ("i2", [1] * 65), ("i2", [True])],
)
def test_an_array_has_an_element_and_a_shape(element, shape):
    with pytest.raises(ValueError, match="element must be one of|a shape has at most 64"):
        array_view(element, shape, bytes(6))


def test_memory_of_a_message_cannot_be_copied_without_its_elements():
    kept = []

    class Sink:
        def write(self, data):
            kept.append(data)
            return len(data)

    BlockEncoder("native").send([array.array("b", bytes(200_000))], Sink())
    (body,) = BlockDecoder("native").feed(b"".join(kept))[0]
    for memory in (body.obj, *(data.obj for data in kept)):
        with pytest.raises(TypeError, match="cannot be pickled or copied"):
            copy.copy(memory)


@pytest.mark.parametrize("wire", slow.LAYOUTS)
def test_decode_takes_exactly_one_message(wire):
    values = [Command("a"), "text", 5, 1 << 40, 0.5, b"x" * 100_000]
    data = BlockEncoder(wire).encode(values)
    decoder = BlockDecoder(wire)
    for _ in range(2):
        assert list(decoder.decode(data)) == values
    assert decoder.feed(data[:-1]) == []
    with pytest.raises(ValueError, match="holds a part of one that was fed"):
        decoder.decode(data)
    assert list(decoder.feed(data[-1:])[0]) == values
    for cut in (0, 1, len(data) // 2, len(data) - 1):
        with pytest.raises(tb.TruncatedError, match=f"input ends inside a message at offset {cut}"):
            BlockDecoder(wire).decode(data[:cut])
    with pytest.raises(
        tb.BlockError, match=f"expected one message, found {len(data)} bytes after it at offset {len(data)}"
    ) as raised:
        (decoder := BlockDecoder(wire)).decode(data + data)
    with pytest.raises(tb.BlockError) as again:
        decoder.decode(data)
    assert again.value is raised.value


def test_buffers_that_are_lent_keep_the_count_of_references_to_none():
    """Cython puts a None into what __getbuffer__ fills. From Python 3.12 on, None is not counted."""
    data = BlockEncoder("native").encode([numpy.arange(10.0)])
    before = sys.getrefcount(None)
    for _ in range(1000):
        BlockWriter(io.BytesIO(), "native").writes([[1, 2], [bytes(70_000)]])
        memoryview(BlockDecoder("native").decode(data)[0]).release()
        with pytest.raises(TypeError):
            memoryview(BlockDecoder("native").decode(data)[0])[0] = 1
    assert abs(sys.getrefcount(None) - before) < 500
