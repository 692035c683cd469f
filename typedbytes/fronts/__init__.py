"""The names of older libraries, for scripts that run unchanged: mrjob, dumbo, hadoopy and pydoop.

    from typedbytes.fronts.mrjob.job import MRJob       one line of the script is another
    python -m typedbytes.fronts script.py ...           or none is: the script finds the names where it imports them
    typedbytes run --as mrjob script.py INPUT

Each is a translation to `jobs.Job` and `streaming.Step`: there is no engine here, and no code of those libraries. What
they have that is not here is in docs/guides/old-scripts.md.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys

from typedbytes.jobs.fronts import FRONTS
from typedbytes.jobs.messages import option_named
from typedbytes.streaming.task_environment import Captured

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any

__all__ = ["install"]


def __dir__() -> list[str]:
    return __all__


def install() -> None:
    """Put the modules of this package where a script imports those of the libraries, installed or not."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
        Captured.after = _run_functions


def check_library(script: str, front: str) -> None:
    """Raise OptionError for a script that imports another library than that of its front, and not this one.

    A script of pydoop may import none.
    """
    from typedbytes.jobs.errors import CommandError, OptionError
    from typedbytes.jobs.source import Source

    try:
        source = Source(script)
    except CommandError:  # what starts it says why
        return
    found = [name for name in FRONTS if source.imports(name) or source.imports(f"{__name__}.{name}")]
    if found and front not in found:
        raise OptionError(f"{script} imports {found[0]}, not {front}: give " + option_named("front", found[0]))


def _run_functions(names: dict[str, Any]) -> None:
    """Run what a script of pydoop has defined: such a script ends without a call of its own."""
    from typedbytes.fronts.started import is_started_by_engine

    if not ("mapper" in names or callable(names.get("__main__"))):
        return
    if is_started_by_engine(sys.argv):
        from typedbytes.fronts.pydoop.mapreduce.pipes import run_module

        run_module(names)
    elif not any(f"{__name__}.{name}" in sys.modules for name in FRONTS if name != "pydoop"):
        sys.exit(f"a script of pydoop is started by typedbytes run --as pydoop {sys.argv[0]} INPUT")


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds mrjob.job as typedbytes.fronts.mrjob.job: the same module under both names."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a module that is here; None leaves it to others, whose ImportError names it."""
        if name.partition(".")[0] not in FRONTS or importlib.util.find_spec(f"{__name__}.{name}") is None:
            return None
        return importlib.machinery.ModuleSpec(name, self)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """Return the module of this package."""
        module = importlib.import_module(f"{__name__}.{spec.name}")
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing but give the module its own spec again: it has been run."""
        module.__spec__ = self._spec


def run_script(words: Sequence[str]) -> None:
    """Run a script with its words, the first of which is its path, as python does."""
    import os
    import runpy

    install()
    sys.argv[:] = words
    sys.path[0] = os.path.dirname(os.path.realpath(words[0]))
    _run_functions(runpy.run_path(words[0], run_name="__main__"))
