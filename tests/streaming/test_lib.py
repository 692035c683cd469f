"""Ready-made mappers and reducers, and the helpers to test jobs with.

Here: jobs in this process, through the testing helpers. Invariant: what a job gives is compared with plain Python, and
a combiner may run never, once or several times without a difference.
"""

import collections
import itertools
import math
import operator
import statistics
from fractions import Fraction

import pytest
from hypothesis import example, given, settings, strategies as st

import typedbytes as tb
from typedbytes.streaming import Step, StopEarly, counter, lib, task
from typedbytes.streaming.testing import call_map, call_reduce, counted, run_job, shuffle

keyed = st.lists(st.tuples(st.sampled_from("abc"), st.integers(-100, 100)), min_size=1, max_size=30)


def grouped(pairs):
    groups = collections.defaultdict(list)
    for key, value in pairs:
        groups[key].append(value)
    return dict(groups)


def combined(pairs, combiner, cuts):
    """Return pairs after a combiner that ran over some of the pieces between the cuts, over one of them twice."""
    pieces = [pairs[start:end] for start, end in zip([0, *cuts], [*cuts, len(pairs)])]
    for number, piece in enumerate(pieces):
        for _ in range((number * 7 + len(pairs)) % 3):
            piece = call_reduce(combiner, shuffle(piece))
        pieces[number] = piece
    return [pair for piece in pieces for pair in piece]


def statistics_of(values):
    # of floats Python 3.9 adds up rounded squares
    deviation = statistics.stdev(map(Fraction, values)) if len(values) > 1 else 0
    return len(values), statistics.fmean(values), deviation, min(values), max(values)


COMBINABLE = {
    "sum": (lib.sumreducer, lib.sumreducer, sum),
    "largest": (lib.nlargestreducer(3), lib.nlargestreducer(3), lambda values: sorted(values, reverse=True)[:3]),
    "smallest": (
        lib.nsmallestreducer(3, key=abs),
        lib.nsmallestreducer(3, key=abs),
        lambda values: sorted(values, key=abs)[:3],
    ),
    "distinct": (lib.distinctreducer, lib.distinctreducer, lambda values: b""),
    "stats": (lib.statscombiner, lib.statsreducer, statistics_of),
    "identity": (lib.identityreducer, lib.sumreducer, sum),
}


@settings(max_examples=30)
@given(keyed, st.lists(st.integers(0, 30), max_size=3).map(sorted))
@pytest.mark.parametrize("kind", COMBINABLE)
def test_any_number_of_combiners_gives_the_same(kind, pairs, cuts):
    combiner, reducer, plain = COMBINABLE[kind]
    found = dict(call_reduce(reducer, shuffle(combined(pairs, combiner, [min(cut, len(pairs)) for cut in cuts]))))
    for key, values in grouped(pairs).items():
        if kind == "smallest":  # values of one size have no order
            assert list(map(abs, found[key])) == list(map(abs, plain(values)))
        else:
            assert found[key] == pytest.approx(plain(values))


CLOSE = [1e9 + number for number in (0, 1, 2, 4, 4.5, 7)]


@pytest.mark.parametrize(
    "values", [CLOSE, [10**9, 10**9 + 1, 10**9 + 2], [10**9, 1e9 + 1], [0.1] * 3, [5e155, -5e155]], ids=repr
)
@pytest.mark.parametrize("npieces", [0, 1, 2, 3])
def test_the_deviation_of_values_that_are_close_to_one_another(values, npieces):
    pieces = [[("a", value) for value in values[start::npieces]] for start in range(npieces)] or [
        [("a", value) for value in values]
    ]
    pairs = [pair for piece in pieces for pair in (call_reduce(lib.statscombiner, piece) if npieces else piece)]
    again = call_reduce(lib.statscombiner, pairs) if npieces else pairs
    for sent in (pairs, again):
        ((_, found),) = call_reduce(lib.statsreducer, sent)
        if max(values) < 1e100:
            assert found == pytest.approx(statistics_of(values), rel=1e-9, abs=0)
        else:
            assert found[2] == float("inf")  # the variance is more than a float


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20), st.floats(-1e12, 1e12), st.integers(1, 19))
@example([1.0] * 3, 481760466055.33417, 3)
@example([0.0, 3.2527473548190987e-197], 3.2527473548190987e-197, 1)
def test_statistics_of_floats(values, offset, cut):
    values = [value + offset for value in values]
    pieces = values[:cut], values[cut:]
    pairs = [pair for piece in pieces for pair in call_reduce(lib.statscombiner, [("a", value) for value in piece])]
    for sent in ([("a", value) for value in values], pairs):
        ((_, found),) = call_reduce(lib.statsreducer, sent)
        n, mean, deviation, least, greatest = statistics_of(values)
        assert found == (
            n,
            pytest.approx(mean, rel=1e-12, abs=1e-300),
            pytest.approx(deviation, rel=1e-8, abs=1e-150),
            least,
            greatest,
        )


