"""Every vector, by every way of reading and writing: whole, in pieces, before more bytes, cut at every byte."""

import io
import pickle
import subprocess
import sys

import pytest

import typedbytes
from support.call_variants import WAYS
from support.machine import KEEPS_SIGNALLING_NANS
from support.vectors import (
    Dribble,
    exact_repr,
    failure,
    names,
    outcome,
    read_folder,
    read_jsonl,
    read_options,
    read_value,
)

pytestmark = [pytest.mark.codec, pytest.mark.free_threaded, pytest.mark.every_python]

SIGNALLING_NANS = {"numbers/float_7f800001", "numbers/float_7f800001_exact", "numbers/double_7ff0000000000001"}
VALID = [vector for vector in read_folder("valid") if KEEPS_SIGNALLING_NANS or vector["name"] not in SIGNALLING_NANS]
READ = [vector for vector in VALID if vector["direction"] != "encode"]
WRITTEN = [vector for vector in VALID if vector["direction"] != "decode"]
INVALID = read_folder("invalid")
UNREADABLE = [vector for vector in INVALID if vector["direction"] == "decode"]
NOT_ALONE = [vector for vector in INVALID if vector["direction"] == "loads"]
UNWRITABLE = [vector for vector in INVALID if vector["direction"] == "encode"]
STREAMS = read_jsonl("stream/index.jsonl")

ONE = bytes.fromhex("0300000001")


def decode_options(vector):
    """Return the keyword arguments for decoding a vector."""
    return read_options(vector.get("decode", {}))


def encode_options(vector):
    """Return the keyword arguments for encoding a vector."""
    return read_options(vector.get("encode", {}))


def limits(vector):
    """Return those of a vector's options that skip has too."""
    return {name: value for name, value in vector.get("decode", {}).items() if name in ("dialect", "max_depth")}


def expected_failure(vector):
    """Return what the error of an invalid vector must say."""
    return vector["error"], vector["offset"], vector["code"], vector["path"]


def test_files_are_what_the_script_describes(vector_root):
    subprocess.run([sys.executable, vector_root / "generate.py", "--check"], check=True)


# -- valid ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("vector", VALID, ids=names(VALID))
def test_notation_spells_its_value(vector):
    if vector["direction"] != "encode":
        assert exact_repr(read_value(vector["value"])) == vector["value"]


@pytest.mark.parametrize("vector", READ, ids=names(READ))
def test_decode(vector):
    data, options = bytes.fromhex(vector["hex"]), decode_options(vector)

    assert exact_repr(typedbytes.loads(data, **options)) == vector["value"]
    assert exact_repr(typedbytes.Decoder(**options).decode(data)) == vector["value"]
    assert typedbytes.skip(data, **limits(vector)) == len(data)
    assert typedbytes.count(data, **limits(vector)) == 1
    assert list(typedbytes.index(data, **limits(vector))) == [0]
    for kind in (bytearray, memoryview):
        assert exact_repr(typedbytes.loads(kind(data), **options)) == vector["value"]
    for way in WAYS:
        values = []
        way([data], values, **options)
        assert [exact_repr(value) for value in values] == [vector["value"]], way.__name__


@pytest.mark.parametrize("vector", READ, ids=names(READ))
def test_decode_with_more_bytes_after(vector):
    data, options = bytes.fromhex(vector["hex"]), decode_options(vector)

    assert outcome(typedbytes.loads, data + ONE, **options) == ("FormatError", len(data), 3, "")
    for offset in (0, 1, 3, 8):
        value, end = typedbytes.Decoder(**options).decode_from(b"\xff" * offset + data + ONE, offset)
        assert (exact_repr(value), end) == (vector["value"], offset + len(data))
        assert typedbytes.skip(b"\xff" * offset + data + ONE, offset, **limits(vector)) == offset + len(data)
    file = io.BytesIO(data + ONE)
    assert exact_repr(typedbytes.load(file, **options)) == vector["value"]
    assert file.tell() == len(data)
    for way in WAYS:
        values = []
        way([data + data + ONE], values, **options)
        assert [exact_repr(value) for value in values] == [vector["value"], vector["value"], "1"], way.__name__


