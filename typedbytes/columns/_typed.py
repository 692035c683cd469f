"""Columns that a class describes: their types, and values in forms that columns do not read by themselves.

Here: which Arrow type each annotation has, defaults, conversions, errors. Not here: annotations (`_records`), decoding.
Imported with the first type that is given.
"""

from __future__ import annotations

from copy import copy

from typedbytes._base.codes import BOOL, BYTE, BYTES, DOUBLE, FLOAT, INT, LIST, LONG, STRING, VECTOR
from typedbytes._core import Decoder, Encoder, Reader
from typedbytes._records import resolve
from typedbytes._records.model import MISSING, Node
from typedbytes._typecodes import TypeCode
from typedbytes.columns import _wanted, type_strings
from typedbytes.errors import DecodeError, DecodeTypeError, EncodeError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["columns_of"]

_SCALARS = {
    "any": ("raw",),
    "bool": ("fixed", BOOL),
    "str": ("variable", STRING),
    **dict.fromkeys(("bytes", "bytearray", "memoryview"), ("variable", BYTES)),
    "date": ("date",),
    "uuid": ("uuid",),
}
_WIDTHS = {"int": LONG, "float": DOUBLE, "BYTE": BYTE, "INT": INT, "LONG": LONG, "FLOAT": FLOAT}
_LISTS = {"list": LIST, "set": LIST, "frozenset": LIST, "variadic_tuple": VECTOR}
_DECIMAL = 38, 18  # digits and decimals without a Precision, as Spark has them for a BigDecimal
_MAX_LEVELS = 30  # as of columns without a class
_EMPTY = (
    list,
    dict,
    set,
    frozenset,
    tuple,
    str,
    bytes,
    int,
    float,
    bool,
)  # factories that make the same value each time


_MAX_KEPT = 256  # annotations, with their classes

_kept: dict[Any, TypedColumns] = {}


def columns_of(*asked: Any) -> TypedColumns:
    """Return the columns for the type of single values, those of keys and values, a dialect and a depth; made once."""
    try:
        columns = _kept.get(asked)
    except TypeError:  # not hashable
        return TypedColumns(*asked)
    if columns is None:
        columns = TypedColumns(*asked)
        if len(_kept) >= _MAX_KEPT:
            _kept.clear()
        _kept[asked] = columns
    return columns


