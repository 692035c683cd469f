"""Sums by key: those of a dict, whatever the chunks and however many keys."""

import itertools
import json
from functools import partial

import pytest
from hypothesis import given, strategies as st

import typedbytes as tb
from typedbytes import _report

KEYS = st.one_of(st.integers(-3, 3), st.sampled_from(["", "a", "b", b"a", 1.0, (1, "a"), [1], {"a": 1}, None]))
INTEGERS = st.integers(-(2**31), 2**31 - 1)
REALS = st.floats(allow_nan=False, allow_infinity=False)


def added(pairs, cuts):
    """Return the Sums of pairs in chunks."""
    sums, pairs = _report.Sums(None), iter(pairs)
    for n in itertools.cycle(cuts):
        chunk = list(itertools.islice(pairs, n))
        if not chunk:
            return sums
        sums.add(tb.Encoder().encode_pairs(chunk), 2)


def in_a_dict(pairs):
    """Return the values by encoded key."""
    found = {}
    for key, value in pairs:
        found.setdefault(tb.dumps(key), []).append(value)
    return found


@given(
    st.one_of(*(st.lists(st.tuples(KEYS, each), max_size=200) for each in (INTEGERS, REALS))),
    st.lists(st.integers(1, 99), min_size=1),
)
def test_sums_in_any_chunks(pairs, cuts):
    sums = added(pairs, cuts)
    expected = in_a_dict(pairs)
    assert [sums.key(number) for number in range(len(sums))] == [*expected]
    for number, values in enumerate(expected.values()):
        total = 0
        for value in values:
            total += value
        assert sums.number(number) == (len(values), total, min(values), max(values))
        line = json.loads(sums.lines(number, 1, None))
        if total - total == 0:
            assert line["mean"] == total / len(values) and line["sum"] == total


def test_many_keys_and_values_without_one():
    pairs = [(f"{number % 30_000:x}", number) for number in range(90_000)]
    sums = added(pairs, [5000])
    sums.add(tb.Encoder().encode_all([1, 2]), 1)
    assert [sums.key(number) for number in range(len(sums))] == [*in_a_dict(pairs), None]
    assert all(sums.number(number) == (3, 3 * number + 90_000, number, number + 60_000) for number in range(30_000))
    assert sums.number(30_000) == (2, 3, 1, 2)


@pytest.mark.parametrize("key", ["", "x" * 70_000])
def test_short_and_long_keys(key):
    assert added([(key, 1), (key + "y", 2), (key, 3)], [1]).number(0) == (2, 4, 1, 3)


@pytest.mark.parametrize("count", [3, 7, 10])
@pytest.mark.parametrize("total", [2**53, 2**53 + 1, 2**62 + 1, -(2**53), -(2**53) - 1, 10])
def test_the_mean_of_ints_is_rounded_once(total, count):
    sums = added([(0, total), *[(0, 0)] * (count - 1)], [99])
    assert json.loads(sums.lines(0, 1, None))["mean"] == total / count


@pytest.mark.parametrize("take", [
    lambda: partial(_report.Sums(None).add, nparts=1), lambda: _report.DistinctRecords(1).take,
    lambda: partial(_report.RecordCounts(1).add, times=1),
    lambda: partial(_report.Reservoir(3, 1).take, nparts=1, source=None),
])  # fmt: skip
def test_a_chunk_after_a_damaged_one_is_read_from_its_start(take):
    take, good = take(), tb.dumps(1) + tb.dumps(2)
    for damaged in (tb.dumps([[1, 2], "text"])[:-1], tb.dumps("text")[:-1]):
        for _ in range(3):
            with pytest.raises(tb.DecodeError):
                take(damaged)
    take(good)
