"""A type as people read its values: fields by name, dates and UUIDs as text."""

from __future__ import annotations

from typedbytes._records import resolve

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from typedbytes._records.model import Node

__all__ = ["node_of_text"]

TEXTS = {"date", "datetime", "time", "timedelta", "uuid"}


def node_of_text(annotation: Any) -> Node:
    """Return what an annotation says, but with each record as a MAP, and ISO 8601 text where there is such a form."""
    root = resolve(annotation)
    todo, seen = [root], {root}
    while todo:
        node = todo.pop()
        if node.kind in TEXTS:
            node.text = True
        parts = [node.item, node.key, node.value, *(node.items or ()), *(node.members or ())]
        if node.kind == "record":
            node.record.form = "MAP"
            parts += [field.node for field in node.record.fields]
        for part in parts:
            if part is not None and part not in seen:
                seen.add(part)
                todo.append(part)
    return root