def test_a_combiner_of_statistics_sends_a_second_tuple_where_it_matters():
    assert list(lib.statscombiner("a", [0.5, 2.5])) == [("a", (2, 3.0, 6.5, 0.5, 2.5))]
    assert list(lib.statscombiner("a", [0.1])) == [("a", (1, 0.1, 0.1 * 0.1, 0.1, 0.1))]
    (_, first), (_, second) = lib.statscombiner("a", CLOSE)
    assert first[0] == len(CLOSE) and second[0] == 0 and second[3:] == first[3:]
    assert list(lib.statscombiner("a", [second])) == [("a", second)]
    # rounded by others
    assert list(lib.statsreducer("a", [(2, 2.0, 1.9999999999, 1.0, 1.0)])) == [("a", (2, 1.0, 0, 1.0, 1.0))]


INFINITE = float("inf")


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_statistics_of_what_is_not_finite(value):
    ((_, (n, mean, deviation, _, _)),) = lib.statsreducer("a", [1.0, value])
    assert n == 2 and mean == pytest.approx(value, nan_ok=True) and deviation != deviation


HUGE = 10**400


@pytest.mark.parametrize(
    "values, mean, deviation",
    [
        ([HUGE], INFINITE, 0),
        ([-HUGE, -HUGE - 2], -INFINITE, math.sqrt(2)),
        ([HUGE, 1], INFINITE, INFINITE),
        ([HUGE, -HUGE, 3, 5], 2, INFINITE),
        ([HUGE, 1.5], INFINITE, INFINITE),
        ([1.5, -HUGE], -INFINITE, INFINITE),
        ([1.5, 10**200], 5e199, INFINITE),  # the variance is more than a float
        ([1.5, (1, 10**200, 10**400, 10**200, 10**200)], 5e199, INFINITE),
        ([1e200, 1.5], 5e199, INFINITE),
        ([1e308, 1e308, 1e308], 1e308, 0),
        ([HUGE, 1.5, -HUGE], 0.5, INFINITE),
    ],
)
def test_statistics_beyond_all_floats(values, mean, deviation):
    numbers = [value if isinstance(value, (int, float)) else value[1] for value in values]
    combined = [value for _, value in lib.statscombiner("a", values)]
    again = [value for _, value in lib.statscombiner("a", combined)]
    for sent in (values, combined, again):
        ((_, found),) = lib.statsreducer("a", sent)
        assert found == (len(values), mean, deviation, min(numbers), max(numbers))


def test_sums_of_several_combiners_beyond_all_floats():
    pieces = [1e308, 1.5, 1e308], [-1e308, 2.5, -1e308]
    ((_, found),) = lib.statsreducer("a", [value for piece in pieces for _, value in lib.statscombiner("a", piece)])
    assert found == (6, pytest.approx(0, abs=1), INFINITE, -1e308, 1e308)


def test_a_combiner_of_ints_beyond_all_floats():
    assert list(lib.statscombiner("a", [HUGE, -1])) == [("a", (2, HUGE - 1, HUGE**2 + 1, -1, HUGE))]
    assert list(lib.statscombiner("a", [HUGE, 1.5])) == [("a", (2, HUGE + 1, HUGE**2 + 2, 1.5, HUGE))]


def test_identity_and_sums():
    pairs = [("a", (1, 2.5)), ("a", (2, 0.5)), ("b", (3, 1.0))]
    assert run_job(pairs, lib.identitymapper, lib.identityreducer) == pairs
    assert run_job(pairs, lib.identitymapper, lib.sumsreducer, lib.sumsreducer) == [("a", (3, 3.0)), ("b", (3, 1.0))]


