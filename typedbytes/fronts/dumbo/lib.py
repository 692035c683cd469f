"""dumbo.lib: mappers and reducers that jobs share."""

from __future__ import annotations

import heapq
import json
from itertools import chain, groupby

from typedbytes.fronts.dumbo.command_line import path_as_given
from typedbytes.fronts.dumbo.decor import JoinMapper, PrimaryMapper, SecondaryMapper
from typedbytes.fronts.dumbo.user_code import in_wrapper
from typedbytes.fronts.dumbo.util import Options
from typedbytes.streaming import lib as ours
from typedbytes.streaming.lib import (
    JoinCombiner,
    JoinReducer,
    identitymapper,
    identityreducer,
    statscombiner,
    statsreducer,
    sumreducer,
    sumsreducer,
)
from typedbytes.streaming.task_environment import task

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

__all__ = [
    "JoinCombiner", "JoinMapper", "JoinReducer", "JsonLinesReducer", "MultiMapper", "PrimaryMapper", "RawReducer",
    "SecondaryMapper", "identitymapper", "identityreducer", "nlargestcombiner", "nlargestreducer", "nsmallestcombiner",
    "nsmallestreducer", "statscombiner", "statsreducer", "sumreducer", "sumsreducer",
]  # fmt: skip


def _of_values(choose, n, rank):
    return lambda key, values: [(key, choose(n, values, key=rank))]


def _of_lists(choose, n, rank):
    return lambda key, lists: [(key, choose(n, chain.from_iterable(lists), key=rank))]


def nlargestcombiner(n: int, key: Any = None) -> Callable[..., Any]:
    """Return a combiner that yields a list of the largest values."""
    return _of_values(heapq.nlargest, n, key)


def nlargestreducer(n: int, key: Any = None) -> Callable[..., Any]:
    """Return a reducer that yields a list of the largest items of lists."""
    return _of_lists(heapq.nlargest, n, key)


def nsmallestcombiner(n: int, key: Any = None) -> Callable[..., Any]:
    """Return a combiner that yields a list of the smallest values."""
    return _of_values(heapq.nsmallest, n, key)


def nsmallestreducer(n: int, key: Any = None) -> Callable[..., Any]:
    """Return a reducer that yields a list of the smallest items of lists."""
    return _of_lists(heapq.nsmallest, n, key)


class MultiMapper(ours.MultiMapper):
    """Call for each record the mappers whose pattern is in the name of its file; none for a file without a pattern."""

    def __init__(self) -> None:
        super().__init__()
        self.opts: Options = Options()

    def add(self, pattern: str, mapper: Any) -> None:
        """Add a mapper."""
        super().add(pattern, in_wrapper(mapper))
        self.opts += getattr(mapper, "opts", None) or ()

    def _input_file(self):
        return path_as_given(task().input_file)

    def configure(self) -> None:
        """Start the mappers of the task's file. Raises LookupError where its name is unknown."""
        try:
            super().configure()
        except LookupError:
            if self._input_file() is None:  # a task of several small files, whose records would all be left out
                raise
            self._user_code = []


class RawReducer:
    """Yield pieces of a file, which are written one after the other: give run --output-format values."""

    multipleoutput: bool = False

    def __init__(self, factory: Any = None, multipleoutput: bool | None = None) -> None:
        if factory:
            self.factory = factory  # type: ignore[method-assign]
        if multipleoutput is not None:
            self.multipleoutput = multipleoutput

    def __call__(self, data: Iterable[Any]) -> Iterator[Any]:
        """Yield the pieces of all keys with their values."""
        keyed = data if self.multipleoutput else (((None, key), values) for key, values in data)
        for path, group in groupby(keyed, lambda pair: pair[0][0]):
            process = self.factory()
            for (_, key), values in group:
                yield from ((path, chunk) for chunk in process(key, values) or ())
            end = getattr(process, "close", None)
            yield from ((path, chunk) for chunk in (end() if end else None) or ())

    def factory(self) -> Callable[..., Any]:
        """Return a function of a key and its values that yields pieces."""
        return lambda key, values: values


class JsonLinesReducer(RawReducer):
    """Yield each value as JSON: a line, with --output-format values."""

    def factory(self) -> Callable[..., Any]:
        """Return a function of a key and its values that yields lines."""
        return lambda key, values: (json.dumps(value) for value in values)
