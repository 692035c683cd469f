"""Making inputs: the vectors as seeds, a grammar of the wire, and ways to spoil both.

Here: bytes that are nearly right. Not here: the checks. Invariant: the same seed makes the same inputs; most are short,
because many small inputs find more than few large ones.
"""

import functools
import pathlib
import random
import struct

from support.vectors import ROOT, read_folder

CODES = [0, 1, 2, 3, 4, 5, 6, 7, 7, 7, 8, 8, 9, 9, 10, 10, 10, 11, 12, 50, 51, 99, 100, 101, 102, 144, 177, 200]
ODD_CODES = [13, 49, 201, 254, 255]
LENGTHS = [0, 1, 2, 3, 255, 256, 65535, 65536, 2**24, 2**31 - 1, -1, -2, -(2**31), 2**31 - 6]
NUMBERS = [
    0, 1, -1, 127, 128, -128, -129, 1023, 1024, 2**15, 2**30, 2**31 - 1, 2**31, -(2**31), 2**53, 2**60, 2**63 - 1,
    -(2**63),
]  # fmt: skip
TEXTS = [
    "", "a", "b", "key", "word", "x" * 24, "x" * 25, "\xe9", "\u20ac", "\U0001f600", "\xff" * 70, "a\u20ac" * 20, "\0",
]  # fmt: skip
BAD_TEXTS = [
    b"\xff", b"\xc3", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"a" * 40 + b"\x80",
    b"\xc3\xa9" * 40 + b"\xc3",
]  # fmt: skip
PICKLES = [
    b"\x80\x02N.", b"\x80\x02K\x05.", b"\x80\x02\x8a\x09" + bytes(8) + b"\1.", b"\x80\x02\x8a\0.", b"\x80\x02.", b"",
    b"cos\ngetpid\n(tR.",
]  # fmt: skip
MAX_SEED_BYTES = 3000
CORPUS = pathlib.Path(__file__).with_name("corpus.txt")


@functools.cache
def seeds():
    """Return the bytes of all vectors but the largest: valid, invalid, streams, other programs'."""
    found = set()
    for folder in ("valid", "invalid", "foreign/hadoop"):
        found.update(bytes.fromhex(vector["hex"]) for vector in read_folder(folder) if vector.get("hex"))
    for folder in ("stream", "foreign/hadoop", "foreign/python2"):
        found.update(path.read_bytes()[:MAX_SEED_BYTES] for path in sorted((ROOT / folder).glob("*.tb")))
    return sorted((seed for seed in found if len(seed) <= MAX_SEED_BYTES), key=lambda seed: (len(seed), seed))


def corpus(target):
    """Return the inputs that are kept for a target."""
    lines = (line.split() for line in CORPUS.read_text("ascii").splitlines() if line and not line.startswith("#"))
    return [bytes.fromhex(digits) for name, digits in lines if name == target]


