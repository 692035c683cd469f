"""The compiled implementation against the reference: same values, same bytes, same errors at the same offsets."""

import functools
import itertools
import random

import pytest
from hypothesis import example, given, strategies as st

import typedbytes
from support import reference, strategies
from support.call_variants import WAYS
from support.strategies import examples
from support.vectors import exact_repr, failure, outcome, short_seeds
from typedbytes._base import magic

pytestmark = [pytest.mark.portable]


@pytest.fixture(scope="module", autouse=True)
def described_once():
    """Keep messages on the same first bytes: they take longer than all else, and are not compared here."""
    with pytest.MonkeyPatch.context() as patches:
        patches.setattr(magic, "description_of", functools.lru_cache(magic.description_of))
        yield


def limits(options):
    """Return those of the decode options that skip has too."""
    return {name: value for name, value in options.items() if name in ("dialect", "max_depth")}


def agree(data, **options):
    """Compare loads and skip with the reference, on any bytes."""
    expected = outcome(reference.loads, data, **options)
    assert outcome(typedbytes.loads, data, **options) == expected, data.hex()
    # skip builds no path: it looks at structure alone
    expected = outcome(reference.skip, data, **limits(options))
    found = outcome(typedbytes.skip, data, **limits(options))
    assert found == expected or found[:3] == expected[:3] and type(found) is tuple, data.hex()


# -- decode -----------------------------------------------------------------------------------------------


def test_every_input_of_one_or_two_bytes():
    agree(b"")
    for first in range(256):
        agree(bytes([first]))
        for second in range(256):
            agree(bytes([first, second]))


def test_every_input_of_one_or_two_bytes_in_hive():
    for first, second in itertools.product([*range(13), 50, 100, 177, 255], range(256)):
        agree(bytes([first]), dialect="hive")
        agree(bytes([first, second]), dialect="hive")


def test_every_type_code_with_up_to_20_bytes_after_it():
    for code, filler in itertools.product(range(256), (b"\0", b"\1", b"\2", b"\xff")):
        for nbytes in range(21):
            agree(bytes([code]) + filler * nbytes)
            agree(bytes([code, 0, 0, 0, nbytes]) + filler * nbytes)


@examples(1000)
@given(strategies.inputs, strategies.decode_options)
def test_decode(data, options):
    agree(data)
    agree(data, **options)


def test_every_bit_of_every_short_vector_flipped():
    for seed in short_seeds():
        for bit in range(8 * len(seed)):
            data = bytearray(seed)
            data[bit // 8] ^= 1 << bit % 8
            agree(bytes(data))


def test_spliced_vectors():
    """Put the front of one vector before the back of another: deeper into the codec than bit flips come."""
    rng = random.Random(20)
    seeds = short_seeds()
    for _ in range(10_000):
        front, back = rng.choice(seeds), rng.choice(seeds)
        agree(front[: rng.randint(0, len(front))] + back[rng.randint(0, len(back)) :])


def stream_outcome(data, options):
    """Return the spelled values that the reference finds in a stream, and how the stream ends."""
    values, offset = [], 0
    while offset < len(data):
        try:
            value, offset = reference.decode_from(data, offset, **options)
        except typedbytes.DecodeError as error:
            return values, failure(error)
        values.append(exact_repr(value))
    return values, "None"


def agree_on_structure(stream, options):
    """Compare index and count with the reference."""
    options = limits(options)
    expected = outcome(reference.index, stream, **options)
    found = outcome(lambda **options: list(typedbytes.index(stream, **options)), **options)
    counted = outcome(typedbytes.count, stream, **options)

    if isinstance(expected, str):
        assert found == expected
        assert counted == str(len(reference.index(stream, **options)))
    else:
        assert found[:3] == counted[:3] == expected[:3]


@examples(500)
@given(st.data(), st.lists(strategies.inputs, max_size=4).map(b"".join), strategies.decode_options)
def test_streams_in_chunks(data, stream, options):
    agree_on_structure(stream, options)
    chunks = data.draw(strategies.chunked(stream))
    expected, end = stream_outcome(stream, options)

    for way in WAYS:
        values = []
        assert outcome(way, chunks, values, **options) == end, way.__name__
        assert [exact_repr(value) for value in values] == expected, way.__name__


# -- encode -----------------------------------------------------------------------------------------------


class View(reference.Walk):
    """See what encoded bytes say exactly, and in pickles what they hold: their opcodes are the pickler's own choice."""

    def application(self, start, code, path):
        """Return what a pickle holds in words; None and ints are pickled in one way only."""
        payload = self.sized(start, code, path)
        if code != reference.PICKLE:
            return typedbytes.Ext(code, payload)
        try:
            value = reference.unpickle(payload, "safe")
        except Exception:
            return "pickle", payload
        return "pickle", exact_repr(value), payload if value is None or type(value) is int else payload[:2]


def view(encoded, **options):
    """Return in words everything that encoded bytes say."""
    walk = View(encoded, exact=True, map_pairs=True, unicode_errors="surrogateescape", **options)
    words = exact_repr(walk.value())
    assert walk.offset == len(encoded)
    return words


def written(dumps, value, options):
    """Return what a function writes, in words, or what its error says."""
    try:
        encoded = dumps(value, **options)
    except typedbytes.EncodeError as error:
        return failure(error)
    return view(encoded, dialect=options.get("dialect", "hadoop"))


@examples(600)
@given(strategies.values)
def test_encode(value):
    encoded = typedbytes.dumps(value)

    assert view(encoded) == view(reference.dumps(value))
    assert outcome(typedbytes.loads, encoded) == outcome(reference.loads, encoded)
    assert typedbytes.dumps(typedbytes.loads(encoded, exact=True)) == encoded


@examples(600)
@given(strategies.unsure, strategies.encode_options)
@example({1: -(2**31) - 1}, {"int_width": 32})
@example([2**64], {"int_width": 64})
def test_encode_with_options(value, options):
    assert written(typedbytes.dumps, value, options) == written(reference.dumps, value, options)


@examples(300)
@given(st.lists(strategies.values, max_size=5))
def test_streams_of_values(values):
    encoded = b"".join(map(typedbytes.dumps, values))

    assert typedbytes.Encoder().encode_all(values) == encoded
    assert exact_repr(typedbytes.Decoder().decode_all(encoded)) == exact_repr(reference.decode_all(encoded))
    assert list(typedbytes.index(encoded)) == reference.index(encoded)
    assert typedbytes.count(encoded) == len(values)


@examples(300)
@given(strategies.sortable)
def test_sorted_keys_are_canonical(value):
    encoded = typedbytes.dumps(value, sort_keys=True)

    assert encoded == reference.dumps(value, sort_keys=True)
    assert typedbytes.dumps(typedbytes.loads(encoded, exact=True), sort_keys=True) == encoded


# -- Java -------------------------------------------------------------------------------------------------


@given(st.binary(max_size=200), st.integers(1, 2**31 - 1))
@example(b"", 1)
def test_hash_and_partition(data, npartitions):
    assert typedbytes.hash_code(data) == reference.hash_code(data)
    assert typedbytes.partition(data, npartitions) == reference.partition(data, npartitions)
