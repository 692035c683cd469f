"""Block messages over sockets, pipes and files: the number of system calls and copies, and peers that fail."""

import asyncio
import contextlib
import errno
import gc
import io
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import weakref

import pytest

import typedbytes as tb
from support import block_reference as slow
from support.block_calls import Pieces
from support.machine import NEEDS_64_BITS
from support.signal_checks import interrupted_when_readable, times_checked
from support.subprocess_runs import SECONDS, program, run_fresh, within
from typedbytes.block import BlockEncoder, BlockReader, BlockWriter, CoalescingWriter, Command

pytestmark = [pytest.mark.free_threaded, pytest.mark.newest_python]

# -- system calls -----------------------------------------------------------------------------------------

SENDER = """
import os, socket, sys
from typedbytes.block import BlockWriter
kind, wire, *sizes = sys.argv[1:]
for nbytes in sizes:
    if kind == "pipe":
        reading, sink = os.pipe()
        if nbytes != "0": os.close(reading); sink = os.open("/dev/null", os.O_WRONLY)
    elif kind == "unix":
        ours, sink = socket.socketpair()
        for end in (ours, sink): end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 21)
    else:
        listener = socket.create_server(("127.0.0.1", 0))
        sink = socket.create_connection(listener.getsockname())
        ours, _ = listener.accept()
        sink.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
    value = "x" * int(nbytes)
    writer = BlockWriter(sink, wire)
    os.write(2, b"-- begin\\n")
    writer.write(["a", value, 5])
    os.write(2, b"-- end\\n")
"""


