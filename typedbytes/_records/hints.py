"""The annotations of a record class: its own and its bases', each in the scope that it was written in."""

from __future__ import annotations

import sys
import typing

from typedbytes._records.model import Refused
from typedbytes._records.scopes import Scope, is_form, own_annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, Protocol

    from typedbytes._records.model import Node, Record

    class _Resolver(Protocol):  # resolver.Resolver: it uses this module
        path: str

        def resolve(self, annotation: Any, scope: Scope) -> Node: ...


__all__ = ["Hints"]


class Hints:
    """The annotations of one record class by field."""

    def __init__(self, resolver: _Resolver, record: Record, arguments: tuple[Node, ...]) -> None:
        self.resolver = resolver
        self.record = record
        self.found: dict[str, tuple[Any, Scope]] = {}
        self.seen: set[type] = set()
        is_typed_dict = hasattr(record.cls, "__required_keys__")
        scopes: dict[type, Scope] = {}
        self._visit(record.cls, arguments, scopes)
        order = [*scopes][::-1] if is_typed_dict else record.cls.__mro__[::-1]
        for cls in order:
            scope = scopes.get(cls) or Scope(cls)
            for name, annotation in own_annotations(cls).items():
                if is_typed_dict and self.found.get(name, (None,))[0] is annotation:
                    continue  # a TypedDict has those of its bases too
                self.found[name] = annotation, scope

    def _visit(self, cls: type, arguments: tuple[Node, ...], scopes: dict[type, Scope]) -> None:
        """Note the scope of a class and of its bases, with the types that their type variables have here."""
        if cls in scopes:
            return
        parameters = getattr(cls, "__parameters__", ()) if arguments else ()
        if len(parameters) != len(arguments):
            raise Refused(f"{cls.__name__} takes {len(parameters)} type arguments, not {len(arguments)}")
        scope = scopes[cls] = Scope(cls, dict(zip(parameters, arguments)))
        for base in cls.__dict__.get("__orig_bases__", cls.__bases__):
            origin = typing.get_origin(base) or base
            if isinstance(origin, type) and origin not in (typing.Generic, object):
                given = typing.get_args(base) if getattr(origin, "__parameters__", ()) else ()
                self._visit(origin, tuple(self.resolver.resolve(argument, scope) for argument in given), scopes)

    def annotation(self, name: str) -> Any:
        """Return the annotation of a field, which is not a string any more; Any where there is none."""
        annotation, scope = self.found.get(name, (typing.Any, None))
        return annotation if scope is None else scope.without_text(annotation)

    def node(self, name: str, annotation: Any = None) -> Node:
        """Return the node of a field, of its annotation or of the one that is given instead."""
        _, scope = self.found.get(name, (None, None))
        self.resolver.path = f"{self.record.name}.{name}"
        return self.resolver.resolve(
            self.annotation(name) if annotation is None else annotation, scope or Scope(self.record.cls)
        )

    def without_qualifiers(self, name: str) -> tuple[Any, bool | None]:
        """Return the annotation of a TypedDict's key without its qualifiers, and whether it is required.

        The qualifiers are Required, NotRequired and ReadOnly; None: it has neither of the first two.
        """
        annotation, required = self.annotation(name), None
        extras: list[Any] = []
        while True:
            if isinstance(annotation, (str, typing.ForwardRef)):
                annotation = self.found[name][1].without_text(annotation)
            origin = typing.get_origin(annotation)
            if origin is typing.Annotated:
                extras += annotation.__metadata__
                annotation = annotation.__origin__
            elif is_form(origin, "Required"):
                required, annotation = True, annotation.__args__[0]
            elif is_form(origin, "NotRequired"):
                required, annotation = False, annotation.__args__[0]
            elif is_form(origin, "ReadOnly"):
                annotation = annotation.__args__[0]
            else:
                return (typing.Annotated[(annotation, *extras)] if extras else annotation), required

    def without_unset(self, name: str) -> tuple[Any, bool]:
        """Return the annotation of a Struct's field without UnsetType, and whether it had that."""
        annotation = self.annotation(name)
        unset = getattr(sys.modules.get("msgspec"), "UnsetType", None)
        members = typing.get_args(annotation)
        if unset is None or unset not in members or typing.get_origin(annotation) is typing.Annotated:
            return annotation, False
        return typing.Union[tuple(member for member in members if member is not unset)], True
