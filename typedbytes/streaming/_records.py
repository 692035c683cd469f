"""What the formats that are not typed bytes share: grouping, and output in whole records.

Pairs are pairs of bytes here. What the bytes mean, and where a record ends, is known to the format alone.
"""

from _operator import itemgetter

from typedbytes import dumps

BUFFER_NBYTES = 128 * 1024  # what Hadoop buffers on its side of each pipe


class Groups:
    """Iterate (key, values) over adjacent pairs that begin with the same bytes; two functions make a key and a value of a pair."""

    def __init__(self, pairs, key_of, value_of):
        self._pairs = pairs
        self._key_of = key_of
        self._value_of = value_of
        self._values = None  # of the group handed out last

    def __iter__(self):
        return self

    def __next__(self):
        ahead = None if self._values is None else self._values.finish()
        pair = ahead or next(self._pairs)
        self._values = Values(pair, self._pairs, self._value_of)
        return self._key_of(pair), self._values


class Values:
    """Iterate the values of one group, until the next group is asked for."""

    def __init__(self, pair, pairs, value_of):
        self._key = pair[0]
        self._pair = pair  # read and not handed out; at the end the first pair of the next group
        self._pairs = pairs
        self._value_of = value_of
        self._over = False

    def __iter__(self):
        return self

    def __next__(self):
        if self._over:
            raise RuntimeError("the values of a group are gone once the next group is asked for")
        self._pair = self._pair or next(self._pairs)
        if self._pair[0] != self._key:
            raise StopIteration
        pair, self._pair = self._pair, None
        return self._value_of(pair)

    def finish(self):
        """Skip the values left and return the pair after them, or None at the end."""
        self._value_of = _skipped
        for _ in self:
            pass
        self._over = True
        return self._pair


def _skipped(pair):
    return None


def regrouped(pairs, group_by):
    """Return an iterator of (first key, values) over adjacent pairs to whose keys group_by gives what is encoded alike."""
    return Groups(((dumps(group_by(key)), key, value) for key, value in pairs), itemgetter(1), itemgetter(2))


class RecordOutput:
    """Gather encoded records and write them whole; a format adds ``encode(key, value)``."""

    def __init__(self, sink):
        self._sink = sink
        self._buffer = bytearray()
        self.record = 0

    def writes(self, pairs):
        """Write every pair of an iterable."""
        for pair in pairs:
            self._put(self.encode(*checked_pair(pair)))

    def encoded(self, pair):
        """Return the record of a pair."""
        return self.encode(*checked_pair(pair))

    def write_encoded(self, records):
        """Write records that were encoded before."""
        for record in records:
            self._put(record)

    def close(self):
        """Write what is left; the sink stays open."""
        self._flush()

    def _put(self, record):
        self._buffer += record
        self.record += 1
        if len(self._buffer) >= BUFFER_NBYTES:
            self._flush()

    def _flush(self):
        with memoryview(self._buffer) as data:
            nbytes = 0
            while nbytes < len(data):
                nbytes += self._sink.write(data[nbytes:])
        self._buffer.clear()


def checked_pair(pair):
    """Return a pair that is one; raises TypeError."""
    # A string of two characters would unpack as well, and be wrong.
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise TypeError(f"a pair is a tuple of a key and a value, not {type(pair).__name__}")
    return pair
