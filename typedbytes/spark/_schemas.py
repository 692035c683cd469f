"""Schemas of Arrow and those of Spark: the types that Spark has for ours. Needs pyarrow."""

from __future__ import annotations

from json import dumps

from typedbytes._base.codes import BOOL, BYTE, BYTES, DOUBLE, FLOAT, INT, LIST, LONG, STRING, VECTOR
from typedbytes.columns import type_strings
from typedbytes.columns.tables import SchemaError

__all__ = ["arrow_schema", "as_declared", "spark_schema", "type_of_spark", "type_string"]

MAX_DIGITS = 38
_UNKNOWN: tuple = ("unknown",)
_STRING = ("variable", STRING)
#: What columns.write makes of scalars.
_WRITTEN = {
    "bool": ("fixed", BOOL), "int8": ("fixed", BYTE), "int16": ("fixed", INT), "int32": ("fixed", INT),
    "int64": ("fixed", LONG), "float": ("fixed", FLOAT), "double": ("fixed", DOUBLE), "string": _STRING,
}  # fmt: skip
_VECTORS = ("array", "tuple", "list")
_DECLARED = ("date", "timestamp", "time", "duration", "decimal")


def spark_schema(arrow):
    """Return a schema of Spark; needs PySpark."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(arrow, prefer_timestamp_ntz=True)


def arrow_schema(schema):
    """Return how Spark exchanges the columns of a schema; needs PySpark."""
    from inspect import signature

    from pyspark.sql.pandas.types import to_arrow_schema

    zone = {"timezone": "UTC"} if "timezone" in signature(to_arrow_schema).parameters else {}  # Spark 4.1 asks for it
    return to_arrow_schema(schema, **zone)


def type_of_spark(kind, path):
    """Return a type as Spark has it: no lists of one size, no dictionaries, UUIDs as bytes, times in microseconds."""
    import pyarrow
    from pyarrow import types

    if isinstance(kind, pyarrow.BaseExtensionType):
        kind = kind.storage_type
    if types.is_fixed_size_list(kind) or types.is_list(kind):
        return pyarrow.list_(_field(kind.value_field, f"{path}[]"))
    if types.is_struct(kind):
        return pyarrow.struct([_field(field, f"{path}.{field.name}") for field in kind])
    if types.is_map(kind):
        key = _field(kind.key_field, f"{path} key")
        return pyarrow.map_(key, _field(kind.item_field, f"{path}[]"))
    if types.is_dictionary(kind):
        return kind.value_type
    if types.is_fixed_size_binary(kind):
        return pyarrow.binary()
    if types.is_timestamp(kind):
        return pyarrow.timestamp("us", kind.tz)
    if types.is_time(kind):
        return pyarrow.time64("us")
    if types.is_duration(kind):
        return pyarrow.duration("us")
    if types.is_decimal(kind) and kind.precision > MAX_DIGITS:
        raise SchemaError(f"{path}: a decimal of Spark has at most {MAX_DIGITS} digits, not {kind.precision}")
    return kind


def as_declared(kind, known, is_row=False, has_codes=False):
    """Return the type of columns by which values are read as a type that Spark exchanges.

    known: the type that the first records have. kind may say more: which names the items of a VECTOR have, that a MAP
    from STRINGs is a struct, that a number is a date. is_row: structs of which nothing is known are VECTORs. has_codes:
    fields that are binary have the type that is known of all fields of a MAP; else they are BYTES.
    """
    from pyarrow import types

    if not _may_be(kind, known):  # of other fields, of several types, or with nulls among them
        known = _UNKNOWN
    name, parts = known[0], type_strings.parts(known)
    if types.is_struct(kind):
        is_row = is_row if name == "unknown" else name in _VECTORS
        fields = []
        for number, field in enumerate(kind):
            if name == "tuple":
                part = parts.get(str(number), _UNKNOWN)
            elif name == "array":
                part = ("fixed", known[1])
            elif name == "struct":  # maybe widened together with others, by records that had fields of one type
                part = _of_other_fields(parts.get(field.name, _UNKNOWN), has_codes)
            else:  # one type, of those fields that the first records have
                part = _of_other_fields(parts.get("item" if name == "list" else "value", _UNKNOWN), has_codes)
            fields.append((field.name, as_declared(field.type, part, is_row, has_codes)))
        return ("row" if is_row else "struct", tuple(fields))
    if types.is_list(kind):
        if name == "list":
            return (name, known[1], as_declared(kind.value_type, known[2], is_row, has_codes))
        item = as_declared(kind.value_type, _UNKNOWN, is_row, has_codes)
        if name == "unknown":
            return known if item == _UNKNOWN else ("list", LIST, item)
        return ("list", VECTOR, item) if name == "tuple" or item[0] in _DECLARED else known
    if types.is_map(kind):
        key, value = _STRING, _UNKNOWN  # of a struct
        if name != "struct":
            key, value = parts.get("key", _UNKNOWN), parts.get("value", _UNKNOWN)
        key, value = as_declared(kind.key_type, key), as_declared(kind.item_type, value, is_row, has_codes)
        if key == _UNKNOWN != value:  # columns would infer the values too
            key = _WRITTEN.get(str(kind.key_type), _UNKNOWN)
        return _UNKNOWN if name == "unknown" and key == value == _UNKNOWN else ("map", key, value)
    return _declared_scalar(kind, known)


def _may_be(kind, known):
    """Return whether values of a type that records have can be read as one that Spark exchanges."""
    from pyarrow import types

    name = known[0]
    if types.is_struct(kind):
        return name in ("map", "struct", "unknown", *_VECTORS) and (name != "list" or known[1] == VECTOR)
    if types.is_list(kind):
        return name in ("unknown", *_VECTORS)
    if types.is_map(kind):
        return name in ("map", "unknown") or (name == "struct" and types.is_string(kind.key_type))
    if types.is_binary(kind):
        return name in ("raw", "unknown") or (name == "variable" and known[1] != STRING)
    return name in ("fixed", "unknown") or known == _STRING


def _of_other_fields(known, has_codes):
    """Return what the type of some fields says of others: how they nest, not which numbers or text they hold."""
    name, *rest = known
    if name == "array":
        return ("list", VECTOR, _UNKNOWN)
    if name == "tuple":
        return (name, tuple(_of_other_fields(part, has_codes) for part in rest[0]))
    if name == "list":
        return (name, rest[0], _of_other_fields(rest[1], has_codes))
    if name == "map":
        return (name, *(_of_other_fields(part, has_codes) for part in rest))
    if name in ("struct", "row"):
        return (name, tuple((field, _of_other_fields(part, has_codes)) for field, part in rest[0]))
    return known if has_codes else _UNKNOWN


def _declared_scalar(kind, known):
    from pyarrow import types

    is_unknown = known == _UNKNOWN
    if types.is_date32(kind) and (is_unknown or known == ("fixed", INT)):
        return ("date",)
    if is_unknown or known in (("fixed", LONG), ("fixed", INT)):  # small numbers are INTs
        if types.is_timestamp(kind):
            return ("timestamp", kind.unit, kind.tz is not None)
        if types.is_duration(kind):
            return ("duration", kind.unit)
        if types.is_time64(kind):
            return ("time", "us")
    if types.is_decimal(kind) and (is_unknown or known == _STRING):
        return ("decimal", kind.precision, kind.scale)
    if is_unknown and types.is_binary(kind):
        return ("variable", BYTES)
    return known


def type_string(kind, path):
    """Return the type of an RCFile's column, as text, for a type that Spark exchanges."""
    from pyarrow import types

    name = _STRINGS.get(str(kind))
    if name is not None:
        return name
    if types.is_timestamp(kind) and kind.tz is None:
        return "timestamp<us>"
    if types.is_decimal(kind):
        return f"decimal<{kind.precision}, {kind.scale}>"
    if types.is_list(kind):
        return f"list<{type_string(kind.value_type, f'{path}[]')}>"
    if types.is_map(kind):
        return f"map<{type_string(kind.key_type, f'{path} key')}, {type_string(kind.item_type, f'{path}[]')}>"
    if types.is_struct(kind):
        fields = (f"{dumps(field.name)}: {type_string(field.type, f'{path}.{field.name}')}" for field in kind)
        return f"struct<{', '.join(fields)}>"
    hint = ", but timestamp_ntz" if types.is_timestamp(kind) else ""
    raise SchemaError(f"{path}: no column of an RCFile is a {kind}{hint}")


_STRINGS = {
    "bool": "bool", "int8": "byte", "int16": "short", "int32": "int", "int64": "long", "float": "float",
    "double": "double", "string": "string", "binary": "bytes", "date32[day]": "date",
}  # fmt: skip


def _field(field, path):
    return field.with_type(type_of_spark(field.type, path))
