"""A record that fails under max_bad leaves nothing behind in any helper of ours, as if it had not been read.

Here: each name of streaming and of streaming.lib with a failure at each of its steps. Invariant: what a job gives is
compared with what plain Python makes of the records that did not fail, without the wrapper; those that did are in the
side file, and no others.
"""

import collections
import itertools
import random
import statistics

import pytest

import typedbytes as tb
from support.streaming_support import encode, pairs as pairs_of
from typedbytes import streaming
from typedbytes.streaming import lib

LATE = b"\x07\x00\x00\x00\x02\xc3\x28"  # a STRING that is not UTF-8: its end is known
HEAD = """
import operator
from typedbytes.streaming import Step, StopEarly, lib

def mapper(key, value):
    words, fault = value
    if fault == "at once":
        raise ValueError(fault)
    for number, word in enumerate(words):
        if fault == "between" and number:
            raise ValueError(fault)
        word = object() if fault == "key" and number else word
        yield "no" if fault == "pair" and number else (word, object() if fault == "value" and number else ONE)
    if fault == "at the end":
        raise ValueError(fault)

def returning(key, value):
    pairs = list(mapper(key, value))
    return iter(pairs) if pairs else None

def several(*mappers):
    multi = lib.MultiMapper()
    for each in mappers:
        multi.add("", each)
    return multi

ONE = 1
"""
FAULTS = ["at once", "between", "key", "value", "pair", "at the end"]
MAPPERS = {  # by the names that each covers: the mapper, and by how many mappers each word is counted
    "a function": ("mapper", 1),
    "primary": ("lib.primary(mapper)", 1),
    "secondary": ("lib.secondary(returning)", 1),
    "MultiMapper": ("several(mapper, returning)", 2),
    "Combining": ("lib.Combining(mapper)", 1),
    **{f"Combining of {nkeys} keys": (f"lib.Combining(mapper, nkeys={nkeys})", 1) for nkeys in (1, 2, 3)},
    "Combining of what returns": ("lib.Combining(returning, nkeys=3)", 1),
    "Combining of MultiMapper": ("lib.Combining(several(mapper, mapper), nkeys=2)", 2),
    "Combining of Combining": ("lib.Combining(lib.Combining(mapper, nkeys=2), nkeys=3)", 1),
    "MultiMapper of Combining": (
        "several(lib.Combining(mapper), lib.primary(lib.Combining(mapper, nkeys=3)), mapper)", 3,
    ),
    "primary of Combining": ("lib.primary(lib.Combining(mapper, nkeys=2))", 1),
    "a mapper that has a Combining": ("Own", 1),
    "a subclass of Combining": ("Sub(mapper, nkeys=2)", 1),
    "Step": ("steps", 1),
}  # fmt: skip
OWN = """
class Sub(lib.Combining):
    def map(self, key, value):
        yield from super().map(key, value)

class Own:
    def __init__(self):
        self.combining = lib.Combining(mapper, nkeys=3)
    def map(self, key, value):
        for word, number in self.combining.map(key, value):
            yield word, number
    def close(self):
        return self.combining.close()
"""


def side_file(folder, role="m"):
    paths = list(folder.glob(f"bad-records-{role}-*"))
    return [pair for path in paths for pair in tb.PairReader(path.read_bytes(), raw=True)]


def records(seed, faults=(*FAULTS, "bytes")):
    """Return encoded records in random order, and the words of those without a fault."""
    rng, words = random.Random(seed), collections.Counter()
    found = []
    for number, fault in enumerate(rng.sample([*faults, *[None] * 12, *faults], 12 + 2 * len(faults))):
        of_record = [rng.choice("abcdef") for _ in range(rng.randrange(2, 6))]
        found.append(encode((number, (of_record, fault))) if fault != "bytes" else tb.dumps(number) + LATE)
        if fault is None:
            words.update(of_record)
    return found, words, {number for number, data in enumerate(found) if not is_good(data)}


