"""Splits as Arrow record batches of one schema. Needs pyarrow.

Here: the schema of some files, and conversion to it. Invariant: all batches have the schema; a value that does not fit is an
error that names the file.
"""

from __future__ import annotations

import os
from collections import namedtuple

from typedbytes.columns._reader import read
from typedbytes.errors import TypedBytesError

__all__ = ["Schema", "SchemaError", "batches_of", "infer_schema"]

# The schema of Arrow, and the types of the columns by name.
Schema = namedtuple("Schema", "arrow types")


class SchemaError(TypedBytesError, ValueError):
    """Raised for records that do not fit a schema."""


def infer_schema(files, structure, *, of_all_files=False, of_all_records=False):
    """Return the Schema by the first records of the first file that has any; None without records.

    of_all_files: it holds the first records of each file; of_all_records: and all others.
    """
    import pyarrow

    types, arrow = None, None
    for file in files:  # each in a list: errors name it
        with read([file], schema=types, on_mismatch="widen", **structure) as reader:
            for batch in reader:
                types, arrow = batch.schema, pyarrow.record_batch(batch).schema
                if not of_all_records:
                    break
        if types is not None and not (of_all_files or of_all_records):
            break
    if types is None or arrow is None:
        return None
    return Schema(arrow, types)


def batches_of(split, schema, structure, path_column=None):
    """Yield the records of a split as record batches of a Schema, with its path as the last column if that has a name.

    Raises SchemaError for a value that does not fit.
    """
    with read(split, schema=_types_for(split, schema, structure), on_mismatch="widen", **structure) as reader:
        for batch in reader:
            yield _fitted(batch, os.fsdecode(split.path), schema.arrow, path_column)


def _types_for(split, schema, structure):
    """Return the types to read a split by: its own, but for columns of encoded values or structs, which a few records do not show."""
    fixed = {name: kind for name, kind in schema.types.items() if kind == "raw" or "struct<" in kind}
    if not fixed:
        return None
    with read(split.path, on_mismatch="widen", batch_rows=1, **structure) as reader:
        return {**reader.schema, **fixed}


def _fitted(batch, path, schema, path_column):
    import pyarrow

    found = pyarrow.record_batch(batch)
    arrays = list(found.columns)
    if path_column:
        arrays.append(pyarrow.array([path] * len(found), pyarrow.string()))
    if len(arrays) != len(schema):
        raise SchemaError(f"{path}: records have {len(arrays)} columns, and the schema {len(schema)}")
    for i, field in enumerate(schema):
        if arrays[i].type != field.type:
            arrays[i] = _cast(arrays[i], field, batch.schema.get(field.name) == "raw", path)
    return pyarrow.RecordBatch.from_arrays(arrays, schema=schema)


def _cast(array, field, is_encoded, path):
    import pyarrow

    found = f"{'values of several types' if is_encoded else array.type}, and the schema has {field.type}"
    if not is_encoded and _fits(array.type, field.type):
        try:
            return array.cast(field.type)
        except pyarrow.ArrowException:
            found += ", which cannot hold all of the numbers"
    raise SchemaError(f"{path}: the column {field.name} holds {found}")


def _fits(kind, wanted):
    """Return whether a cast keeps what values are; it may still fail for one that is too large."""
    from pyarrow import types

    if wanted is None:
        return False
    if kind == wanted or types.is_null(kind):
        return True
    if types.is_integer(kind):
        return types.is_integer(wanted) or types.is_float64(wanted)
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
        return types.is_struct(wanted) and all(_fits(each.type, _field_type(wanted, each.name)) for each in kind)
    return False


def _field_type(struct, name):
    """Return the type of a field; None: there is none, or several of that name."""
    number = struct.get_field_index(name)
    return struct.field(number).type if number >= 0 else None
