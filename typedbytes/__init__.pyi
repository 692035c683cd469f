from typedbytes._core import (
    Decoder as Decoder,
    Encoder as Encoder,
    count as count,
    dumps as dumps,
    hash_code as hash_code,
    index as index,
    loads as loads,
    partition as partition,
    skip as skip,
)
from typedbytes._typecodes import TypeCode as TypeCode
from typedbytes._types import Byte as Byte, Ext as Ext, Float as Float, Long as Long, Writable as Writable
from typedbytes.errors import (
    BlockError as BlockError,
    DecodeError as DecodeError,
    EncodeError as EncodeError,
    EncodeTypeError as EncodeTypeError,
    EncodeValueError as EncodeValueError,
    FormatError as FormatError,
    LimitError as LimitError,
    TruncatedError as TruncatedError,
    TypedBytesError as TypedBytesError,
)
from typedbytes.files import (
    PairReader as PairReader,
    PairWriter as PairWriter,
    Reader as Reader,
    Writer as Writer,
    dump as dump,
    dump_all as dump_all,
    iter_load as iter_load,
    load as load,
)
from typedbytes.legacy import (
    Bytes as Bytes,
    Input as Input,
    Output as Output,
    PairedInput as PairedInput,
    PairedOutput as PairedOutput,
)

__version__: str
__all__: list[str]
