"""From an annotation to a tree of nodes.

Records are resolved one after the other, not within each other: classes may contain themselves, and a chain of them may
be long. Nodes that say the same are the same, so that a generic class with the same arguments is the same record again.
"""

from __future__ import annotations

import collections.abc
import sys
import typing

from typedbytes import records
from typedbytes._records.classes import family_of
from typedbytes._records.hints import Hints
from typedbytes._records.leaves import MARKERS, change_by, leaf_of, refuse_constraints
from typedbytes._records.model import Node, Record, Refused
from typedbytes._records.scopes import Scope, is_form, typing_names
from typedbytes._records.unions import form_of_value, forms_of, problem_of

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["Resolver"]

abc = collections.abc
#: Types with items: the kind, and how errors call it.
LISTS = (list, abc.Sequence, abc.MutableSequence, abc.Collection, abc.Iterable, abc.Reversible, abc.Container)
ITEM_KINDS = {
    **dict.fromkeys(LISTS, "list"),
    set: "set",
    abc.MutableSet: "set",
    frozenset: "frozenset",
    abc.Set: "frozenset",
}
MAPPINGS = (dict, abc.Mapping, abc.MutableMapping)
MAX_NESTING = 100  # of one annotation; classes do not count
MAX_VARIANTS = 1000  # of one generic class


