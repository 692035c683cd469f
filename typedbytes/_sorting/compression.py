"""How temporary files are compressed: the codecs, and files that compress what is written and decompress what is read.

    find_codec(name)        one of CODECS, None for "none"; its absence is reported here
    CompressedWriter        compresses into a file
    DecompressedReader      reads that back

Invariant: compressed bytes that end too soon are an error, and no block of them is larger than what was written.
"""

import io
import struct
from collections import namedtuple

from typedbytes._core import write_all

__all__ = ["CODECS", "CompressedWriter", "DecompressedReader", "find_codec"]

CODECS = ("none", "zlib", "lz4", "zstd")

CHUNK_NBYTES = 1 << 16  # of compressed bytes

# make_compressor() gives an object with compress(data) and flush(); make_decompressor() one with decompress(data,
# max_length), needs_input and eof, like those of the standard library's bz2. nbytes: memory of a decompressor,
# measured and rounded up.
_Codec = namedtuple("_Codec", "make_compressor make_decompressor nbytes")


def _zlib():
    import zlib

    from typedbytes._base.compression import ZlibStream

    return _Codec(lambda: zlib.compressobj(1), lambda: ZlibStream(zlib.decompressobj()), 96 << 10)


def _lz4():
    import cramjam  # its absence is reported here

    return _Codec(lambda: _Lz4Compressor(cramjam.lz4), lambda: _Lz4Decompressor(cramjam.lz4), 192 << 10)


def _zstd():
    from typedbytes._base.zstd import zstd

    return _Codec(lambda: zstd.ZstdCompressor(level=1), zstd.ZstdDecompressor, 448 << 10)


_CODECS = {"zlib": _zlib, "lz4": _lz4, "zstd": _zstd}


def find_codec(name):
    """Return the codec of that name, None for "none"; ModuleNotFoundError without its library, or ValueError."""
    if name not in CODECS:
        raise ValueError(f"codec must be one of {', '.join(CODECS)}, not {name!r}")
    try:
        return None if name == "none" else _CODECS[name]()
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"the codec {name} needs a library: pip install 'typedbytes[{name}]'", name=error.name
        ) from None


# A block: its length when decompressed, its length in the file, its bytes. The length 0 ends the stream.
_LZ4_HEADER = struct.Struct("<II")
_LZ4_BLOCK_NBYTES = 1 << 16


class _Lz4Compressor:
    """Compress into blocks of LZ4."""

    def __init__(self, lz4):
        self._lz4 = lz4
        self._rest = b""

    def compress(self, data):
        data = self._rest + data
        nbytes = len(data) - len(data) % _LZ4_BLOCK_NBYTES
        self._rest = data[nbytes:]
        return b"".join([self._block(data[at : at + _LZ4_BLOCK_NBYTES]) for at in range(0, nbytes, _LZ4_BLOCK_NBYTES)])

    def flush(self):
        return (self._block(self._rest) if self._rest else b"") + _LZ4_HEADER.pack(0, 0)

    def _block(self, data):
        packed = bytes(self._lz4.compress_block(data, store_size=False))
        return _LZ4_HEADER.pack(len(data), len(packed)) + packed


class _Lz4Decompressor:
    """Decompress blocks of LZ4, with the interface of a BZ2Decompressor."""

    def __init__(self, lz4):
        self._lz4 = lz4
        self._packed = b""
        self._data = memoryview(b"")
        self.eof = False

    def decompress(self, data, max_length):
        self._packed += data
        if not self._data and not self.needs_input:
            self._next_block()
        data, self._data = self._data[:max_length], self._data[max_length:]
        return data

    def _next_block(self):
        nbytes, end = self._lengths()
        data = bytearray(nbytes)
        if nbytes:
            found = self._lz4.decompress_block_into(self._packed[_LZ4_HEADER.size : end], data, output_len=nbytes)
            if found != nbytes:
                raise OSError(f"a block of a temporary file has {found} bytes instead of {nbytes}")
        self.eof = not nbytes
        self._data = memoryview(data)
        self._packed = self._packed[end:]

    def _lengths(self):
        """Return the length of the next block when decompressed, and where it ends."""
        nbytes, npacked = _LZ4_HEADER.unpack_from(self._packed)
        if nbytes > _LZ4_BLOCK_NBYTES:
            raise OSError(
                f"a block of a temporary file has {nbytes} bytes, above the {_LZ4_BLOCK_NBYTES} of all blocks"
            )
        return nbytes, _LZ4_HEADER.size + npacked

    @property
    def needs_input(self):
        if self._data or self.eof:
            return False
        return len(self._packed) < _LZ4_HEADER.size or len(self._packed) < self._lengths()[1]


class CompressedWriter:
    """Compress what is written."""

    def __init__(self, file, compressor):
        self._file = file
        self._compressor = compressor

    def write(self, data):
        """Compress all of the data and write the result."""
        self._write(self._compressor.compress(data))

    def finish(self):
        """Write the rest of the compressed data."""
        self._write(self._compressor.flush())

    def _write(self, packed):
        with memoryview(packed) as view:
            write_all(self._file, view)


class DecompressedReader(io.RawIOBase):
    """Decompress what a CompressedWriter has written."""

    def __init__(self, part, decompressor):
        self._part = part
        self._decompressor = decompressor
        self._chunk = bytearray(CHUNK_NBYTES)

    def readinto(self, target):
        """Fill the front of a buffer; return the number of bytes."""
        data = b""
        while not data and not self._decompressor.eof:
            packed = b""
            if self._decompressor.needs_input:
                packed = bytes(self._chunk[: self._part.readinto(self._chunk)])
                if not packed:
                    raise OSError("a temporary file ends inside its compressed bytes")
            data = self._decompressor.decompress(packed, len(target))
        target[: len(data)] = data
        return len(data)

    def close(self):
        """Close the file."""
        self._part.close()
        super().close()
