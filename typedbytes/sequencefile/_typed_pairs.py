"""The pairs of a SequenceFile as typed bytes, in chunks, for columns.

Here: the part of PairReader's interface that columns uses. Not here: decoding. Invariant: pairs are passed on whole,
and those before damage before its error; every pair has the offset of its record, or of its block, in the file.
"""

from __future__ import annotations

from typedbytes._core import PairReader
from typedbytes.errors import DecodeError, relocated

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["TypedPairs"]

_NBYTES = 1 << 20


def _column_types(programs):
    """Return the types of the two columns where a class is described, as text; None: neither is."""
    if programs == (None, None):
        return None
    from typedbytes.sequencefile._class_columns import schema_of

    return ["unknown" if each is None else schema_of(each) for each in programs]


class TypedPairs:
    """Return the pairs of a Reader as typed bytes; `owns`: close the Reader too.

    The options are those for decoding the pairs.
    """

    _kind: Any = PairReader

    def __init__(self, reader, owns, **options):
        self._reader = reader
        self._owns = owns
        self._options = options
        self._rest = memoryview(b"")  # whole pairs not yet used
        self._offsets: Any = ()  # of the records read together with `_rest`
        self._index = 0  # of the next record in `_offsets`
        self.closed = False
        self.column_types = _column_types(reader.__programs__)
        self.record = reader.record

    @property
    def offset(self):
        """The offset in the file of the next pair's record, or of its block."""
        return self._offsets[self._index] if self._rest else self._reader.offset

    def __use_encoded__(self, use, nbytes):
        """Call use(view) with whole pairs; it returns the bytes and records it used. False, without a call, at the end.

        `nbytes` needs no check: pairs are always whole.
        """
        if self.closed:
            raise ValueError("I/O operation on a closed reader")
        if not self._rest:
            data, offsets = self._reader.__read_encoded__(_NBYTES)
            self._rest, self._offsets, self._index = memoryview(data), memoryview(offsets).cast("q"), 0
        if not self._rest:
            return False
        with self._rest[:] as view:
            nbytes, nrecords = use(view)
        self._rest = self._rest[nbytes:]
        self._index += nrecords
        self.record += nrecords
        return True

    def read(self):
        """Decode the next pair to raise its error, with the offset in the file."""
        try:
            return self._kind(self._rest, **self._options).read()
        except DecodeError as error:
            raise relocated(
                error,
                f"{error.message}, byte {error.offset} of the pair as typed bytes",
                self.offset,
                error.code,
                error.path,
                self.record,
            ) from None

    def close(self):
        """Release the Reader."""
        self.closed = True
        if self._owns:
            self._reader.close()
