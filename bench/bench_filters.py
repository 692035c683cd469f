"""Whole processes from standard input to standard output, files both: the 17 files of the old benchmark, and starting up.

What belongs here: which program gets which file. What is always true in it: the time is the CPU time of the process from its
birth to its end, in itself and in the kernel, as the kernel counts it for whoever waits for it.
"""

import subprocess
import sys
from functools import partial
from pathlib import Path

import old_files
import pytest
import typedbytes as tb
from timing import Race, Runner, cpu_of_children_ns

PROGRAMS = Path(__file__).resolve().parent / "filters"
#: By contender: the program, and whether it reads the file's twin in marshal.
FILTERS = {
    "empty process": ("empty.py", False),
    "typedbytes": ("typedbytes_loop.py", False),
    "typedbytes bulk": ("typedbytes_bulk.py", False),
    "typedbytes raw": ("typedbytes_raw.py", False),
    "marshal": ("whole_marshal.py", True),
}
IMPORTS = ("typedbytes", "msgspec", "msgpack", "ormsgpack", "cbor2", "orjson", "pickle")


def run_filter(program, ends):
    """Run a program from one file to another."""
    source, sink = ends
    subprocess.run([sys.executable, PROGRAMS / program], stdin=source, stdout=sink, check=True)


def open_ends(path, nround):
    """Open what a filter reads and what it writes."""
    return path.open("rb"), sink_of(path).open("wb")


def close_ends(ends):
    """Close both."""
    for file in ends:
        file.close()


def sink_of(path):
    """Return where what comes from a file goes."""
    return path.with_name("sink")


def filter_runner(name, contender, scale=1):
    """Return a filter ready to run."""
    program, of_twin = FILTERS[contender]
    path = old_files.make(name, scale)[of_twin]
    runner = Runner(
        contender,
        partial(run_filter, program),
        partial(open_ends, path),
        path.stat().st_size,
        False,
        close_ends,
        cpu_of_children_ns,
    )
    runner.correct = is_right(runner, path)
    return runner


def is_right(runner, path):
    """Run once, and tell whether what came out stands for what went in; an empty process gives nothing."""
    ends = runner.prepare(0)
    runner.run(ends)
    runner.finish(ends)
    given, made = path.read_bytes(), sink_of(path).read_bytes()
    if runner.name == "empty process":
        return not made
    return made == given or path.suffix == ".tb" and old_files.decode(made) == old_files.decode(given)


def run_import(statement, ends):
    """Run a process that imports something, or nothing."""
    subprocess.run([sys.executable, "-c", statement], check=True)


def import_runner(module):
    """Return the start of a process that imports a module, or None if it is not installed."""
    statement = f"import {module}" if module else "pass"
    if module and subprocess.run([sys.executable, "-c", statement], stderr=subprocess.DEVNULL).returncode:
        return None
    return Runner(
        module or "empty process", partial(run_import, statement), lambda nround: None, 0, True, clock=cpu_of_children_ns
    )


def race(operation, shape, scale=1):
    """Return the race of all filters on a file, or of all imports."""
    if operation == "import":
        runners = [import_runner(module) for module in (None, *IMPORTS)]
        return Race("filters", operation, shape, 1, [found for found in runners if found])
    nvalues = tb.count(old_files.make(shape, scale)[0].read_bytes())
    return Race("filters", operation, shape, nvalues, [filter_runner(shape, name, scale) for name in FILTERS])


def races():
    """Yield what stands for a race: operation and file."""
    yield "import", "start"
    for name in old_files.NAMES:
        yield "filter", name


@pytest.mark.benchmark(timer=lambda: cpu_of_children_ns() / 1e9)
@pytest.mark.parametrize("contender", FILTERS)
@pytest.mark.parametrize("name", old_files.NAMES)
def bench_filters(measure, scale, name, contender):
    nvalues = tb.count(old_files.make(name, scale)[0].read_bytes())
    measure(name, filter_runner(name, contender, scale), nvalues)


@pytest.mark.benchmark(timer=lambda: cpu_of_children_ns() / 1e9)
@pytest.mark.parametrize("module", (None, *IMPORTS))
def bench_imports(measure, module):
    measure("import", import_runner(module), 1)
