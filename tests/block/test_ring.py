"""Connections through memory: bytes in order, wake-ups, closes, forks, peers that lie, stall or are killed."""

import contextlib
import fcntl
import hashlib
import mmap
import os
import pickle
import random
import resource
import signal
import socket
import struct
import subprocess
import threading
import time
import zlib

import numpy
import pytest

import typedbytes as tb
from soak import block_ring
from support import block_peer
from support.block_calls import formatted
from support.block_messages import echo_messages, random_message
from support.process_memory import held
from support.ring_reference import FUTURE_WRITE, GROW, HEAD, HEAD_SIZE, RUNG, SEAL, SHRINK, TAIL, WAIT, SlowRing
from support.subprocess_runs import run_fresh, within
from typedbytes.block import BlockDecoder, BlockEncoder, BlockReader, BlockWriter, Command, Connection, SharedRing

pytestmark = pytest.mark.free_threaded

SPINS = (0, 50e-6)


@contextlib.contextmanager
def started(function, *args):
    """Run a function in a thread of its own; its exception is raised at the end."""
    errors = []

    def run():
        try:
            function(*args)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield thread
    except BaseException:
        thread.join(timeout=5)  # it may wait for what does not come any more
        raise
    thread.join()
    if errors:
        raise errors[0]


@contextlib.contextmanager
def rings(capacity=4096, spin=0, kind="unix"):
    """Yield the two sides of a ring."""
    with socket_pair(kind) as (ours, theirs):
        found = []
        with started(lambda: found.append(SharedRing.accept(theirs, spin))):
            first = SharedRing(ours, capacity, spin)
        with first, found[0] as second:
            yield first, second


@contextlib.contextmanager
def socket_pair(kind="unix"):
    """Yield two connected sockets, and a bound for what may hang."""
    if kind == "unix":
        ours, theirs = socket.socketpair()
    else:
        with socket.create_server(("127.0.0.1", 0)) as server:
            ours = socket.create_connection(server.getsockname())
            theirs, _ = server.accept()
    with ours, theirs, within():
        yield ours, theirs


@contextlib.contextmanager
def with_slow(capacity=4096, spin=0, **options):
    """Yield a ring, and the other side of it that a test moves by hand."""
    with socket_pair() as (ours, theirs):
        found = []
        with started(lambda: found.append(SlowRing.accept(theirs, **options))):
            ring = SharedRing(ours, capacity, spin)
        with ring:
            ring.timeout = 60  # what hangs is at fault
            yield ring, found[0]


def mapped():
    """Return how many memories for rings this process maps."""
    with open("/proc/self/maps") as file:
        return sum("memfd:typedbytes" in line for line in file)


def echo(ring):
    """Send every message back, until the end."""
    reader, writer = BlockReader(ring), BlockWriter(ring, "native")
    for message in reader:
        writer.write(message.values, id=message.id or 0)


@pytest.mark.parametrize("spin", SPINS)
@pytest.mark.parametrize("kind", ["unix", "tcp"])
def test_messages_of_any_size_pass_both_ways(spin, kind):
    rng = random.Random(1)
    large = [bytes(range(256)) * 1000, "x" * 70_000, numpy.arange(30_000.0)]
    with rings(4096, spin, kind) as (first, second):
        for ring, other in ((first, second), (second, first)):
            sent = [random_message(rng, "native") for _ in range(300)]
            sent += [[bytes(n)] for n in (4070, 4071, 4072, 4073, 8192)] + [large]
            with started(lambda writer: writer.writes(sent), BlockWriter(ring, "native")):
                reader = BlockReader(other, "native")
                for args in sent:
                    alone = BlockDecoder("native").decode(BlockEncoder("native").encode(args))
                    assert formatted(reader.read()) == formatted(alone)


@pytest.mark.parametrize("wire", ["bytes", "line", "total"])
def test_every_layout_passes(wire):
    with rings() as (first, second):
        BlockWriter(first, wire).write([Command("a"), 5, "text", 2.5])
        assert BlockReader(second, wire).read() == [Command("a"), 5, "text", 2.5]


