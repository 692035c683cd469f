"""Large bodies in memory that two processes share: a message over a socket says where in it a body is.

Here: the channel, its messages, its free ranges. Not here: the memory itself, which _system_memory makes;
the bytes of messages, which are compiled.
"""

from __future__ import annotations

import struct

from typedbytes.block._native import BlockReader, BlockWriter, Command
from typedbytes.block._system_memory import make_memory, map_memory
from typedbytes.errors import BlockError

TYPE_CHECKING = False

if TYPE_CHECKING:
    import socket
    from typing import Any

    from typing_extensions import Self

_ALIGNMENT = 64
_HEAD = struct.Struct("<QQ")  # epoch and length, before each body


def expect_message(reader, command, *kinds):
    """Return the values after the command of the next message, which must be of these types."""
    message = reader.read()
    if message is None:
        raise ConnectionResetError("the other side has closed the channel")
    if not message or message[0] != command or tuple(map(type, message[1:])) != kinds:
        raise BlockError(f"expected a {command!r} message, not {message!r:.80}")
    return message[1:]


class _Range:
    """The memory of a body that this side has reserved."""

    __slots__ = ("start", "end", "is_published")

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end
        self.is_published = False


class SharedBody:
    """Hold a part of a channel's memory: to be filled and published, or received and released.

    view: its bytes, a memoryview, which the sender can write to until the body is published. values: those of its
    message. nbytes, offset: its range in the memory. A context manager, which releases it on exit.
    """

    __module__ = "typedbytes.block"
    __slots__ = ("_channel", "view", "values", "offset", "nbytes", "id")
    view: memoryview
    values: tuple[Any, ...]
    offset: int
    nbytes: int
    id: int | None

    def __init__(
        self, channel: SharedChannel, offset: int, nbytes: int, view: memoryview, values: tuple[Any, ...] = (),
        id: int | None = None,
    ) -> None:  # fmt: skip
        self._channel = channel
        self.offset = offset
        self.nbytes = nbytes
        self.view = view
        self.values = values
        self.id = id

    def publish(self, *values: Any) -> None:
        """Send a message that the body is filled, with some values; its memory is reused after the answer."""
        self._channel._publish(self, values)

    def release(self) -> None:
        """Return the memory to the sender; the view, and arrays made of it, must not be used any more.

        On the sending side: discard a body that is not published.
        Calling it again, or after the channel is closed, does nothing.
        """
        self._channel._release(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object = None, error: object = None, traceback: object = None) -> None:
        _leave(self.release, error)


