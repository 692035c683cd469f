"""The modules that a script imports, which are shipped with it or must be on the nodes.

Here: finding imports in source code. Not here: Hadoop. Invariant: no code is imported
or run; only imports at the top level of a script count, not those in a function or a try.
"""

from __future__ import annotations

import ast
import importlib.machinery
import os
import sys
import sysconfig

from typedbytes.jobs.errors import SubmitError
from typedbytes.jobs.source import parsed

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Container, Iterable


def local_modules(script: str, bundled: Container[str] = ()) -> tuple[list[str], set[str]]:
    """Return the paths of the modules beside a script that it imports, directly or not, and the names of all others.

    A package is a folder. Raises SubmitError for a script that does not exist or is not Python, and for a package
    beside it whose name is not in `bundled`.
    """
    folder = os.path.dirname(os.path.abspath(script))
    files: list[str] = []
    others: set[str] = set()
    seen: set[str] = set()
    todo = [script]
    while todo:
        for name in sorted(_imported_modules(todo.pop()) - seen):
            seen.add(name)
            path, package = os.path.join(folder, f"{name}.py"), os.path.join(folder, name)
            if os.path.exists(path) and not os.path.exists(os.path.join(package, "__init__.py")):
                files.append(path)
                todo.append(path)
            elif name != "typedbytes" and os.path.isdir(package) and _holds_python(package):
                if name not in bundled:
                    raise SubmitError(
                        f"{script} imports the package {name} beside it, and Hadoop's -files takes no folders: "
                        f"put it into the bundle with --module {package}"
                    )
                files.append(package)
            else:
                others.add(name)
    return sorted(files), others


def third_party(names: Iterable[str]) -> list[str]:
    """Return the names of modules that are not in the standard library, except typedbytes."""
    return sorted(name for name in names if name not in ("typedbytes", "__main__") and not _is_standard(name))


def is_importable(name: str) -> bool:
    """Return whether a module could be imported here."""
    return importlib.machinery.PathFinder.find_spec(name) is not None


def _imported_modules(path):
    names: set[str] = set()
    for node in parsed(path).body:
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add(str(node.module).partition(".")[0])
    return names


def _holds_python(folder):
    return any(name.endswith(".py") for name in os.listdir(folder))


def _is_standard(name):
    if name in sys.builtin_module_names:
        return True
    folders = [sysconfig.get_path("stdlib"), sysconfig.get_config_var("DESTSHARED")]
    return importlib.machinery.PathFinder.find_spec(name, folders) is not None
