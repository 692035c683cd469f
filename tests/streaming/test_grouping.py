"""Groups of a part of the keys: the same with any number of reducers, without options, or an error before any.

Here: what ``group_by`` and ``partition_by`` send between map and reduce, and what they refuse.
What a real Hadoop makes of it is in test_hadoop_jobs.py.
"""

import collections
import math
import random
from functools import partial

import pytest
from hypothesis import example, given, strategies as st

import typedbytes as tb
from support import strategies
from support.local_jobs import pairs_of, parts_of, run, write_script
from support.streaming_support import encode
from typedbytes import local
from typedbytes.streaming import lib, testing
from typedbytes.streaming.formats.secondary_sort import CompositeKeys

BINARY = {"mapred_partitioner_class": "org.apache.hadoop.mapred.lib.BinaryPartitioner"}
OFFSET = "mapreduce_partition_binarypartitioner_right_offset"
KEYS = [
    (text, number, *more)
    for text in ("a", "b", "ab", "Ab", "")
    for number in (-3, 0, 1, 1.0, True, 2**40)
    for more in ((), (None,))
]

# -- the form of a key ---------------------------------------------------------------------------------------

encoded = strategies.scalars.map(tb.dumps) | st.binary(max_size=300).map(tb.dumps)


@given(encoded, encoded, st.sampled_from([0, 2, 4, 5, 6, 7, 20]), st.integers(1, 50))
def test_a_key_goes_where_its_part_goes(part, key, secondary, nreducers):
    composite_keys = CompositeKeys(None, True, secondary)
    whole = composite_keys.join(part, key)
    assert tb.skip(whole) == len(whole)
    assert tb.partition(whole[: len(whole) - secondary], nreducers) == tb.partition(part, nreducers)
    assert (composite_keys.split(whole), CompositeKeys(None, True, secondary).split(key)) == (key, None)


@given(st.lists(st.tuples(encoded, encoded), max_size=20))
def test_keys_are_sorted_by_their_part_first(keys):
    composite_keys = CompositeKeys(None, True)
    assert sorted(composite_keys.join(*each) for each in keys) == [composite_keys.join(*each) for each in sorted(keys)]


@given(st.lists(st.tuples(st.sampled_from("ab").map(tb.dumps), encoded), max_size=20))
def test_what_starts_alike_has_the_same_part(keys):
    composite_keys = CompositeKeys(None, True)
    for part, key in keys:
        assert composite_keys.split(composite_keys.join(part, key)) == key
        assert composite_keys.start[5:] == part


@given(encoded, encoded, st.integers(0), st.integers(1, 255))
@example(tb.dumps(False), tb.dumps(None), 0, 0xF7)  # a MARKER in place of the type code
def test_a_key_that_only_looks_composite_is_not_a_key(part, key, offset, difference):
    whole = CompositeKeys(None, True).join(part, key)
    changed = bytearray(whole)
    changed[offset % len(whole)] ^= difference
    # a key may be another one, and then its part is what it was
    found = CompositeKeys(None, True)
    assert found.split(bytes(changed)) is None or tb.hash_code(found.start[5:]) == tb.hash_code(bytes(changed))
    assert CompositeKeys(None, True, 4).split(whole) is None


# -- jobs ----------------------------------------------------------------------------------------------------

PARTS = {
    "first": "key[0]",
    "second": "key[1]",
    "length": "len(key)",
    "folded": "key[0].lower()",
    "last two": "key[-2:]",
}
GROUPED = """
    from typedbytes import streaming
    from typedbytes.streaming import lib

    def mapper(key, value):
        yield key, value

    def part(key):
        return {part}

    def reducer(key, values):
        yield part(key), list(values)

    if __name__ == "__main__":
        streaming.run(mapper, reducer, combiner={combiner}, group_by=part, max_bad={max_bad})
"""


def write_pairs(folder, rng, npairs=500):
    """Write pairs with KEYS and return them; the value says which it is."""
    pairs = [(tuple("none" if item is None else item for item in rng.choice(KEYS)), number) for number in range(npairs)]
    (folder / "in.tb").write_bytes(encode(*pairs))
    return pairs


def expected_groups(pairs, part):
    """Return each group's values in the order of the whole keys."""
    groups = collections.defaultdict(list)
    for key, value in sorted(pairs, key=lambda pair: tb.dumps(pair[0])):
        groups[tb.dumps(part(key))].append(value)
    return sorted((group, tb.dumps(values)) for group, values in groups.items())


