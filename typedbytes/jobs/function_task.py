"""The process of a task whose code is a function.

Started by ``python -m typedbytes.jobs.function_task ROLE MODULE NAME [MODULE NAME]``. MODULE is a module, or the path
of a file that is run as a module; NAME is the function or class in it. The second pair is the job's reducer, for tasks
that need its partition_by.
"""

from __future__ import annotations

import importlib
import os
import runpy
import sys
from operator import attrgetter
from types import SimpleNamespace

from typedbytes import streaming

#: The module or file that is being imported: code that runs then must not start the job that this is a task of.
imported_now: str = ""


def main(role: str, module: str, name: str, *reducer: str) -> None:
    """Run the task; never return."""
    jobs = {"map": "mapper", "combine": "combiner", "reduce": "reducer"}
    functions = {"reducer": _imported(*reducer)} if reducer else {}
    streaming.run(**{**functions, jobs[role]: _imported(module, name)}, argv=[module, role])


def _imported(module, name):
    """Return the function or class."""
    global imported_now
    namespace: object
    imported_now = module
    if os.path.isabs(module):
        sys.path.insert(0, os.path.dirname(module))
        namespace = SimpleNamespace(**runpy.run_path(module, run_name="__typedbytes_job__"))
    else:
        namespace = importlib.import_module(module)
    imported_now = ""
    return attrgetter(name)(namespace)


if __name__ == "__main__":
    main(*sys.argv[1:])
