"""Files of lzop, which hadoop-lzo's LzopCodec writes with the suffix .lzo.

wire: nine bytes of magic; u16 version, u16 of the library, u16 version needed, u8 method, u8 level, u32 flags, u32
mode, u64 time, u8 length of a name, the name; u32 checksum of all that from the version on; blocks; a u32 of zero. A
block is u32 decompressed length, u32 compressed length, the checksums that the flags name, and bytes of LZO1X, stored
as they are where the lengths are equal. Several such members, of one file each, may follow each other.
source: lzop 1.04, src/lzop.c and conf.h. Invariant: a block gives what it declares, and its checksums hold.
"""

import zlib

from typedbytes._base.chunks import ChunkedFile, decompress_in_place
from typedbytes.errors import FormatError, TruncatedError

__all__ = ["LzopFile"]

_MAGIC = b"\x89LZO\0\r\n\x1a\n"
_MAX_BLOCK_NBYTES = 64 << 20  # of lzop
_MIN_VERSION, _VERSION = 0x0940, 0x1040  # the first with all fields above; the newest known in 2026
_LZO1X = range(1, 4)  # methods

# flags; a filter is for sounds and pictures
_CHECKSUMS = ((0x001, zlib.adler32), (0x100, zlib.crc32))  # of decompressed bytes; of compressed ones one bit higher
_EXTRA_FIELD, _FILTER, _HEADER_CRC32, _UNKNOWN = 0x040, 0x800, 0x1000, 0x000FC000


class LzopFile(ChunkedFile):
    """Decompress a file of lzop; errors have the number of decompressed bytes before them."""

    def __init__(self, source):
        super().__init__(source, "lzo")
        self.kind = "lzop"
        self._flags = -1  # of the member, -1 before one

    def _next_chunk(self):
        """Return the decompressed bytes of the next block, none at the end."""
        while True:
            if self._flags < 0:
                magic = self._read(len(_MAGIC), may_end=True)
                if not magic:
                    return b""
                if magic != _MAGIC:
                    kind = TruncatedError if _MAGIC.startswith(magic) else FormatError
                    raise kind("expected the magic number of lzop")
                self._flags = self._read_header()
            nbytes = self._read_number()
            if nbytes:
                return self._read_block(nbytes)
            self._flags = -1

    def _read_header(self):
        """Return the flags of a member."""
        head = self._read(12)
        version, needed, method = (int.from_bytes(head[i : i + n], "big") for i, n in ((0, 2), (4, 2), (6, 1)))
        flags = int.from_bytes(head[8:], "big")
        head += self._read(17 if flags & _FILTER else 13)
        head += self._read(head[-1])
        checksum = zlib.crc32 if flags & _HEADER_CRC32 else zlib.adler32
        self._check(checksum, self._read_number(), head, "header")
        if version < _MIN_VERSION or needed > _VERSION:
            raise FormatError(f"version {version:#06x} of lzop, which needs {needed:#06x}, is not known")
        if method not in _LZO1X:
            raise FormatError(f"method {method} of lzop is not known")
        if flags & (_FILTER | _UNKNOWN):
            raise FormatError(f"flags {flags:#010x} of lzop are not known")
        if flags & _EXTRA_FIELD:
            length = self._read(4)
            nbytes = self._bounded(int.from_bytes(length, "big"), "extra field")
            extra = length + self._read(nbytes)
            self._check(checksum, self._read_number(), extra, "extra field")
        return flags

    def _read_block(self, nbytes):
        """Return the contents of a block of this decompressed length."""
        self._bounded(nbytes, "block")
        ncompressed = self._read_number()
        if not 0 < ncompressed <= nbytes:
            raise FormatError(f"block of {nbytes} bytes with {ncompressed} compressed bytes")
        is_stored = ncompressed == nbytes
        sums = [(checksum, self._read_number()) for bit, checksum in _CHECKSUMS if self._flags & bit]
        compressed_sums = [
            (checksum, self._read_number()) for bit, checksum in _CHECKSUMS if self._flags & bit << 1 and not is_stored
        ]
        data = self._read(ncompressed)
        for checksum, expected in compressed_sums:
            self._check(checksum, expected, data, "compressed block")
        if not is_stored:
            data = decompress_in_place(self._decompress, self._error, data, nbytes)
            if len(data) != nbytes:
                raise FormatError(f"block of {nbytes} bytes has {len(data)}")
        for checksum, expected in sums:
            self._check(checksum, expected, data, "block")
        return data

    def _read_number(self):
        return int.from_bytes(self._read(4), "big")

    def _bounded(self, nbytes, what):
        if nbytes > _MAX_BLOCK_NBYTES:
            raise FormatError(f"{what} of {nbytes} bytes, more than the {_MAX_BLOCK_NBYTES} of lzop")
        return nbytes

    def _check(self, checksum, expected, data, what):
        found = checksum(data)
        if found != expected:
            raise FormatError(f"{checksum.__name__} of the {what} is {found:08x}, not {expected:08x}")
