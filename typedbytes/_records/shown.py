"""A type as people read its values: fields by name, dates and UUIDs as text."""

from __future__ import annotations

from typedbytes._records import resolve
from typedbytes._records.model import nodes_within

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from typedbytes._records.model import Node

__all__ = ["node_of_text"]

TEXTS = {"date", "datetime", "time", "timedelta", "uuid"}


def node_of_text(annotation: Any) -> Node:
    """Return what an annotation says, but with each record as a MAP, and ISO 8601 text where there is such a form."""
    root = resolve(annotation)
    for node in nodes_within(root):
        if node.kind in TEXTS:
            node.text = True
        if node.kind == "record":
            node.record.form = "MAP"
    return root
