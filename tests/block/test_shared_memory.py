"""Bodies in shared memory: in place, in order, released; peers that die or send wrong messages."""

import _posixshmem
import contextlib
import errno
import fcntl
import mmap
import os
import pickle
import random
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import types
import zlib

import numpy
import pytest

import typedbytes as tb
from support import block_peer
from support.namespaces import WITHOUT_PROC, needs_no_proc
from support.process_memory import held
from support.streaming_support import environment
from support.subprocess_runs import run_fresh, within
from typedbytes.block import BlockReader, BlockWriter, Command, SharedChannel, _system_memory

pytestmark = pytest.mark.free_threaded


@contextlib.contextmanager
def channels(nbytes):
    """Yield the two ends of a channel."""
    ours, theirs = socket.socketpair()
    with ours, theirs, within():
        found = []
        thread = threading.Thread(target=lambda: found.append(SharedChannel.accept(theirs)))
        thread.start()
        sender = SharedChannel(ours, nbytes)
        thread.join()
        with sender, found[0] as receiver:
            yield sender, receiver


@pytest.fixture
def named(monkeypatch):
    """Return the set of the names that this process has given to memory; other processes have names of their own."""
    names, shm_open = set(), _posixshmem.shm_open

    def recorded(path, *flags, **mode):
        names.add(path.lstrip("/"))
        return shm_open(path, *flags, **mode)

    monkeypatch.setattr(_posixshmem, "shm_open", recorded)
    return names


@pytest.fixture(params=["Linux", "macOS"])
def memory_of(request, monkeypatch, named):
    """Make channels as on either system: Linux has macOS's calls, but lets their memory be truncated."""
    if request.param == "macOS":
        monkeypatch.setattr(_system_memory, "sys", types.SimpleNamespace(platform="darwin"))
    yield request.param
    assert not named & set(os.listdir("/dev/shm")) and not held()


on_both_systems = pytest.mark.usefixtures("memory_of")


@on_both_systems
def test_bodies_come_as_they_were_filled():
    with channels(1 << 16) as (sender, receiver):
        for nbytes in (0, 1, 63, 64, 65, 5000):
            body = sender.reserve(nbytes)
            body.view[:] = data = os.urandom(nbytes)
            body.publish("some", nbytes)
            with received(receiver) as found:
                assert (bytes(found.view), list(found.values), found.view.readonly) == (data, ["some", nbytes], True)
                assert found.offset % 16 == 0
        sender.flush()
        assert sender.reserve((1 << 16) - 16).nbytes == (1 << 16) - 16


@contextlib.contextmanager
def received(receiver):
    """Yield the next body, and release it."""
    with receiver.receive() as body:
        yield body


def test_nothing_is_left_of_the_memory(memory_of, named):
    with channels(4096):
        assert len(held()) == 2 * (memory_of == "Linux")
        assert len(named) == (memory_of == "macOS") and not named & set(os.listdir("/dev/shm"))


@on_both_systems
def test_memory_is_used_again_only_after_the_answer():
    rng = random.Random(1)
    with channels(64_000) as (sender, receiver):
        sums = []

        def consume():
            held = []
            while len(sums) < 300:
                body = receiver.receive()
                held.append(body)
                sums.append(zlib.crc32(body.view) == body.values[0])
                while len(held) > rng.randrange(2):
                    body = held.pop(0)
                    sums[-1] &= zlib.crc32(body.view) == body.values[0]
                    body.release()
            for body in held:
                body.release()

        thread = threading.Thread(target=consume)
        thread.start()
        for _ in range(300):
            body = sender.reserve(rng.randrange(12_000))
            body.view[:] = os.urandom(body.nbytes)
            body.publish(zlib.crc32(body.view))
        sender.flush()
        thread.join()
        assert sums == [True] * 300


@on_both_systems
def test_arrays_lie_in_the_memory_itself():
    with channels(1 << 20) as (sender, receiver):
        body = sender.reserve(80_000)
        filled = numpy.frombuffer(body.view, "f8")
        filled[:] = numpy.arange(10_000)
        del filled
        body.publish("f8")
        found = receiver.receive()
        array = numpy.frombuffer(found.view, "f8")
        assert array.sum() == sum(range(10_000))
        with pytest.raises(BufferError):
            receiver.close()
        del array
        receiver.close()


@on_both_systems
def test_arrays_that_a_traceback_keeps_do_not_hide_its_error():
    with channels(4096) as (sender, receiver):
        sender.reserve(8).publish()
        with pytest.raises(KeyError, match="of the caller"), receiver, receiver.receive() as found:
            array = numpy.frombuffer(found.view, "u1")
            raise KeyError("of the caller")
        del array, found


