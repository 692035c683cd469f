"""Sinks that count what they are given, and the messages that come out of a socket.

Not here: what a test expects.
"""

import contextlib
import threading

from typedbytes.block import BlockReader


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


class Sizes:
    """A sink that keeps the number of bytes of each call."""

    def __init__(self):
        self.calls = []

    def write(self, data):
        """Count."""
        self.calls.append(len(data))
