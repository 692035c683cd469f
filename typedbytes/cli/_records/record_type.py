"""The record class that --type names, and records as it shows them."""

from __future__ import annotations

import contextlib
import os
import sys

import typedbytes
from typedbytes.cli._failure import USAGE, Failure
from typedbytes.cli._records.decoding import decode_chunk
from typedbytes.cli._records.encoded import is_pairs

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["ShownRecords", "types_of", "types_of_columns"]


def load_type(name: str | None, option: str = "--type") -> Any:
    """Return the class, or another type of records, that MODULE:CLASS names; a Failure says why there is none."""
    if name is None:
        return None
    from typedbytes._records import named_type

    folder = os.getcwd()
    if folder not in sys.path and "" not in sys.path:
        sys.path.insert(0, folder)
    try:
        with contextlib.redirect_stdout(sys.stderr):  # what the module prints is not of the output
            found = named_type(name)
        typedbytes.Decoder(type=found)
    except (ValueError, TypeError) as error:
        raise Failure(USAGE, f"argument {option}: {error}") from error
    return found


def types_of(value_type: str | None, key_type: str | None) -> dict[str, Any]:
    """Return the types that --type and --key-type name, as options of a Decoder; each may be None."""
    kind = load_type(value_type)
    return {"type": kind, "key_type": load_type(key_type, "--key-type"), "value_type": kind}


def types_of_columns(types: dict[str, Any], pairs: bool) -> dict[str, Any]:
    """Return those of the types that columns of pairs need, or columns of values; without any none."""
    if not types:
        return {}
    names = ("key_type", "value_type") if pairs else ("type",)
    if any(types[name] is None for name in names):
        raise Failure(
            USAGE, "columns of pairs need --type and --key-type, such as builtins:str; those of values --type"
        )
    return {name: types[name] for name in names}


class ShownRecords:
    """Convert encoded records to those that show their values as a type has them: fields by name, dates as text.

    What has no type stays as it is.
    """

    def __init__(self, value_type: str | None, key_type: str | None, dialect: str) -> None:
        from typedbytes._records.shown import node_of_text

        options: Any = {"dialect": dialect, "unicode_errors": "surrogateescape"}
        types: Any = types_of(value_type, key_type)
        shown: Any = {name: None if kind is None else node_of_text(kind) for name, kind in types.items()}
        self._decoder = typedbytes.Decoder(exact=True, **types, **options)
        self._encoder = typedbytes.Encoder(**shown, **options)
        self._dialect = dialect

    def expect(self, reader: Any) -> None:
        """Prepare for the records of this reader."""
        self._is_pairs = is_pairs(reader)
        self._nbytes = self._nrecords = 0  # converted of it

    def converted(self, records: Any) -> Iterator[bytes]:
        """Yield records that are the same values in the form in which they are shown."""
        decode = self._decoder.decode_pairs if self._is_pairs else self._decoder.decode_all
        encode = self._encoder.encode_pairs if self._is_pairs else self._encoder.encode_all
        nparts = 2 if self._is_pairs else 1
        for values in decode_chunk(decode, records, nparts, self._dialect, self._nbytes, self._nrecords):
            yield encode(values)
            self._nrecords += len(values)
        self._nbytes += len(records)
