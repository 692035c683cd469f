"""Block messages over sockets, pipes and files: every kind of sink and source, answers, closing."""

import asyncio
import contextlib
import errno
import gc
import io
import os
import socket
import subprocess
import threading
import weakref

import pytest

import typedbytes as tb
from support import block_reference as slow
from support.block_calls import Pieces
from support.machine import NEEDS_64_BITS
from support.socket_sinks import Counting, Sizes, collecting
from support.subprocess_runs import SECONDS, run_fresh, within
from typedbytes.block import BlockEncoder, BlockReader, BlockWriter, CoalescingWriter, Command

pytestmark = [pytest.mark.free_threaded, pytest.mark.newest_python]


# -- sources and sinks ------------------------------------------------------------------------------------

MESSAGES = [slow.published(size) for size in range(9)] + [[bytes(range(256)) * 1000, "x" * 70_000, 5]]


def streams(tmp_path):
    """Yield a sink and a source of each kind, and how the sink is closed."""
    path = tmp_path / "messages"
    reading, writing = os.pipe()
    yield "descriptors", writing, reading, lambda: os.close(writing)
    reading2, writing2 = os.pipe()
    file = open(writing2, "wb", buffering=0)
    yield "raw files", file, open(reading2, "rb", buffering=0), file.close
    ours, theirs = socket.socketpair()
    yield "sockets", ours, theirs, ours.close
    ours2, theirs2 = socket.socketpair()
    made = ours2.makefile("wb")
    ours2.close()
    made2 = theirs2.makefile("rb")
    theirs2.close()
    yield "made files", made, made2, made.close
    buffered = open(path, "wb")
    yield "buffered files", buffered, open(path, "rb"), buffered.close


@pytest.mark.parametrize("wire", slow.WIRES)
def test_every_kind_of_sink_and_source(wire, tmp_path):
    for name, sink, source, close in streams(tmp_path):
        found = []
        thread = threading.Thread(target=lambda: found.extend(BlockReader(source, wire)))
        if name != "buffered files":
            thread.start()
        with BlockWriter(sink, wire) as writer:
            for args in MESSAGES:
                writer.write(args)
        close()
        if name == "buffered files":
            thread.start()
        thread.join()
        assert found == MESSAGES, name
        os.close(source) if isinstance(source, int) else source.close()


@pytest.mark.parametrize("most", [1, 7, 4096])
def test_partial_sends(most):
    ours, theirs = socket.socketpair()
    with collecting(theirs) as messages, ours:
        BlockWriter(Counting(ours, most)).writes(MESSAGES[:9] if most == 1 else MESSAGES)
    assert messages == (MESSAGES[:9] if most == 1 else MESSAGES)


@pytest.mark.parametrize("timeout", [None, SECONDS], ids=["whole sends", "partial sends"])
def test_a_small_socket_buffer_and_a_slow_reader(timeout):
    ours, theirs = socket.socketpair()
    ours.settimeout(timeout)  # the system sends a part where it may not wait
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    sent = threading.Thread(target=lambda: (BlockWriter(ours).writes(MESSAGES), ours.close()))
    sent.start()
    data = bytearray()
    while chunk := theirs.recv(1500):
        data += chunk
    sent.join()
    theirs.close()
    assert list(BlockReader(data)) == MESSAGES


def test_more_large_values_than_a_few():
    message = [bytes([number]) * 70_000 for number in range(20)]
    ours, theirs = socket.socketpair()
    with collecting(theirs) as messages, ours:
        BlockWriter(ours).write(message)
        BlockEncoder().send(message, ours)
    assert messages == [message] * 2


@pytest.mark.parametrize("sink", [io.StringIO(), object(), 5.5])
def test_what_is_not_a_sink_or_source(sink):
    for use in (BlockWriter, BlockReader):
        with pytest.raises(TypeError):
            use(sink)


class Odd:
    """A sink or a source that gives what the test says."""

    def __init__(self, result):
        self.result = result

    def write(self, data):
        """Return the result, or raise it."""
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result

    read = write


