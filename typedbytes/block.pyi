from typedbytes._block import (
    ArrowStream as ArrowStream,
    BlockDecoder as BlockDecoder,
    BlockEncoder as BlockEncoder,
    BlockReader as BlockReader,
    BlockWriter as BlockWriter,
    Command as Command,
    Message as Message,
)

__all__: list[str]
