"""Sinks that answer wrongly, raise, are full, or take a part: nothing is lost or written twice without an error."""

import contextlib
import io
import itertools
import os
import pathlib
import signal
import socket
import sys
import threading

import pytest

import typedbytes as tb
from support.machine import NEEDS_64_BITS
from support.signal_checks import interrupted_when_readable
from support.subprocess_runs import SECONDS, lowest_free_descriptor, within
from support.writer_sinks import DATA, ENDS, PARTS, VALUES, RawSink, Sink, collected
from typedbytes import sequencefile

pytestmark = [pytest.mark.codec, pytest.mark.free_threaded, pytest.mark.oldest_python]

LONG = bytes(range(256)) * 12_000

# -- hostile sinks ----------------------------------------------------------------------------------------

WRONG = {
    "str": ("5", TypeError, r"write\(\) must return an int, not str"),
    "float": (5.0, TypeError, r"write\(\) must return an int, not float"),
    "none": (0, OSError, r"write\(\) returned 0 for \d+ bytes"),
    "negative": (-1, OSError, r"write\(\) returned -1 for \d+ bytes"),
    "too_many": (10**6, OSError, r"write\(\) returned 1000000 for \d+ bytes"),
    "beyond_64_bits": (1 << 70, OSError, r"write\(\) returned \d+ for \d+ bytes"),
    "None": (None, BlockingIOError, "must be in blocking mode"),
}


@pytest.mark.parametrize("result, kind, message", WRONG.values(), ids=WRONG)
def test_a_wrong_answer_is_named_and_loses_nothing(result, kind, message):
    sink = RawSink(2, result, 1, result)
    writer = tb.Writer(sink)
    writer.writes(VALUES[:10])
    for _ in range(2):
        with pytest.raises(kind, match=message):
            writer.flush()
    assert writer.offset == ENDS[10]
    writer.write(VALUES[10])
    writer.close()
    assert sink.getvalue() == DATA[: ENDS[11]]


ERRORS = [
    OSError(28, "No space left"), BrokenPipeError(), ValueError("odd"), MemoryError(), KeyboardInterrupt(),
    StopIteration(),
]  # fmt: skip


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("use", ["write", "writes", "write_raw", "flush"])
def test_what_a_sink_raises_goes_through_and_nothing_is_lost_or_doubled(use, error):
    for call in range(5):
        sink = RawSink(*[1] * call, error)
        writer = tb.Writer(sink, buffer_size=1 << 20 if use == "flush" else 1)
        with pytest.raises(type(error)) as caught:
            if use == "flush":
                writer.writes(VALUES[:3])
                writer.flush()
            elif use == "writes":
                writer.writes(VALUES[:3])
            else:
                writer.write(VALUES[4]) if use == "write" else writer.write_raw(PARTS[4])
        assert caught.value is error
        nrecords = writer.record
        writer.write("more")
        writer.close()
        expected = PARTS[4] if use.startswith("write") and use != "writes" else DATA[: ENDS[nrecords]]
        assert sink.getvalue() == expected + tb.dumps("more")
        assert writer.offset == len(sink.getvalue())


class Closing:
    """Fail once as a full disk does, in one of its methods, and from then on as a file that has been closed."""

    def __init__(self, method):
        self.errors = [OSError(28, "No space left"), ValueError("I/O operation on closed file")]
        self.method = method
        self.ncalls = 0

    def call(self, method):
        if method == self.method or self.ncalls:
            self.ncalls += 1
            raise self.errors[self.ncalls > 1]

    def write(self, data):
        self.call("write")
        return len(data)

    def flush(self):
        self.call("flush")

    def close(self):
        self.call("close")


WRITERS = [tb.Writer, tb.PairWriter, sequencefile.Writer]


def write_one(writer):
    writer.write(1) if type(writer) is tb.Writer else writer.write(1, 2)


@pytest.mark.parametrize("method", ["write", "flush"])
@pytest.mark.parametrize("make", WRITERS)
def test_the_first_error_of_a_sink_leaves_a_with_block(make, method):
    """The end of the block writes again what the sink refused; what it then raises must not hide the reason."""
    sink = Closing(method)
    with pytest.raises(OSError) as raised, make(sink) as writer:
        write_one(writer)
        writer.flush()
    assert raised.value is sink.errors[0] and writer.closed