@on_both_systems
def test_what_does_not_fit_is_refused():
    with channels(4096) as (sender, _):
        for nbytes in (4096, 4081, 1 << 40):
            with pytest.raises(ValueError, match="do not fit"):
                sender.reserve(nbytes)
        body = sender.reserve(4000)
        with pytest.raises(ValueError, match="do not fit"):
            sender.reserve(100)
        body.publish()
        with pytest.raises(ValueError, match="published"):
            body.publish()


@on_both_systems
def test_bodies_are_released_and_published_once():
    with channels(4096) as (sender, receiver):
        with sender.reserve(4000):  # discarded: no message is sent
            pass
        with sender.reserve(4000) as body:
            body.publish()
        with receiver.receive() as found:
            with pytest.raises(ValueError, match="was received"):
                found.publish()
            held = pickle.PickleBuffer(found.view)
            with pytest.raises(BufferError):
                found.release()
            held.release()
        found.release()
        sender.flush()
        with pytest.raises(ValueError, match="published"):
            body.publish()
        with pytest.raises(ValueError, match="must not be negative"):
            sender.reserve(-17)
        sender.reserve(10).publish("last")
        last = receiver.receive()
        assert list(last.values) == ["last"]
        receiver.close()
        last.release()


@on_both_systems
def test_a_body_that_is_published_again_is_a_fault():
    with channels(4096) as (sender, receiver):
        body = sender.reserve(10)
        offer = [body.offset, body.nbytes, body.id]
        body.publish()
        sender._writer.write([Command("body"), *offer])
        with receiver.receive(), pytest.raises(tb.BlockError, match="again"):
            receiver.receive()


@on_both_systems
def test_a_receiver_that_dies_is_reported():
    with socket_pair() as (ours, theirs):
        child = os.fork()
        if child == 0:
            ours.close()
            channel = SharedChannel.accept(theirs)
            channel.receive()
            os.kill(os.getpid(), signal.SIGKILL)
        theirs.close()
        sender = SharedChannel(ours, 4096)
        sender.reserve(3000).publish()
        with pytest.raises((ConnectionError, tb.TruncatedError)):
            sender.reserve(3000)
        os.waitpid(child, 0)
        sender.close()
    assert not held()


@on_both_systems
def test_a_sender_that_dies_is_reported():
    with socket_pair() as (ours, theirs):
        child = os.fork()
        if child == 0:
            theirs.close()
            channel = SharedChannel(ours, 4096)
            body = channel.reserve(3)
            body.view[:] = b"end"
            body.publish()
            channel.reserve(100)  # not published: the receiver does not see it
            os.kill(os.getpid(), signal.SIGKILL)
        ours.close()
        receiver = SharedChannel.accept(theirs)
        body = receiver.receive()
        assert bytes(body.view) == b"end"
        os.waitpid(child, 0)
        assert bytes(body.view) == b"end"  # memory lives as long as a process maps it
        with pytest.raises((ConnectionError, tb.TruncatedError)):
            assert receiver.receive() is None
            raise ConnectionError("the end, as it should be")
        receiver.close()
    assert not held()


@contextlib.contextmanager
def socket_pair():
    """Yield two sockets, and a bound for what may hang."""
    ours, theirs = socket.socketpair()
    with ours, theirs, within():
        yield ours, theirs


@on_both_systems
def test_a_peer_that_never_answers_leaves_no_memory():
    with socket_pair() as (ours, _):
        ours.settimeout(0.05)
        with pytest.raises(socket.timeout):
            SharedChannel(ours, 4096)
    assert not held()


LIES = {
    "outside": [16, 5000, 1],
    "negative": [16, -1, 1],
    "before": [0, 10, 1],
    "far": [2**40, 1, 1],
    "stale": [16, 10, 7],
    "text": ["16", 10, 1],
}


@on_both_systems
@pytest.mark.parametrize("name", LIES)
def test_messages_that_lie_are_faults(name):
    with channels(4096) as (sender, receiver):
        body = sender.reserve(10)
        sender._writer.write([Command("body"), *LIES[name]])
        with pytest.raises(tb.BlockError):
            receiver.receive()
        body.view.release()


@pytest.mark.parametrize(
    "offer",
    [["/etc/passwd", 10], ["/dev/shm/typedbytes-1-0", 10], ["/proc/self/fd/1", 10],
     ["/proc/1/fd/1/../../../etc/passwd", 10], [5, 5], ["/proc/1/fd/1\0", 5], ["/proc/1/fd/1\n", 5],
     ["/proc/9999999999/fd/1", 5], ["/proc/1/fd/1", 5, 5], ["/proc/1/fd/1"], []],
)  # fmt: skip
def test_offers_that_lie_are_faults(offer):
    with socket_pair() as (ours, theirs):
        BlockWriter(ours, "native").write([Command("share"), *offer])
        with pytest.raises(tb.BlockError):
            SharedChannel.accept(theirs)


