"""Records as typed bytes: the codec's own pairs, with the interface of the other formats."""

from typedbytes import Decoder, Encoder, PairReader, PairWriter, dumps
from typedbytes.streaming.formats.record_io import BUFFER_NBYTES, ReaderInput, checked_pair

MAX_DEPTH = 10_000  # the maximum that a reader accepts


class TypedBytesInput(ReaderInput):
    """Read pairs of typed bytes; options are those of PairReader."""

    def __init__(self, source, options):
        super().__init__(PairReader(source, **{"buffer_size": BUFFER_NBYTES, **options}))

    def item_bytes(self, item):
        """Return a key or value encoded again, which shows widths as we write them."""
        return dumps(item)


class UndecodedInput(TypedBytesInput):
    """Read pairs of typed bytes as they are and decode each by itself; options are those of PairReader."""

    def __init__(self, source, options):
        structural = {name: options[name] for name in ("dialect", "max_bytes", "buffer_size") if name in options}
        super().__init__(source, {**structural, "raw": True, "max_depth": MAX_DEPTH})
        self.decode = Decoder(**{name: value for name, value in options.items() if name != "buffer_size"}).decode

    def packed(self, key, value):
        """Return the bytes of a raw pair."""
        return key + value

    def item_bytes(self, item):
        """Return a raw key or value."""
        return item


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

    def check(self, key, value):
        """Raise the error that writing a pair would raise, whatever form its key has between map and reduce."""
        self._encoder = self._encoder or Encoder(**self._options)
        self._encoder.encode_pairs([(key, value)])

    def write_encoded(self, records):
        """Write pairs that were encoded before."""
        for key, value in records:
            self.write_raw(key, value)
