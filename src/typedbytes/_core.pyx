# The core, compiled as one module: every program loads all of it, and its parts call one another in the inner loops.
#
# The parts, each using only those before it:
#     core/lifecycle.pxi    open, in use, failed, closed; open writers in a forked child and at exit
#     core/buffer.pxi       cursors over bytes to read and to write, refilling and growing
#     core/fileio.pxi       file objects as sources and sinks of those buffers
#     core/codec.pxi        every type code: encode, decode and skip side by side
#     core/stream.pxi       Encoder, Decoder, Reader, Writer: what outlives a call
#     core/structure.pxi    skip, count, index and Hadoop's hash: questions that need no values

# Builtin functions are called faster than Cython's own; they carry their signatures in their docstrings.
# cython: binding=False, embedsignature=True, embedsignature.format=clinic

include "core/lifecycle.pxi"
include "core/buffer.pxi"
include "core/fileio.pxi"
include "core/codec.pxi"
include "core/stream.pxi"
include "core/structure.pxi"

__all__ = [
    "Decoder", "Encoder", "PairReader", "PairWriter", "Reader", "Writer", "count", "dumps", "hash_code", "index",
    "loads", "partition", "skip",
]
