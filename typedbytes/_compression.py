"""Inputs compressed as a whole with gzip, bzip2, xz or Zstandard: recognised by their first bytes, and decompressed.

No more is decompressed at once than was asked for; damage is a DecodeError whose offset counts the decompressed bytes before it.
"""

import io

from typedbytes._magic import COMPRESSIONS
from typedbytes.errors import FormatError, TruncatedError

__all__ = ["Decompressed", "decompressed", "put_back"]

READ_NBYTES = 1 << 16


def decompressed(source):
    """Return a source of the decompressed contents; a source that is not compressed is returned as it is.

    A compression whose library is missing raises ModuleNotFoundError.
    """
    head = b""
    while any(mark.startswith(head) for mark in COMPRESSIONS if mark != head):
        piece = source.read(1)
        if not piece:
            break
        head += piece
    source = put_back(head, source)
    return Decompressed(source, COMPRESSIONS[head]) if head in COMPRESSIONS else source


def put_back(head, source):
    """Return a source that returns these bytes, which were read from it, again."""
    if head and source.seekable():
        source.seek(-len(head), io.SEEK_CUR)
        return source
    return _Prefixed(head, source) if head else source


class _Prefixed(io.RawIOBase):
    """Read bytes that have been read before, and then what follows them."""

    def __init__(self, head, source):
        self._head = head
        self._source = source

    def readable(self):
        """Say that it can be read from."""
        return True

    def readinto(self, target):
        """Fill the front of a buffer; return how many bytes that were."""
        if not self._head:
            return self._source.readinto(target)
        piece, self._head = self._head[: len(target)], self._head[len(target) :]
        target[: len(piece)] = piece
        return len(piece)


class Decompressed(io.RawIOBase):
    """Decompress a source of this kind; it may hold several compressed streams, followed by zeros."""

    def __init__(self, source, kind):
        try:
            self._start, self._error = _LIBRARIES[kind]()
        except ModuleNotFoundError as error:
            message = f"{kind} needs the library {error.name}: pip install 'typedbytes[{kind}]'"
            raise ModuleNotFoundError(message, name=error.name) from None
        self.kind = kind
        self._source = source
        self._stream = self._start()
        self._nbytes = 0

    def readable(self):
        """Say that it can be read from."""
        return True

    def readinto(self, target):
        """Fill the front of a buffer; return how many bytes that were."""
        piece, is_left = b"", True
        while is_left and not piece:
            data = self._next_data()
            is_left = data is not None
            if is_left:
                piece = self._decompress(data, len(target))
        target[: len(piece)] = piece
        self._nbytes += len(piece)
        return len(piece)

    def close(self):
        """Close the source too."""
        super().close()
        self._source.close()

    def _next_data(self):
        """Return the next compressed bytes, none if the stream has enough; None at the end."""
        if not self._stream.eof:
            return self._source.read(READ_NBYTES) or b"" if self._stream.needs_input else b""
        data = self._stream.unused_data.lstrip(b"\0")
        while not data:
            data = self._source.read(READ_NBYTES)
            if not data:
                return None
            data = data.lstrip(b"\0")
        self._stream = self._start()
        return data

    def _decompress(self, data, max_nbytes):
        is_over = not data and self._stream.needs_input
        try:
            piece = self._stream.decompress(data, max_nbytes)
        except self._error as error:
            raise FormatError(f"damaged {self.kind} data: {error}", self._nbytes) from None
        if is_over and not piece and not self._stream.eof:
            raise TruncatedError(f"{self.kind} data ends early", self._nbytes)
        return piece


class _GzipStream:
    """Give zlib's stream the interface of the others."""

    def __init__(self, stream):
        self._stream = stream

    @property
    def eof(self):
        return self._stream.eof

    @property
    def unused_data(self):
        return self._stream.unused_data

    @property
    def needs_input(self):
        return not self._stream.unconsumed_tail

    def decompress(self, data, most):
        """Return the next decompressed bytes, `most` at most."""
        return self._stream.decompress(self._stream.unconsumed_tail + data, most)


def _gzip():
    import zlib

    return lambda: _GzipStream(zlib.decompressobj(wbits=31)), zlib.error


def _bzip2():
    import bz2

    return bz2.BZ2Decompressor, OSError


def _xz():
    import lzma

    return lzma.LZMADecompressor, lzma.LZMAError


def _zstd():
    from typedbytes._zstd import zstd

    return zstd.ZstdDecompressor, zstd.ZstdError


_LIBRARIES = {"gzip": _gzip, "bzip2": _bzip2, "xz": _xz, "zstd": _zstd}  # imported when an input needs it
