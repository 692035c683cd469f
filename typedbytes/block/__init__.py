"""Binary block messages: sequences of values that a Python process and a JVM exchange over sockets, pipes and files.

    BlockEncoder, BlockDecoder     one message as bytes; messages from input in pieces
    BlockWriter, BlockReader       messages over sockets, descriptors and file objects
    CoalescingWriter               many small messages in few system calls, from threads
    AsyncCoalescingWriter          the same for asyncio
    SharedChannel, SharedBody      large bodies in shared memory, with messages that give their offsets
    SharedRing                     a connection through memory, for messages that wait for each other
    Connection                     calls, each a message and its reply, over a ring or a socket
    Message, Command, ArrowStream  a decoded message, and types of its values

The layouts are described in docs/block-format.md.

>>> from typedbytes.block import BlockDecoder, BlockEncoder, Command
>>> data = BlockEncoder("native").encode([Command("add"), 1, 2.5, None], id=9)
>>> message, = BlockDecoder().feed(data)
>>> message.id, list(message)
(9, [Command('add'), 1, 2.5, None])
"""

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

__all__ = [
    "ArrowStream", "AsyncCoalescingWriter", "BlockDecoder", "BlockEncoder", "BlockReader", "BlockWriter",
    "CoalescingWriter", "Command", "Connection", "Message", "SharedBody", "SharedChannel", "SharedRing",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


Sequence.register(Message)