@pytest.mark.parametrize("vector", READ, ids=names(READ))
def test_decode_in_two_chunks(vector):
    data, options = bytes.fromhex(vector["hex"]), decode_options(vector)

    for offset in range(1, len(data)):
        decoder = typedbytes.Decoder(**options)
        decoder.feed(data[:offset])
        assert list(decoder) == []
        assert decoder.pending == offset
        decoder.feed(data[offset:])
        assert [exact_repr(value) for value in decoder] == [vector["value"]]
        assert decoder.pending == 0
        decoder.close()


@pytest.mark.parametrize("vector", READ, ids=names(READ))
def test_cut_at_every_byte(vector):
    data, options = bytes.fromhex(vector["hex"]), decode_options(vector)

    # between the ends of a long one at each seventh byte, which is any byte of an item
    for nbytes in sorted({*range(len(data))[:200], *range(len(data))[::7], *range(len(data))[-200:]}):
        cut = data[:nbytes]
        truncated = outcome(typedbytes.loads, cut, **options)
        assert truncated[:2] == ("TruncatedError", nbytes)
        assert outcome(typedbytes.skip, cut, **limits(vector))[:3] == truncated[:3]
        assert outcome(typedbytes.load, io.BytesIO(cut), **options) == truncated
        for way in WAYS:
            values = []
            # no bytes at all are a stream without values
            expected = truncated if cut else "None"
            assert outcome(way, [cut], values, **options) == expected, way.__name__
            assert values == []


@pytest.mark.parametrize("vector", WRITTEN, ids=names(WRITTEN))
def test_encode(vector):
    """By encode_into too, which writes ints by itself."""
    value, options = read_value(vector["value"]), encode_options(vector)
    data = bytes.fromhex(vector["hex"])
    encoder = typedbytes.Encoder(**options)

    assert typedbytes.dumps(value, **options).hex() == vector["hex"]
    assert encoder.encode(value).hex() == vector["hex"]
    assert encoder.encode_all([value, 1, value])[: len(data)] == data
    buffer = bytearray(b"\xee" * (len(data) + 2))
    assert encoder.encode_into(value, buffer, 1) == len(data)
    assert buffer == b"\xee" + data + b"\xee"
    file = io.BytesIO()
    typedbytes.dump(value, file, **options)
    assert file.getvalue() == data
    with typedbytes.Writer(file, **options) as writer:
        writer.write(value)
    assert file.getvalue() == data + data


# None is one of them, ints are not: their bytes are vectors
PICKLED = [
    vector
    for vector in read_jsonl("valid/pickles.jsonl")
    if vector["direction"] != "encode"
    and not vector.get("decode")
    and type(read_value(vector["value"])) not in (int, dict)
]


@pytest.mark.parametrize("vector", PICKLED, ids=names(PICKLED))
def test_pickles_are_of_protocol_2_and_for_everybody(vector):
    encoded = typedbytes.dumps(read_value(vector["value"]))

    assert encoded[:1] == b"\x64" and encoded[5:7] == b"\x80\x02"
    assert exact_repr(typedbytes.loads(encoded)) == exact_repr(pickle.loads(encoded[5:])) == vector["value"]


# -- invalid ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("vector", UNREADABLE, ids=names(UNREADABLE))
def test_refused(vector):
    data, options = bytes.fromhex(vector["hex"]), decode_options(vector)
    expected = expected_failure(vector)

    assert outcome(typedbytes.loads, data, **options) == expected
    assert outcome(typedbytes.Decoder(**options).decode_from, data) == expected
    assert outcome(typedbytes.load, io.BytesIO(data), **options) == expected
    for way in WAYS:
        values = []
        if data:
            assert outcome(way, [data], values, **options) == expected, way.__name__
        assert values == []


@pytest.mark.parametrize("vector", UNREADABLE, ids=names(UNREADABLE))
def test_refused_after_other_values(vector):
    data, options = bytes.fromhex(vector["hex"]), decode_options(vector)
    error, offset, code, path = expected_failure(vector)
    expected = error, offset + 6, code, path
    before = b"\x02\x01" * 3

    assert outcome(typedbytes.Decoder(**options).decode_from, before + data, len(before)) == expected
    # the values before must be within the limits themselves
    if data and "max_bytes" not in options:
        for way in WAYS:
            values = []
            assert outcome(way, [before + data], values, **options) == expected, way.__name__
            assert values == [True] * 3


