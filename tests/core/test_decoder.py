"""Decoding with state: buffers of every kind, input that is fed, failures. Nothing is lost or kept."""

import array
import contextlib
import ctypes
import io
import sys
import tracemalloc

import numpy
import pytest

import typedbytes as tb
from support.decoding_values import DATA, ENDS, EXT, PARTS, VALUES, exts

pytestmark = [pytest.mark.codec, pytest.mark.free_threaded, pytest.mark.every_python]

# -- whole buffers ----------------------------------------------------------------------------------------

BUFFERS = {
    "bytes": bytes,
    "bytes_subclass": type("Bytes", (bytes,), {}),
    "bytearray": bytearray,
    "memoryview": memoryview,
    "every_other_byte": lambda data: memoryview(b"".join(bytes([byte, 7]) for byte in data))[::2],
    "backwards": lambda data: memoryview(data[::-1])[::-1],
    "array": lambda data: array.array("b", memoryview(data).cast("b").tolist()),
    "ctypes": lambda data: (ctypes.c_ubyte * len(data)).from_buffer_copy(data),
    "ctypes_chars": lambda data: ctypes.create_string_buffer(data, len(data)),
    "numpy": lambda data: numpy.frombuffer(data, "u1"),
    "numpy_strided": lambda data: numpy.repeat(numpy.frombuffer(data, "u1"), 2)[::2],
    "numpy_column": lambda data: numpy.asfortranarray(numpy.stack([numpy.frombuffer(data, "u1")] * 2, 1))[:, 1],
}


@pytest.mark.parametrize("kind", BUFFERS)
def test_every_buffer_is_decoded(kind):
    make, decoder = BUFFERS[kind], tb.Decoder()
    for value, part in zip(VALUES, PARTS):
        assert tb.loads(make(part)) == value
        assert decoder.decode(make(part)) == value
        assert decoder.decode_from(make(part + b"more")) == (value, len(part))
    assert decoder.decode_all(make(DATA)) == VALUES
    assert decoder.decode_pairs(make(DATA)) == list(zip(VALUES[::2], VALUES[1::2]))
    decoder.feed(make(DATA))
    assert list(decoder) == VALUES


@pytest.mark.parametrize("kind", BUFFERS)
def test_every_buffer_is_scanned(kind):
    data = BUFFERS[kind](DATA)
    assert tb.count(data) == len(VALUES)
    assert list(tb.index(data)) == [0, *ENDS[:-1]]
    assert tb.skip(data, ENDS[3]) == ENDS[4]
    assert tb.hash_code(BUFFERS[kind](PARTS[0])) == tb.hash_code(PARTS[0])
    assert tb.partition(BUFFERS[kind](PARTS[0]), 7) == tb.partition(PARTS[0], 7)


@pytest.mark.parametrize("nvalues", [1023, 1024, 1025, 2048, 2049, 100_000])
def test_many_values_are_scanned(nvalues):
    data = b"\2\1" * nvalues
    assert list(tb.index(data)) == list(range(0, 2 * nvalues, 2))
    assert tb.count(data) == nvalues


def test_shapes_and_formats_are_bytes_in_c_order():
    shorts = array.array("H", [1, 2, 3, 4])
    for view in (
        memoryview(shorts),
        memoryview(shorts).cast("B").cast("H", (2, 2)),
        numpy.asfortranarray(numpy.array(shorts).reshape(2, 2)),
    ):
        assert tb.Decoder(pickle="raw").decode_all(b"\0\0\0\0\x08" + shorts.tobytes()) == [shorts.tobytes()]
        with pytest.raises(tb.DecodeError) as caught:
            tb.loads(view)
        with pytest.raises(tb.DecodeError) as expected:
            tb.loads(shorts.tobytes())
        assert str(caught.value) == str(expected.value)


@pytest.mark.parametrize("wrong", ["text", None, 5, [b"\2\1"], io.BytesIO(b"\2\1")])
def test_what_is_not_a_buffer_is_refused(wrong):
    decoder = tb.Decoder()
    for use in (
        tb.loads,
        decoder.decode,
        decoder.decode_from,
        decoder.decode_all,
        decoder.decode_pairs,
        decoder.feed,
        tb.skip,
        tb.count,
        tb.index,
    ):
        with pytest.raises(TypeError, match="bytes-like"):
            use(wrong)
    decoder.feed(b"\2\1")
    assert list(decoder) == [True]


