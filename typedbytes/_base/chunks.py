"""Hadoop's codecs that compress in chunks with lengths: Snappy, LZ4 and LZO; and files that they have written whole.

wire: u32 length of a block when decompressed, then chunks up to that length: u32 compressed length, compressed bytes.
source: BlockCompressorStream, BlockDecompressorStream. Here: the library for each codec, imported when it is needed,
and files as streams. Not here: buffers of SequenceFiles, which have the same form. Invariant: a chunk gives no more
than its block declares, and memory is in proportion to the bytes that have arrived.
"""

from __future__ import annotations

import io

from typedbytes._base import magic
from typedbytes.errors import FormatError, TruncatedError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "BUFFER_NBYTES", "KINDS", "SIGNATURE_NBYTES", "ChunkedFile", "Contents", "decompress_in_place", "lz4", "lzo",
    "snappy",
]  # fmt: skip

BUFFER_NBYTES = 256 * 1024  # io.compression.codec.snappy.buffersize and its like
_PIECE_NBYTES = 1 << 16
SIGNATURE_NBYTES = 16  # of data in a format of its own


def snappy():
    """Return functions that decompress a chunk to at most n bytes, and compress one, their errors and the overhead."""
    import cramjam

    library = cramjam.snappy

    def decompress_chunk(chunk, max_nbytes):
        # The library allocates the declared length before it decompresses; three bytes of Snappy copy 64 at most.
        declared = library.decompress_raw_len(chunk)
        if declared > max_nbytes or declared > 32 * len(chunk):
            raise FormatError(f"chunk of {len(chunk)} bytes declares {declared} decompressed bytes")
        return bytes(library.decompress_raw(chunk))

    def compress_chunk(data):
        return bytes(library.compress_raw(data))

    return decompress_chunk, compress_chunk, cramjam.DecompressionError, BUFFER_NBYTES // 6 + 32


def lz4():
    """Return the same of LZ4."""
    import cramjam

    library = cramjam.lz4

    def decompress_chunk(chunk, max_nbytes):
        data = bytearray(min(max_nbytes, 256 * len(chunk)))  # a byte of LZ4 expands to 255 at most
        nbytes = library.decompress_block_into(chunk, data, output_len=len(data))
        del data[nbytes:]
        return data

    def compress_chunk(data):
        return bytes(library.compress_block(data, store_size=False))

    return decompress_chunk, compress_chunk, cramjam.DecompressionError, BUFFER_NBYTES // 255 + 16


def lzo():
    """Return the same of LZO, which is not written."""
    from lzallright import LZOCompressor, LZOError

    def decompress_chunk(chunk, max_nbytes):
        # The library allocates this size first, and more as needed.
        return LZOCompressor.decompress(chunk, min(max_nbytes, 256 * len(chunk)))

    return decompress_chunk, None, LZOError, 0


KINDS = {"snappy": snappy, "lz4": lz4, "lzo": lzo}


def decompress_in_place(decompress_chunk, error, chunk, left):
    """Return the decompressed bytes of a chunk, in a block with `left` bytes left; FormatError for damage."""
    try:
        part = decompress_chunk(chunk, left)
    except error as reason:
        what = str(reason.args[0] if reason.args else type(reason).__name__)
        # an LZOError has the decompressed block too, which a traceback would show
        raise FormatError(f"damaged compressed data: {what:.200}") from None
    if not 0 < len(part) <= left:
        raise FormatError(f"chunk of {len(part)} bytes in a block with {left} bytes left")
    return part


class Contents(io.RawIOBase):
    """The decompressed contents of a file."""

    kind: str  # of compression
    _source: Any

    @property
    def name(self):
        """The name of the source, if it has one."""
        return self._source.name

    def readable(self):
        """Return True: it can be read from."""
        return True

    def close(self):
        """Close the source too."""
        super().close()
        if hasattr(self, "_source"):  # without a library there is none, and the caller closes its own
            self._source.close()


class ChunkedFile(Contents):
    """Decompress a file that Hadoop has written whole with a codec of this kind.

    Errors have the number of decompressed bytes before them.
    """

    def __init__(self, source, kind):
        try:
            self._decompress, _, self._error, _ = KINDS[kind]()
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"{kind} needs the library {error.name}: pip install 'typedbytes[{kind}]'", name=error.name
            ) from None
        self.kind = kind
        self._source = source
        self._held = memoryview(b"")
        self._left = 0  # of the block
        self._nbytes = 0  # returned
        self._is_at_start = True

    def readinto(self, target):
        """Fill the front of a buffer; return how many bytes that were."""
        try:
            if not self._held:
                self._held = memoryview(self._next_chunk())
        except (FormatError, TruncatedError) as error:
            raise type(error)(f"{self.kind} data: {error.message}", self._nbytes) from None
        piece, self._held = self._held[: len(target)], self._held[len(target) :]
        memoryview(target)[: len(piece)] = piece
        self._nbytes += len(piece)
        return len(piece)

    def _next_chunk(self):
        """Return the decompressed bytes of the next chunk, none at the end."""
        while not self._left:
            head = self._read(4, may_end=True)
            if not head:
                return b""
            self._left = self._length(head)
        chunk = self._read(self._length(self._read(4, may_end=True)))
        part = decompress_in_place(self._decompress, self._error, chunk, self._left)
        self._left -= len(part)
        return part

    def _length(self, head):
        if self._is_at_start:
            self._is_at_start = False
            name = magic.name_of(head + self._read(SIGNATURE_NBYTES - 4, is_peek=True))
            if name is not None:
                raise FormatError(f"expected the chunks of Hadoop's codec, found {name} data in a format of its own")
        if len(head) < 4:
            raise TruncatedError("compressed data ends inside a length")
        return int.from_bytes(head, "big")

    _peeked = b""

    def _read(self, nbytes, is_peek=False, may_end=False):
        """Return the next bytes, fewer at the end of the file; TruncatedError for a chunk that ends early."""
        parts, self._peeked = [self._peeked[:nbytes]], self._peeked[nbytes:]
        n = len(parts[0])
        while n < nbytes:
            piece = self._source.read(min(nbytes - n, _PIECE_NBYTES))
            if piece is None:
                raise BlockingIOError("the source must be in blocking mode")
            if not piece:
                break
            parts.append(piece)
            n += len(piece)
        data = b"".join(parts)
        if is_peek:
            self._peeked = data + self._peeked
        elif n < nbytes and not may_end:
            raise TruncatedError("compressed data ends inside a chunk")
        return data
