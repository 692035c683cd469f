"""Decorators of mappers."""

from __future__ import annotations

from typedbytes.fronts.dumbo.user_code import in_wrapper
from typedbytes.fronts.dumbo.util import Options
from typedbytes.streaming import lib as ours

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["opt", "primary", "secondary"]


def PrimaryMapper(mapper: Any) -> Any:
    """Return a mapper whose keys are those of the first side of a join."""
    return JoinMapper(mapper, isprimary=True)


def SecondaryMapper(mapper: Any) -> Any:
    """Return a mapper whose keys are those of the second side of a join."""
    return JoinMapper(mapper)


def JoinMapper(mapper: Any, isprimary: bool = False) -> Any:
    """Return a mapper whose keys are those of one side of a join."""
    marked = (ours.primary if isprimary else ours.secondary)(in_wrapper(mapper))
    marked.opts = Options(getattr(mapper, "opts", None))
    return marked


def is_join(mapper: Any, reducer: Any) -> bool:
    """Return whether the keys of an iteration are those of a join."""
    kind = reducer if isinstance(reducer, type) else type(reducer)
    return issubclass(kind, ours.JoinCombiner) or isinstance(mapper, (ours._Marked, ours.MultiMapper))


primary: Callable[[Any], Any] = PrimaryMapper
secondary: Callable[[Any], Any] = SecondaryMapper


class opt:
    """Give a mapper or a reducer an option of the command line."""

    def __init__(self, name: str, value: Any) -> None:
        self._option = name, value

    def __call__(self, func: Any) -> Any:
        """Return the function, which has the option."""
        func.opts = Options([*(getattr(func, "opts", None) or ()), self._option])  # that of a base stays as it is
        return func
