"""Records as typed bytes: the codec's own pairs, behind the face the other formats have."""

from typedbytes import PairReader, PairWriter, dumps
from typedbytes.streaming._records import BUFFER_NBYTES


class TypedBytesInput:
    """Read pairs of typed bytes; options are those of PairReader."""

    def __init__(self, source, options):
        self._reader = PairReader(source, **{"buffer_size": BUFFER_NBYTES, **options})

    @property
    def offset(self):
        """The number of bytes taken by the pairs read so far."""
        return self._reader.offset

    @property
    def record(self):
        """The number of pairs read so far."""
        return self._reader.record

    def pairs(self):
        """Return an iterator of (key, value)."""
        return iter(self._reader)

    def groups(self):
        """Return an iterator of (key, values) over adjacent pairs whose encoded keys are equal."""
        return self._reader.groups()

    def failure(self):
        """Return the error the input has failed with, or None."""
        try:
            self._reader.skip(0)  # takes nothing, but a failed reader says so again
        except Exception as error:
            return error
        return None

    def key_bytes(self, key):
        """Return a key encoded again, which shows widths as we write them."""
        return dumps(key)


class TypedBytesOutput(PairWriter):
    """Write pairs of typed bytes; options are those of PairWriter."""

    def __init__(self, sink, options):
        super().__init__(sink, **{"buffer_size": BUFFER_NBYTES, **options})
