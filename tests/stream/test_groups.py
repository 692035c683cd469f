"""Pairs grouped by equal keys: complete, cut short, skipped, used late."""

import io
import itertools
import os
import tracemalloc

import pytest

import typedbytes as tb
from support.reader_sources import PAIR, OnlyRead

pytestmark = [pytest.mark.newest_python, pytest.mark.debug, pytest.mark.quick]

NAN = float("nan")

GROUPED = {
    "none": [],
    "one": [("a", [1])],
    "adjacent_only": [("a", [1, 2]), ("b", [3]), ("a", [4])],
    "equal_in_python": [
        (True, [1]), (1, [2]), (1.0, [3]), (tb.Byte(1), [4]), (tb.Long(1), [5]), (tb.Float(1), [6]),
        ("1", [7]), (b"1", [8]),
    ],
    "nan": [(NAN, [1, 2, 3]), (1.5, [4])],
    "zeros": [(0.0, [1]), (-0.0, [2])],
    "containers": [((1,), [1]), ((1, 2), [2, 3]), ([1], [4]), ([1, 2], [5]), ({1: 2}, [6]), ((), [7]), ([], [8])],
    "prefixes": [("", [1]), ("a", [2]), ("ab", [3, 4]), ("abc", [5])],
    "long_keys": [("k" * 5000, [1, 2]), ("k" * 4999 + "l", [3]), ("k" * 5001, [4]), ("k", [5])],
    "long_values": [("a", ["x" * 5000, "y" * 9000]), ("b", ["z" * 7000])],
    "none_as_key": [(None, [None, None]), (False, [None])],
}  # fmt: skip

GROUP_SOURCES = {
    "bytes": lambda data: data,
    "BytesIO": io.BytesIO,
    "one_byte": lambda data: OnlyRead(data, 1),
    "seven_bytes": lambda data: OnlyRead(data, 7),
}


def flat(grouped):
    """Return the pairs of groups, encoded."""
    return tb.Encoder().encode_pairs((key, value) for key, values in grouped for value in values)


def rewritten(key):
    """Return what a key is encoded as after decoding, which loses widths."""
    return tb.dumps(tb.loads(tb.dumps(key)))


@pytest.mark.parametrize("read_ahead", [True, False])
@pytest.mark.parametrize("source", GROUP_SOURCES)
@pytest.mark.parametrize("name", GROUPED)
def test_groups_are_runs_of_equal_encoded_keys(name, source, read_ahead):
    grouped, data = GROUPED[name], flat(GROUPED[name])
    reader = tb.PairReader(GROUP_SOURCES[source](data), buffer_size=64, read_ahead=read_ahead)
    found = [(key, list(values)) for key, values in reader.groups()]
    assert [(tb.dumps(key), values) for key, values in found] == [(rewritten(key), values) for key, values in grouped]
    assert (reader.record, reader.offset) == (sum(len(values) for _, values in grouped), len(data))


@pytest.mark.parametrize("source", GROUP_SOURCES)
@pytest.mark.parametrize("name", GROUPED)
def test_raw_groups_give_encoded_bytes(name, source):
    reader = tb.PairReader(GROUP_SOURCES[source](flat(GROUPED[name])), buffer_size=64, raw=True)
    found = [(key, list(values)) for key, values in reader.groups()]
    assert found == [(tb.dumps(key), list(map(tb.dumps, values))) for key, values in GROUPED[name]]


@pytest.mark.parametrize("nread", [0, 1, 2])
@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize("name", GROUPED)
def test_values_not_read_are_skipped(name, raw, nread):
    reader = tb.PairReader(io.BytesIO(flat(GROUPED[name])), buffer_size=64, raw=raw)
    found = [list(itertools.islice(values, nread)) for _, values in reader.groups()]
    expected = [values[:nread] for _, values in GROUPED[name]]
    assert found == ([list(map(tb.dumps, values)) for values in expected] if raw else expected)
    assert reader.record == sum(len(values) for _, values in GROUPED[name])


def test_values_used_late_raise():
    groups = tb.PairReader(flat(GROUPED["adjacent_only"])).groups()
    kept = list(groups)
    for _, values in kept:
        for _ in range(2):
            with pytest.raises(RuntimeError, match="moved on"):
                next(values)
    assert [key for key, _ in kept] == ["a", "b", "a"]


def test_values_read_to_their_end_stay_at_it():
    groups = tb.PairReader(flat(GROUPED["adjacent_only"])).groups()
    _, values = next(groups)
    assert iter(values) is values
    assert (list(values), list(values), next(values, "over")) == ([1, 2], [], "over")


def test_groups_at_their_end_stay_at_it():
    reader = tb.PairReader(flat(GROUPED["one"]))
    groups = reader.groups()
    assert iter(groups) is groups
    assert (len(list(groups)), list(groups), list(reader.groups()), reader.read()) == (1, [], [], None)