@pytest.mark.parametrize("spin", SPINS)
def test_both_directions_at_once(spin):
    """A thread that waits for bytes and one that waits for space sleep on one socket."""
    data = random.Random(2).randbytes(1 << 18)

    def receive(ring):
        digest = hashlib.sha256()
        buffer = bytearray(5000)
        nbytes = 0
        while nbytes < len(data):
            count = ring.readinto(buffer)
            digest.update(buffer[:count])
            nbytes += count
        assert digest.digest() == hashlib.sha256(data).digest()

    with rings(4096, spin) as pair, contextlib.ExitStack() as stack:
        for ring in pair:
            stack.enter_context(started(ring.write, data))
            stack.enter_context(started(receive, ring))


def test_the_description_of_the_memory_is_enough_to_speak_to_it():
    data = random.Random(3).randbytes(9000)
    with with_slow() as (ring, slow):
        with started(slow.write, data):
            found = bytearray()
            while len(found) < len(data):
                part = bytearray(3000)
                found += part[: ring.readinto(part)]
        assert found == data
        with started(ring.write, data):
            assert slow.read(len(data)) == data


@pytest.mark.parametrize("spin", SPINS)
def test_a_call_returns_its_reply(spin):
    with rings(4096, spin) as (first, second), started(echo, second):
        for number in range(100):
            assert first.call(Command("a"), number, "x" * (number % 90)) == ["a", number, "x" * (number % 90)]
        assert first.call(bytes(100_000)) == [bytes(100_000)]
        assert first.call() == []
        with pytest.raises(tb.EncodeTypeError):
            first.call(object())
        assert first.call(1) == [1]
        first.close()


@pytest.mark.parametrize("spin", SPINS)
def test_several_threads_call(spin):
    def call(ring, mine):
        for number in range(100):
            assert ring.call(mine, number) == [mine, number]

    with rings(4096, spin) as (first, second), started(echo, second):
        with contextlib.ExitStack() as stack:
            for mine in range(4):
                stack.enter_context(started(call, first, mine))
        first.close()


def test_a_call_within_a_call_is_refused():
    with rings() as (first, second), started(echo, second):
        connection = Connection(first, default=lambda value: connection.call(1))
        with pytest.raises(RuntimeError, match="in use"):
            connection.call(object())
        assert connection.call(2) == [2]
        connection.close()
        assert first.closed and connection.closed
        with pytest.raises(ValueError, match="closed"):
            connection.call(3)


def test_a_connection_over_a_socket_is_the_same():
    with socket_pair() as (ours, theirs), started(echo, theirs):
        with Connection(ours) as connection:
            assert connection.call(1, "a") == [1, "a"]
    with pytest.raises(TypeError, match="a SharedRing or a socket"):
        Connection([])


def test_a_reply_that_comes_too_late_is_dropped():
    with rings() as (first, second):
        first.timeout = 0.02
        for number in (1, 2):
            with pytest.raises(socket.timeout):
                first.call(number)
        first.timeout = None
        assert first.timeout is None
        with started(echo, second):
            assert first.call(3) == [3]
            first.close()


@pytest.mark.parametrize("id", [0, 2, 4, 2**32 - 1])
def test_a_reply_to_another_message_is_a_fault(id):
    with rings() as (first, second):
        BlockWriter(second, "native").write(["wrong"], id=id)
        with pytest.raises(tb.BlockError, match="expected the reply to message 1"):
            first.call(1)


def test_a_timeout_applies_to_each_wait():
    with rings() as (first, second):
        first.timeout = second.timeout = 0.02
        with pytest.raises(socket.timeout):
            first.readinto(bytearray(1))
        with pytest.raises(socket.timeout):
            first.write(bytes(5000))
        writer = BlockWriter(first, "native")
        with pytest.raises(socket.timeout):
            writer.write([1])  # nothing was sent
        buffer = bytearray(4096)
        assert second.readinto(buffer) == 4096
        writer.write([2])
        assert BlockReader(second, "native").read() == [2]
        for seconds in (0, -1, 1e9):
            with pytest.raises(ValueError, match="timeout is above 0"):
                first.timeout = seconds


