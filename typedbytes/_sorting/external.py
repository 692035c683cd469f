r"""Sort streams of encoded records that are larger than memory: sorted runs in temporary files, and their merge.

    sort(sources, sink, memory=...)    streams of pairs or values into one sorted stream
    Spills                             runs in a folder, each with a segment for every partition; written and merged
    memory_for_records(memory)         the part of a process's memory that is left for both

Here: files, their compression, and how many are open at once. Not here: the order, which the Sorter has. Invariant: records
with equal keys come out in the order in which they went in; a run that lacks something is an error, not a shorter run.

>>> import io
>>> sink = io.BytesIO()
>>> sort([io.BytesIO(b"\x02\x01"), io.BytesIO(b"\x02\x00")], sink, nparts=1)
2
>>> sink.getvalue().hex()
'02000201'
"""

import io
import os
import struct
from collections import namedtuple

from typedbytes._atomic import temporary_folder
from typedbytes._sorting._native import Sorter, merge

__all__ = ["CODECS", "MAX_FILES", "Segment", "Spills", "memory_for_records", "sort"]

CODECS = ("none", "zlib", "lz4", "zstd")

BUFFER_NBYTES = 1 << 16, 1 << 20  # of a file that is merged: minimum and maximum
MAX_FILES = 128  # merged at once, far from what a process may open
CHUNK_NBYTES = 1 << 16  # of compressed bytes
INTERPRETER_NBYTES = 24 << 20  # with our modules and a progress bar

# A part of a file: the records of one partition, in order.
Segment = namedtuple("Segment", "path start nbytes nrecords codec")


def sort(sources, sink, *, nparts=2, memory=1 << 28, folder=None, codec="none", **options):
    """Sort the records of all sources into one sink, and return their number.

    sources: binary files with readinto(). sink: an object with write(). nparts: 2 for pairs, 1 for values. memory: bytes of a process that
    does nothing else. folder: where temporary files go, codec: their compression, one of CODECS. reverse, dialect, max_depth and errors as
    for `typedbytes._sorting._native.Sorter`.
    """
    memory = memory_for_records(memory)
    with temporary_folder("typedbytes-sort-", folder) as spill_folder:
        sorter = Sorter(nparts=nparts, memory=memory, **options)
        spills = Spills(spill_folder, codec=codec, nparts=nparts, memory=memory, **options)
        segments = []
        for source in sources:
            while sorter.fill(source):
                segments += spills.add(sorter)
        if segments:
            segments += spills.add(sorter)
            del sorter  # merging needs its memory
            return spills.merge(segments, sink)
        (nrecords,) = sorter.sort()
        sorter.write(0, sink)
        return nrecords


