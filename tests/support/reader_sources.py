"""Sources of every kind with the values they give, for the tests of readers."""

import array
import bz2
import contextlib
import ctypes
import gzip
import io
import itertools
import lzma
import mmap
import os
import random
import socket
import tempfile
import threading
import zipfile

import typedbytes as tb

VALUES = [
    True, 5, 2**40, 1.5, "na\u00efve \U0001f600", b"raw", (1, ("a",)), [1, [2, []]], {"k": None, 3: [b""]}, 2**90,
    "x" * 300, b"y" * 70_000, tb.Ext(144, b"z" * 20), tb.Writable("org.example.It", b"\0\1"), "last",
]  # fmt: skip

PARTS = [tb.dumps(value) for value in VALUES]

DATA = b"".join(PARTS)

ENDS = list(itertools.accumulate(map(len, PARTS)))


class OnlyRead:
    """Have read(n) and nothing else; keep every n."""

    def __init__(self, data, most=1 << 30):
        self.file, self.most, self.asked = io.BytesIO(data), most, []

    def read(self, nbytes):
        """Return at most `most` bytes."""
        self.asked.append(nbytes)
        return self.file.read(min(nbytes, self.most))


class ReadInto:
    """Have readinto and nothing else; keep the buffers it was given, as it should not."""

    def __init__(self, data):
        self.file, self.kept = io.BytesIO(data), []

    def readinto(self, buffer):
        """Fill the buffer."""
        self.kept.append(buffer)
        return self.file.readinto(buffer)


class ShortRaw(io.RawIOBase):
    """Give between one and nine bytes at a time."""

    def __init__(self, data):
        self.file, self.rng = io.BytesIO(data), random.Random(5)

    def readable(self):
        """Say yes."""
        return True

    def readinto(self, buffer):
        """Fill some of the buffer."""
        return self.file.readinto(memoryview(buffer)[: self.rng.randrange(1, 10)])


class Script:
    """Do at each call what a list says: return a result, or raise an exception."""

    def __init__(self, results):
        self.results, self.ncalls = list(results), 0

    def read(self, nbytes):
        """Do what comes next."""
        self.ncalls += 1
        result = self.results.pop(0)
        if isinstance(result, BaseException):
            raise result
        return result


@contextlib.contextmanager
def fed(descriptor, data):
    """Write to a descriptor, and close it, from a thread."""

    def work():
        with contextlib.suppress(BrokenPipeError), open(descriptor, "wb") as file:
            file.write(data)

    thread = threading.Thread(target=work)
    thread.start()
    yield
    thread.join()


@contextlib.contextmanager
def pipe(data):
    """Yield the reading end of a pipe as a raw file."""
    reading, writing = os.pipe()
    with fed(writing, data), open(reading, "rb", buffering=0) as file:
        yield file


@contextlib.contextmanager
def connection(data):
    """Yield one end of a pair of sockets."""
    ours, theirs = socket.socketpair()
    with fed(theirs.detach(), data), ours:
        yield ours


@contextlib.contextmanager
def made_file(data, buffering):
    """Yield a file made of a socket."""
    with connection(data) as ours, ours.makefile("rb", buffering) as file:
        yield file


@contextlib.contextmanager
def packed(module, path, data):
    """Yield a compressed file."""
    with module.open(path, "wb") as file:
        file.write(data)
    with module.open(path, "rb") as file:
        yield file


