"""What a type says of the bytes: a tree of nodes, which the core compiles.

Invariant: nodes and records may be shared and may contain themselves;
everything is resolved and checked when the core sees it.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


class _Missing:
    """The type of MISSING."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()  # there is no default


class Refused(Exception):
    """Report why an annotation cannot be a type of records; it becomes a TypeError with the field's path."""


class Node:
    """One annotation: `kind`, how errors call it (`shown`), and what more that kind has; the rest is None.

    | kind | more |
    |---|---|
    | any none bool str bytes bytearray memoryview ndarray | |
    | decimal | `precision`: None, or (digits, decimals) of its column |
    | int | `width`: None, "BYTE", "INT", "LONG"; `value_class`: None, or the subclass of int that is made |
    | float | `width`: None, "FLOAT"; `value_class` |
    | list set frozenset variadic_tuple | `item` |
    | tuple | `items` |
    | dict | `key`, `value` |
    | date | `text`: written as ISO 8601 text |
    | datetime time timedelta | `unit`: "s", "ms", "us"; `text`; of a datetime `utc`: aware, in UTC |
    | uuid | `text` |
    | enum | `cls`, `by_name`: written by name; `by_value` and `names`: dicts to the members |
    | literal | `values` |
    | record | `record` |
    | union | `members`; `forms`: for each of them the wire forms that are its own, see `unions` |
    """

    __slots__ = (
        "kind", "shown", "width", "value_class", "item", "items", "key", "value", "unit", "text", "utc", "cls",
        "by_name", "by_value", "names", "values", "record", "members", "forms", "precision",
    )  # fmt: skip

    kind: str
    shown: str
    width: str | None
    value_class: type | None
    item: Node
    items: tuple[Node, ...]
    key: Node
    value: Node
    unit: str
    text: bool
    utc: bool
    cls: type
    by_name: bool
    by_value: dict[Any, Any]
    names: dict[str, Any]
    values: tuple[Any, ...]
    record: Record
    members: tuple[Node, ...]
    forms: tuple[frozenset[str], ...]
    precision: tuple[int, int] | None

    def __init__(self, kind: str, shown: str, **facts: Any) -> None:
        for name in self.__slots__:
            setattr(self, name, facts.pop(name, None))
        assert not facts, facts
        self.kind, self.shown = kind, shown

    def copy_from(self, other: Node) -> None:
        """Copy another node into this one, the stand-in of a type that was referred to before it was resolved."""
        for name in self.__slots__:
            setattr(self, name, getattr(other, name))

    def __repr__(self) -> str:
        return f"<{self.kind} {self.shown}>"


class Field:
    """One field of a record.

    `name` is the attribute, `argument` the constructor's keyword, `key` the text on the wire, `node` its type.
    `required` is False with a `default` (else MISSING) or a `factory` (else None), for a key that a TypedDict need not
    have, and where only the constructor knows the default: then there is neither. `member` is the slot's descriptor,
    None where there is no slot. A field that is not `written` (an InitVar) is no attribute. A value that is `absent`
    (msgspec's UNSET, else MISSING) is left out of a MAP.
    """

    __slots__ = ("name", "argument", "key", "node", "required", "default", "factory", "member", "written", "absent")

    def __init__(
        self,
        name: str,
        node: Node,
        *,
        argument: str | None = None,
        key: str | None = None,
        required: bool = True,
        default: Any = MISSING,
        factory: Callable[[], Any] | None = None,
        member: Any = None,
        written: bool = True,
        absent: Any = MISSING,
    ) -> None:
        self.name = name
        self.argument = name if argument is None else argument
        self.key = name if key is None else key
        self.node = node
        self.required = required
        self.default = default
        self.factory = factory
        self.member = member
        self.written = written
        self.absent = absent

    def __repr__(self) -> str:
        return f"<field {self.name}: {self.node.shown}>"


class Record:
    """A record class: its fields, its form, and how an instance is made.

    `name` is what errors call it. `form` is "MAP" or "VECTOR". `make` is

    - "tuple": a tuple of the class's type, without its `__new__`
    - "slots": each field is stored in its slot, without `__init__`
    - "dict": each field is stored in the instance's dict, without `__init__`
    - "struct": a msgspec.Struct, each field stored in its slot; then `__post_init__` if there is one (`post_init`)
    - "typeddict": a dict
    - "call": the class is called with keywords, without those of missing fields that are not required

    `tag` is None or the pair (key, value), with which a MAP begins; a VECTOR begins with the value. `forbid_unknown`: a
    field of another name is an error; `allow_extra_items`: a VECTOR may have more items than fields. `omit_defaults`:
    fields equal to their default are not written into a MAP.
    """

    __slots__ = (
        "cls", "name", "form", "make", "fields", "forbid_unknown", "allow_extra_items", "tag", "omit_defaults",
        "post_init",
    )  # fmt: skip

    def __init__(self, cls: type, name: str, form: str, make: str = "") -> None:
        self.cls = cls
        self.name = name
        self.form = form
        self.make = make
        self.fields: tuple[Field, ...] = ()
        self.forbid_unknown = False
        self.allow_extra_items = False
        self.tag: tuple[str, str | int] | None = None
        self.omit_defaults = False
        self.post_init = False

    def __repr__(self) -> str:
        return f"<record {self.name}>"


def nodes_within(root: Node) -> Iterator[Node]:
    """Yield a node and all in it, each once; what is within one is looked at when the next is asked for."""
    todo, seen = [root], {root}
    while todo:
        node = todo.pop()
        yield node
        parts = [node.item, node.key, node.value, *(node.items or ()), *(node.members or ())]
        if node.kind == "record":
            parts += [field.node for field in node.record.fields]
        for part in parts:
            if part is not None and part not in seen:
                seen.add(part)
                todo.append(part)
