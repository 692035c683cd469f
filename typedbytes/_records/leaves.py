"""Types without parts: numbers, text, bytes, dates and the like; and what markers change of them."""

from __future__ import annotations

import sys

from typedbytes import records
from typedbytes._records.model import Refused
from typedbytes._types import Byte, Float, Int, Long

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from typedbytes._records.model import Node

__all__ = ["MARKERS", "change_by", "leaf_of", "refuse_constraints"]

WIDTHS = {Byte: "BYTE", Int: "INT", Long: "LONG"}
UNITS = {records.Seconds: "s", records.Milliseconds: "ms", records.Microseconds: "us"}
MARKERS = {*WIDTHS, Float, *UNITS, records.UTC, records.Text, records.Name, records.Vector, records.Map}
BUILTINS = {
    object: "any",
    type(None): "none",
    bool: "bool",
    int: "int",
    float: "float",
    str: "str",
    bytes: "bytes",
    bytearray: "bytearray",
    memoryview: "memoryview",
}
#: The same for types of modules that are not imported here.
OTHERS: dict[tuple[str, str], tuple[str, dict[str, Any]]] = {
    ("datetime", "date"): ("date", {"text": False}),
    ("datetime", "datetime"): ("datetime", {"unit": "us", "text": False, "utc": False}),
    ("datetime", "time"): ("time", {"unit": "us", "text": False}),
    ("datetime", "timedelta"): ("timedelta", {"unit": "us", "text": False}),
    ("decimal", "Decimal"): ("decimal", {}),
    ("uuid", "UUID"): ("uuid", {"text": False}),
    ("numpy", "ndarray"): ("ndarray", {}),
}
CONSTRAINTS = ("gt", "ge", "lt", "le", "multiple_of", "pattern", "min_length", "max_length", "tz")


def leaf_of(cls: type) -> tuple[str, str, dict[str, Any]] | None:
    """Return the kind, the name and the other facts of a type without parts; None for any other."""
    if cls in BUILTINS:
        return BUILTINS[cls], "None" if cls is type(None) else cls.__name__, {}
    if cls in WIDTHS:
        return "int", cls.__name__, {"width": WIDTHS[cls], "value_class": cls}
    if cls is Float:
        return "float", "Float", {"width": "FLOAT", "value_class": Float}
    for (module, name), (kind, facts) in OTHERS.items():
        if module in sys.modules and cls is getattr(sys.modules[module], name, None):
            return kind, name, facts
    return None


def change_by(marker: Any, node: Node) -> dict[str, Any] | None:
    """Return the facts that a marker changes in a node, None where it says nothing of such a type."""
    kind = node.kind
    if isinstance(marker, records.Precision):
        return {"precision": (marker.digits, marker.decimals)} if kind == "decimal" else None
    if marker in WIDTHS:
        return {"width": WIDTHS[marker]} if kind == "int" and node.value_class is None else None
    if marker is Float:
        return {"width": "FLOAT"} if kind == "float" and node.value_class is None else None
    if marker in UNITS:
        return {"unit": UNITS[marker], "text": False} if kind in ("datetime", "time", "timedelta") else None
    if marker is records.UTC:
        return {"utc": True} if kind == "datetime" else None
    if marker is records.Text:
        return {"text": True} if kind in ("date", "datetime", "time", "timedelta", "uuid") else None
    if marker is records.Name:
        return {"by_name": True} if kind == "enum" else None
    return None


def refuse_constraints(extra: Any) -> None:
    """Raise Refused for what would be believed to be checked: the constraints of a msgspec.Meta."""
    msgspec = sys.modules.get("msgspec")
    if msgspec is not None and isinstance(extra, msgspec.Meta):
        for name in CONSTRAINTS:
            if getattr(extra, name, None) is not None:
                raise Refused(f"constraints are not checked here: Meta({name}=...)")
