"""What both ways into Spark read: splits as record batches of a schema. Needs pyarrow, and no Spark.

Here: options. Not here: dividing files, and conversion to a schema, which are columns'.
"""

from __future__ import annotations

import os

from typedbytes import columns
from typedbytes._base import locations
from typedbytes._base.sizes import parse_size
from typedbytes.columns import Split, tables, type_strings
from typedbytes.columns._rcfile import types_of_files
from typedbytes.columns.tables import RowSchema, Schema, SchemaError, is_typed
from typedbytes.sequencefile._classes import texts_of
from typedbytes.spark._schemas import as_declared, type_of_spark, type_string

__all__ = ["Options", "Schema", "SchemaError", "Split", "batches_of", "given_schema", "infer_schema", "make_splits"]

SPLIT_NBYTES = 128 << 20
_WORDS = {"true": True, "false": False}
_UNKNOWN_FILTERS = ("pathGlobFilter", "modifiedBefore", "modifiedAfter")  # of Spark's own formats
#: What types of Arrow have in their names of which the bytes of a value say too little.
_SAYING_MORE = ("binary", "struct", "date", "time", "decimal", "duration")


class Options:
    """The options of reading, given as words or as objects; names are without regard to case, as Spark gives them."""

    def __init__(self, options):
        options = {name.lower(): value for name, value in options.items()}
        self.pairs = _flag(options, "pairs", True)
        self.merge = _flag(options, "mergeSchema", False)
        if _flag(options, "pushFilters", False):  # see _Reader in _source.py
            raise ValueError(
                "pushFilters cannot be true: Spark keeps the filters of a query for later ones of the same data frame, "
                "which would lack rows"
            )
        for name in _UNKNOWN_FILTERS:
            if name.lower() in options:
                raise ValueError(f"{name} is not supported: name the files, or a pattern such as out/part-*")
        self.split_size = _size(options.get("splitsize", SPLIT_NBYTES))
        self.recursive = _flag(options, "recursiveFileLookup", False)
        self.path_column = options.get("pathcolumn")
        self.structure = {
            "pairs": self.pairs,
            "dialect": options.get("dialect", "hadoop"),
            "encoding": options.get("encoding", "utf-8"),
            "unicode_errors": options.get("unicodeerrors", "strict"),
        }
        self.rows = _rows(options)
        if options.get("classes"):  # read here, so that workers need no file
            self.structure["classes"] = texts_of(options["classes"])
        types = types_of(options, self.pairs)
        if types:
            if self.merge or (self.structure["encoding"], self.structure["unicode_errors"]) != ("utf-8", "strict"):
                raise ValueError(
                    "mergeSchema, encoding and unicodeErrors cannot be combined with type, which says what values are"
                )
            self.structure.update(types)


def _rows(options):
    """Return what is said of the columns of RCFiles, by the names that columns.read has for it."""
    keywords = {"serde": options.get("serde", "text"), "schema": None, "columns": None}
    if options.get("fileschema"):
        try:
            keywords["schema"] = type_strings.row_types(options["fileschema"])
        except ValueError as error:
            raise ValueError(f"fileSchema: {error}") from None
    if options.get("columns"):
        keywords["columns"] = [name.strip() for name in options["columns"].split(",")]
    return keywords


def types_of(given, pairs):
    """Return the types that the options type and keyType name, by the names that columns.read has for them.

    given: options by their names in small letters. A type may be given itself, too.
    """
    value, key = (_type(name, given.get(name.lower())) for name in ("type", "keyType"))
    if value is None and key is None:
        return {}
    if pairs and (value is None or key is None):
        raise ValueError("pairs need type and keyType, such as builtins:str; type alone is for pairs=false")
    if not pairs and key is not None:
        raise ValueError("keyType is for pairs, and pairs is false")
    return {"key_type": key, "value_type": value} if pairs else {"type": value}


def _type(option, given):
    if not isinstance(given, str):
        return given
    from typedbytes._records import named_type

    try:
        return named_type(given)
    except ValueError as error:
        raise ValueError(f"{option}: {error}") from error


def _flag(given, name, default):
    value = given.get(name.lower(), default)
    if isinstance(value, bool):
        return value
    if str(value).lower() not in _WORDS:
        raise ValueError(f"{name} must be true or false, not {value!r}")
    return _WORDS[str(value).lower()]


def _size(text):
    try:
        return parse_size(str(text))
    except ValueError as error:
        raise ValueError(f"splitSize: {error}") from None


def make_splits(paths, options):
    """Return the splits of a path, or of several, in the order of their files."""
    return columns.splits(paths, options.split_size, recursive=options.recursive)


def infer_schema(paths, options):
    """Return the Schema of paths by the first records of their first file with any, or `mergeSchema` of all."""
    import pyarrow

    schema = _infer(paths, options)
    if schema is None:
        shown = ", ".join(map(os.fsdecode, paths if isinstance(paths, list) else [paths]))
        raise SchemaError(f"{shown}: there are no records to take the schema from: give one")
    fields = [field.with_type(type_of_spark(field.type, field.name)) for field in schema.arrow]
    if options.path_column:
        fields.append(pyarrow.field(options.path_column, pyarrow.string()))
    return schema.with_arrow(pyarrow.schema(fields))


