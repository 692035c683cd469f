"""The published algorithms, written again from their descriptions: baselines of the race of block messages.

What belongs here: the wires with one send for each part, and with all parts joined, as the experiments with Py4J's successors had
them. What this file must not know: typedbytes' encoders.
"""

import socket
import struct

from typedbytes.block import Command


def parts_of(args):
    """Return the parts of a `bytes` message as those experiments made them, one for each field."""
    parts = [struct.pack("!i", len(args))]
    for value in args:
        if isinstance(value, str):
            data = value.encode("utf-8")
            parts += [struct.pack("!i", 2 if isinstance(value, Command) else 1), struct.pack("!i", len(data)), data]
        elif isinstance(value, bytes):
            parts += [struct.pack("!i", 0), struct.pack("!i", len(value)), value]
        elif isinstance(value, float):
            parts += [struct.pack("!i", 5), struct.pack("!d", value)]
        elif -(2**31) <= value < 2**31:
            parts += [struct.pack("!i", 3), struct.pack("!i", value)]
        else:
            parts += [struct.pack("!i", 4), struct.pack("!q", value)]
    return parts


def send_parts(sock, args):
    """Send each part by itself, with Nagle's algorithm off."""
    for part in parts_of(args):
        sock.sendall(part)


def send_joined(sock, args):
    """Join all parts and send them at once: the best of the published variants."""
    sock.sendall(b"".join(parts_of(args)))


def send_as_published(sock, args):
    """Send each part by itself, with Nagle's algorithm on, as it was."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 0)
    try:
        send_parts(sock, args)
    finally:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


SENDERS = {"joined": send_joined, "parts, no delay": send_parts}
