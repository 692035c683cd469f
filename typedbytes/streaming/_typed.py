"""Records as typed bytes: the codec's own pairs, behind the face the other formats have."""

from typedbytes import Decoder, Encoder, PairReader, PairWriter, dumps
from typedbytes.streaming._records import BUFFER_NBYTES, checked_pair

MOST_DEPTH = 10_000  # that a reader can be told to take


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


class UndecodedInput(TypedBytesInput):
    """Read pairs of typed bytes as they are and decode each by itself; options are those of PairReader."""

    def __init__(self, source, options):
        structural = {name: options[name] for name in ("dialect", "max_bytes", "buffer_size") if name in options}
        super().__init__(source, {**structural, "raw": True, "max_depth": MOST_DEPTH})
        self.raw_pairs = self.pairs
        self.decode = Decoder(**{name: value for name, value in options.items() if name != "buffer_size"}).decode

    def packed(self, key, value):
        """Return the bytes of a raw pair."""
        return key + value

    def key_bytes(self, key):
        """Return a raw key."""
        return key


class TypedBytesOutput(PairWriter):
    """Write pairs of typed bytes; options are those of PairWriter."""

    _encoder = None

    def __init__(self, sink, options):
        super().__init__(sink, **{"buffer_size": BUFFER_NBYTES, **options})
        self._options = {name: value for name, value in options.items() if name != "buffer_size"}

    def encoded(self, pair):
        """Return the two encoded values of a pair."""
        self._encoder = self._encoder or Encoder(**self._options)
        key, value = checked_pair(pair)
        return self._encoder.encode(key), self._encoder.encode(value)

    def write_encoded(self, records):
        """Write pairs that were encoded before."""
        for key, value in records:
            self.write_raw(key, value)