def memory_for_records(memory):
    """Return how much of a process's memory is left for records: the interpreter takes 24 MiB, or half of less than 48 MiB.

    >>> memory_for_records(512 << 20) >> 20
    488
    """
    return memory - min(INTERPRETER_NBYTES, memory // 2)


class Spills:
    """Write sorted runs to files of a folder and merge them.

    memory: bytes that merging may hold. max_files: how many it may have open. Other options as for `sort`.
    """

    def __init__(self, folder, *, codec="none", memory=1 << 28, max_files=MAX_FILES, **options):
        if codec not in CODECS:
            raise ValueError(f"codec must be one of {', '.join(CODECS)}, not {codec!r}")
        self._folder = folder
        self._codec = codec
        self._compression = _find_codec(codec)  # raise for a missing library now
        self._decompressor_nbytes = 0 if self._compression is None else self._compression.nbytes
        self._memory = memory
        self._max_files = max_files
        self._options = options

    def add(self, sorter):
        """Sort the records of a Sorter, write it to a file of its own and clear it; return a Segment for each partition."""
        counts = sorter.sort()
        with self._new_file() as file:
            segments = [self._write_segment(file, nrecords, sorter.write, partition) for partition, nrecords in enumerate(counts)]
        sorter.clear()
        return segments

    def merge(self, segments, sink):
        """Merge segments into a sink and return the number of records; of equal keys, those of earlier segments go first."""
        segments = [segment for segment in segments if segment.nrecords]
        max_segments = max(2, min(self._max_files, self._memory // (BUFFER_NBYTES[0] + self._decompressor_nbytes) - 1))
        while len(segments) > max_segments:
            segments = [self._merge_into_file(segments[i : i + max_segments]) for i in range(0, len(segments), max_segments)]
        return self._merge_at_once(segments, sink)

    def _merge_into_file(self, segments):
        with self._new_file() as file:
            return self._write_segment(file, sum(segment.nrecords for segment in segments), self._merge_at_once, segments)

    def _merge_at_once(self, segments, sink):
        min_nbytes, max_nbytes = BUFFER_NBYTES
        buffer_size = max(min_nbytes, min(max_nbytes, self._memory // (len(segments) + 1) - self._decompressor_nbytes))
        files = []
        try:
            for segment in segments:
                files.append(_open_segment(segment))
            nrecords = merge(files, sink, buffer_size=buffer_size, **self._options)
        finally:
            for file in files:
                file.close()
        expected = sum(segment.nrecords for segment in segments)
        if nrecords != expected:
            raise OSError(f"{expected} records were written to temporary files in {self._folder}, and {nrecords} were read back")
        return nrecords

    def _new_file(self):
        import tempfile  # lazy import: start-up time

        descriptor, path = tempfile.mkstemp(dir=self._folder)
        os.close(descriptor)
        return open(path, "wb", buffering=0)

    def _write_segment(self, file, nrecords, write, source):
        start = file.tell()
        if self._compression is None:
            write(source, file)
        else:
            writer = _CompressedWriter(file, self._compression.make_compressor())
            write(source, writer)
            writer.finish()
        return Segment(file.name, start, file.tell() - start, nrecords, self._codec)


def _open_segment(segment):
    part = _SegmentReader(segment)
    return part if segment.codec == "none" else _DecompressedReader(part, _CODECS[segment.codec]().make_decompressor())


class _SegmentReader(io.RawIOBase):
    """Read a segment's bytes."""

    def __init__(self, segment):
        self._file = open(segment.path, "rb", buffering=0)
        self._file.seek(segment.start)
        self._left = segment.nbytes

    def readinto(self, target):
        """Fill the front of a buffer; return the number of bytes."""
        with memoryview(target) as view:
            nbytes = self._file.readinto(view[: self._left])
        if nbytes == 0 and self._left:
            raise OSError(f"the temporary file {self._file.name} lacks {self._left} bytes")
        self._left -= nbytes
        return nbytes

    def close(self):
        """Close the file."""
        self._file.close()
        super().close()


# make_compressor() gives an object with compress(data) and flush(); make_decompressor() one with decompress(data, max_length),
# needs_input and eof, like those of the standard library's bz2. nbytes: memory of a decompressor, measured and rounded up.
_Codec = namedtuple("_Codec", "make_compressor make_decompressor nbytes")


def _zlib():
    import zlib

    return _Codec(lambda: zlib.compressobj(1), _ZlibDecompressor, 96 << 10)


def _lz4():
    import cramjam  # its absence is reported here

    return _Codec(lambda: _Lz4Compressor(cramjam.lz4), lambda: _Lz4Decompressor(cramjam.lz4), 192 << 10)


def _zstd():
    from typedbytes._zstd import zstd

    return _Codec(lambda: zstd.ZstdCompressor(level=1), zstd.ZstdDecompressor, 448 << 10)


_CODECS = {"zlib": _zlib, "lz4": _lz4, "zstd": _zstd}


def _find_codec(codec):
    try:
        return None if codec == "none" else _CODECS[codec]()
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"the codec {codec} needs a library: pip install 'typedbytes[{codec}]'", name=error.name) from None


class _ZlibDecompressor:
    """A zlib stream with the interface of a BZ2Decompressor."""

    def __init__(self):
        import zlib

        self._stream = zlib.decompressobj()

    def decompress(self, data, max_length):
        return self._stream.decompress(self._stream.unconsumed_tail + data, max_length)

    @property
    def needs_input(self):
        return not self._stream.unconsumed_tail

    @property
    def eof(self):
        return self._stream.eof


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
            raise OSError(f"a block of a temporary file has {nbytes} bytes, above the {_LZ4_BLOCK_NBYTES} of all blocks")
        return nbytes, _LZ4_HEADER.size + npacked

    @property
    def needs_input(self):
        if self._data or self.eof:
            return False
        return len(self._packed) < _LZ4_HEADER.size or len(self._packed) < self._lengths()[1]


class _CompressedWriter:
    """Compress what is written."""

    def __init__(self, file, compressor):
        self._file = file
        self._compressor = compressor

    def write(self, data):
        """Compress all of the data and write the result."""
        self._write_all(self._compressor.compress(data))

    def finish(self):
        """Write the rest of the compressed data."""
        self._write_all(self._compressor.flush())

    def _write_all(self, packed):
        with memoryview(packed) as view:
            nbytes = 0
            while nbytes < len(view):
                nbytes += self._file.write(view[nbytes:])


class _DecompressedReader(io.RawIOBase):
    """Decompress what a _CompressedWriter has written."""

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