def is_good(data):
    return LATE not in data and tb.Decoder().decode_pairs(data)[0][1][1] is None


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", MAPPERS)
def test_a_record_that_fails_in_a_mapper(run_here, tmp_path, name, seed):
    mapper, times = MAPPERS[name]
    found, words, bad = records(seed)
    call = "steps=[Step(mapper, max_bad=100)]" if mapper == "steps" else f"{mapper}, max_bad=100"
    pairs = pairs_of(run_here(HEAD + OWN + f"run({call})", "map", data=b"".join(found)))
    counted = collections.Counter()
    for key, number in pairs:
        counted[key[0] if isinstance(key, tuple) else key] += number
    assert counted == {word: number * times for word, number in words.items()}
    assert sorted(tb.loads(key) for key, _ in side_file(tmp_path)) == sorted(bad)


ADDING = """
def plain(old, new):
    return old + new

def in_place(old, new):     # as operator.iadd does, and fails only then
    old += new
    if "fails" in new:
        raise ValueError
    return old

def mapper(key, value):
    words, fault = value
    for word in words:
        yield word, [1]
    if fault:
        yield words[0], ["fails"] if fault == "in add" else 5
run(lib.Combining(mapper, {add}), max_bad=100)
"""


@pytest.mark.parametrize("add", ["plain", "in_place"])
def test_adding_that_fails(run_here, tmp_path, add):
    good = [(["a", "b"], None), (["a"], None), (["b", "b", "c"], None)]
    bad = [(["b", "c", "a"], "no list"), *([(["a", "c"], "in add")] if add == "in_place" else [])]
    data = encode(*enumerate([good[0], bad[0], good[1], bad[-1], bad[0], good[2], bad[-1]]))
    pairs = pairs_of(run_here(HEAD + ADDING.format(add=add), "map", data=data))
    assert dict(pairs) == {"a": [1, 1], "b": [1, 1, 1], "c": [1]}
    assert [tb.loads(key) for key, _ in side_file(tmp_path)] == [1, 3, 4, 6]


STOPPING = """
def stopping(key, value):
    yield from mapper(key, value)
    if key == 2:
        raise StopEarly
run(lib.Combining(stopping), max_bad=1)
"""


def test_what_is_combined_before_stopping_early_is_kept(run_here):
    data = encode((0, ("ab", None)), (1, ("ab", "between")), (2, ("ac", None)), (3, ("a", None)))
    assert pairs_of(run_here(HEAD + STOPPING, "map", data=data)) == [("a", 2), ("b", 1), ("c", 1)]


# -- reducers ---------------------------------------------------------------------------------------------

JOB = """
class Joined(lib.JoinReducer):
    def primary(self, key, names):
        for name in names:
            self.name = name
            if name == "fails":
                raise ValueError
            yield key, name
        if name == "cannot be encoded":
            yield key, object()

    def secondary(self, key, prices):
        for price in prices:
            yield key, [self.name, price + 0]

class Late(Joined):     # as generators are, and methods that return None
    def primary(self, key, names):
        pairs = list(super().primary(key, names))

class Outer(Joined):
    def secondary_blocked(self, key):
        if super().secondary_blocked(key):
            self.name = "none"
        return False

class OfDumbo(Joined):
    def secondary_blocked(self, key):
        return self._key != key

class Sides(lib.JoinCombiner):
    def primary(self, key, names):
        return [(key, name + "") for name in names]

    def secondary(self, key, prices):
        yield key, sum(prices)

def by_first(key, values):
    yield key, sum(values)

def by_part(key, values):
    yield key, sum(values)
by_part.partition_by = lambda key: key[0]

run(None, {reducer}, max_bad=100)
"""


def total(key, values):
    return [(key, sum(values))]


def sums(key, values):
    return [(key, tuple(map(sum, zip(*values))))]


def statistics_of(key, values):
    deviation = statistics.stdev(values) if len(values) > 1 else 0
    return [(key, (len(values), statistics.mean(values), deviation, min(values), max(values)))]


