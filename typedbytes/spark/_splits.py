"""What both ways into Spark read: splits as record batches of a schema. Needs pyarrow, and no Spark.

Here: options, and the types that Spark has. Not here: dividing files, and conversion to a schema, which are columns'.
"""

from __future__ import annotations

import os

from typedbytes import columns
from typedbytes._base import locations
from typedbytes.columns import Split, _tables
from typedbytes.columns._tables import Schema, SchemaError
from typedbytes.sequencefile._classes import texts_of

__all__ = ["Options", "Schema", "SchemaError", "Split", "batches_of", "given_schema", "infer_schema", "make_splits"]

SPLIT_NBYTES = 128 << 20
_UNITS = {"k": 10, "m": 20, "g": 30}
_WORDS = {"true": True, "false": False}


class Options:
    """The options of reading, given as words or as objects; names are without regard to case, as Spark gives them."""

    def __init__(self, given):
        given = {name.lower(): value for name, value in given.items()}
        self.pairs = _flag(given, "pairs", True)
        self.merge = _flag(given, "mergeSchema", False)
        if _flag(given, "pushFilters", False):  # see _Reader in _source.py
            raise ValueError(
                "pushFilters cannot be true: Spark keeps the filters of a query for later ones of the same data frame, "
                "which would lack rows"
            )
        self.split_size = _size(given.get("splitsize", SPLIT_NBYTES))
        self.recursive = _flag(given, "recursiveFileLookup", False)
        self.path_column = given.get("pathcolumn")
        self.structure = {
            "pairs": self.pairs,
            "dialect": given.get("dialect", "hadoop"),
            "encoding": given.get("encoding", "utf-8"),
            "unicode_errors": given.get("unicodeerrors", "strict"),
        }
        if given.get("classes"):  # read here, so that workers need no file
            self.structure["classes"] = texts_of(given["classes"])


def _flag(given, name, default):
    value = given.get(name.lower(), default)
    if isinstance(value, bool):
        return value
    if str(value).lower() not in _WORDS:
        raise ValueError(f"{name} must be true or false, not {value!r}")
    return _WORDS[str(value).lower()]


def _size(text):
    digits, unit = str(text).lower(), 0
    if digits[-1:] in _UNITS:
        digits, unit = digits[:-1], _UNITS[digits[-1]]
    if not digits.isdecimal() or int(digits) < 1:
        raise ValueError(f"splitSize must be a size such as 65536 or 128m, not {text!r}")
    return int(digits) << unit


def make_splits(paths, options):
    """Return the splits of a path, or of several, in the order of their files."""
    return columns.splits(paths, options.split_size, recursive=options.recursive)


def infer_schema(paths, options):
    """Return the Schema of paths by the first records of their first file with any, or `mergeSchema` of all."""
    import pyarrow

    found = _infer(paths, options)
    if found is None:
        shown = ", ".join(map(os.fsdecode, paths if isinstance(paths, list) else [paths]))
        raise SchemaError(f"{shown}: there are no records to take the schema from: give one")
    fields = [pyarrow.field(field.name, _listed(field.type)) for field in found.arrow]
    if options.path_column:
        fields.append(pyarrow.field(options.path_column, pyarrow.string()))
    return Schema(pyarrow.schema(fields), found.types)


def _infer(paths, options):
    files = locations.files(paths, options.recursive)
    return _tables.infer_schema(files, options.structure, of_all_files=options.merge)


def given_schema(paths, options, arrow):
    """Return a given schema, with the types of records for its bytes and structs, which say too little."""
    if not any(word in str(field.type) for field in arrow for word in ("binary", "struct")):
        return Schema(arrow, {})
    return Schema(arrow, _infer(paths, options).types)


def _listed(kind):
    """Return a type without lists of one size, which Spark does not have."""
    import pyarrow

    if pyarrow.types.is_fixed_size_list(kind) or pyarrow.types.is_list(kind):
        return pyarrow.list_(_listed(kind.value_type))
    if pyarrow.types.is_struct(kind):
        return pyarrow.struct([pyarrow.field(field.name, _listed(field.type)) for field in kind])
    if pyarrow.types.is_map(kind):
        return pyarrow.map_(_listed(kind.key_type), _listed(kind.item_type))
    return kind


def batches_of(split, options, schema):
    """Yield the records of a split as record batches of a Schema; raises SchemaError for one that does not fit."""
    try:
        for batch in _tables.batches_of(split, schema, options.structure, options.path_column):
            for name, column in zip(schema.arrow.names, batch.columns):
                _refuse_equal_keys(column, name, split)
            yield batch
    except SchemaError as error:
        raise SchemaError(f"{error}: give another schema, or mergeSchema") from None


def _refuse_equal_keys(array, name, split):
    """Raise SchemaError for a MAP with equal keys: Spark has the last in collect(), the first in expressions."""
    import pyarrow

    if pyarrow.types.is_struct(array.type):
        parts = array.flatten()
    elif pyarrow.types.is_list(array.type):
        parts = [array.flatten()]
    elif pyarrow.types.is_map(array.type):
        keys = pyarrow.ListArray.from_arrays(array.offsets, array.keys)
        if not pyarrow.types.is_nested(array.type.key_type) and _has_equal_items(keys):
            raise SchemaError(
                f"{os.fsdecode(split.path)}: a MAP in column {name!r} has equal keys, of which Spark may take any"
            )
        parts = [keys.flatten(), pyarrow.ListArray.from_arrays(array.offsets, array.items).flatten()]
    else:
        return
    for part in parts:
        _refuse_equal_keys(part, name, split)


MOST_STEPS = 16


def _has_equal_items(lists):
    """Return whether a list has an item twice.

    Each is compared with those at some distance before it; of long lists all are counted.
    """
    import pyarrow
    from pyarrow import compute

    longest = compute.max(compute.list_value_length(lists)).as_py() or 0
    rows, items = compute.list_parent_indices(lists), lists.flatten().dictionary_encode().indices
    if longest > MOST_STEPS:
        pairs = pyarrow.table({"row": rows, "item": items})
        return len(pairs.group_by(["row", "item"]).aggregate([])) < len(pairs)
    return any(
        compute.any(compute.and_(compute.equal(rows[n:], rows[:-n]), compute.equal(items[n:], items[:-n]))).as_py()
        for n in range(1, longest)
    )
