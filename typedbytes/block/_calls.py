"""Calls between processes: `connect` to a server, and `serve` functions to those that connect.

Here: which stream a connection uses, which function answers a message. Not here: addresses, which _addresses knows; the
memory of a ring and how both sides agree on it, which _shared_ring knows; a call itself, which is compiled.

A connection begins on its socket. A client in Python offers a ring, one in Java asks for an offer by the message `ring`
alone; where there can be no ring, or the other side does not know of rings, the calls go over the socket.
"""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping

from typedbytes.block._addresses import is_local, is_of_this_user, is_still_there, listen, open_socket
from typedbytes.block._handlers import typed_handler
from typedbytes.block._native import BlockEncoder, BlockReader, BlockWriter, Command, Connection
from typedbytes.block._shared_ring import SharedRing
from typedbytes.errors import BlockError, DecodeError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, Union

    from typing_extensions import Self

    from typedbytes._base.options import PicklePolicy

    _Address = Union[str, os.PathLike[str], tuple[str, int]]
    _Handlers = Union[Mapping[str, Callable[..., Any]], Callable[..., Any]]

_CAPACITY = 262144
_LARGEST_ANSWER = 65536  # to an offer of a ring
_OF_RINGS = ((Command,), (Command, str, str, int))  # a message that asks for a ring, and one that offers it


def connect(
    address: _Address,
    *,
    timeout: float | None = None,
    ring: bool = True,
    capacity: int = _CAPACITY,
    spin: float = 50e-6,
    max_bytes: int | None = None,
    default: Callable[[Any], Any] | None = None,
    pickle: PicklePolicy = "safe",
) -> Connection:
    """Connect to a server in another process, of `serve` or of org.typedbytes.block.Server in Java.

    - address: the path of a Unix socket, or a host and a port.
    - timeout: seconds that connecting and each wait may take, None for no limit.
    - ring: whether calls may pass through memory, if the server is on this machine; otherwise, and where there is no
      such memory, they go over the socket.
    - capacity, spin: as for `SharedRing`.
    - max_bytes, default, pickle: as for `Connection`.

    Raises OSError where nothing answers at the address.

    >>> with serve(("127.0.0.1", 0), {"add": lambda a, b: a + b}) as server:
    ...     with connect(server.address) as connection:
    ...         connection.call(Command("add"), 1, 2.5)
    Message((3.5,), id=1)
    """
    _check_options(timeout, spin, max_bytes, default, pickle)
    sock = open_socket(address, timeout)
    try:
        stream = (_offer_ring(sock, capacity, spin) if ring and is_local(sock) else None) or sock
        connection = Connection(stream, max_bytes=max_bytes, default=default, pickle=pickle)
    except BaseException:
        sock.close()
        raise
    if stream is not sock:
        sock.close()  # the ring has a descriptor of its own
    return connection


def serve(
    address: _Address,
    handlers: _Handlers,
    *,
    timeout: float | None = None,
    ring: bool = True,
    spin: float = 50e-6,
    max_clients: int = 1000,
    max_bytes: int | None = None,
    default: Callable[[Any], Any] | None = None,
    pickle: PicklePolicy = "safe",
) -> Server:
    """Answer the calls of those that connect, from Python or Java, until the Server is closed.

    - address: the path of a Unix socket, or a host and a port, 0 for any that is free. A path of a server that has
      ended is used again. All that can connect can call, on 127.0.0.1 each user of the machine: put the path into a
      folder of your own.
    - handlers: a mapping of commands to functions, each called with the values after the command; or one function,
      called with all values. What a function returns is the answer; its exception is a CallError of the caller. A
      parameter whose annotation has a record class in it gets instances of that class, and a return annotation with one
      says how the answer is written; a record without it is written by its class.
    - timeout: seconds after which a client that sends nothing is disconnected.
    - ring: whether calls may pass through memory.
    - spin: as for `SharedRing`.
    - max_clients: at once; others are disconnected.
    - max_bytes: of a message.
    - default, pickle: as for `Connection`.

    Each client has a thread of its own, so functions are called by several threads at once. Where a message does not
    want a reply, an exception disconnects the client.

    >>> with serve(("127.0.0.1", 0), lambda *values: len(values)) as server:
    ...     with connect(server.address) as connection:
    ...         connection.call("any", "values", None)[0]
    3
    """
    if not callable(handlers):
        handlers = dict(handlers)
        for command, function in handlers.items():
            if not isinstance(command, str) or not callable(function):
                raise TypeError(f"handlers maps texts to functions, not {command!r:.80} to {function!r:.80}")
        if "ring" in handlers:
            raise ValueError("the command 'ring' is for the memory of a ring: name the function otherwise")
    if max_clients < 1:
        raise ValueError(f"max_clients is at least 1, not {max_clients}")
    options = {"timeout": timeout, "ring": ring, "spin": spin, "max_clients": max_clients, "max_bytes": max_bytes}
    _check_options(timeout, spin, max_bytes, default, pickle)
    values = {"default": default, "pickle": pickle}
    if callable(handlers):
        handlers = typed_handler("the handler", handlers, values)
    else:
        handlers = {name: typed_handler(f"the handler {name!r}", each, values) for name, each in handlers.items()}
    return Server(listen(address), handlers, options, values)


