"""Unions: which member a value on the wire belongs to.

Each member has wire forms of its own, those that it is written in;
a union in which two members have the same one is refused.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from typedbytes._records.model import Node

__all__ = ["forms_of", "problem_of"]

FORMS = {
    "none": "NULL",
    "bool": "BOOL",
    "int": "INTEGER",
    "float": "DOUBLE",
    "str": "STRING",
    "bytes": "BYTES",
    "bytearray": "BYTES",
    "memoryview": "BYTES",
    "list": "LIST",
    "set": "LIST",
    "frozenset": "LIST",
    "tuple": "VECTOR",
    "variadic_tuple": "VECTOR",
    "dict": "MAP",
    "decimal": "STRING",
    "ndarray": "NDARRAY",
}
SHOWN = {"INTEGER": "an INT or LONG", "BYTES": "BYTES", "NULL": "None"}


def form_of_value(value: Any) -> str | None:
    """Return the wire form of a scalar, None for anything else."""
    if value is None:
        return "NULL"
    for kind, form in ((bool, "BOOL"), (int, "INTEGER"), (float, "DOUBLE"), (str, "STRING"), (bytes, "BYTES")):
        if isinstance(value, kind):
            return form
    return None


def forms_of(node: Node) -> frozenset[str]:
    """Return the wire forms in which values of a type are written."""
    if node.kind == "record":
        forms = [node.record.form]
    elif node.kind == "enum":
        forms = ["STRING"] if node.by_name else [form_of_value(member._value_) or "" for member in node.names.values()]
    elif node.kind == "literal":
        forms = [form_of_value(getattr(value, "_value_", value)) or "" for value in node.values]
    elif node.kind in ("date", "datetime", "time", "timedelta"):
        forms = ["STRING" if node.text else "INTEGER"]
    elif node.kind == "uuid":
        forms = ["STRING" if node.text else "BYTES"]
    else:
        forms = [FORMS[node.kind]]
    return frozenset(forms)


def tells_apart(one: Node, other: Node) -> bool:
    """Return whether the tags of two records do."""
    if one.kind != "record" or other.kind != "record" or one.record.tag is None or other.record.tag is None:
        return False
    (key, value), (other_key, other_value) = one.record.tag, other.record.tag
    return (
        type(value) is type(other_value) and value != other_value and (key == other_key or one.record.form == "VECTOR")
    )


def problem_of(members: list[Node]) -> str | None:
    """Return why a union of these cannot be read, None where it can."""
    tagged = [node for node in members if node.kind == "record" and node.record.tag is not None]
    of_forms = {node.record.form: node for node in tagged}
    if len(tagged) > len(of_forms) > 1:
        written = " and ".join(f"{node.shown} as a {form}" for form, node in of_forms.items())
        return f"{written} are written with tags, so that a union of them and others with tags cannot be read"
    for i, node in enumerate(members):
        for other in members[:i]:
            common = forms_of(node) & forms_of(other)
            if common and not tells_apart(node, other):
                form = min(common)
                shown = SHOWN.get(form, f"a {form}")
                return (
                    f"{other.shown} and {node.shown} are both written as {shown}, "
                    "so that a union of them cannot be read"
                )
    return None
