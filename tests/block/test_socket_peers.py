"""Block messages to and from peers that close, stall or fail, and signals meanwhile."""

import contextlib
import gc
import os
import signal
import socket
import threading

import pytest

import typedbytes as tb
from support import block_reference as slow
from support.signal_checks import interrupted_when_readable, times_checked
from support.socket_sinks import collecting
from support.subprocess_runs import SECONDS, within
from typedbytes.block import BlockEncoder, BlockReader, BlockWriter, CoalescingWriter

pytestmark = [pytest.mark.free_threaded, pytest.mark.newest_python]


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
            found.extend(reader)  # no bytecode of ours runs, which could handle the signal
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
