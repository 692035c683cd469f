"""Splits as Arrow record batches of one schema. Needs pyarrow.

Here: the schema of some files, or of the types that a structure has, and conversion to it. Not here: types that a
consumer lacks (spark/_splits). Invariant: all batches have the schema; a value that does not fit is an error that names
the file.
"""

from __future__ import annotations

import os

from typedbytes.columns import _sources, type_strings
from typedbytes.columns._read import read
from typedbytes.errors import TypedBytesError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

__all__ = ["RowSchema", "Schema", "SchemaError", "are_rcfiles", "batches_of", "begin_with", "infer_schema", "is_typed"]

_STRING = type_strings.parse("string")


class Schema:
    """The schema of Arrow, and the types of the columns by name."""

    __slots__ = ("arrow", "types")

    def __init__(self, arrow: Any, types: Mapping[str, str]) -> None:
        self.arrow: Any = arrow
        self.types: Mapping[str, str] = types

    def with_arrow(self, arrow: Any) -> Schema:
        """Return a Schema of the same types with another of Arrow."""
        return type(self)(arrow, self.types)


class RowSchema(Schema):
    """The Schema of RCFiles: its types are those of all columns of a file, in order; arrow has those wanted."""

    __slots__ = ()


class SchemaError(TypedBytesError, ValueError):
    """Raised for records that do not fit a schema; `filename` is the path of their file, None if the message has it."""

    def __init__(self, message: str, filename: str | None = None) -> None:
        super().__init__(message)
        self.filename: str | None = filename

    def __str__(self) -> str:
        return f"{'' if self.filename is None else f'{self.filename}: '}{self.args[0]}"


_TYPES_OF_CLASSES = {
    "Text": "string", "BytesWritable": "bytes", "BooleanWritable": "bool", "ByteWritable": "byte",
    "IntWritable": "int", "VIntWritable": "int", "LongWritable": "long", "VLongWritable": "long",
    "FloatWritable": "float", "DoubleWritable": "double",
}  # fmt: skip


def are_rcfiles(files: Sequence[Any]) -> bool:
    """Return whether the first of some files that has bytes is an RCFile."""
    return bool(files) and _sources.kind_of(_sources.from_first_with_bytes(files)[0]) == "rcfile"


def is_typed(structure: Mapping[str, Any]) -> bool:
    """Return whether it has the type of single values, or those of keys and values, which set the schema."""
    return not structure.keys().isdisjoint(("type", "key_type", "value_type"))


def schema_without_records(structure: Mapping[str, Any], classes: Sequence[str] = ()) -> Schema:
    """Return the Schema of an input without records; classes: those of a SequenceFile, which say what they would be."""
    import pyarrow

    if is_typed(structure):
        with read(b"", **structure) as reader:
            types = reader.schema
            return Schema(pyarrow.RecordBatchReader.from_stream(reader).schema, types)
    names = ("key", "value") if structure["pairs"] else ("value",)
    types = {
        name: _TYPES_OF_CLASSES.get(given.rpartition(".")[2], "unknown")
        for name, given in zip(names, (*classes, "", ""))
    }
    fields = [pyarrow.field(name, _arrow_type(kind)) for name, kind in types.items()]
    return Schema(pyarrow.schema(fields), types)


def _arrow_type(kind):
    import pyarrow

    if kind == "unknown":
        return pyarrow.null()
    with read(b"", schema=[kind], pairs=False, dialect="hive") as reader:  # that dialect has a short
        return pyarrow.RecordBatchReader.from_stream(reader).schema.field(0).type


def infer_schema(
    files: Sequence[Any], structure: Mapping[str, Any], *, of_all_files: bool = False, of_all_records: bool = False
) -> Schema | None:
    """Return the Schema by the first records of the first file that has any; None without records.

    of_all_files: it holds the first records of each file; of_all_records: and all others. Of RCFiles it is that of
    their columns: structure may have their `schema`, those of the `columns` that are wanted, and the `serde`.
    """
    is_rows = are_rcfiles(files)
    if is_typed(structure):
        if is_rows:
            raise ValueError("the columns of an RCFile have a schema, not a type")
        return schema_without_records(structure)
    if is_rows:
        return _schema_of_rows(files, structure)
    schema, is_safe = None, False
    while not is_safe:
        schema, is_safe = _widened(schema, files, structure, of_all_files, of_all_records)
    return schema