@contextlib.contextmanager
def zipped(path, data):
    """Yield the member of an archive."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("it", data)
    with zipfile.ZipFile(path) as archive, archive.open("it") as file:
        yield file


@contextlib.contextmanager
def mapped(path, data):
    """Yield a file as memory."""
    path.write_bytes(data)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as pages:
        yield pages


@contextlib.contextmanager
def spooled(data):
    """Yield a temporary file that is still in memory."""
    with tempfile.SpooledTemporaryFile() as file:
        file.write(data)
        file.seek(0)
        yield file


def written(path, data):
    """Write a file and return its path."""
    path.write_bytes(data)
    return path


def strided(data):
    """Return every other byte of something twice as long."""
    return memoryview(b"".join(bytes([byte, 0]) for byte in data))[::2]


# each gives a context with a source of the bytes; `path` names the file, if one is needed
MEMORY = {
    "bytes": lambda data, path: contextlib.nullcontext(data),
    "bytearray": lambda data, path: contextlib.nullcontext(bytearray(data)),
    "memoryview": lambda data, path: contextlib.nullcontext(memoryview(data)),
    "every_other_byte": lambda data, path: contextlib.nullcontext(strided(data)),
    "backwards": lambda data, path: contextlib.nullcontext(memoryview(data[::-1])[::-1]),
    "array": lambda data, path: contextlib.nullcontext(array.array("B", data)),
    "signed_array": lambda data, path: contextlib.nullcontext(array.array("b", memoryview(data).cast("b").tolist())),
    "ctypes": lambda data, path: contextlib.nullcontext((ctypes.c_char * len(data)).from_buffer_copy(data)),
    "mmap": lambda data, path: mapped(path, data),
}

FILES = {
    "BytesIO": lambda data, path: io.BytesIO(data),
    "file": lambda data, path: open(written(path, data), "rb"),
    "file_for_both": lambda data, path: open(written(path, data), "r+b"),
    "raw_file": lambda data, path: open(written(path, data), "rb", buffering=0),
    "small_buffer": lambda data, path: open(written(path, data), "rb", buffering=16),
    "only_read": lambda data, path: contextlib.nullcontext(OnlyRead(data)),
    "one_byte": lambda data, path: contextlib.nullcontext(OnlyRead(data, 1)),
    "readinto": lambda data, path: contextlib.nullcontext(ReadInto(data)),
    "short_raw": lambda data, path: ShortRaw(data),
    "buffered_short_raw": lambda data, path: io.BufferedReader(ShortRaw(data), 32),
    "pipe": lambda data, path: pipe(data),
    "socket": lambda data, path: connection(data),
    "made_file": lambda data, path: made_file(data, -1),
    "made_raw_file": lambda data, path: made_file(data, 0),
    "gzip": lambda data, path: packed(gzip, path, data),
    "bz2": lambda data, path: packed(bz2, path, data),
    "lzma": lambda data, path: packed(lzma, path, data),
    "zip": lambda data, path: zipped(path, data),
    "spooled": lambda data, path: spooled(data),
}

PATHS = {
    "str": lambda data, path: contextlib.nullcontext(str(written(path, data))),
    "PathLike": lambda data, path: contextlib.nullcontext(written(path, data)),
}

KINDS = {**MEMORY, **FILES, **PATHS}

LIVE = {
    "descriptor": lambda file: file.fileno(),
    "raw_file": lambda file: file,
    "buffered": lambda file: io.BufferedReader(file, 1 << 16),
    "socket": lambda file: file,
    "made_file": lambda file: file.makefile("rb"),
}


@contextlib.contextmanager
def live(kind):
    """Yield a source that something can be sent to, and the function that sends."""
    if kind in ("socket", "made_file"):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            source = LIVE[kind](ours)
            yield source, theirs.sendall
            if source is not ours:
                source.close()
        return
    reading, writing = os.pipe()
    with open(reading, "rb", buffering=0) as file, open(writing, "wb", buffering=0) as sink:
        yield LIVE[kind](file), sink.write


PAIR = tb.dumps("k") + tb.dumps("v")


class Repeated(io.RawIOBase):
    """A source that repeats one record."""

    def __init__(self, record, times):
        self._record = record
        self._left = len(record) * times

    def readable(self):
        return True

    def readinto(self, buffer):
        start = -self._left % len(self._record)
        part = self._record[start : start + min(len(buffer), self._left)]
        buffer[: len(part)] = part
        self._left -= len(part)
        return len(part)
