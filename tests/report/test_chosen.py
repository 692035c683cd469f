"""Records that are chosen out of chunks: the same whatever the chunks are, and compared with a loop in Python."""

import collections
import io
import itertools
import math
import operator
from decimal import Decimal

import pytest
from hypothesis import example, given, strategies as st

import typedbytes as tb
from support.slow_grep import matches
from typedbytes import _report
from typedbytes.cli._query import ranges
from typedbytes.cli.commands import diff, grep

VALUES = st.lists(
    st.sampled_from(
        [
            1,
            2,
            "ab",
            "AB",
            b"b",
            [1, "a"],
            {"b": 2.5},
            None,
            True,
            10**12,
            15 * 2**70,
            Decimal("1.5e9"),
            {5},
            Decimal("NaN"),
        ]
    ),
    max_size=30,
)
CUTS = st.lists(st.integers(1, 6), min_size=30, max_size=30)


def chunks_of(values, cuts):
    """Return (encoded records, their number) of values, in chunks."""
    cuts, values = iter(cuts), iter(values)
    chunks = iter(lambda: list(itertools.islice(values, next(cuts))), [])
    return [(tb.Encoder().encode_all(chunk), len(chunk)) for chunk in chunks]


@given(VALUES, CUTS, st.booleans())
def test_distinct_records_in_any_chunks(values, cuts, everything):
    distinct = _report.DistinctRecords(1, all=everything)
    found = b"".join(distinct.take(chunk) for chunk, _ in chunks_of(values, cuts))
    encoded, expected = [tb.dumps(value) for value in values], []
    for number, each in enumerate(encoded):
        if each not in (encoded[:number] if everything else encoded[max(number - 1, 0) : number]):
            expected.append(each)
    assert found == b"".join(expected)


@given(VALUES, VALUES, CUTS)
def test_counts_of_records_in_any_chunks(ours, theirs, cuts):
    counts, expected = _report.RecordCounts(1), collections.Counter()
    for values, times in ((ours, 1), (theirs, -1)):
        for chunk, _ in chunks_of(values, cuts):
            counts.add(chunk, times)
        for value in values:
            expected[tb.dumps(value)] += times
    found = [(record, number) for record, number in expected.items() if number]
    assert list(counts.surplus()) == sorted(found, key=lambda each: each[1] < 0)


def test_many_counts():
    counts, records = _report.RecordCounts(2), tb.Encoder().encode_pairs((n, n % 7) for n in range(1000))
    counts.add(records * 3, 1)
    counts.add(records, -2)
    assert [number for _, number in counts.surplus()] == [1] * 1000
    assert b"".join(record for record, _ in counts.surplus()) == records
    counts.add(records, -1)
    assert list(counts.surplus()) == []


def splitmix64(seed):
    """Yield the numbers of Vigna's splitmix64.c."""
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) % 2**64
        z = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        yield z ^ z >> 31


def drawn(records, size, seed):
    """Return a sample as Li's algorithm L draws it, in the order of the input."""
    numbers = ((number >> 11) / 2**53 for number in splitmix64(seed))
    kept, probability, following = list(enumerate(records[:size])), 1.0, size - 1
    while len(kept) == size:
        probability *= math.exp(math.log(1 - next(numbers)) / size)
        following += int(math.log(1 - next(numbers)) / math.log1p(-probability)) + 1
        if following >= len(records):
            break
        kept[int(next(numbers) * size)] = following, records[following]
    return [record for _, record in sorted(kept)]


def test_the_reference_has_the_published_numbers():
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431]
    assert list(itertools.islice(splitmix64(1234567), 4)) == published