def test_a_sink_that_does_not_count_took_all():
    taken = []
    sink = Odd(None)
    sink.write = lambda data: taken.append(bytes(data))
    BlockWriter(sink).writes([[1], [2]])
    assert b"".join(taken) == slow.encode("bytes", [1]) + slow.encode("bytes", [2])


def test_raw_write_of_zero_bytes():
    class Raw(io.RawIOBase):
        def write(self, data):
            return None

    with pytest.raises(BlockingIOError, match="returned None: the sink must be in blocking mode"):
        BlockWriter(Raw()).write([1])


@pytest.mark.parametrize(
    "result, error",
    [(0, OSError), (99, OSError), (-1, OSError), ("text", TypeError), (OSError("broken"), OSError)],
    ids=repr,
)
def test_a_sink_that_lies(result, error):
    writer = BlockWriter(Odd(result))
    with pytest.raises(error):
        writer.write([1])
    writer.close()


@pytest.mark.parametrize(
    "result, error",
    [(None, BlockingIOError), ("text", TypeError), (bytes(1 << 21), ValueError), (OSError("broken"), OSError)],
)
def test_a_source_that_lies(result, error):
    with pytest.raises(error):
        BlockReader(Odd(result)).read()


@contextlib.contextmanager
def buffered_pipe():
    """Give a buffered file that writes to a pipe, and a function that returns what is in the pipe."""
    reading, writing = os.pipe()
    os.set_blocking(reading, False)

    def received():
        with contextlib.suppress(BlockingIOError):
            return os.read(reading, 1 << 16)
        return b""

    with open(writing, "wb") as file:
        yield file, received
    os.close(reading)


@pytest.mark.parametrize(
    "write, expected",
    [
        (lambda file: BlockWriter(file).write([1]), slow.encode("bytes", [1])),
        (lambda file: BlockWriter(file).writes([[1], [2]]), slow.encode("bytes", [1]) + slow.encode("bytes", [2])),
        (lambda file: BlockWriter(file).write_raw(b"1"), b"1"),
        (lambda file: BlockEncoder().send([1], file), slow.encode("bytes", [1])),
    ],
    ids=["write", "writes", "write_raw", "send"],
)
def test_a_message_does_not_wait_in_a_buffered_file(write, expected):
    with buffered_pipe() as (file, received):
        write(file)
        assert received() == expected


def test_a_buffered_file_is_not_flushed_while_messages_are_collected():
    with buffered_pipe() as (file, received):
        writer = BlockWriter(file, buffer_size=20)
        writer.writes([[1], [2]])
        writer.write([3])
        writer.write_raw(bytes(20))
        assert received() == b""
        writer.flush()
        assert len(received()) == 3 * 12 + 20


@pytest.mark.parametrize(
    "write", [lambda writer: writer.write([1]), lambda writer: writer.writes([[1]])], ids=["write", "writes"]
)
def test_a_message_whose_flush_raised_is_not_written_again(write):
    class File(Sizes):
        def flush(self):
            raise OSError("broken")

    sink = File()
    writer = BlockWriter(sink)
    for _ in range(2):
        with pytest.raises(OSError, match="broken"):
            write(writer)
    writer.close()
    assert sink.calls == [12]


@pytest.mark.parametrize("buffer_size", [0, 1000])
@pytest.mark.parametrize("error", [tb.EncodeTypeError, OSError])
def test_messages_before_the_one_that_failed_are_written(buffer_size, error):
    def messages():
        yield [1]
        yield [2]
        if error is OSError:
            raise OSError
        yield [object()]

    sink = io.BytesIO()
    writer = BlockWriter(sink, buffer_size=buffer_size)
    with pytest.raises(error):
        writer.writes(messages())
    assert len(sink.getvalue()) == (0 if buffer_size else 24)
    assert writer.record == 2
    writer.close()
    assert list(BlockReader(sink.getvalue())) == [[1], [2]]


