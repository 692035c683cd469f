"""The rows of the columns that a job returns, as dicts by the names of the columns.

Here: what an item of a column is in a row. Not here: how a row is written. Invariant: an item of a Batch is what was
read, or of the type that the job has declared for it; a batch holds values that no type of Arrow has.
"""

from __future__ import annotations

import io

from typedbytes import Decoder, PairReader, columns
from typedbytes.columns import type_strings

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

__all__ = ["has_encoded", "parts_of", "rows_of", "table_of"]

GROUP_NROWS = 1 << 12  # so many are Python objects at once
_AS_READ = ("fixed", "variable", "array", "raw", "unknown", "list", "tuple", "map", "struct")


def rows_of(given: Any, reading: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the rows of columns; reading: the options of columns.read by which the job reads batches."""
    own = {name: reading[name] for name in ("dialect", "max_depth") if name in reading}
    for part in parts_of(given):
        kinds = _types_of(part)
        if kinds and [*kinds] == ["key", "value"] and all(map(_is_as_read, kinds.values())):
            sink = io.BytesIO()
            columns.write(sink, part)
            yield from ({"key": key, "value": value} for key, value in PairReader(sink.getvalue(), **own))
            continue
        convert = {name: _converter(kind, Decoder(**own).decode) for name, kind in kinds.items()}
        table = table_of(part)
        options = {"maps_as_pydicts": "strict"} if "map<" in str(table.schema) else {}  # since pyarrow 20
        for group in table.to_batches(GROUP_NROWS):
            for row in group.to_pylist(**options):
                yield {name: convert[name](item) for name, item in row.items()} if convert else row


def parts_of(given: Any) -> Any:
    """Return what can be written one after the other: the batches of a BatchReader, or what is given."""
    return given if isinstance(given, columns.BatchReader) else (given,)


def has_encoded(given: Any) -> bool:
    """Return whether a Batch has encoded values, which are bytes in Arrow."""
    return any(map(_has_encoded, _types_of(given).values()))


def table_of(given: Any) -> Any:
    """Return columns as a table of pyarrow. Raises ModuleNotFoundError without it."""
    import pyarrow

    is_array = hasattr(given, "__arrow_c_array__") and not hasattr(given, "__arrow_c_stream__")
    return pyarrow.table(pyarrow.record_batch(given)) if is_array else pyarrow.table(given)


def _types_of(given):
    """Return the types of a Batch by name, none of other columns."""
    if not isinstance(given, columns.Batch):
        return {}
    return {name: type_strings.parse(kind) for name, kind in given.schema.items()}


def _is_as_read(kind):
    """Return whether no type was declared for a value that its bytes do not show, such as a date."""
    return kind[0] in _AS_READ and all(map(_is_as_read, type_strings.parts(kind).values()))


def _is_ext(kind):
    return kind[0] == "variable" and kind[1] not in (0, 7)


def _has_encoded(kind):
    return kind[0] == "raw" or _is_ext(kind) or any(map(_has_encoded, type_strings.parts(kind).values()))


def _converter(kind: Any, decode: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that makes what was read, or declared, of an item of pyarrow."""
    parts = {name: _converter(part, decode) for name, part in type_strings.parts(kind).items()}

    def convert(item):
        if item is None:
            return None
        if kind[0] == "raw":
            return decode(item)
        if _is_ext(kind):
            return decode(b"%c%b%b" % (kind[1], len(item).to_bytes(4, "big"), item))
        if kind[0] == "map":
            return {parts["key"](name): parts["value"](value) for name, value in item.items()}
        if kind[0] == "list":
            return [parts["item"](value) for value in item]
        if kind[0] == "tuple":
            return tuple(parts[name](value) for name, value in item.items())
        return {name: parts[name](value) for name, value in item.items()} if parts else item

    return convert
