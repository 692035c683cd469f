"""Types of keys and values in Writables that are not typed bytes: text, numbers, maps.

Invariant: what fits a type, and the errors, are those of typed bytes, through which such values go. Not here:
TypedBytesWritable, whose bytes are decoded and encoded by type as they are.
"""

from __future__ import annotations

from functools import partial

from typedbytes._core import Decoder, Encoder
from typedbytes._types import Ext
from typedbytes.errors import DecodeTypeError, FormatError
from typedbytes.sequencefile import _native

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["by_names", "typed_decoder", "typed_encoder"]

TYPES = ("type", "key_type", "value_type")
#: What the typed bytes between an object and its class have in common with both.
SHARED = ("unicode_errors", "dialect", "max_depth")


def typed_decoder(
    class_name: str, kind: Any, decode: Callable[[bytes], Any] | None, options: Mapping[str, Any]
) -> Callable[[bytes], Any]:
    """Return a function from the bytes of a class to an object of a type.

    decode: from the bytes to any object, None for a class that is built in. options: of a Decoder.
    """
    untyped = {name: value for name, value in options.items() if name not in (*TYPES, "strict")}
    read: Any = decode or partial(_native.decode, class_name, **untyped)
    encode = Encoder(**_shared(options)).encode
    decode_typed: Any = Decoder(**{**options, **dict.fromkeys(TYPES), "type": kind}).decode

    def decoder(data):
        try:
            return decode_typed(encode(read(data)))
        except DecodeTypeError as error:
            error.offset = 0  # of the Writable: that of the typed bytes says nothing
            raise

    return decoder


def typed_encoder(
    class_name: str, kind: Any, encode: Callable[[Any], bytes] | None, options: Mapping[str, Any]
) -> Callable[[Any], bytes]:
    """Return a function from an object of a type to the bytes of a class.

    encode: from any object to the bytes, None for a class that is built in. options: of an Encoder.
    """
    untyped = {name: value for name, value in options.items() if name not in (*TYPES, "omit_none")}
    encode = encode or partial(_native.encode, class_name, **untyped)
    encode_typed = Encoder(**{**options, **dict.fromkeys(TYPES), "type": kind}).encode
    shared = _shared(options)
    decode = Decoder(exact=True, **shared).decode
    encode_again, decode_plain = Encoder(**shared).encode, Decoder(**shared).decode

    def unpacked(value):
        """Return an exact value with what is in its pickles and arrays, as None is, in place of their bytes."""
        if type(value) is Ext:
            try:
                return decode_plain(encode_again(value))
            except FormatError:  # a pickle of the caller's own class, or bytes that are none
                return value
        if type(value) is dict:
            return {unpacked(key): unpacked(part) for key, part in value.items()}
        return type(value)(map(unpacked, value)) if type(value) in (list, tuple) else value

    return lambda obj: encode(unpacked(decode(encode_typed(obj))))


def _shared(options) -> dict[str, Any]:
    return {name: options[name] for name in SHARED if name in options}


def by_names(kind, program):
    """Return a type of what is written as a described class: a NamedTuple by the names of its fields."""
    if program is None or not (isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields")):
        return kind
    from typing import Annotated

    from typedbytes.records import Map

    return Annotated[kind, Map]