def test_messages_that_close_their_writer():
    def messages(error):
        yield [1]
        writer.close()
        if error:
            raise error

    for error, match in ((None, "closed writer"), (ValueError("of the iterable"), "of the iterable")):
        sink = io.BytesIO()
        writer = BlockWriter(sink)
        with pytest.raises(ValueError, match=match):
            writer.writes(messages(error))
        assert sink.getvalue() == slow.encode("bytes", [1])


# -- answers and the rest ---------------------------------------------------------------------------------


def test_answers_between_messages():
    data = b"1" + slow.encode("bytes", [Command("a")]) + bytes(200_000) + b"\0\0"
    reader = BlockReader(data)
    assert reader.read_bytes(1) == b"1"
    assert reader.read() == [Command("a")]
    assert reader.read_bytes(0) == b""
    assert reader.read_bytes(200_000) == bytes(200_000)
    assert (reader.read_bytes(2), reader.offset) == (b"\0\0", len(data))
    assert reader.read() is None


@pytest.mark.parametrize("nbytes", [10, 65_536, 65_537])
def test_a_reader_whose_input_ends_inside_raw_bytes_stays_failed(nbytes):
    data = slow.encode("bytes", [1, bytes(70_000)]) + bytes(4)
    reader = BlockReader(data)
    reader.read()
    message = f"input ends {nbytes - 4} bytes before the end of the {nbytes} requested at offset {len(data)}"
    for use in (lambda: reader.read_bytes(nbytes), reader.read, lambda: reader.read_bytes(1), reader.detach):
        with pytest.raises(tb.TruncatedError) as caught:
            use()
        assert str(caught.value) == message


@pytest.mark.parametrize("nbytes", [10, 100_000])
def test_a_source_that_raises_stop_iteration_inside_raw_bytes_has_not_ended(nbytes):
    reader = BlockReader(Odd(StopIteration()))
    for use in (lambda: reader.read_bytes(nbytes), reader.__next__):
        with pytest.raises(RuntimeError, match="raised StopIteration"):
            use()


def test_many_bytes_between_messages():
    data = slow.encode("bytes", [1]) + bytes(range(256)) * 1000 + slow.encode("bytes", [2])
    for pieces in ([data], [data[n : n + 1000] for n in range(0, len(data), 1000)]):
        reader = BlockReader(Pieces(pieces))
        assert reader.read() == [1]
        assert reader.read_bytes(256_000) == bytes(range(256)) * 1000
        assert reader.read() == [2] and reader.offset == len(data)
    reader = BlockReader(Pieces([bytes(1000)] * 100))
    with pytest.raises(tb.TruncatedError) as caught:
        reader.read_bytes(100_001)
    assert caught.value.offset == 100_000


def test_many_bytes_that_stall_are_the_end():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.settimeout(0.05)
        reader = BlockReader(theirs)
        ours.sendall(slow.encode("bytes", [1]) * 6000)
        with within(), pytest.raises(socket.timeout):
            reader.read_bytes(100_000)
        for use in (reader.read, lambda: reader.read_bytes(1), reader.detach):
            with pytest.raises(socket.timeout):  # what came before is gone: no message starts here
                use()


def test_a_limit_is_for_messages_alone():
    data = slow.encode("bytes", ["x" * 50_000])
    reader = BlockReader(Pieces([data, bytes(200_000), data]), max_bytes=100_000)
    assert (reader.read(), reader.read_bytes(200_000), reader.read()) == (
        ["x" * 50_000],
        bytes(200_000),
        ["x" * 50_000],
    )


def test_no_bytes_are_read_inside_a_message():
    reader = BlockReader(Stops(slow.encode("bytes", ["abc"])[:-1]))
    with pytest.raises(BlockingIOError):
        reader.read()
    for use in (lambda: reader.read_bytes(1), reader.detach):
        with pytest.raises(ValueError, match="read in part"):
            use()


