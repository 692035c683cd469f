"""Producers that share a CoalescingWriter and a slow reader, as many messages as one likes.

Run by `python tests/soak/block_coalescing.py 10000000`. Here: the run, long or short, and its check that nothing
was lost, written in part or out of a thread's order. Invariant: the reader is another process, so that it and the
writer can stall each other.
"""

import os
import socket
import sys
import threading
import time

from typedbytes.block import BlockReader, CoalescingWriter


def run(nthreads, nmessages, sndbuf, slow_every):
    """Send messages of several threads to a slow reader; return the writer's statistics.

    AssertionError: something is missing.
    """
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, sndbuf)
    child = os.fork()
    if child == 0:
        ours.close()
        os._exit(check(theirs, nthreads, nmessages, slow_every))
    theirs.close()
    with ours, CoalescingWriter(ours) as writer:
        threads = [
            threading.Thread(target=produce, args=(writer, name, nmessages // nthreads)) for name in range(nthreads)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert os.waitpid(child, 0)[1] == 0, "the reader did not get what was written"
    return writer.stats


def produce(writer, name, count):
    """Write numbered messages of all lengths up to 40 bytes of text."""
    texts = ["x" * nbytes for nbytes in range(40)]
    for number in range(count):
        writer.write([name, number, texts[number % 40]])


def check(sock, nthreads, nmessages, slow_every):
    """Return 0 when all messages come, each thread's in order, read with pauses."""
    nexts, pause_at = [0] * nthreads, slow_every
    reader = BlockReader(sock, buffer_size=65536)
    for name, number, text in reader:
        if number != nexts[name] or text != "x" * (number % 40):
            return 1
        nexts[name] += 1
        if reader.offset > pause_at:
            pause_at += slow_every
            time.sleep(0.005)
    return 0 if nexts == [nmessages // nthreads] * nthreads else 2


if __name__ == "__main__":
    print(run(nthreads=4, nmessages=int(sys.argv[1]), sndbuf=4096, slow_every=1 << 24))