@pytest.mark.parametrize("make", WRITERS)
def test_an_error_of_the_sink_at_the_end_of_a_block_is_not_hidden_by_another_error(make):
    """The block's own error may be caught outside, and then no code would know that records are missing."""
    sink = Closing("write")
    with pytest.raises(OSError) as raised, make(sink) as writer:
        write_one(writer)
        raise KeyError("other")
    assert raised.value is sink.errors[0] and type(raised.value.__context__) is KeyError


@pytest.mark.parametrize("make", WRITERS)
def test_closing_raises_why_records_are_missing_and_not_what_closing_the_file_raises(make):
    sink = Closing("write")
    options = (
        {"key_class": "a.B", "value_class": "a.B", "sync_marker": bytes(16)} if make is sequencefile.Writer else {}
    )
    compiled = next(
        each for each in make.__mro__ if each.__module__ in ("typedbytes._core", "typedbytes.sequencefile._native")
    )
    writer = compiled(sink, owns=True, **options)
    writer.write(b"1") if make is tb.Writer else writer.write(b"1", b"2")
    with pytest.raises(OSError) as raised:
        writer.close()
    assert raised.value is sink.errors[0] and sink.ncalls > 1 and writer.closed


def test_a_sink_that_breaks_for_good_is_reported_by_close_once():
    class Broken(Sink):
        def write(self, data):
            raise OSError("broken")

    writer = tb.Writer(Broken())
    writer.write(1)
    for _ in range(2):
        with pytest.raises(OSError, match="broken"):
            writer.flush()
    with pytest.raises(OSError, match="broken"):
        writer.close()
    writer.close()
    with pytest.raises(ValueError, match="closed"):
        writer.write(1)


@pytest.mark.parametrize("buffering", [0, -1])
@pytest.mark.parametrize("use", ["write", "flush", "close", "with"])
def test_a_full_device_is_reported(use, buffering):
    with open("/dev/full", "wb", buffering=0) as raw:
        sink = raw if buffering == 0 else io.BufferedWriter(raw)
        writer = tb.Writer(sink)
        with pytest.raises(OSError, match="No space left"):
            if use == "write":
                writer.write(LONG)
            elif use == "with":
                with writer:
                    writer.write(1)
            else:
                writer.write(1)
                getattr(writer, use)()
        with contextlib.suppress(OSError):
            writer.close()
        with contextlib.suppress(OSError):
            sink.close()


def test_a_full_device_by_path_is_reported_and_closed():
    free = lowest_free_descriptor()
    writer = tb.Writer("/dev/full")
    writer.write(1)
    with pytest.raises(OSError, match="No space left"):
        writer.close()
    writer.close()
    with pytest.raises(OSError, match="No space left"):
        tb.dump(1, "/dev/full")
    assert lowest_free_descriptor() == free


def test_a_pipe_without_a_reader_is_reported():
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "wb", buffering=0) as file:
        writer = tb.Writer(file)
        writer.write(1)
        with pytest.raises(BrokenPipeError):
            writer.close()


def test_a_reader_that_closes_its_pipe_in_the_middle_is_reported():
    reading, writing = os.pipe()
    with open(writing, "wb", buffering=0) as file, open(reading, "rb", buffering=0) as other:
        writer = tb.Writer(file)
        writer.write(LONG[:10])
        writer.flush()
        assert other.read(15) == tb.dumps(LONG[:10])
        other.close()
        with pytest.raises(BrokenPipeError):
            writer.writes(itertools.repeat("x" * 1000))
        with pytest.raises(BrokenPipeError):
            writer.close()


@pytest.mark.parametrize("sink", [None, 1.5, object(), True, b"", bytearray(10), [], type("Wrong", (), {"write": 3})()])
def test_what_cannot_be_written_to_is_refused_at_once(sink):
    with pytest.raises(TypeError, match="cannot write to"):
        tb.Writer(sink)


def test_text_files_are_refused_at_once():
    for sink in (io.StringIO(), io.TextIOWrapper(io.BytesIO())):
        with pytest.raises(TypeError, match="binary"):
            tb.Writer(sink)


@pytest.mark.parametrize("path", [-1, "/nonexistent/x.tb", pathlib.Path("/nonexistent/x.tb"), "/", "bad\0name"])
def test_a_path_that_cannot_be_opened_raises_at_once(path):
    with pytest.raises((OSError, ValueError)):
        tb.Writer(path)