def test_close_from_a_hook_is_refused_and_changes_nothing():
    class Plain:
        pass

    def close(obj):
        with pytest.raises(RuntimeError, match="this BlockWriter is in use"):
            writer.close()
        return 5

    sink = io.BytesIO()
    with BlockWriter(sink, "native", default=close, buffer_size=1000) as writer:
        writer.write([Plain()])
        assert not writer.closed
        writer.write([6])
    assert list(BlockReader(sink.getvalue(), "native")) == [(5,), (6,)]


def test_what_is_closed_is_a_bad_descriptor():
    """Its number is -1."""
    gone, theirs = socket.socketpair()
    gone.close()
    theirs.close()
    for use in (BlockReader, BlockWriter, CoalescingWriter):
        for target in (gone, -1):
            with pytest.raises(OSError) as caught:
                use(target)
            assert caught.value.errno == errno.EBADF


def drain(sink, close):
    """Write by a writer of asyncio, after a call."""

    async def write():
        writer = tb.block.AsyncCoalescingWriter(sink)
        close()
        writer.write([1])
        await writer.drain()

    sink.setblocking(False)
    asyncio.run(write())


def write(sink, close):
    """Write by a BlockWriter, after a call."""
    writer = BlockWriter(sink)
    close()
    writer.write([1])


def read(source, close):
    """Read by a BlockReader, after a call."""
    reader = BlockReader(source)
    close()
    reader.read()


@pytest.mark.parametrize("use", [drain, write, read])
def test_what_its_owner_has_closed_is_not_used(tmp_path, use):
    ours, theirs = socket.socketpair()
    number = ours.fileno()
    with open(tmp_path / "other", "w+b", buffering=0) as other, theirs:
        other.write(bytes(8))
        other.seek(0)

        def close():
            ours.close()
            os.dup2(other.fileno(), number)

        try:
            with pytest.raises(OSError) as caught:
                use(ours, close)
            assert caught.value.errno == errno.EBADF
        finally:
            os.close(number)
        assert other.tell() == 0 and other.read() == bytes(8)


class Stops:
    """A source that gives some bytes, and then says that there are none now."""

    def __init__(self, data):
        self.parts = [data, None]

    def read(self, nbytes):
        """Return the next part."""
        return self.parts.pop(0)


def test_a_reader_in_use_refuses_all_else():
    data = slow.encode("native", [[tb.Ext(60, b"x")]])
    tried = []

    def hook(code, payload):
        for use in (reader.read, reader.close, reader.detach, lambda: reader.read_bytes(1)):
            with pytest.raises(RuntimeError, match="in use"):
                use()
            tried.append(use)
        return payload

    reader = BlockReader(data * 2, ext_hook=hook)
    assert list(reader) == [[[b"x"]]] * 2 and len(tried) == 8


def test_a_descriptor_that_cannot_be_read_or_written():
    folder = os.open(os.curdir, os.O_RDONLY)
    try:
        with pytest.raises(IsADirectoryError):
            BlockReader(folder).read()
        with pytest.raises(OSError):
            BlockWriter(folder).write([1])
    finally:
        os.close(folder)


def test_use_after_close():
    reader, writer = BlockReader(bytes(8)), BlockWriter(io.BytesIO())
    reader.read()
    assert reader.detach() == bytes(4)
    writer.close()
    for use in (reader.read, reader.detach, lambda: writer.write([]), writer.flush, lambda: writer.write_raw(b"")):
        with pytest.raises(ValueError, match="closed"):
            use()
    reader.close()
    writer.close()


def test_a_closed_reader_releases_its_source():
    for fail in (False, True):
        source = io.BytesIO(b"\xff")
        reader, released = BlockReader(source), weakref.ref(source)
        if fail:
            with pytest.raises(tb.TruncatedError):
                reader.read()
        reader.close()
        del source
        gc.collect()
        assert released() is None
        with pytest.raises(RuntimeError, match="initialised again"):
            reader.__init__(b"")