def _infer(paths, options):
    files = locations.files(paths, options.recursive)
    structure = {**options.structure, **options.rows} if tables.are_rcfiles(files) else options.structure
    return tables.infer_schema(files, structure, of_all_files=options.merge)


def given_schema(paths, options, arrow):
    """Return a given schema, with the types of records for its bytes and structs, which say too little."""
    files = locations.files(paths, options.recursive)
    if tables.are_rcfiles(files):
        return _given_rows(files, options, arrow)
    if is_typed(options.structure):
        names = infer_schema(paths, options).arrow.names
        if arrow.names != names:
            raise SchemaError(f"the columns of the schema are {arrow.names}, and those of the type {names}")
        return Schema(arrow, {})
    _check_names([name for name in arrow.names if name != options.path_column], options.pairs)
    if not any(word in str(field.type) for field in arrow for word in _SAYING_MORE):
        return Schema(arrow, {})
    schema = _infer(paths, options)
    if schema is None:
        return Schema(arrow, {})
    all_types = _types_that_fit(files, schema, arrow, options.structure)
    # A binary column has the same in each split: not encoded values where the types as they are would have those.
    if not all_types or not any("binary" in str(field.type) for field in arrow):
        all_types += [schema.types] * (schema.types not in all_types)
    return _AmongSchemas(arrow, *all_types)


def _types_that_fit(files, schema, arrow, structure):
    """Return all that the columns' types may be, each by name, by the first records and a schema of Arrow."""
    tried = []
    for has_codes in (False, True):
        found = []
        for has_rows in (False, True):  # whether structs of which the first records say nothing are VECTORs
            types = {
                name: type_strings.format_type(as_declared(field.type, type_strings.parse(text), has_rows, has_codes))
                for (name, text), field in zip(schema.types.items(), arrow)
            }
            if types not in tried and tables.begin_with(files, types, structure):
                found.append(types)
            tried.append(types)
        if found:
            return found
    return []


class _AmongSchemas(Schema):
    """A Schema that the first records fit, and others, for files whose later records only one of those holds."""

    __slots__ = ("others",)

    def __init__(self, arrow, types, *others):
        super().__init__(arrow, types)
        self.others = [Schema(arrow, each) for each in others]

    def with_arrow(self, arrow):
        """Return a schema of the same types with another of Arrow."""
        return type(self)(arrow, self.types, *(each.types for each in self.others))


def _check_names(names, pairs):
    """Refuse a schema of other columns than records have, or of theirs in another order."""
    expected = ["key", "value"] if pairs else ["value"]
    if len(names) != len(expected) or names == expected[::-1] != expected:
        raise SchemaError(
            f"the columns of the schema are {', '.join(names)}, and those of records {', '.join(expected)}"
        )


def _given_rows(files, options, arrow):
    """Return a given schema for RCFiles: all their columns, or with fileSchema or columns some of those."""
    types, columns = options.rows["schema"], options.rows["columns"]
    fields = {field.name: field.type for field in arrow if field.name != options.path_column}
    if columns is not None and list(fields) != columns:  # Spark gives back what was inferred by them
        raise ValueError(f"the columns of the schema are {', '.join(fields)}, and those of the option {columns}")
    if columns is not None and types is None:
        types = types_of_files(files, None, options.rows["serde"])
    if types is None:
        return RowSchema(arrow, {name: type_string(kind, name) for name, kind in fields.items()})
    for name in fields:
        if name not in types:
            raise SchemaError(f"the schema has the column {name}, and fileSchema {', '.join(types)}")
    return RowSchema(arrow, types)


def batches_of(split, options, schema):
    """Yield the records of a split as record batches of a Schema; raises SchemaError for one that does not fit."""
    try:
        keywords = {**options.structure, "serde": options.rows["serde"]}
        for batch in _batches_by_any(split, schema, keywords, options.path_column):
            for name, column in zip(schema.arrow.names, batch.columns):
                _refuse_equal_keys(column, name, split)
            yield batch
    except SchemaError as error:
        raise SchemaError(f"{error}: give another schema, or mergeSchema") from None


def _batches_by_any(split, schema, keywords, path_column):
    """Yield the batches by the first Schema that holds all records; after one that does not, the rows not yet given."""
    nrows, errors = 0, []
    for each in (schema, *(schema.others if isinstance(schema, _AmongSchemas) else ())):
        nskipped = nrows
        try:
            for batch in tables.batches_of(split, each, keywords, path_column):
                if nskipped >= len(batch):
                    nskipped -= len(batch)
                    continue
                nrows += len(batch) - nskipped
                yield batch.slice(nskipped)
                nskipped = 0
            return
        except SchemaError as error:
            errors.append(error)
    raise errors[0]


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
