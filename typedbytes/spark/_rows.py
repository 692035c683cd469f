"""Rows of a data frame as records of a type: in the forms that it has, or an error for a value that does not fit."""

from __future__ import annotations

from typedbytes import columns
from typedbytes._core import Decoder, Encoder
from typedbytes._records.tables import nodes_of_rows
from typedbytes.errors import DecodeTypeError, EncodeError, EncodeTypeError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["TypedRows"]


class TypedRows:
    """Encode pairs in the forms of their types. nulls: "value", or "hive" for Hive's NULL."""

    def __init__(self, types, nulls):
        if nulls not in ("value", "hive"):
            raise ValueError(f'nulls must be "value" or "hive" with type, which says where None may be, not {nulls!r}')
        columns.read(b"", **types).close()  # raises TypeError for what is not a column
        options: Any = {"dialect": "hive" if nulls == "hive" else "hadoop"}
        nodes = {name: nodes_of_rows(kind) for name, kind in types.items()}
        reading: Any = {name: read for name, (read, _) in nodes.items()}
        writing: Any = {name: write for name, (_, write) in nodes.items()}
        self._decoder: Any = Decoder(**reading, **options)
        self._encoder: Any = Encoder(**writing, **options)

    def encoded(self, rows):
        """Return pairs, encoded as columns.write does with structs as MAPs, in the forms of the types."""
        try:
            return self._encoder.encode_pairs(self._decoder.decode_pairs(rows))
        except (DecodeTypeError, EncodeError) as error:
            raise EncodeTypeError(f"the frame does not fit its type: {error.message}", error.path) from None
