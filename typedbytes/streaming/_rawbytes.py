"""Records as raw bytes: the length of the key, the key, the length of the value, the value.

Lengths are 32-bit big-endian integers. Keys and values are bytes, whatever a Writable makes of itself.
An input that has failed stays failed.
"""

from _operator import itemgetter
from io import BufferedReader

from typedbytes.errors import FormatError, TruncatedError
from typedbytes.streaming._records import BUFFER_NBYTES, Groups, RecordOutput


class RawBytesInput:
    """Read pairs of bytes."""

    def __init__(self, source):
        self._file = BufferedReader(source, BUFFER_NBYTES)
        self._failure = None
        self.offset = 0
        self.record = 0

    def pairs(self):
        """Yield each (key, value)."""
        while self._failure is None:
            key = self._item()
            if key is None:
                return
            value = self._item()
            if value is None:
                self._fail(TruncatedError, "input ended between key and value", self.offset)
            self.record += 1
            yield key, value
        raise self._failure

    def groups(self):
        """Return an iterator of (key, values) over adjacent pairs with the same key."""
        return Groups(self.pairs(), itemgetter(0), itemgetter(1))

    raw_pairs = pairs

    def decode(self, item):
        """Return a key or a value, which is what its bytes are."""
        return item

    def packed(self, key, value):
        """Return the record of a raw pair."""
        return b"".join((*_item(key), *_item(value)))

    def failure(self):
        """Return the error the input has failed with, or None."""
        return self._failure

    def key_bytes(self, key):
        """Return the bytes of a key."""
        return key

    def _item(self):
        # None at the end of the input, which is an error after a key.
        start = self.offset
        head = self._take(4)
        if not head:
            return None
        nbytes = self._length(head, start)
        data = self._take(nbytes)
        if len(data) < nbytes:
            self._fail(TruncatedError, f"input ended inside an item of {nbytes} bytes", self.offset)
        return data

    def _length(self, head, start):
        if len(head) < 4:
            self._fail(TruncatedError, "input ended inside a length", self.offset)
        nbytes = int.from_bytes(head, "big", signed=True)
        if nbytes < 0:
            self._fail(FormatError, f"length {nbytes} is negative", start)
        return nbytes

    def _take(self, nbytes):
        # In steps: a length is a promise, and memory follows only what arrives.
        parts = []
        while nbytes > 0:
            part = self._file.read(min(nbytes, BUFFER_NBYTES))
            if not part:
                break
            parts.append(part)
            nbytes -= len(part)
            self.offset += len(part)
        return b"".join(parts)

    def _fail(self, error_class, message, offset):
        self._failure = error_class(message, offset=offset, record=self.record)
        raise self._failure


class RawBytesOutput(RecordOutput):
    """Write pairs of bytes-like objects."""

    def encode(self, key, value):
        """Return the record of a pair; raises TypeError for anything but bytes."""
        return b"".join((*_item(key), *_item(value)))


def _item(value):
    data = memoryview(value)
    return data.nbytes.to_bytes(4, "big", signed=True), data.tobytes()
