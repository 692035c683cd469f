"""Names in annotations: what strings and forward references stand for, and a class's own annotations on each Python."""

from __future__ import annotations

import builtins
import sys
import typing

from typedbytes._records.model import Refused

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from typedbytes._records.model import Node

__all__ = ["Scope", "is_form", "own_annotations", "typing_names"]


def typing_names(name: str) -> tuple[Any, ...]:
    """Return what typing, and typing_extensions if it is used, have under a name."""
    modules = (typing, sys.modules.get("typing_extensions"))
    return tuple(getattr(module, name) for module in modules if hasattr(module, name))


def is_form(annotation: Any, name: str) -> bool:
    """Return whether an annotation, or the origin of one, is the special form of a name."""
    return any(annotation is form for form in typing_names(name))


def own_annotations(cls: type) -> Mapping[str, Any]:
    """Return the annotations in the body of a class, not those of its bases; unknown names are forward references."""
    if sys.version_info >= (3, 14):
        import annotationlib

        return annotationlib.get_annotations(cls, format=annotationlib.Format.FORWARDREF)
    found = cls.__dict__.get("__annotations__", {})
    return found if isinstance(found, dict) else {}


_UNION = "typing.Union"  # no name that an annotation can have


class Scope:
    """Where annotations have been written: the names there, and the types that stand for type variables."""

    def __init__(self, owner: Any = None, types: Mapping[Any, Node] | None = None) -> None:
        self.owner = owner  # a class or an alias; None: the annotation was given by itself
        self.types: Mapping[Any, Node] = {} if types is None else types
        self.names = _Names(owner, self.types)

    def without_text(self, annotation: Any) -> Any:
        """Return an annotation, or what it stands for if it is a string or a ForwardRef."""
        seen = set()
        while isinstance(annotation, (str, typing.ForwardRef)):
            if annotation in seen:
                raise Refused(f"{annotation!r} stands for itself")
            seen.add(annotation)
            annotation = self.evaluate(annotation)
        return annotation

    def evaluate(self, reference: Any) -> Any:
        """Return what a string or a ForwardRef stands for; raise Refused where that cannot be found."""
        text = reference if isinstance(reference, str) else reference.__forward_arg__
        if self.owner is None and not getattr(reference, "__forward_module__", None):
            raise Refused(f"{text!r} is only a name: give the class itself")
        if sys.version_info >= (3, 14) and not isinstance(reference, str):
            try:
                return reference.evaluate(type_params=tuple(self.types))
            except NameError:
                pass  # a name that its own scope does not have: the class's own, say
        try:
            return _evaluated(text, self.names.beside(getattr(reference, "__forward_module__", None)))
        except NameError as error:
            where = getattr(self.owner, "__module__", None)
            raise Refused(f"{text!r} cannot be resolved in {where}: {error}") from error
        except RecursionError:
            raise
        except Exception as error:
            raise Refused(f"{text!r} cannot be resolved: {error}") from error


class _Names(dict):
    """The names that a class's annotations see: its module's before its own, as `typing.get_type_hints` has it."""

    def __init__(self, owner: Any, types: Mapping[Any, Node], module: Any = None) -> None:
        self.owner, self.types, self.module = owner, types, module

    def beside(self, module: Any) -> _Names:
        """Return these names after those of another module."""
        return self if module is None else _Names(self.owner, self.types, module)

    def _spaces(self) -> Iterator[Mapping[str, Any]]:
        yield {variable.__name__: variable for variable in self.types}
        own = {self.owner.__name__: self.owner} if self.owner is not None else {}
        is_local = "<locals>" in getattr(self.owner, "__qualname__", "")
        if is_local:
            yield own
        for module in (self.module, getattr(self.owner, "__module__", None)):
            if module is not None:
                module = sys.modules.get(module) if isinstance(module, str) else module
                yield getattr(module, "__dict__", {})
        yield builtins.__dict__  # before the class: a field may be called list
        if isinstance(self.owner, type):
            yield self.owner.__dict__
        yield own

    def __missing__(self, name: str) -> Any:
        for space in self._spaces():
            if name in space:
                return space[name]
        raise KeyError(name)


def _evaluated(text: str, names: Mapping[str, Any]) -> Any:
    source: Any = f"({text}\n)"
    if sys.version_info < (3, 10) and "|" in text:
        source = _without_bars(source)
    return eval(source, {_UNION: typing.Union}, names)


def _without_bars(source: str) -> Any:
    """Compile an annotation whose unions are written as X | Y, which Python 3.9 cannot evaluate."""
    import ast

    def visit(rewriter: ast.NodeTransformer, node: ast.BinOp) -> ast.AST:
        rewriter.generic_visit(node)
        if not isinstance(node.op, ast.BitOr):
            return node
        members = ast.Tuple([node.left, node.right], ast.Load())
        return ast.Subscript(ast.Name(_UNION, ast.Load()), members, ast.Load())

    rewriter = type("Rewriter", (ast.NodeTransformer,), {"visit_BinOp": visit})()
    return compile(ast.fix_missing_locations(rewriter.visit(ast.parse(source, mode="eval"))), "<annotation>", "eval")