@pytest.mark.parametrize("name", PARTS)
def test_the_groups_of_several_reducers_are_those_of_one(tmp_path, name):
    """A group that is split over reducers gives a wrong result with exit code 0."""
    pairs = write_pairs(tmp_path, random.Random(name))
    part = eval(f"lambda key: {PARTS[name]}")  # the same text as in the script
    options = (
        {"combiner": "lib.identityreducer", "max_bad": 1} if name == "folded" else {"combiner": None, "max_bad": 0}
    )
    script = write_script(tmp_path, GROUPED.format(part=PARTS[name], **options))
    for nreducers in (1, 3):
        run(script, tmp_path / "in.tb", tmp_path / f"out{nreducers}", reducers=nreducers)
        parts = parts_of(tmp_path / f"out{nreducers}")
        assert sorted(pair for part in parts for pair in part) == expected_groups(pairs, part)
        for number, each in enumerate(parts):
            assert [tb.partition(group, nreducers) for group, _ in each] == [number] * len(each)
            assert [group for group, _ in each] == sorted(group for group, _ in each)


@pytest.mark.parametrize("secondary", [2, 5, 20])
def test_bytes_that_only_sort_change_no_group(tmp_path, secondary):
    pairs = write_pairs(tmp_path, random.Random(secondary))
    script = write_script(tmp_path, GROUPED.format(part="key[0]", combiner=None, max_bad=0))
    run(script, tmp_path / "in.tb", tmp_path / "out", reducers=3, secondary=secondary)
    assert sorted(pair for part in parts_of(tmp_path / "out") for pair in part) == expected_groups(
        pairs, lambda key: key[0]
    )


def test_without_a_reducer_keys_are_as_the_mapper_yields_them(tmp_path):
    pairs = write_pairs(tmp_path, random.Random(1))
    script = write_script(tmp_path, GROUPED.format(part="key[0]", combiner=None, max_bad=0))
    run(script, tmp_path / "in.tb", tmp_path / "out", reducers=0)
    assert pairs_of(tmp_path / "out") == pairs


def test_job_of_unit_tests_groups_alike():
    pairs = [(("a", 2), 1), (("b", 1), 2), (("c", 2), 3)]
    job = partial(testing.run_job, pairs, lib.identitymapper, lambda key, values: [(key[1], list(values))])
    assert job(group_by=lambda key: key[1]) == [(1, [2]), (2, [1, 3])]


class Names(lib.JoinReducer):
    """The sum of what each name has, of customers that have orders."""

    def primary(self, key, names):
        self.name = next(names)

    def secondary(self, key, prices):
        yield self.name, math.fsum(prices)


def sides(key, value):
    yield (key, isinstance(value, float)), value


def test_both_sides_of_a_join_meet(tmp_path):
    sides_of = {number: (f"name {number}", [number + 0.5] * (number % 4)) for number in range(60)}
    pairs = [(number, name) for number, (name, _) in sides_of.items()]
    pairs += [(number, price) for number, (_, prices) in sides_of.items() for price in prices]
    (tmp_path / "in.tb").write_bytes(encode(*random.Random(2).sample(pairs, len(pairs)), (100, 1.5)))
    local.run(
        sides, Names, lib.JoinCombiner, inputs=tmp_path / "in.tb", output=tmp_path / "out", reducers=3, quiet=True
    )
    assert all(parts_of(tmp_path / "out"))
    assert sorted(pairs_of(tmp_path / "out")) == sorted(
        (name, sum(prices)) for name, prices in sides_of.values() if prices
    )


# -- what is refused -----------------------------------------------------------------------------------------

REDUCER = "run({mapper}, lambda key, values: [(key, list(values))], group_by=lambda key: key[0], max_bad={max_bad})"
MAPPER = "lambda key, value: [(key, value)]"
PLAIN = encode((("a", 1), 1), (("a", 2), 2))


@pytest.mark.parametrize("max_bad", [0, 2])
@pytest.mark.parametrize("nreducers", [1, 3])
def test_keys_of_a_mapper_that_knows_no_groups(run_here, nreducers, max_bad):
    outcome = run_here(
        REDUCER.format(mapper=None, max_bad=max_bad),
        "reduce",
        data=PLAIN,
        environ={"mapreduce_job_reduces": str(nreducers)},
    )
    assert (outcome.code, outcome.output) == (64, b"")
    assert f"{nreducers} reducers could group them wrongly" in outcome.messages and "-partitioner" in outcome.messages


def test_a_join_in_one_reducer_takes_the_keys_of_any_mapper(run_here):
    script = "from typedbytes.streaming import lib\nrun(None, lib.JoinReducer)"
    data = encode((("a", False), 1), (("a", True), 2))
    assert run_here(script, "reduce", data=data, environ={"mapreduce_job_reduces": "1"}).output == encode(
        ("a", 1), ("a", 2)
    )
    assert run_here(script, "reduce", data=data, environ={"mapreduce_job_reduces": "2"}).code == 64