NUMBERS, TUPLES = [4, 1, 3, 2], [(1, 2), (3, 4), (5, 6), (7, 8)]
# by the names that each covers: the reducer, values that are good, what makes a group fail, and what plain Python gives
REDUCERS = {
    "a function": ("by_first", NUMBERS, "x", total),
    "identityreducer": ("lib.identityreducer", NUMBERS, None, lambda key, values: [(key, value) for value in values]),
    "sumreducer": ("lib.sumreducer", NUMBERS, "x", total),
    "sumsreducer": ("lib.sumsreducer", TUPLES, (1, 2, 3), sums),
    "distinctreducer": ("lib.distinctreducer", [b""], None, lambda key, values: [(key, b"")]),
    "nlargestreducer": ("lib.nlargestreducer(2)", NUMBERS, "x", lambda key, values: [(key, sorted(values)[::-1][:2])]),
    "nsmallestreducer": ("lib.nsmallestreducer(2)", NUMBERS, "x", lambda key, values: [(key, sorted(values)[:2])]),
    "statsreducer": ("lib.statsreducer", NUMBERS, "x", statistics_of),
    "statscombiner": (
        "lib.statscombiner", NUMBERS, "x",
        lambda key,
        values: [(key, (len(values), sum(values), sum(value * value for value in values), min(values), max(values)))],
    ),
}  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", REDUCERS)
def test_a_group_that_fails_in_a_reducer(run_here, tmp_path, name, seed):
    reducer, good, bad, plain = REDUCERS[name]
    rng, data, expected, left_out = random.Random(seed), b"", [], []
    for key in "abcdefgh":
        values = [rng.choice(good) for _ in range(rng.randrange(5))]
        encoded = [tb.dumps(value) for value in values]
        fails = bad is not None and rng.random() < 0.3
        if fails:
            values.append(rng.choice(good))
            encoded = [*map(tb.dumps, values), tb.dumps(bad)]
        encoded += [LATE] * rng.choice([0, 0, 1, 2])
        rng.shuffle(encoded)
        data += b"".join(tb.dumps(key) + value for value in encoded)
        left_out += [(tb.dumps(key), value) for value in encoded if fails or value == LATE]
        expected += plain(key, [tb.loads(value) for value in encoded if value != LATE]) if values and not fails else []
    assert pairs_of(run_here(HEAD + JOB.format(reducer=reducer), "reduce", data=data)) == expected
    assert sorted(side_file(tmp_path, "r")) == sorted(left_out)


FIRST_SIDES = {
    "good": ["ann", "bob"], "none": [], "fails at once": ["fails"], "fails later": ["ann", "fails"],
    "cannot be encoded": ["ann", "cannot be encoded"], "bytes": [LATE], "some bytes": [LATE, "cyd", LATE],
}  # fmt: skip
SECOND_SIDES = {"good": [1.5, 2.0], "none": [], "fails": [1.5, "x"], "bytes": [LATE], "some bytes": [LATE, 3.0]}


def of_side(key, mark, values):
    return [tb.dumps((key, mark)) + (value if isinstance(value, bytes) else tb.dumps(value)) for value in values]


@pytest.mark.parametrize("name", ["Joined", "Late", "Outer", "OfDumbo"])
def test_a_side_of_a_join_that_fails(run_here, name):
    sides = [*itertools.product(FIRST_SIDES, SECOND_SIDES)]
    random.Random(name).shuffle(sides)
    data, expected = b"", []
    for key, (first, second) in enumerate([("good", "good"), *sides]):
        names, prices = FIRST_SIDES[first], SECOND_SIDES[second]
        data += b"".join(of_side(key, False, names) + of_side(key, True, prices))
        names, prices = ([value for value in values if value != LATE] for values in (names, prices))
        has_first = bool(names) and "fails" not in names and (name == "Late" or "cannot be encoded" not in names)
        if has_first and name != "Late":
            expected += [(key, each) for each in names]
        if "x" not in prices and (has_first or name == "Outer"):
            expected += [(key, [names[-1] if has_first else "none", price]) for price in prices]
    assert pairs_of(run_here(HEAD + JOB.format(reducer=name), "reduce", data=data)) == expected


