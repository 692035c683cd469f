"""The types of the options of many functions and classes, for type checkers: no code imports this module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any, Literal, Optional, TypedDict, Union

__all__ = [
    "ClassTexts", "DecodeOptions", "Decoders", "Dialect", "EncodeOptions", "Encoders", "MapFileOptions", "PicklePolicy",
    "ReaderOptions", "SequenceReaderOptions", "SequenceWriterOptions", "ValueOptions", "WriterOptions",
]  # fmt: skip

Decoders = Optional[Mapping[str, Callable[[bytes], Any]]]
Encoders = Optional[Mapping[str, Callable[[Any], bytes]]]
ClassTexts = Union[Mapping[str, str], str, PathLike[str], None]
Dialect = Literal["hadoop", "hive"]
PicklePolicy = Literal["safe", "trust", "raw"]


class EncodeOptions(TypedDict, total=False):
    """The options of an Encoder."""

    int_width: Literal["auto", 32, 64]
    pickle: PicklePolicy
    default: Optional[Callable[[Any], Any]]
    sort_keys: bool
    unicode_errors: str
    dialect: Dialect
    max_depth: int


class ValueOptions(TypedDict, total=False):
    """The options of a Decoder that say what becomes of a value."""

    pickle: PicklePolicy
    exact: bool
    map_pairs: bool
    ext_hook: Optional[Callable[[int, bytes], Any]]
    unicode_errors: str
    dialect: Dialect
    max_depth: int


class DecodeOptions(ValueOptions, total=False):
    """The options of a Decoder."""

    max_bytes: Optional[int]


class ReaderOptions(DecodeOptions, total=False):
    """The options of a Reader of values or of pairs, besides types."""

    strict: bool
    raw: bool
    read_ahead: bool
    buffer_size: int


class WriterOptions(EncodeOptions, total=False):
    """The options of a Writer of values or of pairs, besides types."""

    omit_none: bool
    buffer_size: int


class SequenceReaderOptions(ValueOptions, total=False):
    """The options of a Reader of a SequenceFile, besides max_bytes and decoders."""

    start: int
    length: Optional[int]
    raw: bool
    resync: bool
    key_type: Any
    value_type: Any
    strict: bool


class SequenceWriterOptions(EncodeOptions, total=False):
    """The options of a Writer of a SequenceFile that it only passes on."""

    metadata: Optional[Mapping[str, str]]
    version: int
    sync_interval: int
    block_size: int
    key_type: Any
    value_type: Any
    omit_none: bool


class MapFileOptions(ValueOptions, total=False):
    """The options of a MapFile."""

    max_bytes: Optional[int]
    decoders: Decoders
    classes: ClassTexts
    resync: bool
    key_type: Any
    value_type: Any
    strict: bool