def test_what_fails_to_encode_is_not_sent():
    sink = io.BytesIO()
    writer = BlockWriter(sink, buffer_size=10_000)
    writer.write([1])
    with pytest.raises(tb.EncodeTypeError):
        writer.write(["x" * 100_000, "y" * 9000, None])
    writer.write([2])
    writer.close()
    assert list(BlockReader(sink.getvalue())) == [[1], [2]]


def test_the_end_of_a_socket_stays_the_end():
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            BlockWriter(theirs).write([1])
        reader = BlockReader(ours)
        assert [reader.read(), reader.read(), reader.read()] == [[1], None, None]


DARWIN = r"""
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <limits.h>
    #include <sys/socket.h>
    #include <sys/uio.h>
    #include <unistd.h>
    static ssize_t refused(void) { errno = EINVAL; return -1; }
    /* What is large is taken, or has come, without being looked at. */
    #define CALL(name, result, parameters, arguments, nbytes) \
        result name parameters { \
            size_t n = nbytes; \
            if (n > INT_MAX) return refused(); \
            if (n > 1 << 24) return n; \
            return ((result (*) parameters)dlsym(RTLD_NEXT, #name)) arguments; \
        }
    static size_t sum(const struct iovec *pieces, size_t count) {
        size_t n = 0;
        for (size_t i = 0; i < count; i++) n += pieces[i].iov_len;
        return n;
    }
    CALL(read, ssize_t, (int f, void *p, size_t size), (f, p, size), size)
    CALL(write, ssize_t, (int f, const void *p, size_t size), (f, p, size), size)
    CALL(send, ssize_t, (int f, const void *p, size_t size, int flags), (f, p, size, flags), size)
    CALL(writev, ssize_t, (int f, const struct iovec *p, int count), (f, p, count), sum(p, count))
    CALL(sendmsg, ssize_t, (int f, const struct msghdr *m, int flags), (f, m, flags), sum(m->msg_iov, m->msg_iovlen))
"""


@pytest.mark.once
@NEEDS_64_BITS
def test_no_call_transfers_more_than_the_kernel_of_macos_takes(tmp_path, monkeypatch):
    """Its read, write and sosend refuse more than INT_MAX bytes with EINVAL; Linux takes 2^31 - 4096 of them."""
    (tmp_path / "darwin.c").write_text(DARWIN)
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-o", tmp_path / "darwin.so", tmp_path / "darwin.c", "-ldl"],
        check=True,
        capture_output=True,
    )
    code = """
        import contextlib, os, socket, threading
        import typedbytes as tb
        from typedbytes.block import BlockEncoder, BlockReader, BlockWriter

        class Socket(socket.socket):
            pass

        class Head:
            def write(self, data):
                start.extend(data[:64])
                return len(data)

        value = bytes(2**32)
        with contextlib.ExitStack() as ends:
            one, two, three = [[*map(ends.enter_context, socket.socketpair())] for _ in range(3)]
            own = ends.enter_context(Socket(fileno=two[0].detach()))
            for sink in (one[0], os.pipe()[1], own):
                writer = BlockWriter(sink, "native")
                writer.write([value, value])
                print(writer.offset > 2 * len(value))
            with tb.Writer(three[0]) as writer:
                writer.write(bytes(2**31 - 1))
            print(writer.offset)
        start = bytearray()
        BlockEncoder("native").send([value], Head())
        reading, writing = os.pipe()
        os.write(writing, start)
        threading.Thread(target=lambda: [os.write(writing, bytes(1 << 20)) for _ in range(40)], daemon=True).start()
        print(len(BlockReader(reading, "native").read()[0]) == len(value))
    """
    monkeypatch.setenv(
        "LD_PRELOAD", " ".join(filter(None, [os.environ.get("LD_PRELOAD"), str(tmp_path / "darwin.so")]))
    )
    assert run_fresh(code).split() == ["True", "True", "True", str(2**31 + 4), "True"]
