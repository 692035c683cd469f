"""Messages through rings, as many as one likes: each verified by its number and a checksum, wrap-arounds counted.

Run by `python tests/soak/block_ring.py 1000000`, or with the names of variants after the number. Here: the run, long or
short, of two processes and with a JVM. Not here: peers that lie, which tests/block/test_ring.py has. Invariant: it ends
well only when every message came, in its order and as it was; one that hangs ends by a timeout.
"""

import os
import random
import socket
import sys
import time
import zlib

from support import block_peer
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
    reader = BlockReader(ring, "native")
    for number, body, seconds in messages(count, ring.capacity, seed):
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
    """Spread the messages over the variants."""
    names = names or (*VARIANTS, "java")
    each = -(-count // (4 * len(names)))
    total = 0
    for capacity in (4096, 262144):
        for spin in (0, 50e-6):
            for name in names:
                size = 4096 if name == WAKE_UPS else capacity
                wraps = run_java(each, size, spin) if name == "java" else run(name, each, size, spin)
                total += wraps
                print(f"{name}, {size} bytes, spin {spin}: {each:,} messages, {wraps:,} wraps", flush=True)
    print(f"{4 * len(names) * each:,} messages verified, {total:,} wrap-arounds")


if __name__ == "__main__":
    main(int(sys.argv[1]), *sys.argv[2:])
