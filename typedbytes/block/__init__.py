"""Binary block messages: sequences of values that a Python process and a JVM exchange over sockets, pipes and files.

    BlockEncoder, BlockDecoder     one message as bytes; messages from input in pieces
    BlockWriter, BlockReader       messages over sockets, descriptors and file objects
    CoalescingWriter               many small messages in few system calls, from threads; AsyncCoalescingWriter for asyncio
    SharedChannel, SharedBody      large bodies in shared memory, with messages that say where they lie
    Message, Command, ArrowStream  what a message gives back

The wires are described in docs/block-format.md. Here: the names, and shared memory. All else is compiled.

>>> from typedbytes.block import BlockDecoder, BlockEncoder, Command
>>> data = BlockEncoder("native").encode([Command("add"), 1, 2.5, None], id=9)
>>> message, = BlockDecoder().feed(data)
>>> message.id, list(message)
(9, [Command('add'), 1, 2.5, None])
"""

import errno
import mmap
import os
import re
import stat
import struct
from collections.abc import Sequence

from typedbytes.block._native import (
    ArrowStream,
    AsyncCoalescingWriter,
    BlockDecoder,
    BlockEncoder,
    BlockReader,
    BlockWriter,
    CoalescingWriter,
    Command,
    Message,
)
from typedbytes.errors import BlockError

__all__ = [
    "ArrowStream", "AsyncCoalescingWriter", "BlockDecoder", "BlockEncoder", "BlockReader", "BlockWriter", "CoalescingWriter",
    "Command", "Message", "SharedBody", "SharedChannel",
]  # fmt: skip

Sequence.register(Message)

_NAME = "typedbytes"  # of the memory, in /proc
_PLACE = re.compile(r"/proc/[0-9]{1,10}/fd/[0-9]{1,10}")
_ADD_SEALS, _GET_SEALS = 1033, 1034  # of Linux; the modules of some builds of Python leave some of these out
_SEAL_SEAL, _SEAL_SHRINK, _SEAL_GROW, _SEAL_FUTURE_WRITE = 1, 2, 4, 16
_SEALS = _SEAL_SHRINK | _SEAL_FUTURE_WRITE  # no byte can be taken away, by its end or by a hole
_ALIGNMENT = 64
_MARK = struct.Struct("<QQ")  # epoch and length, before each body


class SharedBody:
    """Hold a part of a channel's memory: to be filled and published, or received and released.

    view: its bytes, a memoryview, writable for the sender until it is published. values: what came with it. nbytes, offset: where
    it lies. A context manager, which releases it at the end.
    """

    __slots__ = ("_channel", "view", "values", "offset", "nbytes", "id")

    def __init__(self, channel, offset, nbytes, view, values=(), id=None):
        self._channel = channel
        self.offset = offset
        self.nbytes = nbytes
        self.view = view
        self.values = values
        self.id = id

    def publish(self, *values):
        """Tell the other side that the body is filled, with some values beside it; its memory is reused after the answer."""
        self._channel._publish(self, values)

    def release(self):
        """Give the memory back to the sender; the view, and what was made of it, must not be used any more.

        For the sender: give up a body that is not published. Does nothing the second time, and once the channel is closed.
        """
        self._channel._release(self)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.release()


