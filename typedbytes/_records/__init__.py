"""Types as programs: an annotation is resolved here, once, and the core compiles and runs what comes out.

Imported with the first type that is given: a task without one imports neither this package nor `typing` at its start.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from typedbytes._records.model import Node

__all__ = ["named_type", "native_of", "program_of", "resolve"]

MAX_PROGRAMS = 512  # kept, with their classes

_programs: dict[Any, Any] = {}


def resolve(annotation: Any) -> Node:
    """Return what an annotation says, which may be a Node already.

    Raises TypeError, with the field's path, where it cannot be a type of records.
    """
    from typedbytes._records.model import Node

    if isinstance(annotation, Node):
        return annotation
    from typedbytes._records.resolver import Resolver

    return Resolver().run(annotation)


def named_type(name: str) -> Any:
    """Return the class, or another type of records, that MODULE:CLASS names.

    Raises ValueError with the reason why there is none.
    """
    import pkgutil

    module, colon, path = name.partition(":")
    if not (module and colon and path):
        raise ValueError(f"expected MODULE:CLASS, such as visits:Visit, not {name!r}")
    try:
        found = pkgutil.resolve_name(name)
        resolve(found)
    except (Exception, SystemExit) as error:  # of the module too
        raise ValueError(f"{name}: {type(error).__name__}: {error}") from error
    return found


def native_of(cls: type) -> Node | None:
    """Return how instances of a record class or an Enum are written where no type is given; None for any other class.

    Nothing is said of the fields' types, whose annotations are not looked at. Python's own containers and scalars, and
    what derives from them (a NamedTuple, a TypedDict, an IntEnum), have their forms already.
    """
    from typedbytes._records.native import native_of

    return native_of(cls)


def program_of(annotation: Any, compile_node: Callable[[Node], Any]) -> Any:
    """Return the program of an annotation, as `compile_node` has made it the first time."""
    # Unions are equal whatever the order of their members, which errors show,
    # and which decides what two of them could read.
    key = annotation if getattr(annotation, "__args__", None) is None else (annotation, repr(annotation))
    try:
        program = _programs.get(key)
    except TypeError:  # not hashable, such as Annotated[int, []]
        return compile_node(resolve(annotation))
    if program is None:
        program = compile_node(resolve(annotation))
        if len(_programs) >= MAX_PROGRAMS:
            _programs.clear()
        _programs[key] = program
    return program