def test_what_was_written_is_read_after_a_close():
    with rings() as (first, second):
        BlockWriter(first, "native").write([1, "last"])
        first.close()
        first.close()
        reader = BlockReader(second, "native")
        assert reader.read() == [1, "last"]
        assert reader.read() is None and reader.read() is None
        with pytest.raises(BrokenPipeError):
            second.write(b"x")
        with pytest.raises(ValueError, match="closed"):
            first.write(b"x")
        with pytest.raises(ConnectionError):
            second.call(1)


def test_an_end_inside_a_message_is_an_error():
    data = BlockEncoder("native").encode(["some text"])
    for nbytes in range(1, len(data)):
        with rings() as (first, second):
            first.write(data[:nbytes])
            first.close()
            with pytest.raises(tb.TruncatedError):
                BlockReader(second, "native").read()


def test_closing_ends_the_waits_of_other_threads():
    def receive(ring):
        assert ring.readinto(bytearray(1)) == 0

    def send(ring):
        with pytest.raises(BrokenPipeError):
            ring.write(bytes(10_000))

    with rings() as (first, second), started(receive, first), started(send, first):
        while not fallen_asleep(second):
            time.sleep(0.001)
        first.close()


def fallen_asleep(ring):
    """Whether the other side of a ring waits for a bell."""
    return struct.unpack_from("<Q", ring._theirs, WAIT)[0] & 1


def test_nothing_is_left_of_the_memory():
    before, descriptors = mapped(), held()
    with rings():
        assert mapped() == before + 4
        assert len(held()) == len(descriptors) + 4  # those of the mappings
    assert mapped() == before and held() == descriptors


def test_a_forked_child_does_not_use_the_ring():
    with rings() as (first, second):
        first.write(b"before")
        child = os.fork()
        if child == 0:
            code = 1
            with contextlib.suppress(RuntimeError):
                first.write(b"x")
                os._exit(code)
            with contextlib.suppress(RuntimeError):
                second.readinto(bytearray(9))
                os._exit(code)
            first.close()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        first.write(b" and after")
        buffer = bytearray(99)
        assert buffer[: second.readinto(buffer)] == b"before and after"


def test_signals_are_handled_during_a_wait():
    class Interrupted(Exception):
        pass

    def interrupt(number, frame):
        raise Interrupted

    before = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with rings() as (first, second):
            main = threading.get_ident()

            def send():
                while not fallen_asleep(second):
                    time.sleep(0.001)
                signal.pthread_kill(main, signal.SIGUSR1)

            with started(send), pytest.raises(Interrupted):
                first.call(1)
            with started(echo, second):
                assert first.call(2) == [2]
                first.close()
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_what_cannot_be_a_ring_is_refused():
    with socket_pair() as (ours, _):
        for capacity in (0, 4095, 4097, 1 << 31, -4096):
            with pytest.raises(ValueError, match="power of two"):
                SharedRing(ours, capacity)
        for spin in (-1, 2, float("nan")):
            with pytest.raises(ValueError, match="spin is"):
                SharedRing(ours, spin=spin)
        ours.setblocking(False)
        with pytest.raises(ValueError, match="must block"):
            SharedRing(ours)
    with rings() as (first, _):
        with pytest.raises(TypeError):
            pickle.dumps(first)
        with pytest.raises(RuntimeError, match="again"):
            first._start(bytearray(8192), bytes(8192), 0, None, 0.0)


