"""Splits of text compressed by bzip2, as Hadoop's BZip2Codec and LineRecordReader have them.

Here: finding blocks, which start at any bit, and decompressing each alone. Not here: lines. Invariant: a block is in
the split in which the byte with its first bit is, the first block in the first split; no more than two blocks, a read
and a piece of what they hold are in memory. Each block's checksum is checked, that of the whole stream is not.
"""

from __future__ import annotations

import bz2
import io
from collections import deque

from typedbytes.errors import FormatError, TruncatedError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["Bzip2Split"]

_BLOCK, _END = 0x314159265359, 0x177245385090  # the first 48 bits of a block, and of the end of a stream
_HEADER_NBYTES = 4
_READ_NBYTES = 1 << 20
_PIECE_NBYTES = 1 << 18
_MAX_BLOCK_NBYTES = 4 << 20  # 900,000 symbols of 20 bits, and tables
_MAX_FALSE_MARKERS = 16  # in the bits of a block; one block in 10 million has one
_FOUND_NBYTES = 7  # of a marker that starts inside a byte
#: For each marker and each bit of a byte at which it starts: its five whole bytes, and masks and bits of its ends.
_PATTERNS = [
    (marker == _BLOCK, shift, whole[1:6], 0xFF >> shift, whole[0], 0xFF00 >> shift & 0xFF, whole[6])
    for marker in (_BLOCK, _END)
    for shift in range(8)
    for whole in [(marker << 8 - shift).to_bytes(_FOUND_NBYTES, "big")]
]


class Bzip2Split(io.RawIOBase):
    """Decompress a split of a file: from its first block to the end of the line that its last block begins or ends.

    file: binary, at its start. A reader of lines skips the first one unless start is 0.
    """

    def __init__(self, file: Any, start: int, length: int) -> None:
        self._text = _text(_Blocks(file, start), start, start + length)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Return True: it can be read."""
        return True

    def readinto(self, target: Any) -> int:
        """Fill the front of a buffer; return how many bytes that were."""
        if not self._rest:
            self._rest = memoryview(next(self._text, b""))
        n = min(len(target), len(self._rest))
        memoryview(target)[:n] = self._rest[:n]
        self._rest = self._rest[n:]
        return n


def _text(blocks, start, end):
    """Yield the pieces of a split."""
    is_first, has_own = start == 0, False
    for offset, pieces in blocks:
        if is_first or offset < end:
            is_first, has_own = False, True
            yield from pieces
        elif not has_own:
            return
        else:
            for piece in pieces:
                ends = [at for at in (piece.find(b"\n"), piece.find(b"\r")) if at >= 0]
                if ends:
                    yield piece[: min(ends) + 1]
                    return
                yield piece


class _Blocks:
    """Iterate over (byte offset, pieces of the contents) of the blocks after an offset."""

    def __init__(self, file, start):
        head = file.read(_HEADER_NBYTES)
        if start == 0 and head and not head.startswith(b"BZh"):
            raise FormatError("expected bzip2 data", 0)
        if 0 < start <= _HEADER_NBYTES:
            start = _HEADER_NBYTES + 1  # the first block is in the first split
        file.seek(start)
        self._file = file
        self._data = b""
        self._base = start  # offset of the data
        self._searched = start  # up to here markers have been found
        self._markers: deque[tuple[int, bool]] = deque()  # (bit offset, whether it is of a block), not yet passed
        self._nbytes = 0  # decompressed

    def __iter__(self) -> Iterator[tuple[int, Iterator[bytes]]]:
        while True:
            marker = self._marker(0)
            if marker is None:
                return
            bit, is_block = marker
            if is_block:
                yield bit >> 3, self._pieces(bit)
            else:
                self._check_end(bit + 80 + 7 >> 3)
            self._markers.popleft()

    def _marker(self, n):
        """Return the next marker but n, None if the file has none."""
        while len(self._markers) <= n:
            if not self._search():
                return None
        return self._markers[n]

    def _search(self):
        """Find the markers of the next bytes; return False at the end of the file."""
        data = self._file.read(_READ_NBYTES)
        if not data:
            return False
        kept = self._markers[0][0] >> 3 if self._markers else self._searched
        self._data = self._data[kept - self._base :] + data
        self._base = kept
        start = self._searched - self._base
        found = []
        for is_block, shift, inner, first_mask, first, last_mask, last in _PATTERNS:
            at = self._data.find(inner, start + 1)
            while at >= 0 and at + 5 < len(self._data):
                if self._data[at - 1] & first_mask == first and self._data[at + 5] & last_mask == last:
                    found.append((8 * (self._base + at - 1) + shift, is_block))
                at = self._data.find(inner, at + 1)
        self._markers += sorted(found)
        self._searched = max(self._searched, self._base + len(self._data) - _FOUND_NBYTES + 1)
        return True

    def _check_end(self, offset):
        """Raise the error of what follows the end of a stream, unless that is another one, zeros or nothing."""
        while offset + _HEADER_NBYTES > self._base + len(self._data) and self._search():
            pass
        following = self._data[offset - self._base :][:_HEADER_NBYTES]
        if offset > self._base + len(self._data):
            raise TruncatedError("bzip2 data ends early", self._nbytes)
        if following.strip(b"\0") and not following.startswith(b"BZh"):
            raise FormatError("damaged bzip2 data: no other stream after the end of one", self._nbytes)

    def _pieces(self, bit):
        """Yield the contents of the block at a bit; its end is the next marker that makes it whole."""
        n, where = 1, f"the block at byte {bit >> 3}"
        while True:
            marker = self._marker(n)
            if marker is None and n == 1:
                raise TruncatedError(f"bzip2 data ends early: in {where}", self._nbytes)
            if marker is None or marker[0] - bit > 8 * _MAX_BLOCK_NBYTES or n > _MAX_FALSE_MARKERS:
                raise FormatError(f"damaged bzip2 data: {where}", self._nbytes)
            stream = bz2.BZ2Decompressor()
            try:
                piece = stream.decompress(self._alone(bit, marker[0]), _PIECE_NBYTES)
            except OSError:  # the bits of a marker are among those of the block
                piece = b""
            if piece:
                break
            n += 1
        for _ in range(1, n):
            del self._markers[1]
        while piece:
            self._nbytes += len(piece)
            yield piece
            try:
                piece = b"" if stream.eof else stream.decompress(b"", _PIECE_NBYTES)
            except OSError as error:
                raise FormatError(f"damaged bzip2 data: {error} in {where}", self._nbytes) from None
        if not stream.eof:
            raise FormatError(f"damaged bzip2 data: {where}", self._nbytes)

    def _alone(self, start, end):
        """Return the bits of a block as a stream of their own."""
        first, last = (start >> 3) - self._base, (end + 7 >> 3) - self._base
        bits = int.from_bytes(self._data[first:last], "big") >> (-end & 7)
        nbits = end - start
        bits &= (1 << nbits) - 1
        checksum = bits >> nbits - 80 & 0xFFFFFFFF
        whole = bits << 80 | _END << 32 | checksum
        return b"BZh9" + (whole << (-nbits & 7)).to_bytes((nbits + 80 + 7) // 8, "big")