def test_decode_from_walks_and_stops_at_the_edges():
    decoder, offset, found = tb.Decoder(), 0, []
    while offset < len(DATA):
        value, offset = decoder.decode_from(DATA, offset)
        found.append(value)
    assert found == VALUES
    for use in (decoder.decode_from, tb.skip):
        for offset in (-1, len(DATA) + 1, sys.maxsize // 2 + 1, -sys.maxsize - 1):
            with pytest.raises(ValueError, match="outside"):
                use(DATA, offset)
        with pytest.raises(OverflowError):
            use(DATA, sys.maxsize + 1)
        with pytest.raises(tb.TruncatedError) as caught:
            use(DATA, len(DATA))
        assert (caught.value.offset, caught.value.code) == (len(DATA), None)


def test_errors_of_decode_all_and_pairs_name_the_record():
    decoder = tb.Decoder()
    for bad, error in [(b"\xff", tb.FormatError), (b"\x03\0", tb.TruncatedError)]:
        with pytest.raises(error) as caught:
            decoder.decode_all(DATA + bad)
        assert (caught.value.record, caught.value.path) == (len(VALUES), "")
        with pytest.raises(error) as caught:
            decoder.decode_pairs(DATA + PARTS[0] + bad)
        assert caught.value.record == len(VALUES) // 2
    with pytest.raises(tb.TruncatedError) as caught:
        decoder.decode_pairs(DATA + PARTS[0])
    assert (caught.value.offset, caught.value.record) == (len(DATA) + 2, len(VALUES) // 2)


def test_a_decoder_is_as_new_after_each_failure():
    decoder = tb.Decoder(max_bytes=10_000)
    for bad in (
        b"",
        b"\xff",
        b"\x09" * 300,
        b"\x09" * 256,
        exts(1)[:-1],
        b"\x0a\0\0\0\1\x09",
        b"\0\x7f\xff\xff\xff",
        b"\7\0\0\0\1\xff",
    ):
        for use in (
            decoder.decode,
            decoder.decode_from,
            lambda data: decoder.decode_all(data + b"\x0b"),
            lambda data: decoder.decode_pairs(data + b"\x0b"),
        ):
            with pytest.raises(tb.DecodeError):
                use(bad)
            assert decoder.decode(b"\x09" * 256 + b"\xff" * 256)
            assert decoder.decode_all(DATA) == VALUES


# -- fed input --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 64, 1000, 10**6])
def test_fed_in_pieces(size):
    decoder, found = tb.Decoder(), []
    for offset in range(0, len(DATA), size):
        decoder.feed(DATA[offset : offset + size])
        before = len(found)
        for value in decoder:
            found.append(value)
            assert decoder.pending == min(offset + size, len(DATA)) - ENDS[len(found) - 1]
        assert len(found) == sum(end <= offset + size for end in ENDS) >= before
    assert found == VALUES
    assert decoder.pending == 0
    decoder.close()


def test_fed_at_every_split():
    data = DATA[: ENDS[9]]
    for split in range(len(data) + 1):
        decoder = tb.Decoder()
        decoder.feed(data[:split])
        decoder.feed(b"")
        decoder.feed(data[split:])
        assert list(decoder) == VALUES[:10]


def test_feeding_without_taking_keeps_all():
    decoder = tb.Decoder()
    for number in range(3000):
        decoder.feed(tb.dumps([number, "x" * 100]))
    assert decoder.pending == 3000 * len(tb.dumps([1, "x" * 100]))
    assert [number for number, _ in decoder] == list(range(3000))


def test_nothing_fed_is_nothing():
    decoder = tb.Decoder()
    assert (decoder.pending, list(decoder), next(decoder, "none")) == (0, [], "none")
    decoder.close()
    decoder.close()


@pytest.mark.parametrize("cut", range(1, 20))
def test_close_says_what_is_missing(cut):
    data = tb.dumps([1, {"k": "value"}])
    decoder = tb.Decoder()
    decoder.feed(DATA + data[:-cut])
    assert list(decoder) == VALUES
    with pytest.raises(tb.TruncatedError) as caught:
        decoder.close()
    assert (caught.value.offset, caught.value.record) == (len(DATA) + len(data) - cut, len(VALUES))
    with pytest.raises(tb.TruncatedError) as expected:
        tb.loads(data[:-cut])
    assert (caught.value.code, caught.value.path) == (expected.value.code, expected.value.path)
    with pytest.raises(tb.TruncatedError) as again:
        decoder.close()
    assert str(again.value) == str(caught.value)


@pytest.mark.parametrize("rest", [b"", b"\x03\0", b"\x09" + EXT, b"\xff", b"\x09\x0c", b"\7\0\0\0\1\xff"])
def test_close_drops_no_value(rest):
    decoder, found, said = tb.Decoder(), [], set()
    decoder.feed(DATA[:-3])
    found += [next(decoder), next(decoder)]
    decoder.feed(DATA[-3:] + rest)
    with contextlib.ExitStack() as stack:
        if rest:
            error = stack.enter_context(pytest.raises(tb.DecodeError))
        try:
            decoder.close()
        except tb.DecodeError as failure:
            said.add(str(failure))
        for value in decoder:
            found.append(value)
    assert found == VALUES
    if rest:
        assert (error.value.record, error.value.offset >= len(DATA)) == (len(VALUES), True)
        assert said <= {str(error.value)}


def test_after_close_nothing_can_be_fed():
    decoder = tb.Decoder()
    decoder.feed(b"\2\1")
    decoder.close()
    with pytest.raises(ValueError, match="closed"):
        decoder.feed(b"\2\1")
    assert (list(decoder), decoder.pending, list(decoder)) == ([True], 0, [])


@pytest.mark.parametrize(
    "bad", [b"\xff", b"\x0b", b"\x09\x03\0\0\0\1\x0c", b"\7\0\0\0\1\xff", b"\x09" * 257, b"\x08\xff\xff\xff\xff"]
)
@pytest.mark.parametrize("size", [1, 10**6])
def test_a_failure_is_final_and_comes_after_the_values_before_it(bad, size):
    data, found = DATA + bad + DATA, []
    decoder = tb.Decoder()
    with pytest.raises(tb.DecodeError) as expected:
        tb.loads(bad + DATA)
    with pytest.raises(type(expected.value)) as caught:
        for offset in range(0, len(data), size):
            decoder.feed(data[offset : offset + size])
            found.extend(decoder)
    # list.extend drops what came before an error in one go; what came out by then is in order
    assert found == VALUES[: len(found)]
    assert (caught.value.offset, caught.value.record) == (expected.value.offset + len(DATA), len(VALUES))
    for use in (decoder.close, lambda: list(decoder), lambda: decoder.feed(b"")):
        with pytest.raises(type(expected.value)) as again:
            use()
        assert again.value is caught.value
    assert decoder.decode(PARTS[0]) is True


@pytest.mark.parametrize("size", [1, 10**6])
def test_max_bytes_refuses_a_declared_length_before_it_is_buffered(size):
    for head, limit in [(b"\0\0\0\x10\0", 100), (b"\x09" + b"\2\1" * 60, 100), (b"\x08\0\0\0\2\7\0\0\0\x60", 100)]:
        decoder = tb.Decoder(max_bytes=limit)
        decoder.feed(b"\2\1")
        with pytest.raises(tb.LimitError) as caught:
            for offset in range(0, 2 * limit, size):
                decoder.feed((head + bytes(2 * limit))[offset : offset + size])
                list(decoder)
        assert (caught.value.offset, caught.value.record) == (2, 1)


def test_memory_of_fed_input_comes_back():
    decoder = tb.Decoder()
    decoder.feed(DATA)
    list(decoder)
    tracemalloc.start()
    try:
        decoder.feed(tb.dumps("x" * (8 << 20)))
        list(decoder)
        decoder.feed(DATA)
        assert len(list(decoder)) == len(VALUES)
        assert tracemalloc.get_traced_memory()[0] < 1 << 20
    finally:
        tracemalloc.stop()


def test_a_bytearray_that_was_fed_is_free():
    decoder, data = tb.Decoder(), bytearray(DATA)
    decoder.feed(data)
    data.clear()
    data.extend(bytes(len(DATA)))
    assert list(decoder) == VALUES


def test_a_decoder_that_was_fed_keeps_its_options():
    decoder = tb.Decoder(exact=True)
    decoder.__init__(exact=False)
    decoder.feed(b"\1\5")
    with pytest.raises(RuntimeError, match="again"):
        decoder.__init__(exact=True)
    assert type(next(decoder)) is int
    assert tb.Decoder.__new__(tb.Decoder).decode(b"\2\1") is True


# -- memory -----------------------------------------------------------------------------------------------


def test_nothing_can_be_put_back_before_memory_nor_before_what_was_read_ahead():
    with pytest.raises(TypeError):
        tb.Reader(b"").__read_payload__(5)
    reader = tb.Reader(io.BytesIO(b"\2\1\2\0"))
    assert reader.__read_code__() == 2
    with pytest.raises(ValueError):
        reader.__read_payload__(2)


def test_a_type_code_read_by_itself_fails_as_all_else():
    class Fails:
        def read(self, nbytes):
            raise LookupError

    reader = tb.Reader(Fails(), read_ahead=False)
    for use in (reader.__read_code__, reader.__read_code__, lambda: reader.__read_payload__(2), reader.read):
        with pytest.raises(LookupError):
            use()


def test_an_option_that_feeds_the_decoder_does_not_change_its_hook():
    class Feeding(str):
        def __eq__(self, other):
            decoder.feed(EXT)
            return str.__eq__(self, other)

        __hash__ = str.__hash__

    decoder = tb.Decoder(ext_hook=lambda code, data: ("hook", code))
    with pytest.raises(RuntimeError, match="was fed"):
        decoder.__init__(pickle=Feeding("safe"))
    assert next(decoder)[0] == "hook"
