"""AsyncConnection: calls that an event loop awaits.

Here: waiting for the socket, of which a ring has one too. Not here: requests and answers, which are compiled.
Invariant: reading never blocks the loop; the next call drops the answer of one that was cancelled.
"""

from __future__ import annotations

import asyncio

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self

    from typedbytes.block._native import Connection


class AsyncConnection:
    """Await calls in an event loop, over a ring or a socket.

    connection: of `connect`; nothing else may use it from here on. One call at a time is on its way, others wait for
    their turn; a connection for each of several tasks is faster. Cancelling a call, or `asyncio.wait_for`, leaves the
    connection as it was. Sending blocks the loop where the other side does not read, until the timeout of `connect`.

    >>> import asyncio
    >>> from typedbytes.block import Command, connect, serve
    >>> async def main(address):
    ...     async with AsyncConnection(connect(address)) as connection:
    ...         return await connection.call(Command("add"), 1, 2.5)
    >>> with serve(("127.0.0.1", 0), {"add": lambda a, b: a + b}) as server:
    ...     asyncio.run(main(server.address))
    Message((3.5,), id=1)
    """

    __module__ = "typedbytes.block"

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._stream = connection.stream
        self._is_ring = hasattr(self._stream, "_is_polled")
        if self._is_ring:
            self._stream._is_polled = True
        self._turn: asyncio.Lock | None = None
        self._waiter: tuple[asyncio.AbstractEventLoop, int, asyncio.Future[None]] | None = None

    def __reduce__(self) -> Any:
        raise TypeError("an AsyncConnection cannot be pickled")

    async def call(self, *values: Any, type: Any = None) -> Any:
        """Send the values as one message, and await the message that answers it; as `Connection.call`."""
        if self._turn is None:
            self._turn = asyncio.Lock()
        async with self._turn:
            if self._connection._is_behind:  # after a call that was cancelled
                await self._polled(self._connection._drop)
            self._connection._start(values)
            return await self._polled(self._connection._finish, type)

    async def _polled(self, read, *arguments):
        while True:
            try:
                return self._read_now(read, *arguments)
            except BlockingIOError:
                await self._readable()

    def _read_now(self, read, *arguments):
        if self._is_ring:
            return read(*arguments)
        timeout = self._stream.gettimeout()
        self._stream.settimeout(0)
        try:
            return read(*arguments)
        finally:
            self._stream.settimeout(timeout)

    async def _readable(self):
        loop, file = asyncio.get_running_loop(), self._stream.fileno()
        future = loop.create_future()
        self._waiter = loop, file, future
        loop.add_reader(file, _wake, future)
        try:
            await future
        finally:
            self._stop_waiting()

    def _stop_waiting(self):
        if self._waiter is not None:
            loop, file, _ = self._waiter
            self._waiter = None
            loop.remove_reader(file)

    @property
    def closed(self) -> bool:
        """Whether the AsyncConnection is closed."""
        return self._connection.closed

    def close(self) -> None:
        """Close the connection; a call that waits raises ConnectionAbortedError. Closing again does nothing."""
        if self._waiter is not None:
            future = self._waiter[2]
            self._stop_waiting()
            if not future.done():
                future.set_exception(ConnectionAbortedError("the connection was closed"))
        self._connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        self.close()


def _wake(future):
    if not future.done():
        future.set_result(None)
