"""What the values of a file have in common: the shape that a record class for them must have.

Invariant: a shape fits each value that was added to it; where values have too little in common, it says so by "any".
"""

from __future__ import annotations

import typedbytes
from typedbytes._base.codes import PICKLE, SHORT
from typedbytes.cli._records.encoded import is_empty, is_pairs

__all__ = ["Shape", "find_shapes"]

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from typedbytes.cli._input.inputs import Inputs

MAX_FIELDS = 64  # more different names in MAPs are keys, not fields
MAX_DEPTH = 50  # of classes within one another
INT_BITS = 32

KINDS = {
    bool: "bool",
    float: "float",
    str: "str",
    bytes: "bytes",
    tuple: "vector",
    list: "list",
    dict: "map",
    type(None): "none",
    typedbytes.Byte: "byte",
    typedbytes.Long: "long",
    typedbytes.Float: "float32",
}

GENERAL = {"byte": "int", "long": "int", "short": "int", "wide": "int", "float32": "float"}
#: What is pickled without a type, by the names of Python's types.
PICKLED = {"datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta", "decimal.Decimal", "uuid.UUID"}


class Shape:
    """What was found in one place: how often each kind of value, and the shapes of what is inside."""

    def __init__(self, depth: int = 0) -> None:
        self.counts: dict[str, int] = {}
        self.depth = depth
        self.fields: dict[str, Shape] = {}  # of MAPs, by name
        self.items: list[Shape] = []  # of VECTORs, by position
        self.nitems: set[int] = set()  # lengths of VECTORs
        self.parts: dict[str, Shape] = {}  # any item of a LIST, a VECTOR or a set; any key and value of a MAP
        self.has_names = True  # all keys of MAPs are STRINGs
        self.has_pickles = False

    @property
    def total(self) -> int:
        """How many values there were."""
        return sum(self.counts.values())

    @property
    def kinds(self) -> list[str]:
        """The kinds of values but None, integers and floats as one kind each."""
        found = dict.fromkeys(GENERAL.get(kind, kind) for kind in self.counts)
        return [kind for kind in found if kind != "none"]

    @property
    def has_none(self) -> bool:
        """Whether there was a None."""
        return "none" in self.counts

    @property
    def is_record(self) -> bool:
        """Whether its MAPs have names of fields, which are text."""
        return self.has_names and 0 < len(self.fields) <= MAX_FIELDS and all(map(_is_text, self.fields))

    def has_pickles_inside(self) -> bool:
        """Return whether a value, or one inside it, is pickled and not None."""
        inside = [*self.fields.values(), *self.items, *self.parts.values()]
        return self.has_pickles or any(shape.has_pickles_inside() for shape in inside)

    def add(self, value: Any) -> None:
        """Take into account a value that was decoded with exact=True."""
        kind = _kind_of(value)
        if type(value) is typedbytes.Ext and value.code == PICKLE:
            try:
                value = typedbytes.loads(typedbytes.dumps(value))
            except typedbytes.DecodeError:
                pass  # an unread pickle: no type has it
            else:
                kind = _kind_of_pickled(value)
            self.has_pickles |= kind != "none"
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if self.depth >= MAX_DEPTH:
            return
        if kind == "map":
            self._add_map(value.items())
        elif kind == "vector":
            self.nitems.add(len(value))
            for i, item in enumerate(value):
                if i < MAX_FIELDS:
                    if i == len(self.items):
                        self.items.append(Shape(self.depth + 1))
                    self.items[i].add(item)
                self.part("item").add(item)
        elif kind in ("list", "set"):
            for item in value:
                self.part(kind).add(item)

    def part(self, name: str) -> Shape:
        """Return the shape of any part of this name."""
        if name not in self.parts:
            self.parts[name] = Shape(self.depth + 1)
        return self.parts[name]

    def _add_map(self, items):
        for key, value in items:
            if type(key) is str and self.has_names and (key in self.fields or len(self.fields) <= MAX_FIELDS):
                if key not in self.fields:
                    self.fields[key] = Shape(self.depth + 1)
                self.fields[key].add(value)
            self.has_names &= type(key) is str
            self.part("key").add(key)
            self.part("value").add(value)


def find_shapes(inputs: Inputs) -> list[Shape]:
    """Return the shape of the values of all inputs, or those of keys and values of pairs."""
    decode = typedbytes.Decoder(exact=True, dialect=inputs.dialect, unicode_errors="surrogateescape").decode
    shapes: list[Shape] = []
    for name in inputs:
        with inputs.reading(name) as reader:
            if is_empty(reader):
                continue
            shapes = shapes or [Shape() for _ in range(1 + is_pairs(reader))]
            start = 0
            for number, record in enumerate(reader):
                try:
                    for shape, part in zip(shapes, record if type(record) is tuple else (record,)):
                        shape.add(decode(part))
                except typedbytes.DecodeError as error:
                    error.offset, error.record = error.offset + start, number
                    raise
                start = reader.offset
    return shapes or [Shape() for _ in range(1 + inputs.pairs)]


def _is_text(name):
    """Return whether a name was UTF-8: no class can have a field for another."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _kind_of(value):
    """Return the kind of a value, "any" for what no class has a field for."""
    kind = type(value)
    if kind is typedbytes.Ext and value.code == SHORT:  # no other dialect has values of this code
        return "short"
    if kind is int:
        return "int" if -1 << INT_BITS - 1 <= value < 1 << INT_BITS - 1 else "long"
    return KINDS.get(kind, "any")


def _kind_of_pickled(value):
    """Return the kind of a value that was pickled."""
    kind = type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if name in ("datetime.datetime", "datetime.time") and value.tzinfo is not None:
        return "datetime.datetime in UTC" if kind.__qualname__ == "datetime" else "any"
    if kind is int:
        return "wide"
    return name if name in PICKLED else {set: "set", type(None): "none"}.get(kind, "any")