class SharedChannel:
    """Send large bodies to another process on this machine through memory that both have.

    sock: a connected socket, whose other side calls `SharedChannel.accept`. nbytes: of the memory. The memory is sealed: neither
    side can take it away from the other, and when both are gone, it is. Bodies go one way; the other way needs a channel of its
    own. A peer that is gone gives ConnectionError or TruncatedError, one that stalls the socket's timeout, and a body that is not
    what its message says BlockError; OSError where the system has no such memory, or not enough of it. Linux 5.1 or later, both
    sides run by one user.

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

    def __init__(self, sock, nbytes=67108864):
        if not 1 <= nbytes <= 1 << 40:
            raise ValueError(f"nbytes is 1..2^40, not {nbytes}")
        self._start(sock)
        try:
            file, self._memory = _make_sealed(nbytes)
            try:
                self._writer.write([Command("share"), f"/proc/{os.getpid()}/fd/{file}", nbytes])
                self._expect("shared")
            finally:
                os.close(file)
        except BaseException:
            self.close()
            raise

    @classmethod
    def accept(cls, sock):
        """Take the memory that the other side of a socket offers, and return the receiving end.

        Raises BlockError for memory that is not sealed, or that cannot be opened: another user's, or another PID namespace's.
        """
        self = cls.__new__(cls)
        self._start(sock)
        try:
            self._memory = _map_sealed(*self._expect("share", str, int))
            self._writer.write([Command("shared")])
        except BaseException:
            self.close()
            raise
        return self

    def _start(self, sock):
        self._reader = BlockReader(sock, "native")
        self._writer = BlockWriter(sock, "native")
        self._memory = None
        self._used = {}  # epoch -> [first byte, behind the last, whether it is published] of what is reserved
        self._bodies = {}  # epoch -> SharedBody whose view is in use
        self._epoch = 0

    def _expect(self, command, *kinds):
        message = self._reader.read()
        if message is None:
            raise ConnectionResetError("the other side has closed the channel")
        if not message or message[0] != command or tuple(map(type, message[1:])) != kinds:
            raise BlockError(f"{command!r} was expected, not {message!r:.80}")
        return message[1:]

    def reserve(self, nbytes):
        """Return a SharedBody of so many bytes to fill; waits for the other side's answers where there is no room.

        Raises ValueError for what the memory could never hold beside what is reserved and not published.
        """
        if nbytes < 0:
            raise ValueError(f"a number of bytes is not negative: {nbytes}")
        room = -(-(_MARK.size + nbytes) // _ALIGNMENT) * _ALIGNMENT
        while True:
            start = self._gap(room)
            if start is not None:
                break
            if not any(entry[2] for entry in self._used.values()):
                raise ValueError(f"no room for {nbytes} bytes in shared memory of {len(self._memory)}")
            self._wait()
        self._epoch += 1
        self._used[self._epoch] = [start, start + room, False]
        offset = start + _MARK.size
        return self._lend(offset, nbytes, (), self._epoch)

    def _gap(self, room):
        start = 0
        for first, end, _ in sorted(self._used.values()):
            if first - start >= room:
                return start
            start = end
        return start if len(self._memory) - start >= room else None

    def _lend(self, offset, nbytes, values, epoch):
        with memoryview(self._memory) as whole:
            body = self._bodies[epoch] = SharedBody(self, offset, nbytes, whole[offset : offset + nbytes], values, epoch)
        return body

    def _publish(self, body, values):
        entry = self._used.get(body.id)
        if entry is None or entry[2]:
            raise ValueError("a body is published once, by the side that reserved it: this one has been published, or came in")
        _MARK.pack_into(self._memory, body.offset - _MARK.size, body.id, body.nbytes)
        self._writer.write([Command("body"), body.offset, body.nbytes, body.id, *values], id=body.id & 0xFFFFFFFF, reply=True)
        entry[2] = True
        self._bodies.pop(body.id).view.release()

    def _wait(self):
        (epoch,) = self._expect("free", int)
        if epoch not in self._used or not self._used[epoch][2]:
            raise BlockError(f"the other side frees {epoch}, which it does not have")
        del self._used[epoch]

    def flush(self):
        """Wait until the other side has released every published body."""
        while any(entry[2] for entry in self._used.values()):
            self._wait()

    def receive(self):
        """Return the next SharedBody, or None where the other side has closed the channel."""
        message = self._reader.read()
        if message is None:
            return None
        if len(message) < 4 or message[0] != "body" or any(type(each) is not int for each in message[1:4]):
            raise BlockError(f"a body was expected, not {message!r:.80}")
        offset, nbytes, epoch = message[1:4]
        if not _MARK.size <= offset <= len(self._memory) or not 0 <= nbytes <= len(self._memory) - offset:
            raise BlockError(f"{nbytes} bytes at {offset} lie outside the shared memory of {len(self._memory)}")
        if _MARK.unpack_from(self._memory, offset - _MARK.size) != (epoch, nbytes):
            raise BlockError("the shared body is not the one that its message tells of")
        if epoch in self._bodies:
            raise BlockError(f"the other side publishes {epoch} again, which has not been released")
        return self._lend(offset, nbytes, message[4:], epoch)

    def _release(self, body):
        if self._bodies.get(body.id) is not body:
            return
        body.view.release()
        if self._used.pop(body.id, None) is None:  # not ours: the other side waits for the answer
            self._writer.write([Command("free"), body.id])
        del self._bodies[body.id]

    def close(self):
        """Let go of the memory; the socket stays open, for its owner to close. Closing again does nothing.

        Raises BufferError where arrays still look at it.
        """
        self._reader.close()
        while self._bodies:
            self._bodies.popitem()[1].view.release()
        if self._memory is not None:
            self._memory.close()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()


def _make_sealed(nbytes):
    """Return a descriptor of new memory and a mapping of it, which alone can write to it from then on."""
    if not hasattr(os, "memfd_create"):
        raise _unsupported()
    import fcntl  # not everywhere

    available = _available()
    if nbytes > available:  # where the memory ends, the kernel would kill processes
        raise OSError(errno.ENOMEM, f"shared memory of {nbytes} bytes is more than the {available} that this machine has left")
    file = os.memfd_create(_NAME, os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    try:
        os.posix_fallocate(file, 0, nbytes)  # all of it is there: no signal for want of memory later
        memory = mmap.mmap(file, nbytes)
        try:
            fcntl.fcntl(file, _ADD_SEALS, _SEALS | _SEAL_GROW | _SEAL_SEAL)
        except OSError as error:
            memory.close()
            raise _unsupported() from error
    except BaseException:
        os.close(file)
        raise
    return file, memory


def _available():
    """Return how many bytes of memory can be taken without swapping."""
    with open("/proc/meminfo", "rb") as file:
        return 1024 * int(re.search(rb"MemAvailable: *([0-9]+) kB", file.read())[1])


def _map_sealed(path, nbytes):
    """Return a mapping of memory that another process offers; it can be read whatever that process does from then on."""
    if not _PLACE.fullmatch(path):
        raise BlockError(f"{path!r:.80} is no sealed memory, /proc/PID/fd/N: what has a name can be cut short, which ends its readers")
    if not hasattr(os, "O_PATH"):
        raise _unsupported()
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)  # whatever it is, nothing happens to it by this
    except OSError as error:
        raise BlockError(f"{path} cannot be opened ({error.strerror}): one user has to run both sides, in one PID namespace") from error
    try:
        if not stat.S_ISREG(os.fstat(place).st_mode):
            raise BlockError(f"{path} is no memory")
        file = os.open(f"/proc/self/fd/{place}", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(place)
    try:
        _check_sealed(file, path, nbytes)
        return mmap.mmap(file, nbytes, prot=mmap.PROT_READ)
    finally:
        os.close(file)


def _check_sealed(file, path, nbytes):
    import fcntl  # not everywhere

    try:
        seals = fcntl.fcntl(file, _GET_SEALS)
    except OSError:  # a file
        seals = 0
    if seals & _SEALS != _SEALS:
        raise BlockError(f"{path} is not sealed: the other side could take it away, which would end this process")
    found = os.fstat(file)
    if not 1 <= nbytes <= min(found.st_size, 512 * found.st_blocks):  # a page that is not there yet would be our memory
        raise BlockError(f"the shared memory has not {nbytes} bytes")


def _unsupported():
    return OSError(errno.ENOTSUP, "bodies in shared memory need Linux 5.1 or later and a Python that has os.memfd_create")
