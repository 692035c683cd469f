"""Binary block messages: sequences of values that a Python process and a JVM exchange over sockets, pipes and files.

    BlockEncoder, BlockDecoder     one message as bytes; messages from input in pieces
    BlockWriter, BlockReader       messages over sockets, descriptors and file objects
    CoalescingWriter               many small messages in few system calls, from threads
    AsyncCoalescingWriter          the same for asyncio
    SharedChannel, SharedBody      large bodies in shared memory, with messages that give their offsets
    SharedRing                     a connection through memory, for messages that wait for each other
    connect, serve, Server         calls: functions for other processes, in Python or Java, over a ring or a socket
    Connection, AsyncConnection    calls, each a message and its reply, over a ring or a socket
    Message, Command, ArrowStream  a decoded message, and types of its values

The layouts are described in docs/block-format.md.

>>> from typedbytes.block import BlockDecoder, BlockEncoder, Command
>>> data = BlockEncoder("native").encode([Command("add"), 1, 2.5, None], id=9)
>>> message, = BlockDecoder().feed(data)
>>> message.id, list(message)
(9, [Command('add'), 1, 2.5, None])
"""

from __future__ import annotations

from collections.abc import Sequence

try:
    from typedbytes.block._native import (
        ArrowStream,
        AsyncCoalescingWriter,
        BlockDecoder,
        BlockEncoder,
        BlockReader,
        BlockWriter,
        CoalescingWriter,
        Command,
        Connection,
        Message,
    )
except ModuleNotFoundError:
    from typedbytes._base.posix import require_posix

    require_posix("typedbytes.block")
    raise
from typedbytes.block._shared_memory import SharedBody, SharedChannel
from typedbytes.block._shared_ring import SharedRing

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from typedbytes.block._async_calls import AsyncConnection
    from typedbytes.block._calls import Server, connect, serve

__all__ = [
    "ArrowStream", "AsyncCoalescingWriter", "AsyncConnection", "BlockDecoder", "BlockEncoder", "BlockReader",
    "BlockWriter", "CoalescingWriter", "Command", "Connection", "Message", "Server", "SharedBody", "SharedChannel",
    "SharedRing", "connect", "serve",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name in ("Server", "connect", "serve"):  # lazy imports: they need sockets and asyncio of Python
        from typedbytes.block import _calls

        return getattr(_calls, name)
    if name == "AsyncConnection":
        from typedbytes.block._async_calls import AsyncConnection

        return AsyncConnection
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


Sequence.register(Message)
