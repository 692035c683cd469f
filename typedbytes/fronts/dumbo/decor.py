"""Decorators of mappers."""

from __future__ import annotations

from typedbytes.fronts.dumbo.lib import PrimaryMapper as primary, SecondaryMapper as secondary
from typedbytes.fronts.dumbo.util import Options

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from typing import Any

__all__ = ["opt", "primary", "secondary"]


class opt:
    """Give a mapper or a reducer an option of the command line."""

    def __init__(self, name: str, value: Any) -> None:
        self._option = name, value

    def __call__(self, func: Any) -> Any:
        """Return the function, which has the option."""
        if not hasattr(func, "opts"):
            func.opts = Options()
        func.opts.add(*self._option)
        return func