@pytest.mark.parametrize(
    ("wrong", "error"), [({"spin": "x"}, TypeError), ({"spin": 2}, ValueError), ({"sock": 0}, TypeError)]
)
def test_what_a_caller_gets_wrong_leaves_the_offer(wrong, error):
    with socket_pair() as (ours, theirs):

        def accept():
            with pytest.raises(error):
                SharedRing.accept(**{"sock": theirs, **wrong})
            SharedRing.accept(theirs).close()

        with started(accept), SharedRing(ours) as ring:
            assert ring.readinto(bytearray(1)) == 0
            with pytest.raises(RuntimeError, match="again"):
                ring.__init__(ours)
        with pytest.raises(error):
            SharedRing(**{"sock": ours, **wrong})


@pytest.mark.parametrize("kind", ["bytes", "message"])
def test_a_signal_handler_cannot_write_inside_what_is_written(kind):
    got = bytearray()
    large, main, is_written = b"A" * 5_000_000, threading.get_ident(), threading.Event()

    def write(ring, data):
        return ring.write(data) if kind == "bytes" else BlockWriter(ring, "native").write([data])

    def handle(number, frame):
        with contextlib.suppress(RuntimeError):
            write(first, b"B" * 10)

    def interrupt():
        while not is_written.wait(0.0002):
            signal.pthread_kill(main, signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, handle)
    try:
        with rings(65536) as (first, second), contextlib.ExitStack() as stack:

            def read():
                buffer, count = bytearray(16384), 0
                while count < len(large):
                    piece = buffer[: second.readinto(buffer)]
                    count += piece.count(b"A")
                    got.extend(piece)

            stack.enter_context(started(read))
            stack.enter_context(started(interrupt))
            stack.callback(is_written.set)
            write(first, large)
        assert large in got
    finally:
        signal.signal(signal.SIGUSR1, before)


def test_one_processor_never_spins(monkeypatch):
    spins = []

    class Seen(SharedRing):
        def _start(self, mine, theirs, file, timeout, spin):
            spins.append(spin)
            super()._start(mine, theirs, file, timeout, spin)

    for allowed in ({0}, {0, 1}):
        monkeypatch.setattr(os, "sched_getaffinity", lambda pid, allowed=allowed: allowed)
        with socket_pair() as (ours, theirs), started(lambda sock: SlowRing.accept(sock), theirs):
            Seen(ours).close()
    assert spins == [0.0, 50e-6]


# ---- a hostile peer

LIES = {
    "a tail beyond the capacity": (TAIL, 4097),
    "a tail far beyond it": (TAIL, 2**63),
    "the largest tail": (TAIL, 2**64 - 1),
}


@pytest.mark.parametrize("spin", SPINS)
@pytest.mark.parametrize("name", LIES)
def test_bytes_that_cannot_be_there_are_a_fault(name, spin):
    with with_slow(spin=spin) as (ring, slow):
        slow.publish(*LIES[name])
        for _ in range(2):
            with pytest.raises(tb.BlockError, match="cannot be there"):
                ring.readinto(bytearray(10_000))
        with pytest.raises(tb.BlockError, match="cannot be there"):
            BlockReader(ring, "native").read()
        assert slow.sock.recv(9) == b""  # the connection is shut down


def test_a_tail_that_goes_back_is_a_fault():
    with with_slow() as (ring, slow):
        slow.write(bytes(100))
        assert ring.readinto(bytearray(60)) == 60
        slow.store(TAIL, 50)
        assert ring.readinto(bytearray(60)) == 40  # seen before
        with pytest.raises(tb.BlockError, match="cannot be there"):
            ring.readinto(bytearray(60))


@pytest.mark.parametrize("head", [4097, 2**64 - 1, 2**63])
def test_a_head_beyond_the_tail_is_a_fault(head):
    with with_slow() as (ring, slow):
        ring.write(bytes(4096))
        slow.store(HEAD, head)
        with pytest.raises(tb.BlockError, match="not written"):
            ring.write(b"x")
        with pytest.raises(tb.BlockError, match="not written"):
            BlockWriter(ring, "native").write([1])
        assert slow.sock.recv(9) == b""


