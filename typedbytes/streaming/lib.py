"""Mappers and reducers that many jobs need, with dumbo's names and meaning.

    identitymapper, identityreducer     every pair as it is
    sumreducer, sumsreducer             the sum of the values; of each part of values that are tuples; combiners too
    countmapper                         the value as key, and 1: with sumreducer, how often each value occurs
    distinctmapper, distinctreducer     the value as key, once; the reducer is a combiner too
    nlargestreducer, nsmallestreducer   the n greatest or smallest values; combiners too
    statsreducer, statscombiner         number, mean, deviation, least and greatest value
    MultiMapper                         one mapper for each kind of input file
    primary, secondary, JoinReducer     a join in which no side is kept in memory
    Combining                           a mapper whose pairs are combined before they are written

>>> from typedbytes.streaming import testing
>>> testing.run_job([(0, "a b a")], lambda key, line: ((word, 1) for word in line.split()), sumreducer)
[('a', 2), ('b', 1)]
"""

from __future__ import annotations

import functools
import heapq
import itertools
import operator

from typedbytes import dumps
from typedbytes._core import WrappedIterator
from typedbytes.streaming import _changes
from typedbytes.streaming._statistics import combined_statistics, ranked, statistics
from typedbytes.streaming._user_code import code_for_each_record, encoder_of_keys, pairs_of, record_types
from typedbytes.streaming.formats.record_io import checked_pair
from typedbytes.streaming.task_environment import task

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeVar

    F = TypeVar("F", bound=Callable[..., Any])

