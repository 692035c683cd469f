"""Where batches end: rows, encoded bytes, and what memory that takes."""

import io
from itertools import accumulate

import pytest
from hypothesis import given, strategies as st

import typedbytes as tb
from support.reader_sources import Script
from support.subprocess_runs import run_fresh
from typedbytes import columns

pytestmark = [pytest.mark.free_threaded, pytest.mark.newest_python, pytest.mark.lowest]

TEXTS = st.lists(st.tuples(st.text(max_size=3), st.binary(max_size=40)), max_size=60)
NUMBERS = st.lists(st.tuples(st.integers(0, 9), st.floats(0, 1)), max_size=60)


def expected_lengths(records, batch_rows, batch_nbytes):
    """Return the number of rows of each batch, by the rule that the documentation gives."""
    lengths, nrows, nbytes = [], 0, 0
    for record in records:
        nrows += 1
        nbytes += len(record)
        if nrows == batch_rows or nbytes >= batch_nbytes:
            lengths.append(nrows)
            nrows = nbytes = 0
    return lengths + [nrows] * (nrows > 0)


def encoded(pairs):
    return [tb.Encoder().encode_pairs([pair]) for pair in pairs]


@given(
    TEXTS | NUMBERS, st.integers(1, 70), st.integers(1, 400), st.sampled_from([bytes, io.BytesIO]), st.integers(1, 3)
)
def test_a_batch_ends_at_rows_or_bytes(pairs, batch_rows, batch_nbytes, source, threads):
    records = encoded(pairs)
    ends = [0, *accumulate(map(len, records))]
    with columns.read(source(b"".join(records)), batch_rows, batch_nbytes=batch_nbytes, threads=threads) as reader:
        lengths = []
        for batch in reader:
            lengths.append(len(batch))
            if threads == 1:
                assert reader.offset == ends[reader.record]
    assert lengths == expected_lengths(records, batch_rows, batch_nbytes)


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize("values", [b"x" * 3000, 0.5, [1] * 40], ids=["bytes", "double", "vector"])
def test_threads_end_large_batches_where_one_thread_does(values, threads):
    records = encoded((number, values if number % 3 else values * 2) for number in range(20_000))
    data = b"".join(records)
    batches = list(columns.read(data, 1000, batch_nbytes=100_000, threads=threads))
    assert [len(batch) for batch in batches] == expected_lengths(records, 1000, 100_000)
    assert [number for batch in batches for number in batch.column(0).tolist()] == list(range(20_000))


@given(
    st.lists(st.tuples(st.integers(0, 3), st.binary(max_size=30)), max_size=80), st.integers(1, 20), st.integers(1, 200)
)
def test_groups_stay_whole(pairs, batch_rows, batch_nbytes):
    pairs.sort(key=lambda pair: pair[0])
    keys = []
    for batch in columns.read(b"".join(encoded(pairs)), batch_rows, batch_nbytes=batch_nbytes).groups():
        keys.append(batch.column("key").tolist())
    assert sum(keys, []) == [key for key, _ in pairs]
    assert all(a[-1] < b[0] for a, b in zip(keys, keys[1:]))


UNFINISHED = {
    "invalid": (lambda data: data + b"\xff", tb.FormatError),
    "truncated": (lambda data: data + tb.dumps("a"), tb.TruncatedError),
    "mismatch": (lambda data: data + tb.Encoder().encode_pairs([("a", "x")]), columns.MismatchError),
    "source": (lambda data: Script([data, OSError("worn out")]), OSError),
}


@pytest.mark.parametrize("fault", UNFINISHED)
@pytest.mark.parametrize("batch_rows", [1, 2, 3, 100])
def test_a_group_that_an_error_interrupts_is_not_returned(fault, batch_rows):
    make, error = UNFINISHED[fault]
    found = []
    reader = columns.read(
        make(tb.Encoder().encode_pairs([("a", 1), ("b", 2), ("b", 3), ("c", 4), ("c", 5)])), batch_rows
    ).groups()
    with pytest.raises(error) as info:
        for batch in reader:
            found += batch.column("value").tolist()
    assert found == [1, 2, 3] and getattr(info.value, "record", 5) == 5
    with pytest.raises(error):
        next(reader)


PEAK = """
    import tracemalloc
    import typedbytes as tb
    from support.reader_sources import Repeated
    from typedbytes import columns

    record = tb.Encoder().encode_pairs([(1, {value})])
    times = (64 << 20) // len(record)
    nrows = 0
    tracemalloc.start()
    for batch in columns.read(Repeated(record, times)):
        nrows += len(batch)
    assert nrows == times
    print(tracemalloc.get_traced_memory()[1])
"""


@pytest.mark.unsanitized("it keeps what was freed")
@pytest.mark.parametrize(
    "value", ["b'x' * (1 << 20)", "'x' * 1000", "list(range(1000))", "{str(n): n for n in range(300)}"]
)
def test_memory_does_not_depend_on_the_size_of_records(value):
    """In a process of its own: blocks kept from tests before would be taken instead of larger ones."""
    assert int(run_fresh(PEAK.format(value=value))) < 4 * (8 << 20)
