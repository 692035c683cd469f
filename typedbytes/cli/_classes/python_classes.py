"""Record classes of Python that fit a shape, as a module."""

from __future__ import annotations

import builtins
import json
import keyword

from typedbytes.cli._classes.names import ClassNames, are_distinct, has_fixed_items

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typedbytes.cli._classes.shapes import Shape

__all__ = ["python_module"]

TYPING = ("Annotated", "Any", "NamedTuple", "Optional", "TypedDict", "Union")
MODULES = ("datetime", "decimal", "uuid")
MAX_LENGTHS = 2  # of VECTORs whose last items may be missing


def python_module(shapes: list[Shape]) -> Iterator[str]:
    """Yield the lines of a module whose classes fit the shape of the values, or those of the keys and the values."""
    classes = _Classes()
    names = ["Record"] if len(shapes) == 1 else ["Key", "Value"]
    kinds = [classes.type_of(shape, name, is_whole=True) for shape, name in zip(shapes, names)]
    yield from classes.imports()
    yield from classes.lines
    if len(kinds) == 2:
        yield from ("", f"# typedbytes.PairReader(file, key_type={kinds[0]}, value_type={kinds[1]})")
    else:
        yield from ("", f"# typedbytes.Reader(file, type={kinds[0]})")


class _Classes:
    """The text of classes, those first that others contain."""

    def __init__(self):
        self.lines: list[str] = []
        self._used: set[str] = set()
        self._names = ClassNames([*TYPING, *MODULES, *keyword.kwlist, *dir(builtins), "dataclass", "records"])

    def imports(self):
        """Yield the lines of the imports."""
        yield "from __future__ import annotations"
        yield ""
        for module in MODULES:
            if module in self._used:
                yield f"import {module}"
        if "dataclass" in self._used:
            yield "from dataclasses import dataclass"
        names = [name for name in TYPING if name in self._used]
        if names:
            yield f"from typing import {', '.join(names)}"
        if "records" in self._used:
            yield from ("", "from typedbytes import records")

    def type_of(self, shape, name, is_whole=False, may_be_missing=False):
        """Return the annotation of what has a shape, and add the classes that it needs."""
        kinds = shape.kinds
        if not are_distinct(kinds) or not kinds and not shape.has_none:
            return self._use("Any")
        parts = [self._type_of_kind(kind, shape, name, is_whole) for kind in kinds]
        if not parts:
            return "None"
        found = parts[0] if len(parts) == 1 else f"{self._use('Union')}[{', '.join(parts)}]"
        return f"{self._use('Optional')}[{found}]" if shape.has_none or may_be_missing else found

    def _use(self, name):
        self._used.add(name)
        return name

    def _type_of_kind(self, kind, shape, name, is_whole):
        if kind == "datetime.datetime in UTC":
            return f"{self._use('Annotated')}[{self._use('datetime')}.datetime, {self._use('records')}.UTC]"
        if "." in kind:
            self._use(kind.partition(".")[0])
            return kind
        if kind in ("list", "set"):
            return f"{kind}[{self._type_of_part(shape, kind, name)}]"
        if kind == "map":
            if shape.is_record:
                return self._record(shape, name)
            return f"dict[{self._type_of_part(shape, 'key', name)}, {self._type_of_part(shape, 'value', name)}]"
        if kind == "vector":
            return self._type_of_vector(shape, name, is_whole)
        return kind

    def _type_of_part(self, shape, part, name):
        return self.type_of(shape.parts[part], name) if part in shape.parts else self._use("Any")

    def _type_of_vector(self, shape, name, is_whole):
        if is_whole and 0 < len(shape.items) == max(shape.nitems) and len(shape.nitems) <= MAX_LENGTHS:
            name = self._names.name(name)
            needed = min(shape.nitems)
            kinds = [
                self.type_of(item, f"{name} item {i}", may_be_missing=i >= needed) for i, item in enumerate(shape.items)
            ]
            lines = [f"    item_{i}: {kind}{' = None' * (i >= needed)}" for i, kind in enumerate(kinds)]
            self.lines += ["", "", f"class {name}({self._use('NamedTuple')}):", *lines]
            return name
        if has_fixed_items(shape):
            return f"tuple[{', '.join(self.type_of(item, f'{name} item {i}') for i, item in enumerate(shape.items))}]"
        return f"tuple[{self._type_of_part(shape, 'item', name)}, ...]"

    def _record(self, shape, name):
        name = self._names.name(name)
        is_class = all(map(_can_be_field, shape.fields))
        missing = {field for field, field_shape in shape.fields.items() if field_shape.total < shape.counts["map"]}
        kinds = {
            field: self.type_of(field_shape, field, may_be_missing=is_class and field in missing)
            for field, field_shape in shape.fields.items()
        }
        if is_class:
            self._use("dataclass")
            # Fields with a default follow those without.
            ends = {field: " = None" * (field in missing or shape.fields[field].has_none) for field in kinds}
            order = sorted(kinds, key=lambda field: ends[field])
            lines = [f"    {field}: {kinds[field]}{ends[field]}" for field in order]
            self.lines += ["", "", "@dataclass", f"class {name}:", *lines]
            return name
        self.lines += [
            "",
            "",
            "# Not all names of fields are identifiers, so that this is a dict."
            + " Some may be missing." * bool(missing),
            f"{name} = {self._use('TypedDict')}(",
            f'    "{name}",',
            "    {",
            *(f"        {json.dumps(field)}: {kind}," for field, kind in kinds.items()),
            "    },",
            *(["    total=False,"] * bool(missing)),
            ")",
        ]
        return name


def _can_be_field(name):
    """Return whether a field of a class can have this name: a name with two underscores would be changed."""
    return name.isidentifier() and name.isascii() and not keyword.iskeyword(name) and not name.startswith("__")
