"""The rows of many small messages in one direction: CPU of the client for a message, and how late messages are.

Here: our coalescing writers and the nine published ways, each sending the same frames to a receiver in a process of its
own. Invariant: a frame carries the time at which it was made, and is late by the receiver's clock, which is the same
one, when its last byte is there.
"""

import array
import asyncio
import os
import queue
import socket
import struct
import threading
import time

from block_race import Row
from typedbytes.block import AsyncCoalescingWriter, BlockReader, CoalescingWriter

FRAME = struct.Struct("!iiqiiiiii32s")  # a LONG, two INTs and 32 bytes on the wire called bytes
PAYLOAD = b"x" * 32
WINDOW_NS = 10_000
BATCH = 8192
PACE = 20  # messages between looks at the clock when the rate is bounded
RATE = 100_000  # messages a second of the rows that measure lateness


def frame(number):
    """Return a frame as the published ways make it."""
    return FRAME.pack(4, 4, time.monotonic_ns(), 3, number, 3, 5, 0, 32, PAYLOAD)


def values(number):
    """Return the same as values."""
    return [time.monotonic_ns(), number, 5, PAYLOAD]


def rows(quick):
    """Yield the rows."""
    nmessages = 2_000 if quick else 100_000
    goals = {"simple": 1500, "asyncio": 1600, "threads": 1700}
    for kind, goal in goals.items():
        ways = {name: way for name, way in WAYS.items() if kind in name}
        yield Row(
            f"CPU of the client for a message, {kind}",
            lambda ways=ways: runs(ways, nmessages, None, 0),
            goal_ns=goal,
            turn=1,
        )
    yield Row(
        "lateness at 100,000 messages a second",
        lambda: runs(WAYS, nmessages // 2, RATE, 1),
        goal_ns=1e6,
        goal_ratio=1,
        turn=1,
        figure="p99",
    )


def runs(ways, nmessages, rate, figure):
    """Return functions, one for each way to send `nmessages` messages: the CPU time of one, or all lateness."""
    return {name: lambda way=way: run(way, nmessages, rate)[figure] for name, way in ways.items()}


def run(way, nmessages, rate):
    """Send messages to a receiver of their own; return ([CPU in ns for one], lateness of each in ns)."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        sock = socket.create_connection(server.getsockname())
        theirs, _ = server.accept()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        sock.close()
        late = array.array("q", [time.monotonic_ns() - message[0] for message in BlockReader(theirs)])
        with open(writing, "wb") as file:
            late.tofile(file)
        os._exit(0)
    theirs.close()
    os.close(writing)
    started = time.process_time_ns()
    with sock:
        way(sock, nmessages, rate)
        spent = time.process_time_ns() - started
        sock.shutdown(socket.SHUT_WR)
        with open(reading, "rb") as file:
            late = array.array("q", file.read())
    os.waitpid(child, 0)
    if len(late) != nmessages:
        raise AssertionError(f"{len(late)} of {nmessages} messages came")
    return [spent / nmessages], late.tolist()


def numbers(nmessages, rate):
    """Yield the numbers of the messages, no faster than the rate."""
    started = time.monotonic()
    for number in range(nmessages):
        if rate and number % PACE == 0:
            while time.monotonic() - started < number / rate:
                time.sleep(0)
        yield number


def no_delay(sock):
    """Switch Nagle's algorithm off."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


# -- ours -------------------------------------------------------------------------------------------------


def our_writer(sock, rate):
    """Return a writer for many messages, or for messages that are not to be late."""
    return CoalescingWriter(sock, max_inflight=16_384, max_delay=0.00002) if rate else CoalescingWriter(sock)


def ours_simple(sock, nmessages, rate):
    """A loop."""
    with our_writer(sock, rate) as writer:
        for number in numbers(nmessages, rate):
            writer.write(values(number))


def ours_threads(sock, nmessages, rate):
    """Four threads."""
    with our_writer(sock, rate) as writer:

        def produce(count):
            for number in numbers(count, rate and rate / 4):
                writer.write(values(number))

        threads = [threading.Thread(target=produce, args=[nmessages // 4]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def ours_asyncio(sock, nmessages, rate):
    """A task."""

    async def main():
        sock.setblocking(False)
        async with AsyncCoalescingWriter(sock, max_inflight=16_384 if rate else None) as writer:
            for number in numbers(nmessages, rate):
                await writer.write(values(number))
                if rate and (number + 1) % PACE == 0:
                    await asyncio.sleep(0)

    asyncio.run(main())
    sock.setblocking(True)


# -- published --------------------------------------------------------------------------------------------


class Batch:
    """Frames that are joined and sent when there are enough, or when the first is 10 microseconds old."""

    def __init__(self, send):
        self.send, self.frames, self.nbytes, self.since = send, [], 0, 0

    def add(self, data):
        """Add a frame."""
        now = time.monotonic_ns()
        if not self.frames:
            self.since = now
        self.frames.append(data)
        self.nbytes += len(data)
        if self.nbytes >= BATCH or now - self.since >= WINDOW_NS:
            self.flush()

    def flush(self):
        """Send what there is."""
        if self.frames:
            self.send(b"".join(self.frames))
            self.frames, self.nbytes = [], 0


def simple(is_batched, without_delay):
    """A loop that sends."""

    def way(sock, nmessages, rate):
        if without_delay:
            no_delay(sock)
        batch = Batch(sock.sendall)
        add = batch.add if is_batched else sock.sendall
        for number in numbers(nmessages, rate):
            add(frame(number))
        batch.flush()

    return way


def threaded(is_batched, without_delay):
    """Four threads that put frames into a queue, and one that sends them."""

    def way(sock, nmessages, rate):
        if without_delay:
            no_delay(sock)
        frames = queue.Queue(10_000)

        def produce(count):
            for number in numbers(count, rate and rate / 4):
                frames.put(frame(number))

        def consume():
            batch = Batch(sock.sendall)
            add = batch.add if is_batched else sock.sendall
            for _ in range(nmessages):
                if is_batched and frames.empty():
                    batch.flush()
                add(frames.get())
            batch.flush()

        threads = [threading.Thread(target=produce, args=[nmessages // 4]) for _ in range(4)] + [
            threading.Thread(target=consume)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    return way


def by_asyncio(is_batched, without_delay):
    """A task that writes to a stream."""

    def way(sock, nmessages, rate):
        async def main():
            _, writer = await asyncio.open_connection(sock=os_dup(sock))
            connection = writer.get_extra_info("socket")
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, int(without_delay))
            batch = Batch(writer.write)
            add = batch.add if is_batched else writer.write
            for number in numbers(nmessages, rate):
                add(frame(number))
                await writer.drain()
                if rate and (number + 1) % PACE == 0:
                    await asyncio.sleep(0)
            batch.flush()
            await writer.drain()
            writer.close()
            await writer.wait_closed()

        asyncio.run(main())
        sock.setblocking(True)

    return way


def os_dup(sock):
    """Return the socket again, for a stream to close."""
    other = sock.dup()
    other.setblocking(False)
    return other


WAYS = {"typedbytes simple": ours_simple, "typedbytes threads": ours_threads, "typedbytes asyncio": ours_asyncio}
for _kind, _make in (("simple", simple), ("threads", threaded), ("asyncio", by_asyncio)):
    for _name, *_how in (("Nagle", False, False), ("no delay", False, True), ("batches", True, True)):
        WAYS[f"published {_kind}, {_name}"] = _make(*_how)
