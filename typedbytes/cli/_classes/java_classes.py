"""Java records that fit a shape, for org.typedbytes.records, as a source file."""

from __future__ import annotations

import json

from typedbytes.cli._classes.names import ClassNames, are_distinct, has_fixed_items

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typedbytes.cli._classes.shapes import Shape

__all__ = ["java_source"]

KINDS = {
    "bool": "boolean",
    "str": "String",
    "bytes": "byte[]",
    "datetime.date": "java.time.LocalDate",
    "datetime.datetime": "java.time.LocalDateTime",
    "datetime.datetime in UTC": "java.time.Instant",
    "datetime.time": "java.time.LocalTime",
    "datetime.timedelta": "java.time.Duration",
    "decimal.Decimal": "java.math.BigDecimal",
    "uuid.UUID": "java.util.UUID",
}
BOXES = {
    "boolean": "Boolean", "byte": "Byte", "short": "Short", "int": "Integer", "long": "Long", "float": "Float",
    "double": "Double",
}  # fmt: skip
KEYWORDS = """abstract assert boolean break byte case catch char class const continue default do double else enum
extends false final finally float for goto if implements import instanceof int interface long native new null package
private protected public return short static strictfp super switch synchronized this throw throws transient true try
void volatile while _ clone finalize getClass hashCode notify notifyAll toString wait"""
USED = "AsVector Boolean Byte Double Field Float Integer List Long Map Object Optional Override Record Set Short String"
NAMELESS = "// The field whose name is empty is left out: no annotation can name it."
PICKLES = (
    "Some values are pickles of Python, which Java cannot read. Give them a type in Python,",
    "as typedbytes schema --python prints it, and write them again.",
)


def java_source(shapes: list[Shape]) -> Iterator[str]:
    """Yield the lines of a class whose records fit the shape of the values, or those of the keys and the values."""
    classes = _Classes()
    names = ["Value"] if len(shapes) == 1 else ["Key", "Value"]
    kinds = [classes.type_of(shape, name) for shape, name in zip(shapes, names)]
    yield from (f"import {name};" for name in sorted(classes.imports))
    yield ""
    if any(shape.has_pickles_inside() for shape in shapes):
        yield from (f"// {line}" for line in PICKLES)
    yield from ("public class Records {", *classes.lines)
    for name, kind in zip(names, kinds):
        read = f"RecordType.of({kind}.class)" if kind.isidentifier() else f"new RecordType<{kind}>() {{ }}"
        yield f"    static final RecordType<{kind}> {name.upper()} = {read};"
    yield "}"


class _Classes:
    """The text of records, those first that others contain."""

    def __init__(self):
        self.imports = {"org.typedbytes.records.RecordType"}
        self.lines: list[str] = []
        self._names = ClassNames(
            [*USED.split(), *(name.rpartition(".")[2] for name in KINDS.values()), "Records", "RecordType"]
        )

    def type_of(self, shape, name, may_be_missing=False, boxed=True):
        """Return the type of what has a shape, and add the records that it needs."""
        kinds = shape.kinds
        if len(kinds) != 1 or not are_distinct(kinds):
            java_type = "Object"
        else:
            java_type = self._type_of_kind(kinds[0], shape, name)
        if shape.has_none or may_be_missing:
            return f"{self._import('java.util.Optional')}<{BOXES.get(java_type, java_type)}>"
        return BOXES.get(java_type, java_type) if boxed else java_type

    def _import(self, name):
        self.imports.add(name)
        return name.rpartition(".")[2]

    def _type_of_kind(self, kind, shape, name):
        if kind == "int":
            return self._type_of_int(shape.counts)
        if kind == "float":
            return "double" if "float" in shape.counts else "float"
        if kind in ("list", "set"):
            item = self._type_of_part(shape, kind, name)
            return f"{self._import('java.util.List' if kind == 'list' else 'java.util.Set')}<{item}>"
        if kind == "map":
            if shape.is_record:
                return self._record(shape, name)
            key, value = (self._type_of_part(shape, part, name) for part in ("key", "value"))
            return f"{self._import('java.util.Map')}<{key}, {value}>"
        if kind == "vector":
            if not has_fixed_items(shape):
                return f"{self._type_of_part(shape, 'item', name)}[]"
            fields = {
                f"item{i}": self.type_of(item, f"{name} item {i}", boxed=False) for i, item in enumerate(shape.items)
            }
            return self._add(name, fields, [f"@{self._import('org.typedbytes.records.AsVector')}"])
        java_type = KINDS[kind]
        return self._import(java_type) if "." in java_type else java_type

    def _type_of_int(self, counts):
        if "wide" in counts:
            return self._import("java.math.BigInteger")
        if "long" in counts:
            return "long"
        return "int" if "int" in counts else "short" if "short" in counts else "byte"

    def _type_of_part(self, shape, part, name):
        return self.type_of(shape.parts[part], name) if part in shape.parts else "Object"

    def _record(self, shape, name):
        fields, names = {}, ClassNames(word[:1].upper() + word[1:] for word in [*KEYWORDS.split(), *shape.fields])
        for key, field_shape in shape.fields.items():
            if not key:
                continue  # @Field cannot say it
            kind = self.type_of(field_shape, key, may_be_missing=field_shape.total < shape.counts["map"], boxed=False)
            plain = key
            if not _can_be_component(key):
                named = names.name(key)
                plain = named[0].lower() + named[1:]
            renamed = f"@{self._import('org.typedbytes.records.Field')}(name = {json.dumps(key)}) " * (plain != key)
            fields[plain] = renamed + kind
        return self._add(name, fields, [NAMELESS] if "" in shape.fields else [])

    def _add(self, name, fields, before):
        name = self._names.name(name)
        components = ",".join(f"\n            {kind} {field}" for field, kind in fields.items())
        self.lines += [*(f"    {each}" for each in before), f"    public record {name}({components}) {{ }}", ""]
        return name


def _can_be_component(name):
    """Return whether a component of a Java record can have this name."""
    return name.isidentifier() and name.isascii() and name not in KEYWORDS.split()