def test_sums_of_tuples_of_several_lengths_are_refused():
    for values in [(1, 2), (3, 4, 5)], [(3, 4, 5), (1, 2)], [(1, 2), (1, 2), ()]:
        lengths = f"{len(values[-2])} and {len(values[-1])} parts"
        with pytest.raises(ValueError, match=f"the values of 'a' are tuples of {lengths}, which have no sum"):
            run_job([("a", value) for value in values], lib.identitymapper, lib.sumsreducer)


NAN = float("nan")


@pytest.mark.parametrize("values", list(itertools.permutations([1, NAN, 5, 2, float("nan")]))[::7], ids=repr)
def test_nan_ranks_last_whatever_the_order_of_the_values(values):
    pairs = [("a", value) for value in values]
    for choose, wanted in (lib.nlargestreducer, [5, 2, 1]), (lib.nsmallestreducer, [1, 2, 5]):
        for n in range(6):
            combiner = choose(n)
            ((_, found),) = call_reduce(combiner, pairs)
            ((_, sent),) = call_reduce(combiner, call_reduce(combiner, pairs[:2]) + call_reduce(combiner, pairs[2:]))
            assert list(map(repr, found)) == list(map(repr, sent)) == list(map(repr, [*wanted, NAN, NAN][:n]))


@pytest.mark.parametrize(
    "values", list(itertools.permutations([(1.0, "a"), (NAN, "b"), (5.0, NAN), (NAN, "a"), (5.0, 1)]))[::7], ids=repr
)
def test_nan_ranks_last_in_tuples_and_among_the_results_of_a_key(values):
    pairs = [("a", value) for value in values]
    nan_b, nan_a = (NAN, "b"), (NAN, "a")
    for reducer, wanted in (
        (lib.nlargestreducer(5), [(5.0, 1), (5.0, NAN), (1.0, "a"), nan_b, nan_a]),
        (lib.nsmallestreducer(5), [(1.0, "a"), (5.0, 1), (5.0, NAN), nan_a, nan_b]),
    ):
        assert list(map(repr, call_reduce(reducer, pairs)[0][1])) == list(map(repr, wanted))
    for choose, wanted in (lib.nlargestreducer, 5.0), (lib.nsmallestreducer, 1.0):
        ((_, found),) = call_reduce(choose(1, key=operator.itemgetter(0)), pairs)
        assert found[0][0] == wanted


def test_counting_and_distinct():
    pairs = list(enumerate("abracadabra"))
    assert run_job(pairs, lib.countmapper, lib.sumreducer, lib.sumreducer) == sorted(
        collections.Counter("abracadabra").items()
    )
    assert run_job(pairs, lib.distinctmapper, lib.distinctreducer) == [
        (letter, b"") for letter in sorted(set("abracadabra"))
    ]


class Names:
    """A mapper with everything a mapper can have."""

    def configure(self):
        self.seen = 0

    def map(self, key, value):
        self.seen += 1
        yield value, key

    def close(self):
        yield "seen", self.seen


def test_wrapped_mappers_are_configured_and_closed():
    expected = [("ada", 7), ("seen", 1)]
    assert call_map(Names, [(7, "ada")]) == expected
    assert call_map(lib.primary(Names), [(7, "ada")]) == [((key, False), value) for key, value in expected]
    assert call_map(lib.secondary(Names()), [(7, "ada")]) == [((key, True), value) for key, value in expected]
    assert call_map(lib.Combining(Names), [(7, "ada")]) == expected
    assert call_map(lib.primary(lambda key, value: None), [(7, "ada")]) == []


def test_a_mapper_for_each_kind_of_file():
    mapper = lib.MultiMapper()
    mapper.add("names", Names)
    mapper.add("ages", lib.identitymapper)
    mapper.add("part", lambda key, value: None)
    assert call_map(mapper, [(7, "ada")], input_file="hdfs://h/names/part-0") == [("ada", 7), ("seen", 1)]
    assert call_map(mapper, [(7, 36)], input_file="hdfs://h/ages/part-0") == [(7, 36)]
    for unknown, name in (
        ("hdfs://h/other", "'hdfs://h/other'"),
        (None, "whose name is unknown: neither mapreduce_map_input_file nor"),
    ):
        with pytest.raises(LookupError, match=f"no mapper was added for the input file {name}"):
            call_map(mapper, [(7, 36)], input_file=unknown)


class Orders(lib.JoinReducer):
    def primary(self, key, names):
        self.name = next(names)
        yield "customer", self.name

    def secondary(self, key, prices):
        yield self.name, sum(prices)


