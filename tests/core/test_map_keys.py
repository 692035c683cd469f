"""Keys of maps: hashed, compared, equal, unhashable, colliding."""

import contextlib
import decimal
import math
import sys

import numpy
import pytest

import typedbytes as tb
from support.decoding_values import COLLIDING, EXT, PARTS, encoded_map

pytestmark = [pytest.mark.codec, pytest.mark.free_threaded, pytest.mark.every_python]

# -- keys -------------------------------------------------------------------------------------------------


class Key:
    """Be a key whose hash and equality run code."""

    def __init__(self, value, on_hash=None, on_eq=None):
        self.value, self.on_hash, self.on_eq = value, on_hash, on_eq

    def __hash__(self):
        return self.on_hash() if self.on_hash else 7

    def __eq__(self, other):
        return self.on_eq() if self.on_eq else self.value == other.value


def test_keys_of_a_hook_are_hashed_and_compared():
    found = tb.loads(encoded_map([EXT, b"\x90\0\0\0\1y", EXT]), ext_hook=lambda code, data: Key(data))
    assert [(key.value, value) for key, value in found.items()] == [(b"x", 2), (b"y", 1)]


@pytest.mark.parametrize("where", ["on_hash", "on_eq"])
@pytest.mark.parametrize("error", [LookupError(), KeyboardInterrupt(), StopIteration()])
def test_a_key_that_raises_comes_out(where, error):
    def fail():
        raise error

    decoder = tb.Decoder(ext_hook=lambda code, data: Key(data, **{where: fail}))
    for _ in range(3):
        with pytest.raises(type(error)) as caught:
            decoder.decode(encoded_map([EXT, b"\x90\0\0\0\1y"]))
        assert caught.value is error
    assert decoder.decode(PARTS[0]) is True


def test_a_key_that_decodes_while_it_is_compared():
    decoder = tb.Decoder(ext_hook=lambda code, data: Key(data, on_eq=lambda: decoder.decode(b"\2\0")))
    assert len(decoder.decode(encoded_map([EXT] * 5))) == 5


def test_unhashable_keys_are_refused_at_their_offset():
    for key, offset in [
        (b"\x09\xff", 5),
        (b"\x0a\0\0\0\0", 5),
        (b"\x08\0\0\0\2\2\1\x09\xff", 12),
        (tb.dumps({1}), 5),
        (EXT, 5),
    ]:
        data = b"\x0a\0\0\0\1" + key + b"\2\1"
        with pytest.raises(tb.FormatError) as caught:
            tb.loads(data, ext_hook=lambda code, data: [])
        assert (caught.value.offset, caught.value.path[:4]) == (offset, ".key")
        (pair,) = tb.loads(data, map_pairs=True, ext_hook=lambda code, data: [])
        assert pair[1] is True


def test_arrays_are_not_keys():
    data = encoded_map([tb.dumps(numpy.arange(3))])
    with pytest.raises(tb.FormatError) as caught:
        tb.loads(data)
    assert caught.value.offset == 5
    assert (tb.loads(data, map_pairs=True)[0][0] == numpy.arange(3)).all()


def test_of_equal_keys_the_last_value_wins_in_the_order_of_the_first():
    keys = [tb.dumps(1), tb.dumps("a"), tb.dumps(1.0), tb.dumps(True), tb.dumps(tb.Long(1)), tb.dumps("a")]
    assert list(tb.loads(encoded_map(keys)).items()) == [(1, 4), ("a", 5)]
    assert tb.loads(encoded_map(keys), map_pairs=True) == [(1, 0), ("a", 1), (1.0, 2), (True, 3), (1, 4), ("a", 5)]


def test_map_pairs_gives_pairs_all_the_way_down():
    value = {1: {2: 3}, ("t",): [{}]}
    assert tb.loads(tb.dumps(value), map_pairs=True) == [(1, [(2, 3)]), (("t",), [[]])]
    encoded = b"\x0a\0\0\0\1" + tb.dumps({1: 2}) + tb.dumps([1])
    assert tb.loads(encoded, map_pairs=True) == [([(1, 2)], [1])]


def test_values_that_are_equal_keep_their_own_keys():
    nan = b"\x06\x7f\xf8\0\0\0\0\0\0"
    found = tb.loads(encoded_map([nan] * 500))
    assert len(found) == 500
    assert all(math.isnan(key) for key in found)