def test_a_head_that_goes_back_is_a_fault():
    with with_slow() as (ring, slow):
        ring.write(bytes(4096))
        slow.store(HEAD, 2000)
        ring.write(bytes(2000))
        slow.store(HEAD, 1999)
        with pytest.raises(tb.BlockError, match="not written"):
            ring.write(b"x")


def test_positions_are_not_read_back_from_the_own_memory():
    """A process that has kept a way to change them changes nothing."""
    with with_slow() as (ring, slow):
        ring.write(b"one")
        for word in (TAIL, HEAD, WAIT, RUNG):
            struct.pack_into("<Q", ring._mine, word, 2**64 - 5)
        ring.write(b"two")
        assert slow.load(TAIL) == 6 and slow.theirs[HEAD_SIZE : HEAD_SIZE + 6] == b"onetwo"
        slow.write(b"back")
        buffer = bytearray(9)
        assert ring.readinto(buffer) == 4


def test_bells_for_no_sleep_are_a_fault():
    with with_slow() as (ring, slow):
        slow.sock.send(b"12")
        with pytest.raises(tb.BlockError, match="does not sleep"):
            ring.readinto(bytearray(9))
    with with_slow() as (ring, slow):
        ring.timeout = 0.01
        slow.sock.send(b"1")  # allowed: a sleep may have ended before its byte came
        with pytest.raises(socket.timeout):
            ring.readinto(bytearray(9))


def test_bells_that_were_not_sent_are_not_waited_for():
    with with_slow() as (ring, slow):
        slow.store(RUNG, 2**63 - 1)
        for number in range(20):
            slow.write(b"%d" % (number % 10))
            assert ring.readinto(bytearray(9)) == 1


def test_a_wait_that_lies_costs_one_bell_a_change():
    with with_slow() as (ring, slow):
        slow.sock.setblocking(False)
        for _ in range(3):
            slow.store(WAIT, 1)
            ring.write(b"x")
        assert slow.sock.recv(99) == b"\0"
        for wait in range(3, 20_000, 2):  # more than a socket holds: no write waits for it
            slow.store(WAIT, wait)
            slow.store(HEAD, ring_tail := slow.load(TAIL))
            ring.write(b"x")
            assert slow.load(TAIL) == ring_tail + 1
        assert 0 < slow.load(RUNG) < 10_000


def test_pages_removed_before_the_seal_are_found():
    def punch(file):
        mine = mmap.mmap(file, HEAD_SIZE + 65536)
        mine.madvise(mmap.MADV_REMOVE, HEAD_SIZE, 4096)

    with socket_pair() as (ours, theirs):
        with started(SlowRing.accept, theirs, punch):
            with pytest.raises(tb.BlockError, match="fewer than"):
                SharedRing(ours, 65536)
            ours.shutdown(socket.SHUT_RDWR)


def test_lent_memory_is_safe_after_the_seal():
    files = []
    with with_slow(before_answer=lambda file: files.append(os.dup(file))) as (ring, slow):
        for take in (
            lambda: os.ftruncate(files[0], 0),
            lambda: os.pwrite(files[0], b"x", 0),
            lambda: mmap.mmap(files[0], HEAD_SIZE),
            lambda: slow.mine.madvise(mmap.MADV_REMOVE),
            lambda: fcntl.fcntl(files[0], 1033, SHRINK),
        ):
            with pytest.raises(PermissionError):
                take()
        os.close(files[0])


def test_memory_that_is_not_that_of_a_ring_is_refused():
    with socket_pair() as (ours, theirs), started(lambda: SlowRing.accept(theirs, magic=b"\x01TBRING\x02")):
        with pytest.raises(tb.BlockError, match="not that of a ring"):
            SharedRing(ours, 4096)


ALL = SHRINK | GROW | FUTURE_WRITE | SEAL
OFFERS = {
    "own memory without a seal": {"seals": 0},
    "own memory that can shrink": {"seals": GROW | FUTURE_WRITE},
    "own memory in which holes can be made": {"seals": SHRINK | GROW},
    "lent memory that can shrink": {"lent_seals": GROW},
    "memory smaller than declared": {"nbytes": HEAD_SIZE + 4095},
    "a capacity that is no power of two": {"capacity": 5000},
    "a capacity that is too small": {"capacity": 2048},
}


