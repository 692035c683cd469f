"""Hadoop's compression codecs by class name: compress bytes, and decompress them within a limit.

Here: Hadoop's own framing, and the library for each codec, imported when a file needs it. Not here: what the bytes
mean. Invariant: output is no longer than the limit, and temporary memory is in proportion to the input; bytes that the
codec cannot have written raise FormatError, TruncatedError or LimitError, with offset 0.
"""

from __future__ import annotations

from collections import namedtuple
from contextlib import suppress

from typedbytes._base import chunks, magic
from typedbytes._base.codec_names import APACHE, CLASSES, WRITABLE_CODECS
from typedbytes._core import keep_freed_memory
from typedbytes.errors import DecodeError, FormatError, LimitError, TruncatedError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["Codec", "find", "register_codec"]

# decompress(data, limit) -> bytes, compress(data) -> bytes; compress is None for a codec that is only read. `data` can
# be a memoryview whose memory is freed after the call: no code here may keep a reference to it, in a traceback neither.
Codec = namedtuple("Codec", "class_name decompress compress")

_registered: dict[str, Codec] = {}  # by class name


def register_codec(class_name: str, decompress: Any, compress: Any = None) -> None:
    """Have SequenceFiles of a codec that this library does not know read, and written, by functions of the caller.

    class_name: of Hadoop's codec, such as "io.sensesecure.hadoop.xz.XZCodec". decompress: takes the bytes of a value or
    of a block's buffer, and returns those before compression; compress is the reverse, None: files are only read. The
    functions hold in this process, in place of the library's own for a class that it knows.

    >>> import bz2, io
    >>> from typedbytes import sequencefile
    >>> sequencefile.register_codec("com.example.MyCodec", bz2.decompress, bz2.compress)
    >>> file = io.BytesIO()
    >>> with sequencefile.open(file, "w", codec="com.example.MyCodec") as writer:
    ...     writer.write("key", 5)
    >>> sequencefile.open(file.getvalue()).read_all()
    [('key', 5)]
    """

    def decompress_within(data, limit):
        try:
            found = decompress(bytes(data))
        except (DecodeError, MemoryError):
            raise
        except Exception as error:
            raise FormatError(f"damaged compressed data: {str(error) or type(error).__name__}") from error
        found = bytes_from("decompress", found)
        _check_limit(limit - len(found), limit)
        return found

    def bytes_from(function, found):
        if not isinstance(found, (bytes, bytearray, memoryview)):
            raise TypeError(f"the function {function} of {class_name} returned {type(found).__name__}, not bytes")
        return bytes(found)

    if "." not in class_name:
        raise ValueError(f"a codec is registered by the name of its class, with a package, not as {class_name!r}")
    if not callable(decompress) or not (compress is None or callable(compress)):
        raise TypeError(f"the functions of {class_name} must be callable")
    compressed = None if compress is None else lambda data: bytes_from("compress", compress(data))
    _registered[class_name] = Codec(class_name, decompress_within, compressed)


def find(name, *, to_write=False):
    """Return the Codec of a class name, or of a short name such as "gzip".

    Raises FormatError for an unknown name; ValueError for one to write with that is only read; and ModuleNotFoundError,
    which says what to install, for a missing library.
    """
    if name in _registered:
        codec = _registered[name]
        if to_write and codec.compress is None:
            raise ValueError(f"codec {name!r} was registered to read, without a function that compresses")
        return codec
    short = _SHORT.get(name, name)
    known = WRITABLE_CODECS if to_write else tuple(CLASSES)
    if short not in CLASSES:
        raise FormatError(
            f"unknown codec {name!r:.80}; known: {', '.join(known)}, class names like {APACHE}GzipCodec "
            "(and those given to register_codec)"
        )
    if short not in known:
        raise ValueError(f"codec {name!r} cannot be written, only read; to write: {', '.join(known)}")
    class_name = CLASSES[short]
    keep_freed_memory()
    try:
        return Codec(name if name in _SHORT else class_name, *_LOADERS[short]())
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"{class_name} needs the library {error.name}: pip install 'typedbytes[{short}]'", name=error.name
        ) from error