__all__ = [
    "Combining", "JoinCombiner", "JoinReducer", "MultiMapper", "countmapper", "distinctmapper", "distinctreducer",
    "identitymapper", "identityreducer", "nlargestreducer", "nsmallestreducer", "primary", "secondary", "statscombiner",
    "statsreducer", "sumreducer", "sumsreducer",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


def _raising_again(function: F) -> F:
    """Make a generator function return an iterator that, after it has failed, raises its error again."""

    @functools.wraps(function)
    def wrapped(*arguments, **named):
        return WrappedIterator(function(*arguments, **named))

    return wrapped  # type: ignore[return-value]


def identitymapper(key: Any, value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the pair as it is.

    >>> list(identitymapper("a", 1))
    [('a', 1)]
    """
    return iter(((key, value),))


def identityreducer(key: Any, values: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield every pair of the group as it is.

    >>> list(identityreducer("a", [1, 2]))
    [('a', 1), ('a', 2)]
    """
    return zip(itertools.repeat(key), values)


def sumreducer(key: Any, values: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the key and the sum of its values; a combiner too.

    >>> list(sumreducer("a", [1, 2]))
    [('a', 3)]
    """
    return iter(((key, sum(values)),))


@_raising_again
def sumsreducer(key: Any, values: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the key and a tuple of sums, one for each part of its values, tuples of one length; a combiner too.

    >>> list(sumsreducer("a", [(1, 10.0), (2, 20.0)]))
    [('a', (3, 30.0))]
    """
    sums = next(values := iter(values))
    for value in values:
        if len(value) != len(sums):
            raise ValueError(
                f"the values of {key!r} are tuples of {len(sums)} and {len(value)} parts, which have no sum"
            )
        sums = tuple(map(operator.add, sums, value))
    yield key, sums


def countmapper(key: Any, value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the value and 1: with sumreducer as combiner and reducer, how often each value occurs.

    >>> list(countmapper(0, "a"))
    [('a', 1)]
    """
    return iter(((value, 1),))


def distinctmapper(key: Any, value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the value with an empty byte string: with distinctreducer as combiner and reducer, each value once.

    >>> list(distinctmapper(0, "a"))
    [('a', b'')]
    """
    return iter(((value, b""),))


def distinctreducer(key: Any, values: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the key once, with an empty byte string; a combiner too.

    >>> list(distinctreducer("a", [b"", b""]))
    [('a', b'')]
    """
    return iter(((key, b""),))


def nlargestreducer(
    n: int, key: Callable[[Any], Any] | None = None
) -> Callable[[Any, Iterable[Any]], Iterator[tuple[Any, Any]]]:
    """Return a reducer, and combiner, that yields a list of the n greatest values, the greatest first.

    A value that is a list counts as its items, so that the reducer can merge the lists of combiners. `key` is a
    function as for sorted(). NaN ranks last, also in tuples.

    >>> list(nlargestreducer(2)("a", [1, [5, 3], 4]))
    [('a', [5, 4])]
    """
    return _choosing_reducer(heapq.nlargest, n, ranked(key, nan_is_least=True))


def nsmallestreducer(
    n: int, key: Callable[[Any], Any] | None = None
) -> Callable[[Any, Iterable[Any]], Iterator[tuple[Any, Any]]]:
    """Return a reducer, and combiner, that yields a list of the n smallest values; see nlargestreducer.

    >>> list(nsmallestreducer(2)("a", [1, [5, 3], 4]))
    [('a', [1, 3])]
    """
    return _choosing_reducer(heapq.nsmallest, n, ranked(key, nan_is_least=False))


def _choosing_reducer(choose, n, rank):
    @_raising_again
    def reducer(key, values):
        lists = (value if isinstance(value, list) else [value] for value in values)
        yield key, choose(n, itertools.chain.from_iterable(lists), key=rank)

    return reducer


@_raising_again
def statscombiner(key: Any, values: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the key and (number, sum, sum of squares, least, greatest) of its values; see statsreducer.

    For floats that are close to one another, more tuples with the number 0 hold what rounding took from the sums.

    >>> list(statscombiner("a", [1, 3]))
    [('a', (2, 4, 10, 1, 3))]
    """
    for part in combined_statistics(values):
        yield key, part


@_raising_again
def statsreducer(key: Any, values: Iterable[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the key and (number, mean, standard deviation of a sample, least, greatest) of its values.

    Values are numbers, or what statscombiner made of some of them.

    >>> list(statsreducer("a", [1, (2, 4, 10, 1, 3), 5]))
    [('a', (4, 2.5, 1.9148542155126762, 1, 5))]
    """
    yield key, statistics(values)


class MultiMapper:
    """Call for each record the mappers whose pattern is a part of the name of the record's input file.

    Raises LookupError in a task whose file matches no pattern; only an empty one matches where the name is unknown.

    >>> from typedbytes.streaming import testing
    >>> mapper = MultiMapper()
    >>> mapper.add("users", identitymapper)
    >>> testing.call_map(mapper, [("ada", 1)], input_file="hdfs://host/users/part-00000")
    [('ada', 1)]
    """

    def __init__(self) -> None:
        self._mappers: list[Any] = []

    def add(self, pattern: str, mapper: Any) -> None:
        """Add a mapper for the files whose names contain the pattern."""
        self._mappers.append((pattern, mapper))

    def _input_file(self):
        return task().input_file  # in scripts of dumbo, it is named as on their command line

    def configure(self) -> None:
        """Start the mappers for the input file of the task; LookupError if there is none."""
        path = self._input_file()
        self._user_code = [code_for_each_record(mapper) for pattern, mapper in self._mappers if pattern in (path or "")]
        if not self._user_code:
            unknown = "whose name is unknown: neither mapreduce_map_input_file nor map_input_file is set"
            raise LookupError(f"no mapper was added for the input file {unknown if path is None else repr(path)}")
        for user_code in self._user_code:
            user_code.start()

    def _record_types(self):
        path = self._input_file() or ""
        first, *others = [record_types("map", each) for pattern, each in self._mappers if pattern in path] or [({}, {})]
        if any(other != first for other in others):
            raise TypeError(f"the mappers of {path} are annotated with different record classes")
        return first

    @_raising_again
    def map(self, key: Any, value: Any) -> Iterator[tuple[Any, Any]]:
        """Yield the pairs that each started mapper makes of a pair."""
        for user_code in self._user_code:
            yield from pairs_of(user_code.process(key, value))

    @_raising_again
    def close(self) -> Iterator[tuple[Any, Any]]:
        """Yield the pairs that each started mapper has left at the end."""
        for user_code in self._user_code:
            yield from user_code.end()


def primary(mapper: Any) -> Any:
    """Return a mapper whose keys are marked as those of the first side of a join; see JoinReducer.

    >>> from typedbytes.streaming import testing
    >>> testing.call_map(primary(identitymapper), [(7, "Ada")])
    [((7, False), 'Ada')]
    """
    return _Marked(mapper, False)


def secondary(mapper: Any) -> Any:
    """Return a mapper whose keys are marked as those of the second side of a join; see JoinReducer.

    >>> from typedbytes.streaming import testing
    >>> testing.call_map(secondary(identitymapper), [(7, 19.9)])
    [((7, True), 19.9)]
    """
    return _Marked(mapper, True)


class _Marked:
    # A mapper whose keys get a mark: False for the first side of a join, True for the second.

    def __init__(self, mapper: Any, mark: bool) -> None:
        self._user_code = code_for_each_record(mapper)
        self._mark = mark
        self.configure: Callable[[], Any] = self._user_code.start

    def _record_types(self):
        reading, writing = self._user_code.record_types()
        key = writing.get("key_type")
        marked = {} if key is None else {"key_type": tuple[key, bool]}  # type: ignore[valid-type]
        return reading, {**writing, **marked}

    def map(self, key: Any, value: Any) -> Iterator[tuple[Any, Any]]:
        """Yield the pairs that the mapper makes of a pair."""
        return self._marked(self._user_code.process(key, value))

    def close(self) -> Iterator[tuple[Any, Any]]:
        """Yield the pairs that the mapper has left at the end."""
        return self._marked(self._user_code.end())

    def _marked(self, pairs):
        mark = self._mark
        return WrappedIterator(((key, mark), value) for key, value in map(checked_pair, pairs_of(pairs)))


class JoinCombiner:
    """Combine each side of a join by itself: override primary(key, values) and secondary(key, values).

    >>> list(JoinCombiner().reduce((7, True), [19.9]))
    [((7, True), 19.9)]
    """

    @_raising_again
    def reduce(self, key: Any, values: Iterable[Any]) -> Iterable[tuple[Any, Any]] | None:
        """Combine the values of a key on its own side."""
        body, mark = key
        for key, value in map(checked_pair, pairs_of((self.secondary if mark else self.primary)(body, values))):
            yield (key, mark), value

    def primary(self, key: Any, values: Iterable[Any]) -> Iterable[tuple[Any, Any]] | None:
        """Yield pairs for the values of the first side; by default all of them."""
        return identityreducer(key, values)

    def secondary(self, key: Any, values: Iterable[Any]) -> Iterable[tuple[Any, Any]] | None:
        """Yield pairs for the values of the second side; by default all of them."""
        return identityreducer(key, values)


class JoinReducer(JoinCombiner):
    """Join the pairs of two mappers, one wrapped in primary() and one in secondary(), without keeping a side in memory.

    For each key primary(key, values) is called before secondary(key, values), which is not called for a key without a
    first side unless secondary_blocked() is overridden. The job keeps what it needs of the first side. The keys
    are (key, mark), and `partition_by` brings both sides of a key to one reducer.

    >>> from typedbytes.streaming import testing
    >>> class Prices(JoinReducer):
    ...     def primary(self, key, names):
    ...         self.name = next(names)
    ...     def secondary(self, key, prices):
    ...         yield self.name, sum(prices)
    >>> testing.call_reduce(Prices, [((7, False), "Ada"), ((7, True), 20.0), ((7, True), 5.5), ((8, True), 1.0)])
    [('Ada', 25.5)]
    """

    partition_by: Any = operator.itemgetter(0)
    _key = _encoded_key = None  # of the last first side: dumbo's subclasses compare _key

    def reduce(self, key: Any, values: Iterable[Any]) -> Iterable[tuple[Any, Any]] | None:
        """Pass a key's first side to primary, and its second side to secondary unless it is blocked."""
        body, mark = key
        if not mark:
            _changes.note_attributes(self, "_key", "_encoded_key")
            self._key, self._encoded_key = body, dumps(body)
            return self.primary(body, values)
        return None if self.secondary_blocked(body) else self.secondary(body, values)

    def secondary_blocked(self, key: Any) -> bool:
        """Return whether to leave out the second side of a key: by default when there was no first."""
        return self._encoded_key != dumps(key)


class Combining:
    """Wrap a mapper so that the values of equal keys are added up in the mapper, up to `nkeys` keys at a time.

    `add` makes one value of two. With more keys, all sums are written and adding starts again, so memory is bounded,
    and the reducer adds up the rest. Unlike a combiner this costs no round trip through Hadoop.

    >>> from typedbytes.streaming import testing
    >>> testing.call_map(Combining(countmapper), [(0, "a"), (1, "b"), (2, "a")])
    [('a', 2), ('b', 1)]
    """

    def __init__(self, mapper: Any, add: Callable[[Any, Any], Any] = operator.add, nkeys: int = 100_000) -> None:
        self._user_code = code_for_each_record(mapper)
        self._record_types = self._user_code.record_types
        self._add = add
        self._nkeys = nkeys
        self._encode: Callable[[Any], bytes] = dumps
        self._sums: dict[Any, Any] = {}  # encoded key -> [key, value]: True, 1 and 1.0 are three keys

    def configure(self) -> None:
        """Start without sums, also after a test that failed."""
        self._sums, self._encode = {}, encoder_of_keys()
        self._user_code.start()

    def map(self, key: Any, value: Any) -> Iterator[tuple[Any, Any]]:
        """Yield the sums when there are `nkeys` of them, after adding up what the mapper makes of this pair."""
        return self._add_pairs(self._user_code.process(key, value))

    @_raising_again
    def close(self) -> Iterator[tuple[Any, Any]]:
        """Yield the sums that are left at the end."""
        yield from self._add_pairs(self._user_code.end())
        yield from self._pop_sums()

    @_raising_again
    def _add_pairs(self, pairs):
        changes = _changes.current
        for key, value in map(checked_pair, pairs_of(pairs)):
            encoded = self._encode(key)
            if changes is not None:
                changes.check(key, value)
                changes.note_item(self._sums, encoded)
            if encoded in self._sums:
                entry = self._sums[encoded]
                entry[1] = self._add(entry[1], value)
            else:
                self._sums[encoded] = [_changes.copied(key), _changes.copied(value)]
                if len(self._sums) >= self._nkeys:
                    yield from self._pop_sums()

    def _pop_sums(self):
        _changes.note_attributes(self, "_sums")
        sums, self._sums = self._sums, {}
        return map(tuple, sums.values())
