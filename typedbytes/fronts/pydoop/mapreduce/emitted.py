"""The pairs that user code emits, between its call and the output of its task.

Here: keeping pairs as they were when they were emitted, in bounded memory. Not here: how a pair is written. Invariant:
they come back in the order in which they were emitted, and what later becomes of a list that was emitted is not seen.
"""

from __future__ import annotations

from sys import getsizeof

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = ["EmittedPairs"]

MEMORY_NBYTES = 8 << 20
#: Types whose objects never change.
FIXED = {str, bytes, int, float, bool, type(None)}


class EmittedPairs:
    """Pairs in memory, most of many in a temporary file.

    A task writes what its code returns: what that emits within one call waits for the end of the call.
    """

    def __init__(self) -> None:
        self._entries: list[Any] = []  # a pair, or its pickle if it may change
        self._nbytes = 0  # of the entries, about
        self._capacity: float = MEMORY_NBYTES
        self._file: Any = None
        self._nchunks = 0  # in the file, lists of entries
        self._pickle: Any = None  # the module, slow to import, once there is a pickle

    def emit(self, key: Any, value: Any) -> None:
        """Write a pair, as it is now."""
        if type(key) in FIXED and type(value) in FIXED:
            self._entries.append((key, value))
            self._nbytes += getsizeof(key) + getsizeof(value)
        else:
            self._entries.append(entry := self._fixed(key, value))
            self._nbytes += getsizeof(entry)
        if self._nbytes > self._capacity:
            self._spill()

    def pop_all(self) -> Iterable[tuple[Any, Any]]:
        """Return the pairs, which are forgotten when all have been iterated over."""
        if self._pickle is not None:
            return self._unpickled()
        pairs, self._entries, self._nbytes = self._entries, [], 0
        return pairs

    def close(self) -> None:
        """Remove the file, if there is one."""
        if self._file is not None:
            self._file.close()

    def _unpickled(self):
        loads = self._pickle.loads
        if self._nchunks:
            self._file.seek(0)
            for _ in range(self._nchunks):
                yield from (loads(entry) if type(entry) is bytes else entry for entry in self._pickle.load(self._file))
            self._file.seek(0)
            self._file.truncate()
            self._nchunks = 0
        yield from (loads(entry) if type(entry) is bytes else entry for entry in self._entries)
        self._entries.clear()
        self._nbytes, self._capacity = 0, MEMORY_NBYTES

    def _fixed(self, key, value):
        """Return the pickle of a pair, or a copy of it where an object has none, such as one of a class of the script.

        A copy stays in memory, and so do the pairs after it.
        """
        pickle = self._pickle or self._import_pickle()
        try:
            return pickle.dumps((key, value), pickle.HIGHEST_PROTOCOL)
        except Exception:
            self._capacity = float("inf")
            return _copied(key), _copied(value)

    def _spill(self):
        """Move the entries to the file."""
        import tempfile

        pickle = self._pickle or self._import_pickle()
        self._file = self._file or tempfile.TemporaryFile()  # noqa: SIM115, closed by close()
        pickle.dump(self._entries, self._file, pickle.HIGHEST_PROTOCOL)
        self._nchunks += 1
        self._entries.clear()
        self._nbytes = 0

    def _import_pickle(self):
        import pickle

        self._pickle = pickle
        return pickle


def _copied(item):
    """Return a copy, or the object itself if it has none: the output refuses it, or writes what str() makes of it."""
    from copy import deepcopy

    try:
        return deepcopy(item)
    except Exception:
        return item
