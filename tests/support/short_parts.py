"""Families of compressed streams, block messages and SequenceFiles of parts with no contents, or hardly any.

Here: bytes, about as many as are asked for, and what reads them. Not here: what that may cost.
Invariant: each part is valid.
"""

import bz2
import gzip
import io
import lzma
import struct
import zlib

from support import sequencefiles
from typedbytes._base.compression import decompressed
from typedbytes._base.zstd import zstd
from typedbytes.block import BlockDecoder
from typedbytes.sequencefile import Reader
from typedbytes.sequencefile._codecs import find

LIMIT = 1 << 30
HADOOP = "org.apache.hadoop.io."
ESCAPE = b"\xff" * 4 + bytes(range(16))
#: A zstd frame of four zeros in a compressed block.
COMPRESSED = bytes.fromhex("28b52ffd 2004 1d0000 210000")
#: By class name: nothing compressed, and a byte of zero.
CODECS = {
    "ZStandardCodec": (zstd.compress(b""), zstd.compress(b"\0")),
    "GzipCodec": (gzip.compress(b"", mtime=0), gzip.compress(b"\0", mtime=0)),
    "BZip2Codec": (bz2.compress(b""), bz2.compress(b"\0")),
    "DefaultCodec": (zlib.compress(b""), zlib.compress(b"\0")),
    "SnappyCodec": (bytes(4), b"\0\0\0\1\0\0\0\3\1\0\0"),
    "Lz4Codec": (bytes(4), b"\0\0\0\1\0\0\0\2\x10\0"),
}
STREAMS = {
    "zstd frames of nothing": CODECS["ZStandardCodec"][0],
    "zstd frames of nothing and a checksum": bytes.fromhex("28b52ffd 2400 010000 99e9d851"),
    "zstd frames of a byte": CODECS["ZStandardCodec"][1],
    "zstd frames of a byte and of nothing": CODECS["ZStandardCodec"][1] + CODECS["ZStandardCodec"][0],
    "zstd frames of 23 bytes": zstd.compress(bytes(range(23))),
    "gzip members of nothing": CODECS["GzipCodec"][0],
    "gzip members of a byte": CODECS["GzipCodec"][1],
    "bzip2 streams of nothing": CODECS["BZip2Codec"][0],
    "xz streams of nothing": lzma.compress(b""),
}
SKIPPED = bytes.fromhex("502a4d18 00000000")  # a file is not recognised by it
MESSAGES = {
    "line": b"e\n", "block": bytes(4), "bytes": bytes(4), "type8": bytes(4), "total": b"\0\0\0\4" + bytes(4),
    "header": bytes(4), "native": bytes.fromhex("f5424201 00030000") + bytes(16),
}  # fmt: skip


def repeated(part, start=b""):
    """Return the function that makes bytes of a start and this part again and again."""
    return lambda nbytes: start + part * ((nbytes - len(start)) // len(part))


def read_file(data):
    """Decompress a file."""
    return io.BufferedReader(decompressed(io.BytesIO(data)), 1 << 16).read()


def read_buffer(codec):
    """Return what decompresses a buffer of a SequenceFile."""
    return lambda data: find(codec).decompress(data, LIMIT)


def read_messages(wire):
    """Return what decodes messages."""
    return lambda data: BlockDecoder(wire).feed(data)


def read_sequence_file(data):
    """Read all records."""
    return list(Reader(io.BytesIO(data)))


def head(codec, blocks=False, value="NullWritable"):
    """Return the head of a SequenceFile with null keys."""
    codec = codec and f"{HADOOP}compress.{codec}"
    return sequencefiles.header(
        f"{HADOOP}NullWritable", HADOOP + value, compressed=codec is not None, blocks=blocks, codec=codec,
        marker=ESCAPE[4:],
    )  # fmt: skip


def record(value):
    """Return a record of a null key and a value, which is compressed."""
    return struct.pack(">II", len(value), 0) + value


def block(count, *buffers):
    """Return a block: the number of its records, and what its four buffers are compressed to."""
    return ESCAPE + bytes([count]) + b"".join(bytes([len(buffer)]) + buffer for buffer in buffers)


def families():
    """Return (bytes of a size, what reads them) by name."""
    found = {name: (repeated(part), read_file) for name, part in STREAMS.items()}
    found["zstd frames that are skipped"] = (repeated(SKIPPED, CODECS["ZStandardCodec"][0]), read_file)
    for name in CODECS:
        empty, zero = CODECS[name]
        found |= {
            f"{name}: buffer of nothing": (repeated(empty), read_buffer(f"{HADOOP}compress.{name}")),
            f"{name}: buffer of bytes": (repeated(zero), read_buffer(f"{HADOOP}compress.{name}")),
            f"{name}: records of nothing": (repeated(record(empty), head(name)), read_sequence_file),
            f"{name}: records of a byte": (
                repeated(record(zero), head(name, value="BooleanWritable")),
                read_sequence_file,
            ),
            f"{name}: blocks of nothing": (
                repeated(block(0, empty, empty, empty, empty), head(name, True)),
                read_sequence_file,
            ),
            f"{name}: blocks of a record": (
                repeated(block(1, zero, empty, zero, empty), head(name, True)),
                read_sequence_file,
            ),
        }
    zstd_head = head("ZStandardCodec", value="IntWritable")
    found["ZStandardCodec: records of four bytes"] = (repeated(record(COMPRESSED), zstd_head), read_sequence_file)
    found["sync escapes"] = (repeated(ESCAPE, head(None)), read_sequence_file)
    found["records of nothing"] = (repeated(bytes(8), head(None)), read_sequence_file)
    return found | {
        f"messages of nothing: {wire}": (repeated(part), read_messages(wire)) for wire, part in MESSAGES.items()
    }


FAMILIES = families()
