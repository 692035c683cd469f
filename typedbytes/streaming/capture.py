"""The steps of a script, in this process: it runs up to its call of run(), and no task does.

Here: running it as python would. Not here: tasks. Invariant: its modules stay imported, so that its functions work
afterwards; arguments, streams and the environment are those of this process again.
"""

from __future__ import annotations

import os
import sys
import types
from contextlib import contextmanager
from importlib.machinery import SourceFileLoader

from typedbytes.streaming.task_environment import Captured

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

__all__ = ["NoCallError", "captured", "environment_of", "run_as_main", "write_error"]


class NoCallError(LookupError):
    """A script ends without a call of run()."""


def captured(
    script: str, words: Sequence[str] = ("steps",), environ: Mapping[str, str] | None = None, wanted: str = "steps"
) -> Any:
    """Return what a script gives to run(): its steps, a list of Step.

    words: those after its name. wanted: "steps", or "job" for what a front calls its job. The module __main__ is the
    script's from then on. Raises NoCallError for a script that ends without a call of run().
    """
    path = os.path.abspath(script)
    sys.path.insert(0, os.path.dirname(path))
    before, Captured.wanted = (sys.argv, sys.stdout), wanted
    try:
        sys.argv, sys.stdout = [path, *words], sys.stderr
        with environment_of({**os.environ, **(environ or {})}):
            names = run_as_main(path)
            if Captured.after is not None:
                Captured.after(names)
    except Captured as found:
        return found.found
    finally:
        Captured.wanted = ""
        sys.argv, sys.stdout = before
    raise NoCallError(f"{script} ends without a call of streaming.run(...)")


def run_as_main(path: str) -> dict[str, Any]:
    """Run a script as the module __main__, which it stays, and return its names."""
    main = types.ModuleType("__main__")
    loader = SourceFileLoader("__main__", path)
    main.__dict__.update(__file__=path, __builtins__=__builtins__, __loader__=loader, __cached__=None)
    with open(path, "rb") as file:
        code = compile(file.read(), path, "exec", dont_inherit=True)
    sys.modules["__main__"] = main
    exec(code, main.__dict__)
    return main.__dict__


def write_error(error: BaseException) -> None:
    """Write the error of a script to standard error, with its traceback from the script's first line on."""
    from typedbytes.streaming._reporter import write_failure

    write_failure([], error)


@contextmanager
def environment_of(variables: Mapping[str, str]) -> Iterator[None]:
    """Have exactly these variables in the environment."""
    before = dict(os.environ)
    try:
        _change_environment(variables)
        yield
    finally:
        _change_environment(before)


def _change_environment(variables):
    """Have exactly these variables; others are not touched, which another thread may read."""
    for name in os.environ.keys() - variables.keys():
        del os.environ[name]
    for name, value in variables.items():
        if os.environ.get(name) != value:
            os.environ[name] = value
