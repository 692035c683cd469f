"""Sort keys: their bytes are ordered as Python orders the values, and the values come back.

Here: Python's own order against that of encoded bytes, and against Java's comparator. Not here: how a key is made.
Invariant: an order is judged by all pairs of neighbours of a sorted list, or by two values.
"""

import functools
import itertools
import math
import random
from typing import NamedTuple

import pytest
from hypothesis import example, given, strategies as st

import typedbytes as tb
from support.hadoop_support import hadoop
from support.strategies import examples
from typedbytes.sortkey import Descending, decode, encode

pytestmark = [pytest.mark.free_threaded, pytest.mark.newest_python, pytest.mark.lowest]


def key_bytes(value, **options):
    """Return what Hadoop sorts a value by."""
    return tb.dumps(encode(value, **options))


def same(x, y):
    """Return whether two values are equal, of the same types all through, and NaN where the other is."""
    if type(x) is not type(y):
        return False
    if isinstance(x, tuple):
        return len(x) == len(y) and all(map(same, x, y))
    if isinstance(x, float):
        return (math.isnan(x) and math.isnan(y)) or (x == y and math.copysign(1, x) == math.copysign(1, y))
    return x == y


def plain(value):
    """Return a value as it is decoded: without Descending, bytes as bytes."""
    if isinstance(value, Descending):
        return plain(value.value)
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    return bytes(value) if isinstance(value, (bytearray, memoryview)) else value


POWERS, STEPS = (0, 1, 8, 31, 52, 53, 54, 55, 62, 63, 64), (-1025, -3, -1, 0, 1, 2, 1025)
AROUND = {sign * (2**power + step) for power in POWERS for step in STEPS for sign in (1, -1)}
INTS = sorted(number for number in AROUND if -(2**63) <= number < 2**64)
FLOATS = [math.inf, 1.7976931348623157e308, 2.0**64, 2.0**63, 2.0**53, 1.5, 1.0, 2.2e-308, 5e-324, 0.0]
FLOATS += [-number for number in FLOATS] + [math.nextafter(number, 0) for number in FLOATS[:5]]

integers = st.one_of(st.integers(-(2**63), 2**64 - 1), st.sampled_from(INTS))
numbers = st.one_of(integers, st.floats(allow_nan=False), st.sampled_from(FLOATS), st.booleans())
#: NULs, what NULs are written as, and beginnings of one another.
texts = st.one_of(st.text(), st.text(st.sampled_from("\0\x01a\xff\ud800\U0001f40d"), max_size=9))
binaries = st.one_of(st.binary(), st.binary(max_size=8), st.lists(st.sampled_from([0, 1, 255]), max_size=9).map(bytes))


def turned(value):
    return value if isinstance(value, Descending) else Descending(value)


def shapes(numbers=numbers):
    """Return a strategy of kinds of values that Python can order among themselves."""
    leaf = st.sampled_from([numbers, texts, binaries])
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3).map(lambda parts: st.tuples(*parts)),
            inner.map(lambda part: st.lists(part, max_size=3).map(tuple)),
            inner.map(lambda part: part.map(turned)),
        ),
        max_leaves=6,
    )


def like(shape, n):
    return st.lists(shape, min_size=n, max_size=n)


@examples(150)
@given(shapes().flatmap(lambda shape: like(shape, 2)))
@example([("a\0", 1), ("a", 2)])
@example([(0.0, 3), (-0.0, 5)])
@example([(1, "b"), (True, "a")])
@example([((), 1), (((),), 0)])
def test_keys_are_ordered_as_their_values(pair):
    low, high = sorted(pair)
    if low == high:
        assert encode(low)[:-1] == encode(high)[:-1] or low != ()
    else:
        assert key_bytes(low) < key_bytes(high)


@examples(150)
@given(shapes().flatmap(lambda shape: shape))
def test_values_come_back(value):
    key = encode(value)
    assert same(decode(key), plain(value))
    assert same(decode(tuple(tb.loads(tb.dumps(key)))), plain(value))


@examples(50)
@given(shapes().flatmap(lambda shape: like(shape, 12)))
def test_sorting_by_keys_is_sorting(values):
    by_key = sorted(values, key=key_bytes)
    assert [plain(value) for value in by_key] == [plain(value) for value in sorted(values)]


