"""The inner loop of a task: what it calls, what it writes, and what it says of the record that failed."""

import io

import pytest

from typedbytes import PairReader, PairWriter, dumps, loads, sequencefile
from typedbytes._core import END, PairIterator, RawBytesReader, RecordLoop, TextReader
from typedbytes._sorting._native import LineReader
from typedbytes.errors import TruncatedError

pytestmark = pytest.mark.quick

PAIRS = [("a", 1), ("b", [2, "x"]), ("c", None)]
ENCODED = b"".join(dumps(part) for pair in PAIRS for part in pair)


class OwnReader(PairReader):
    """A reader whose iteration gives something else."""

    def __next__(self):
        key, value = super().__next__()
        return value, key


class OwnWriter(PairWriter):
    """A writer that does something else with pairs."""

    def writes(self, pairs):
        return super().writes([(value, key) for key, value in pairs])


class Pairs:
    """An output of another kind."""

    def __init__(self):
        self.pairs = []

    def writes(self, pairs):
        self.pairs.extend(pairs)


def written(records, function, kind=PairWriter):
    """Return the pairs that a loop writes."""
    sink = io.BytesIO()
    with kind(sink) as writer:
        RecordLoop(records, function, writer).run()
    return list(PairReader(sink.getvalue()))


def yielding(key, value):
    yield key, value
    yield value, key


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda key, value: ((key, value),), PAIRS),
        (lambda key, value: [[key, value]], PAIRS),
        (yielding, [each for key, value in PAIRS for each in ((key, value), (value, key))]),
        (lambda key, value: None, []),
        (lambda key, value: (), []),
        (lambda key, value: iter([(key, value)]), PAIRS),
        (lambda key, value: PairReader(dumps(key) * 2), [(key, key) for key, _ in PAIRS]),
        (lambda *pair: (pair,), PAIRS),
    ],
)
def test_what_the_function_returns_is_written(function, expected):
    assert written(PairReader(ENCODED), function) == expected
    assert written(iter(PAIRS), function) == expected


def test_a_class_with_its_own_iteration_or_writes_keeps_them():
    def same(key, value):
        return ((key, value),)

    turned = [(value, key) for key, value in PAIRS]
    assert written(OwnReader(ENCODED), same) == turned
    assert written(PairReader(ENCODED), same, OwnWriter) == turned
    assert written(PairReader(ENCODED, raw=True), lambda key, value: ((loads(key), loads(value)),)) == PAIRS


@pytest.mark.parametrize(
    ("reader", "pairs"),
    [
        (lambda: TextReader(b"a\tb\nc", b"\t"), [("a", "b"), ("c", "")]),
        (lambda: TextReader(b"a\nb\n"), [(0, "a"), (1, "b")]),
        (lambda: TextReader(b"a\tb\n", b"\t", raw=True), [(b"a", b"b")]),
        (lambda: RawBytesReader(b"\0\0\0\1a\0\0\0\2bc"), [(b"a", b"bc")]),
    ],
)
def test_every_format_is_read_by_its_own_rules(reader, pairs):
    output = Pairs()
    RecordLoop(reader(), lambda *pair: (pair,), output).run()
    assert output.pairs == pairs == list(reader())
    sink = io.BytesIO()
    with PairWriter(sink) as writer:
        assert writer.writes(reader()) == len(pairs)
    assert list(PairReader(sink.getvalue())) == pairs


def test_the_record_that_failed_is_known():
    def fails_at_b(key, value):
        return [(key, value)] if key == "a" else 1 / 0

    output = Pairs()
    loop = RecordLoop(PairReader(ENCODED), fails_at_b, output)
    assert (loop.key, loop.returned) == (END, None)
    with pytest.raises(ZeroDivisionError):
        loop.run()
    assert (loop.key, loop.returned) == ("b", [("a", 1)])
    assert output.pairs == [("a", 1)]


def test_what_cannot_be_written_is_known():
    with PairWriter(io.BytesIO()) as writer:
        loop = RecordLoop(PairReader(ENCODED), lambda key, value: 5, writer)
        with pytest.raises(TypeError):
            loop.run()
        assert (loop.key, loop.returned) == ("a", 5)
        assert writer.record == 0


def test_input_that_ends_early_fails_the_loop_and_stays_failed():
    reader, output = PairReader(ENCODED[:-1]), Pairs()
    for _ in range(2):
        with pytest.raises(TruncatedError):
            RecordLoop(reader, lambda *pair: (pair,), output).run()
    assert output.pairs == PAIRS[:2]


def test_the_reader_that_is_read_may_be_asked_by_the_function():
    reader, offsets = PairReader(ENCODED), []
    RecordLoop(reader, lambda key, value: offsets.append((reader.record, reader.read(("end",))[0])), Pairs()).run()
    assert offsets == [(1, "b"), (3, "end")]


def test_pairs_of_a_split_are_taken_without_a_tuple():
    file = io.BytesIO()
    with sequencefile.Writer(file) as writer:
        writer.writes(PAIRS)
    lines = b"one\ntwo\n"
    for source, expected in (
        (sequencefile.Reader(file.getvalue()), PAIRS),
        (LineReader(io.BytesIO(lines)), [(0, "one"), (4, "two")]),
    ):
        pairs = PairIterator(source)
        assert written(pairs, yielding) == [each for key, value in expected for each in ((key, value), (value, key))]
        pairs._check_end()
        assert written(pairs, yielding) == []


def test_a_split_that_is_cut_stays_failed():
    file = io.BytesIO()
    with sequencefile.Writer(file) as writer:
        writer.writes(PAIRS)
    pairs = PairIterator(sequencefile.Reader(file.getvalue()[:-1]))
    output = Pairs()
    for _ in range(2):
        with pytest.raises(TruncatedError) as raised:
            RecordLoop(pairs, lambda key, value: [(key, value)], output).run()
        assert raised.value.record == 2 and pairs._failure is raised.value
    assert output.pairs == PAIRS[:2]