def _schema_of_rows(files, structure):
    import pyarrow

    from typedbytes.columns._rcfile import types_of_files

    files = [file for file in files if not _sources.is_empty(file)]
    types = types_of_files(files, structure.get("schema"), structure.get("serde", "text"))
    wanted = structure.get("columns")
    wanted = list(types if wanted is None else wanted)
    for name in wanted:
        if name not in types:
            raise LookupError(f"no column {name!r}: there are {', '.join(types)}")
    with read(files[0], 1, **{**structure, "schema": types, "columns": wanted}) as reader:
        next(reader, None)  # refuses what no column can be, and cells of another serialization
    return RowSchema(pyarrow.schema([(name, _arrow_type(types[name])) for name in wanted]), types)


def _widened(schema, files, structure, of_all_files, of_all_records):
    """Return a Schema for records and another's, and whether it surely holds those read before it was so wide."""
    import pyarrow

    types = schema and schema.types
    is_safe = True
    for file in files:  # each in a list: errors name it
        with read([file], schema=types, on_mismatch="widen", **structure) as reader:
            for batch in reader:
                is_safe = is_safe and not (types and any(map(_may_lose_values, types.values(), batch.schema.values())))
                types = batch.schema
                schema = Schema(pyarrow.record_batch(batch).schema, types)
                if not of_all_records:
                    break
        if types is not None and not (of_all_files or of_all_records):
            break
    return schema, is_safe


def _may_lose_values(kind, wider):
    """Return whether a batch may hold values that do not fit the type to which a later batch was widened.

    A DOUBLE does not hold all LONGs, and a struct that was a map has only the fields of the later batch.
    """
    losses = (("long", "double"), ("map<string, ", "struct<"))
    return kind != wider and any(narrow in kind and wide in wider for narrow, wide in losses)


def batches_of(
    split: Any,
    schema: Schema,
    structure: Mapping[str, Any],
    path_column: str | None = None,
    columns: Sequence[str] | None = None,
) -> Iterator[Any]:
    """Yield the records of a split as record batches of a Schema, with its path as the last column if that has a name.

    columns: the names of those wanted; None: all. Raises SchemaError for a value that does not fit.
    """
    import pyarrow

    path, types = os.fsdecode(split.path), schema.types
    is_rows = _sources.kind_of(split) == "rcfile"
    if is_rows is not isinstance(schema, RowSchema):
        raise SchemaError("RCFiles and other files cannot be read together", path)
    if is_rows:
        if columns is not None:
            schema = schema.with_arrow(pyarrow.schema([schema.arrow.field(name) for name in columns]))
        names = [name for name in schema.arrow.names if name != path_column]
        with read(split, **{**structure, "schema": types, "columns": names}) as reader:
            for batch in reader:
                yield _cast(pyarrow.record_batch(batch), path, schema, path_column)
        return
    if is_typed(structure):
        with read(split, columns=columns, **structure) as reader:
            for batch in reader:
                yield _cast(pyarrow.record_batch(batch), path, schema, path_column)
        return
    if columns is not None:
        fields = [schema.arrow.field(name) for name in columns]
        schema = Schema(pyarrow.schema(fields), {name: types[name] for name in columns})
    with _reader(split, types, {**structure, "columns": columns}, schema.types) as reader:
        for batch in reader:
            yield _fitted(batch, path, schema, path_column)


def begin_with(files: Sequence[Any], types: Mapping[str, str], structure: Mapping[str, Any]) -> bool:
    """Return whether the first records of files are of these types, by name."""
    for file in files:
        with read([file], schema=types, on_mismatch="widen", **structure) as reader:
            for batch in reader:
                return all(_is_one(batch.schema[name], kind) for name, kind in types.items())
    return True


def _is_one(kind, wanted):
    """Return whether a type is the wanted one, as far as that is known."""
    if kind == wanted or wanted == "unknown":
        return True
    if "unknown" not in wanted:
        return False
    return _is_known_part(type_strings.parse(kind), type_strings.parse(wanted))


def _is_known_part(kind, wanted):
    if wanted[0] == "unknown":
        return True
    found, parts = type_strings.parts(kind), type_strings.parts(wanted)
    if not parts:
        return kind == wanted
    is_alike = kind[0] == wanted[0] and (kind[0] != "list" or kind[1] == wanted[1]) and [*found] == [*parts]
    return is_alike and all(map(_is_known_part, found.values(), parts.values()))


