"""SharedRing: a connection of two processes whose bytes pass through memory, and wake-ups through a socket.

Here: which memory each side has, and the messages by which they agree on it. Not here: the memory itself, which
_system_memory makes; reading and writing, which are compiled.
"""

from __future__ import annotations

import os
import struct

from typedbytes.block._native import RING_IS_SUPPORTED, BlockReader, BlockWriter, Command, Ring
from typedbytes.block._shared_memory import expect_message
from typedbytes.block._system_memory import make_memory, make_peer_memory, map_memory, map_peer_memory, seal_peer_memory
from typedbytes.errors import BlockError

TYPE_CHECKING = False

if TYPE_CHECKING:
    import socket

    from typing_extensions import Self

_START = struct.Struct("<8sQ")  # magic with the version, and capacity
_MAGIC = b"\x01TBRING\x01"
_HEAD_SIZE = 4096
_SMALLEST, _LARGEST = 4096, 1 << 30


class SharedRing(Ring):
    """Connect to another process on this machine through memory that both map.

    While both sides run, messages pass without a system call.

    sock: a connected socket, whose other side calls `SharedRing.accept`, or is `org.typedbytes.block.SharedRing` in
    Java. From here on it wakes the sides up, and nothing else; its timeout applies to each wait. capacity: the bytes
    that each direction holds, a power of two. spin: seconds to look for bytes before sleeping, 0 for none; where this
    process may use one processor only, it never spins.

    `BlockReader(ring)` and `BlockWriter(ring)` read and write messages of any size; `ring.call(...)` sends one and
    waits for its reply. One thread may read while another writes, and several may call. Closing the ring ends the
    connection. Raises OSError where the system has no such memory, and what `SharedChannel` raises.
    Needs Linux 5.1 or later on a 64-bit processor; one user has to run both sides.

    >>> import socket, threading
    >>> ours, theirs = socket.socketpair()
    >>> def answer():
    ...     with SharedRing.accept(theirs) as ring:
    ...         for message in BlockReader(ring, "native"):
    ...             BlockWriter(ring, "native").write([sum(message[1:])], id=message.id)
    >>> thread = threading.Thread(target=answer); thread.start()
    >>> with SharedRing(ours) as ring:
    ...     ring.call(Command("add"), 1, 2.5)
    Message((3.5,), id=1)
    >>> thread.join(); ours.close(); theirs.close()
    """

    __module__ = "typedbytes.block"
    _is_socket_unused = True  # after an exception: messages can go on over the socket

    def __init__(self, sock: socket.socket, capacity: int = 262144, spin: float = 50e-6) -> None:
        if not self.closed:
            raise RuntimeError("a ring cannot be initialised again")
        _check(sock, spin)
        self._offer(sock, BlockReader(sock, "native"), BlockWriter(sock, "native"), capacity, spin)

    @classmethod
    def accept(cls, sock: socket.socket, spin: float = 50e-6) -> Self:
        """Map the memories that the other side of a socket offers.

        Raises BlockError for memory that the other side could remove, or that cannot be opened; the other side is told.
        """
        _check(sock, spin)
        reader, writer = BlockReader(sock, "native"), BlockWriter(sock, "native")
        self = cls.__new__(cls)
        self._accept(sock, reader, writer, expect_message(reader, "ring", str, str, int), spin)
        return self

    def _offer(self, sock, reader, writer, capacity, spin):
        _check_capacity(capacity)
        nbytes = _HEAD_SIZE + capacity
        with make_memory(nbytes) as (mine, path), make_peer_memory(nbytes) as (lent, lent_path):
            try:
                _START.pack_into(mine, 0, _MAGIC, capacity)
                self._is_socket_unused = False
                writer.write([Command("ring"), path, lent_path, capacity])
                answer = reader.read()
                if answer is None:
                    raise ConnectionResetError("the other side has closed the channel")
                if answer != ["mapped"]:
                    self._is_socket_unused = True
                    if len(answer) == 2 and answer[0] == "refused":
                        raise BlockError(f"the other side refuses the ring: {answer[1]!s:.200}")
                    raise BlockError(f"expected a 'mapped' message, not {answer!r:.80}")
                theirs = seal_peer_memory(lent, lent_path, nbytes)
            except BaseException:
                mine.close()
                raise
        self._begin(sock, reader, mine, theirs, capacity, spin, lambda: writer.write([Command("sealed")]))

    def _accept(self, sock, reader, writer, offer, spin):
        path, lent_path, capacity = offer
        mine = theirs = None
        try:
            _check_capacity(capacity)
            theirs = map_memory(path, _HEAD_SIZE + capacity)
            mine = map_peer_memory(lent_path, _HEAD_SIZE + capacity)
        except (OSError, ValueError) as error:
            if theirs is not None:
                theirs.close()
            writer.write([Command("refused"), str(error)])
            raise BlockError(f"the ring that the other side offers cannot be used: {error}") from error
        self._is_socket_unused = False
        _START.pack_into(mine, 0, _MAGIC, capacity)
        writer.write([Command("mapped")])
        self._begin(sock, reader, mine, theirs, capacity, spin, lambda: expect_message(reader, "sealed"))

    def _begin(self, sock, reader, mine, theirs, capacity, spin, agree):
        file = None
        try:
            agree()
            if _START.unpack_from(theirs) != (_MAGIC, capacity):
                raise BlockError("the memory that the other side writes to is not that of a ring")
            if reader.detach():
                raise BlockError("the other side of the ring wakes this one although it does not sleep")
            timeout = sock.gettimeout()
            file = os.dup(sock.fileno())
            os.set_blocking(file, True)
            self._mine, self._theirs = mine, theirs
            self._start(mine, theirs, file, timeout, spin if len(os.sched_getaffinity(0)) > 1 else 0.0)
        except BaseException:
            if file is not None:
                os.close(file)
            mine.close()
            theirs.close()
            raise

    def _unmap(self):
        self._mine.close()
        self._theirs.close()


def _check(sock, spin):
    if not RING_IS_SUPPORTED:
        raise OSError("a SharedRing needs a 64-bit processor")
    if not hasattr(sock, "gettimeout"):
        raise TypeError(f"a SharedRing needs a socket, not {type(sock).__name__}")
    if sock.gettimeout() == 0.0:
        raise ValueError("the socket must block: socket.setblocking(True), or a timeout")
    if not 0 <= spin <= 1:
        raise ValueError(f"spin is 0..1 seconds, not {spin}")


def _check_capacity(capacity):
    if not _SMALLEST <= capacity <= _LARGEST or capacity & (capacity - 1):
        raise ValueError(f"capacity is a power of two, 4096..2^30, not {capacity}")