class Resolver:
    """All that is resolved for one annotation."""

    def __init__(self) -> None:
        self.path = ""
        self.described: tuple[type, tuple[Node, ...]] | None = (
            None  # the class whose fields are being resolved, and its arguments
        )
        self.depth = 0
        self.nodes: dict[tuple[Any, ...], Node] = {}
        self.met: dict[Any, Node] = {}
        self.referred: dict[Node, Node] = {}  # what stands for a type inside itself, and that type
        self.records: dict[tuple[Any, ...], Record] = {}
        self.queue: list[tuple[Record, Callable[[Record, Hints], None], tuple[Node, ...]]] = []
        self.variants: dict[type, int] = {}
        self.places: dict[Node, str] = {}  # where unions and Enums are

    def run(self, annotation: Any) -> Node:
        """Return the node of an annotation that was given by itself."""
        try:
            root = self.resolve(annotation, Scope())
            for record, describe, arguments in self.queue:  # the queue grows meanwhile
                self.path, self.described = record.name, (record.cls, arguments)
                describe(record, Hints(self, record, arguments))
            self.finish(self.target(root))
            for stand_in, node in self.referred.items():
                stand_in.copy_from(self.target(node))
            return self.target(root)
        except Refused as refused:
            raise TypeError(f"{self.path}: {refused}" if self.path else str(refused)) from refused.__cause__

    def node(self, kind: str, shown: str, **facts: Any) -> Node:
        """Return the node of this description, the same object each time."""
        key = (kind, shown, *facts.items())
        if key not in self.nodes:
            self.nodes[key] = Node(kind, shown, **facts)
        return self.nodes[key]

    def changed(self, node: Node, **facts: Any) -> Node:
        """Return the node that differs from another in these attributes only."""
        same = {name: value for name in Node.__slots__[2:] if (value := getattr(node, name)) is not None}
        if node.kind == "enum":  # an enum has dicts
            other = Node(node.kind, node.shown, **{**same, **facts})
            self.places[other] = self.path
            return other
        return self.node(node.kind, node.shown, **{**same, **facts})

    def resolve(self, annotation: Any, scope: Scope) -> Node:
        """Return the node of an annotation that has been written in a scope."""
        self.depth += 1
        try:
            if self.depth > MAX_NESTING:
                raise Refused("the annotation is nested too deeply")
            return self._resolve(annotation, scope)
        finally:
            self.depth -= 1

    def _resolve(self, annotation: Any, scope: Scope) -> Node:
        if type(annotation) is type and leaf_of(annotation) is not None:  # the most frequent
            return self.of_class(annotation, (), scope)
        if annotation is None:
            annotation = type(None)
        if annotation is typing.Any or is_form(annotation, "Any"):
            return self.node("any", "Any")
        if isinstance(annotation, (str, typing.ForwardRef)):
            return self.recursive(
                (annotation if isinstance(annotation, str) else annotation.__forward_arg__, scope), annotation, scope
            )
        if isinstance(annotation, typing.TypeVar):
            return self.type_variable(annotation, scope)
        if is_form(annotation, "Self") and self.described is not None:
            return self.record(*self.described)
        if is_form(annotation, "LiteralString"):
            annotation = str
        origin = typing.get_origin(annotation)
        arguments = typing.get_args(annotation)
        if origin is typing.Annotated:
            return self.annotated(annotation, scope)
        if is_form(origin, "Literal"):
            return self.literal(arguments)
        if origin is typing.Union or origin is getattr(sys.modules.get("types"), "UnionType", ()):
            return self.union([self.resolve(member, scope) for member in arguments])
        if is_form(origin, "Final"):
            return self.resolve(arguments[0], scope)
        for name in ("ClassVar", "Required", "NotRequired", "ReadOnly", "Final"):
            if is_form(origin, name) or is_form(annotation, name):
                raise Refused(f"{shown_type(annotation)} has no place here")
        if hasattr(annotation, "__supertype__"):  # a NewType
            return self.resolve(annotation.__supertype__, scope)
        initvar = getattr(sys.modules.get("dataclasses"), "InitVar", ())
        if initvar and isinstance(annotation, initvar):
            return self.resolve(annotation.type, scope)
        alias = annotation if origin is None else origin
        if isinstance(alias, typing_names("TypeAliasType")):
            given = tuple(self.of_argument(argument, scope) for argument in arguments)
            inside = Scope(alias, dict(zip(alias.__type_params__, given)))
            return self.recursive((alias, *given), alias.__value__, inside)
        cls = annotation if origin is None else origin
        if not isinstance(cls, type):
            raise Refused(f"{shown_type(annotation)} is not a type that records can have")
        return self.of_class(cls, arguments, scope, is_bare=not hasattr(annotation, "__args__"))

    def recursive(self, key: tuple[Any, ...], annotation: Any, scope: Scope) -> Node:
        """Return the node of what has a name, which may be met again inside itself."""
        if isinstance(annotation, (str, typing.ForwardRef)):
            annotation = scope.evaluate(annotation)
        node = self.met.get(key)
        if node is None:
            stand_in = self.met[key] = Node("", shown_type(annotation))
            node = self.resolve(annotation, scope)
            self.met[key] = node
            if stand_in in self.referred:
                self.referred[stand_in] = node
        elif not node.kind:
            self.referred.setdefault(node, node)
        return node

    def target(self, node: Node) -> Node:
        """Return the node that a stand-in stands for, any other node itself."""
        seen = []
        while not node.kind:
            if node in seen:
                raise Refused(f"{node.shown} is nothing but itself")
            seen.append(node)
            node = self.referred[node]
        return node

    def of_argument(self, annotation: Any, scope: Scope) -> Node:
        """Return the node of an alias's argument; a refusal waits until the alias uses it: numpy's NDArray does not."""
        try:
            return self.resolve(annotation, scope)
        except Refused as refused:
            return self.node("refused", str(refused))

    def type_variable(self, variable: typing.TypeVar, scope: Scope) -> Node:
        """Return the node of a type variable: its argument, else its default, its bound, its constraints, else Any."""
        if variable in scope.types:
            node = scope.types[variable]
            if node.kind == "refused":
                raise Refused(node.shown)
            return node
        if getattr(variable, "has_default", bool)():
            return self.resolve(variable.__default__, scope)  # type: ignore[attr-defined]
        if variable.__bound__ is not None:
            return self.resolve(variable.__bound__, scope)
        if variable.__constraints__:
            return self.union([self.resolve(member, scope) for member in variable.__constraints__])
        return self.node("any", "Any")

    def annotated(self, annotation: Any, scope: Scope) -> Node:
        """Return the node of an annotation with markers, which say something of its type or of members of its union."""
        node = self.resolve(annotation.__origin__, scope)
        for extra in annotation.__metadata__:
            refuse_constraints(extra)
            if not isinstance(extra, records.Precision) and (not isinstance(extra, type) or extra not in MARKERS):
                continue
            if not node.kind:
                raise Refused(f"{shown_marker(extra)} says nothing of {node.shown} inside itself")
            members = self.members_of(node, set())
            changed = [self.marked(member, extra) for member in members]
            if not any(changed):
                raise Refused(f"{shown_marker(extra)} says nothing of {' | '.join(member.shown for member in members)}")
            parts = [new or old for new, old in zip(changed, members)]
            node = parts[0] if node.kind != "union" else self.union(parts)
        return node

    def marked(self, node: Node, marker: Any) -> Node | None:
        """Return a node as a marker has it, None where that says nothing of such a type."""
        if node.kind == "record" and marker in (records.Vector, records.Map):
            ((cls, arguments, _),) = (key for key, record in self.records.items() if record is node.record)
            if marker is records.Vector and issubclass(cls, dict):
                raise Refused(f"{node.shown} is a TypedDict, which is always a MAP")
            return self.record(cls, arguments, "VECTOR" if marker is records.Vector else "MAP")
        facts = change_by(marker, node)
        return None if facts is None else self.changed(node, **facts)

    def literal(self, values: tuple[Any, ...]) -> Node:
        """Return the node of a Literal."""
        enum = getattr(sys.modules.get("enum"), "Enum", ())
        for value in values:
            plain = value._value_ if enum and isinstance(value, enum) else value
            if form_of_value(plain) is None:
                raise Refused(f"{quoted(value)} cannot be in a Literal: only numbers, text, bytes and None can")
        shown = ", ".join(map(quoted, values))
        return Node("literal", f"Literal[{shown}]", values=tuple(values))

    def union(self, members: list[Node]) -> Node:
        """Return the node of a union, which is finished when all types are known."""
        if len(members) == 1:
            return members[0]
        node = Node("union", "", members=tuple(members))
        self.places[node] = self.path
        return node

    def of_class(self, cls: Any, arguments: tuple[Any, ...], scope: Scope, is_bare: bool = False) -> Node:
        """Return the node of a class, which may be a generic one with arguments."""
        leaf = leaf_of(cls)
        if leaf is not None:
            kind, shown, facts = leaf
            return self.node(kind, shown, **facts)
        if cls is not tuple and cls not in ITEM_KINDS and cls not in MAPPINGS:
            enum = getattr(sys.modules.get("enum"), "Enum", ())
            if enum and issubclass(cls, enum):
                return self.enum(cls)
            if getattr(cls, "__abstractmethods__", ()) or family_of(cls) is None:
                raise Refused(f"{shown_type(cls)} is not a type that records can have")
        parts = tuple(self.resolve(argument, scope) for argument in arguments if argument is not ... and argument != ())
        if cls in ITEM_KINDS:
            kind = ITEM_KINDS[cls]
            if kind != "list" and parts:
                check_hashable(parts[0], f"an element of a {kind}")
            return self.node(kind, kind, item=parts[0] if parts else self.node("any", "Any"))
        if cls in MAPPINGS:
            key, value = parts or (self.node("any", "Any"),) * 2
            check_hashable(key, "a key of a dict")
            return self.node("dict", "dict", key=key, value=value)
        if cls is tuple:
            if is_bare or arguments[-1:] == (...,):
                return self.node("variadic_tuple", "tuple", item=parts[0] if parts else self.node("any", "Any"))
            return self.node("tuple", "tuple", items=parts)
        return self.record(cls, parts)

    def enum(self, cls: Any) -> Node:
        """Return the node of an Enum."""
        names = dict(cls.__members__)
        by_value: dict[Any, Any] = {}
        for member in names.values():
            try:
                by_value.setdefault(member._value_, member)
            except TypeError:  # not hashable: found by the class alone, or by name
                pass
        node = Node("enum", cls.__name__, cls=cls, by_name=False, by_value=by_value, names=names)
        self.places[node] = self.path
        return node

    def record(self, cls: type, arguments: tuple[Node, ...], form: str = "") -> Node:
        """Return the node of a record class; what it consists of is resolved later."""
        family = family_of(cls)
        assert family is not None
        form = form or family[0]
        shown = cls.__name__ + (f"[{', '.join(node.shown for node in arguments)}]" if arguments else "")
        key = (cls, arguments, form)
        if key not in self.records:
            self.variants[cls] = self.variants.get(cls, 0) + 1
            if self.variants[cls] > MAX_VARIANTS:
                raise Refused(f"{cls.__name__} contains itself with ever other arguments")
            self.records[key] = Record(cls, shown, form)
            self.queue.append((self.records[key], family[1], arguments))
        return self.node("record", shown, record=self.records[key])

    def finish(self, root: Node) -> None:
        """Make each union that is part of a type flat; refuse those whose members have a form in common."""
        todo, seen = [root], {root}
        while todo:
            node = todo.pop(0)
            self.path = self.places.get(node, "")
            if node.kind == "union":
                self.finish_union(node)
            if node.kind == "enum":
                check_enum(node)
            parts = [node.item, node.key, node.value, *(node.items or ()), *(node.members or ())]
            if node.kind == "record":
                parts += [field.node for field in node.record.fields]
            for part in parts:
                if part is not None and self.target(part) not in seen:
                    seen.add(self.target(part))
                    todo.append(self.target(part))

    def finish_union(self, node: Node) -> None:
        members = self.members_of(node, set())
        literals = [member for member in members if member.kind == "literal"]
        if len(literals) > 1:
            merged = self.literal(
                tuple({(type(value), value): value for member in literals for value in member.values}.values())
            )
            members = [merged if member is literals[0] else member for member in members if member not in literals[1:]]
        wide = [member for member in members if member.kind == "any"]
        if wide or len(members) == 1:
            return node.copy_from((wide or members)[0])
        node.members = tuple(members)
        node.shown = " | ".join(member.shown for member in members)
        problem = problem_of(members)
        if problem is not None:
            raise Refused(problem)
        node.forms = tuple(forms_of(member) for member in members)

    def members_of(self, node: Node, seen: set[Node]) -> list[Node]:
        """Return the members of a union and of the unions in it, each once."""
        node = self.target(node)
        if node in seen:
            return []
        seen.add(node)
        if node.kind != "union":
            return [node]
        return [member for part in node.members for member in self.members_of(part, seen)]


