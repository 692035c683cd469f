"""The public modules, classes and functions, found, so that none is forgotten."""

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


def callables_of(modules):
    """Yield the name and the object of each public function, class and method of modules, named as ".block" or ""."""
    for name in modules:
        module = importlib.import_module("typedbytes" + name)
        for public in getattr(module, "__all__", None) or dir(module):
            found = getattr(module, public)
            if callable(found) and not public.startswith("_"):
                yield f"{module.__name__}.{public}", found
                for method, _ in inspect.getmembers(found, inspect.isroutine) if isinstance(found, type) else ():
                    if method in vars(found) and not method.startswith("_"):
                        yield f"{module.__name__}.{public}.{method}", getattr(found, method)
