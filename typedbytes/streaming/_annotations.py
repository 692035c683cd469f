"""The types that annotations give to the records of a role.

A parameter whose annotation has a record class in it gets instances of that class, and a return annotation of pairs
says how they are written. Invariant: other annotations change nothing, and cost neither `typing` nor the compiling
of types.
"""

from __future__ import annotations

from typedbytes._base.annotations import Annotations, is_record_class, unwrapped
from typedbytes.streaming.task_environment import NAMES

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["types_of"]


def types_of(role: str, function: Any, is_bound: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options of PairReader and of PairWriter that the annotations of a function mean; mostly none.

    is_bound: whether its first parameter is not one of a record. Raises TypeError for a type that no record can have.
    """
    function = unwrapped(function)
    annotations = RoleAnnotations(NAMES[role], function)
    if not annotations:
        return {}, {}
    names = function.__code__.co_varnames[is_bound : function.__code__.co_argcount]
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


class RoleAnnotations(Annotations):
    """The annotations of the function of a role."""

    names_are_of = "the job"

    def item_of(self, name: str, annotation: Any) -> Any:
        """Return the type of the items of an annotation such as Iterator[Visit]."""
        item = _item_of(annotation)
        if item is None:
            raise self.refused(name, "an iterator of values: write Iterator[...]", annotation)
        return item

    def refused(self, name: str, said: str, annotation: Any) -> TypeError:
        """Return the error of a parameter that is something else."""
        shown = annotation.__name__ if isinstance(annotation, type) else str(annotation)
        return TypeError(f"{self._where}: the parameter {name!r} is {said}, not {shown}")

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
        return {option: kind for option, kind in zip(("key_type", "value_type"), kinds) if self.has_record(kind, {})}

    def check(self, kinds: Mapping[str, Any]) -> None:
        """Raise TypeError for a type that no record can have."""
        from typedbytes import Decoder

        for name, kind in kinds.items():
            try:
                Decoder(type=kind)
            except TypeError as error:
                raise TypeError(f"{self._where}: {name.replace('_type', '')}: {error}") from error.__cause__


def _item_of(annotation):
    """Return the type of the items of a generic type that can be iterated over, else None."""
    origin, parts = getattr(annotation, "__origin__", None), getattr(annotation, "__args__", ())
    if origin is tuple and parts[1:] != (...,):
        return None
    if not hasattr(origin, "__iter__") or hasattr(origin, "keys") or is_record_class(origin):
        return None
    return parts[0] if parts else None
