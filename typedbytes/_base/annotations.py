"""Annotations of functions that users write: which have a record class in them, and what they mean.

Imported with the first function that may have one. Not here: which parameters count, and what for. Invariant: other
annotations are not evaluated by `typing`, which is not imported for them.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["Annotations", "is_record_class", "unwrapped"]

#: What dataclasses, attrs, msgspec and TypedDict leave in their classes; a NamedTuple is known by its base.
MARKS = ("__dataclass_fields__", "__attrs_attrs__", "__struct_fields__", "__required_keys__")
MAX_WRAPPERS = 50  # of one function; what wraps itself, or makes up each attribute, has no end of them


def unwrapped(function: Any) -> Any:
    """Return the function in its wrappers, which has the annotations."""
    for _ in range(MAX_WRAPPERS):
        function = getattr(function, "__wrapped__", function)
    return function


class Annotations:
    """The annotations of one function, and the names that they see; a function that is not of Python has none."""

    names_are_of = "its module"

    def __init__(self, where: str, function: Any) -> None:
        found, is_python = _annotations_of(function), getattr(function, "__code__", None) is not None
        self._where = where  # what errors say of the function
        self._found: Mapping[str, Any] = found if isinstance(found, dict) and is_python else {}
        self._names = function.__globals__ if self._found else {}

    def __bool__(self) -> bool:
        return bool(self._found)

    def get(self, name: str) -> Any:
        """Return the annotation of a parameter if a record class is in it, evaluated, else None."""
        annotation = self._found.get(name)
        if annotation is None or not self.has_record(annotation, {}):
            return None
        import types
        import typing

        holder = types.SimpleNamespace(__annotations__={name: annotation})
        try:
            return typing.get_type_hints(holder, globalns=self._names, include_extras=True)[name]
        except NameError as error:
            raise self._unresolved(annotation, error) from error

    def has_record(self, annotation: Any, seen: dict[int, Any]) -> bool:
        """Return whether a record class is in an annotation; seen: what was looked at, by id."""
        if annotation is None or id(annotation) in seen:
            return False
        seen[id(annotation)] = annotation  # kept alive, so that its id stays its own
        text = annotation if isinstance(annotation, str) else getattr(annotation, "__forward_arg__", None)
        if text is not None:
            return self.has_record(self._evaluated(text), seen)
        origin, parts = getattr(annotation, "__origin__", None), getattr(annotation, "__args__", ())
        if not isinstance(parts, tuple) or not parts and isinstance(annotation, type):  # list[int] may be a type too
            return is_record_class(annotation)
        if getattr(origin, "_name", "") == "Literal":
            return False
        for name in ("__supertype__", "__value__"):  # of a NewType, of an alias
            parts += (getattr(annotation, name, None),)
        return any(self.has_record(part, seen) for part in (origin, *parts))

    def _evaluated(self, text):
        try:
            return eval(text, self._names)
        except Exception as error:
            code = compile(text, "<annotation>", "eval") if not isinstance(error, SyntaxError) else None
            if not any(is_record_class(self._names.get(name)) for name in getattr(code, "co_names", ())):
                return None  # of a name that only type checkers know, say
            raise self._unresolved(text, error) from error

    def _unresolved(self, annotation, error):
        where = f"in {self.names_are_of}"
        return TypeError(f"{self._where}: the annotation {annotation!r} cannot be resolved {where}: {error}")


def is_record_class(kind: Any) -> bool:
    """Return whether something is a class of records."""
    if not isinstance(kind, type) or hasattr(kind, "__origin__"):  # list[int] is a type up to Python 3.10
        return False
    return any(hasattr(kind, mark) for mark in MARKS) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))


def _annotations_of(function):
    try:
        return getattr(function, "__annotations__", None)
    except NameError:  # from Python 3.14 on: a name that only type checkers know
        import annotationlib  # type: ignore[import-not-found]

        return annotationlib.get_annotations(function, format=annotationlib.Format.FORWARDREF)