@pytest.mark.parametrize("name", OFFERS)
def test_an_offer_of_unsafe_memory_is_refused(name):
    def accept(sock):
        with pytest.raises(tb.BlockError, match="cannot be used"):
            SharedRing.accept(sock)

    with socket_pair() as (ours, theirs), started(accept, theirs):
        answer, _, files = SlowRing.offer(ours, **OFFERS[name])
        assert answer[0] == "refused" and isinstance(answer[1], str)
        for file in files:
            os.close(file)
        BlockWriter(ours, "native").write(["over the socket"])
        assert BlockReader(theirs, "native").read() == ["over the socket"]


def test_a_sound_offer_is_accepted():
    def accept(sock):
        with SharedRing.accept(sock) as ring:
            assert ring.readinto(bytearray(9)) == 3

    with socket_pair() as (ours, theirs), started(accept, theirs):
        answer, slow, files = SlowRing.offer(ours)
        assert answer == ["mapped"]
        BlockWriter(ours, "native").write([Command("sealed")])
        slow.write(b"abc")
        for file in files:
            os.close(file)


@pytest.mark.parametrize(
    "offer",
    [["/etc/passwd", "/etc/passwd", 4096], ["/proc/self/fd/0", "/proc/self/fd/0", 4096], [1, 2, 3], [],
     ["/proc/9999999999/fd/1", "/proc/9999999999/fd/2", 4096]],
)  # fmt: skip
def test_offers_that_lie_are_faults(offer):
    with socket_pair() as (ours, theirs):
        BlockWriter(ours, "native").write([Command("ring"), *offer])
        with pytest.raises(tb.BlockError):
            SharedRing.accept(theirs)


def test_a_peer_that_never_answers_leaves_no_memory():
    before, descriptors = mapped(), held()
    with socket_pair() as (ours, _):
        ours.settimeout(0.05)
        with pytest.raises(socket.timeout) as caught:
            SharedRing(ours)
        assert held() == descriptors and mapped() == before, caught


@pytest.mark.parametrize("spin", SPINS)
@pytest.mark.parametrize("variant", block_ring.VARIANTS)
def test_every_message_of_many_comes_as_it_was(variant, spin):
    with within():
        assert block_ring.run(variant, 2000, 4096, spin) > 20


@pytest.mark.parametrize("variant", [name for name in block_ring.IN_C if name != "java"])
def test_every_message_of_very_many_comes_in_c(variant):
    with within():
        assert block_ring.run_in_c(variant, 200_000, 4096, 0) > 1000


@pytest.mark.parametrize("spin", SPINS)
def test_every_message_comes_from_a_side_that_stands_still_for_a_while(spin):
    with within():
        block_ring.run_stops(200_000, 4096, spin)


@pytest.mark.unsanitized("it has sanitizers of its own")
@pytest.mark.parametrize("sanitizer", ["thread", "address,undefined"])
def test_two_threads_on_a_ring_have_no_race(sanitizer, tmp_path):
    """ThreadSanitizer sees no fences, but every byte that is read before it was published."""
    program = tmp_path / "driver"
    block_ring.compile_driver(tmp_path, "-g", "-O1", "-Wno-tsan", f"-fsanitize={sanitizer}", "-o", program)
    command = ["setarch", "--addr-no-randomize", program, "300000"]  # gcc's tsan knows few layouts of memory
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0 and "WARNING" not in done.stdout, done.stdout


# ---- peers that are killed, and no work when idle


