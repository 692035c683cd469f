"""Sort keys that nobody made as one: decoding gives a value that has a key, or says that this is none.

Belongs here: the bytes that LONGs carry, nearly right, and LONGs that carry none. It knows nothing of orders, which are tested by
Python's own. Always true: what may come out is a DecodeError whose offset lies in what is carried.
"""

from typedbytes import sortkey
from typedbytes.errors import DecodeError

from fuzz.choices import Choices
from vectors import spell

CARRIED = 7  # bytes in a LONG
HEAD = 2  # bytes of an input that choose; the rest is carried
#: What is no LONG of a key, wherever it stands.
STRANGE = [0, -1, 1, 2**56 - 1, 2**57, 2**63, 2**64 + 2**56, -(2**90), True, None, 1.5, "text", b"bytes", [], 2.0**56]
BEGINNINGS = [0, 1, 2, 3, 4, 5, 6, 7, 0x20, 0x80, 0xC0, 0xF8, 0xF9, 0xFA, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF]
NUMBERS = [0, -1, 255, 2**53 + 1, 2**63 - 1, 2**64 - 1, -(2**63), 0.0, -0.0, 1.5, -1e300, float("nan"), float("inf"), True, False]
TEXTS = ["", "a", "\0", "a\0b", "\xff", "\ud800", "\U0001f600", b"", b"\0", b"\0\xff", b"x" * 20]


def shape(maker):
    """Return bytes that choose, then what a key carries with some places spoiled, or what parts begin with."""
    chance = maker.chance
    head = bytes((chance.choice((0, 0, 0, chance.randrange(256))), chance.randrange(256)))
    if chance.random() < 0.2:
        return head + bytes(chance.choices(BEGINNINGS, k=chance.randrange(1, 40)))
    key = sortkey.encode(_value(chance, 3), none=chance.choice(("first", "last")))
    return head + maker.spoiled(b"".join(number.to_bytes(8, "big")[1:] for number in key))


def _value(chance, depth):
    kind = chance.randrange(8)
    if kind == 0 and depth:
        return sortkey.Descending(_part(chance, depth - 1))
    return _part(chance, depth)


def _part(chance, depth):
    kind = chance.randrange(5)
    if kind < 2 and depth:
        return tuple(_value(chance, depth - 1) for _ in range(chance.randrange(4)))
    return None if kind == 2 else chance.choice(NUMBERS if kind == 3 else TEXTS)


def check_key(data):
    """Decode LONGs that carry the bytes, one of them of another kind where the first bytes choose so."""
    choices, carried = Choices(data[:HEAD]), data[HEAD:]
    key = [int.from_bytes(b"\1" + carried[start : start + CARRIED].ljust(CARRIED, b"\0"), "big") for start in range(0, len(carried), CARRIED)]
    strange = choices.byte()
    if strange:
        key.insert(choices.below(len(key) + 1), STRANGE[strange % len(STRANGE)])
    try:
        value = sortkey.decode(key)
    except DecodeError as error:
        assert error.offset is None or 0 <= error.offset <= CARRIED * len(key), error
        return
    assert not strange, f"{key} was taken for a key"
    again = sortkey.encode(value, none="last")
    assert spell(sortkey.decode(again)) == spell(value), value
