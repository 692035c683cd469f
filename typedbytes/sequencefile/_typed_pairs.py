"""A SequenceFile as typed bytes for who takes them in parts, as columns do.

Here: the face that a PairReader has for columns. Not here: what is made of the bytes. Always true: pairs are handed over whole,
those before damage before its error; every pair is known by where its record, or its block, starts in the file.
"""

from typedbytes._core import PairReader
from typedbytes.errors import DecodeError

__all__ = ["TypedPairs"]

_NBYTES = 1 << 20


class TypedPairs:
    """Hand the pairs of a Reader over as typed bytes; the Reader is closed with it where `owns` says so.

    The options are those by which the pairs would be decoded.
    """

    def __init__(self, reader, owns, **options):
        self._reader = reader
        self._owns = owns
        self._options = options
        self._rest = memoryview(b"")    # of whole pairs
        self._offsets = ()    # of the records in `rest`, and of those before them
        self._index = 0    # place of the next record
        self._is_closed = False
        self.record = reader.record

    @property
    def offset(self):
        """Where the next pair's record, or its block, starts in the file."""
        return self._offsets[self._index] if self._rest else self._reader.offset

    def _hand(self, take, wanted):
        """Call take(view) with whole pairs; it returns the bytes and records it used. False, and nothing is called, at the end.

        What is wanted is there: a pair is never in parts.
        """
        if self._is_closed:
            raise ValueError("I/O operation on a closed reader")
        if not self._rest:
            data, places = self._reader._read_typed(_NBYTES)
            self._rest, self._offsets, self._index = memoryview(data), memoryview(places).cast("q"), 0
        if not self._rest:
            return False
        with self._rest[:] as view:
            nbytes, nrecords = take(view)
        self._rest = self._rest[nbytes:]
        self._index += nrecords
        self.record += nrecords
        return True

    def read(self):
        """Decode the next pair, for its error, which is placed in the file."""
        try:
            return PairReader(self._rest, **self._options).read()
        except DecodeError as error:
            raise type(error)(
                f"{error.message}, byte {error.offset} of the pair as typed bytes", self.offset, error.code, error.path, self.record
            ) from None

    def close(self):
        """Let go of the Reader."""
        self._is_closed = True
        if self._owns:
            self._reader.close()
