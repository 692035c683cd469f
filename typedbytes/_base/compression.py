"""Files compressed as a whole with gzip, bzip2, xz, Zstandard or lzop, or by Hadoop's other codecs.

Inputs are recognised by their first bytes, outputs by their names. Zlib's own format, which Hadoop names .deflate, and
the chunks of .snappy, .lz4 and .lzo_deflate have no signature: they are recognised by these names. They and lzop are
only read, and no output is named so. No more is decompressed at once than was asked for; damage is a DecodeError whose
offset counts the decompressed bytes before it. A SequenceFile inside is refused: it has to be decompressed first.
"""

import io
import os
from contextlib import suppress

from typedbytes._base.chunks import KINDS, SIGNATURE_NBYTES, ChunkedFile, Contents
from typedbytes._base.magic import (
    COMPRESSIONS,
    DECOMPRESS_FIRST,
    OTHER_COMPRESSIONS,
    SEQUENCE_FILE_NBYTES,
    compression_of,
    is_sequence_file,
    name_of,
)
from typedbytes.errors import DecodeError, FormatError, LimitError, TruncatedError

__all__ = [
    "Compressed", "Decompressed", "ZlibStream", "compressing", "compression_of_text", "compressor", "decompressed",
    "decompressed_as", "put_back", "refuse_compressed_sequence_file", "suffix_of_compressed",
]  # fmt: skip

READ_NBYTES = 1 << 16
FIRST_READ_NBYTES = 1 << 12  # of a stream: what follows its end is copied
DEFLATE = ".deflate"
_SUFFIXES = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
_BY_NAME = {DEFLATE: "deflate", ".snappy": "snappy", ".lz4": "lz4", ".lzo_deflate": "lzo", ".lzo": "lzop"}
_UNREADABLE_SUFFIX = ".Z"  # of compress


def compression_of_text(path):
    """Return the compression that the name of a text file indicates, or None; FormatError for one that is not read.

    Hadoop goes by the name too. Compressed bytes could be taken for lines.
    """
    suffix = os.path.splitext(path)[1]
    if suffix == _UNREADABLE_SUFFIX:
        raise FormatError(
            f"expected text, found a name that ends in {suffix}, a compression that is not known: decompress it first"
        )
    return _BY_NAME.get(suffix) or _SUFFIXES.get(suffix)


def decompressed(source, name=""):
    """Return a source of the decompressed contents, or the source itself if it is not compressed.

    name: of the file. A compression whose library is missing raises ModuleNotFoundError.
    """
    kind = _BY_NAME.get(os.path.splitext(name)[1])
    if kind in KINDS:
        head = _read_fully(source, SIGNATURE_NBYTES)
        source = put_back(head, source)
        is_chunked = name_of(head) in (None, *OTHER_COMPRESSIONS.values())  # ChunkedFile refuses other compressions
        return ChunkedFile(source, kind) if is_chunked else source
    head = b""
    while any(signature.startswith(head) for signature in COMPRESSIONS if signature != head):
        piece = _read(source, 1)
        if not piece:
            break
        head += piece
    while name.endswith(DEFLATE) and len(head) < 2 and (piece := _read(source, 1)):
        head += piece
    source = put_back(head, source)
    kind = "deflate" if name.endswith(DEFLATE) and _starts_zlib(head) else COMPRESSIONS.get(head)
    return decompressed_as(source, kind) if kind else source


def _read_fully(source, nbytes):
    data = b""
    while len(data) < nbytes and (piece := _read(source, nbytes - len(data))):
        data += piece
    return data


def _starts_zlib(head):
    """Return whether a file may be a stream of zlib: RFC 1950, 2.2."""
    return len(head) >= 2 and head[0] & 0x8F == 8 and int.from_bytes(head[:2], "big") % 31 == 0


def refuse_compressed_sequence_file(file, path):
    """Raise FormatError if a file at its start is a SequenceFile that is compressed as a whole, which has no splits."""
    name, start = compression_of(file.read(max(map(len, COMPRESSIONS)))), b""
    if name:
        file.seek(0)
        with suppress(DecodeError, ModuleNotFoundError):  # reading the contents raises the same
            start = io.BufferedReader(decompressed_as(file, name), SEQUENCE_FILE_NBYTES).read(SEQUENCE_FILE_NBYTES)
    if is_sequence_file(start):
        error = FormatError(f"a SequenceFile inside {name} data, {DECOMPRESS_FIRST}", 0)
        error.filename = os.fsdecode(path)
        raise error


def _read(source, nbytes):
    """Return the next bytes of a source, b"" at the end; BlockingIOError if it does not wait for them."""
    data = source.read(nbytes)
    if data is None:
        raise BlockingIOError("the source must be in blocking mode")
    return data


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
        return True

    def readinto(self, target):
        if not self._head:
            return self._source.readinto(target)
        piece, self._head = self._head[: len(target)], self._head[len(target) :]
        target[: len(piece)] = piece
        return len(piece)


def decompressed_as(source, kind):
    """Return a source of the contents of one that is compressed in this way."""
    if kind == "lzop":
        from typedbytes._base.lzop import LzopFile

        return LzopFile(source)
    return ChunkedFile(source, kind) if kind in KINDS else Decompressed(source, kind)


