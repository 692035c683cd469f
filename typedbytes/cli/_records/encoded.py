"""Encoded records: pieces of typed bytes as one stream, and where the records in a chunk begin."""

import io

import typedbytes

CHUNK_NBYTES = 1 << 16  # of whole records that are worked on together


class Encoded(io.RawIOBase):
    """Read pieces of typed bytes as one stream; for a SequenceFile, `sequence_file` is its Reader."""

    def __init__(self, pieces, sequence_file=None):
        self.sequence_file = sequence_file
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readinto(self, target):
        """Fill the front of a buffer; return how many bytes that were."""
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        nbytes = min(len(target), len(self._rest))
        target[:nbytes] = self._rest[:nbytes]
        self._rest = self._rest[nbytes:]
        return nbytes


class Pairs(typedbytes.PairReader):
    """Read the pairs of a SequenceFile as typed bytes; `sequence_file` is its Reader, for what the header says."""

    __slots__ = ("sequence_file",)

    def __init__(self, source, **options):
        super().__init__(source, **options)
        self.sequence_file = source.sequence_file


class NoValues(typedbytes.Reader):
    """Read an input without bytes, which fits any kind of records."""

    __slots__ = ()


class NoPairs(typedbytes.PairReader):
    """Read an input without bytes where an option says that records are pairs."""

    __slots__ = ()


def is_empty(reader):
    """Return whether a reader is that of an input without bytes."""
    return type(reader) in (NoValues, NoPairs)


def is_pairs(reader):
    """Return whether the records of a reader are pairs."""
    return type(reader) not in (typedbytes.Reader, NoValues)


def may_have_keys(reader):
    """Return whether no record of a reader lacks a key."""
    return type(reader) is not typedbytes.Reader


def nparts(reader):
    """Return how many values a record of a reader has."""
    return 2 if is_pairs(reader) else 1


def chunks(reader):
    """Yield (offset, number of the first record, encoded bytes) for whole records that a reader has left."""
    while True:
        offset, number = reader.offset, reader.record
        records = reader.__read_records__(CHUNK_NBYTES)
        if not records:
            return
        yield offset, number, records


def unit(reader):
    """Return the name of the records of a reader in reports."""
    return "pairs" if is_pairs(reader) else "values"


def joined(record):
    """Return the bytes of a record as a reader with raw=True gives it."""
    return b"".join(record) if type(record) is tuple else record


def split(chunk, nparts, dialect):
    """Yield the records of a chunk of whole ones, each of `nparts` values."""
    starts = typedbytes.index(chunk, dialect=dialect)[::nparts]
    for start, stop in zip(starts, [*starts[1:], len(chunk)]):
        yield chunk[start:stop]