def test_a_join():
    customers = call_map(lib.primary(lib.identitymapper), [(7, "Ada"), (8, "Bob")])
    orders = call_map(lib.secondary(lib.identitymapper), [(9, 1.0), (7, 20.0), (7, 5.5)])
    assert call_reduce(Orders, shuffle(orders + customers)) == [("customer", "Ada"), ("Ada", 25.5), ("customer", "Bob")]


def test_a_join_distinguishes_keys_as_hadoop_does():
    pairs = [
        ((1, False), "int"),
        ((1.0, True), 2.0),
        ((True, True), 3.0),
        ((float("nan"), False), "nan"),
        ((float("nan"), True), 4.0),
    ]
    assert call_reduce(Orders, pairs) == [("customer", "int"), ("customer", "nan"), ("nan", 4.0)]


def test_a_join_of_dumbo_that_compares_the_key_itself():
    class Named(Orders):
        def secondary_blocked(self, key):
            if self._key != key:
                self.name = "unknown"
            return False

    pairs = [((7, False), "Ada"), ((7, True), 20.0), ((8, True), 5.5)]
    assert call_reduce(Named, pairs) == [("customer", "Ada"), ("Ada", 20.0), ("unknown", 5.5)]


def test_an_outer_join_and_a_combiner():
    class Outer(Orders):
        name = "unknown"

        def secondary_blocked(self, key):
            return False

    class Sums(lib.JoinCombiner):
        def secondary(self, key, values):
            yield key, sum(values)

    pairs = [((7, False), "Ada"), ((9, True), 1.0), ((9, True), 2.0)]
    assert call_reduce(Sums, pairs) == [((7, False), "Ada"), ((9, True), 3.0)]
    assert call_reduce(Outer, [((9, True), 1.0)]) == [("unknown", 1.0)]


@given(st.lists(st.sampled_from(["a", "b", 1, 1.0, True, float("inf")])), st.integers(1, 4))
def test_combining_in_the_mapper(words, nkeys):
    found = call_map(lib.Combining(lib.countmapper, nkeys=nkeys), list(enumerate(words)))
    sums = collections.Counter()
    for key, number in found:
        sums[tb.dumps(key)] += number
    assert sums == collections.Counter(map(tb.dumps, words))
    distinct = len({tb.dumps(word) for word in words})
    assert len(found) >= distinct
    if distinct < nkeys:
        assert len(found) == distinct


class Strings(lib.JoinCombiner):
    def primary(self, key, values):
        return ["ab"]


@pytest.mark.parametrize("returned", [["ab"], "ab", [b"ab"], [(1, 2, 3)], [{1: 2, 3: 4}]], ids=repr)
@pytest.mark.parametrize("wrap", [lib.primary, lib.secondary, lib.Combining])
def test_what_a_wrapped_mapper_returns_must_be_pairs(wrap, returned):
    with pytest.raises(TypeError, match="a pair is a tuple of a key and a value"):
        call_map(wrap(lambda key, value: returned), [(1, 2)])


def test_what_a_combiner_of_a_join_returns_must_be_pairs():
    with pytest.raises(TypeError, match="a pair is a tuple of a key and a value"):
        call_reduce(Strings, [((1, False), 2)])


def test_combining_has_values_as_they_were_when_they_were_yielded():
    def mapper(key, line):
        key, words = [], []
        for word in line.split():
            key.append(word)
            words.append(len(word))
            yield key, words
            yield word, memoryview(word.encode())

    pairs = call_map(lib.Combining(mapper), [(0, "a bc")])
    found = {tuple(key) if isinstance(key, list) else key: value for key, value in pairs}
    assert found == {("a",): [1], ("a", "bc"): [1, 2], "a": b"a", "bc": b"bc"}


def test_combining_with_another_operation():
    mapper = lib.Combining(lambda key, value: [("max", value)], add=max)
    assert call_map(mapper, list(enumerate([3, 9, 4]))) == [("max", 9)]
    assert call_map(lib.Combining(lib.identitymapper, operator.or_), [(1, 4), (1, 8)]) == [(1, 12)]


# -- testing ----------------------------------------------------------------------------------------------


def test_pairs_go_over_the_wire():
    assert call_map(lambda key, value: [(type(value).__name__, bytearray(b"x"))], [(0, tb.Byte(1))]) == [("int", b"x")]
    with pytest.raises(tb.EncodeTypeError):
        call_map(lambda key, value: [(key, object())], [(0, 1)])
    for wrong in ("ab", [1], [(1, 2, 3)]):
        with pytest.raises(TypeError):
            call_map(lambda key, value: wrong, [(0, 1)])