@pytest.mark.parametrize(
    ("offer", "said"),
    [(["/typedbytes-0123456789abcdef", 10], "cannot be opened .No such file or directory.: one user"),
     (["/typedbytes-0123456789ABCDEF", 10], "is not shared"),
     (["/typedbytes-0123456789abcdef\n", 10], "is not shared"), (["/typedbytes-0123456789abcde/", 10], "is not shared"),
     (["/proc/self/fd/1", 10], "is not shared"),
     ([5, 5], "expected"), (["/typedbytes-0123456789abcdef"], "expected")],
)  # fmt: skip
def test_offers_that_lie_are_faults_on_macos(offer, said, monkeypatch):
    monkeypatch.setattr(_system_memory, "sys", types.SimpleNamespace(platform="darwin"))
    with socket_pair() as (ours, theirs):
        BlockWriter(ours, "native").write([Command("share"), *offer])
        with pytest.raises(tb.BlockError, match=said):
            SharedChannel.accept(theirs)


def test_a_system_maps_no_memory_as_the_other_names_it(monkeypatch):
    """Linux lets shared memory of POSIX be truncated, so an offer of it is refused there."""
    with _system_memory._make_posix(4096) as (memory, path), memory:
        with pytest.raises(tb.BlockError, match="is not sealed memory"):
            _system_memory.map_memory(path, 4096)
        monkeypatch.setattr(_system_memory, "sys", types.SimpleNamespace(platform="darwin"))
        for nbytes in (-1, 0, 4097):
            with pytest.raises(tb.BlockError, match=f"fewer than {nbytes} bytes"):
                _system_memory.map_memory(path, nbytes)
        with _system_memory.map_memory(path, 4096) as mapped, pytest.raises(TypeError):
            mapped[0] = 1  # it is read only


SHRINK, GROW, FUTURE_WRITE = 2, 4, 16


def offered(sock, file, nbytes):
    """Offer memory, as a sender does."""
    BlockWriter(sock, "native").write([Command("share"), f"/proc/{os.getpid()}/fd/{file}", nbytes])


@pytest.mark.parametrize("seals", [0, GROW, SHRINK | GROW, FUTURE_WRITE | GROW])
def test_memory_that_the_sender_can_truncate_is_refused(seals):
    with socket_pair() as (ours, theirs), memory(4096, seals) as file:
        offered(ours, file, 4096)
        with pytest.raises(tb.BlockError, match="not sealed"):
            SharedChannel.accept(theirs)
    assert not held()


@contextlib.contextmanager
def memory(nbytes, seals):
    """Yield the descriptor of memory with some seals."""
    file = os.memfd_create("typedbytes", os.MFD_ALLOW_SEALING)
    try:
        os.posix_fallocate(file, 0, nbytes)
        fcntl.fcntl(file, 1033, seals)
        yield file
    finally:
        os.close(file)


