"""Lines of text as pairs, typed bytes or objects, wherever a file is cut into splits.

That Hadoop reads the same files alike is tested in local/test_beside_hadoop.py.
"""

import io
import pickle
import random
import re

import numpy
import pytest

import typedbytes as tb
from support.strategies import PIECES
from typedbytes._core import PairIterator, PairSource
from typedbytes._sorting._native import LineReader

pytestmark = [pytest.mark.free_threaded, pytest.mark.lowest]

# of these the rules of Java and the decoder of Python make as many replacements
PIECES += [
    b"\xc3", b"\xe0\x9f\x80", b"\xe2\x82", b"\xf0\x8f\x80\x80", b"\xf1\x80", b"\xf4\x8f\xbf", b"\xf4\x90\x80\x80",
]  # fmt: skip


class Dribble(io.RawIOBase):
    """Give a few bytes at a time."""

    def __init__(self, data, rng):
        self._rest, self._chance = data, rng

    def readinto(self, target):
        nbytes = min(len(target), len(self._rest), self._chance.randrange(1, 9))
        target[:nbytes], self._rest = self._rest[:nbytes], self._rest[nbytes:]
        return nbytes


def read(source, start=0, length=None, nbytes=1 << 17):
    """Return the pairs of a split, made of the typed bytes that are read; nbytes=None: of the objects."""
    reader, pairs = LineReader(source, start=start, length=length), []
    if nbytes is None:
        pairs += PairIterator(reader)
    else:
        while data := reader.read_typed(nbytes):
            pairs += tb.PairReader(data)
    assert reader.record == len(pairs)
    return pairs


def expected(data):
    """Return the pairs of a whole file, from the description of TextInputFormat."""
    pairs = []
    for found in re.finditer(rb"([^\r\n]*)(\r\n|\n|\r|$)", data):
        line, size = found[1], len(found[0])
        if found.start() == 0 and line.startswith(b"\xef\xbb\xbf"):
            line, size = line[3:], size - 3
        if size == 0:
            break
        pairs.append((found.start(), line.decode("utf-8", "replace")))
    return pairs


@pytest.mark.parametrize("seed", range(60))
def test_every_line_belongs_to_one_split(seed):
    rng = random.Random(seed)
    data = rng.choice([b"", b"", b"\xef\xbb\xbf"]) + b"".join(rng.choices(PIECES, k=rng.randrange(40)))
    wanted = expected(data)
    assert read(io.BytesIO(data)) == read(io.BytesIO(data), nbytes=None) == wanted
    cuts = [0, *sorted(rng.randrange(len(data) + 1) for _ in range(4)), len(data)]
    splits = [(start, end - start) for start, end in zip(cuts, cuts[1:]) if end > start]
    for source in (io.BytesIO, lambda data: Dribble(data, rng)):
        found = [
            pair
            for start, length in splits
            for pair in read(source(data[start:]), start, length, rng.choice([1, 50, 1 << 17, None]))
        ]
        assert found == wanted


def test_offsets_are_longs():
    assert LineReader(io.BytesIO(b"a\n\n"), start=0).read_typed() == bytes.fromhex(
        "04 0000000000000000 07 00000001 61 04 0000000000000002 07 00000000"
    )
    assert read(io.BytesIO(b"\nfar\n"), 2**40, 5) == [(2**40 + 1, "far")]


def test_nothing_wanted_is_not_the_end():
    reader = LineReader(io.BytesIO(b"a\nb\n"))
    assert [tb.Decoder().decode_all(reader.read_typed(nbytes)) for nbytes in (0, -1, 0)] == [[0, "a"], [2, "b"], []]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        # the replacements that reading with Java gave; test_local_hadoop.py asks it again
        (b"\xc3\x28\x3f", "\ufffd(?"),
        (b"\xc0\x80", "\ufffd\ufffd"),
        (b"\xed\xa0\x80", "\ufffd"),
        (b"\xed\xa0\x81\xed\xb0\x80", "\ufffd\ufffd"),
        (b"\xf4\x90\x80\x80", "\ufffd" * 4),
        (b"\xe2\x82", "\ufffd"),
        (b"\xe2\x82a", "\ufffda"),
        (b"\xf0\x9f\x98", "\ufffd"),
        (b"\xf8\x88\x80\x80\x80", "\ufffd" * 5),
    ],
)
def test_what_is_not_utf8_is_replaced_as_java_does(data, text):
    for nbytes in (1 << 17, None):
        assert read(io.BytesIO(data), nbytes=nbytes) == [(0, text)]
        assert read(io.BytesIO(b"1\n" + data + b"\nn"), nbytes=nbytes) == [(0, "1"), (2, text), (3 + len(data), "n")]


def test_a_long_line_is_looked_through_once():
    data = b"y" * 3_000_000 + b"\r\n" + b"z" * 10
    for nbytes in (1 << 17, None):
        assert [(key, len(line)) for key, line in read(io.BytesIO(data), nbytes=nbytes)] == [
            (0, 3_000_000),
            (3_000_002, 10),
        ]


def test_what_is_wrong_is_refused():
    for wrong in ({"start": -1}, {"length": -1}):
        with pytest.raises(ValueError, match="must not be negative"):
            LineReader(io.BytesIO(), **wrong)
    with pytest.raises(TypeError, match="binary file"):
        LineReader(io.StringIO())
    with pytest.raises(RuntimeError, match="never initialised"):
        LineReader.__new__(LineReader).read_typed()
    with pytest.raises(RuntimeError, match="never initialised"):
        next(PairIterator(LineReader.__new__(LineReader)))
    with pytest.raises(TypeError, match="PairSource"):
        PairIterator(io.BytesIO())
    with pytest.raises(NotImplementedError):  # the base class, of which the readers are made
        next(PairIterator(PairSource()))
    reader = LineReader(io.BytesIO())
    with pytest.raises(RuntimeError, match="again"):
        reader.__init__(io.BytesIO())
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(reader)


def test_a_source_that_fails_says_so():
    class Broken(io.RawIOBase):
        def readinto(self, target):
            raise OSError(5, "broken")

    with pytest.raises(OSError, match="broken"):
        read(Broken())
    lines = PairIterator(LineReader(Broken()))
    for _ in range(2):
        with pytest.raises(OSError, match="broken"):
            next(lines)


def test_a_length_of_numpy_is_a_number():
    data = b"%07d\n" * 4 % (0, 1, 2, 3)
    whole = read(io.BytesIO(data[16:]), start=16, length=16)
    assert read(io.BytesIO(data[16:]), start=16, length=numpy.int8(16)) == whole
    big = b"".join(b"%07d\n" % number for number in range(10_000))
    assert len(read(io.BytesIO(big[20_000:]), start=20_000, length=numpy.int16(20_000))) == 2500


def test_a_source_cannot_read_from_the_reader_that_is_being_made():
    class Source(io.RawIOBase):
        def readinto(self, target):
            with pytest.raises(RuntimeError, match="in use"):
                reader.read_typed()
            with pytest.raises(RuntimeError, match="in use"):
                next(PairIterator(reader))
            return 0

    reader = LineReader.__new__(LineReader)
    reader.__init__(Source(), start=5)
    assert reader.read_typed() == b""


def test_no_memory_is_taken_for_what_is_only_asked_for():
    reader = LineReader(io.BytesIO(b"a\nb\n"))
    assert list(tb.PairReader(reader.read_typed(2**63 - 1))) == [(0, "a"), (2, "b")]
