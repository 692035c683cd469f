"""Values of R that rmr2 wrote in its format `native`: vectors with NA, factors, data frames, by the codes 144 to 150.

    ext_hook(code, data)   what a value of these codes is in Python, for Reader, loads() and the others
    read(path)             the keys and values of a file or an output folder, without the templates that rmr2 adds

A vector is a list, with None for each NA; one of length 1 too, as R has no other numbers. A vector or list with names,
and a data frame, is a dict; a factor the list of its labels; NULL is None. What has other attributes is WithAttributes.
What R serialized itself (code 144: functions, complex numbers) is an Ext of its bytes.

>>> import typedbytes as tb
>>> tb.loads(bytes.fromhex("910000000903 00000007 80000000"), ext_hook=ext_hook)
[7, None]
"""

from __future__ import annotations

import datetime as dt
import struct
from typing import Any, NamedTuple

from typedbytes._core import Decoder, WrappedIterator
from typedbytes._types import Ext
from typedbytes.errors import FormatError, LimitError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["WithAttributes", "ext_hook", "read"]


def __dir__() -> list[str]:
    return __all__


_NATIVE, _VECTOR, _CHARACTERS, _WITH_ATTRIBUTES, _NULL, _LOGICAL, _NA_CHARACTER = range(144, 151)
_STRING = 7
_NA_INTEGER = -1 << 31
_NA_LOW_WORD = 1954  # of the NaN that means NA: R's arithmetic.c
_MAX_DEPTH = 64
_FORMATS = {1: "B", 2: "B", 3: "i", 4: "q", 5: "f", 6: "d", _LOGICAL: "i"}  # of the items of a vector
_EPOCH = dt.date(1970, 1, 1)
_TEMPLATE = "rmr.template"


class WithAttributes(NamedTuple):
    """Hold a value of R and its attributes, such as the `dim` of a matrix."""

    value: Any
    attributes: dict[str, Any]  #: by name


def ext_hook(code: int, data: bytes) -> Any:
    """Return the value of an application code of rmr2, and an Ext of any other.

    Raises FormatError for bytes that rmr2 does not write.

    >>> ext_hook(146, bytes.fromhex("00000002 0700000001 61 9600000000"))
    ['a', None]
    """
    return _value(code, data, 0)


def _value(code, data, depth):
    if code == _VECTOR:
        return _vector(data)
    if code == _CHARACTERS:
        return _characters(data)
    if code == _WITH_ATTRIBUTES:
        if depth >= _MAX_DEPTH:
            raise LimitError(f"values of R nest deeper than {_MAX_DEPTH}")
        parts = Decoder(ext_hook=lambda code, data: _value(code, data, depth + 1)).decode_all(data)
        return _with_attributes(parts)
    if code == _NULL and not data:
        return None
    return Ext(code, data)


def _vector(data):
    form = _FORMATS.get(data[0]) if data else None
    if form is None:
        raise FormatError(f"a vector of R has items of the unknown type {data[0]}" if data else "an empty vector of R")
    count, left = divmod(len(data) - 1, struct.calcsize(f">{form}"))
    if left:
        raise FormatError(f"a vector of R with {left} bytes after its {count} items")
    items = struct.unpack_from(f">{count}{form}", data, 1)
    if data[0] == 6:
        return [None if number != number and _is_na(data, 1 + 8 * i) else number for i, number in enumerate(items)]
    if data[0] in (3, _LOGICAL):
        kind = int if data[0] == 3 else bool
        return [None if number == _NA_INTEGER else kind(number) for number in items]
    return [number != 0 for number in items] if data[0] == 2 else [*items]


def _is_na(data, offset):
    return int.from_bytes(data[offset + 4 : offset + 8], "big") == _NA_LOW_WORD


def _characters(data):
    """Return texts and None: u32 count, and for each a STRING, or the code of NA with a length of zero."""
    texts: list[Any] = []
    end = 4
    while end < len(data):
        code, length = data[end], int.from_bytes(data[end + 1 : end + 5], "big")
        end += 5 + length
        if end > len(data) or code not in (_STRING, _NA_CHARACTER) or (code == _NA_CHARACTER and length):
            raise FormatError(f"text {len(texts) + 1} of a character vector of R is neither a whole text nor NA")
        try:
            texts.append(None if code == _NA_CHARACTER else data[end - length : end].decode())
        except UnicodeDecodeError:
            raise FormatError(f"text {len(texts) + 1} of a character vector of R is not UTF-8") from None
    if len(data) < 4 or len(texts) != int.from_bytes(data[:4], "big"):
        raise FormatError(f"a character vector of R has {len(texts)} texts, not the number that it says")
    return texts


def _with_attributes(parts):
    """Return the value of its three parts: what has attributes, their names and values."""
    if len(parts) != 3 or not isinstance(parts[1], list) or not isinstance(parts[2], tuple):
        raise FormatError("attributes of R are not names and values")
    value, names, items = parts
    if len(names) != len(items) or not all(isinstance(name, str) for name in names):
        raise FormatError(f"{len(names)} names of {len(items)} attributes of R")
    attributes = dict(zip(names, items))
    classes = attributes.get("class", [])
    if classes in (["factor"], ["ordered", "factor"]) and attributes.keys() == {"class", "levels"}:
        return _factor(value, attributes["levels"])
    if classes == ["Date"] and len(attributes) == 1:
        return _dates(value)
    if _is_named(value, attributes.get("names")) and _is_plain(attributes, classes):
        return dict(zip(attributes["names"], value))
    return WithAttributes(value, attributes)


def _is_named(value, names):
    """Return whether each item has a name of its own."""
    return (
        isinstance(names, list) and isinstance(value, (list, tuple)) and len(names) == len(value)
        and all(isinstance(name, str) for name in names) and len({*names}) == len(names)
    )  # fmt: skip


def _is_plain(attributes, classes):
    """Return whether a dict has all that the attributes say: rows of a data frame may have names too."""
    if attributes.keys() == {"names"}:
        return True
    rows = attributes.get("row.names")
    is_numbered = isinstance(rows, list) and not any(isinstance(row, str) for row in rows)
    return classes == ["data.frame"] and attributes.keys() == {"names", "row.names", "class"} and is_numbered


def _factor(value, levels):
    if not isinstance(value, list) or not isinstance(levels, list):
        raise FormatError("a factor of R is not numbers and levels")
    labels: dict[Any, Any] = {None: None, **dict(enumerate(levels, 1))}
    try:
        return [labels[number] for number in value]
    except (KeyError, TypeError):
        raise FormatError("a factor of R with a level that it does not have") from None


def _dates(days):
    try:
        return [None if number is None else _EPOCH + dt.timedelta(number) for number in days]
    except (OverflowError, TypeError, ValueError):
        raise FormatError("a date of R that Python does not have") from None


def read(path: Any) -> Iterator[tuple[Any, Any]]:
    """Return an iterator of the keys and values in a SequenceFile, or in all of a folder, that rmr2 wrote.

    A pair holds many records: a value is a list of them, or a data frame. rmr2 writes a template beside them, which
    tells R the types, and is left out here.

    - path: of a file, a folder or a pattern, or a URL, as in sequencefile.read
    """
    from typedbytes import sequencefile

    pairs = sequencefile.read(path, ext_hook=ext_hook)
    return WrappedIterator(
        (key, value)
        for key, value in pairs
        if not (isinstance(value, WithAttributes) and _TEMPLATE in value.attributes)
    )
