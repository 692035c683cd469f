"""The same bytes in pieces: what a stream gives must not hang on how it comes in.

Here: sources that give what they like, feeding, pairs, groups, raw copies. Not here: misuse. Invariant: the answer that
the pieces are held against is that of one whole buffer.
"""

import io
import itertools

import typedbytes
from fuzz import options as sets
from fuzz.choices import Choices
from fuzz.guard import Guard
from support.vectors import exact_repr, failure
from typedbytes.errors import DecodeError

GUARD = Guard(1 << 20)
HEAD = 8  # bytes of an input that choose; the rest is the stream


class Pieces:
    """A source that gives between 1 byte and what was asked for, as the choices say."""

    def __init__(self, data, choices):
        self.data, self.offset, self.choices = bytes(data), 0, choices
        self.asked = 0

    def next(self, most):
        """Return the next piece."""
        assert most > 0, "asked for nothing, or for everything"
        self.asked = max(self.asked, most)
        size = (1, 1, 2, 3, 5, 64, 1 << 16, most)[self.choices.below(8)] if self.choices else most
        piece = self.data[self.offset : self.offset + min(size, most)]
        self.offset += len(piece)
        return piece


class ReadPieces(Pieces):
    """Give pieces by read()."""

    def read(self, nbytes):
        """Return at most `nbytes` bytes."""
        return self.next(nbytes)


class ReadintoPieces(Pieces):
    """Give pieces by readinto()."""

    def readinto(self, target):
        """Fill the front of a buffer."""
        piece = self.next(len(target))
        target[: len(piece)] = piece
        return len(piece)


class SharedPieces(Pieces):
    """Give pieces by read() as memoryviews of the whole."""

    def read(self, nbytes):
        """Return at most `nbytes` bytes."""
        return memoryview(bytearray(self.next(nbytes)))


SOURCES = [
    lambda data, choices: ReadPieces(data, choices),
    lambda data, choices: ReadintoPieces(data, choices),
    lambda data, choices: SharedPieces(data, choices),
    lambda data, choices: io.BytesIO(data),
    lambda data, choices: io.BufferedReader(io.BytesIO(data), 16),
    lambda data, choices: GUARD.put_first(data),
    lambda data, choices: GUARD.put(data),
]


def check_pieces(data):
    """Read a stream in pieces, in two ways that the first bytes choose."""
    choices, stream = Choices(data[:HEAD]), data[HEAD:]
    options = choices.pick(sets.DECODE)
    check = choices.pick(CHECKS)
    check(choices, GUARD.put(stream), options)


def taken(values, iterator):
    """Put what an iterator gives into a list, and return what ends it."""
    try:
        values.extend(iterator)
    except sets.DOCUMENTED as error:
        return error
    return None


def said(error):
    """Return all that an error says, the record too."""
    return (*failure(error), error.record) if isinstance(error, DecodeError) else repr(error)


def same(found, trouble, expected, expected_trouble):
    """Values and the end are the same, and so is all that an error says."""
    assert exact_repr(found) == exact_repr(expected)
    assert said(trouble) == said(expected_trouble), (said(trouble), said(expected_trouble))


def whole(wire, options, kind=typedbytes.Reader, **manner):
    """Return what a reader of the whole buffer gives, and its error."""
    values = []
    return values, taken(values, kind(wire, **options, **manner))


def open_reader(choices, wire, options, kind=typedbytes.Reader, **manner):
    """Return a reader of a chosen source with a buffer of a chosen size."""
    source = choices.pick(SOURCES)(wire, choices)
    size = choices.pick((1, 64, 65, 100, 4096, 1 << 17))
    return kind(source, buffer_size=size, read_ahead=choices.below(2) == 1, **options, **manner)


def check_values(choices, wire, options):
    """A reader of pieces gives the values, with the offset after each."""
    expected = whole(wire, options)
    reader, found = open_reader(choices, wire, options), []
    trouble = taken(found, reader)
    same(found, trouble, *expected)
    assert reader.record == len(found)
    if trouble is None:
        assert reader.offset == len(wire) and reader.detach() == b""