@pytest.mark.parametrize("size", [0, -1])
def test_a_buffer_size_must_be_positive(size):
    with pytest.raises(ValueError, match="buffer_size"):
        tb.Writer(io.BytesIO(), buffer_size=size)


@NEEDS_64_BITS
def test_a_buffer_size_beyond_memory_is_a_memory_error():
    for size in (sys.maxsize, sys.maxsize - 599):
        with pytest.raises(MemoryError):
            tb.Writer(io.BytesIO(), buffer_size=size)
        with pytest.raises(MemoryError):
            tb.Reader(io.BytesIO(), buffer_size=size)


def test_a_closed_file_raises():
    sink = io.BytesIO()
    writer = tb.Writer(sink)
    writer.write(1)
    sink.close()
    with pytest.raises(ValueError, match="closed"):
        writer.flush()
    with pytest.raises(ValueError, match="closed"):
        writer.close()


# -- sinks that take a part -------------------------------------------------------------------------------


def test_a_timeout_of_a_socket_doubles_nothing():
    ours, theirs = socket.socketpair()
    ours.settimeout(0.05)
    with ours:
        writer = tb.Writer(ours)
        with pytest.raises((TimeoutError, socket.timeout)):
            writer.write(LONG)
        ours.settimeout(5)
        with collected(theirs.detach()) as result:
            writer.write("end")
            writer.close()
            ours.close()
            assert result() == tb.dumps(LONG) + tb.dumps("end")


HASTY = {
    "raw": lambda ours, raw: raw,
    "buffered": lambda ours, raw: io.BufferedWriter(raw),
    "descriptor": lambda ours, raw: raw.fileno(),
    "socket": lambda ours, raw: ours,
}


@pytest.mark.parametrize("kind", HASTY)
def test_a_full_pipe_that_does_not_wait_doubles_nothing(kind):
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with ours, open(os.dup(ours.fileno()), "wb", buffering=0) as raw, within():
        sink = HASTY[kind](ours, raw)
        writer = tb.Writer(sink)
        with pytest.raises(BlockingIOError):
            writer.write(LONG)
        with pytest.raises(BlockingIOError):
            writer.flush()
        os.set_blocking(raw.fileno(), True)
        with collected(theirs.detach()) as result:
            writer.close()
            if kind == "buffered":
                sink.close()
            raw.close()
            ours.close()
            assert result() == tb.dumps(LONG)


def test_a_signal_does_not_disturb_a_write():
    seen, is_enough = [], threading.Event()

    def handle(*_):
        seen.append(1)
        if len(seen) == 10:
            is_enough.set()

    before = signal.signal(signal.SIGALRM, handle)
    reading, writing = os.pipe()
    try:
        with open(writing, "wb", buffering=0) as file:
            writer = tb.Writer(file)
            signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
            # until then the pipe is full; a signal that nothing handles would hang, were there no limit
            reader = threading.Thread(target=lambda: (is_enough.wait(SECONDS), found.append(reading_end.read())))
            found = []
            with open(reading, "rb") as reading_end:
                reader.start()
                writer.write(LONG)
                writer.close()
                file.close()
                reader.join()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert found == [tb.dumps(LONG)] and len(seen) >= 10


def test_a_signal_handler_that_raises_is_called_at_once_and_doubles_nothing():
    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    reading, writing = os.pipe()
    arrivals, arriving = os.pipe()
    os.set_blocking(arriving, False)
    descriptor_before = signal.set_wakeup_fd(arriving)
    try:
        with open(writing, "wb", buffering=0) as file:
            writer = tb.Writer(file)
            with pytest.raises(KeyboardInterrupt), interrupted_when_readable(reading):
                writer.write(LONG)
            # the pipe had taken a part when the signal came, so the system call did not fail;
            # no second signal was needed
            assert os.read(arrivals, 100) == bytes([signal.SIGALRM])
            with collected(reading) as result:
                writer.close()
                file.close()
                assert result() == tb.dumps(LONG)
    finally:
        signal.set_wakeup_fd(descriptor_before)
        signal.signal(signal.SIGALRM, before)
        os.close(arrivals)
        os.close(arriving)