@pytest.mark.parametrize(
    "variables, said",
    [
        ({"stream_map_output": "text", "stream_reduce_input": "text"}, "add -io typedbytes"),
        ({"stream_map_output": "rawbytes", "stream_reduce_input": "rawbytes"}, "not rawbytes"),
        (
            {"mapreduce_job_output_key_comparator_class": "com.example.Backwards"},
            "leave out mapreduce.job.output.key.comparator.class",
        ),
        ({**BINARY, OFFSET: "4"}, "BinaryPartitioner with the offsets 0 and 4"),
        ({**BINARY, OFFSET: "-4"}, "leave it out, grouping needs none"),
    ],
)
@pytest.mark.parametrize("role", ["map", "reduce"])
def test_jobs_whose_keys_cannot_be_grouped(run_here, role, variables, said):
    outcome = run_here(
        REDUCER.format(mapper=MAPPER, max_bad=0), role, data=PLAIN, environ={"mapreduce_job_reduces": "1", **variables}
    )
    assert (outcome.code, outcome.output) == (64, b"")
    assert said in outcome.messages


def test_a_partitioner_of_the_jobs_own_is_trusted(run_here):
    script, own = (
        REDUCER.format(mapper=MAPPER, max_bad=0),
        {"mapred_partitioner_class": "com.example.FirstPart", "mapreduce_job_reduces": "3"},
    )
    assert run_here(script, "map", data=PLAIN, environ=own).output == PLAIN
    assert run_here(script, "reduce", data=PLAIN, environ=own).output == encode((("a", 1), [1, 2]))


@pytest.mark.parametrize("secondary", [1, 3])
def test_a_job_says_why_its_keys_cannot_be_grouped(tmp_path, secondary):
    write_pairs(tmp_path, random.Random(1))
    script = write_script(tmp_path, GROUPED.format(part="key[0]", combiner=None, max_bad=0))
    with pytest.raises(
        local.JobError,
        match=(
            rf"map task 0 .* failed: exit code 64: --secondary {secondary} cannot be combined with grouping by a part "
            r"of the key: leave it out, grouping needs none$"
        ),
    ):
        run(script, tmp_path / "in.tb", tmp_path / "out", reducers=2, secondary=secondary)


def test_group_by_for_a_reducer_of_single_keys(run_here):
    outcome = run_here("from typedbytes.streaming import lib\nrun(None, lib.JoinReducer, group_by=len)", "reduce")
    assert outcome.code == 1
    assert (
        outcome.lines[-1]
        == "TypeError: a reducer with partition_by is called for each key, not for groups: leave out group_by"
    )


# -- what is wrong in the midst ------------------------------------------------------------------------------


def composite(*pairs):
    """Return the pairs as a mapper sends them to reducers that group by the first part."""
    composite_keys = CompositeKeys(None, True)
    return b"".join(composite_keys.join(tb.dumps(key[0]), tb.dumps(key)) + tb.dumps(value) for key, value in pairs)


def test_keys_of_both_kinds(run_here):
    for data in (composite((("a", 1), 1)) + PLAIN, PLAIN + composite((("b", 1), 1))):
        outcome = run_here(REDUCER.format(mapper=MAPPER, max_bad=0), "reduce", data=data)
        assert (outcome.code, outcome.details()["bad record"][0]) == (65, "12"[data.startswith(PLAIN)])


@pytest.mark.parametrize("bad", [b"\x0c", b"\x07\0\0\0\1\xff", tb.dumps([1, "x"])[:-3] + b"\xff\xff", b"\x03"])
def test_a_bad_value_is_named_as_elsewhere(run_here, bad):
    data = composite((("a", 1), 1), (("a", 2), 2)) + composite((("b", 1), True))[:-2] + bad
    with pytest.raises(tb.DecodeError) as found:
        list(tb.PairReader(data))
    outcome = run_here(REDUCER.format(mapper=MAPPER, max_bad=0), "reduce", data=data)
    assert (outcome.code, outcome.details()["bad record"]) == (65, f"2, at byte {found.value.offset}")


def test_bad_records_are_kept_with_the_keys_of_the_job(run_here, tmp_path):
    data = composite((("a", 1), 1)) + composite((("a", 2), True))[:-2] + b"\x64\0\0\0\1?" + composite((("b", 3), 3))
    outcome = run_here(REDUCER.format(mapper=MAPPER, max_bad=1), "reduce", data=data)
    assert outcome.output == encode((("a", 1), [1]), (("b", 3), [3]))
    assert next(tb.PairReader((tmp_path / "bad-records-r-00000").read_bytes(), raw=True)) == (
        tb.dumps(("a", 2)),
        b"\x64\0\0\0\1?",
    )


def test_a_part_that_a_key_has_not_fails_the_map_task(run_here):
    outcome = run_here(REDUCER.format(mapper=MAPPER, max_bad=0), "map", data=encode((("a", 1), 1), (5, 2)))
    assert (outcome.code, outcome.lines[-1]) == (1, "TypeError: 'int' object is not subscriptable")