def check_raw(choices, wire, options):
    """A raw reader of pieces gives the bytes of each value, and its limits hold."""
    expected = whole(wire, options, raw=True)
    found = []
    same(found, taken(found, open_reader(choices, wire, options, raw=True)), *expected)


def check_fed(choices, wire, options):
    """A decoder that is fed gives the values, each as soon as it is whole."""
    expected = whole(wire, options)
    decoder, found, source = typedbytes.Decoder(**options), [], Pieces(wire, choices)
    trouble = None
    while trouble is None:
        piece = source.next(1 << 17)
        if not piece:
            break
        decoder.feed(piece)
        trouble = taken(found, decoder)
    if trouble is None:
        try:
            decoder.close()
        except sets.DOCUMENTED as error:
            trouble = error
    same(found, trouble, *expected)


def check_pairs(choices, wire, options):
    """A reader of pairs gives what a whole buffer of pairs gives."""
    manner = {"raw": choices.below(4) == 3}
    expected = whole(wire, options, typedbytes.PairReader, **manner)
    found = []
    same(found, taken(found, open_reader(choices, wire, options, typedbytes.PairReader, **manner)), *expected)
    if not manner["raw"]:
        pairs = []
        try:
            pairs = typedbytes.Decoder(**options).decode_pairs(wire)
        except sets.DOCUMENTED as error:
            assert said(error) == said(expected[1])
        else:
            assert expected[1] is None and exact_repr(pairs) == exact_repr(found)


def check_groups(choices, wire, options):
    """Groups hold the pairs, run by run of equal encoded keys, whether their values are taken or passed over."""
    pairs, trouble = whole(wire, {}, typedbytes.PairReader, raw=True)
    runs = [(key, [value for _, value in run]) for key, run in itertools.groupby(pairs, lambda pair: pair[0])]
    reader = open_reader(choices, wire, {}, typedbytes.PairReader, raw=True)
    met, values, end = [], None, None
    try:
        for key, values in reader.groups():
            met.append((key, []))
            for value in values:
                met[-1][1].append(value)
                if choices.below(4) == 3:
                    break
    except DecodeError as error:
        end = error
    assert [key for key, _ in met[: len(runs)]] == [key for key, _ in runs[: len(met)]]
    assert len(met) >= len(runs) and all(some == run[: len(some)] for (_, some), (_, run) in zip(met, runs))
    assert type(end) is type(trouble), (end, trouble)
    if end is not None:
        assert failure(end)[:3] == failure(trouble)[:3], (failure(end), failure(trouble))


def check_copy(choices, wire, options):
    """A writer copies whole records up to the fault."""
    manner = (
        (typedbytes.PairReader, typedbytes.PairWriter) if choices.below(2) else (typedbytes.Reader, typedbytes.Writer)
    )
    expected, trouble = whole(wire, options, manner[0], raw=True)
    sink, end = io.BytesIO(), None
    reader = open_reader(choices, wire, options, manner[0])
    with manner[1](sink, buffer_size=choices.pick((1, 64, 1 << 16))) as writer:
        try:
            writer.copy(reader)
        except DecodeError as error:
            end = error
        assert writer.record == len(expected)
    assert sink.getvalue() == b"".join(b"".join(record) if type(record) is tuple else record for record in expected)
    assert said(end) == said(trouble), (said(end), said(trouble))


def check_skipped(choices, wire, options):
    """Records that are skipped are only not seen."""
    kind = choices.pick((typedbytes.Reader, typedbytes.PairReader))
    expected, trouble = whole(wire, options, kind)
    reader, found, index, end = open_reader(choices, wire, options, kind), [], 0, None
    nothing = object()
    try:
        while True:
            nskipped = reader.skip(choices.below(3))
            found += expected[index : index + nskipped]
            value = reader.read(nothing)
            if value is nothing:
                break
            found.append(value)
            index = reader.record
    except sets.DOCUMENTED as error:
        end = error
    # The walk does not look inside values, so it may pass over what decoding refuses.
    if trouble is None:
        assert end is None and exact_repr(found) == exact_repr(expected)
    else:
        assert exact_repr(found[: len(expected)]) == exact_repr(expected[: len(found)])


CHECKS = [check_values, check_values, check_raw, check_fed, check_pairs, check_groups, check_copy, check_skipped]
