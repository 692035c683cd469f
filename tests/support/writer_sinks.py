"""Sinks of every kind with the values to write, for the tests of writers."""

import contextlib
import io
import itertools
import threading

import typedbytes as tb
from support.subprocess_runs import SECONDS

VALUES = [
    True, 5, 2**40, 1.5, "na\u00efve \U0001f600", b"raw", (1, ("a",)), [1, [2, []]], {"k": None, 3: [b""]}, 2**90,
    "x" * 300, b"y" * 70_000, tb.Ext(144, b"z" * 20), tb.Writable("org.example.It", b"\0\1"), "last", "even",
]  # fmt: skip

PARTS = [tb.dumps(value) for value in VALUES]

DATA = b"".join(PARTS)

ENDS = [0, *itertools.accumulate(map(len, PARTS))]


class Sink:
    """Have write and nothing else; keep what it was given, and copies to compare it with."""

    def __init__(self):
        self.kept, self.copies = [], []

    def write(self, data):
        """Take all."""
        self.kept.append(data)
        self.copies.append(bytes(data))
        return len(data)

    def getvalue(self):
        """Return all that was written."""
        return b"".join(self.copies)


class RawSink(io.RawIOBase):
    """Do at each call what a list says: take that number of bytes, return something odd, or raise; then take all."""

    def __init__(self, *results):
        self.results, self.taken = list(results), bytearray()

    def writable(self):
        """Say yes."""
        return True

    def write(self, data):
        """Do what comes next."""
        result = self.results.pop(0) if self.results else len(data)
        if isinstance(result, BaseException):
            raise result
        self.taken += data[: result if type(result) is int and 0 < result <= len(data) else 0]
        return result

    def getvalue(self):
        """Return all that was taken."""
        return bytes(self.taken)


@contextlib.contextmanager
def collected(descriptor):
    """Read a descriptor to its end in a thread; gives a function that waits for the end and returns all."""
    found = []

    def work():
        with open(descriptor, "rb") as file:
            found.append(file.read())

    def result():
        thread.join(SECONDS)
        return found[0]

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    yield result


PAIRS = list(zip(VALUES[::2], VALUES[1::2]))
