"""Binary block messages: sequences of values that a Python process and a JVM exchange over sockets, pipes and files.

    BlockEncoder, BlockDecoder     one message as bytes; messages from input in pieces
    BlockWriter, BlockReader       messages over sockets, descriptors and file objects
    CoalescingWriter               many small messages in few system calls, from threads; AsyncCoalescingWriter for asyncio
    Message, Command, ArrowStream  what a message gives back

The wires are described in docs/block-format.md. Here: the names. What they do is compiled.

>>> from typedbytes.block import BlockDecoder, BlockEncoder, Command
>>> data = BlockEncoder("native").encode([Command("add"), 1, 2.5, None], id=9)
>>> message, = BlockDecoder().feed(data)
>>> message.id, list(message)
(9, [Command('add'), 1, 2.5, None])
"""

from collections.abc import Sequence

from typedbytes._block import (
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

__all__ = [
    "ArrowStream", "AsyncCoalescingWriter", "BlockDecoder", "BlockEncoder", "BlockReader", "BlockWriter", "CoalescingWriter",
    "Command", "Message",
]  # fmt: skip

Sequence.register(Message)