def _reader(split, types, structure, wanted):
    """Return a reader of a split by these types, by name, or its own where a first value is of another.

    wanted: the types of the columns that are selected.
    """
    options = {"on_mismatch": "widen", **structure}
    reader = read(split, schema=types or None, **options)
    if not types or all(_is_one(reader.schema[name], kind) for name, kind in wanted.items()):
        return reader
    with read(split, 1, types, **options) as by_types, read(split, 1, **options) as by_itself:
        found = {
            name: kind if _is_one(by_types.schema[name], kind) else by_itself.schema[name]
            for name, kind in wanted.items()
        }
    if found == wanted:
        return reader
    reader.close()
    return read(split, schema={**types, **found}, **options)


def _cast(batch, path, schema, path_column):
    """Return a batch of declared types in the schema that a consumer has for them."""
    import pyarrow

    if path_column:
        batch = batch.append_column(path_column, pyarrow.array([path] * len(batch), pyarrow.string()))
    try:
        return batch.cast(schema.arrow)
    except (pyarrow.ArrowException, ValueError) as error:
        raise SchemaError(f"the records do not fit the schema: {error}", path) from None


def _fitted(batch, path, schema, path_column):
    import pyarrow

    found = pyarrow.record_batch(batch)
    arrays, kinds = list(found.columns), [(kind, schema.types.get(name)) for name, kind in batch.schema.items()]
    if path_column:
        arrays.append(pyarrow.array([path] * len(found), pyarrow.string()))
        kinds.append(("string", None))
    if len(arrays) != len(schema.arrow):
        raise SchemaError(f"records have {len(arrays)} columns, and the schema {len(schema.arrow)}", path)
    for i, (kind, wanted) in enumerate(kinds):
        arrays[i] = _as_in_schema(arrays[i], kind, wanted, schema.arrow.field(i), path)
    try:
        return pyarrow.RecordBatch.from_arrays(arrays, schema=schema.arrow)
    except pyarrow.ArrowException as error:  # what pyarrow makes of an empty map in a struct, it refuses itself
        raise SchemaError(f"the records do not fit the schema: {error}", path) from None


def _as_in_schema(array, kind, wanted, field, path):
    """Return an array as one of a schema's type.

    kind and wanted: the types of the records, the latter None if unknown.
    """
    import pyarrow

    present, expected = array.type, field.type
    if wanted is not None and not _are_alike(type_strings.parse(kind), type_strings.parse(wanted)):
        present, expected = (kind, wanted) if present == expected else (present, expected)
    elif present == expected:
        return array
    elif kind != "raw" and _fits(present, expected):
        try:
            return array.cast(expected)
        except pyarrow.ArrowException:
            expected = f"{expected}, which cannot hold all of the numbers"
    if kind == "raw":
        present = "values of several types" + (
            " or integers beyond 2**53" if pyarrow.types.is_float64(field.type) else ""
        )
    error = SchemaError(f"the column {field.name} holds {present}, and the schema has {expected}", path)
    error.option = "merge"  # of a consumer that takes the schema from the first file
    raise error


def _are_alike(kind, wanted):
    """Return whether two columns that are binary to Arrow hold the same: encoded values, BYTES, or one code."""
    if kind[0] == "unknown":
        return True
    if _is_binary(kind) or _is_binary(wanted):
        return kind == wanted
    found = type_strings.parts(kind)
    return all(name not in found or _are_alike(found[name], part) for name, part in type_strings.parts(wanted).items())


def _is_binary(kind):
    return kind[0] == "raw" or (kind[0] == "variable" and kind != _STRING)


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
    if types.is_time(kind):
        return types.is_time(wanted)
    if types.is_string(kind):
        return types.is_large_string(wanted)
    if types.is_binary(kind):
        return types.is_large_binary(wanted)
    if types.is_fixed_size_list(kind) and types.is_fixed_size_list(wanted):
        return kind.list_size == wanted.list_size and _fits(kind.value_type, wanted.value_type)
    if types.is_list(kind) or types.is_fixed_size_list(kind):
        return types.is_list(wanted) and _fits(kind.value_type, wanted.value_type)
    if types.is_map(kind):
        return (
            types.is_map(wanted) and _fits(kind.key_type, wanted.key_type) and _fits(kind.item_type, wanted.item_type)
        )
    if types.is_struct(kind):
        return types.is_struct(wanted) and all(_fits(field.type, _field_type(wanted, field.name)) for field in kind)
    return False


def _field_type(struct, name):
    """Return the type of a field; None: there is none, or several of that name."""
    number = struct.get_field_index(name)
    return struct.field(number).type if number >= 0 else None
