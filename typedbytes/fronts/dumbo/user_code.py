"""Mappers, combiners and reducers of dumbo as user code of streaming."""

from __future__ import annotations

import os
from itertools import chain, groupby

from typedbytes import dumps
from typedbytes.fronts.dumbo.command_line import path_as_given
from typedbytes.fronts.dumbo.util import incrcounter, loadcode, setstatus
from typedbytes.streaming.task_environment import PARAM, Task

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

__all__ = ["Counter", "Counters", "MapRedBase", "Params", "adapted", "combined", "in_wrapper"]


class Params:
    """The parameters of the job, from the environment."""

    def get(self, name: str, default: Any = None) -> Any:
        """Return a parameter, a str."""
        return os.environ.get(name, os.environ.get(PARAM + name, default))

    def __getitem__(self, key: object) -> Any:
        return self.get(str(key))

    def __contains__(self, key: object) -> bool:
        return self.get(str(key)) is not None


class Counter:
    """A counter of the job: `+= amount` adds to it."""

    def __init__(self, name: str, group: str = "Program") -> None:
        self.group: str = group
        self.name: str = name

    def incr(self, amount: int) -> Counter:
        """Add an amount."""
        incrcounter(self.group, self.name, amount)
        return self

    __iadd__ = incr


class Counters:
    """Counters by name."""

    def __getitem__(self, key: object) -> Counter:
        return Counter(str(key))

    def __setitem__(self, key: object, value: object) -> None:
        """Do nothing: `counters[key] += 1` has added."""


class MapRedBase:
    """What the classes of mappers and reducers have besides their own."""

    params: Params = Params()
    counters: Counters = Counters()
    getparam: Any = params.get

    def setstatus(self, msg: Any) -> None:
        """Report what the task does."""
        setstatus(msg)

    status: Any = property(fset=setstatus)


def instance_of(code: Any) -> Any:
    """Return an object of a class, which has MapRedBase as a base too; other code as it is."""
    return type(f"Dumbo{code.__name__}", (code, MapRedBase), {})() if isinstance(code, type) else code


def in_wrapper(mapper: Any) -> Any:
    """Return the code of a mapper for a wrapper of streaming.lib, which writes what close() returns."""
    code = instance_of(mapper)
    return code if _yields_at_end(getattr(code, "close", None)) else _WithoutPairsAtEnd(code)


class _WithoutPairsAtEnd:
    """A mapper whose close() returns nothing."""

    def __init__(self, code):
        self._code = code
        self.map = getattr(code, "map", code)
        self.configure = getattr(code, "configure", None)

    def close(self):
        self._code.close()


def _yields_at_end(close):
    """Return whether the pairs that close() returns are output: those of our own wrappers; dumbo drops all others."""
    return close is None or getattr(close, "__module__", None) == "typedbytes.streaming.lib"


def adapted(code: Any, role: str, ends: Sequence[Any] = (None, None, None), options: Any = None) -> Any:
    """Return the code of a role for streaming.Step.

    ends: the functions configure, close and cleanup that a call gives beside the code. close is called at the end, and
    what cleanup yields is output. options: the StepOptions of its iteration.
    """
    return None if code is None else _Adapter(code, role, ends, options)


class _Adapter:
    """A mapper, combiner or reducer, made when its task starts."""

    def __init__(self, code, role, ends, options):
        self._code, self._ends, self._options = code, ends, options
        self._method = "map" if role == "map" else "reduce"
        self.partition_by: Any = getattr(code, "partition_by", None)
        if role != "reduce" or self.partition_by is None:
            del self.partition_by
        setattr(self, self._method, self._process)

    def _process(self, records: Iterator[Any]) -> Iterator[Any]:
        if self._options is not None:
            os.environ.update(self._options.environment)  # of the task, which ends with it
            if self._method == "map":
                records = _as_asked(records, self._options)
        configure, close, cleanup = self._ends
        code = instance_of(self._code)
        start = getattr(code, "configure", configure)
        if start is not None:
            start()
        yield from _called(getattr(code, self._method, code), records)
        cleanup = getattr(code, "cleanup", cleanup)
        yield from (cleanup() or ()) if cleanup is not None else ()
        end = getattr(code, "close", close)
        if end is not None:
            returned = end()
            yield from returned if _yields_at_end(end) else ()


def _as_asked(records, options):
    """Return the records of a mapper as options of its iteration ask for them."""
    if options.parses_code:
        records = loadcode(line if isinstance(line, str) else os.fsdecode(line) for _, line in records)
    if options.adds_path:
        path = path_as_given(Task(os.environ).input_file)
        records = (((path, key), value) for key, value in records)
    return records


def combined(mapper: Any, combiner: Any) -> Any:
    """Return a mapper that combines its own pairs, all of them in memory as in dumbo: of a job without a reducer."""

    def map_and_combine(records: Iterator[Any]) -> Iterator[Any]:
        pairs = sorted(mapper.map(records), key=_encoded_key)
        groups = (list(group) for _, group in groupby(pairs, _encoded_key))
        yield from combiner.reduce((group[0][0], (value for _, value in group)) for group in groups)

    return map_and_combine


def _encoded_key(pair):
    return dumps(pair[0])


def _called(process: Callable[..., Any], records: Iterator[Any]) -> Iterator[Any]:
    """Return the pairs of code that can be called with all records, or is called with each key and value, as in dumbo.

    A decorator with *args is called with all, and what is in it may raise TypeError for that before it reads any.
    """
    if _takes(process, 1):
        watched = _Watched(records)
        try:
            return iter(process(watched) or ())
        except TypeError:
            if watched.is_read or not _takes(process, 2):
                raise
    return chain.from_iterable(process(key, value) or () for key, value in records)


def _takes(process, narguments):
    """Return whether a call with a number of arguments is possible; that of a function of C may be."""
    from inspect import signature

    try:
        signature(process).bind(*[None] * narguments)
    except TypeError:
        return False
    except ValueError:
        return True
    return True


class _Watched:
    """Records, and whether any has been asked for."""

    def __init__(self, records):
        self._records = records
        self.is_read = False

    def __iter__(self):
        self.is_read = True
        return iter(self._records)

    def __next__(self):
        self.is_read = True
        return next(self._records)
