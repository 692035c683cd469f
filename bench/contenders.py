"""The codecs that are measured: this project, what a user could pick instead, and our own slow reference.

Here: how each is asked, in the fastest way it documents, and which shapes it cannot do. Not here: clocks,
reports. Invariant: an answer can be checked, since each has both directions; a library that is not installed is
left out, and `versions` says so.
"""

import importlib
import marshal
import pickle
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import typedbytes as tb
from data import MARSHALLED, PAIRS, PICKLED, SHAPES

TESTS = Path(__file__).resolve().parent.parent / "tests"

#: The two that the goals compare with.
YARDSTICKS = ("marshal", "msgspec")

BEYOND_64_BITS = frozenset(("wide_int", "list_50", "tuple_50", "dict_50"))
#: Nor has MessagePack or JSON keys that are containers. Dates and the like become text there, or are refused.
BEYOND_OTHERS = BEYOND_64_BITS | PICKLED | {"tuple_keys"}
#: Where the type is known, text is made a date again.
BEYOND_TYPED = BEYOND_OTHERS - {name for name in PICKLED if SHAPES[name].annotation}
WITH_BYTES = frozenset(name for name in SHAPES if name.startswith(("bytes_", "bytearray_"))) | BEYOND_64_BITS


@dataclass(frozen=True)
class Codec:
    """A way from an object to bytes and back."""

    dumps: Callable[[object], bytes]
    loads: Callable[[bytes], object]


def typedbytes_codec(shape):
    """Encode and decode the whole list as one value."""
    return Codec(tb.Encoder().encode, tb.Decoder().decode)


def typedbytes_functions_codec(shape):
    """Encode and decode by the functions, which make what they need at each call."""
    return Codec(tb.dumps, tb.loads)


def typedbytes_stream_codec(shape):
    """Encode and decode the items as a stream of values, or of keys and values where they are pairs."""
    encoder, decoder = tb.Encoder(), tb.Decoder()
    if shape.name in PAIRS:
        return Codec(encoder.encode_pairs, decoder.decode_pairs)
    return Codec(encoder.encode_all, decoder.decode_all)


def reference_codec(shape):
    """Our own slow implementation, which tests compare the compiled one with."""
    if str(TESTS) not in sys.path:
        sys.path.append(str(TESTS))
    reference = importlib.import_module("support.reference")
    return Codec(reference.dumps, reference.loads)


def marshal_codec(shape):
    """Use the interpreter's own format for its compiled code."""
    return Codec(marshal.dumps, marshal.loads)


def pickle_codec(shape):
    """Use protocol 5."""
    return Codec(lambda obj: pickle.dumps(obj, 5), pickle.loads)


def msgspec_codec(shape):
    """Use an encoder and a decoder that are kept."""
    msgpack = importlib.import_module("msgspec.msgpack")
    return Codec(msgpack.Encoder().encode, msgpack.Decoder().decode)


def msgspec_functions_codec(shape):
    """Use the functions, which make what they need at each call."""
    msgpack = importlib.import_module("msgspec.msgpack")
    return Codec(msgpack.encode, msgpack.decode)


def msgspec_typed_codec(shape):
    """Use a decoder that knows the type to expect."""
    msgpack = importlib.import_module("msgspec.msgpack")
    return Codec(msgpack.Encoder().encode, msgpack.Decoder(shape.annotation).decode)


def ormsgpack_codec(shape):
    """Use MessagePack from Rust."""
    ormsgpack = importlib.import_module("ormsgpack")
    return Codec(ormsgpack.packb, ormsgpack.unpackb)


def msgpack_codec(shape):
    """Use a packer that is kept; there is no kept form of unpackb."""
    msgpack = importlib.import_module("msgpack")
    return Codec(msgpack.Packer().pack, lambda data: msgpack.unpackb(data, strict_map_key=False))


def cbor2_codec(shape):
    """Use CBOR."""
    cbor2 = importlib.import_module("cbor2")
    return Codec(cbor2.dumps, cbor2.loads)


def orjson_codec(shape):
    """Use JSON from Rust."""
    orjson = importlib.import_module("orjson")
    return Codec(orjson.dumps, orjson.loads)


#: By name: how a codec is made for a shape, the shapes it cannot do, and the distribution its version is that of.
CONTENDERS = {
    "typedbytes": (typedbytes_codec, frozenset(), None),
    "typedbytes functions": (typedbytes_functions_codec, frozenset(), None),
    "typedbytes stream": (typedbytes_stream_codec, frozenset(), None),
    "marshal": (marshal_codec, PICKLED - MARSHALLED, None),
    "msgspec": (msgspec_codec, BEYOND_OTHERS, "msgspec"),
    "msgspec functions": (msgspec_functions_codec, BEYOND_OTHERS, "msgspec"),
    "msgspec typed": (msgspec_typed_codec, BEYOND_TYPED, "msgspec"),
    "ormsgpack": (ormsgpack_codec, BEYOND_OTHERS, "ormsgpack"),
    "msgpack": (msgpack_codec, BEYOND_OTHERS, "msgpack"),
    "pickle": (pickle_codec, frozenset(), None),
    "cbor2": (cbor2_codec, PICKLED, "cbor2"),
    "orjson": (orjson_codec, BEYOND_OTHERS | WITH_BYTES, "orjson"),
    "reference": (reference_codec, frozenset(), None),
}


def can(name, shape):
    """Tell whether a contender can do a shape."""
    return shape.name not in CONTENDERS[name][1]


def codec(name, shape):
    """Return the codec of a contender for a shape that it can do, or None if it is not installed."""
    try:
        return CONTENDERS[name][0](shape)
    except ModuleNotFoundError:
        return None


def versions():
    """Return the version of each contender, None where it is not installed."""
    from importlib import metadata  # slow to import, and this module is imported under valgrind

    found = {"python": platform.python_version(), "typedbytes": tb.__version__}
    for _, _, distribution in CONTENDERS.values():
        if distribution is not None:
            try:
                found[distribution] = metadata.version(distribution)
            except metadata.PackageNotFoundError:
                found[distribution] = None
    return found
