"""The process of a task whose code is a function: ``python -m typedbytes.local._function ROLE PLACE NAME [PLACE NAME]``.

PLACE is a module, or the path of a file that is run as a module; NAME is the function or class in it. Behind them are those of the
job's reducer where the other tasks have to know it, since it says by which part of the keys they meet in it.
"""

import importlib
import os
import runpy
import sys
from operator import attrgetter

from typedbytes import streaming


def main(role, place, name, *reducer):
    """Run the task; never returns."""
    jobs = {"map": "mapper", "combine": "combiner", "reduce": "reducer"}
    found = {"reducer": _found(*reducer)} if reducer else {}
    streaming.run(**{**found, jobs[role]: _found(place, name)}, argv=[place, role])


def _found(place, name):
    """Return the function or class."""
    if os.path.isabs(place):
        sys.path.insert(0, os.path.dirname(place))
        module = _Names(runpy.run_path(place, run_name="__typedbytes_job__"))
    else:
        module = importlib.import_module(place)
    return attrgetter(name)(module)


class _Names:
    """The names of a file, as attributes."""

    def __init__(self, names):
        self.__dict__.update(names)


if __name__ == "__main__":
    main(*sys.argv[1:])
