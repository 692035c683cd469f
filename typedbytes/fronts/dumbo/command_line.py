"""The options of the command line of dumbo, from the process that starts a job to its tasks, in a variable.

Not here: what an option means. Invariant: a value that may be secret is in the variable of its own name alone, where
messages leave it out.
"""

from __future__ import annotations

import json
import os
from urllib.parse import quote, unquote

from typedbytes.fronts.dumbo.util import Options
from typedbytes.streaming.task_environment import variable_of_property

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NAMED", "given_to_task", "is_given", "path_as_given", "variable_for_tasks"]

#: Options with NAME=VALUE, which tasks have in their environment.
NAMED = ("jobconf", "hadoopconf", "cmdenv", "param")
VARIABLE = "dumbo_options"


def variable_for_tasks(given: Options, inputs: Sequence[str]) -> dict[str, str]:
    """Return the variable with the options of the command line, and the inputs as it names them."""
    pairs = [(key, str(value).partition("=")[0] if key in NAMED else str(value)) for key, value in given]
    wholes = [(f"file:{os.path.abspath(path)}", path) for path in map(_path_or_folder, inputs)]
    return {VARIABLE: quote(json.dumps([pairs, wholes]), safe="")}  # Hadoop ends a variable at a space


def is_given() -> bool:
    """Return whether dumbo's own command line has started the job of this task."""
    return VARIABLE in os.environ


def given_to_task() -> Options:
    """Return the options of the command line, in a task; none where another command has started the job."""
    return Options([(key, _with_value(key, value)) for key, value in _read()[0]])


def path_as_given(path: str | None) -> str | None:
    """Return the path of a file as the command line names it, or the folder that it is in."""
    for whole, name in _read()[1]:
        if path is not None and (path == whole or path.startswith(f"{whole}/")):
            return os.path.join(name, path[len(whole) + 1 :]) if path != whole else str(name)
    return path


def _path_or_folder(path):
    """Return a path, or of a pattern the folder at its start, which has all that it matches."""
    from typedbytes._base.locations import is_pattern

    start = path
    while start and is_pattern(start) and not os.path.exists(path):
        start = os.path.dirname(start.rstrip("/"))
    return start


def _read():
    return json.loads(unquote(os.environ[VARIABLE])) if is_given() else ([], [])


def _with_value(key, value):
    if key not in NAMED:
        return value
    variable = variable_of_property(value) if key in ("jobconf", "hadoopconf") else value
    return f"{value}={os.environ.get(variable, '')}"
