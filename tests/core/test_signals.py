"""Signals during long work are handled soon, and what was interrupted can be used again or says that it failed."""

import collections
import gc
import io
import signal
import time

import numpy
import pytest

import typedbytes as tb
from decoding_values import DATA, ENDS, VALUES, encoded_map, many
from signal_checks import times_checked

LOOKS_EVERY = 16_384  # items


def scattered_map(count):
    """Return a MAP of INTs that a dict finds no order in, to True."""
    pairs = numpy.zeros(count, [("code", "u1"), ("key", ">i4"), ("value", "u1", 2)])
    pairs["code"], pairs["value"] = 3, (2, 1)
    pairs["key"] = numpy.arange(count) * 2654435761 & 0x7FFFFFFF
    return b"\x0a" + count.to_bytes(4, "big") + pairs.tobytes()


MANY = 500_000

BIG_INPUT = {
    "ints": many(MANY, b"\3\7\0\0\0"),
    "strings": many(MANY, b"\7\0\0\0\5abcde"),
    "lists": many(MANY, b"\x09\xff"),
    "deep": many(MANY // 200, b"\x09" * 200 + b"\xff" * 200),
    "vector": lambda: b"\x08" + MANY.to_bytes(4, "big") + b"\3\7\0\0\0" * MANY,
    "map": lambda: scattered_map(MANY),
    "map_of_vectors": lambda: encoded_map([b"\x08\0\0\0\1\3" + number.to_bytes(4, "big") for number in range(MANY)]),
}


@pytest.mark.parametrize("name", BIG_INPUT)
def test_signals_are_heard_while_decoding(name):
    data = BIG_INPUT[name]()
    assert times_checked(lambda: tb.loads(data)) >= MANY // LOOKS_EVERY


def count(iterator):
    """Run an iterator to its end without Python code between its items."""
    return len(collections.deque(iterator, 1))


LONG_WORK = {
    "decode_all": lambda data: tb.Decoder().decode_all(data),
    "decode_pairs": lambda data: tb.Decoder().decode_pairs(data),
    "read_all": lambda data: tb.Reader(data).read_all(),
    "iterate": lambda data: count(tb.Reader(data)),
    "iterate_raw": lambda data: count(tb.Reader(io.BytesIO(data), raw=True)),
    "iterate_pairs": lambda data: count(tb.PairReader(io.BytesIO(data))),
    "iterate_raw_pairs": lambda data: count(tb.PairReader(data, raw=True)),
    "groups": lambda data: count(tb.PairReader(data.replace(b"abcde\3", b"abcde\3\0\0\0\1\3")).groups()),
    "values_of_a_group": lambda data: count(next(tb.PairReader(data).groups())[1]),
    "fed": lambda data: count(fed_whole(data)),
    "skip": lambda data: tb.Reader(data).skip(10**9),
    "copy": lambda data: moved(tb.Writer.copy, tb.Reader(io.BytesIO(data))),
    "writes": lambda data: moved(tb.PairWriter.writes, tb.PairReader(data)),
}


class Nowhere:
    """Take all, in no time and without Python code."""

    write = len


def moved(use, reader):
    """Move all from a reader to a writer."""
    with tb.PairWriter(Nowhere()) if use is tb.PairWriter.writes else tb.Writer(Nowhere()) as writer:
        return use(writer, reader)


def fed_whole(data):
    """Return a Decoder that was fed."""
    decoder = tb.Decoder()
    decoder.feed(data)
    return decoder


@pytest.mark.parametrize("name", LONG_WORK)
def test_signals_are_heard_between_many_values(name):
    data = b"\7\0\0\0\5abcde\3\0\0\0\7" * (MANY // 2)
    assert times_checked(lambda: LONG_WORK[name](data)) >= MANY // 2 // LOOKS_EVERY


@pytest.mark.parametrize("scan", [tb.count, tb.index])
def test_signals_are_heard_while_scanning(scan):
    data = b"\2\1" * MANY
    heard_around = times_checked(lambda: scan(b""))
    assert times_checked(lambda: scan(data)) >= heard_around + MANY // 65_536


BIG_OBJECTS = {
    "ints": lambda: list(range(10**9, 10**9 + MANY)),
    "strings": lambda: ["abcde"] * MANY,
    "lists": lambda: [[]] * MANY,
    "tuple": lambda: (2.5,) * MANY,
    "dict": lambda: dict.fromkeys(range(MANY), 1),
    "dicts": lambda: [{"a": 1}] * MANY,
    "wide_ints": lambda: [2**100] * MANY,
    "values": lambda: [True] * MANY,
}


@pytest.mark.parametrize("name", BIG_OBJECTS)
def test_signals_are_heard_while_encoding(name):
    value = BIG_OBJECTS[name]()
    work = tb.Encoder().encode_all if name == "values" else tb.dumps
    assert times_checked(lambda: work(value)) >= MANY // LOOKS_EVERY


def test_signals_are_heard_while_sorting():
    value = {str(n * 7919 % MANY): n for n in range(MANY)}
    assert times_checked(lambda: tb.dumps(value, sort_keys=True)) >= MANY // LOOKS_EVERY


class Interrupted(Exception):
    """Be raised by a signal handler."""


def interrupted(work):
    """Repeat the work until a signal handler has raised out of it, when about an eighth of it is done."""

    def interrupt(_, frame):
        if frame.f_code is work.__code__:  # not between two repetitions
            signal.setitimer(signal.ITIMER_PROF, 0)
            raise Interrupted

    started = time.process_time()
    work()
    part = (time.process_time() - started) / 8  # of the time it takes when nothing is warm yet
    before = signal.signal(signal.SIGPROF, interrupt)
    try:
        with pytest.raises(Interrupted):
            signal.setitimer(signal.ITIMER_PROF, part, part)
            while True:
                work()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def test_after_an_interrupt_all_is_as_before():
    data, decoder, encoder = many(3_000_000, b"\3\7\0\0\0")(), tb.Decoder(), tb.Encoder()
    value = decoder.decode(data)
    interrupted(lambda: decoder.decode(data))
    interrupted(lambda: encoder.encode(value))
    assert gc.isenabled()
    assert decoder.decode(DATA[: ENDS[0]]) is True
    assert encoder.encode(value) == data


def test_an_interrupt_of_a_reader_is_final():
    data = DATA[: ENDS[0]] + many(3_000_000, b"\3\7\0\0\0")() + DATA

    def work():
        with tb.Reader(io.BytesIO(data)) as reader:
            assert reader.read() is True
            try:
                reader.read()
            except Interrupted as error:
                with pytest.raises(Interrupted) as again:
                    reader.read()
                assert again.value is error
                raise

    interrupted(work)


def test_a_signal_handler_may_use_the_codec():
    seen = []
    data = many(1_000_000, b"\3\7\0\0\0")()
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(tb.Decoder().decode_all(tb.Encoder().encode_all(VALUES)) == VALUES))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        assert len(tb.loads(data)) == len(tb.loads(tb.dumps(tb.loads(data)))) == 1_000_000
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert seen
    assert all(seen)
