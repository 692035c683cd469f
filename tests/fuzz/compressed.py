"""Files compressed as a whole: their contents, or an error of the data, whatever the reads; as other libraries say.

Here: what must hold of any bytes under any suffix. Not here: what is in the contents. Invariant: the first bytes choose
the suffix and the sizes of reads.
"""

import bz2
import gzip
import io
import lzma
import zlib
from functools import cache, partial

from fuzz.choices import Choices
from support.vectors import read_jsonl
from typedbytes._base.compression import decompressed
from typedbytes._base.magic import compression_of
from typedbytes.errors import DecodeError
from typedbytes.sequencefile import _codecs

HEAD = 12
MAX_NBYTES = 1 << 20  # of decompressed contents: few bytes may become many
MAX_READS = 2000  # where the pieces are small
SIZES = (1, 2, 7, 100, 5000, 1 << 16)
GZIP = partial(gzip.compress, mtime=0)  # without the time, so that a seed makes the same bytes
COMPRESS = {".gz": GZIP, ".bz2": bz2.compress, ".xz": lzma.compress, ".deflate": zlib.compress}
DECOMPRESS = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
ERRORS = (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error)
NAMES = (*COMPRESS, ".zst", ".snappy", ".lz4", ".lzo", ".lzo_deflate")


@cache
def lzop_files():
    """Return what lzop wrote."""
    return [bytes.fromhex(vector["hex"]) for vector in read_jsonl("foreign/lzop/files.jsonl") if "hex" in vector]


def shape(maker):
    """Return the choices, and one or several streams of a kind, most of them spoiled."""
    rng = maker.rng
    number = rng.randrange(len(NAMES))
    contents = [
        b"".join(
            rng.choices((b"word", b"\n", b"\0", b"a" * 300, rng.randbytes(rng.randrange(99))), k=rng.randrange(20))
        )
        for _ in range(rng.choice((0, 1, 1, 1, 2, 3)))
    ]
    data = b"".join(map(compressor(NAMES[number], rng), contents)) + bytes(rng.choice((0, 0, 0, 1, 9)))
    return bytes([number]) + rng.randbytes(HEAD - 1) + (maker.spoiled(data) if rng.random() < 0.8 else data)


def compressor(name, rng):
    """Return what compresses contents for a suffix."""
    if name in COMPRESS:
        return COMPRESS[name]
    if name.startswith(".lzo"):  # LZO is only read
        return lambda content: rng.choice(lzop_files())[0 if name == ".lzo" else rng.randrange(60) :]
    return _codecs.find({".zst": "zstd"}.get(name, name[1:])).compress


def check_compressed(data):
    """Read the contents at once, and by small reads; where another library reads them too, they are the same."""
    choices, content = Choices(data[:HEAD]), data[HEAD:]
    name = choices.pick(NAMES)
    sizes = [choices.pick(SIZES) for _ in range(3)]
    found, error = contents_of(content, name, [1 << 16])
    pieces, fault = contents_of(content, name, sizes)
    if max(len(found), len(pieces)) < MAX_NBYTES - max(SIZES):  # what a fault spoils may be a whole read
        assert type(error) is type(fault), (error, fault)
    assert found.startswith(pieces) or pieces.startswith(found)
    if error is None:
        assert pieces == found or fault is not None
        if name in DECOMPRESS and compression_of(content) and len(found) < MAX_NBYTES:
            try:
                expected = DECOMPRESS[name](content)
            except ERRORS:
                return
            # bz2 and lzma take zeros before another stream for the end.
            is_padded = name != ".gz" and b"\0" + content[:3] in content
            assert found == expected or (is_padded and found.startswith(expected))


def contents_of(data, name, sizes):
    """Return the contents as far as they can be read, and the error."""
    parts, nbytes = [], 0
    source = None
    try:
        source = decompressed(io.BytesIO(data), name)
        while nbytes < MAX_NBYTES and (
            part := source.read(sizes[len(parts) % len(sizes)] if len(parts) < MAX_READS else 1 << 16)
        ):
            parts.append(part)
            nbytes += len(part)
    except DecodeError as error:
        assert error.offset is None or 0 <= error.offset <= nbytes + (1 << 16), error
        return b"".join(parts), error
    return b"".join(parts)[:MAX_NBYTES], None
