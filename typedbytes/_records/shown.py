"""A type as people read its values: fields by name, dates and UUIDs as text."""

from __future__ import annotations

from copy import copy

from typedbytes._records import resolve
from typedbytes._records.model import nodes_within
from typedbytes._records.unions import forms_of, tells_apart

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from typedbytes._records.model import Node

__all__ = ["node_of_text"]

TEXTS = {"date", "datetime", "time", "timedelta", "uuid"}


def node_of_text(annotation: Any) -> Node:
    """Return what an annotation says, but with each record as a MAP, and ISO 8601 text where there is such a form.

    Members of a union that would then have a form in common stay as they are: they are read from it again.
    """
    root = resolve(annotation)
    nodes = [*nodes_within(root)]
    alike: list[Node] = []
    for node in nodes:
        if node.kind == "union":
            node.members = tuple(map(_own, node.members or ()))
            alike += _alike(node.members)
    for node in nodes_within(root):
        if any(node is each for each in alike):
            continue
        if node.kind in TEXTS:
            node.text = True
        if node.kind == "record":
            node.record.form = "MAP"
    return root


def _own(node):
    """Return a copy of a member of a union: a type has one node wherever it is, and here it may be shown otherwise."""
    node = copy(node)
    if node.kind == "record":
        node.record = copy(node.record)
    return node


def _alike(members):
    """Return the members of a union that as text or as a MAP could be taken for another."""
    return [
        node
        for node in members
        for other in members
        if node is not other and not tells_apart(node, other) and _shown(node) & (_shown(other) | forms_of(other))
    ]


def _shown(node):
    """Return the forms in which a type is shown."""
    return {"STRING"} if node.kind in TEXTS else {"MAP"} if node.kind == "record" else forms_of(node)