def test_groups_may_begin_after_pairs():
    reader = tb.PairReader(flat(GROUPED["adjacent_only"]))
    assert reader.read() == ("a", 1)
    assert [(key, list(values)) for key, values in reader.groups()] == [("a", [2]), ("b", [3]), ("a", [4])]


@pytest.mark.parametrize("use", [next, tb.PairReader.read, tb.PairReader.skip], ids=["next", "read", "skip"])
def test_a_pair_is_not_made_of_a_value_and_the_next_key(use):
    reader = tb.PairReader(flat(GROUPED["adjacent_only"]))
    next(reader.groups())
    with pytest.raises(RuntimeError, match="has read a key: read its value from the group, or go to the next group"):
        use(reader)


@pytest.mark.parametrize("source", [bytes, io.BytesIO, lambda data: OnlyRead(data, 1)])
@pytest.mark.parametrize("read_values", [False, True])
@pytest.mark.parametrize("cut", [1, 4, 5, 6, 7, 10])
def test_a_group_cut_short_is_truncated(cut, read_values, source):
    data = (tb.dumps("a") + tb.dumps(1)) * 3
    reader = tb.PairReader(source(data[:-cut]))
    groups = reader.groups()
    _, values = next(groups)
    assert [next(values), next(values)] == [1, 1]
    with pytest.raises(tb.TruncatedError) as caught:
        # a key that is cut short ends the group, and is missed when the next is asked for
        list(values if read_values else ())
        next(groups)
    assert (caught.value.offset, caught.value.record) == (len(data) - cut, 2)
    with pytest.raises(tb.TruncatedError) as again:
        next(groups)
    assert again.value is caught.value


def test_groups_of_a_bad_value_fail_for_good():
    reader = tb.PairReader(tb.dumps("a") + tb.dumps(1) + tb.dumps("a") + b"\xff")
    groups = reader.groups()
    _, values = next(groups)
    assert next(values) == 1
    for use in (values.__next__, groups.__next__, reader.read):
        with pytest.raises(tb.FormatError) as caught:
            use()
        assert (caught.value.offset, caught.value.record) == (17, 1)


@pytest.mark.parametrize(
    "bad",
    [
        b"\xff", b"\x09\x0c", b"\x03\0", b"\7\0\0\0\1\xff", b"\x09\7\0\0\0\1\xff\x0c", b"\x0a\0\0\0\1\x09\x0c",
        b"\x09" * 300,
    ],
)  # fmt: skip
def test_a_bad_key_of_a_group_is_reported_as_that_of_a_pair(bad):
    def failure_of(use):
        with pytest.raises(tb.DecodeError) as caught:
            use()
        return type(caught.value), caught.value.offset, caught.value.code, caught.value.path, caught.value.record

    data = PAIR + bad
    for source in (bytes, io.BytesIO, lambda data: OnlyRead(data, 1)):
        expected = failure_of(tb.PairReader(source(data)).read_all)
        assert failure_of(lambda: [list(values) for _, values in tb.PairReader(source(data)).groups()]) == expected
        assert failure_of(lambda: [key for key, _ in tb.PairReader(source(data)).groups()]) == expected


def test_a_bad_key_of_a_raw_group_is_reported_as_that_of_a_raw_pair():
    for bad in (b"\xff", b"\x09\x0c", b"\x03\0"):
        failure_of = []
        for use in (tb.PairReader.read_all, lambda reader: [list(values) for _, values in reader.groups()]):
            with pytest.raises(tb.DecodeError) as caught:
                use(tb.PairReader(io.BytesIO(PAIR + bad), raw=True))
            failure_of.append((type(caught.value), caught.value.offset, caught.value.code, caught.value.record))
        assert failure_of[0] == failure_of[1]


def test_groups_belong_to_a_reader():
    groups = tb.PairReader(PAIR).groups()
    _, values = next(groups)
    for make in (type(groups), type(groups).__new__):
        for arguments in ([], [None], [tb.Reader(PAIR)]):
            with pytest.raises(TypeError):
                make(*[type(groups)][: make is not type(groups)], *arguments)
    with pytest.raises(RuntimeError):
        next(type(values).__new__(type(values)))


def test_groups_of_a_closed_reader_are_closed():
    reader = tb.PairReader(flat(GROUPED["adjacent_only"]))
    groups = reader.groups()
    _, values = next(groups)
    reader.close()
    for use in (values.__next__, groups.__next__):
        with pytest.raises(ValueError, match="closed"):
            use()


def test_skipping_long_values_of_a_group_costs_no_memory(path):
    with path.open("wb") as file:
        for _ in range(3):
            file.write(tb.dumps("k") + b"\0" + (20 << 20).to_bytes(4, "big"))
            file.seek(20 << 20, os.SEEK_CUR)
        file.write(tb.dumps("l") + tb.dumps(1))
    tracemalloc.start()
    try:
        with tb.PairReader(path) as reader:
            assert [key for key, _ in reader.groups()] == ["k", "l"]
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
