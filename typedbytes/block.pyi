from typedbytes._block import (
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

__all__: list[str]