@given(st.integers(0, 300), CUTS, st.integers(1, 40), st.integers(0, 2**64 - 1), st.integers(1, 2))
@example(300, [6] * 30, 5, 1, 1)
def test_a_sample_in_any_chunks(nrecords, cuts, size, seed, nparts):
    # Some are so long that what has been replaced is dropped several times.
    records = [(number, [number], f"{number}" + "x" * (number % 7 * 5_000))[-nparts:] for number in range(nrecords)]
    encoded = [b"".join(map(tb.dumps, each)) for each in records]
    reservoir, rest, cuts = _report.Reservoir(size, seed), encoded, itertools.cycle(cuts)
    while rest:
        nskipped = min(reservoir.ahead, len(rest), next(cuts))  # as Reader.skip does, in part
        reservoir.ahead -= nskipped
        rest, n = rest[nskipped:], next(cuts)
        reservoir.take(b"".join(rest[:n]), nparts, len(rest) // 20)
        rest = rest[n:]
    pieces, expected = list(reservoir.pieces()), drawn(encoded, size, seed)
    assert b"".join(piece for _, piece in pieces) == b"".join(expected)
    assert all(tb.count(piece) for _, piece in pieces)
    sources = [source for source, _ in itertools.groupby(pieces, key=operator.itemgetter(0))]
    assert sources == sorted(set(sources), reverse=True)


def test_a_sample_of_long_records_is_in_pieces():
    reservoir, records = _report.Reservoir(5, 7), [tb.dumps(bytes([n]) * 50_000) for n in range(5)]
    for source in ("a", "b"):
        reservoir.take(b"".join(records if source == "a" else []), 1, source)
    assert list(reservoir.pieces()) == [("a", b"".join(records[i : i + 2])) for i in (0, 2, 4)]


@given(VALUES, VALUES, CUTS, CUTS, st.booleans())
def test_differences_in_any_chunks(first, second, cuts, more_cuts, is_similar):
    if is_similar:
        second = first[: len(second)] + second[:1] + first[len(second) + 1 :]
    sides = [
        ((chunk, n, 1) for chunk, n in chunks_of(values, each)) for values, each in ((first, cuts), (second, more_cuts))
    ]
    expected = []
    for number, (one, other) in enumerate(itertools.zip_longest(map(tb.dumps, first), map(tb.dumps, second))):
        if one != other:
            shown = [diff._shown(each, "hadoop") for each in (one, other)]
            expected.append({"record": number, "first": shown[0], "second": shown[1]})
        if one is None or other is None:
            break
    assert str(list(diff._in_order(*sides, "hadoop"))) == str(expected)


@given(
    VALUES, st.sampled_from(["a", "^b", "A", "1", "true", "5", "[ab]", "b$", "(?i)Ab"]), st.booleans(), st.booleans()
)
def test_matching_records_are_those_with_a_text_that_matches(values, pattern, ignore_case, invert):
    words = {"pattern": pattern, "fixed": False, "ignore_case": ignore_case, "invert": invert, "part": "any"}
    settings = grep.Settings({**words, "dialect": "hadoop"})
    matching = _report.MatchingRecords(1, **grep._search_of(settings))
    search = grep.re.compile(pattern, grep.re.IGNORECASE if ignore_case else 0)
    expected = [each for each in map(tb.dumps, values) if matches(search, each, 1, -1, "hadoop") != invert]
    assert matching.take(tb.Encoder().encode_all(values)) == b"".join(expected)
    assert matching.nfound == len(expected)


class Copied:
    """Take what copy_range writes."""

    needs_reader = False

    def __init__(self):
        self.written = io.BytesIO()

    def writer(self, reader):
        """Return a writer of encoded records."""
        return tb.Writer(self.written)


class Sources:
    """Inputs in memory."""

    dialect = "hadoop"

    def __init__(self, *streams):
        self._streams = streams

    def __iter__(self):
        return iter(self._streams)

    def reading(self, stream):
        """Return a reader of one."""
        return tb.Reader(stream, raw=True, buffer_size=64)


@pytest.mark.parametrize("chunk_nbytes", [1, 20, 1 << 16])
@pytest.mark.parametrize(
    "wanted", [range(5), range(3, 40), range(2, 60, 3), range(0, 50, 7), range(45, 45), range(9, 99, 40)]
)
def test_a_range_in_any_chunks(wanted, chunk_nbytes, monkeypatch):
    monkeypatch.setattr(ranges, "CHUNK_NBYTES", chunk_nbytes)
    streams = [tb.Encoder().encode_all(range(start, stop)) for start, stop in ((0, 20), (20, 20), (20, 50))]
    copied = Copied()
    ranges.copy_range(Sources(*streams), copied, wanted)
    assert (
        tb.Decoder().decode_all(copied.written.getvalue()) == list(range(50))[wanted.start : wanted.stop : wanted.step]
    )


def test_records_have_one_part_or_two():
    with pytest.raises(ValueError, match="nparts must be 1 or 2, not 40"):
        _report.ChosenRecords(40)
    with pytest.raises(ValueError, match="nparts must be 1 or 2, not 0"):
        _report.Fields([(False, [0])]).cut(b"\x02\x01" * 80, 0)


def test_arguments_that_lead_beyond_a_record_are_refused():
    with pytest.raises(ValueError, match="part must be less than 2, not 2"):
        _report.MatchingRecords(2, b"x", part=2)
    with pytest.raises(ValueError, match="part must be less than 1, not -2"):
        _report.MatchingRecords(1, b"x", part=-2)
    with pytest.raises(ValueError, match="size must be at least 0, not -1"):
        _report.Reservoir(-1, 5)
    nothing = _report.Reservoir(0, 5)
    nothing.take(b"\x02\x01" * 6, 1, "a file")
    assert list(nothing.pieces()) == []
    for nparts in (-1, 0, 3):
        with pytest.raises(ValueError, match=f"nparts must be 1 or 2, not {nparts}"):
            _report.Reservoir(1, 5).take(b"\x02\x01" * 6, nparts, "a file")
