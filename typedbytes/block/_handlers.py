"""Handlers of calls by their annotations: a parameter with a record class in it gets instances of that class.

Here: the values before and after a function. Not here: which annotations have a record class, which _base.annotations
knows. Invariant: a function without such an annotation is its own handler, and costs nothing more.
"""

from __future__ import annotations

from typedbytes._base.annotations import Annotations, unwrapped
from typedbytes._core import Decoder, Encoder, loads
from typedbytes.block._native import Encoded
from typedbytes.errors import DecodeError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["typed_handler"]

CO_VARARGS = 4
CONTAINERS = (8, 9, 10)  # VECTOR, LIST and MAP


def typed_handler(where: str, handler: Callable[..., Any], options: dict[str, Any]) -> Callable[..., Any]:
    """Return a handler that takes and returns what the annotations of another one say; mostly that one.

    where: what errors call it. options: default and pickle, as of a BlockEncoder. Raises TypeError for an annotation
    with a record class in it that is not a type that records can have.
    """
    if isinstance(handler, type):
        return handler
    function = handler if hasattr(handler, "__code__") else handler.__call__  # type: ignore[operator]
    is_bound = getattr(function, "__self__", None) is not None
    function = unwrapped(function)
    annotations = Annotations(where, function)
    if not annotations:
        return handler
    code = function.__code__
    names = list(code.co_varnames[: code.co_argcount])[is_bound:]
    given = {name: annotations.get(name) for name in names}
    if code.co_flags & CO_VARARGS:
        rest = code.co_varnames[code.co_argcount + code.co_kwonlyargcount]
        given[rest] = annotations.get(rest)
    returned = annotations.get("return")
    if returned is None and not any(kind is not None for kind in given.values()):
        return handler
    decoders = [_Argument(where, name, kind, options) for name, kind in given.items()]
    encoder = None if returned is None else _of_type(f"{where}: returned", Encoder, returned, options)
    return _Typed(handler, decoders[: len(names)], decoders[len(names) :], encoder)


def _of_type(where, make, kind, options):
    try:
        return make(type=kind, **options)
    except TypeError as error:
        raise TypeError(f"{where}: {error}") from error.__cause__


class _Argument:
    """What a parameter takes; anything if its annotation has no record class in it."""

    def __init__(self, where, name, kind, options):
        self.name = name
        self.decode = None
        if kind is not None:
            self.encode = Encoder(**options).encode
            self.decode = _of_type(f"{where}: {name}", Decoder, kind, {"pickle": options["pickle"]}).decode

    def of(self, value):
        """Return the argument of a value that came; raise TypeError where it does not fit."""
        if self.decode is None:
            return value
        try:
            return self.decode(self.encode(value))
        except DecodeError as error:
            raise TypeError(f"{error.message}, argument {self.name}{error.path}") from None


class _Typed:
    """A function between the values of a message and those of its annotations."""

    def __init__(self, function, named, rest, encoder):
        self.function = function
        self.named = named
        self.rest = rest
        self.encoder = encoder

    def __call__(self, *values):
        arguments = [argument.of(value) for argument, value in zip(self.named, values)]
        more = values[len(self.named) :]
        returned = self.function(*arguments, *([self.rest[0].of(value) for value in more] if self.rest else more))
        if self.encoder is None:
            return returned
        data = self.encoder.encode(returned)
        return Encoded(data) if data[0] in CONTAINERS else loads(data)
