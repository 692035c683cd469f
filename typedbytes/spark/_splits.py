"""Files as splits, and splits as Arrow record batches: what both ways into Spark read. Needs pyarrow, and no Spark.

Here: options, dividing files, the schema of a path. Invariant: each record is in exactly one split, and all batches of a path have
its schema: a value that does not fit is an error that names the file.
"""

from __future__ import annotations

import os
from collections import namedtuple

from typedbytes import columns, sequencefile
from typedbytes.columns import _sources
from typedbytes.errors import TypedBytesError
from typedbytes.sequencefile import _locations

__all__ = ["Options", "Schema", "SchemaError", "Split", "batches_of", "infer_schema", "make_splits"]

SPLIT_NBYTES = 128 << 20
_UNITS = {"k": 10, "m": 20, "g": 30}
_WORDS = {"true": True, "false": False}

# A part of a SequenceFile; other files are read whole, and start and length are None.
Split = namedtuple("Split", "path start length")

# What a path holds: the schema of Arrow, and the types of columns by which each split is read, None: its own.
Schema = namedtuple("Schema", "arrow types")


class SchemaError(TypedBytesError, ValueError):
    """Raised for records that do not fit the schema of a data frame."""


class Options:
    """The options of reading, given as words or as objects; names are without regard to case, as Spark gives them."""

    def __init__(self, given):
        given = {name.lower(): value for name, value in given.items()}
        self.pairs = _flag(given, "pairs", True)
        self.merge = _flag(given, "mergeSchema", False)
        self.split_size = _size(given.get("splitsize", SPLIT_NBYTES))
        self.path_column = given.get("pathcolumn")
        self.structure = {"pairs": self.pairs, "dialect": given.get("dialect", "hadoop")}


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


def make_splits(path, options):
    """Return the splits of a path, in the order of its files."""
    splits = []
    for file in _locations.files(path):
        if not _sources.is_sequence_file(file):
            splits.append(Split(file, None, None))
            continue
        nbytes = _locations.size(file)
        splits += [Split(file, start, min(options.split_size, nbytes - start)) for start in range(0, nbytes, options.split_size)]
    return splits


def infer_schema(path, options):
    """Return the Schema of a path by the first records of its first file that has any, with `mergeSchema` of all its files."""
    import pyarrow

    types, arrow = None, None
    for file in _locations.files(path):
        with columns.read(file, schema=types, on_mismatch="widen", **options.structure) as reader:
            batch = next(iter(reader), None)
        if batch is not None:
            types, arrow = batch.schema, pyarrow.record_batch(batch).schema
            if not options.merge:
                break
    if types is None or arrow is None:
        raise SchemaError(f"{os.fsdecode(path)}: there are no records to take the schema from: give one")
    fields = [pyarrow.field(field.name, _listed(field.type)) for field in arrow]
    if options.path_column:
        fields.append(pyarrow.field(options.path_column, pyarrow.string()))
    return Schema(pyarrow.schema(fields), {name: "raw" for name, kind in types.items() if kind == "raw"})


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
    if split.start is None:
        source = split.path
    else:
        structure = {"dialect": options.structure["dialect"]}
        source = sequencefile.Reader(split.path, start=split.start, length=split.length, **structure)
    try:
        with columns.read(source, schema=_types_for(split, options, schema), on_mismatch="widen", **options.structure) as reader:
            for batch in reader:
                yield _fitted(batch, split, options, schema)
    finally:
        if split.start is not None:
            source.close()


def _types_for(split, options, schema):
    """Return the types to read a split by: its own, but those of columns that hold encoded values."""
    if not schema.types:
        return None
    with columns.read(split.path, on_mismatch="widen", batch_rows=1, **options.structure) as reader:
        return {**reader.schema, **schema.types}


def _fitted(batch, split, options, schema):
    import pyarrow

    found = pyarrow.record_batch(batch)
    arrays = list(found.columns)
    if options.path_column:
        arrays.append(pyarrow.array([os.fsdecode(split.path)] * len(found), pyarrow.string()))
    if len(arrays) != len(schema.arrow):
        raise SchemaError(f"{os.fsdecode(split.path)}: records have {len(arrays)} columns, and the schema {len(schema.arrow)}")
    for i, field in enumerate(schema.arrow):
        if arrays[i].type != field.type:
            arrays[i] = _cast(arrays[i], field, batch, split)
    return pyarrow.RecordBatch.from_arrays(arrays, schema=schema.arrow)


def _cast(array, field, batch, split):
    import pyarrow

    is_encoded = batch.schema.get(field.name) == "raw"
    try:
        if not is_encoded and _fits(array.type, field.type):
            return array.cast(field.type)
    except pyarrow.ArrowException:
        pass  # a number that is too large
    kinds = f"{'values of several types' if is_encoded else array.type}, and the schema has {field.type}"
    raise SchemaError(f"{os.fsdecode(split.path)}: the column {field.name} holds {kinds}: give another schema, or mergeSchema")


def _fits(kind, wanted):
    """Return whether a cast keeps what values are; it may still fail for one that is too large."""
    from pyarrow import types

    if kind == wanted or types.is_null(kind):
        return True
    if types.is_integer(kind):
        return types.is_integer(wanted)
    if types.is_floating(kind):
        return types.is_floating(wanted) and wanted.bit_width >= kind.bit_width
    if types.is_string(kind):
        return types.is_large_string(wanted)
    if types.is_binary(kind):
        return types.is_large_binary(wanted)
    if types.is_list(kind) or types.is_fixed_size_list(kind):
        return types.is_list(wanted) and _fits(kind.value_type, wanted.value_type)
    if types.is_map(kind):
        return types.is_map(wanted) and _fits(kind.key_type, wanted.key_type) and _fits(kind.item_type, wanted.item_type)
    if types.is_struct(kind):
        return (
            types.is_struct(wanted)
            and [each.name for each in kind] == [each.name for each in wanted]
            and all(_fits(ours.type, theirs.type) for ours, theirs in zip(kind, wanted))
        )
    return False