class Maker:
    """A supply of inputs."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def wire(self):
        """Return the bytes of some values, most of them damaged at an offset or two."""
        rng = self.rng
        kind = rng.random()
        if kind < 0.35:
            data = self.spoiled(rng.choice(seeds()))
        elif kind < 0.75:
            data = b"".join(self.value(rng.randrange(4)) for _ in range(rng.choice((1, 1, 2, 3))))
            if kind > 0.5:
                data = self.spoiled(data)
        elif kind < 0.9:
            front, back = rng.choice(seeds()), rng.choice(seeds())
            data = front[: rng.randint(0, len(front))] + back[rng.randint(0, len(back)) :]
        elif kind < 0.998:
            data = bytes(rng.choices(CODES + ODD_CODES + LENGTHS[:3], k=rng.randrange(40)))
        else:
            data = self.spoiled(self.large())
        return data[:MAX_SEED_BYTES] if len(data) < 60_000 else data

    def program(self):
        """Return bytes that decide something: no structure is known."""
        rng = self.rng
        nbytes = rng.randrange(4, 120)
        return bytes(rng.choices(range(24), k=nbytes)) if rng.random() < 0.5 else rng.randbytes(nbytes)

    def spoiled(self, data):
        """Return bytes with up to three changes."""
        rng = self.rng
        data = bytearray(data)
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            offset = rng.randint(0, len(data))
            _SPOILS[rng.randrange(len(_SPOILS))](rng, data, offset)
        return bytes(data)

    def value(self, depth):
        """Return one value by the grammar; containers as long as there is depth."""
        rng = self.rng
        code = rng.choice(CODES)
        if code == 8 and depth:
            return self.counted(code, [self.value(depth - 1) for _ in range(self.count())])
        if code == 9 and depth:
            return b"\x09" + b"".join(self.value(depth - 1) for _ in range(self.count())) + b"\xff"
        if code == 10 and depth:
            return self.counted(
                code, [self.value(rng.randrange(2)) + self.value(depth - 1) for _ in range(self.count())]
            )
        return self.scalar(code)

    def count(self):
        """Return a number of items; rarely one at which a table of them grows."""
        return self.rng.choice((0, 1, 2, 3, 4, 5)) if self.rng.random() < 0.98 else self.rng.choice((40, 70, 130))

    def counted(self, code, items):
        """Return a container that says how many items it has, mostly the truth."""
        count = len(items) if self.rng.random() < 0.97 else self.rng.choice(LENGTHS)
        return struct.pack(">Bi", code, count) + b"".join(items)

    def scalar(self, code):
        """Return a value without others in it."""
        rng = self.rng
        number = rng.choice(NUMBERS)
        if code in (1, 2):
            return bytes((code, number & 0xFF))
        if code in (3, 5):
            return struct.pack(">BI", code, number & 0xFFFFFFFF)
        if code in (4, 6):
            return struct.pack(">BQ", code, number & 0xFFFFFFFFFFFFFFFF)
        if code == 11:
            return struct.pack(">BH", code, number & 0xFFFF)
        if code in (8, 9, 10):
            return bytes((code, 0, 0, 0, 0)) if code != 9 else b"\x09\xff"
        return self.sized(code, self.payload(code))

    def payload(self, code):
        """Return what follows a length."""
        rng = self.rng
        if code == 7:
            return rng.choice(TEXTS).encode("utf-8") if rng.random() < 0.85 else rng.choice(BAD_TEXTS)
        if code == 50:
            name = rng.choice(TEXTS).encode("utf-8")
            return struct.pack(">i", len(name) if rng.random() < 0.8 else rng.choice(LENGTHS)) + name + b"own"
        if code == 100:
            return rng.choice(PICKLES)
        return rng.randbytes(rng.choice((0, 1, 2, 3, 8, 23, 24, 25, 64)))

    def sized(self, code, payload):
        """Return a payload after its length, which is mostly right."""
        nbytes = len(payload) if self.rng.random() < 0.97 else self.rng.choice(LENGTHS)
        return struct.pack(">Bi", code, nbytes) + payload

    def large(self):
        """Return a value beyond the sizes at which buffers change their ways."""
        rng = self.rng
        nbytes = rng.choice((65_536 - 5, 65_536, 70_000, 131_072 - 5, 131_072, 140_000, 300_000))
        kind = rng.randrange(4)
        if kind == 0:
            return struct.pack(">Bi", 0, nbytes) + bytes(nbytes)
        if kind == 1:
            return struct.pack(">Bi", 7, nbytes) + b"\xc3\xa9" * (nbytes // 2) + b"a" * (nbytes % 2)
        if kind == 2:
            return b"\x09" + b"\x03\0\0\0\1" * (nbytes // 5) + b"\xff"
        return struct.pack(">Bi", 8, nbytes // 6) + b"\x07\0\0\0\1a" * (nbytes // 6)


def _flip(rng, data, offset):
    if offset < len(data):
        data[offset] ^= 1 << rng.randrange(8)


def _change(rng, data, offset):
    data[offset : offset + 1] = bytes((rng.choice((0, 1, 7, 8, 9, 10, 127, 128, 255, rng.randrange(256))),))


def _lengthen(rng, data, offset):
    data[offset : offset + 4] = struct.pack(">i", rng.choice(LENGTHS))


def _insert(rng, data, offset):
    data[offset:offset] = bytes((rng.choice(CODES + ODD_CODES),)) + rng.randbytes(rng.randrange(5))


def _delete(rng, data, offset):
    del data[offset : offset + rng.randint(1, 4)]


def _cut(rng, data, offset):
    del data[offset:]


def _double(rng, data, offset):
    data[offset:offset] = data[offset : offset + rng.randint(1, 9)]


def _splice(rng, data, offset):
    data[offset:offset] = rng.choice(seeds())[:200]


_SPOILS = (_flip, _flip, _change, _change, _lengthen, _insert, _delete, _cut, _double, _splice)