class TypedColumns:
    """The columns of records whose values have these annotations: one, or those of keys and values."""

    def __init__(self, value_type: Any, pair_key_type: Any, pair_value_type: Any, dialect: Any, max_depth: int) -> None:
        if (pair_key_type is None) is not (pair_value_type is None) or (value_type is None) is (pair_key_type is None):
            raise ValueError("pass type for single values, or key_type and value_type for pairs")
        self.options: dict[str, Any]  # of a Reader
        self.value_names: tuple[str, ...]  # of a record's values
        if pair_key_type is None:
            self.options, self.value_names = {"type": value_type}, ("value",)
        else:
            self.options = {"key_type": pair_key_type, "value_type": pair_value_type}
            self.value_names = ("key", "value")
        self._structure: Any = {"dialect": dialect, "max_depth": max_depth}
        self._nodes: list[Node] = []
        self._codecs: dict[int, Any] = {}
        roots = [resolve(annotation) for annotation in self.options.values()]
        self.types = tuple(self._type(root, root.shown, ()) for root in roots)
        self._fields: tuple[str, ...] | None = None  # fields that are columns of their own
        if len(roots) == 1 and roots[0].kind == "record":
            self._fields = tuple(name for name, _ in self.types[0][1][1])

    def projection(self, columns: Any) -> tuple[Any, Any]:
        """Return the names of the selected columns, and the path to each within a record; None: all."""
        if not self._fields:
            return _wanted.projection(columns, self.value_names)
        visible, paths = _wanted.projection(self._fields if columns is None else columns, self._fields)
        return visible, tuple((0, self._fields[number], *path) for number, *path in paths)

    def _type(self, node, path, within, **facts):
        """Return the typed description of a node, or a part of one; within: the records around it."""
        nullable = False
        if node.kind == "union":
            members = [member for member in node.members if member.kind != "none"]
            nullable = len(members) < len(node.members)
            if len(members) > 1:
                raise TypeError(f"{path}: no column has values of {node.shown}: Any has them as encoded values")
            node = members[0]
        elif node.kind == "literal" and None in node.values:
            nullable = True
        if len(within) > _MAX_LEVELS:
            raise TypeError(f"{path}: columns nest at most {_MAX_LEVELS} levels")
        described, more = self._described(node, path, within)
        self._nodes.append(node)
        return "typed", described, {"number": len(self._nodes) - 1, "nullable": nullable, **more, **facts}

    def _described(self, node, path, within):
        """Return the description of a node, and what else is said of its values."""
        kind = node.kind
        if kind in _SCALARS:
            return _SCALARS[kind], {}
        if kind in ("int", "float"):
            return ("fixed", _WIDTHS[node.width or kind]), {}
        if kind == "decimal":
            return ("decimal", *(node.precision or _DECIMAL)), {}
        if kind == "datetime":
            return ("timestamp", node.unit, bool(node.utc)), {}
        if kind in ("time", "timedelta"):
            return ("time" if kind == "time" else "duration", node.unit), {}
        if kind in ("enum", "literal"):
            return ("enum", _choices(node, path)), {}
        inside = (*within, node)
        if kind in _LISTS:
            return ("list", _LISTS[kind], self._type(node.item, f"{path}[]", inside)), {}
        if kind == "dict":
            key = self._type(node.key, f"{path} key", inside)
            if key[2]["nullable"]:
                raise TypeError(f"{path}: the keys of a map are not null")
            return ("map", key, self._type(node.value, f"{path}[]", inside)), {}
        if kind == "tuple":
            items = tuple(self._type(item, f"{path}[{number}]", inside) for number, item in enumerate(node.items))
            return _array_of(items) or ("tuple", items), {}
        if kind == "record":
            return self._record(node, path, within)
        raise TypeError(f"{path}: no column has values of {node.shown}")

    def _record(self, node, path, within):
        record = node.record
        if any(around.record is record for around in within):
            raise TypeError(f"{path}: {node.shown} contains itself, and columns do not")
        inside = (*within, node)
        fields = []
        if record.tag is not None:
            key, value = record.tag
            fields.append(
                (
                    key,
                    self._type(
                        Node("literal", repr(value), values=(value,)),
                        f"{path}.{key}",
                        inside,
                        fallback=Encoder().encode(value),
                    ),
                )
            )
        for field in record.fields:
            if field.written:
                fields.append((field.name, self._field(field, f"{path}.{field.name}", inside)))
        if len({name for name, _ in fields}) < len(fields) or any("\0" in name for name, _ in fields):
            raise TypeError(f"{path}: the columns of {node.shown} have names of their own, without NUL")
        more = {"forbids_unknown": record.forbid_unknown, "allows_extra": record.allow_extra_items}
        return ("struct" if record.form == "MAP" else "row", tuple(fields)), more

    def _field(self, field, path, within):
        facts: dict[str, Any] = {"key": field.key, "name": field.name.encode()} if field.key != field.name else {}
        described = self._type(field.node, path, within, **facts)
        facts = described[2]
        default = field.default
        if field.factory in _EMPTY:
            default = field.factory()
        if default is field.absent and default is not MISSING:
            _hold_nulls(facts)
        elif default is not MISSING and not (default is None and facts["nullable"]):
            try:
                facts["fallback"] = self._encoded_default(facts["number"], default)
            except EncodeError as error:
                raise TypeError(f"{path}: the default does not fit: {error.message}") from None
        elif default is MISSING:
            facts["required"] = field.required or field.factory is not None
            if not facts["required"]:
                _hold_nulls(facts)
        return described

    def _codec(self, number):
        """Return the functions that decode any form of a value, and encode its declared one, not rounded."""
        if number not in self._codecs:
            node = self._nodes[number]
            encode = Encoder(type=_declared(node), **self._structure).encode
            self._codecs[number] = Decoder(type=node, **self._structure).decode, encode
        return self._codecs[number]

    def _encoded_default(self, number, default):
        """Return a default in the declared form of a column, rounded to a FLOAT where that is its type."""
        return Encoder(type=_declared(self._nodes[number], "FLOAT"), **self._structure).encode(default)

    def convert(self, number: int, data: bytes) -> bytes | None:
        """Return the declared form of an encoded value, None if it does not fit the annotation of this number."""
        decode, encode = self._codec(number)
        try:
            return encode(decode(data))
        except (DecodeError, EncodeError):
            return None

    def mismatch(self, builder: Any, offset: int, record: int) -> DecodeTypeError:
        """Return the error for a value that fits its annotation, as a Reader of it has found, but not its column."""
        number, fault, item, found = builder.fault
        node, described = self._nodes[number], builder.expected
        if item >= 0:  # of an array
            node, described = node.items[item], ("fixed", described[1])
        message = f"expected {node.shown} of a column {type_strings.format_type(described)}, found {_found(found)}"
        if fault is not None and fault[0] == "missing":
            message = f"{node.shown}: missing field {type_strings.format_text(fault[1])}"
        return DecodeTypeError(message, offset, builder.code, builder.path, record)