def check_hashable(node: Node, what: str) -> None:
    """Refuse a type whose values never have a hash."""
    cls: Any = node.record.cls if node.kind == "record" else None
    if node.kind in ("list", "set", "dict", "bytearray", "ndarray") or cls is not None and cls.__hash__ is None:
        raise Refused(f"{node.shown} cannot be {what}: it has no hash")


def check_enum(node: Node) -> None:
    """Refuse an Enum that has a value which cannot be written."""
    if not node.names and not node.by_name:
        raise Refused(f"{node.shown} has no members")
    for name, member in node.names.items():
        if not node.by_name and form_of_value(member._value_) is None:
            raise Refused(f"{node.shown}.{name} has no scalar as its value: use Annotated[{node.shown}, Name]")


def shown_marker(marker: Any) -> str:
    """Return how a message calls a marker."""
    return marker.__name__ if isinstance(marker, type) else repr(marker)


def shown_type(annotation: Any) -> str:
    """Return how a message calls an annotation."""
    if isinstance(annotation, type) and typing.get_origin(annotation) is None:
        return (
            annotation.__qualname__
            if annotation.__module__ == "builtins"
            else f"{annotation.__module__}.{annotation.__qualname__}"
        )
    return repr(annotation).replace("typing.", "")


def quoted(value: Any) -> str:
    """Return a value of a Literal as it is shown."""
    if isinstance(value, getattr(sys.modules.get("enum"), "Enum", ())):
        return str(value)
    return f'"{value}"' if isinstance(value, str) else repr(value)
