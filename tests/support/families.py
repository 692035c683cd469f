"""Families of input made to cost much for its size: each gives about as many bytes as are asked for.

Here: bytes, made from a size alone, the same each time. Not here: what they cost, and what may be made of them.
Invariant: the cost that a family is after grows with its size, and its name says what it is.
"""

import functools
import struct
import sys
from datetime import datetime, timedelta, timezone

import typedbytes as tb

MODULUS = sys.hash_info.modulus


def filled(nbytes, unit, start=b"\x09", end=b"\xff"):
    """Return as many whole units as fit between a start and an end."""
    return start + unit * ((nbytes - len(start) - len(end)) // len(unit)) + end


def encoded_map(keys):
    """Return a MAP of encoded keys to True."""
    return b"\x0a" + len(keys).to_bytes(4, "big") + b"".join(key + b"\2\1" for key in keys)


def records(nbytes, make):
    """Return records made of 0, 1, 2 ..., without a container about them."""
    found, left = [], nbytes
    while left > 0:
        found.append(make(len(found)))
        left -= len(found[-1])
    return b"".join(found)


def map_of(nbytes, make):
    """Return a MAP whose encoded keys are made of 0, 1, 2 ..."""
    keys, left = [], nbytes - 5
    while left > 0:
        keys.append(make(len(keys)))
        left -= len(keys[-1]) + 2
    return encoded_map(keys)


def maps_of(nbytes, nkeys, make):
    """Return a LIST of equal MAPs of `nkeys` keys each."""
    return filled(nbytes, encoded_map([make(n) for n in range(nkeys)]))


# -- keys of one hash -------------------------------------------------------------------------------------

# How a tuple of two mixes the hashes of its items, on 64 bits; the hash of an int is its remainder by MODULUS.
WORD = 2**64
PRIMES = 11400714785074694791, 14029467366897019727, 2870177450012600261


def mixed(state, lane):
    """Return the state of a tuple's hash after one more item."""
    state = (state + lane * PRIMES[1]) % WORD
    return (state << 31 | state >> 33) % WORD * PRIMES[0] % WORD


def pairs_of_one_hash(count):
    """Return tuples of two ints that share one hash value: the second item makes up for the first."""
    found, first, undo = [], 0, pow(PRIMES[1], -1, WORD)
    wanted = (mixed(PRIMES[2], 1) + 2 * PRIMES[1]) % WORD  # the state of (1, 2) before its last turn
    while len(found) < count:
        first += 1
        second = (wanted - mixed(PRIMES[2], first)) * undo % WORD
        second -= WORD * (second >> 63)
        if abs(second) < MODULUS and second != -1:
            found.append((first, second))
    return found


@functools.cache
def encoded_pairs_of_one_hash(count):
    """Return such tuples as bytes."""
    return [b"\x08\0\0\0\2" + struct.pack(">bibq", 3, first, 4, second) for first, second in pairs_of_one_hash(count)]


MAX_PAIRS = 110_000  # more take long to find
MAX_KEYS = 512  # with one hash value in a MAP, before that is a limit


def number(n):
    """Return an INT."""
    return struct.pack(">bi", 3, n)


def long(n):
    """Return a LONG."""
    return struct.pack(">bq", 4, n)


def string(text):
    """Return a STRING."""
    return tb.dumps(text)


def signs(k):
    """Return a VECTOR of BYTEs -1 and -2, which have one hash value."""
    return b"\x08\0\0\0\x10" + b"".join(b"\1\xff" if k >> bit & 1 else b"\1\xfe" for bit in range(16))


def pickled(data):
    """Return a PICKLE."""
    return b"\x64" + len(data).to_bytes(4, "big") + data


def keyed(nbytes):
    """Return MAPs within MAPs, each with a long key, and something wrong in the middle: all keys are in the path."""
    depth = 200
    head = b"\x0a\0\0\0\1" + string("k" * (nbytes // depth))
    return head * depth + b"\x0b"


ARRAY = (
    b"\x66"
    + (136).to_bytes(4, "big")
    + b"\x93NUMPY\1\0\x76\0"
    + b"{'descr': '|u1', 'fortran_order': False, 'shape': (8,), }".ljust(117)
    + b"\n12345678"
)

#: A frozenset of tuples that share parts by the memo, and as many elements of one hash as a small pickle can pay for.
SHARED = b"\x80\x04(K%cK%c\x86r\0\0\1\0" + b"j\0\0\1\0\x85r\0\0\1\0" * 8 + b"\x91."
ONE_HASH = b"\x80\x04(" + b"".join(tb.dumps(2**64 + k * MODULUS)[7:-1] + b"\x85" for k in range(200)) + b"\x91."

FAMILIES = {
    # much object for few bytes
    "empty lists": lambda n: filled(n, b"\x09\xff"),
    "empty vectors": lambda n: filled(n, b"\x08\0\0\0\0"),
    "empty maps": lambda n: filled(n, b"\x0a\0\0\0\0"),
    "empty strings": lambda n: filled(n, b"\7\0\0\0\0"),
    "empty application values": lambda n: filled(n, b"\x90\0\0\0\0"),
    "nameless writables": lambda n: filled(n, b"\x32\0\0\0\4\0\0\0\0"),
    "bytes of one": lambda n: filled(n, b"\1\x7f"),
    "ints": lambda n: filled(n, number(10**9)),
    "doubles": lambda n: filled(n, b"\6" + b"\x3f" * 8),
    "deep lists": lambda n: filled(n, b"\x09" * 255 + b"\xff" * 255),
    "deep vectors": lambda n: filled(n, b"\x08\0\0\0\1" * 254 + b"\x08\0\0\0\0"),
    "deep maps": lambda n: filled(n, b"\x0a\0\0\0\1\2\1" * 254 + b"\2\1"),
    "lists of one map": lambda n: filled(n, b"\x09\x0a\0\0\0\1\2\1\2\1\xff"),
    # keys
    "one key": lambda n: map_of(n, lambda k: b"\7\0\0\0\1a"),
    "keys of equal low bits": lambda n: map_of(n, lambda k: long(k << 40)),
    "keys that are not equal to themselves": lambda n: map_of(n, lambda k: b"\6\x7f\xf8\0\0\0\0\0\0"),
    "keys of one hash": lambda n: encoded_map(encoded_pairs_of_one_hash(min(n // 21, MAX_PAIRS))),
    "maps of keys of one hash": lambda n: maps_of(n, MAX_KEYS, encoded_pairs_of_one_hash(MAX_KEYS).__getitem__),
    "maps of wide keys of one hash": lambda n: maps_of(n, MAX_KEYS, lambda k: tb.dumps(2**64 + k * MODULUS)),
    "long keys of one hash": lambda n: map_of(n, signs),
    "maps of long keys of one hash": lambda n: maps_of(n, MAX_KEYS, signs),
    "keys of many levels": lambda n: map_of(n, lambda k: b"\x08\0\0\0\1" * 250 + number(k)),
    "few keys of many items": lambda n: map_of(n, lambda k: tb.dumps((k,) * (n // 100))),
    # text
    "text of wide characters": lambda n: string("\U0001f600" * (n // 4)),
    "text that widens late": lambda n: string("x" * (n - 100) + "\U0001f600"),
    "texts that widen late": lambda n: filled(n, string("x" * 1000 + "\U0001f600")),
    "text of bad bytes": lambda n: b"\7" + (n - 5).to_bytes(4, "big") + b"\xff" * (n - 5),
    "texts of bad bytes": lambda n: filled(n, b"\7\0\0\0\2a\xff"),
    # what is within a payload
    "pickled nothing": lambda n: filled(n, tb.dumps(None)),
    "pickled ints": lambda n: filled(n, tb.dumps(2**2000)),
    "one pickled int": lambda n: tb.dumps(2 ** (8 * n - 100)),
    "pickled sets": lambda n: filled(n, tb.dumps({1, 2, 3})),
    "arrays": lambda n: filled(n, ARRAY),
    # records, each of one small pickle
    "a stream of small sets": lambda n: records(n, lambda k: tb.dumps({k, str(k)})),
    "a stream of dates and zones": lambda n: records(
        n, lambda k: tb.dumps(datetime(2011, 1, 20, tzinfo=timezone(timedelta(minutes=k % 1000))))
    ),
    "a stream of pickles of shared tuples": lambda n: records(n, lambda k: pickled(SHARED % (k % 256, k // 256 % 256))),
    "a stream of pickles of one hash": lambda n: records(n, lambda k: pickled(ONE_HASH)),
    "a stream of pickles that nest": lambda n: records(
        n, lambda k: pickled(b"(K%c" % (k % 256) + b"N\x86" * 98 + b"\x91.")
    ),
    # what is reported of a fault
    "long keys in a path": keyed,
    "a fault at the end": lambda n: filled(n, number(1), end=b"\x0b"),
    "an end that is missing": lambda n: filled(n, b"\x09\xff", end=b""),
}
