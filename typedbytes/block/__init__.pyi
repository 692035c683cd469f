import socket
from typing import Any

from typing_extensions import Self

from typedbytes.block._native import (
    ArrowStream as ArrowStream,
    AsyncCoalescingWriter as AsyncCoalescingWriter,
    BlockDecoder as BlockDecoder,
    BlockEncoder as BlockEncoder,
    BlockReader as BlockReader,
    BlockWriter as BlockWriter,
    CoalescingWriter as CoalescingWriter,
    Command as Command,
    Message as Message,
)

__all__ = [
    "ArrowStream",
    "AsyncCoalescingWriter",
    "BlockDecoder",
    "BlockEncoder",
    "BlockReader",
    "BlockWriter",
    "CoalescingWriter",
    "Command",
    "Message",
    "SharedBody",
    "SharedChannel",
]

class SharedBody:
    view: memoryview
    values: tuple[Any, ...]
    offset: int
    nbytes: int
    id: int | None
    def __init__(
        self,
        channel: SharedChannel,
        offset: int,
        nbytes: int,
        view: memoryview,
        values: tuple[Any, ...] = (),
        id: int | None = None,
    ) -> None: ...
    def publish(self, *values: Any) -> None: ...
    def release(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, kind: object = None, error: object = None, traceback: object = None) -> None: ...

class SharedChannel:
    def __init__(self, sock: socket.socket, nbytes: int = 67108864) -> None: ...
    @classmethod
    def accept(cls, sock: socket.socket) -> Self: ...
    def reserve(self, nbytes: int) -> SharedBody: ...
    def flush(self) -> None: ...
    def receive(self) -> SharedBody | None: ...
    @property
    def closed(self) -> bool: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, kind: object = None, error: object = None, traceback: object = None) -> None: ...
