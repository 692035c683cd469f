"""The 17 files of the benchmark that the older Python libraries were measured on, made again.

Here: what is in each file. Not here: clocks. Invariant: a file holds an even number of values, keys and values in turn,
and is the same in every run; the four that the old libraries themselves wrote and that are kept in
test_vectors/foreign/python2 are taken from there. Beside each file are the same objects as one marshal.
"""

import hashlib
import itertools
import marshal
import random
import struct
from pathlib import Path

import typedbytes as tb
from data import PYTHON2_FILES, RUNES, SEED, signed

FOLDER = Path(__file__).resolve().parent.parent / "build" / "bench"
#: The keys and values of a full file; those of long strings have a tenth,
#: and gb_100k has as many times the 22 of gb_single as pairs.
NVALUES = 200_000
NSTRINGS = 20_000
LETTERS = "".join(map(chr, itertools.chain(range(0x41, 0x5B), range(0x61, 0x7B))))
#: Characters of one, two and three bytes, and how many of a thousand they are:
#: 2.10 bytes a character, as in the original.
ALPHABETS = {LETTERS: 442, "\xf0\u021d": 15, RUNES: 543}

NAMES = (
    "double_100k", "float_100k", "gb_100k", "bool_100k", "dict_50", "tuple_50", "byte_100k", "list_50", "int_100k",
    "long_100k", "bytes_100_10k", "bytes_1k_10k", "bytes_10k_10k", "string_100_10k", "string_1k_10k", "string_10k_10k",
    "gb_single",
)  # fmt: skip
LENGTHS = {"100": 100, "1k": 1_000, "10k": 10_000}


def float_32(rng):
    """Make a float that 32 bits can hold."""
    return tb.Float(struct.unpack(">f", struct.pack(">f", rng.random()))[0])


SCALARS = {
    "double": lambda rng: rng.random(),
    "float": float_32,
    "bool": lambda rng: rng.random() < 0.5,
    "byte": lambda rng: tb.Byte(rng.randrange(-128, 128)),
    "int": signed(64),
    "long": signed(128),
}


def values(name, scale):
    """Yield the values of a file that this project writes."""
    rng = random.Random(f"{SEED} {name}")
    kind, *sizes = name.split("_")
    if kind in SCALARS:
        return (SCALARS[kind](rng) for _ in range(even(NVALUES * scale)))
    length = LENGTHS[sizes[0]]
    if kind == "bytes":
        return (rng.randbytes(length) for _ in range(even(NSTRINGS * scale)))
    pool = "".join(map(rng.choice, rng.choices(list(ALPHABETS), ALPHABETS.values(), k=1_000_000)))
    starts = (rng.randrange(len(pool) - length) for _ in range(even(NSTRINGS * scale)))
    return (pool[start : start + length] for start in starts)


def even(count):
    """Round to an even number, 2 at least."""
    return max(2, round(count / 2) * 2)


def encoded(name, scale):
    """Yield the bytes of a file in pieces."""
    kept = PYTHON2_FILES / f"{name}.tb"
    if name == "gb_100k":
        yield from itertools.repeat((PYTHON2_FILES / "gb_single.tb").read_bytes(), even(NVALUES * scale / 2))
    elif kept.exists():
        yield kept.read_bytes()
    else:
        yield from map(tb.Encoder().encode, values(name, scale))


def decode(data):
    """Return the values of a file, with byte strings instead of text."""
    return tb.Decoder(unicode_errors="surrogateescape").decode_all(data)


def make(name, scale=1):
    """Return the paths of a file and of its twin in marshal; they are written unless they are there."""
    made_from = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]
    folder = FOLDER / f"{made_from}-{scale:g}"
    path, twin = folder / f"{name}.tb", folder / f"{name}.marshal"
    if not twin.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.writelines(encoded(name, scale))
        twin.write_bytes(marshal.dumps(decode(path.read_bytes())))
    return path, twin