def test_a_side_of_a_combiner_that_fails(run_here):
    data = [
        *of_side(1, False, ["ann"]),
        *of_side(1, True, [1, 2]),
        *of_side(2, False, [5]),
        *of_side(2, True, [LATE, 3]),
    ]
    data += [*of_side(3, False, [LATE]), *of_side(3, True, [4, "x"])]
    pairs = pairs_of(run_here(HEAD + JOB.format(reducer="None, Sides"), "combine", data=b"".join(data)))
    assert pairs == [((1, False), "ann"), ((1, True), 3), ((2, True), 3)]


@pytest.mark.parametrize("reducer", ["by_first, group_by=operator.itemgetter(0)", "by_part"])
def test_a_group_of_several_keys_begins_with_its_first_good_record(run_here, reducer):
    values = {
        ("a", 1): [LATE],
        ("a", 2): [1, LATE],
        ("a", 3): [2],
        ("b", 1): [LATE],
        ("c", 1): [3, LATE, 4],
        ("d", 1): [5, "x"],
    }
    data = b"".join(
        tb.dumps(key) + (LATE if value == LATE else tb.dumps(value)) for key, each in values.items() for value in each
    )
    expected = {"by_part": [(("a", 2), 1), (("a", 3), 2), (("c", 1), 7)]}.get(reducer, [(("a", 2), 3), (("c", 1), 7)])
    assert pairs_of(run_here(HEAD + JOB.format(reducer=reducer), "reduce", data=data)) == expected


# -- what else there is -----------------------------------------------------------------------------------


@pytest.mark.parametrize("mapper", ["identitymapper", "countmapper", "distinctmapper"])
def test_mappers_without_code_of_the_job(run_here, tmp_path, mapper):
    expected = {"identitymapper": (0, 7), "countmapper": (7, 1), "distinctmapper": (7, b"")}[mapper]
    data = encode((0, 7)) + tb.dumps(1) + LATE + encode((0, 7))
    assert pairs_of(run_here(HEAD + f"run(lib.{mapper}, max_bad=1)", "map", data=data)) == [expected] * 2
    assert side_file(tmp_path) == [(tb.dumps(1), LATE)]


#: What does not keep anything between records, or is documented to keep what the job's code has done before it failed.
OTHERS = {
    "streaming": {"StopEarly", "Task", "TooManyBadRecords", "counter", "ping", "run", "side_file", "status", "task"},
    # have tests of their own above
    "lib": {"JoinReducer", "JoinCombiner", "identitymapper", "countmapper", "distinctmapper"},
}


def test_every_name_has_its_failures():
    names = {*MAPPERS, *REDUCERS}
    assert names.issuperset(set(lib.__all__) - OTHERS["lib"])
    assert names.issuperset(set(streaming.__all__) - OTHERS["streaming"])


@pytest.mark.parametrize("nkeys", [1, 2, 100])
@pytest.mark.parametrize(
    "kind, bad", [("text", ("a\tb", "x")), ("text", ("a", "x\n")), ("rawbytes", (b"a", "x")), ("rawbytes", ("a", b"x"))]
)
def test_pairs_that_only_a_format_refuses(run_here, tmp_path, kind, bad, nkeys):
    script = f"""
def mapper(key, value):
    yield value, {"1" if kind == "text" else b"1"!r}
    if key == 1:
        yield {bad!r}
run(lib.Combining(mapper, nkeys={nkeys}), lib.identityreducer, max_bad=1)
"""
    values = ["a", "b", "a", "c"] if kind == "text" else [b"a", b"b", b"a", b"c"]
    formats = {"stream_map_input": "typedbytes", "stream_map_output": kind}
    outcome = run_here(HEAD + script, "map", data=encode(*enumerate(values)), environ=formats)
    assert outcome.code == 0, outcome.messages
    assert [tb.loads(key) for key, _ in side_file(tmp_path)] == [1]
    assert outcome.output.count(b"1") == 3 and not set(b"bx").intersection(outcome.output)
