"""What the source of a script says: which roles it gives ``streaming.run(...)``, and whether it has steps.

Here: finding calls in source code. Not here: which modules a script imports, and asking a script itself. Invariant: no
code is imported or run.
"""

from __future__ import annotations

import ast
import sys

from typedbytes.jobs.errors import CommandError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["Source", "parsed"]

FROM_PYTHON_2 = "where it is Python 2, 2to3 -w, which comes with Python up to 3.12, changes the syntax"


class Source:
    """The source of a script, a Python file; raises CommandError for a file that cannot be read or is not Python."""

    def __init__(self, script: str) -> None:
        self._tree = parsed(script)
        self._calls = _calls_of_run(self._tree)

    @property
    def calls_any_run(self) -> bool:
        """Whether it calls a function or method named run, of ours or others."""
        return any(_name(node.func) == "run" for node in ast.walk(self._tree) if isinstance(node, ast.Call))

    @property
    def is_front(self) -> bool:
        """Whether it imports a library's names from typedbytes.fronts, which say what its steps are."""
        return self.imports("typedbytes.fronts")

    def imports(self, module: str) -> bool:
        """Return whether it imports a module, or what is in it."""
        return any(f"{name}.".startswith(f"{module}.") for node in ast.walk(self._tree) for name in _imported(node))

    @property
    def calls_run(self) -> bool:
        """Whether it calls ``streaming.run(...)`` itself."""
        return bool(self._calls)

    @property
    def has_steps(self) -> bool:
        """Whether it gives ``streaming.run(...)`` steps."""
        return any(each.arg == "steps" for call in self._calls for each in call.keywords)

    @property
    def has_params(self) -> bool:
        """Whether it gives ``streaming.run(...)`` the class of its parameters."""
        return any(each.arg == "params" for call in self._calls for each in call.keywords)

    @property
    def has_mapper(self) -> bool | None:
        """Whether it gives ``streaming.run(...)`` a mapper; None where it does not say."""
        return _has_argument(self._calls, 0, "mapper")

    @property
    def roles(self) -> dict[str, bool | None]:
        """Whether it gives ``streaming.run(...)`` a "combine" and a "reduce"; None where it does not say."""
        arguments = ("combine", 2, "combiner"), ("reduce", 1, "reducer")
        return {role: _has_argument(self._calls, number, name) for role, number, name in arguments}


def parsed(path: str) -> ast.Module:
    """Return the tree of a Python file. Raises CommandError."""
    try:
        with open(path, "rb") as file:
            return ast.parse(file.read(), path)
    except OSError as error:
        raise CommandError(f"the script {path} cannot be read: {error.strerror}") from None
    except (SyntaxError, ValueError) as error:
        if path.endswith(".pyc"):
            raise CommandError(f"{path} is compiled Python: name the .py that it was made of") from None
        message = f"{path} is not Python {sys.version_info[0]}.{sys.version_info[1]}: {error}"
        raise CommandError(message, hint=FROM_PYTHON_2) from None


def _calls_of_run(tree: ast.Module) -> list[ast.Call]:
    ours = {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        if any(name.partition(".")[0] == "typedbytes" for name in _imported(node))
        for alias in node.names
    }
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _root(node.func) in ours and _name(node.func) == "run"
    ]


def _imported(node: ast.AST) -> list[str]:
    """Return the names of the modules that a node imports."""
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [each.name for each in node.names] if isinstance(node, ast.Import) else []


def _name(function: ast.expr) -> Any:
    return getattr(function, "id", getattr(function, "attr", None))


def _root(function: ast.expr) -> Any:
    while isinstance(function, ast.Attribute):
        function = function.value
    return getattr(function, "id", None)


def _has_argument(calls: list[ast.Call], number: int, name: str) -> bool | None:
    """Return whether one of these calls has an argument, by its number or its name; None if they do not say."""
    answers = [_argument(call, number, name) for call in calls]
    return None if not answers or (None in answers and True not in answers) else True in answers


def _argument(call: ast.Call, number: int, name: str) -> bool | None:
    given = [*call.args[number : number + 1], *(each.value for each in call.keywords if each.arg == name)]
    if not given:
        is_open = any(isinstance(each, ast.Starred) for each in call.args) or any(
            each.arg is None for each in call.keywords
        )
        return None if is_open else False
    if isinstance(given[0], ast.Starred):
        return None
    return not (isinstance(given[0], ast.Constant) and given[0].value is None)
