"""The public modules and classes, found by their files, so that none is forgotten."""

import importlib
import inspect
import pathlib

import typedbytes as tb

PACKAGE = pathlib.Path(tb.__file__).parent


def public_modules():
    """Return the modules that users import, by name: no part of that starts with an underscore. The command is not for import."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if "cli" not in parts and not any(part.startswith("_") for part in parts):
            found[".".join(parts)] = importlib.import_module(".".join(parts))
    return found


def closable():
    """Yield the public classes that a with statement closes."""
    for module in public_modules().values():
        for each in module.__all__:
            kind = getattr(module, each)
            if inspect.isclass(kind) and hasattr(kind, "close") and (hasattr(kind, "__enter__") or hasattr(kind, "__aenter__")):
                yield kind