@pytest.mark.parametrize("spin", SPINS)
@pytest.mark.parametrize("wrote", [b"", b"a part"])
def test_a_killed_peer_is_noticed(spin, wrote):
    with socket_pair() as (ours, theirs):
        child = os.fork()
        if child == 0:
            ours.close()
            ring = SharedRing.accept(theirs, spin)
            if wrote:
                ring.write(BlockEncoder("native").encode(["text"])[:-2])
            ring.readinto(bytearray(9))
            os.kill(os.getpid(), signal.SIGKILL)
        theirs.close()
        with SharedRing(ours, 4096, spin) as ring:
            ring.write(b"x")
            with pytest.raises(tb.TruncatedError) if wrote else contextlib.nullcontext():
                assert BlockReader(ring, "native").read() is None
            with pytest.raises(BrokenPipeError):
                ring.write(bytes(10_000))
        os.waitpid(child, 0)


def test_a_writer_that_waits_for_space_notices_a_killed_peer():
    with socket_pair() as (ours, theirs):
        child = os.fork()
        if child == 0:
            ours.close()
            ring = SharedRing.accept(theirs)
            ring.readinto(bytearray(4096))
            os.kill(os.getpid(), signal.SIGKILL)
        theirs.close()
        with SharedRing(ours, 4096) as ring, pytest.raises(BrokenPipeError):
            ring.write(bytes(100_000))
        os.waitpid(child, 0)


def test_an_idle_ring_uses_no_processor():
    with rings(spin=50e-6) as (first, second), started(echo, second):
        assert first.call(1) == [1]
        before = resource.getrusage(resource.RUSAGE_SELF)
        first.timeout = 1.0
        with pytest.raises(socket.timeout):
            first.readinto(bytearray(1))
        after = resource.getrusage(resource.RUSAGE_SELF)
        assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.5
        first.close()


def test_a_system_without_sealed_memory_is_reported(monkeypatch):
    monkeypatch.delattr(os, "memfd_create")
    with socket_pair() as (ours, _), pytest.raises(OSError, match="Linux 5.1"):
        SharedRing(ours)


def test_the_import_needs_no_system():
    code = """
        import sys
        sys.modules["fcntl"] = None    # as on Windows
        import typedbytes.block
        print(typedbytes.block.SharedRing.__name__)
    """
    assert run_fresh(code) == "SharedRing"


# ---- Java on the other side


@pytest.mark.hadoop
def test_java_copies_very_many_messages():
    with within():
        assert block_ring.run_in_c("java", 100_000, 4096, 50e-6) > 1000


@pytest.mark.hadoop
@pytest.mark.parametrize("spin", SPINS)
def test_every_message_comes_back_from_java_that_stands_still_for_a_while(spin):
    with within():
        block_ring.run_java_stops(100_000, 4096, spin)


@pytest.mark.hadoop
def test_java_echoes_over_a_ring(tmp_path):
    for where in ("tcp", f"unix:{tmp_path / 'peer'}"):
        with block_peer.peer("echo", "native", where) as sock, within(), SharedRing(sock) as ring:
            echo_messages(ring, "native", random.Random(4), 1500)


@pytest.mark.hadoop
@pytest.mark.parametrize("spin", SPINS)
def test_java_answers_calls_around_the_moment_when_it_falls_asleep(spin):
    rng = random.Random(5)
    with block_peer.peer("checksum", "native") as sock, within(), SharedRing(sock, 4096, spin) as ring:
        for number in range(1000):
            data = rng.randbytes(rng.choice((0, 8, 100, 4000, 5000, 20_000)) if number % 50 == 0 else 8)
            assert ring.call(data) == [zlib.crc32(data), 1]
            until = time.perf_counter_ns() + rng.randrange(80_000)
            while time.perf_counter_ns() < until:
                pass


@pytest.mark.hadoop
def test_java_refuses_unsafe_memory_and_goes_on_over_the_socket():
    with block_peer.peer("echo", "native") as sock, within():
        for name, options in OFFERS.items():
            answer, _, files = SlowRing.offer(sock, **options)
            assert answer[0] == "refused" and isinstance(answer[1], str), name
            for file in files:
                os.close(file)
        for wrong in (["/etc/passwd", "/etc/passwd", 4096], ["/proc/self/fd/0", "/proc/self/fd/0", 4096]):
            BlockWriter(sock, "native").write([Command("ring"), *wrong])
            assert BlockReader(sock, "native").read()[0] == "refused"
        BlockWriter(sock, "native").write([1])
        assert BlockReader(sock, "native").read() == [1]


