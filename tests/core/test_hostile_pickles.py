"""Pickles made to cost much or to break: sharing that unfolds, elements of one hash value, bytes that are changed.

Here: what a pickle under type code 100 may take, and that any bytes are a value or a ValueError. Not here: what its
values are.
"""

import contextlib
import pickle
import pickletools

import pytest
from hypothesis import given, strategies as st

from fuzz import pickles
from support.pickled_values import (
    MAX_EQUAL_HASHES,
    MODULUS,
    OTHERS,
    PROTOCOLS,
    PYTHON2,
    VALUES,
    decimal,
    frozenset_of,
    number,
    refused,
    set_of,
    text,
    uuid,
)
from support.process_memory import peak_of
from support.subprocess_runs import within
from typedbytes import Decoder
from typedbytes._core import safe_dumps, safe_loads

pytestmark = [pytest.mark.every_python]


def shared_tuples(depth):
    doubling = b"".join(b"h%ch%c\x86\x94" % (level, level) for level in range(depth))
    return b"\x80\x04K\x01\x85\x94" + doubling


def test_shared_tuples_do_not_unfold():
    assert safe_loads(b"(" + shared_tuples(8) + b"t.")[-1][0] == safe_loads(b"(" + shared_tuples(7) + b"t.")[-1]
    for end in (b".", b"\x85\x91."):
        data = b"(" + shared_tuples(90) + b"t" + end
        assert "cost more than its size" in refused(data)
        assert peak_of(lambda data=data: refused(data)) < 1 << 22


def test_a_long_tuple_shared_many_times_is_charged():
    assert "cost more than its size" in refused(b"((" + b"N" * 100_000 + b"t\x94" + b"h\x00" * 100_000 + b"t.")


@pytest.mark.parametrize("name", ["cdecimal\nDecimal\n", "c_codecs\nencode\n"])
def test_a_long_text_shared_by_many_calls_is_charged(name):
    """Each call copies it: 256 KiB could take 2 GiB."""
    call = b"h\0h\1\x85R" if "Decimal" in name else b"h\0h\1\x8c\x06latin1\x86R"
    data = b"(" + name.encode() + b"q\0" + text("1" * 100_000) + b"q\1" + call[4:] + call * 10_000 + b"t."
    assert "cost more than its size" in refused(data)
    assert peak_of(lambda: refused(data)) < 80 * len(data)


@pytest.mark.parametrize("make", [lambda n: number(1 << 8 * n), lambda n: decimal("9" * n)], ids=["int", "Decimal"])
def test_a_long_number_shared_many_times_is_charged(make):
    """Each hash reads all its digits: a mebibyte could take 100 s."""
    # the hash of neither is kept
    assert "cost more than its size" in refused(b"\x8f(" + make(100_000) + b"q\0" + b"h\0" * 100_000 + b"\x90.")


def test_many_small_pickles_cost_no_more_than_a_large_one():
    # the budget of each follows its own size: the same sharing fits where it is a small part
    sharing = shared_tuples(12)
    assert "cost more than its size" in refused(b"(" + sharing + b"t.")
    assert safe_loads(b"((" + b"N" * 20_000 + b"t" + sharing[2:] + b"t.")


def test_natural_collisions_in_a_small_pickle_pass():
    # -1 and -2 have one hash value
    for value in (
        {frozenset({(a, b, c)}) for a in (-1, -2) for b in (-1, -2) for c in (-1, -2)},
        {(-1, n) for n in (-1, -2)},
    ):
        assert safe_loads(safe_dumps(value)) == safe_loads(pickle.dumps(value, 4)) == value


