"""Objects that cannot be encoded: the error names the object by its path, and nothing half-done is seen."""

import collections
import ctypes
import mmap
import sys
import types

import pytest

import typedbytes as tb
from support.encoding_values import Lying
from support.machine import NEEDS_64_BITS
from support.subprocess_runs import run_fresh

pytestmark = [pytest.mark.codec, pytest.mark.free_threaded, pytest.mark.every_python]

Thing = type("Thing", (), {"__module__": "far.away", "__repr__": lambda self: 1 / 0})

Array = type("array", (), {"__module__": "array"})

Uuid = type("UUID", (), {"__module__": "uuid"})

Index = type("Index", (), {"__index__": lambda self: 5})

REFUSED = {
    "object": object(),
    "class": object,
    "function": len,
    "module": sys,
    "generator": (number for number in [1]),
    "range": range(3),
    "mapping": types.MappingProxyType({}),
    "items": {}.items(),
    "deque": collections.deque(),
    "iterator": iter([]),
    "Ellipsis": ...,
    "repr_raises": Thing(),
    "array_by_name": Array(),
    "UUID_by_name": Uuid(),
    "ctypes": ctypes.c_int(5),
    "an_index_only": Index(),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_type_code_is_named_with_its_path(name):
    thing = REFUSED[name]
    for around, path in [
        (thing, ""),
        ([1, thing], "[1]"),
        ({"k": (thing,)}, '["k"][0]'),
        ({1: {2.5: thing}}, "[1][2.5]"),
        ({'a"b\n': thing}, '["a\\"b\\n"]'),
        ({(1, "a"): [thing]}, "[(1, 'a')][0]"),
    ]:
        with pytest.raises(tb.EncodeTypeError) as caught:
            tb.dumps(around)
        assert caught.value.path == path
    with pytest.raises(TypeError, match=f"cannot encode an object of type .*{type(thing).__name__}"):
        tb.dumps(thing)


def give_up():
    """Raise as a system without memory does."""
    raise MemoryError


class NotPickled:
    """Be pickled by what the test says, or raise it."""

    def __init__(self, way):
        self.way = way

    def __reduce__(self):
        if isinstance(self.way, BaseException):
            raise self.way
        return self.way, ()


@pytest.mark.parametrize(
    "thing", [lambda: None, NotPickled(LookupError("no")), NotPickled(tb.EncodeValueError("no", "[9]"))]
)
def test_what_pickle_cannot_write_is_named_with_its_path(thing):
    with pytest.raises(
        tb.EncodeTypeError, match="^cannot pickle an object of type .*; pass default=, at \\[0\\]$"
    ) as caught:
        tb.dumps([thing], pickle="trust")
    assert caught.value.path == "[0]"


def test_memory_that_a_pickle_lacks_is_no_fault_of_the_object_or_of_the_bytes():
    for error in (MemoryError(), KeyboardInterrupt()):
        with pytest.raises(type(error)):
            tb.dumps([NotPickled(error)], pickle="trust")
    data = tb.dumps([NotPickled(give_up)], pickle="trust")
    with pytest.raises(MemoryError):
        tb.loads(data, pickle="trust")
    assert tb.loads(tb.dumps([1])) == [1]


def test_a_key_that_cannot_be_written_is_counted():
    with pytest.raises(tb.EncodeTypeError) as caught:
        tb.dumps({"a": 1, len: 2})
    assert caught.value.path == ".key(1)"
    with pytest.raises(tb.EncodeTypeError) as caught:
        tb.dumps({"a": 1, (1, len): 2}, sort_keys=True)
    assert caught.value.path == ".key(1)[1]"


def test_a_path_of_keys_that_cannot_be_shown():
    class Key:
        def __repr__(self):
            raise LookupError

    with pytest.raises(tb.EncodeValueError) as caught:
        tb.dumps({Key(): ["\udc80"]}, default=lambda obj: "key")
    assert caught.value.path == "[<Key>][0]"


def test_a_long_path_is_shown_in_part():
    deep = len
    for number in range(100):
        deep = {f"key{number}": deep}
    with pytest.raises(tb.EncodeTypeError) as caught:
        tb.dumps(deep)
    assert caught.value.path.count("[") == 100
    assert len(str(caught.value)) < 250


OPAQUE = {
    "Ext_without_data": lambda: tuple.__new__(tb.Ext, (60, None)),
    "Ext_of_str": lambda: tuple.__new__(tb.Ext, (60, "text")),
    "Ext_of_nothing": lambda: tuple.__new__(tb.Ext, ()),
    "Ext_of_numbers": lambda: tuple.__new__(tb.Ext, (1, 2, 3)),
    "Ext_beyond_200": lambda: tuple.__new__(tb.Ext, (300, b"")),
    "Ext_of_INT": lambda: tuple.__new__(tb.Ext, (3, b"")),
    "Ext_of_MARKER": lambda: tuple.__new__(tb.Ext, (255, b"")),
    "Writable_without_data": lambda: tuple.__new__(tb.Writable, ("name", None)),
    "Writable_without_name": lambda: tuple.__new__(tb.Writable, (None, b"")),
    "Writable_of_a_name": lambda: tuple.__new__(tb.Writable, ("name",)),
    "wide_Long": lambda: int.__new__(tb.Long, 2**70),
    "wide_Byte": lambda: int.__new__(tb.Byte, 300),
    "Byte_beyond_64_bits": lambda: int.__new__(tb.Byte, 2**70),
}


@pytest.mark.parametrize("name", OPAQUE)
def test_a_value_type_forged_is_refused(name):
    for pickle in ("safe", "raw"):
        with pytest.raises(tb.EncodeValueError):
            tb.dumps([OPAQUE[name]()], pickle=pickle)


LIES = {
    "none": [None],
    "empty": [()],
    "one": [(1,)],
    "three": [(1, 2, 3)],
    "int": [5],
    "str": ["ab"],
    "not_iterable": 5,
    "None": None,
}


@pytest.mark.parametrize("sort_keys", [False, True])
@pytest.mark.parametrize("name", LIES)
def test_items_that_lie_are_refused(name, sort_keys):
    code = f"""
        import typedbytes as tb
        class Lying(dict):
            def items(self):
                return {LIES[name]!r}
        try:
            print(tb.dumps(Lying(a=1), sort_keys={sort_keys}))
        except (TypeError, ValueError) as error:
            print("refused")
    """
    assert run_fresh(code) == "refused"


def test_items_that_are_good_pairs_are_written():
    assert tb.loads(tb.dumps(Lying(iter([("a", 1)])))) == {"a": 1}
    assert tb.loads(tb.dumps(Lying({"a": 1}.items()), sort_keys=True)) == {"a": 1}


def test_a_released_view_is_refused():
    view = memoryview(b"data")
    view.release()
    with pytest.raises(ValueError, match="released"):
        tb.dumps([view])
    pages = mmap.mmap(-1, 100)
    with pytest.raises(tb.EncodeTypeError):
        tb.dumps(pages)
    pages.close()


@NEEDS_64_BITS
@pytest.mark.once  # gigabytes, where every Python does the same
def test_a_part_of_a_pickle_longer_than_a_value_can_be():
    # Its pages are never touched but to be hashed.
    with pytest.raises(tb.EncodeValueError, match="PICKLE of 2147483648 is longer"):
        tb.dumps({bytes(2**31)})
