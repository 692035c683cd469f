"""Move typed records between Python and the JVM: Hadoop TypedBytes, encoded and decoded in C.

    dumps(obj), loads(data)            one value, as bytes
    dump(obj, file), load(file)        one value, over a file; dump_all and iter_load for streams of them
    Encoder, Decoder                   the same with fixed options; Decoder.feed for input that comes in pieces
    Reader, Writer                     streams of values over files, descriptors, sockets, paths, buffers
    PairReader, PairWriter             keys and values in turn: what Hadoop Streaming speaks
    skip, count, index                 structure without values
    hash_code, partition               where Hadoop sends a key
    Byte, Int, Long, Float             numbers of a width; Ext, Writable: values that no Python type has
    records                            what Annotated says of the fields of a record class
    Input, Output, PairedInput, ...    drop-in names of the older libraries

>>> loads(dumps({"word": [1, 2.5, b"raw"]}))
{'word': [1, 2.5, b'raw']}
"""

import sys

try:
    from typedbytes._core import Decoder, Encoder, dumps, loads
except ModuleNotFoundError as error:  # in a checkout, which comes before what pip has installed
    error.msg += f": {__path__[0]} is not built for this Python; if it is a checkout, run Python in another folder"
    raise
from typedbytes._types import Byte, Ext, Float, Int, Long, Writable
from typedbytes.errors import (
    BlockError,
    CallError,
    DecodeError,
    DecodeTypeError,
    EncodeError,
    EncodeTypeError,
    EncodeValueError,
    FormatError,
    LimitError,
    TruncatedError,
    TypedBytesError,
)
from typedbytes.files import PairReader, PairWriter, Reader, Writer, dump, dump_all, iter_load, load

__version__ = "0.1.0"

# Imported when first used: start-up is paid by every Hadoop task.
_MODULES = (
    "block", "columns", "errors", "files", "fronts", "hadoop", "hive", "jobs", "legacy", "local", "records", "rmr2",
    "sequencefile", "sortkey", "spark", "streaming",
)  # fmt: skip
_LATER = {"TypeCode": "typedbytes._typecodes"}
_LATER.update(dict.fromkeys(("count", "hash_code", "index", "partition", "skip"), "typedbytes._core"))
_LATER.update(dict.fromkeys(("Bytes", "Input", "Output", "PairedInput", "PairedOutput"), "typedbytes.legacy"))
_CONSTANTS = (
    "BYTES BYTE BOOL INT LONG FLOAT DOUBLE STRING VECTOR LIST MAP PICKLE BYTESTRING MARKER"  # of the old modules
)
_LATER.update(dict.fromkeys(_CONSTANTS.split(), "typedbytes.legacy"))

__all__ = [
    "BlockError", "Byte", "Bytes", "CallError", "DecodeError", "DecodeTypeError", "Decoder", "EncodeError",
    "EncodeTypeError", "EncodeValueError", "Encoder", "Ext", "Float", "FormatError", "Input", "Int", "LimitError",
    "Long", "Output", "PairReader", "PairWriter", "PairedInput", "PairedOutput", "Reader", "TruncatedError",
    "TypeCode", "TypedBytesError", "Writable", "Writer", "count", "dump", "dump_all", "dumps", "hash_code", "index",
    "iter_load", "load", "loads", "partition", "skip",
]  # fmt: skip


def __getattr__(name):
    if name in _MODULES:
        try:
            __import__(f"typedbytes.{name}")
        except ImportError as error:  # on Windows there is no block
            raise AttributeError(f"module 'typedbytes.{name}' cannot be imported: {error}") from error
        return sys.modules[f"typedbytes.{name}"]
    if name not in _LATER:
        raise AttributeError(f"module 'typedbytes' has no attribute {name!r}")
    # The module of that name, without the time that importing importlib takes.
    value = globals()[name] = getattr(__import__(_LATER[name], fromlist=[name]), name)
    return value


def __dir__():
    return sorted({*__all__, *_LATER, *_MODULES, *(name for name in globals() if name.startswith("_"))})