# ---- streams that mark their own end ---------------------------------------------------------------------------------


_FIRST_PIECE_NBYTES = 1024
_ZLIB_WBITS, _GZIP_WBITS = 15, 31


def _stream_decompressor(make, error, skip_empty=None, count_fault=None):
    """Return decompress() for one or more concatenated streams, as Hadoop's DecompressorStream reads them.

    skip_empty(data, offset) -> offset passes streams without contents; count_fault(nstreams, nbytes) -> what is
    wrong with that many streams in nbytes, or None.
    """

    def decompress(data, limit):
        # The first stream gets all the data. A stream copies the data after its end, so later streams, of which hostile
        # bytes can hold many, get pieces of growing size.
        parts, remaining, offset, nbytes, nstreams = [], limit, 0, len(data), 0
        while True:
            if skip_empty:
                offset = skip_empty(data, offset)
            if offset == len(data):  # some codecs compress empty data to no bytes
                break
            nstreams += 1
            fault = count_fault(nstreams, offset) if count_fault else None
            if fault:
                raise LimitError(fault)
            stream = make()
            while not stream.eof:
                piece = bytes(data[offset : offset + nbytes]) if offset else data
                if not piece:
                    raise TruncatedError("compressed data ends early")
                try:
                    part = stream.decompress(piece, remaining + 1)
                except error as reason:
                    raise FormatError(f"damaged compressed data: {reason}") from reason
                remaining -= len(part)
                _check_limit(remaining, limit)
                parts.append(part)
                offset += len(piece)
                nbytes *= 2
            offset -= len(stream.unused_data)
            nbytes = _FIRST_PIECE_NBYTES
        return parts[0] if len(parts) == 1 else b"".join(parts)

    return decompress


def _check_limit(remaining, limit):
    if remaining < 0:
        raise LimitError(f"decompressed size is greater than max_bytes={limit}")


# isal takes half of zlib's time for a block, and twice as much for a few bytes; bench: to_parquet.
_MIN_ISAL_NBYTES = 1024
# How streams start, by zlib's wbits: it refuses some other headers that isal accepts.
_USUAL_START = {_ZLIB_WBITS: b"\x78", _GZIP_WBITS: b"\x1f\x8b\x08\0"}


def _zlib_decompressor(wbits):
    """Return decompress() for a format of zlib: by isal if it is installed, and by zlib what isal refuses.

    isal also accepts incomplete Huffman codes, in streams whose checksum is right.
    """
    import zlib

    by_zlib = _stream_decompressor(lambda: zlib.decompressobj(wbits), zlib.error)
    try:
        from isal import isal_zlib
    except ImportError:  # also one that is broken, or another module of that name
        return by_zlib
    by_isal = _stream_decompressor(lambda: isal_zlib.decompressobj(wbits), isal_zlib.error)
    start = _USUAL_START[wbits]

    def decompress(data, limit):
        if len(data) >= _MIN_ISAL_NBYTES and data[: len(start)] == start:
            with suppress(DecodeError):
                return by_isal(data, limit)
        return by_zlib(data, limit)

    return decompress


def _default():
    import zlib

    return _zlib_decompressor(_ZLIB_WBITS), zlib.compress


def _gzip():
    import zlib

    def compress(data):
        stream = zlib.compressobj(wbits=_GZIP_WBITS)
        return stream.compress(data) + stream.flush()

    return _zlib_decompressor(_GZIP_WBITS), compress


def _bzip2():
    import bz2

    return _stream_decompressor(bz2.BZ2Decompressor, (OSError, ValueError)), bz2.compress


