"""Connections for writers that coalesce: both ends, what arrives, and waiting until a writer waits.

Not here: what a test expects. Invariant: nothing is left running after a block.
"""

import contextlib
import select
import signal
import socket
import threading
import time

from typedbytes.block import BlockReader


@contextlib.contextmanager
def connected(sndbuf=None):
    """Yield the two ends of a connection."""
    ours, theirs = socket.socketpair()
    if sndbuf:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, sndbuf)
    with ours, theirs:
        yield ours, theirs


@contextlib.contextmanager
def reading(sock, wire="bytes"):
    """Collect messages in a thread until the other end is closed."""
    found = []
    thread = threading.Thread(target=lambda: found.extend(BlockReader(sock, wire)))
    thread.start()
    yield found
    thread.join()


def wait_until_full(sock):
    """Wait until a socket takes no more: a writer then waits."""
    while select.select([], [sock], [], 0)[1]:
        time.sleep(0.001)


def wait_for(writer, count):
    """Wait until a count of a writer is not 0."""
    while not writer.stats[count]:
        time.sleep(0.001)


@contextlib.contextmanager
def signalled_when_full(sock, handler):
    """Have a signal handled in this thread when a socket takes no more."""
    before = signal.signal(signal.SIGUSR1, handler)
    here = threading.get_ident()
    thread = threading.Thread(target=lambda: (wait_until_full(sock), signal.pthread_kill(here, signal.SIGUSR1)))
    thread.start()
    try:
        yield
    finally:
        thread.join()
        signal.signal(signal.SIGUSR1, before)
