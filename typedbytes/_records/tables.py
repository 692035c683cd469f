"""A type as the rows of a table have its values: what reads them, to be written in the form of the type."""

from __future__ import annotations

from typedbytes._records import resolve
from typedbytes._records.model import MISSING, Field, Node, Record, nodes_within
from typedbytes._records.unions import forms_of

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["nodes_of_rows"]

_NONE = Node("none", "None")
_WIDTHS = {"bool": None, "int": "LONG", "float": "DOUBLE"}


def nodes_of_rows(annotation: Any) -> tuple[Node, Node]:
    """Return two nodes for the rows of a type: one reads what columns.write makes of them, the other writes them.

    columns.write makes MAPs of structs: fields by the names of their columns, and times in microseconds. A null is
    None, and in a field that may be missing and is not Optional it is a missing field. Raises TypeError for a part that
    rows do not have.
    """
    read, write = resolve(annotation), resolve(annotation)
    for node in list(nodes_within(read)):
        if node.kind == "any":
            raise TypeError(f"{node.shown}: a frame has no values of any type")
        if node.unit is not None:
            node.unit = "us"
        node.text = False
        if node.kind == "record":
            node.record.form = "MAP"
            for field in node.record.fields:
                field.key = field.name
                if _may_be_missing(node.record, field):
                    field.node = _or_none(field.node)
        elif node.kind == "tuple":
            node.copy_from(_tuple_of_columns(node))
    for node in nodes_within(read):
        if node.kind == "union":
            node.forms = tuple(map(forms_of, node.members))
    for node in nodes_within(write):
        for field in node.record.fields if node.kind == "record" else ():
            if _may_be_missing(node.record, field):
                field.node, field.absent = _or_none(field.node), None
    return read, write


def _may_be_missing(record: Record, field: Field) -> bool:
    """Return whether a field can be left out, and has no default that says what it is then."""
    leaves_out = field.absent is not MISSING or (record.make == "typeddict" and not field.required)
    return leaves_out and not _takes_none(field.node)


def _takes_none(node: Node) -> bool:
    if node.kind == "union":
        return any(map(_takes_none, node.members))
    return node.kind in ("none", "any") or (node.kind == "literal" and None in node.values)


def _or_none(node: Node) -> Node:
    members = (node, _NONE)
    return Node("union", node.shown, members=members, forms=tuple(map(forms_of, members)))


def _tuple_of_columns(node: Node) -> Node:
    """Return a tuple whose items are columns "0", "1" and so on, unless they are numbers of one type: a list."""
    kinds = {(item.kind, item.width or _WIDTHS.get(item.kind)) for item in node.items}
    if len(kinds) == 1 and node.items[0].kind in _WIDTHS:
        return node
    record = Record(tuple, node.shown, "MAP", "tuple")
    record.fields = tuple(Field(str(number), item) for number, item in enumerate(node.items))
    return Node("record", node.shown, record=record)