class Decompressed(Contents):
    """Decompress a source of this kind; it may hold several compressed streams, followed by zeros."""

    def __init__(self, source, kind):
        self._start, self._error, _ = _library(kind)
        self.kind = kind
        self._source = source
        self._stream = self._start()
        self._nbytes = 0
        self._nstreams = 1
        self._nread = 0
        self._piece_nbytes = FIRST_READ_NBYTES
        self._zstd = None
        if kind == "zstd":
            from typedbytes._base import zstd

            self._zstd = zstd

    def readinto(self, target):
        """Fill the front of a buffer; return how many bytes that were."""
        piece, is_left = b"", True
        while is_left and not piece:
            data = self._next_data()
            is_left = data is not None
            if is_left:
                piece = self._decompress(data, len(target))
        memoryview(target)[: len(piece)] = piece
        self._nbytes += len(piece)
        return len(piece)

    def _next_data(self):
        """Return the next compressed bytes, none if the stream has enough; None at the end."""
        if not self._stream.eof:
            return self._read_piece() if self._stream.needs_input else b""
        data = self._without_empty_start(self._stream.unused_data)
        while not data:
            data = self._read_piece()
            if not data:
                return None
            data = self._without_empty_start(data)
        self._stream = self._start()
        self._piece_nbytes = FIRST_READ_NBYTES
        self._nstreams += 1
        fault = self._zstd.count_fault(self._nstreams, self._nread - len(data)) if self._zstd else None
        if fault:
            raise LimitError(fault, self._nbytes)
        return data

    def _read_piece(self):
        data = _read(self._source, self._piece_nbytes)
        self._nread += len(data)
        self._piece_nbytes = min(2 * self._piece_nbytes, READ_NBYTES)
        return data

    def _without_empty_start(self, data):
        """Return compressed bytes without the zeros at their start, and without the frames that have no contents."""
        return data[self._zstd.skip_empty_frames(data, zeros=True) :] if self._zstd else data.lstrip(b"\0")

    def _decompress(self, data, max_nbytes):
        is_over = not data and self._stream.needs_input
        try:
            piece = self._stream.decompress(data, max_nbytes)
        except self._error as error:
            raise FormatError(f"damaged {self.kind} data: {error}", self._nbytes) from None
        if is_over and not piece and not self._stream.eof:
            raise TruncatedError(f"{self.kind} data ends early", self._nbytes)
        return piece


def suffix_of_compressed(path):
    """Return the suffix by which an output at this path is compressed, or ""; ValueError for one that is only read."""
    suffix = os.path.splitext(os.fsdecode(path))[1]
    if suffix in _BY_NAME:
        raise ValueError(f"files named {suffix} are read, not written: use {', '.join(_SUFFIXES)}, or another suffix")
    return suffix if suffix in _SUFFIXES else ""


def compressing(path, write_all):
    """Return a function from the raw file at a path to what an output is written to, which its suffix says.

    A compression whose library is missing raises ModuleNotFoundError, a suffix that is only read ValueError.
    """
    suffix = suffix_of_compressed(path)
    if not suffix:
        return lambda file: file
    stream = compressor(_SUFFIXES[suffix])
    return lambda file: Compressed(file, stream, write_all)


def compressor(kind):
    """Return an object that compresses in this way: compress(data) and flush() return bytes."""
    return _library(kind)[2]()


class Compressed(io.RawIOBase):
    """Compress into a raw file, which is complete when this is closed; after an error nothing more is written to it."""

    def __init__(self, file, stream, write_all):
        self._file = file
        self._stream = stream
        self._write_all = write_all
        self._failure = None
        self._process = os.getpid()

    def writable(self):
        """Return True: it can be written to."""
        return True

    def write(self, data):
        """Compress bytes; return their number."""
        self._check_process()
        self._pass_on(self._stream.compress(data))
        return memoryview(data).nbytes

    def close(self):
        """Write the end and close the file."""
        if self.closed:
            return
        try:
            if self._failure is None and os.getpid() == self._process:  # a forked child has a copy
                self._pass_on(self._stream.flush())
        except BaseException:
            with suppress(Exception):  # the first error goes on
                self.abandon()
            raise
        self.abandon()

    def abandon(self):
        """Close the file without the end, which makes what was written look complete."""
        super().close()
        self._file.close()

    def _check_process(self):
        if os.getpid() != self._process:
            raise OSError("a compressed file is written by the process that has opened it")

    def _pass_on(self, data):
        """Write compressed bytes; the compressor does not keep them, so a failure is final."""
        if self._failure is not None:
            raise self._failure
        try:
            self._write_all(self._file, data)
        except BaseException as error:
            self._failure = error
            raise


class ZlibStream:
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

    return lambda: ZlibStream(zlib.decompressobj(wbits=31)), zlib.error, lambda: zlib.compressobj(wbits=31)


def _deflate():
    import zlib

    return lambda: ZlibStream(zlib.decompressobj()), zlib.error, zlib.compressobj


def _bzip2():
    import bz2

    return bz2.BZ2Decompressor, OSError, bz2.BZ2Compressor


def _xz():
    import lzma

    return lzma.LZMADecompressor, lzma.LZMAError, lzma.LZMACompressor


def _zstd():
    from typedbytes._base.zstd import FrameDecompressor, zstd

    return FrameDecompressor, zstd.ZstdError, zstd.ZstdCompressor


# imported when a file needs it
_LIBRARIES = {"gzip": _gzip, "deflate": _deflate, "bzip2": _bzip2, "xz": _xz, "zstd": _zstd}


def _library(kind):
    """Return what makes a decompressor, its error, and what makes a compressor."""
    try:
        return _LIBRARIES[kind]()
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{kind} needs the library {error.name}: pip install 'typedbytes[{kind}]'", name=error.name
        ) from None
