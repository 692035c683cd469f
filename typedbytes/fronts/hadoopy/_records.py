"""Records in files and descriptors, what a task reports, and the base of tests of jobs."""

from __future__ import annotations

import os
import unittest
from itertools import groupby
from operator import itemgetter

from typedbytes import PairReader, PairWriter, dumps

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

__all__ = ["GroupedValues", "Test", "TypedBytesFile", "called", "counter", "status"]


class TypedBytesFile:
    """Pairs of typed bytes in a file, or in descriptors, which are closed with it."""

    def __init__(
        self, path: str | None = None, mode: str = "r", read_fd: int | None = None, write_fd: int | None = None,
        flush_writes: bool = False,
    ) -> None:  # fmt: skip
        source = path if path is not None and mode.startswith("r") else read_fd
        target = path if path is not None and not mode.startswith("r") else write_fd
        self._files = [
            os.fdopen(each, kind, buffering=0) if isinstance(each, int) else open(each, kind, buffering=0)
            for each, kind in ((source, "rb"), (target, "wb"))
            if each is not None
        ]
        self._reader: Any = PairReader(self._files[0]) if source is not None else None
        self._writer: Any = PairWriter(self._files[-1]) if target is not None else None
        self._flushes = flush_writes

    def __enter__(self) -> TypedBytesFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return iter(self._reader)

    def __next__(self) -> tuple[Any, Any]:
        return next(self._reader)

    next = __next__

    def write(self, kv: tuple[Any, Any]) -> None:
        """Write a pair."""
        self.writes([kv])

    def writes(self, kvs: Iterable[tuple[Any, Any]]) -> None:
        """Write pairs."""
        self._writer.writes(kvs)
        if self._flushes:
            self.flush()

    def flush(self) -> None:
        """Write what is held back."""
        self._writer.flush()

    def close(self) -> None:
        """Write the rest, and close the file or the descriptors."""
        if self._writer is not None:
            self._writer.close()
        for file in self._files:
            file.close()


class GroupedValues:
    """Keys with their values, of sorted pairs."""

    def __init__(self, key_value_iter: Iterable[tuple[Any, Any]]) -> None:
        self._groups = groupby(key_value_iter, itemgetter(0))

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        key, group = next(self._groups)
        return key, map(itemgetter(1), group)


def status(msg: str, err: Any = None) -> None:
    """Report what the task does; err: a function that gets the line in the place of Hadoop."""
    if err is not None:
        err(f"reporter:status:{msg}\n")
        return
    from typedbytes import streaming

    streaming.status(msg)


def counter(group: str, counter: str, amount: int = 1, err: Any = None) -> None:
    """Add an amount to a counter; err: as for status()."""
    if err is not None:
        err(f"reporter:counter:{group},{counter},{amount}\n")
        return
    from typedbytes import streaming

    streaming.counter(group, counter, amount)


class Test(unittest.TestCase):
    """A test of a job: calls mappers and reducers on lists of pairs."""

    @classmethod
    def groupby_kv(cls, kv: Iterable[Any]) -> Iterator[Any]:
        """Return sorted pairs as keys with their values."""
        return GroupedValues(kv)

    @classmethod
    def sort_kv(cls, kv: Iterable[Any]) -> list[Any]:
        """Return pairs in the order of their encoded keys, as Hadoop sorts them."""
        return sorted(kv, key=lambda pair: dumps(pair[0]))

    @classmethod
    def shuffle_kv(cls, kv: Iterable[Any]) -> Iterator[Any]:
        """Return pairs sorted and grouped."""
        return cls.groupby_kv(cls.sort_kv(kv))

    @classmethod
    def call_map(cls, func: Any, test_input: Iterable[Any]) -> list[Any]:
        """Return the pairs that a mapper makes of pairs."""
        return list(called(func, "map", test_input))

    @classmethod
    def call_reduce(cls, func: Any, test_input: Iterable[Any]) -> list[Any]:
        """Return the pairs that a reducer makes of keys with values."""
        return list(called(func, "reduce", test_input))


def called(code: Any, method: str, records: Iterable[Any]) -> Iterator[Any]:
    """Yield the pairs that a function, an object or a class makes of records, as hadoopy calls it."""
    code = code() if isinstance(code, type) else code
    if hasattr(code, "configure"):
        code.configure()
    process = getattr(code, method, code)
    for record in records:
        yield from process(*record) or ()
    if hasattr(code, "close"):
        yield from code.close() or ()
