# What other compiled modules see of the core: life cycle, buffers, sources and sinks, the codec, sources of pairs.

include "core/lifecycle.pxd"
include "core/buffer.pxd"
include "core/fileio.pxd"
include "core/codec/records.pxd"
include "core/codec.pxd"
include "core/stream.pxd"
