"""The types of the options that many functions and classes take. For type checkers: nothing imports this module when it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Optional, TypedDict

__all__ = ["DecodeOptions", "Dialect", "EncodeOptions", "PicklePolicy", "ValueOptions"]

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
