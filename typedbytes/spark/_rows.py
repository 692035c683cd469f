"""Rows of a data frame as records of a type: in the forms that it has, or an error for a value that does not fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typedbytes import columns
from typedbytes._core import Decoder, Encoder
from typedbytes._records.tables import nodes_of_rows
from typedbytes.errors import DecodeTypeError, EncodeError, EncodeTypeError

if TYPE_CHECKING:
    from typing import Any

    from typedbytes._base.options import Dialect

__all__ = ["TypedRows"]


class TypedRows:
    """Encode pairs in the forms of their types. nulls: "value", or "hive" for Hive's NULL."""

    def __init__(self, types, nulls):
        if nulls not in ("value", "hive"):
            raise ValueError(f'nulls must be "value" or "hive" with type, which says where None may be, not {nulls!r}')
        dialect: Dialect = "hive" if nulls == "hive" else "hadoop"
        columns.read(b"", dialect=dialect, **types).close()  # raises TypeError for what is not a column
        nodes: dict[str, Any] = {name: nodes_of_rows(kind) for name, kind in types.items()}
        self._decoder = Decoder(**{name: read for name, (read, _) in nodes.items()}, dialect=dialect)
        self._encoder = Encoder(**{name: write for name, (_, write) in nodes.items()}, dialect=dialect)

    def encoded(self, rows):
        """Return pairs, encoded as columns.write does with structs as MAPs, in the forms of the types."""
        try:
            return self._encoder.encode_pairs(self._decoder.decode_pairs(rows))
        except (DecodeTypeError, EncodeError) as error:
            raise EncodeTypeError(f"the frame does not fit its type: {error.message}", error.path) from None