def test_shuffle_is_hadoops_order():
    keys = [1, True, 1.0, "b", "aa", -1, (1, 2), [1], b"x"]
    assert [tb.dumps(key) for key, _ in shuffle([(key, 0) for key in keys])] == sorted(map(tb.dumps, keys))
    assert shuffle([("a", 2), ("a", 1)]) == [("a", 2), ("a", 1)]


def test_groups_are_by_encoded_keys():
    pairs = [(True, 1), (1, 2), (1.0, 3), (float("nan"), 4), (float("nan"), 5)]
    assert [len(value) for _, value in call_reduce(lambda key, values: [(0, list(values))], pairs)] == [1, 1, 1, 2]
    pairs = [(("a", 1), 1), (("a", 2), 2), (("b", 1), 3)]
    assert call_reduce(lambda key, values: [(key, list(values))], pairs, group_by=operator.itemgetter(0)) == [
        (("a", 1), [1, 2]),
        (("b", 1), [3]),
    ]


def test_stopping_early():
    def mapper(key, value):
        yield key, value
        if key == 1:
            raise StopEarly

    assert call_map(mapper, list(enumerate("abc"))) == [(0, "a"), (1, "b")]


def test_counters():
    def mapper(key, value):
        counter("words", value)
        yield key, task().input_file

    with counted() as amounts:
        assert call_map(mapper, [(0, "a"), (1, "a"), (2, "b")], input_file="x") == [(0, "x"), (1, "x"), (2, "x")]
    assert amounts == {("words", "a"): 2, ("words", "b"): 1}
    with counted() as amounts:
        pass
    assert amounts == {}
    assert task().input_file is None


def test_parameters():
    class Scaled:
        def __init__(self):
            self.by = int(task().params["by"])

        def __call__(self, key, value):
            yield key, value * self.by

    def shown(key, values):
        yield key, (sum(values), task().params)

    params = {"by": "3"}
    assert call_map(Scaled, [(1, 2)], params=params) == [(1, 6)]
    assert call_reduce(shown, [(1, 2)], params=params) == [(1, (2, params))]
    assert run_job([(1, 2)], Scaled, shown, lib.sumreducer, params=params) == [(1, (6, params))]
    assert call_reduce(shown, [(1, 2)], params={"by": 3}) == [(1, (2, params))]  # as a job's
    assert task().params == {}


def test_the_names_of_lib_are_all_there():
    assert lib.__all__ == sorted(lib.__all__)
    made = {
        name
        for name, thing in vars(lib).items()
        if getattr(thing, "__module__", "") == lib.__name__ and not name.startswith("_")
    }
    assert made == set(lib.__all__)


def test_word_count_in_every_way():
    lines = list(enumerate(["b a", "b", "", "a a"]))

    def mapper(key, line):
        return ((word, 1) for word in line.split())

    ways = itertools.product([mapper, lib.Combining(mapper, nkeys=1)], [None, lib.sumreducer])
    assert {tuple(run_job(lines, mapper, lib.sumreducer, combiner)) for mapper, combiner in ways} == {
        (("a", 3), ("b", 2))
    }


class Place:
    """What no type code is for."""

    def __init__(self, name):
        self.name = name


@pytest.mark.parametrize("wrap", [lib.Combining, lambda mapper: lib.Combining(lib.Combining(mapper), nkeys=2)])
def test_combining_writes_keys_by_the_options_of_the_job(wrap):
    options = {"default": lambda place: ("place", place.name)}
    step = Step(wrap(lambda key, line: ((Place(word), 1) for word in line.split())), write_options=options)
    assert sorted(run_job([(0, "a b a"), (1, "a")], steps=[step])) == [(("place", "a"), 3), (("place", "b"), 1)]
    marked = Step(lib.primary(wrap(lambda key, line: [(Place(line), 1)])), write_options=options)
    assert run_job([(0, "a"), (1, "a")], steps=[marked]) == [((("place", "a"), False), 2)]
    # outside a job there are no such options, also after one
    with pytest.raises(tb.EncodeTypeError, match="Place"):
        call_map(wrap(lambda key, line: [(Place(line), 1)]), [(0, "a")])
