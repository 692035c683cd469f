"""Records as lines of text: key, separator, value, line feed.

This is what Hadoop Streaming speaks unless a job says otherwise. Keys and values are str. Bytes that are
not UTF-8 become lone surrogates on the way in and themselves again on the way out, so no line is lost or
changed. A line cannot be wrong, only short: the last one may lack its line feed.
"""

from io import BufferedReader

from typedbytes.streaming._records import BUFFER_NBYTES, Groups, RecordOutput


def _decode(data):
    return data.decode("utf-8", "surrogateescape")


def _encode(value):
    if isinstance(value, (bytes, bytearray, memoryview)):
        return value
    return str(value).encode("utf-8", "surrogateescape")


class TextInput:
    """Read lines; without a separator they are values and the key is the number of the line, from 0."""

    def __init__(self, source, separator=None, nfields=1):
        self._file = BufferedReader(source, BUFFER_NBYTES)
        self._separator = separator
        self._nfields = nfields  # of the key
        self.offset = 0
        self.record = 0

    def pairs(self):
        """Yield each (key, value)."""
        if self._separator is None:
            for number, line in enumerate(self._lines()):
                yield number, _decode(line)
        else:
            for key, value in map(self._split, self._lines()):
                yield _decode(key), _decode(value)

    def groups(self):
        """Return an iterator of (key, values) over adjacent lines with the same key."""
        return Groups(map(self._split, self._lines()), lambda pair: _decode(pair[0]), lambda pair: _decode(pair[1]))

    def raw_pairs(self):
        """Return an iterator of pairs for decode(): of bytes, or the number of a line and its bytes."""
        return enumerate(self._lines()) if self._separator is None else map(self._split, self._lines())

    def decode(self, item):
        """Return a key or a value."""
        return _decode(item) if isinstance(item, bytes) else item

    def packed(self, key, value):
        """Return the line of a raw pair."""
        return value + b"\n" if self._separator is None else b"%b%b%b\n" % (key, self._separator, value)

    def failure(self):
        """Return None: no line is wrong."""
        return None

    def key_bytes(self, key):
        """Return the bytes of a key as they stand in the line."""
        return _encode(key)

    def _lines(self):
        for line in self._file:
            self.offset += len(line)
            self.record += 1
            yield line.rstrip(b"\n")

    def _split(self, line):
        *key, value = line.split(self._separator, self._nfields)
        return (self._separator.join(key), value) if key else (line, b"")


class TextOutput(RecordOutput):
    """Write lines: bytes as they are, anything else as its str."""

    def __init__(self, sink, separator):
        super().__init__(sink)
        self._separator = separator

    def encode(self, key, value):
        """Return the line of a pair; raises ValueError when it would be more than one line."""
        line = b"%b%b%b" % (_encode(key), self._separator, _encode(value))
        if b"\n" in line:
            raise ValueError(f"a line feed inside a record would cut its line of text in two: {line[:80]!r}")
        return line + b"\n"
