"""A sink fails, and otherwise when the writer is closed: the first error leaves the with block, as it says why.

Here: every public writer, with objects, descriptors and sockets as sinks. An error of the with block that is not the
sink's does not hide that of close(), without which the records would be missing unnoticed.
"""

import asyncio
import contextlib
import errno
import io
import os
import socket

import fsspec
import pytest

import typedbytes as tb
from support.public_classes import closable
from typedbytes import block, columns, hive, legacy, sequencefile
from typedbytes.streaming.formats.splits import SequenceFileSink

LARGE = 1 << 16  # bytes of a record that is sent at once


class Failing(io.RawIOBase):
    """Fail with ENOSPC, and at each later call with EIO."""

    def __init__(self):
        self._error = errno.ENOSPC

    def writable(self):
        """Return True."""
        return True

    def write(self, data):
        """Fail."""
        number, self._error = self._error, errno.EIO
        raise OSError(number, os.strerror(number))


class FailingObject:
    """The same as an object that has write() and close() alone."""

    def __init__(self):
        self.write = Failing().write

    def close(self):
        """Do nothing."""


class FailingAtFlush(io.BytesIO):
    """Take all, and fail at each flush()."""

    def __init__(self):
        self._fail = Failing().write

    def flush(self):
        """Fail."""
        self._fail(b"")


class FailingFile(Failing):
    """The same, which fails to be closed, too."""

    def close(self):
        """Close, and fail."""
        if not self.closed:
            super().close()
            self.write(b"")


class FailingFiles(fsspec.AbstractFileSystem):
    """A file system whose disk is full."""

    protocol = "failing"

    def _open(self, path, mode="rb", **options):
        return FailingFile()


def buffered_failing():
    return io.BufferedWriter(Failing(), 100)


def write_value(writer, nbytes):
    writer.write(bytes(nbytes))


def write_pair(writer, nbytes):
    writer.write("key", bytes(nbytes))


def write_legacy_pair(writer, nbytes):
    writer.write(("key", bytes(nbytes)))


def write_message(writer, nbytes):
    writer.write([bytes(nbytes)])


def write_row(writer, nbytes):
    writer.write(("x" * nbytes,))


def row_writer(sink):
    return hive.RowWriter(sink, "text string")


def compressed_sequence_file(sink):
    return sequencefile.Writer(sink, codec="default", block_size=1000)


def collecting_block_writer(sink):
    return block.BlockWriter(sink, buffer_size=4 * LARGE)


@contextlib.contextmanager
def split_writer(sink):
    with sequencefile.Writer(sink) as file, tb.PairWriter(SequenceFileSink(file), buffer_size=100) as writer:
        yield writer


WRITERS = {
    tb.Writer: (tb.Writer, write_value),
    tb.PairWriter: (tb.PairWriter, write_pair),
    legacy.Output: (legacy.Output, write_value),
    legacy.PairedOutput: (legacy.PairedOutput, write_legacy_pair),
    sequencefile.Writer: (sequencefile.Writer, write_pair),
    hive.RowWriter: (row_writer, write_row),
    block.BlockWriter: (block.BlockWriter, write_message),
    block.CoalescingWriter: (block.CoalescingWriter, write_message),
    "compressed SequenceFile": (compressed_sequence_file, write_pair),
    "BlockWriter with a buffer": (collecting_block_writer, write_message),
    "SequenceFileSink": (split_writer, write_pair),
}
SINKS = [Failing, FailingObject, FailingAtFlush, buffered_failing]


def test_every_writer_is_here():
    writers = {kind for kind in closable() if hasattr(kind, "write")}
    assert writers == {*filter(callable, WRITERS), block.AsyncCoalescingWriter, block.SharedRing}


@contextlib.contextmanager
def first_error():
    with pytest.raises(OSError) as caught:
        yield
    assert caught.value.errno == errno.ENOSPC


@pytest.mark.parametrize("sink", SINKS)
@pytest.mark.parametrize("nbytes", [10, LARGE])
@pytest.mark.parametrize("name", [name for name in WRITERS if name is not block.CoalescingWriter])
def test_the_first_error_of_a_sink_comes_out(name, nbytes, sink):
    make, write = WRITERS[name]
    with first_error(), make(sink()) as writer:
        write(writer, nbytes)
        while nbytes == LARGE and sink is not FailingAtFlush:
            write(writer, nbytes)
        writer.flush()


@pytest.mark.parametrize(
    "kind", [name for name in WRITERS if not isinstance(name, str) and name is not block.CoalescingWriter]
)
def test_the_end_of_a_with_block_may_be_called_without_an_error(kind):
    """As of `io.BytesIO().__exit__()`. Where no error is given there is none to read."""
    make, write = WRITERS[kind]
    writer = make(io.BytesIO())
    writer.__exit__()
    with pytest.raises(ValueError, match="closed"):
        write(writer, 10)


@pytest.mark.parametrize("name", [name for name in WRITERS if name not in (legacy.Output, legacy.PairedOutput)])
def test_the_first_error_of_a_descriptor_comes_out(name):
    make, write = WRITERS[name]
    reading, broken = os.pipe()
    os.close(reading)
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        with (
            first_error(),
            make(full if name != "SequenceFileSink" else open(full, "wb", buffering=0, closefd=False)) as writer,
        ):
            try:
                while True:
                    write(writer, LARGE)
            except OSError:
                os.dup2(broken, full)  # a later call fails with EPIPE
                raise
    finally:
        os.close(full)
        os.close(broken)


def test_the_first_error_of_a_socket_comes_out():
    async def main():
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.setblocking(False)
            theirs.close()
            with open("/dev/full", "wb") as full:
                async with block.AsyncCoalescingWriter(ours) as writer:
                    try:
                        while True:
                            await writer.write([bytes(LARGE)])
                    except OSError:
                        os.dup2(full.fileno(), ours.fileno())  # a later call fails with ENOTSOCK
                        raise

    with pytest.raises((BrokenPipeError, ConnectionResetError)):
        asyncio.run(main())


@pytest.mark.parametrize("path", ["failing://x", "failing://x.gz", "failing://x.bz2", "failing://x.xz"])
@pytest.mark.parametrize("make", [tb.Writer, tb.PairWriter, sequencefile.Writer])
def test_the_first_error_of_a_url_comes_out(make, path):
    fsspec.register_implementation("failing", FailingFiles, clobber=True)
    with first_error(), make(path) as writer:
        WRITERS[make][1](writer, 10)


@pytest.mark.parametrize("sink", [Failing, FailingAtFlush])
def test_the_first_error_of_columns_comes_out(sink):
    with first_error():
        columns.write(sink(), {"key": [1], "value": [bytes(2 << 20)]})


@pytest.mark.parametrize(
    "name", [name for name in WRITERS if name not in (block.CoalescingWriter, legacy.Output, legacy.PairedOutput)]
)
def test_an_error_of_the_caller_does_not_hide_that_of_the_sink(name):
    make, _ = WRITERS[name]
    with first_error(), make(FailingAtFlush()):
        raise KeyError("of the caller")
