"""Mappers, combiners and reducers of dumbo as user code of streaming."""

from __future__ import annotations

import os
from itertools import chain

from typedbytes.fronts.dumbo.util import incrcounter, setstatus
from typedbytes.streaming.task_environment import PARAM, Task

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

__all__ = ["Counter", "Counters", "MapRedBase", "Params", "adapted"]


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


def adapted(code: Any, role: str, configure: Any = None, close: Any = None, cleanup: Any = None) -> Any:
    """Return the code of a role for streaming.Step.

    configure, close, cleanup: functions that a call gives beside the code. close is called at the end, and what
    cleanup yields is output.
    """
    if code is None or isinstance(code, str):
        return code
    return _Adapter(code, role, configure, close, cleanup)


class _Adapter:
    """A mapper, combiner or reducer, made when its task starts."""

    def __init__(self, code, role, configure, close, cleanup):
        self._code, self._given = code, (configure, close, cleanup)
        self._method = "map" if role == "map" else "reduce"
        self.partition_by: Any = getattr(code, "partition_by", None)
        if role != "reduce" or self.partition_by is None:
            del self.partition_by
        self._adds_path = role == "map" and "yes" in _opts_of(code).get("addpath", [])
        setattr(self, self._method, self._process)

    def _process(self, records: Iterator[Any]) -> Iterator[Any]:
        configure, close, cleanup = self._given
        code = instance_of(self._code)
        start = getattr(code, "configure", configure)
        if start is not None:
            start()
        process = getattr(code, self._method, code)
        if self._adds_path:
            path = Task(os.environ).input_file
            records = (((path, key), value) for key, value in records)
        yield from _called(process, records)
        cleanup = getattr(code, "cleanup", cleanup)
        yield from (cleanup() or ()) if cleanup is not None else ()
        end = getattr(code, "close", close)
        if end is not None:
            yield from _pairs_in(end())


def _opts_of(code):
    opts = getattr(code, "opts", None)
    return {} if opts is None else opts.to_dict()


def _pairs_in(returned):
    """Return what close() of our own wrappers returns: pairs; dumbo's own returns nothing."""
    return () if returned is None or not hasattr(returned, "__iter__") else returned


def _called(process: Callable[..., Any], records: Iterator[Any]) -> Iterator[Any]:
    """Return the pairs of a function of a key and a value, or of all records."""
    if _nparameters(process) == 1:
        return iter(process(records) or ())
    return chain.from_iterable(process(key, value) or () for key, value in records)


def _nparameters(process):
    function = process if hasattr(process, "__code__") else process.__call__
    code = getattr(function, "__code__", None)
    return 2 if code is None else code.co_argcount - (getattr(function, "__self__", None) is not None)
