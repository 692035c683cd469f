"""What the formats that are not typed bytes share: grouping, and output in whole records.

Pairs are pairs of bytes here. What the bytes mean, and where a record ends, is known to the format alone.
"""

BUFFER_NBYTES = 128 * 1024  # what Hadoop buffers on its side of each pipe


class Groups:
    """Iterate (key, values) over adjacent pairs whose keys are the same bytes."""

    def __init__(self, pairs, decode):
        self._pairs = pairs
        self._decode = decode
        self._values = None  # of the group handed out last

    def __iter__(self):
        return self

    def __next__(self):
        ahead = None if self._values is None else self._values.finish()
        pair = ahead or next(self._pairs)
        self._values = Values(pair, self._pairs, self._decode)
        return self._decode(pair[0]), self._values


class Values:
    """Iterate the values of one group, until the next group is asked for."""

    def __init__(self, pair, pairs, decode):
        self._key = pair[0]
        self._pair = pair  # read and not handed out; at the end the first pair of the next group
        self._pairs = pairs
        self._decode = decode
        self._over = False

    def __iter__(self):
        return self

    def __next__(self):
        if self._over:
            raise RuntimeError("the values of a group are gone once the next group is asked for")
        self._pair = self._pair or next(self._pairs)
        key, value = self._pair
        if key != self._key:
            raise StopIteration
        self._pair = None
        return self._decode(value)

    def finish(self):
        """Skip the values left and return the pair after them, or None at the end."""
        for _ in self:
            pass
        self._over = True
        return self._pair


class RecordOutput:
    """Gather encoded records and write them whole; a format adds ``encode(key, value)``."""

    def __init__(self, sink):
        self._sink = sink
        self._buffer = bytearray()
        self.record = 0

    def writes(self, pairs):
        """Write every pair of an iterable."""
        for pair in pairs:
            self._buffer += self.encode(*_checked(pair))
            self.record += 1
            if len(self._buffer) >= BUFFER_NBYTES:
                self._flush()

    def close(self):
        """Write what is left; the sink stays open."""
        self._flush()

    def _flush(self):
        with memoryview(self._buffer) as data:
            nbytes = 0
            while nbytes < len(data):
                nbytes += self._sink.write(data[nbytes:])
        self._buffer.clear()


def _checked(pair):
    # A string of two characters would unpack as well, and be wrong.
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise TypeError(f"a pair is a tuple of a key and a value, not {type(pair).__name__}")
    return pair