@pytest.mark.parametrize(
    "make",
    [
        lambda n: number(7 + n * MODULUS),
        lambda n: b"K\x01" + number(7 + n * MODULUS) + b"\x86",
        lambda n: (
            b"c__builtin__\ncomplex\nG\0\0\0\0\0\0\0\0" + b"G" + bytes([0x40 + n // 256, n % 256]) + bytes(6) + b"\x86R"
        ),
        lambda n: frozenset_of(number(7 + n * MODULUS)),
        lambda n: decimal(7 + n * MODULUS),
        lambda n: uuid(7 + n * MODULUS),
    ],
    ids=["int", "tuple", "complex", "frozenset", "Decimal", "UUID"],
)
def test_equal_hashes_are_bounded(make):
    elements = [make(n) for n in range(2000)]
    assert len(safe_loads(set_of(*elements[:20]))) == 20
    if len({hash(safe_loads(b"\x80\x04" + element + b".")) for element in elements}) == 1:
        assert refused(set_of(*elements))
        assert refused(b"c__builtin__\nfrozenset\n](" + b"".join(elements) + b"e\x85R.")


def test_the_bound_of_equal_hashes_is_exact():
    elements = [number(7 + n * MODULUS) for n in range(1, MAX_EQUAL_HASHES + 2)]
    assert len(safe_loads(set_of(*elements[:-1]))) == MAX_EQUAL_HASHES
    assert "share one hash value" in refused(set_of(*elements))
    assert "share one hash value" in refused(
        b"\x80\x04\x8f(" + b"".join(elements[:300]) + b"\x90(" + b"".join(elements[300:]) + b"\x90."
    )


@pytest.mark.parametrize("nitems", [1, 2, 255, 256, 257, 3000])
def test_of_equal_elements_the_first_stays(nitems):
    ints = b"".join(number(n) + b"\x85" for n in range(nitems))
    floats = b"".join(pickle.dumps(float(n), 2)[2:-1] + b"\x85" for n in range(nitems))
    for data in (
        set_of(ints, floats, ints),
        set_of(floats, ints),
        set_of(*(number(1 << 70) + b"\x85" for _ in range(min(nitems, MAX_EQUAL_HASHES)))),
    ):
        assert sorted(map(repr, safe_loads(data))) == sorted(map(repr, pickle.loads(data)))


def test_natural_collisions_pass():
    # hash(-1) == hash(-2), and so for every tuple of them
    value = {(a, b, c, d, e) for a in (-1, -2) for b in (-1, -2) for c in (-1, -2) for d in (-1, -2) for e in (-1, -2)}
    assert safe_loads(safe_dumps(value)) == value
    mixed = {frozenset({-1, n}) for n in range(500)} | {frozenset({-2, n}) for n in range(500)}
    assert safe_loads(safe_dumps(mixed)) == mixed


MEBIBYTE = 1 << 20


def filled(nbytes, start, unit, end):
    return start + unit * ((nbytes - len(start) - len(end)) // len(unit)) + end


def set_filled(nbytes, make):
    """Return the pickle of a set of about that many bytes: the elements made from 0, 1, 2 ..."""
    elements, left = [], nbytes - 5
    while left > 0:
        elements.append(make(len(elements)))
        left -= len(elements[-1])
    return set_of(*elements)


def equal(n, ngroups):
    """Return ints whose hashes fall into that many groups."""
    return n % ngroups + n // ngroups * MODULUS


def chains(nbytes):
    tuples = b"".join(b"\x85r%s" % key.to_bytes(4, "little") for key in range(90))
    gets = b"".join(b"j%s" % key.to_bytes(4, "little") for key in reversed(range(90)))
    return filled(nbytes, b"(", b"N" + tuples + gets, b"t.")


FAMILIES = {
    "scalars": lambda n: filled(n, b"(", b"N", b"t."),
    "marks": lambda n: filled(n, b"", b"(", b""),
    "tuples": lambda n: filled(n, b"N", b"\x85", b"."),
    "tuples of two": lambda n: filled(n, b"N", b"N\x86", b"."),
    "puts": lambda n: filled(n, b"(", b"Nr\1\0\0\0", b"t."),
    "frozensets": lambda n: filled(n, b"(", b"(\x91", b"t."),
    "small frozensets": lambda n: filled(n, b"(", b"(K\x01\x91", b"t."),
    "empty batches": lambda n: filled(n, b"\x8f", b"(\x90", b"."),
    "int lines": lambda n: filled(n, b"(", b"I1\n", b"t."),
    "float lines": lambda n: filled(n, b"(", b"F1\n", b"t."),
    "escapes": lambda n: filled(n, b"S'", b"\\x41", b"'\n."),
    "digits": lambda n: filled(n, b"cdecimal\nDecimal\n(S'", b"9", b"'\ntR."),
    "blank uuids": lambda n: filled(n, b"(cuuid\nUUID\nq\0", b"h\0)\x81", b"t."),
    "a long tuple": lambda n: b"((" + b"N" * (n // 2) + b"t\x94" + b"h\0" * (n // 4) + b"t.",
    "chains": chains,
    "lists": lambda n: filled(n, b"", pickles.FROZENSET + b"]", b"."),
    "one memo key": lambda n: filled(n, b"N", b"q\0", b"."),
    "memo keys": lambda n: (
        b"N" + b"".join(b"r%s" % (key * 2**14 % 2**32).to_bytes(4, "little") for key in range(n // 5)) + b"."
    ),
    "memo keys of one hash": lambda n: b"N" + b"".join(b"p%d\n" % (7 + key * MODULUS) for key in range(n // 25)) + b".",
    "a shared int": lambda n: b"\x8f(" + number(1 << 4 * n) + b"q\0" + b"h\0" * (n // 4) + b"\x90.",
    "a shared text": lambda n: (
        b"(cdecimal\nDecimal\nq\0" + text("1" * (n // 2)) + b"q\1" + b"\x85R" + b"h\0h\1\x85R" * (n // 12) + b"t."
    ),
    "a shared list": lambda n: (
        b"(" + pickles.FROZENSET + b"q\0](" + b"K\1" * (n // 4) + b"e\x85q\1R" + b"h\0h\1R" * (n // 10) + b"t."
    ),
    "a huge int": lambda n: b"(" + number(1 << 8 * n - 100) + b"\x91",
    "a huge timedelta": lambda n: b"cdatetime\ntimedelta\n" + number(1 << 8 * n - 400) + b"K\1K\1\x87R.",
    "a huge Decimal": lambda n: b"(" + decimal("9" * (n - 50)) + b"\x91.",
    "huge exponents": lambda n: set_filled(n, lambda k: decimal(f"1E+{10**18 - 2 - k}")),
    "unicode escapes": lambda n: filled(n, b"V", b"\\u20ac", b"\n."),
    "decimals": lambda n: set_filled(n, decimal),
    "uuids": lambda n: set_filled(n, uuid),
    "pairs": lambda n: set_filled(n, lambda k: number(k) + b"N\x86"),
    "equal ints": lambda n: set_filled(n, lambda k: number(equal(k, 200))),
    "equal tuples": lambda n: set_filled(n, lambda k: number(equal(k, 200)) + b"\x85"),
    "equal uuids": lambda n: set_filled(n, lambda k: uuid(equal(k, 100))),
    "equal frozensets": lambda n: set_filled(
        n, lambda k: frozenset_of(*(number(equal(k * 9 + j, 9)) for j in range(9)))
    ),
    "a Decimal and an int": lambda n: set_of(decimal(5), number(5 + (MODULUS << 7 * n))),
}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_mebibyte_ends(family):
    """Keys of one hash value among them, which are charged before they are compared."""
    # A second is what the worst takes; in the square of the size it would be hours.
    data = FAMILIES[family](MEBIBYTE)
    assert len(data) <= 1.01 * MEBIBYTE
    with within(), contextlib.suppress(ValueError):
        safe_loads(data)


@pytest.mark.parametrize("family", FAMILIES)
def test_memory_follows_the_data(family):
    data = FAMILIES[family](MEBIBYTE // 16)
    assert peak_of(lambda: outcome_of(data)) < 80 * len(data) + MEBIBYTE


def test_frozensets_within_one_another_take_what_the_interpreter_takes_for_them():
    # 232 bytes for two, the most that any value in a pickle takes
    data = b"\x80\x04" + b"(" * 98 + b"(K\1\x91" + b"\x91" * 98 + b"."
    encoded = (b"\x64" + len(data).to_bytes(4, "big") + data) * 1000
    assert peak_of(lambda: Decoder().decode_all(encoded)) < 116 * len(encoded) + MEBIBYTE


ALLOWED = pickles.PICKLED | pickles.ELEMENTS


def outcome_of(data):
    """Load a pickle that may be broken; anything but a plain value or a ValueError fails the test."""
    try:
        value = safe_loads(data)
    except ValueError:
        return None
    level = [value]
    while level:
        assert {type(item) for item in level} <= ALLOWED
        level = [part for item in level if type(item) in (tuple, set, frozenset) for part in item]
    repr(value)
    return value


SEEDS = [
    *PYTHON2,
    *(pickle.dumps(value, protocol) for value in VALUES + OTHERS for protocol in PROTOCOLS if value != -(2**4000)),
]


def test_every_truncation_is_refused():
    for seed in SEEDS:
        for end in range(len(seed)):
            refused(seed[:end])


def test_every_other_byte_at_every_offset_is_harmless():
    for seed in PYTHON2:
        for offset in range(len(seed)):
            for byte in range(256):
                outcome_of(seed[:offset] + bytes([byte]) + seed[offset + 1 :])


def test_every_bit_flip_is_harmless():
    for seed in SEEDS:
        for offset in range(len(seed)):
            for bit in range(8):
                outcome_of(seed[:offset] + bytes([seed[offset] ^ 1 << bit]) + seed[offset + 1 :])


@given(st.binary(max_size=60))
def test_random_bytes_are_harmless(data):
    outcome_of(data)
    outcome_of(data + b".")


OPCODES = [opcode.code.encode("latin-1") for opcode in pickletools.opcodes]


@given(
    st.lists(
        st.sampled_from([*OPCODES, b"\0\0\0\0", b"\1", b"uuid\nUUID\n", b"__builtin__\nset\n", b"'a'\n", b"1\n"]),
        max_size=40,
    )
)
def test_random_opcodes_are_harmless(parts):
    outcome_of(b"".join(parts) + b".")
