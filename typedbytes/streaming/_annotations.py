"""The types that annotations give to the records of a role.

A parameter whose annotation has a record class in it gets instances of that class, and a return annotation of pairs
says how they are written. Invariant: other annotations change nothing, and cost neither `typing` nor the compiling
of types.
"""

from __future__ import annotations

from typedbytes.streaming.task_environment import NAMES

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["types_of"]

#: What dataclasses, attrs, msgspec and TypedDict leave in their classes; a NamedTuple is known by its base.
MARKS = ("__dataclass_fields__", "__attrs_attrs__", "__struct_fields__", "__required_keys__")
MAX_WRAPPERS = 50  # of one function; what wraps itself, or makes up each attribute, has no end of them


def types_of(role: str, function: Any, is_bound: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options of PairReader and of PairWriter that the annotations of a function mean; mostly none.

    is_bound: whether its first parameter is not one of a record. Raises TypeError for a type that no record can have.
    """
    for _ in range(MAX_WRAPPERS):
        function = getattr(function, "__wrapped__", function)
    given, code = _annotations_of(function), getattr(function, "__code__", None)
    if not given or not isinstance(given, dict) or code is None:
        return {}, {}
    annotations = Annotations(role, given, function.__globals__)
    names = code.co_varnames[is_bound : code.co_argcount]
    reading: dict[str, Any] = {}
    for option, name in zip(("key_type", "value_type"), names[:2] if len(names) > 1 else ()):
        annotation = annotations.get(name)
        if annotation is not None:
            is_values = option == "value_type" and role != "map"
            reading[option] = annotations.item_of(name, annotation) if is_values else annotation
    pairs = annotations.get(names[0]) if len(names) == 1 else None
    if pairs is not None:
        reading = annotations.pairs_of(pairs)
        if not reading:
            raise annotations.refused(names[0], "an iterator of pairs: write Iterator[tuple[key, value]]", pairs)
        if "value_type" in reading and role != "map":
            reading["value_type"] = annotations.item_of(names[0], reading["value_type"])
    returned = annotations.get("return")
    writing = {} if returned is None else annotations.pairs_of(returned)
    annotations.check({**reading, **{f"{name} returned": kind for name, kind in writing.items()}})
    return reading, writing


def _annotations_of(function):
    try:
        return getattr(function, "__annotations__", None)
    except NameError:  # from Python 3.14 on: a name that only type checkers know
        import annotationlib  # type: ignore[import-not-found]

        return annotationlib.get_annotations(function, format=annotationlib.Format.FORWARDREF)


class Annotations:
    """The annotations of one function, and the names that they see."""

    def __init__(self, role: str, found: Mapping[str, Any], names: dict[str, Any]) -> None:
        self._role = role
        self._found = found
        self._names = names

    def get(self, name: str) -> Any:
        """Return the annotation of a parameter if a record class is in it, evaluated, else None."""
        annotation = self._found.get(name)
        if annotation is None or not self._has_record(annotation, {}):
            return None
        import types
        import typing

        holder = types.SimpleNamespace(__annotations__={name: annotation})
        try:
            return typing.get_type_hints(holder, globalns=self._names, include_extras=True)[name]
        except NameError as error:
            raise self._unresolved(annotation, error) from error

    def item_of(self, name: str, annotation: Any) -> Any:
        """Return the type of the items of an annotation such as Iterator[Visit]."""
        item = _item_of(annotation)
        if item is None:
            raise self.refused(name, "an iterator of values: write Iterator[...]", annotation)
        return item

    def refused(self, name: str, said: str, annotation: Any) -> TypeError:
        """Return the error of a parameter that is something else."""
        shown = annotation.__name__ if isinstance(annotation, type) else str(annotation)
        return TypeError(f"{NAMES[self._role]}: the parameter {name!r} is {said}, not {shown}")

    def pairs_of(self, annotation: Any) -> dict[str, Any]:
        """Return the types of keys and of values that have a record class in them, of Iterator[tuple[key, value]]."""
        import typing

        members = [each for each in typing.get_args(annotation) if each is not type(None)]
        if len(members) == 1 and type(None) in typing.get_args(annotation):  # where a role may return None
            annotation = members[0]
        pair = _item_of(annotation)
        kinds = typing.get_args(pair) if typing.get_origin(pair) is tuple else ()
        if len(kinds) != 2 or kinds[1] is ...:
            return {}
        return {option: kind for option, kind in zip(("key_type", "value_type"), kinds) if self._has_record(kind, {})}

    def check(self, kinds: Mapping[str, Any]) -> None:
        """Raise TypeError for a type that no record can have."""
        from typedbytes import Decoder

        for name, kind in kinds.items():
            try:
                Decoder(type=kind)
            except TypeError as error:
                raise TypeError(f"{NAMES[self._role]}: {name.replace('_type', '')}: {error}") from error.__cause__

    def _has_record(self, annotation, seen):
        if annotation is None or id(annotation) in seen:
            return False
        seen[id(annotation)] = annotation  # which keeps its id
        text = annotation if isinstance(annotation, str) else getattr(annotation, "__forward_arg__", None)
        if text is not None:
            return self._has_record(self._evaluated(text), seen)
        origin, parts = getattr(annotation, "__origin__", None), getattr(annotation, "__args__", ())
        if not isinstance(parts, tuple) or not parts and isinstance(annotation, type):  # list[int] may be a type too
            return _is_record_class(annotation)
        if getattr(origin, "_name", "") == "Literal":
            return False
        for name in ("__supertype__", "__value__"):  # of a NewType, of an alias
            parts += (getattr(annotation, name, None),)
        return any(self._has_record(part, seen) for part in (origin, *parts))

    def _evaluated(self, text):
        try:
            return eval(text, self._names)
        except Exception as error:
            code = compile(text, "<annotation>", "eval") if not isinstance(error, SyntaxError) else None
            if not any(_is_record_class(self._names.get(name)) for name in getattr(code, "co_names", ())):
                return None  # of a name that only type checkers know, say
            raise self._unresolved(text, error) from error

    def _unresolved(self, annotation, error):
        return TypeError(f"{NAMES[self._role]}: the annotation {annotation!r} cannot be resolved in the job: {error}")


def _is_record_class(kind):
    if not isinstance(kind, type) or hasattr(kind, "__origin__"):  # list[int] is a type up to Python 3.10
        return False
    return any(hasattr(kind, mark) for mark in MARKS) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))


def _item_of(annotation):
    """Return the type of the items of a generic type that can be iterated over, else None."""
    origin, parts = getattr(annotation, "__origin__", None), getattr(annotation, "__args__", ())
    if origin is tuple and parts[1:] != (...,):
        return None
    if not hasattr(origin, "__iter__") or hasattr(origin, "keys") or _is_record_class(origin):
        return None
    return parts[0] if parts else None