def _hold_nulls(facts):
    """Have a column hold nulls for fields that are missing, and for None only where its type takes it."""
    facts["refuses_none"] = not facts["nullable"]
    facts["nullable"] = True


def _choices(node, path):
    """Return the texts or the integers that the values of an Enum or a Literal are."""
    if node.kind == "literal":
        values = [getattr(value, "_value_", value) for value in node.values if value is not None]
    else:
        values = list(node.names) if node.by_name else [member._value_ for member in node.cls]
    for kind in (str, int):
        if values and all(isinstance(value, kind) and not isinstance(value, bool) for value in values):
            if kind is int and not all(-(2**63) <= value < 2**63 for value in values):
                break
            return tuple(dict.fromkeys(map(kind, values)))
    raise TypeError(f"{path}: a column has the values of {node.shown} if all are str, or all are int of 64 bits")


def _array_of(items):
    """Return the description of a VECTOR of items of one fixed type, None for others."""
    descriptions = [item[1] for item in items]
    if not items or descriptions[0][0] != "fixed" or any(item[2]["nullable"] for item in items):
        return None
    return ("array", descriptions[0][1], len(items)) if descriptions == descriptions[:1] * len(items) else None


def _declared(node, float_width=None):
    """Return the node whose values are written in the declared form of a column.

    float_width: of what is a FLOAT. None: it is written as a DOUBLE, so that the column refuses what would be rounded.
    """
    changes: dict[str, Any] = {"text": False} if node.text else {}
    if node.kind == "float":
        changes["width"] = node.width and float_width
    for name in ("item", "key", "value"):
        if getattr(node, name) is not None:
            changes[name] = _declared(getattr(node, name), float_width)
    for name in ("items", "members"):
        if getattr(node, name) is not None:
            changes[name] = tuple(_declared(part, float_width) for part in getattr(node, name))
    if node.kind == "record":
        fields = (_with(field, node=_declared(field.node, float_width)) for field in node.record.fields)
        changes["record"] = _with(node.record, fields=tuple(fields))
    return _with(node, **changes)


def _with(part, **changes):
    """Return a copy of a part of a type with other values of these slots."""
    made = copy(part)
    for name, value in changes.items():
        setattr(made, name, value)
    return made


def _found(data):
    """Return how an error shows the value that starts with these bytes."""
    code = data[0]
    name = TypeCode(code).name if code in TypeCode._value2member_map_ else f"type code {code}"
    try:
        value = Reader(data).read()
    except DecodeError:  # it is longer
        return name
    if isinstance(value, str):
        return f"{name} {type_strings.format_text(value)}"
    return f"{name} {value!r}" if isinstance(value, (int, float)) else name
