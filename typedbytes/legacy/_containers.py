"""Containers whose items may have handlers: they are walked here, item by item.

Imported when the first handler is registered: most tasks have none.
"""

from contextlib import contextmanager

from typedbytes._base.codes import LIST, MAP, MARKER, VECTOR
from typedbytes._base.collisions import Collisions
from typedbytes.errors import FormatError, LimitError, TruncatedError
from typedbytes.legacy._base import MAX_DEPTH

_NAMES = {VECTOR: "VECTOR", LIST: "LIST", MAP: "MAP"}
_SALTED_HASHES = frozenset({bool, str, bytes, type(None)})
_NUMBERS = frozenset({int, float})


@contextmanager
def _container(source, code):
    """Count a level while its items are read; yields the offset of the container's type code."""
    start = source._offset - 1
    if source._depth == MAX_DEPTH:
        source._fail(LimitError, f"containers nest deeper than {MAX_DEPTH}", start, code)
    source._depth += 1
    try:
        yield start
    except BaseException as error:
        source._handlers_own = None  # its error leaves the file inside the container
        source._break(error)
        raise
    finally:
        source._depth -= 1


# Two frames a level, so that the deepest value stays within Python's recursion limit.


def walk_vector(source):
    items = []
    with _container(source, VECTOR) as start:
        for _ in range(_count(source, VECTOR, start)):
            items.append(source._value(_inner_code(source, VECTOR)))
    return tuple(items)


def walk_list(source):
    _refuse_in_key(source, LIST)
    items = []
    with _container(source, LIST):
        code = _inner_code(source, LIST)
        while code != MARKER:
            items.append(source._value(code))
            code = _inner_code(source, LIST)
    return items


def walk_map(source):
    _refuse_in_key(source, MAP)
    items = {}
    with _container(source, MAP) as start:
        collisions = Collisions()
        for _ in range(_count(source, MAP, start)):
            code = _inner_code(source, MAP)
            start_of_key = source._offset - 1
            source._in_key = True
            key = source._value(code)
            source._in_key = False
            _check_key(source, key, code, start_of_key)
            if _has_weak_hash(key) and collisions.are_many(key, source._offset - start_of_key, source._offset - start):
                source._fail(LimitError, "too many keys of a MAP share one hash value", start, MAP)
            items[key] = source._value(_inner_code(source, MAP))
    return items


def _refuse_in_key(source, code):
    if source._in_key:
        source._fail(FormatError, f"{_NAMES[code]} cannot be a MAP key", source._offset - 1, code)


def _check_key(source, key, code, offset):
    try:
        hash(key)
    except TypeError:
        source._fail(FormatError, f"{type(key).__name__} cannot be a MAP key", offset, code)


def _inner_code(source, container):
    code = source._code()
    if code < 0:
        _fail_truncated(source, container)
    return code


def _count(source, code, start):
    head = [_inner_code(source, code) for _ in range(4)]
    count = int.from_bytes(bytes(head), "big", signed=True)
    if count < 0:
        source._fail(FormatError, f"{_NAMES[code]} has a negative count, {count}", start, code)
    return count


def _fail_truncated(source, code):
    source._fail(TruncatedError, f"input ends inside {_NAMES[code]}", source._offset, code)


def _has_weak_hash(key):
    """Return whether the writer of the input can choose the hash of a key."""
    return type(key) not in _SALTED_HASHES and not (type(key) in _NUMBERS and -(2**63) <= key < 2**63)


WALKS = {VECTOR: walk_vector, LIST: walk_list, MAP: walk_map}
