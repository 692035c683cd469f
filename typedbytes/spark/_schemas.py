"""Schemas of Arrow and those of Spark: the types that Spark has for ours. Needs pyarrow."""

from __future__ import annotations

from json import dumps

from typedbytes.columns._tables import SchemaError

__all__ = ["arrow_schema", "spark_schema", "type_of_spark", "type_string"]

MAX_DIGITS = 38


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