@pytest.mark.hadoop
@pytest.mark.skipif(os.geteuid() != 0, reason="root alone gives a file to another user")
def test_java_refuses_memory_of_another_user():
    with block_peer.peer("echo", "native") as sock, within():
        answer, _, files = SlowRing.offer(sock, owner=65534)
        assert answer[0] == "refused" and "of another user" in answer[1]
        for file in files:
            os.close(file)


@pytest.mark.hadoop
def test_java_does_not_wait_for_a_pipe_that_takes_the_place_of_memory(tmp_path):
    """It checks what a path leads to, and opens it: the other side may change that in between."""
    os.mkfifo(tmp_path / "pipe")
    pipe = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    memory = os.memfd_create("typedbytes", os.MFD_ALLOW_SEALING)
    offered = os.dup(memory)
    has_ended = threading.Event()

    def swap():
        while not has_ended.is_set():
            os.dup2(memory, offered)
            os.dup2(pipe, offered)

    path = f"/proc/{os.getpid()}/fd/{offered}"
    with block_peer.peer("echo", "native") as sock, within(), started(swap):
        try:
            reader, writer = BlockReader(sock, "native"), BlockWriter(sock, "native")
            for _ in range(500):
                writer.write([Command("ring"), path, path, 4096])
                assert reader.read()[0] == "refused"
        finally:
            has_ended.set()
            os.close(os.open(tmp_path / "pipe", os.O_RDWR))  # a peer that waits for a writer ends
    for file in (pipe, memory, offered):
        os.close(file)


@contextlib.contextmanager
def java_deceived(sock):
    """Yield a ring whose other side is Java, to be moved by hand; afterwards Java has closed the connection."""
    answer, slow, files = SlowRing.offer(sock)
    assert answer == ["mapped"]
    BlockWriter(sock, "native").write([Command("sealed")])
    for file in files:
        os.close(file)
    yield slow
    with contextlib.suppress(ConnectionResetError):
        while sock.recv(100):
            pass


def _write_beyond(slow):
    slow.publish(TAIL, 4097)


def _write_very_far(slow):
    slow.publish(TAIL, 2**64 - 1)


def _go_back(slow):
    slow.write(b"\xf5\x42\x42")
    while slow.load(HEAD) != 3:
        time.sleep(0.001)
    slow.publish(TAIL, 2)


def _read_what_was_not_written(slow):
    slow.store(HEAD, 2**63)
    slow.write(BlockEncoder("native").encode([bytes(9000)]))


def _read_backwards(slow):
    slow.write(BlockEncoder("native").encode([bytes(9000)]))
    while slow.load(TAIL) != 4096:
        time.sleep(0.001)
    slow.publish(HEAD, 4000)
    while slow.load(TAIL) != 8096:
        time.sleep(0.001)
    slow.publish(HEAD, 3999)


def _ring_for_nothing(slow):
    while not slow.load(WAIT) & 1:
        time.sleep(0.001)
    slow.sock.send(b"123")


@pytest.mark.hadoop
def test_java_ends_the_connection_of_a_peer_that_lies():
    with block_peer.peer("echo", "native") as first, within():
        address = first.getpeername()
        first.close()
        for lie in (
            _write_beyond, _write_very_far, _go_back, _read_what_was_not_written, _read_backwards, _ring_for_nothing,
        ):  # fmt: skip
            with socket.create_connection(address) as sock, java_deceived(sock) as slow:
                lie(slow)
        with socket.create_connection(address) as sock, SharedRing(sock) as ring:
            assert ring.call(1, "sound") == [1, "sound"]


@pytest.mark.hadoop
@pytest.mark.parametrize("spin", SPINS)
def test_java_and_python_notice_a_killed_side(spin):
    with within():
        block_ring.run_java_kills(12, 4096, spin)