def test_files_are_refused(tmp_path):
    """Opening a pipe would wait for its other end."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(bytes(4096))
    for name, said in (("pipe", "is not memory"), ("file", "not sealed"), (".", "is not memory")):
        with socket_pair() as (ours, theirs):
            file = os.open(tmp_path / name, os.O_PATH)
            offered(ours, file, 4096)
            with pytest.raises(tb.BlockError, match=said):  # at once: nothing is opened to wait for its other end
                SharedChannel.accept(theirs)
            os.close(file)


def test_memory_that_is_not_allocated_is_refused():
    with socket_pair() as (ours, theirs), memory(4096, 0) as file:
        os.ftruncate(file, 1 << 30)
        fcntl.fcntl(file, 1033, SHRINK | FUTURE_WRITE)
        offered(ours, file, 4097)
        with pytest.raises(tb.BlockError, match="fewer than 4097 bytes"):
            SharedChannel.accept(theirs)


def test_memory_whose_blocks_lie_beyond_what_is_declared_is_refused():
    with socket_pair() as (ours, theirs), memory(4096, 0) as file:
        os.ftruncate(file, 0)
        os.ftruncate(file, 8192)
        os.posix_fallocate(file, 4096, 4096)
        fcntl.fcntl(file, 1033, SHRINK | FUTURE_WRITE)
        offered(ours, file, 4096)
        with pytest.raises(tb.BlockError, match="more than 4096 bytes"):
            SharedChannel.accept(theirs)


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone gives a file to another user")
def test_memory_of_another_user_is_refused():
    with socket_pair() as (ours, theirs), memory(4096, SHRINK | FUTURE_WRITE) as file:
        os.fchown(file, 65534, -1)
        offered(ours, file, 4096)
        with pytest.raises(tb.BlockError, match="of another user"):
            SharedChannel.accept(theirs)


def test_neither_side_can_remove_memory():
    with channels(8192) as (sender, receiver):
        body = sender.reserve(8000)
        body.view[:] = data = os.urandom(8000)
        body.publish()
        for each in held():
            file = os.open(f"/proc/self/fd/{each}", os.O_RDWR)
            for take in (
                lambda: os.ftruncate(file, 0),
                lambda: os.pwrite(file, b"x", 0),
                lambda: mmap.mmap(file, 8192),
            ):
                with pytest.raises(PermissionError):
                    take()
            os.close(file)
        with pytest.raises(PermissionError):
            sender._memory.madvise(mmap.MADV_REMOVE)
        with receiver.receive() as found:
            assert found.view == data


def test_a_system_without_sealed_memory_is_reported(monkeypatch):
    def refuse(file, command, argument=0):
        raise OSError(errno.EINVAL, "an older kernel")

    with socket_pair() as (ours, theirs), memory(4096, 0) as file:
        offered(ours, file, 4096)
        with monkeypatch.context() as patch:
            patch.setattr(fcntl, "fcntl", refuse)
            with pytest.raises(OSError, match="Linux 5.1"):
                SharedChannel(ours, 4096)
        monkeypatch.delattr(os, "memfd_create")
        monkeypatch.delattr(os, "O_PATH")
        for make in (lambda: SharedChannel(ours, 4096), lambda: SharedChannel.accept(theirs)):
            with pytest.raises(OSError, match="need Linux 5.1") as caught:
                make()
            assert caught.value.errno == errno.ENOTSUP
    assert not held()
    code = """
        import sys
        sys.modules["fcntl"] = None    # as on Windows
        import typedbytes.block
        print(typedbytes.block.SharedChannel.__name__)
    """
    assert run_fresh(code) == "SharedChannel"


@needs_no_proc
def test_a_linux_without_proc_is_reported():
    code = textwrap.dedent("""
        import socket
        from typedbytes.block import BlockReader, BlockWriter, Command, SharedChannel
        ours, theirs = socket.socketpair()
        BlockWriter(ours).write([1, "two"])
        print(list(BlockReader(theirs).read()))
        BlockWriter(ours, "native").write([Command("share"), "/proc/1/fd/1", 10])
        for make in (lambda: SharedChannel(ours, 4096), lambda: SharedChannel.accept(theirs)):
            try:
                make()
            except OSError as error:
                print(error.strerror)
    """)
    done = subprocess.run(
        [*WITHOUT_PROC, sys.executable, "-c", code], capture_output=True, text=True, env=environment()
    )
    said = "bodies in shared memory need Linux 5.1 or later with /proc and a Python that has os.memfd_create, or macOS"
    assert done.stdout.splitlines() == ["[1, 'two']", said, said], done.stderr


def test_more_memory_than_there_is_is_refused(monkeypatch):
    assert 1 << 20 < _system_memory._available_nbytes() < 1 << 50
    monkeypatch.setattr(_system_memory, "_available_nbytes", lambda: 4095)
    with socket_pair() as (ours, _):
        with pytest.raises(OSError, match="more than the 4095") as caught:
            SharedChannel(ours, 4096)
        assert caught.value.errno == errno.ENOMEM


@pytest.mark.hadoop
def test_java_takes_bodies(tmp_path):
    for where in ("tcp", f"unix:{tmp_path / 'peer'}"):
        with block_peer.peer("ack", "native", where) as sock, within(), SharedChannel(sock, 1 << 24) as channel:
            for nbytes in (0, 1, 1000, 10_000_000, 16_000_000):
                body = channel.reserve(nbytes)
                body.view[:] = os.urandom(nbytes)
                body.publish(zlib.crc32(body.view))
                channel.flush()
            BlockWriter(sock, "native").write([1])
            assert BlockReader(sock).read_bytes(1) == b"\0"
            body = channel.reserve(10)
            body.publish(1)  # another sum
            with pytest.raises((ConnectionError, tb.TruncatedError)):
                channel.flush()


@pytest.mark.hadoop
def test_java_refuses_memory_that_the_sender_can_truncate():
    with block_peer.peer("ack", "native") as first, within():
        address = first.getpeername()
        first.close()
        for seals in (0, GROW, SHRINK | GROW, FUTURE_WRITE | GROW, SHRINK | FUTURE_WRITE):
            with socket.create_connection(address) as sock, memory(4096, seals) as file:
                offered(sock, file, 4096)
                with contextlib.suppress(ConnectionError):
                    assert (BlockReader(sock).read() is not None) == (seals == SHRINK | FUTURE_WRITE)
