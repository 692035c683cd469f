"""Messages through rings, as many as one likes: each verified by its number and a checksum, wrap-arounds counted.

Run by `python tests/soak/block_ring.py 1000000`, or with the names of variants after the number. Most messages are sent
and verified by ring_driver.c, and few by the package, which is slower than the ring. Here: the run, long or short, of
two processes and with a JVM. Not here: peers that lie, which tests/block/test_ring.py has. Invariant: it ends well only
when every message came, in its order and as it was; one that hangs ends by a timeout.
"""

import contextlib
import ctypes
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from functools import cache, partial
from pathlib import Path

import numpy

from support import block_peer
from typedbytes import TruncatedError
from typedbytes.block import BlockReader, BlockWriter, SharedRing

SECONDS = 60  # of one wait: a wake-up was lost
POOL = random.Random(1).randbytes(1 << 16)
PAUSED = 50  # one in so many messages comes after a pause
WAKE_UPS = "wake-ups"  # calls that fill the ring many times, while the other side, which never spins, empties it


def sizes(rng, capacity):
    """Yield sizes of bodies: mostly small, some around the capacity, few that pass it in many parts."""
    while True:
        kind = rng.random()
        if kind < 0.9:
            yield rng.randrange(64)
        elif kind < 0.99:
            yield rng.randrange(2 * min(capacity, len(POOL) // 2))
        else:
            yield rng.randrange(len(POOL))


def messages(count, capacity, seed):
    """Yield the numbers, bodies and pauses of a run: both sides make the same. Without a seed: large ones at once."""
    if seed is None:
        for number in range(count):
            yield number, POOL[number % 100 :], 0
        return
    rng = random.Random(seed)
    for number, nbytes in zip(range(count), sizes(rng, capacity)):
        start = rng.randrange(len(POOL) - nbytes + 1)
        yield number, POOL[start : start + nbytes], rng.randrange(100) * 1e-6 if number % PAUSED == 0 else 0


def pause(seconds):
    """Wait, and stay awake."""
    until = time.perf_counter() + seconds
    while seconds and time.perf_counter() < until:
        pass


def send(ring, count, seed):
    """Write numbered messages with their checksums."""
    writer = BlockWriter(ring, "native")
    for number, body, seconds in messages(count, ring.capacity, seed):
        pause(seconds)
        writer.write([number, zlib.crc32(body), body])
    return writer.offset


def verify(ring, count, seed):
    """Read them: AssertionError for one that is missing, changed or out of order."""
    return verify_messages(BlockReader(ring, "native"), count, ring.capacity, seed)


def verify_messages(reader, count, capacity, seed):
    """Read them of a reader that goes on."""
    for number, body, seconds in messages(count, capacity, seed):
        pause(seconds)
        found = reader.read()
        assert found is not None and found[0] == number, (number, found)
        assert found[1] == zlib.crc32(found[2]) and found[2] == body, f"message {number} has changed"
    return reader.offset


def call(ring, count, seed):
    """Call, and verify each answer, a checksum."""
    nbytes = 0
    for number, body, seconds in messages(count, ring.capacity, seed):
        pause(seconds)
        nbytes += 24 + 32 + len(body)
        expected = [zlib.crc32(number.to_bytes(8, "big") + body), 2]
        assert ring.call(number, body) == expected, f"call {number} has another answer"
    return nbytes


def answer(ring, count, seed):
    """Answer calls with checksums, until the end."""
    reader, writer = BlockReader(ring, "native"), BlockWriter(ring, "native")
    for message in reader:
        number, body = message
        writer.write([zlib.crc32(number.to_bytes(8, "big") + body), 2], id=message.id)


class DrivenRing(SharedRing):
    """A ring of which ring_driver.c is one side, until the process ends."""

    def _start(self, mine, theirs, file, timeout, spin):
        first, second = (ctypes.c_void_p(numpy.frombuffer(memory, "u1").ctypes.data) for memory in (mine, theirs))
        spin_ns = ctypes.c_longlong(round(spin * 1e9))
        self.side = ctypes.c_void_p(driver().open_side(first, second, ctypes.c_uint64(len(mine) - 4096), file, spin_ns))

    def drive(self, nsent, nread, is_polled=False, even=0):
        """Send messages and verify others, maybe all of `even` bytes; return how many bytes the ring sent and read."""
        positions = (ctypes.c_uint64 * 2)()
        counts = ctypes.c_uint64(nsent), ctypes.c_uint64(nread)
        verdict(driver().drive(self.side, *counts, is_polled, even, positions))
        return sum(positions)

    def time_echoes(self, nbytes, count, latest=0):
        """Return how many nanoseconds each of many echoes took; latest: at most that many before each is read."""
        times = (ctypes.c_uint32 * count)()
        verdict(driver().time_echoes(self.side, ctypes.c_size_t(nbytes), ctypes.c_size_t(count), latest, times))
        return list(times)


def verdict(result):
    """AssertionError for a side that has not ended well."""
    assert result == 0, f"a side in C ends with {('', 'a lost wake-up', 'no peer', 'a fault', 'changed bytes')[result]}"


@cache
def driver():
    """Return the library of ring_driver.c, compiled when a source has changed."""
    sources = [block_peer.ROOT / name for name in ("tests/soak/ring_driver.c", "src/typedbytes/block/ring.h")]
    folder = block_peer.jars._made(block_peer.jars.BUILD / "ring-driver", sources, compile_driver)
    library = ctypes.CDLL(str(folder / "driver.so"))
    library.open_side.restype = ctypes.c_void_p
    library.time_cache_line.restype = ctypes.c_double
    return library


def compile_driver(folder, *options):
    """Compile it, as a library unless options say otherwise."""
    command = ["cc", "-O3", "-Wall", "-Wextra", "-Werror", f"-I{block_peer.ROOT / 'src/typedbytes'}", "-pthread"]
    options = options or ("-shared", "-fPIC", "-o", folder / "driver.so")
    subprocess.run([*command, *options, Path(__file__).with_name("ring_driver.c")], check=True)


def run_in_c(variant, count, capacity, spin):
    """Run a variant of the driver between two processes, or with a JVM; return the number of wrap-arounds."""
    driver()
    if variant == "java":
        with block_peer.peer("copy", "native") as sock:
            return DrivenRing(sock, capacity, spin).drive(count, count) // capacity
    there, back, is_polled = IN_C[variant]
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        try:
            ours.close()
            DrivenRing.accept(theirs, spin).drive(round(back * count), round(there * count), is_polled)
            os._exit(0)
        finally:
            os._exit(1)
    theirs.close()
    try:
        with ours:
            nbytes = DrivenRing(ours, capacity, spin).drive(round(there * count), round(back * count))
    finally:
        _, status = os.waitpid(child, 0)
    assert status == 0, "the other side has failed"
    return nbytes // capacity


def run_threads(count, capacity, spin):
    """Let both sides be threads of one program, some around the moment when the other falls asleep."""
    with tempfile.TemporaryDirectory() as folder:
        compile_driver(folder, "-o", f"{folder}/driver")
        subprocess.run([f"{folder}/driver", str(count), "20"], check=True)
    return 0


def run_kills(count, capacity, spin):
    """Kill a side at any moment while it sends, many times: what had come is whole, and the end is noticed."""
    rng = random.Random(capacity)
    slowest = nwraps = 0
    for _ in range(count):
        ours, theirs = socket.socketpair()
        child = os.fork()
        if child == 0:
            try:
                ours.close()
                send(SharedRing.accept(theirs, spin), 1 << 30, 1)
            finally:
                os._exit(1)
        theirs.close()
        with ours, SharedRing(ours, capacity, spin) as ring:
            reader = BlockReader(ring, "native")
            nwraps += verify_messages(reader, rng.randrange(300), capacity, 1) // capacity
            os.kill(child, signal.SIGKILL)
            started = time.perf_counter()
            try:
                for number, crc, body in reader:
                    assert crc == zlib.crc32(body), f"message {number} has changed"
            except TruncatedError:
                pass
            slowest = max(slowest, time.perf_counter() - started)
        os.waitpid(child, 0)
    print(f"{count} kills, the slowest noticed after {slowest * 1000:.1f} ms")
    return nwraps


def run_java_wake_ups(count, capacity, spin):
    """Let a JVM publish answers around the moment when this side, which never spins, falls asleep.

    Each is as long as what the JVM reads before it publishes that it has: when it falls asleep it has nothing left to
    publish, which would wake this side up after all. Only the optimizing compiler of the JVM leaves out a fence.
    """
    with block_peer.peer("copy", "native", options=()) as sock:
        DrivenRing(sock, 4096, 0).time_echoes(4096 // 4, count, 4000)
    return 0


def run_java_kills(count, capacity, spin):
    """Kill three processes that call a JVM, then the JVM, while they call, write or wait; the other side notices."""
    rng = random.Random(capacity)
    slowest = {"Java": 0.0, "Python": 0.0}
    ways = (call, send, lambda ring, *_: ring.readinto(bytearray(1)))  # without a reader, what is sent fills the ring

    def kill(process, started):
        time.sleep(rng.random() * 0.05)
        started.append(time.perf_counter())
        os.kill(process, signal.SIGKILL)

    def noticed(name, started):
        slowest[name] = max(slowest[name], time.perf_counter() - started[0])

    for number in range(-(-count // 4)):
        with tempfile.TemporaryDirectory() as folder, block_peer.peer("checksum", "native", f"unix:{folder}/p") as sock:
            java = process_of(sock)
            for work in ways:
                child, started = forked(lambda: work(SharedRing(sock, capacity, spin), 1 << 30, 1)), []
                sock.close()
                sock = socket.socket(socket.AF_UNIX)
                sock.connect(f"{folder}/p")
                kill(child, started)
                BlockWriter(sock, "native").write([1])
                assert BlockReader(sock, "native").read()[1] == 1  # the next client is served
                noticed("Java", started)
                assert os.waitpid(child, 0)[1] == signal.SIGKILL, "a side has failed"
            with sock, SharedRing(sock, capacity, spin) as ring:
                ring.timeout, started = SECONDS, []
                threading.Thread(target=kill, args=(java, started)).start()
                with contextlib.suppress(ConnectionError, TruncatedError):
                    ways[number % 3](ring, 1 << 30, 1)
                noticed("Python", started)
    print("kills, the slowest noticed by", {name: f"{found * 1000:.1f} ms" for name, found in slowest.items()})
    return 0


def process_of(sock):
    """Return the process id of the other side of a Unix socket."""
    return struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]


def run_stops(count, capacity, spin):
    """Stop a side or both at any moment, again and again, as a machine does that stands still: all comes as it was."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        first = forked(lambda: theirs.close() or DrivenRing(ours, capacity, spin).drive(count, count))
        second = forked(lambda: ours.close() or DrivenRing.accept(theirs, spin).drive(count, count))
    stop_often([first, second], [first, second])
    return 0


def run_java_stops(count, capacity, spin):
    """The same with a JVM."""
    with tempfile.TemporaryDirectory() as folder:
        with block_peer.peer("copy", "native", f"unix:{folder}/peer") as sock:
            child = forked(lambda: DrivenRing(sock, capacity, spin).drive(count, count))
            stop_often([child, process_of(sock)], [child])
    return 0


def forked(function):
    """Run a function in a child, and return its process id."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            function()
            code = 0
        finally:
            os._exit(code)
    return child


def stop_often(processes, children):
    """Stop one of two processes, or both, for up to 10 ms, until a child ends; AssertionError unless all end well."""
    rng = random.Random(1)
    nstops, statuses = 0, {}
    while not statuses:
        chosen = rng.choice([processes[:1], processes[1:], processes])
        for sign in (signal.SIGSTOP, signal.SIGCONT):
            for process in chosen:
                os.kill(process, sign)
            time.sleep(rng.random() * 0.01)
        nstops += 1
        statuses = {child: status for child, status in (os.waitpid(child, os.WNOHANG) for child in children) if child}
    print(f"{nstops} stops")
    statuses.update(os.waitpid(child, 0) for child in children if child not in statuses)
    assert not any(statuses.values()), "a side has failed"


IN_C = {"one way": (1, 0, False), "both ways": (0.5, 0.5, False), "polled": (1, 0, True), "java": None}
VARIANTS = {"one way": (send, verify), "back": (verify, send), "calls": (call, answer), WAKE_UPS: (call, answer)}


def run(variant, count, capacity, spin, seed=1):
    """Run a variant between two processes; return the number of wrap-arounds of the ring."""
    if variant == WAKE_UPS:
        seed, spin, their_spin = None, max(spin, 50e-6), 0
    else:
        their_spin = spin
    ours, theirs = socket.socketpair()
    here, there = VARIANTS[variant]
    child = os.fork()
    if child == 0:
        code = 1
        try:
            ours.close()
            with SharedRing.accept(theirs, their_spin) as ring:
                ring.timeout = SECONDS
                there(ring, count, seed)
            code = 0
        finally:
            os._exit(code)
    theirs.close()
    try:
        with ours, SharedRing(ours, capacity, spin) as ring:
            ring.timeout = SECONDS
            nbytes = here(ring, count, seed)
            if variant == "one way":
                assert ring.readinto(bytearray(1)) == 0  # the other side has read all
    finally:
        _, status = os.waitpid(child, 0)
    assert status == 0, "the other side has failed"
    return nbytes // capacity


def run_java(count, capacity, spin, seed=1):
    """Let a JVM answer the calls; return the number of wrap-arounds."""
    with block_peer.peer("checksum", "native") as sock, SharedRing(sock, capacity, spin) as ring:
        ring.timeout = SECONDS
        return call(ring, count, seed) // capacity


def main(count, *names):
    """Spread the messages over the variants, all but a thousandth over those in C."""
    others = {
        "java": run_java, "threads": run_threads, "kills": run_kills, "stops": run_stops,
        "java kills": run_java_kills, "java stops": run_java_stops, "java wake-ups": run_java_wake_ups,
    }  # fmt: skip
    slow = [(name, others.get(name) or partial(run, name)) for name in names or (*VARIANTS, *others)]
    fast = [] if names else [(f"in C, {name}", partial(run_in_c, name)) for name in IN_C]
    nmessages = nwraps = 0
    for capacity in (4096, 262144):
        for spin in (0, 50e-6):
            for name, variant in slow + fast:
                share = 0.999 / len(fast) if name.startswith("in C") else (0.001 if fast else 1) / len(slow)
                each = round(count * share / 4) + 1
                size = 4096 if name == WAKE_UPS else capacity
                wraps = variant(each, size, spin)
                nmessages, nwraps = nmessages + each, nwraps + wraps
                print(f"{name}, {size} bytes, spin {spin}: {each:,} messages, {wraps:,} wraps", flush=True)
    print(f"{nmessages:,} messages verified, {nwraps:,} wrap-arounds")


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
