"""The modules that a script imports, which are shipped with it or must be on the nodes; and the functions that it calls.

Here: finding imports and calls in source code. Not here: Hadoop. Invariant: no code is imported
or run; only imports at the top level of a script count, not those in a function or a try.
"""

import ast
import importlib.machinery
import os
import sys
import sysconfig

from typedbytes.hadoop._submit_errors import OptionError, SubmitError


def local_modules(script, bundled=()):
    """Return the paths of the modules beside a script that it imports, directly or not, and the names of all others.

    A package is a folder. Raises SubmitError for a script that does not exist or is not Python, and for a package beside it
    whose name is not in `bundled`.
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
                        f"{script} imports the package {name} beside it, and Hadoop's -files takes no folders: put it into the "
                        f"bundle with --module {package}"
                    )
                files.append(package)
            else:
                others.add(name)
    return sorted(files), others


def third_party(names):
    """Return the names of modules that are not in the standard library, except typedbytes."""
    return sorted(name for name in names if name not in ("typedbytes", "__main__") and not _is_standard(name))


def is_importable(name):
    """Return whether a module could be imported here."""
    return importlib.machinery.PathFinder.find_spec(name) is not None


def calls(script, name):
    """Return whether a script calls a function or method of that name. Raises SubmitError as `local_modules` does."""
    return any(_name(node.func) == name for node in ast.walk(_parse(script)) if isinstance(node, ast.Call))


def roles(script):
    """Return whether a script gives ``streaming.run(...)`` a "combine" and a "reduce"; None where its source does not say.

    Raises SubmitError as `local_modules` does.
    """
    found = _calls_of_run(script)
    return {role: _has_argument(found, number, name) for role, number, name in (("combine", 2, "combiner"), ("reduce", 1, "reducer"))}


def has_steps(script):
    """Return whether a script gives ``streaming.run(...)`` steps. Raises SubmitError as `local_modules` does."""
    return any(each.arg == "steps" for call in _calls_of_run(script) for each in call.keywords)


def _calls_of_run(script):
    tree = _parse(script)
    ours = {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom)) and _is_ours(node)
        for alias in node.names
    }
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _root(node.func) in ours and _name(node.func) == "run"]


def _is_ours(node):
    names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    return any(name.partition(".")[0] == "typedbytes" for name in names)


def _name(function):
    return getattr(function, "id", getattr(function, "attr", None))


def _root(function):
    while isinstance(function, ast.Attribute):
        function = function.value
    return getattr(function, "id", None)


def _has_argument(found, number, name):
    """Return whether one of these calls has an argument, by its number or its name; None if they do not say."""
    answers = [_argument(call, number, name) for call in found]
    return None if not answers or (None in answers and True not in answers) else True in answers


def _argument(call, number, name):
    given = [*call.args[number : number + 1], *(each.value for each in call.keywords if each.arg == name)]
    if not given:
        is_open = any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords)
        return None if is_open else False
    return None if isinstance(given[0], ast.Starred) else not (isinstance(given[0], ast.Constant) and given[0].value is None)


def _parse(path):
    try:
        with open(path, "rb") as file:
            return ast.parse(file.read(), path)
    except OSError as error:
        raise OptionError(f"the script {path} cannot be read: {error.strerror}") from None
    except (SyntaxError, ValueError) as error:
        raise OptionError(f"{path} is not Python {sys.version_info[0]}.{sys.version_info[1]}: {error}") from None


def _imported_modules(path):
    names: set[str] = set()
    for node in _parse(path).body:
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