def _zstd():
    from typedbytes._base.zstd import FrameDecompressor, count_fault, skip_empty_frames, stored_contents, zstd

    decompress_frames = _stream_decompressor(FrameDecompressor, zstd.ZstdError, skip_empty_frames, count_fault)

    def decompress(data, limit):
        stored = stored_contents(data)
        if stored is None:
            return decompress_frames(data, limit)
        _check_limit(limit - len(stored), limit)
        return stored

    compressor = None

    def compress(data):
        # One for all frames: to make it takes longer than to compress a record.
        nonlocal compressor
        compressor = compressor or zstd.ZstdCompressor()
        return compressor.compress(data, zstd.ZstdCompressor.FLUSH_FRAME)

    return decompress, compress


# ---- chunks with their lengths: Hadoop's BlockCompressorStream, in a buffer that may hold several blocks ---------


def _chunk_decompressor(decompress_chunk, error):
    """Return decompress() for chunks.

    decompress_chunk(chunk, max_nbytes) returns bytes, or raises `error` for damage.
    """

    def decompress(data, limit):
        try:
            return decompress_blocks(data, limit)
        except DecodeError:
            name = magic.name_of(bytes(data[: chunks.SIGNATURE_NBYTES]))
            if name is None:
                raise
        raise FormatError(
            f"expected the chunks of Hadoop's codec, found {name} data in a format of its own, "
            "which Hadoop does not read either"
        )

    def decompress_blocks(data, limit):
        parts, remaining, offset = [], limit, 0
        while offset < len(data):
            left = _read_length(data, offset)
            offset += 4
            remaining -= left
            _check_limit(remaining, limit)
            while left:
                end = offset + 4 + _read_length(data, offset)
                if end > len(data):
                    raise TruncatedError("compressed data ends inside a chunk")
                part = chunks.decompress_in_place(decompress_chunk, error, bytes(data[offset + 4 : end]), left)
                parts.append(part)
                left -= len(part)
                offset = end
        return b"".join(parts)

    return decompress


def _read_length(data, offset):
    if offset + 4 > len(data):
        raise TruncatedError("compressed data ends inside a length")
    return int.from_bytes(data[offset : offset + 4], "big")


def _chunk_compressor(compress_chunk, overhead):
    """Return compress() with the chunks of Hadoop's compressors at the default buffer size."""
    max_nbytes = chunks.BUFFER_NBYTES - overhead

    def compress(data):
        parts = [len(data).to_bytes(4, "big")]
        for start in range(0, len(data), max_nbytes):
            chunk = compress_chunk(data[start : start + max_nbytes])
            parts += (len(chunk).to_bytes(4, "big"), chunk)
        return b"".join(parts)

    return compress


def _chunked(find):
    """Return the loader of a codec of chunks."""

    def load():
        decompress_chunk, compress_chunk, error, overhead = find()
        compress = None if compress_chunk is None else _chunk_compressor(compress_chunk, overhead)
        return _chunk_decompressor(decompress_chunk, error), compress

    return load


_LOADERS = {
    "default": _default,
    "gzip": _gzip,
    "bzip2": _bzip2,
    "zstd": _zstd,
    **{name: _chunked(find) for name, find in chunks.KINDS.items()},
}
# Codec class names in files, to the short name; aircompressor's classes are compatible with Hadoop's own.
_SHORT = {class_name: short for short, class_name in CLASSES.items()}
_SHORT.update({f"{APACHE}DeflateCodec": "default", f"{APACHE}LzoCodec": "lzo"})
_SHORT.update(
    {
        "io.airlift.compress.snappy.SnappyCodec": "snappy",
        "io.airlift.compress.lz4.Lz4Codec": "lz4",
        "io.airlift.compress.zstd.ZstdCodec": "zstd",
        "io.airlift.compress.lzo.LzoCodec": "lzo",
        "io.airlift.compress.deflate.JdkDeflateCodec": "default",
        "io.airlift.compress.bzip2.BZip2Codec": "bzip2",
    }
)