class SharedChannel:
    """Send large bodies to another process on this machine through memory that both map.

    sock: a connected socket, whose other side calls `SharedChannel.accept`. nbytes: the size of the memory. Neither
    side can remove the memory from the other, and it is freed when both have ended. Bodies are sent in one direction;
    the other direction needs a second channel. Raises ConnectionError or TruncatedError when the peer has ended, the
    socket's timeout when it stalls, BlockError for a body that does not match its message, and OSError where the system
    has no such memory, or not enough memory. Needs Linux 5.1 or later, or macOS; one user has to run both sides.

    >>> import socket, threading
    >>> ours, theirs = socket.socketpair()
    >>> found = []
    >>> def receive():
    ...     with SharedChannel.accept(theirs) as channel, channel.receive() as body:
    ...         found.append((bytes(body.view), body.values))
    >>> thread = threading.Thread(target=receive); thread.start()
    >>> with SharedChannel(ours, 4096) as channel:
    ...     body = channel.reserve(5)
    ...     body.view[:] = b"hello"
    ...     body.publish("greeting")
    ...     channel.flush()
    >>> thread.join(); ours.close(); theirs.close(); found
    [(b'hello', ('greeting',))]
    """

    __module__ = "typedbytes.block"

    def __init__(self, sock: socket.socket, nbytes: int = 67108864) -> None:
        if not 1 <= nbytes <= 1 << 40:
            raise ValueError(f"nbytes is 1..2^40, not {nbytes}")
        self._start(sock)
        try:
            with make_memory(nbytes) as (self._memory, path):
                self._writer.write([Command("share"), path, nbytes])
                self._expect("shared")
        except BaseException:
            self.close()
            raise

    @classmethod
    def accept(cls, sock: socket.socket) -> Self:
        """Map the memory that the other side of a socket offers, and return the receiving end.

        Raises BlockError for memory that the other side could remove, or that cannot be opened:
        another user's, or another PID namespace's.
        """
        self = cls.__new__(cls)
        self._start(sock)
        try:
            self._memory = map_memory(*self._expect("share", str, int))
            self._writer.write([Command("shared")])
        except BaseException:
            self.close()
            raise
        return self

    def _start(self, sock):
        self._reader = BlockReader(sock, "native")
        self._writer = BlockWriter(sock, "native")
        self._memory = None
        self._ranges = {}  # epoch -> _Range of each reserved body
        self._bodies = {}  # epoch -> SharedBody whose view is in use
        self._epoch = 0

    def _expect(self, command, *kinds):
        return expect_message(self._reader, command, *kinds)

    def reserve(self, nbytes: int) -> SharedBody:
        """Return a SharedBody of nbytes bytes to fill; wait for answers of the other side until there is space.

        Raises ValueError when the unpublished bodies leave too little memory for it.
        """
        if nbytes < 0:
            raise ValueError(f"nbytes must not be negative: {nbytes}")
        length = -(-(_HEAD.size + nbytes) // _ALIGNMENT) * _ALIGNMENT
        while True:
            start = self._find_gap(length)
            if start is not None:
                break
            if not any(each.is_published for each in self._ranges.values()):
                raise ValueError(
                    f"{nbytes} bytes do not fit into shared memory of {len(self._memory)}: "
                    "publish or release bodies first"
                )
            self._wait_for_release()
        self._epoch += 1
        self._ranges[self._epoch] = _Range(start, start + length)
        offset = start + _HEAD.size
        return self._add_body(offset, nbytes, (), self._epoch)

    def _find_gap(self, length):
        start = 0
        for used in sorted(self._ranges.values(), key=lambda each: each.start):
            if used.start - start >= length:
                return start
            start = used.end
        return start if len(self._memory) - start >= length else None

    def _add_body(self, offset, nbytes, values, epoch):
        with memoryview(self._memory) as whole:
            body = self._bodies[epoch] = SharedBody(
                self, offset, nbytes, whole[offset : offset + nbytes], values, epoch
            )
        return body

    def _publish(self, body, values):
        reserved = self._ranges.get(body.id)
        if reserved is None or reserved.is_published:
            raise ValueError(
                "a body is published once, by the side that reserved it: this one was already published, "
                "or was received"
            )
        _HEAD.pack_into(self._memory, body.offset - _HEAD.size, body.id, body.nbytes)
        self._writer.write(
            [Command("body"), body.offset, body.nbytes, body.id, *values], id=body.id & 0xFFFFFFFF, reply=True
        )
        reserved.is_published = True
        self._bodies.pop(body.id).view.release()

    def _wait_for_release(self):
        (epoch,) = self._expect("free", int)
        if epoch not in self._ranges or not self._ranges[epoch].is_published:
            raise BlockError(f"the other side frees body {epoch}, which was not published")
        del self._ranges[epoch]

    def flush(self) -> None:
        """Wait until the other side has released every published body."""
        while any(each.is_published for each in self._ranges.values()):
            self._wait_for_release()

    def receive(self) -> SharedBody | None:
        """Return the next SharedBody, or None where the other side has closed the channel."""
        message = self._reader.read()
        if message is None:
            return None
        if len(message) < 4 or message[0] != "body" or any(type(each) is not int for each in message[1:4]):
            raise BlockError(f"expected a 'body' message, not {message!r:.80}")
        offset, nbytes, epoch = message[1:4]
        if not _HEAD.size <= offset <= len(self._memory) or not 0 <= nbytes <= len(self._memory) - offset:
            raise BlockError(f"{nbytes} bytes at {offset} lie outside the shared memory of {len(self._memory)}")
        if _HEAD.unpack_from(self._memory, offset - _HEAD.size) != (epoch, nbytes):
            raise BlockError("the shared body is not the one that its message describes")
        if epoch in self._bodies:
            raise BlockError(f"the other side publishes body {epoch} again, which has not been released")
        return self._add_body(offset, nbytes, message[4:], epoch)

    def _release(self, body):
        if body.id not in self._bodies or self._bodies[body.id] is not body:
            return
        body.view.release()
        if self._ranges.pop(body.id, None) is None:  # received: the other side waits for the answer
            self._writer.write([Command("free"), body.id])
        del self._bodies[body.id]

    def close(self) -> None:
        """Unmap the memory; the socket stays open. Closing again does nothing.

        Raises BufferError while arrays still use the memory.
        """
        self._reader.close()
        while self._bodies:
            self._bodies.popitem()[1].view.release()
        if self._memory is not None:
            self._memory.close()

    @property
    def closed(self) -> bool:
        """Whether the SharedChannel is closed."""
        return self._reader.closed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object = None, error: object = None, traceback: object = None) -> None:
        _leave(self.close, error)


def _leave(release, error):
    """Release memory at the end of a with block; goes on where an error's traceback keeps arrays of it."""
    try:
        release()
    except BufferError:
        if error is None:
            raise
