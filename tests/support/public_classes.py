"""The public classes, found by the stubs of the public modules, so that none is forgotten."""

import importlib
import inspect
import pathlib
import re

import typedbytes as tb

PACKAGE = pathlib.Path(tb.__file__).parent


def closable():
    """Yield the public classes that a with statement closes."""
    for path in PACKAGE.rglob("*.pyi"):
        if not re.match("_[^_]", path.name):
            name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).replace(".__init__", "")
            module = importlib.import_module(name)
            for each in module.__all__:
                kind = getattr(module, each)
                if inspect.isclass(kind) and hasattr(kind, "close") and (hasattr(kind, "__enter__") or hasattr(kind, "__aenter__")):
                    yield kind