def traced_calls(kind, wire, *sizes):
    """Return for each size the system calls between the two lines that a sender writes, as strace has them."""
    command = [
        program("strace"), "-qq", "-e", "trace=write,writev,send,sendto,sendmsg,poll,setsockopt", sys.executable, "-c",
        SENDER,
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.run(
        [*command, kind, wire, *map(str, sizes)], capture_output=True, text=True, env=environment, timeout=SECONDS
    )
    assert child.returncode == 0, child.stderr
    between = (part.split('write(2, "-- end', 1)[0] for part in child.stderr.split("-- begin\n")[1:])
    return [re.findall(r"^(\w+)\(", part, re.M) for part in between]


@pytest.mark.parametrize(
    "kind, calls", [("tcp", ("sendto", "sendmsg")), ("unix", ("sendto", "sendmsg")), ("pipe", ("write", "writev"))]
)
@pytest.mark.parametrize("wire", ["bytes", "native"])
def test_a_message_is_one_system_call(wire, kind, calls):
    assert traced_calls(kind, wire, 0, 65_400, 200_000) == [[calls[0]], [calls[0]], [calls[1]]]


class Counting:
    """A socket that counts what is done with it."""

    def __init__(self, sock, most=1 << 30):
        self.sock, self.most, self.calls = sock, most, []

    def send(self, data):
        """Send some of the bytes."""
        self.calls.append(("send", len(data)))
        return self.sock.send(data[: self.most])

    def sendmsg(self, views):
        """Send some of several pieces."""
        self.calls.append(("sendmsg", sum(map(len, views))))
        return self.sock.send(b"".join(views)[: self.most])

    def setsockopt(self, *option):
        """Keep the option."""
        self.calls.append(option)


class CountingSocket(socket.socket):
    """The same by inheritance."""

    ncalls = 0

    def send(self, data, *flags):
        """Count and send."""
        CountingSocket.ncalls += 1
        return super().send(data, *flags)

    def sendmsg(self, buffers, *rest):
        """Count and send."""
        CountingSocket.ncalls += 1
        return super().sendmsg(buffers, *rest)


@contextlib.contextmanager
def collecting(sock, wire="bytes"):
    """Read messages from a socket in a thread; give the list that they are put into."""
    messages = []

    def work():
        with BlockReader(sock, wire) as reader:
            messages.extend(reader)

    thread = threading.Thread(target=work)
    thread.start()
    yield messages
    thread.join()
    sock.close()


@pytest.mark.parametrize("wire", slow.WIRES)
def test_a_counting_socket_counts_one(wire):
    ours, theirs = socket.socketpair()
    counting = Counting(ours)
    lists = [slow.published(size) for size in range(9)]
    with collecting(theirs, wire) as messages, ours:
        writer = BlockWriter(counting, wire)
        for args in lists:
            writer.write(args)
        assert counting.calls[0] == (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        assert [call for call, *_ in counting.calls[1:]] == ["send"] * 9
        assert BlockEncoder(wire).send([bytes(300_000)], counting) == len(slow.encode(wire, [bytes(300_000)]))
        assert [call for call, *_ in counting.calls[11:]] == ["sendmsg"]
    assert messages == [*lists, [bytes(300_000)]]


def test_a_subclass_of_socket_does_its_own_work():
    ours, theirs = socket.socketpair()
    with collecting(theirs) as messages, CountingSocket(fileno=ours.detach()) as sock:
        for args in ([1], [bytes(100_000)]):
            BlockWriter(sock).write(args)
        assert CountingSocket.ncalls == 2
    assert messages == [[1], [bytes(100_000)]]


def test_no_delay_is_set():
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
        BlockWriter(sock)
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
        BlockWriter(sock.fileno())
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_batch_is_one_system_call():
    ours, theirs = socket.socketpair()
    counting = Counting(ours)
    with collecting(theirs) as messages, ours:
        writer = BlockWriter(counting)
        assert writer.writes([[number, "x"] for number in range(10)]) == 10
        assert len(counting.calls) == 2
        assert (writer.record, writer.offset) == (10, 10 * 21)
    assert messages == [[number, "x"] for number in range(10)]


class Sizes:
    """A sink that keeps the number of bytes of each call."""

    def __init__(self):
        self.calls = []

    def write(self, data):
        """Count."""
        self.calls.append(len(data))


@pytest.mark.parametrize("buffer_size, nbytes", [(0, 65_536), (1000, 65_536), (1 << 20, 1 << 20)])
def test_a_batch_is_sent_in_calls_of_64_kib_or_of_the_buffer(buffer_size, nbytes):
    sink = Sizes()
    writer = BlockWriter(sink, buffer_size=buffer_size)
    assert writer.writes([[bytes(1000)]] * 3000) == 3000
    full = -(-nbytes // 1012) * 1012
    assert set(sink.calls[: 3000 * 1012 // full]) == {full}
    assert 3000 * 1012 - sum(sink.calls) < max(buffer_size, 1)
    writer.close()
    assert sum(sink.calls) == 3000 * 1012


def test_a_batch_leaves_less_than_the_buffer_unsent():
    sink = Sizes()
    writer = BlockWriter(sink, buffer_size=1000)
    assert (writer.writes([[bytes(300)]] * 2), sink.calls) == (2, [])
    assert (writer.writes([[bytes(300)]] * 2), sink.calls) == (2, [4 * 312])


def test_a_buffer_gathers_messages():
    sink = io.BytesIO()
    with BlockWriter(sink, buffer_size=100) as writer:
        for number in range(12):
            writer.write([number])
            assert len(sink.getvalue()) == (0 if number < 8 else 108)
        writer.flush()
        assert len(sink.getvalue()) == 144
        writer.write([12])
    assert list(BlockReader(sink.getvalue())) == [[number] for number in range(13)]


def test_a_child_does_not_write_what_its_parent_gathered():
    code = """
        import os, socket, sys
        from typedbytes.block import BlockWriter
        ours, theirs = socket.socketpair()
        writer = BlockWriter(ours, buffer_size=1000)
        writer.write([1])
        for number in (2, 3):
            if os.fork() == 0:
                if number == 3:
                    writer.write([number])
                writer.close()
                ours.close(); theirs.close()
                sys.exit()
            os.wait()
        writer.close()
        print(theirs.recv(1000).hex())
        ours.close(); theirs.close()
    """
    assert run_fresh(code) == (slow.encode("bytes", [3]) + slow.encode("bytes", [1])).hex()


def test_an_unwritten_message_is_warned_of():
    writer = BlockWriter(io.BytesIO(), buffer_size=100)
    writer.write([1])
    with pytest.warns(ResourceWarning, match="unclosed BlockWriter"):
        del writer


def test_a_batch_does_not_wait_while_the_interpreter_ends():
    code = """
        import atexit, io

        def messages():
            for number in range(3):
                yield [number]
                print(len(sink.getvalue()), end=" ")

        atexit.register(lambda: writer.writes(messages()))    # called after the writers were flushed
        from typedbytes.block import BlockWriter
        sink = io.BytesIO()
        writer = BlockWriter(sink, buffer_size=1000)
        writer.flush()
        print()
    """
    assert run_fresh(code).split() == ["12", "24", "36"]


# -- copies -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", ["block", "bytes", "type8", "total", "header", "native"])
def test_a_large_value_is_never_copied(wire):
    code = """
        import os, resource, socket, sys, threading
        from typedbytes.block import BlockWriter, BlockReader, Command
        ours, theirs = socket.socketpair()
        def drain():
            buffer = bytearray(1 << 18)
            while theirs.recv_into(buffer): pass
        thread = threading.Thread(target=drain); thread.start()
        value = b"x" * (64 << 20)
        writer = BlockWriter(ours, sys.argv[1])
        writer.write([Command("warm"), value[:1 << 17]])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        writer.write([Command("a"), value, "hello"])
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1024)
        ours.close(); thread.join(); theirs.close()
    """
    assert run_fresh(code, wire) == "True"


@pytest.mark.parametrize("how", ["Slicing", "Raising", "Gathering"])
def test_what_a_sink_keeps_outlives_the_message(how):
    code = """
        import gc, sys
        from typedbytes.block import BlockEncoder, BlockWriter

        class Slicing:
            def write(self, data):
                kept.append(data[:])
                return len(data)

        class Raising:
            def write(self, data):
                kept.append(data)
                raise OSError

        class Gathering(Slicing):
            def sendmsg(self, pieces):
                kept.extend(piece[:] for piece in pieces)
                for piece in pieces:
                    piece.release()
                pieces.clear()
                return sum(map(len, kept))

        def write(args, sink):
            with BlockWriter(sink, "native") as writer:
                writer.write(args)

        def send(args, sink):
            BlockEncoder("native").send(args, sink)

        sink, kept = globals()[sys.argv[1]](), []
        large = b"y" * 70_000, memoryview(bytes(range(256)) * 300)[::-1], "x" * 70_000, "\\xe4" * 70_000
        for call in write, send:
            for first in [["ab"], *([each] for each in large), [*large, "ab"]]:
                kept.clear()
                args = [*(each[1:] for each in first), 5]
                expected = BlockEncoder("native").encode(args)
                try:
                    call(args, sink)
                except OSError:
                    pass
                del args
                gc.collect()
                found = b"".join(kept)
                assert found and found == expected[:len(found)]
    """
    run_fresh(code, how, flags=("-X", "dev"))


@pytest.mark.parametrize("wire", ["block", "bytes", "type8", "total", "header", "native"])
def test_a_large_value_is_read_into_its_own_memory(wire):
    code = """
        import os, resource, socket, sys
        from typedbytes.block import BlockWriter, BlockReader, BlockEncoder
        ours, theirs = socket.socketpair()
        if os.fork() == 0:
            BlockWriter(ours, sys.argv[1]).write([bytes(64 << 20), "hello"])
            os._exit(0)
        ours.close()
        reader = BlockReader(theirs, sys.argv[1])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        message = reader.read()
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        theirs.close()
        print(len(message[0]), message[1], grown < (64 << 10) + 1024)
    """
    assert run_fresh(code, wire) == f"{64 << 20} hello True"


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


# -- peers ------------------------------------------------------------------------------------------------


def test_a_peer_that_closes():
    ours, theirs = socket.socketpair()
    theirs.close()
    writer = BlockWriter(ours)
    with pytest.raises(BrokenPipeError):
        writer.write([1])
    ours.close()
    ours, theirs = socket.socketpair()
    ours.sendall(slow.encode("bytes", ["abc"])[:-1])
    ours.close()
    reader = BlockReader(theirs)
    for _ in range(2):
        with pytest.raises(tb.TruncatedError) as caught:
            reader.read()
        assert (caught.value.offset, caught.value.record) == (14, 0)
    theirs.close()


def test_a_peer_that_stalls_while_we_read():
    ours, theirs = socket.socketpair()
    theirs.settimeout(0.05)
    reader = BlockReader(theirs)
    data = slow.encode("bytes", ["abc", bytes(100_000)])
    for part in (data[:9], data[9:50_000]):
        ours.sendall(part)
        with within(), pytest.raises(socket.timeout):
            reader.read()
    ours.sendall(data[50_000:])
    assert reader.read() == ["abc", bytes(100_000)]
    ours.close()
    assert reader.read() is None
    theirs.close()


def test_a_peer_that_stalls_while_we_write():
    ours, theirs = socket.socketpair()
    ours.settimeout(0.05)
    writer = BlockWriter(ours)
    with within(), pytest.raises(socket.timeout):
        writer.write([bytes(10_000_000)])
    theirs.setblocking(False)
    with pytest.raises(BlockingIOError):
        while theirs.recv(1 << 20):  # there is free capacity again
            pass
    with pytest.raises(socket.timeout):  # a part of the message was sent: nothing may follow it
        writer.write([1])
    with pytest.raises(BlockingIOError):
        theirs.recv(1)
    writer.close()
    ours.close()
    theirs.close()


def test_an_object_that_raises_may_have_taken_a_part():
    ours, theirs = socket.socketpair()
    with theirs, ours:
        ours.settimeout(0.05)
        file = ours.makefile("wb")
        writer = BlockWriter(file)
        with within(), pytest.raises(socket.timeout):
            writer.write([bytes(60_000)] * 100)
        theirs.setblocking(False)
        with pytest.raises(BlockingIOError):
            while theirs.recv(1 << 20):  # there is free capacity again
                pass
        for _ in range(2):
            with pytest.raises(socket.timeout):
                writer.write([1])
        writer.close()
        theirs.close()
        with contextlib.suppress(OSError):
            file.close()


def test_messages_that_were_not_sent_are_removed():
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    writer, count = BlockWriter(ours), 0
    with pytest.raises(BlockingIOError):
        while True:
            writer.write_raw(bytes(1000))
            count += 1
    theirs.settimeout(1)
    assert len(theirs.recv(1000 * count, socket.MSG_WAITALL)) == 1000 * count
    writer.write_raw(b"only this")
    assert theirs.recv(1000) == b"only this"
    ours.close()
    theirs.close()


@contextlib.contextmanager
def full_socket():
    """Give a socket that can send nothing, and a function that makes it empty and returns the bytes sent next."""
    ours, theirs = socket.socketpair()
    nfull = 0
    with ours, theirs:
        ours.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                nfull += ours.send(bytes(1000))
        ours.settimeout(0.05)
        theirs.settimeout(SECONDS)

        def sent_by(call):
            assert theirs.recv(nfull, socket.MSG_WAITALL) == bytes(nfull)
            call()
            ours.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: theirs.recv(1 << 20), b""))

        yield ours, sent_by


@pytest.mark.parametrize("first", [[bytes(100_000)], [b"small"]], ids=["large", "small"])
def test_a_batch_that_was_not_sent_is_kept_whole(first):
    with full_socket() as (sock, sent_by):
        writer = BlockWriter(sock)
        messages = iter([first] + [[bytes(30_000)]] * 5)
        with within(), pytest.raises(socket.timeout):
            writer.writes(messages)
        written = writer.record
        assert written == 6 - len(list(messages)) < 6
        for call in (lambda: writer.write_raw(b"1"), lambda: writer.write([1]), lambda: writer.write([bytes(100_000)])):
            with within(), pytest.raises(socket.timeout):
                call()
        assert writer.record == written
        data = sent_by(writer.flush)
    assert list(BlockReader(data)) == [first] + [[bytes(30_000)]] * (written - 1)


def test_a_batch_that_times_out_waits_once():
    with full_socket() as (sock, _):
        writer = BlockWriter(sock)
        with within(), pytest.raises(socket.timeout) as caught:
            writer.writes([[1]])
        assert caught.value.__context__ is None
        sock.setblocking(False)
        with pytest.raises(BlockingIOError):
            writer.close()


def test_a_descriptor_that_does_not_block_is_refused():
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with pytest.raises(BlockingIOError):
        BlockReader(reading).read()
    os.close(reading)
    os.close(writing)
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    writer = BlockWriter(ours)
    with pytest.raises(BlockingIOError):
        for _ in range(10_000):
            writer.write([bytes(1000)])
    written = writer.record
    theirs.settimeout(1)
    reader = BlockReader(theirs)
    assert [reader.read() for _ in range(written)] == [[bytes(1000)]] * written
    ours.close()
    theirs.close()


@pytest.mark.parametrize("restart", [True, False])
def test_signals_interrupt_neither_reading_nor_writing(restart):
    handled = []
    before = signal.signal(signal.SIGALRM, lambda *_: handled.append(1))
    signal.siginterrupt(signal.SIGALRM, not restart)
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    try:
        ours, theirs = socket.socketpair()

        def late():
            for _ in range(10):
                threading.Event().wait(0.01)
                ours.sendall(slow.encode("bytes", ["late"]))
            ours.close()

        thread = threading.Thread(target=late)
        thread.start()
        assert list(BlockReader(theirs)) == [["late"]] * 10
        thread.join()
        theirs.close()
        ours, theirs = socket.socketpair()
        with collecting(theirs) as messages, ours:
            BlockWriter(ours).write([bytes(30_000_000)])
        assert messages == [[bytes(30_000_000)]]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert handled


@contextlib.contextmanager
def signals_that(act):
    """Call a function at a signal each 10 ms."""
    before = signal.signal(signal.SIGALRM, lambda *_: act())
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("timeout", [None, 30])
def test_a_full_socket_is_waited_for_through_signals(timeout):
    ours, theirs = socket.socketpair()
    with ours, theirs, within():
        ours.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                ours.send(bytes(1000))
        ours.settimeout(timeout)
        theirs.setblocking(False)
        taken, handled = bytearray(), []

        def message():
            yield "x"
            handled.append("from here on nothing but the call itself")

        def empty():
            if handled:
                handled.append(1)
            if len(handled) > 3:
                with contextlib.suppress(BlockingIOError):
                    while True:
                        taken.extend(theirs.recv(1 << 20))

        with signals_that(empty):
            BlockWriter(ours).write(message())
        with contextlib.suppress(BlockingIOError):
            while True:
                taken.extend(theirs.recv(1 << 20))
    assert len(handled) > 3
    assert taken.strip(b"\0") == slow.encode("bytes", ["x"]).strip(b"\0")


@pytest.mark.parametrize("timeout", [None, 30])
def test_an_empty_socket_is_waited_for_through_signals(timeout):
    ours, theirs = socket.socketpair()
    with ours, theirs, within():
        theirs.settimeout(timeout)
        handled = []

        def feed():
            handled.append(1)
            if len(handled) == 3:
                ours.sendall(slow.encode("bytes", ["x"]))

        reader = BlockReader(theirs)
        with signals_that(feed):
            assert reader.read() == ["x"]
    assert len(handled) >= 3


def test_an_interrupt_comes_through_while_reading():
    ours, theirs = socket.socketpair()
    is_reading = False

    def interrupt(*_):
        if is_reading:  # a signal that is early does nothing, and the next one follows
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    try:
        reader = BlockReader(theirs)
        with pytest.raises(KeyboardInterrupt):
            is_reading = True
            reader.read()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    ours.sendall(bytes(4))
    assert reader.read() == []
    ours.close()
    theirs.close()


@pytest.mark.parametrize(
    "make", [BlockWriter, lambda sock: CoalescingWriter(sock, max_delay=None)], ids=["block", "coalescing"]
)
@pytest.mark.parametrize("nbytes", [40_000, 10_000_000])
def test_an_interrupt_comes_through_when_a_part_has_gone(make, nbytes):
    ours, theirs = socket.socketpair()
    late = threading.Timer(10, lambda: (ours.shutdown(socket.SHUT_WR), theirs.close()))  # the interrupt was not handled
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    with ours, theirs:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        writer = make(ours)
        late.start()
        try:
            with pytest.raises(KeyboardInterrupt), interrupted_when_readable(theirs):
                while True:
                    writer.write([bytes(nbytes)])
        finally:
            signal.signal(signal.SIGALRM, before)
            late.cancel()
        assert len(theirs.recv(1000)) == 1000
        theirs.close()
        with contextlib.suppress(OSError, KeyboardInterrupt):
            writer.close()  # the rest cannot be sent


def test_signals_are_handled_while_a_large_value_is_read():
    reading, writing = os.pipe()
    thread = threading.Thread(target=lambda: (BlockWriter(writing).write([bytes(20_000_000)]), os.close(writing)))
    thread.start()
    assert times_checked(lambda: BlockReader(reading).read()) > 100  # of 305 reads, a pipe's worth each
    thread.join()
    os.close(reading)


class Interrupted(Exception):
    """What a signal raises."""


def test_a_signal_between_messages_loses_none():
    """Signals are checked at each 4096th message."""

    def interrupt(*_):
        raise Interrupted

    found, count = [], 100_000
    reader = BlockReader(b"".join(map(BlockEncoder().encode, ([number] for number in range(count)))))
    before = signal.signal(signal.SIGALRM, interrupt)
    gc.disable()  # its callbacks would handle the signal
    try:
        with contextlib.suppress(Interrupted):
            signal.setitimer(signal.ITIMER_REAL, 0.002)
            found.extend(reader)  # no bytecode of ours that could
    finally:
        gc.enable()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    found.extend(reader)
    assert [message[0] for message in found] == [*range(count)]


def test_a_full_disk_is_reported():
    with open("/dev/full", "wb", buffering=0) as file:
        with pytest.raises(OSError, match="No space left"):
            BlockWriter(file).write([1])


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
