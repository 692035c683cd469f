"""Keys and values of Avro's serialization, by the schema in the header of a SequenceFile.

Here: schemas, and a ClassProgram that reads and writes values by one. Not here: the bytes of a value, Avro's own
container files. Invariant: nothing is loaded by a name.
"""

from __future__ import annotations

import json

from typedbytes._core import Decoder
from typedbytes.errors import FormatError
from typedbytes.sequencefile import _avro_types as types, _writables
from typedbytes.sequencefile._native import ClassProgram

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CLASSES", "has_choice", "program_of"]

#: Of types that are the same in typed bytes, the one that stands for them.
_STANDS_FOR = {
    "enum": "string",
    "decimal": "string",
    "fixed": "bytes",
    "int": "long",
    "float": "double",
    "map": "record",
}
CLASSES = tuple(f"org.apache.avro.mapred.Avro{name}" for name in ("Key", "Value", "Wrapper"))


def program_of(class_name: str, part: str, metadata: Mapping[str, str]) -> ClassProgram | None:
    """Return the program of the keys or the values of a file, None if its metadata has no schema for them.

    Raises FormatError for metadata that is not a schema.
    """
    schema = _schemas_of(class_name, part, metadata).of_values
    if schema is None:
        return None

    def read(data, depth):
        source = types.Source(data)
        value = schema.read(source, depth)
        return _writables.encode_exactly(value), source.offset

    def write(typed):
        sink = bytearray()
        schema.write(Decoder(exact=True, dialect="hive").decode(typed), sink)
        return bytes(sink)

    tree = "call", "a value of Avro", "byte", (), None, (read, write, schema.column(0))
    return ClassProgram(class_name, tree, lambda name: tree)


def has_choice(class_name: str, part: str, metadata: Mapping[str, str]) -> bool:
    """Return whether a union in the schema of the keys or the values has members that are the same in typed bytes."""
    return _schemas_of(class_name, part, metadata).has_choice


def _schemas_of(class_name, part, metadata):
    schemas, text = _Schemas(), metadata.get(f"avro.{part}.schema")
    if class_name not in CLASSES or text is None:
        return schemas
    try:
        schemas.of_values = schemas.node(json.loads(text), "", 0)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(f"the metadata avro.{part}.schema is not a schema of Avro: {error!r:.200}", 0) from None
    return schemas


class _Schemas:
    """Makes nodes of the JSON of a schema, with the named types so far."""

    def __init__(self):
        self._named = {}
        self.of_values = None  # the node of the whole schema
        self.has_choice = False

    def node(self, schema, namespace, level):
        """Return the node of a schema."""
        if level > types.MAX_DEPTH:
            raise ValueError("it nests too deep")
        if isinstance(schema, list):
            members = [self.node(each, namespace, level + 1) for each in schema]
            self.has_choice |= len({_STANDS_FOR.get(each.kind, each.kind) for each in members}) < len(members)
            return types.Union(members)
        kind = schema["type"] if isinstance(schema, dict) else schema
        if not isinstance(kind, str):
            return self.node(kind, namespace, level + 1)
        if kind in ("bytes", "fixed") and isinstance(schema, dict) and schema.get("logicalType") == "decimal":
            made = types.Decimal(schema.get("size") if kind == "fixed" else None, schema.get("scale", 0))
            return self._kept(schema, namespace, made) if kind == "fixed" else made
        if kind in types.SCALARS:
            return types.SCALARS[kind]
        if kind == "array":
            return types.Array(self.node(schema["items"], namespace, level + 1))
        if kind == "map":
            return types.Map(self.node(schema["values"], namespace, level + 1))
        if kind == "fixed":
            return self._kept(schema, namespace, types.Fixed(schema["size"]))
        if kind == "enum":
            return self._kept(schema, namespace, types.Enum(schema["symbols"]))
        if kind not in ("record", "error"):
            found = self._named.get(kind if "." in kind else f"{namespace}.{kind}") or self._named.get(kind)
            if found is None:
                raise ValueError(f"unknown type {kind!r}")
            return found
        made = self._kept(schema, namespace, types.Record())
        inside = schema["name"].rpartition(".")[0] or schema.get("namespace", namespace)
        made.set_fields([(field["name"], self.node(field["type"], inside, level + 1)) for field in schema["fields"]])
        return made

    def _kept(self, schema, namespace, made):
        name, namespace = schema["name"], schema.get("namespace", namespace)
        self._named[name if "." in name or not namespace else f"{namespace}.{name}"] = made
        return made