class Server:
    """Answer calls in threads, until it is closed; `serve` makes it.

    >>> server = serve(("127.0.0.1", 0), {"add": lambda a, b: a + b})
    >>> server.address[0], server.closed
    ('127.0.0.1', False)
    >>> server.close()
    """

    __module__ = "typedbytes.block"

    def __init__(self, listener: Any, handlers: _Handlers, options: dict[str, Any], values: dict[str, Any]):
        self._listener, self._place = listener
        self._handlers = handlers
        self._options = options
        self._values = values
        self._lock = threading.Lock()
        self._clients: dict[threading.Thread, socket.socket] = {}
        self._closed = False
        self._process = os.getpid()
        self.address: Any = self._listener.getsockname()
        if isinstance(self.address, tuple):
            self.address = self.address[:2]
        self._acceptor = threading.Thread(target=self._accept, name=f"typedbytes server {self.address}", daemon=True)
        self._acceptor.start()

    def __reduce__(self) -> Any:
        raise TypeError("a Server cannot be pickled")

    @property
    def closed(self) -> bool:
        """Whether the Server is closed."""
        return self._closed

    def wait(self) -> None:
        """Return when the Server is closed, by another thread or a handler."""
        self._acceptor.join()

    def close(self) -> None:
        """Disconnect all clients, and return when no handler runs any more. Closing again does nothing.

        A handler that calls it is not waited for. In a forked child it closes nothing.
        """
        if self._process != os.getpid():  # and a thread that is not here may hold the lock
            return
        with self._lock:
            if self._closed:
                return
            self._closed = True
            clients = dict(self._clients)
        is_ours = self._place is None or is_still_there(self._place)
        with contextlib.suppress(OSError):
            if is_ours:
                open_socket(self._place[0] if self._place else self.address, 1.0).close()  # wakes the acceptor
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # also where the path was removed
        if self._place is not None and is_ours:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._place[0])
        for sock in clients.values():
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in (self._acceptor, *clients):
            if thread is not threading.current_thread():
                thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _accept(self):
        with self._listener:
            while not self._closed:
                try:
                    sock, _ = self._listener.accept()
                except OSError:  # the client has ended, or there are no descriptors left
                    time.sleep(0.01)
                else:
                    self._start(sock)

    def _start(self, sock):
        thread = threading.Thread(target=self._run, args=[sock], name="typedbytes client", daemon=True)
        with self._lock:
            if not self._closed and len(self._clients) < self._options["max_clients"]:
                try:
                    thread.start()
                except RuntimeError:  # there are too many threads
                    pass
                else:
                    self._clients[thread] = sock
                    return
        sock.close()

    def _run(self, sock):
        try:
            with sock:
                sock.settimeout(self._options["timeout"])
                self._serve(sock)
        except (ConnectionError, DecodeError, socket.timeout):
            pass  # the client has ended, or is not one
        finally:
            with self._lock:
                self._clients.pop(threading.current_thread(), None)

    def _serve(self, sock):
        reader, writer = self._messages_of(sock)
        for message in reader:
            if tuple(map(type, message)) in _OF_RINGS and message[0] == "ring":
                ring = self._agree(sock, reader, writer, message)
                if ring is not None:
                    with ring:
                        self._answer_all(*self._messages_of(ring))
                    return
            else:
                self._answer(writer, message)

    def _messages_of(self, stream):
        reader = BlockReader(stream, "native", max_bytes=self._options["max_bytes"], pickle=self._values["pickle"])
        writer = BlockWriter(stream, "native", **self._values)
        writer._write_by_class(**self._values)
        return reader, writer

    def _agree(self, sock, reader, writer, message):
        """Return a ring that the client has offered or asked for, None where there is none."""
        spin = self._options["spin"]
        ring = SharedRing.__new__(SharedRing)
        try:
            if not self._options["ring"] or not is_local(sock):
                raise OSError(errno.ENOTSUP, "this server has no rings for this client")
            if len(message) == 4:
                _check_owner(sock, message[1:3])
                ring._accept(sock, reader, writer, message[1:], spin)
            else:
                ring._offer(sock, reader, writer, _CAPACITY, spin)
        except OSError as error:
            if not ring._is_socket_unused:
                raise
            writer.write([Command("refused"), str(error)])
            return None
        except BlockError:
            if not ring._is_socket_unused:
                raise
            return None
        return ring

    def _answer_all(self, reader, writer):
        for message in reader:
            self._answer(writer, message)

    def _answer(self, writer, message):
        if not message.wants_reply:
            try:
                self._result(message)
            except (Exception, SystemExit) as error:
                raise RuntimeError(f"failed to handle a message that wants no reply: {error}") from error
            return
        try:
            answer = [self._result(message)]
        except (Exception, SystemExit) as error:  # a thread would end with it in silence
            answer = _failure(error)
        try:
            writer.write(answer, id=message.id)
        except Exception as error:  # there is no type for it; where the client has ended, this fails as well
            writer.write(_failure(error), id=message.id)

    def _result(self, message):
        if callable(self._handlers):
            return self._handlers(*message)
        if not message or not isinstance(message[0], Command):
            raise TypeError('the message has no command as its first value: in Python, call(Command("NAME"), ...)')
        function = self._handlers.get(message[0])
        if function is None:
            raise LookupError(f"unknown command {message[0]!s:.80}; known: {', '.join(sorted(self._handlers))}")
        return function(*message[1:])


