"""Block messages over sockets: the number of system calls, and of copies."""

import io
import os
import re
import socket
import subprocess
import sys

import pytest

from support import block_reference as slow
from support.socket_sinks import Counting, Sizes, collecting
from support.subprocess_runs import SECONDS, program, run_fresh
from typedbytes.block import BlockEncoder, BlockReader, BlockWriter

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