@pytest.mark.parametrize("vector", UNREADABLE, ids=names(UNREADABLE))
def test_skip_of_refused(vector):
    data = bytes.fromhex(vector["hex"])
    found = outcome(typedbytes.skip, data, **limits(vector))

    if vector["skip"]:
        assert list(found[:3]) == vector["skip"]
    else:
        assert found == str(len(data))


@pytest.mark.parametrize("vector", NOT_ALONE, ids=names(NOT_ALONE))
def test_more_than_one_value(vector):
    data, options = bytes.fromhex(vector["hex"]), decode_options(vector)

    assert outcome(typedbytes.loads, data, **options) == expected_failure(vector)
    assert outcome(typedbytes.Decoder(**options).decode, data) == expected_failure(vector)
    assert typedbytes.Decoder(**options).decode_from(data)[1] == vector["offset"]
    assert typedbytes.skip(data, **limits(vector)) == vector["offset"]


@pytest.mark.parametrize("vector", UNWRITABLE, ids=names(UNWRITABLE))
def test_unwritable(vector):
    value, options = read_value(vector["value"]), encode_options(vector)
    expected = vector["error"], vector["path"]
    encoder, file = typedbytes.Encoder(**options), io.BytesIO()

    assert outcome(typedbytes.dumps, value, **options) == expected
    assert outcome(encoder.encode, value) == expected
    assert outcome(typedbytes.dump, value, file, **options) == expected
    with typedbytes.Writer(file, **options) as writer:
        assert outcome(writer.write, value) == expected
    # nothing was written, and the encoder is as good as new
    assert file.getvalue() == b""
    assert encoder.encode(True) == b"\x02\x01"


# -- streams ----------------------------------------------------------------------------------------------


def read_stream(reader, values):
    """Read values until the end or the fault; return what the fault says, and check that it stays."""
    try:
        for value in reader:
            values.append(exact_repr(value))
    except typedbytes.DecodeError as error:
        with pytest.raises(type(error)) as again:
            next(reader)
        assert failure(again.value) == failure(error)
        return {**dict(zip(("error", "offset", "code", "path"), failure(error))), "record": error.record}
    return None


@pytest.mark.parametrize("make", [bytes, io.BytesIO, Dribble])
@pytest.mark.parametrize("stream", STREAMS, ids=names(STREAMS))
def test_stream(stream, make, vector_root):
    data = (vector_root / "stream" / f"{stream['name']}.tb").read_bytes()
    expected = [exact_repr(read_value(value)) for value in stream["values"]]
    kind = typedbytes.PairReader if stream["kind"] == "pairs" else typedbytes.Reader

    values = []
    reader = kind(make(data), **decode_options(stream))
    assert read_stream(reader, values) == stream["error"]
    assert values == expected
    assert reader.record == len(expected)


@pytest.mark.parametrize("stream", STREAMS, ids=names(STREAMS))
def test_stream_by_path(stream, vector_root):
    kind = typedbytes.PairReader if stream["kind"] == "pairs" else typedbytes.Reader

    values = []
    with kind(vector_root / "stream" / f"{stream['name']}.tb", **decode_options(stream)) as reader:
        assert read_stream(reader, values) == stream["error"]
    assert values == [exact_repr(read_value(value)) for value in stream["values"]]


WHOLE_STREAMS = [stream for stream in STREAMS if stream["error"] is None]


@pytest.mark.parametrize("stream", WHOLE_STREAMS, ids=names(WHOLE_STREAMS))
def test_whole_stream_at_once(stream, vector_root):
    data = (vector_root / "stream" / f"{stream['name']}.tb").read_bytes()
    options = decode_options(stream)
    expected = [exact_repr(read_value(value)) for value in stream["values"]]
    decoder = typedbytes.Decoder(**options)

    decode = decoder.decode_pairs if stream["kind"] == "pairs" else decoder.decode_all
    assert [exact_repr(value) for value in decode(data)] == expected
    nvalues = len(expected) * (2 if stream["kind"] == "pairs" else 1)
    assert typedbytes.count(data, **limits(stream)) == nvalues
    starts = list(typedbytes.index(data, **limits(stream)))
    assert len(starts) == nvalues
    assert [typedbytes.skip(data, start, **limits(stream)) for start in starts] == [*starts[1:], len(data)][:nvalues]