@pytest.mark.parametrize("name", COLLIDING)
def test_keys_of_one_hash_are_limited(name):
    keys = COLLIDING[name]
    assert len({hash(tb.loads(key)) for key in keys}) == 1
    assert len(tb.loads(encoded_map(keys[:32]))) == 32
    for count in (513, len(keys)):
        with pytest.raises(tb.LimitError, match="share one hash value") as caught:
            tb.loads(encoded_map(keys[:count]))
        assert (caught.value.offset, caught.value.path) == (0, "")
        with pytest.raises(tb.LimitError) as caught:
            tb.loads(b"\x09\2\1" + encoded_map(keys[:count]) + b"\xff")
        assert (caught.value.offset, caught.value.path) == (3, "[1]")
    assert len(tb.loads(encoded_map(keys), map_pairs=True)) == len(keys)


def test_keys_of_one_hash_from_a_hook_are_limited():
    keys = [b"\x90\0\0\0\4" + n.to_bytes(4, "big") for n in range(5000)]
    assert len(tb.loads(encoded_map(keys[:32]), ext_hook=lambda code, data: Key(data))) == 32
    with pytest.raises(tb.LimitError, match="share one hash value"):
        tb.loads(encoded_map(keys), ext_hook=lambda code, data: Key(data))
    assert len(tb.loads(encoded_map(keys), ext_hook=lambda code, data: (data, data))) == 5000


def test_one_key_may_be_repeated_without_limit():
    for key in ((1, "a"), 2**100, decimal.Decimal("1.5"), ()):
        found = tb.loads(encoded_map([tb.dumps(key)] * 5000))
        assert found == {key: 4999}


def test_nan_keys_are_all_different():
    keys = [tb.dumps(float("nan"))] * 5000
    assert len(tb.loads(encoded_map(keys[:512]))) == 512
    one, other = float("nan"), float("nan")
    if hash(one) != hash(other):  # from Python 3.10 on
        assert len(tb.loads(encoded_map(keys))) == 5000
    else:
        with pytest.raises(tb.LimitError):
            tb.loads(encoded_map(keys))


def test_keys_of_a_hook_whose_size_cannot_be_asked_for():
    class Sizeless(Key):
        def __sizeof__(self):
            raise LookupError

    keys = [b"\x90\0\0\0\4" + n.to_bytes(4, "big") for n in range(40)]
    with contextlib.suppress(LookupError):
        assert len(tb.loads(encoded_map(keys), ext_hook=lambda code, data: Sizeless(data))) == 40


@pytest.mark.parametrize("shape", ["ints", "shifted", "strings", "bytes", "vectors", "floats", "mixed", "long"])
def test_keys_that_do_not_collide_are_not_limited(shape):
    make = {
        "ints": lambda n: n * 7919 - 10**7,
        "shifted": lambda n: n << 40,
        "strings": str,
        "bytes": lambda n: str(n).encode(),
        "vectors": lambda n: (n, (str(n), -n)),
        "floats": lambda n: n * 0.1,
        "mixed": lambda n: [n, str(n), (n,), n + 0.5][n % 4],
        "long": lambda n: (n,) * (3000 if n < 10 else 1),
    }[shape]
    value = {make(n): n for n in range(20_000)}
    assert tb.loads(tb.dumps(value)) == value


@pytest.mark.parametrize("count", [2, 40])
def test_equal_deep_keys_at_a_low_recursion_limit(count):
    """A LimitError, no RecursionError: nothing recurses before it is counted."""
    key = ()
    for _ in range(200):
        key = (key,)
    data, before = encoded_map([tb.dumps(key)] * count), sys.getrecursionlimit()
    depth, frame = 0, sys._getframe()
    while frame:
        depth, frame = depth + 1, frame.f_back
    sys.setrecursionlimit(depth + 50)
    try:
        # the interpreter's own comparison may refuse: then as a limit, not as an error of its own
        try:
            found = len(tb.loads(data))
        except tb.LimitError:
            found = 1
    finally:
        sys.setrecursionlimit(before)
    assert found == 1


# -- memory -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("npairs", [1, 5, 6, 7, 1023, 1024, 1025, 5000])
@pytest.mark.parametrize(
    "key", [str, int, lambda number: (number, "b"), lambda number: number if number % 7 else str(number)]
)
def test_the_last_value_of_a_key_keeps_the_position_of_the_first(npairs, key):
    keys = [key(index * 7919 % (npairs * 2 // 3 + 1)) for index in range(npairs)]
    pairs = list(zip(keys, range(npairs)))
    data = b"\x0a" + npairs.to_bytes(4, "big") + b"".join(tb.dumps(part) for pair in pairs for part in pair)
    assert list(tb.loads(data).items()) == list(dict(pairs).items())
