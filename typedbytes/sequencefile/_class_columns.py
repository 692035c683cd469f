"""The types of columns that hold described classes.

Here: the type as text. Not here: bytes. Invariant: what contains itself, or has very many parts, is raw.
"""

from __future__ import annotations

import json

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.sequencefile._native import ClassProgram

__all__ = ["schema_of"]

_COLUMNS = {
    "boolean": "bool", "byte": "byte", "short": "int", "int": "int", "vint": "int", "long": "long", "vlong": "long",
    "float": "float", "double": "double", "char": "string", "text": "string", "string": "string", "utf": "string",
    "enum": "string", "bytes": "bytes", "fixed": "bytes", "rest": "bytes", "null": "unknown",
}  # fmt: skip
_MAX_COLUMN_LEVELS = 24
_MAX_COLUMNS = 1000


def schema_of(program: ClassProgram) -> str:
    """Return the type of a column that holds a described class, as text."""
    return _Columns(program.find).of_class(program.class_name, 0)


class _Columns:
    """Finds the types of columns; what contains itself, or has very many parts, is raw."""

    def __init__(self, find):
        self._find = find
        self._open = set()
        self._ncolumns = 0

    def of_class(self, name, level):
        """Return the type of a described class."""
        if name in self._open:
            return "raw"
        self._open.add(name)
        column_type = self._of(self._find(name), level)
        self._open.remove(name)
        return column_type

    def _of(self, tree, level):
        kind, _, _, items, names, value = tree
        self._ncolumns += 1
        if kind in _COLUMNS:
            return _COLUMNS[kind]
        if kind == "call":
            return value[2]
        if level > _MAX_COLUMN_LEVELS or self._ncolumns > _MAX_COLUMNS:
            return "raw"
        if kind == "class":
            return self.of_class(value, level + 1)
        return _container(kind, [self._of(item, level + 1) for item in items if item[0] != "constant"], names, items)


def _container(kind, parts, names, items):
    """Return the type of a column with these columns in it."""
    if kind in ("optional", "within", "compressed"):
        return parts[0]
    if kind in ("list", "table", "strings"):
        inner = f"list<{parts[0]}>"
        return f"list<{inner}>" if kind == "table" else inner
    if kind == "array":
        return f"vector<{parts[0]}...>"
    if kind == "map":
        return f"map<{parts[0]}, {parts[1]}>"
    if kind == "record" and names is None and len(parts) == 1 < len(items):
        return parts[0]
    if kind == "record" and parts and names is None:
        return f"tuple<{', '.join(parts)}>"
    if kind == "record" and parts:
        shown = [name for name, item in zip(names, items) if item[0] != "constant"]
        return f"struct<{', '.join(f'{json.dumps(name)}: {part}' for name, part in zip(shown, parts))}>"
    return "raw"
