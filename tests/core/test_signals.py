"""Signals during long work are handled soon, and what was interrupted can be used again or says that it failed."""

import collections
import gc
import io
import signal

import numpy
import pytest

import typedbytes as tb
from support.decoding_values import DATA, ENDS, EXT, VALUES, encoded_map, many
from support.signal_checks import raising, times_checked
from support.small_sequencefiles import written
from typedbytes import sequencefile
from typedbytes._core import PairIterator
from typedbytes._sorting._native import LineReader

pytestmark = [pytest.mark.codec, pytest.mark.free_threaded, pytest.mark.every_python]

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
def test_signals_are_checked_while_decoding(name):
    data = BIG_INPUT[name]()
    assert times_checked(lambda: tb.loads(data)) >= MANY // LOOKS_EVERY


@pytest.mark.parametrize("map_pairs", [False, True])
def test_signals_are_checked_while_a_map_is_made_of_its_pairs(map_pairs):
    data = scattered_map(MANY)
    # pairs decoded, and their items taken
    assert times_checked(lambda: tb.loads(data, map_pairs=map_pairs)) >= 3 * (MANY // LOOKS_EVERY)


def test_signals_are_checked_while_the_pairs_of_a_mapping_are_checked():
    pairs = collections.OrderedDict((number, True) for number in range(MANY))
    assert times_checked(lambda: tb.dumps(pairs)) >= 2 * (MANY // LOOKS_EVERY)  # pairs checked, and encoded


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
def test_signals_are_checked_between_many_values(name):
    data = b"\7\0\0\0\5abcde\3\0\0\0\7" * (MANY // 2)
    assert times_checked(lambda: LONG_WORK[name](data)) >= MANY // 2 // LOOKS_EVERY


def test_signals_are_checked_between_the_records_of_a_block():
    data = written([(number, True) for number in range(MANY)], compression="block", block_size=1 << 29)
    reader = sequencefile.Reader(data)
    reader.read_typed(1)  # to decompress the block is Python code, where signals are looked for too
    heard_around = times_checked(lambda: reader.read_typed(1))
    assert times_checked(lambda: reader.read_typed(1 << 30)) >= heard_around + MANY // LOOKS_EVERY
    assert reader.record == MANY


SPLITS = {
    "SequenceFile": lambda: sequencefile.Reader(written([(number, True) for number in range(MANY)])),
    "blocks": lambda: sequencefile.Reader(
        written([(number, True) for number in range(MANY)], compression="block", block_size=1 << 29)
    ),
    "lines": lambda: LineReader(io.BytesIO(b"a line\n" * MANY)),
}


@pytest.mark.parametrize("name", SPLITS)
def test_signals_are_checked_between_the_pairs_of_a_split(name):
    pairs = PairIterator(SPLITS[name]())
    next(pairs)  # to read, or to decompress, may be Python code, where signals are looked for too
    heard_around = times_checked(lambda: next(pairs))
    assert times_checked(lambda: count(pairs)) >= heard_around + MANY // LOOKS_EVERY


@pytest.mark.parametrize("scan", [tb.count, tb.index])
def test_signals_are_checked_while_scanning(scan):
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
def test_signals_are_checked_while_encoding(name):
    value = BIG_OBJECTS[name]()
    work = tb.Encoder().encode_all if name == "values" else tb.dumps
    assert times_checked(lambda: work(value)) >= MANY // LOOKS_EVERY


def test_signals_are_checked_while_sorting():
    value = {str(n * 7919 % MANY): n for n in range(MANY)}
    assert times_checked(lambda: tb.dumps(value, sort_keys=True)) >= MANY // LOOKS_EVERY


class Interrupted(Exception):
    """Be raised by a signal handler."""


@pytest.fixture
def handled():
    """Return what the handler of SIGALRM is to do, one entry a signal; each is removed when it is done."""
    actions = []
    before = signal.signal(signal.SIGALRM, lambda *_: actions.pop()())
    yield actions
    signal.signal(signal.SIGALRM, before)


RAISE = raising(signal.SIGALRM)  # for a hook: the signal arrives when the items before the hook's are done
AFTER = 2 * LOOKS_EVERY  # items after the hook's: by then the signal must have been handled


def interrupt():
    raise Interrupted


def test_after_an_interrupt_all_is_as_before(handled):
    items, rest = b"\3\7\0\0\0" * AFTER, object()
    decoder, encoder = tb.Decoder(ext_hook=RAISE), tb.Encoder(default=RAISE)
    for work in (
        lambda: decoder.decode(b"\x09" + items + EXT + items + b"\xff"),
        lambda: encoder.encode([0x7000000] * AFTER + [rest] + [0x7000000] * AFTER),
    ):
        handled.append(interrupt)
        with pytest.raises(Interrupted):
            work()
        assert not handled and gc.isenabled()
    assert decoder.decode(DATA[: ENDS[0]]) is True
    assert decoder.decode(b"\x09" + items + b"\xff") == [0x7000000] * AFTER
    assert encoder.encode([0x7000000] * AFTER) == b"\x09" + items + b"\xff"


def test_an_interrupt_of_a_reader_is_final(handled):
    items = b"\3\7\0\0\0" * AFTER
    data = DATA[: ENDS[0]] + b"\x09" + items + EXT + items + b"\xff" + DATA
    with tb.Reader(io.BytesIO(data), ext_hook=RAISE) as reader:
        assert reader.read() is True
        handled.append(interrupt)
        with pytest.raises(Interrupted) as first:
            reader.read()
        with pytest.raises(Interrupted) as again:
            reader.read()
        assert again.value is first.value and not handled


def test_a_signal_handler_may_use_the_codec(handled):
    def use():
        seen.append(tb.Decoder().decode_all(tb.Encoder().encode_all(VALUES)) == VALUES)

    seen, items = [], b"\3\7\0\0\0" * AFTER
    data = b"\x09" + (items + EXT) * 3 + items + b"\xff"
    expected = ([0x7000000] * AFTER + [0]) * 3 + [0x7000000] * AFTER
    handled.extend([use] * 6)
    assert tb.loads(data, ext_hook=RAISE) == expected
    assert len(seen) == 3
    assert tb.loads(tb.dumps([object() if item == 0 else item for item in expected], default=RAISE)) == expected
    assert seen == [True] * 6


def test_an_interrupt_while_a_set_is_recognised_is_not_lost(handled):
    data = tb.dumps(frozenset(range(1_000_000)))
    handled.append(interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.005)  # in the midst of it, or on a slow machine before
    with pytest.raises(Interrupted):
        tb.loads(data)