def _failure(error):
    try:
        text = str(error)
    except Exception as second:
        text = f"it has no text, because of {type(second).__name__}"
    return [Command("error"), type(error).__name__, text.encode("utf-8", "backslashreplace").decode("utf-8")]


def _check_options(timeout, spin, max_bytes, default, pickle):
    if timeout is not None and not 0 < timeout <= 86400 * 24:
        raise ValueError(f"timeout is above 0 and at most 24 days in seconds, or None, not {timeout}")
    if not 0 <= spin <= 1:
        raise ValueError(f"spin is 0..1 seconds, not {spin}")
    BlockReader(b"", "native", max_bytes=max_bytes, pickle=pickle)
    BlockEncoder("native", default=default, pickle=pickle)


def _check_owner(sock, paths):
    """Raise OSError where a client offers memory of another process, to which this one may write and the client not."""
    if sock.family != socket.AF_UNIX:
        if not is_of_this_user(sock):
            raise OSError(errno.EACCES, "this client is of another user")
        return
    if not hasattr(socket, "SO_PEERCRED"):
        return
    pid, uid, _ = struct.unpack("3i", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    if uid != os.geteuid() or not all(path.startswith(f"/proc/{pid}/fd/") for path in paths):
        raise OSError(errno.EACCES, "the memory that this client offers is not its own, or of another user")


def _offer_ring(sock, capacity, spin):
    """Return a ring, None where this system has none or the other side refuses it."""
    reader, writer = BlockReader(sock, "native", max_bytes=_LARGEST_ANSWER), BlockWriter(sock, "native")
    ring = SharedRing.__new__(SharedRing)
    try:
        ring._offer(sock, reader, writer, capacity, spin)
    except (OSError, BlockError):
        if not ring._is_socket_unused:
            raise
        if reader.detach():
            raise BlockError("the other side has sent more than an answer") from None
        return None
    return ring
