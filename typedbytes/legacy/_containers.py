"""Containers whose items may have handlers: they are walked here, item by item."""

from contextlib import contextmanager

from typedbytes._collisions import Collisions
from typedbytes.errors import FormatError, LimitError, TruncatedError
from typedbytes.legacy._base import _Legacy
from typedbytes.legacy._codes import LIST, MAP, MARKER, MAX_DEPTH, VECTOR

_NAMES = {VECTOR: "VECTOR", LIST: "LIST", MAP: "MAP"}
_SALTED_HASHES = frozenset({bool, str, bytes, type(None)})
_NUMBERS = frozenset({int, float})


class ContainerReader(_Legacy):
    """Read containers for Input, which reads the codes and values in them."""

    @contextmanager
    def _container(self, code):
        """Count a level while its items are read; yields the offset of the container's type code."""
        start = self._offset - 1
        if self._depth == MAX_DEPTH:
            self._fail(LimitError, f"containers nest deeper than {MAX_DEPTH}", start, code)
        self._depth += 1
        try:
            yield start
        except BaseException as error:
            self._handlers_own = None  # its error leaves the file inside the container
            self._break(error)
            raise
        finally:
            self._depth -= 1

    # Two frames a level, so that the deepest value stays within Python's recursion limit.

    def _walk_vector(self):
        items = []
        with self._container(VECTOR) as start:
            for _ in range(self._count(VECTOR, start)):
                items.append(self._value(self._inner_code(VECTOR)))
        return tuple(items)

    def _walk_list(self):
        items = []
        with self._container(LIST):
            code = self._inner_code(LIST)
            while code != MARKER:
                items.append(self._value(code))
                code = self._inner_code(LIST)
        return items

    def _walk_map(self):
        items = {}
        with self._container(MAP) as start:
            collisions = Collisions()
            for _ in range(self._count(MAP, start)):
                code = self._inner_code(MAP)
                start_of_key = self._offset - 1
                key = self._value(code)
                self._check_key(key, code, start_of_key)
                if _has_weak_hash(key) and collisions.are_many(key, self._offset - start_of_key, self._offset - start):
                    self._fail(LimitError, "too many keys of a MAP share one hash value", start, MAP)
                items[key] = self._value(self._inner_code(MAP))
        return items

    def _check_key(self, key, code, offset):
        try:
            hash(key)
        except TypeError:
            self._fail(FormatError, f"{type(key).__name__} cannot be a MAP key", offset, code)

    def _inner_code(self, container):
        code = self._code()
        if code < 0:
            self._fail_truncated(container)
        return code

    def _count(self, code, start):
        head = [self._inner_code(code) for _ in range(4)]
        count = int.from_bytes(bytes(head), "big", signed=True)
        if count < 0:
            self._fail(FormatError, f"{_NAMES[code]} has a negative count, {count}", start, code)
        return count

    def _fail_truncated(self, code):
        self._fail(TruncatedError, f"input ends inside {_NAMES[code]}", self._offset, code)


def _has_weak_hash(key):
    """Return whether the writer of the input can choose the hash of a key."""
    return type(key) not in _SALTED_HASHES and not (type(key) in _NUMBERS and -(2**63) <= key < 2**63)