def test_all_numbers_beside_one_another():
    every = [*INTS, *FLOATS, True, False]
    for x, y in itertools.product(every, repeat=2):
        if x < y:
            assert key_bytes(x) < key_bytes(y), (x, y)
            assert key_bytes(Descending(x)) > key_bytes(Descending(y)), (x, y)
        elif x == y:
            # what follows decides, as it does for Python
            assert key_bytes((x, 1)) < key_bytes((y, 2)), (x, y)


@pytest.mark.parametrize("zero", [0, 0.0, -0.0, False])
def test_zeros_come_back(zero):
    assert same(decode(encode(zero)), zero) and same(decode(encode(Descending(zero))), zero)


def test_nan_sorts_after_all_numbers_and_is_one_key():
    assert key_bytes(math.nan) > key_bytes(math.inf) > key_bytes(2**64 - 1)
    assert key_bytes(-math.nan) == key_bytes(math.nan)
    assert key_bytes(math.nan) < key_bytes("")
    assert math.isnan(decode(encode(math.nan)))


def test_kinds_of_values_have_their_order():
    ladder = [None, -math.inf, 0, math.nan, b"", b"\xff", "", "\U0010ffff", (), ("",)]
    keys = [key_bytes(value, none="first") for value in ladder]
    assert keys == sorted(keys)
    assert key_bytes(None, none="last") > key_bytes(((),))
    assert key_bytes(Descending(None), none="first") > key_bytes(Descending(-math.inf))
    assert decode(encode((None, 1), none="first")) == decode(encode((None, 1), none="last")) == (None, 1)


@pytest.mark.parametrize("value", [-(2**63), 2**64 - 1, 0, 1.5, -0.0, math.nan, True, math.inf])
def test_a_number_takes_20_bytes(value):
    assert len(key_bytes(value)) == len(key_bytes(Descending(value))) == 20


@given(shapes().flatmap(lambda shape: shape))
def test_a_key_is_the_same_in_every_library(value):
    # All its ints need 64 bits, so no library has a choice.
    key = encode(value)
    assert tb.dumps(key) == tb.dumps([tb.Long(number) for number in key]) == tb.dumps(key, int_width=64)


@given(shapes().flatmap(lambda shape: like(shape, 2)))
def test_no_key_is_the_beginning_of_another(pair):
    x, y = map(encode, pair)
    assert x == y or x != y[: len(x)]


class Seven:
    def __index__(self):
        return 7


class Place(NamedTuple):
    name: str
    height: float


def test_what_else_can_be_part_of_a_key():
    assert decode(encode((bytearray(b"a"), memoryview(b"b"), Seven(), tb.Long(5), tb.Float(1.5)))) == (
        b"a", b"b", 7, 5, 1.5,
    )  # fmt: skip
    assert same(decode(encode((Place("oslo", 23.0), 1))), (("oslo", 23.0), 1))


@pytest.mark.parametrize("nbytes", [192, 40_000, 100_000, 1_000_000])
def test_a_long_text_comes_back(nbytes):
    value = ("x" * nbytes, b"\0" * nbytes)
    assert same(decode(encode(value)), value)


@pytest.mark.parametrize(
    "value, error, path",
    [
        (None, tb.EncodeTypeError, ""),
        ([1], tb.EncodeTypeError, ""),
        ({}, tb.EncodeTypeError, ""),
        (tb.Ext(144, b"a"), tb.EncodeTypeError, ""),
        ((1, tb.Writable("org.X")), tb.EncodeTypeError, "[1]"),
        ((1, ("a", object)), tb.EncodeTypeError, "[1][1]"),
        ((1, Descending((None,))), tb.EncodeTypeError, "[1][0]"),
        ((2**64,), tb.EncodeValueError, "[0]"),
        (-(2**63) - 1, tb.EncodeValueError, ""),
        (10**30, tb.EncodeValueError, ""),
    ],
)
def test_what_cannot_be_a_key(value, error, path):
    with pytest.raises(error) as caught:
        encode(value)
    assert caught.value.path == path


def nested(depth):
    return functools.reduce(lambda value, _: (value,), range(depth), 1)


def test_depth():
    assert decode(encode(nested(256))) == nested(256)
    with pytest.raises(tb.EncodeValueError, match="deeper than 256"):
        encode(nested(257))
    deep = [2**56 + int.from_bytes(b"\x05" * 7, "big")] * 50
    with pytest.raises(tb.LimitError, match="deeper than 256"):
        decode(deep)


