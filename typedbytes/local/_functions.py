"""The commands of tasks whose code is a function, or a command itself.

Here: how a process finds a function. Invariant: a task is a process of its own,
which finds its code as Hadoop's would: in a file.
"""

from __future__ import annotations

import importlib
import os
import shlex
import sys
from operator import attrgetter

from typedbytes.jobs.errors import CommandError
from typedbytes.jobs.paths import absolute
from typedbytes.jobs.script import FUNCTION_START

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["command_of"]


def command_of(role: str, code: Any, reducer: Any = None) -> list[str] | None:
    """Return the words of a command, for a function, a class, a command line or its words; None for None.

    reducer: the job's, whose partition_by its other tasks need too.
    """
    if code is None:
        return None
    if isinstance(code, (str, list, tuple)):
        words = shlex.split(code) if isinstance(code, str) else [os.fspath(word) for word in code]
        if not words:
            raise CommandError(f"{code!r} is a command of no words")
        return words
    return [
        *FUNCTION_START,
        role,
        *_import_path_of(code),
        *(_import_path_of(reducer) if hasattr(reducer, "partition_by") else ()),
    ]


def _import_path_of(code):
    """Return where a process finds a function: the file or the module, and the name in it."""
    name, module = getattr(code, "__qualname__", None), getattr(code, "__module__", None)
    if name is None or module is None or "<" in name:
        raise CommandError(
            f"{code!r} has no name by which another process can import it: define it at the top level of a module"
        )
    if _found(module, name) != code:
        raise CommandError(
            f"another process would not find {code!r} as {name} of {module}: "
            "give it a name of its own at the top level of a module"
        )
    if module != "__main__":
        return module, name
    path = getattr(sys.modules["__main__"], "__file__", None)
    if path is None:
        raise CommandError(
            f"{name} was defined interactively, where no other process can import it: put it into a file, "
            "or pass inline=True"
        )
    return absolute(path), name


def _found(module, name):
    """Return what has a name in a module, None if nothing has."""
    try:
        return attrgetter(name)(importlib.import_module(module))
    except (ImportError, AttributeError):
        return None
