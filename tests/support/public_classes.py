"""The public modules and classes, found, so that none is forgotten."""

import importlib
import inspect

import typedbytes as tb


def public_modules():
    """Return the modules that users import, by name; others without an underscore are what packages share."""
    names = ("typedbytes", *(f"typedbytes.{name}" for name in (*tb._MODULES, "streaming.lib", "streaming.testing")))
    return {name: importlib.import_module(name) for name in names}


def closable():
    """Yield the public classes that a with statement closes."""
    for module in public_modules().values():
        for each in module.__all__:
            kind = getattr(module, each)
            if (
                inspect.isclass(kind)
                and hasattr(kind, "close")
                and (hasattr(kind, "__enter__") or hasattr(kind, "__aenter__"))
            ):
                yield kind
