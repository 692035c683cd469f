"""Counting over encoded bytes: where damage is reported, what is refused, and that a long count checks for signals.

What stats, schema and freq print is tested in cli/test_commands.py.
"""

import pytest

import typedbytes as tb
from signal_checks import times_checked
from typedbytes._report._native import RecordStatistics, Schema, Walker

KINDS = [Walker, RecordStatistics, Schema]


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_reported_with_its_offset(kind):
    walker = kind(pairs=True)
    walker.write(b"\2\1\2\1")
    with pytest.raises(tb.FormatError) as raised:
        walker.write(b"\2\1\2\1\2\0\x0b")
    assert (raised.value.offset, walker.nrecords) == (6, 2)
    with pytest.raises(tb.TruncatedError):
        walker.write(b"\2\1")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("data", [b"\2\1" * 100_000, tb.dumps([True] * 100_000)])
def test_signals_are_checked(kind, data):
    nvalues = 100_000 if kind is Schema else tb.count(data)
    walker = kind()
    assert times_checked(lambda: walker.write(data)) >= nvalues // 16_384
    assert walker.nrecords == tb.count(data)


@pytest.mark.parametrize("npartitions", [-1, 65_537])
def test_partitions_are_limited(npartitions):
    with pytest.raises(ValueError, match="partitions must be 0 to 65536"):
        RecordStatistics(npartitions=npartitions)


@pytest.mark.parametrize("pairs, part", [(False, 1), (True, 2), (True, -1)])
def test_a_record_has_no_other_offsets(pairs, part):
    with pytest.raises(ValueError, match=f"part must be less than .*, not {part}"):
        RecordStatistics(pairs=pairs).by_type(part)


def test_an_unknown_dialect_is_refused():
    with pytest.raises(ValueError, match="dialect"):
        Walker(dialect="pig")