def test_descending_does_not_nest():
    with pytest.raises(TypeError, match="not another Descending"):
        Descending(Descending(1))
    one = Descending(1)
    with pytest.raises(TypeError):
        one.__init__(one)


def test_options():
    with pytest.raises(ValueError, match="none must be 'error', 'first' or 'last'"):
        encode(1, none="middle")


def longs(*payloads):
    return [2**56 + int.from_bytes(bytes.fromhex(payload), "big") for payload in payloads]


@pytest.mark.parametrize(
    "key",
    [
        [],
        [1],
        [2**57],
        [-1],
        ["a"],
        [True],
        longs("00000000000000"),
        longs("07000000000000"),
        longs("7f000000000000"),
        longs("04616263646566"),
        longs("04610001000000"),
        longs("04ff0000000000"),
        longs("04610000000001"),
        longs("01000000000000", "00000000000000"),
        longs("05050000000000", "01000000000000"),
        longs("02000000000000", "00000000040000"),
        longs("02000000000000", "00000001010000"),
        longs("02c0040000000000"[:14], "00000000000000"),
        longs("02ffff00000000", "00000000000000"),
        longs("02c00000000000", "00000000020000"),
        longs("02c3f000000000", "00000000000000"),  # 2^64
        longs("023c1fffffffff", "fffe0000000000"),  # the double below -2^63
        longs("02c0f000000000", "00000001000000"),  # 65537 as 65536 and 1
        longs("027fffffffffff", "ffff0000010000"),  # -0.0 by its bits
        longs("02fff800000000", "00010000010000"),  # another NaN
    ],
    ids=str,
)
def test_what_is_not_a_key(key):
    """Each value has one key: other bytes that would decode to it are refused."""
    with pytest.raises(tb.FormatError):
        decode(key)


def test_a_list_whose_len_is_wrong():
    """Memory is reserved for the items that are there, not for those that len() counts."""

    class Wrong(list):
        def __len__(self):
            return 1

    value = "x" * 3_000_000
    assert decode(Wrong(encode(value))) == value


def test_an_int_of_a_subclass_runs_no_code_of_its_own():
    """Such code could make the list longer while it is decoded."""

    class Growing(int):
        def grow(self, *args):
            key.extend([2**56] * 1_000_000)
            return 1

        __rshift__ = __index__ = __int__ = __ge__ = __ne__ = grow

    key = [Growing(number) for number in encode((5, "five"))]
    n = len(key)
    assert decode(key) == (5, "five") and len(key) == n


@pytest.mark.parametrize("key", [None, 5, "key", b"key", {}])
def test_what_is_not_a_list(key):
    with pytest.raises(TypeError):
        decode(key)


@examples(100)
@given(st.lists(st.integers(2**56, 2**57 - 1), max_size=6))
def test_any_longs_are_a_key_or_an_error(key):
    try:
        value = decode(key)
    except tb.DecodeError:
        return
    assert same(decode(encode(value, none="first")), value)


def test_descending_orders_the_other_way():
    assert sorted([Descending(1), Descending(3), Descending(2)]) == [Descending(3), Descending(2), Descending(1)]
    assert Descending(1) == Descending(1.0) and hash(Descending(1)) == hash(Descending(1.0))
    assert Descending(1) != 1
    assert repr(Descending("a")) == "Descending('a')"
    with pytest.raises(TypeError):
        _ = Descending(1) < 1


@pytest.mark.hadoop
@pytest.mark.parametrize("order", [lambda value: value, Descending], ids=["ascending", "descending"])
def test_hadoop_orders_keys_as_python_orders_values(order):
    leaves = [*INTS, *FLOATS, True]
    values = [(prefix, order(number)) for prefix in ("", "a", "a\0", "ab") for number in leaves]
    values += [
        (prefix, order(text), 1) for prefix in ("b", "ba") for text in ("", "x", "x\0", "xx", "\uffff", "\U0001f40d")
    ]
    random.Random(3).shuffle(values)
    keys = tb.Decoder().decode_all(hadoop().sort(b"".join(map(key_bytes, values))))
    assert list(map(decode, keys)) == list(map(plain, sorted(values)))
