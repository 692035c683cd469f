"""Whole processes from stdin to stdout, files both: the 17 files of the old benchmark, and starting up.

Here: which program gets which file. Invariant: the time is the CPU time of the process from its birth to its end, in
itself and in the kernel, as the kernel counts it for the parent.
"""

import compileall
import subprocess
import sys
from functools import cache, partial
from pathlib import Path

import pytest

import old_files
import typedbytes as tb
from timing import Runner, cpu_of_children_ns

PROGRAMS = Path(__file__).resolve().parent / "filters"
#: By contender: the program, after options of the interpreter, and whether it reads the file's twin in marshal.
FILTERS = {
    "empty process": ("empty.py", False),
    "typedbytes": ("typedbytes_loop.py", False),
    "typedbytes bulk": ("typedbytes_bulk.py", False),
    "typedbytes raw": ("typedbytes_raw.py", False),
    "typedbytes copy": ("typedbytes_copy.py", False),
    "typedbytes drop-in": ("typedbytes_legacy.py", False),
    "typedbytes drop-in bulk": ("typedbytes_legacy_bulk.py", False),
    "typedbytes drop-in unbuffered": ("-u typedbytes_legacy.py", False),
    "marshal": ("whole_marshal.py", True),
}
MODULES = ("typedbytes", "msgspec", "msgpack", "ormsgpack", "cbor2", "orjson", "pickle")
#: By contender: what its process says.
IMPORTS = {"empty process": "pass", **{module: f"import {module}" for module in MODULES}}
OPERATIONS = {"import": IMPORTS, "filter": FILTERS}


# -- filters ----------------------------------------------------------------------------------------------


def run_filter(program, ends):
    """Run a program from one file to another."""
    source, sink = ends
    *options, name = program.split()
    subprocess.run([sys.executable, *options, PROGRAMS / name], stdin=source, stdout=sink, check=True)


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


def filter_runner(name, contender, scale):
    """Return a filter ready to run."""
    program, of_twin = FILTERS[contender]
    path = old_files.make(name, scale)[of_twin]
    run, prepare = partial(run_filter, program), partial(open_ends, path)
    runner = Runner(contender, run, prepare, path.stat().st_size, False, close_ends, cpu_of_children_ns, turn_ncalls=1)
    runner.correct = is_right(runner, path)
    return runner


def is_right(runner, path):
    """Run once, and say whether the output matches the input; an empty process gives nothing."""
    ends = runner.prepare(0)
    runner.run(ends)
    runner.finish(ends)
    given, made = path.read_bytes(), sink_of(path).read_bytes()
    if runner.name == "empty process":
        return not made
    return made == given or path.suffix == ".tb" and old_files.decode(made) == old_files.decode(given)


# -- starting up ------------------------------------------------------------------------------------------


def run_statement(statement, ends):
    """Run a process that executes one statement."""
    subprocess.run([sys.executable, "-c", statement], check=True, stderr=subprocess.DEVNULL)


def import_runner(contender):
    """Return the start of a process ready to run, or None if what it imports is not installed."""
    run = partial(run_statement, IMPORTS[contender])
    try:
        run(None)
    except subprocess.CalledProcessError:
        return None
    return Runner(contender, run, lambda nround: None, 0, True, clock=cpu_of_children_ns, turn_ncalls=1)


@cache
def compile_bytecode():
    """Make the bytecode of the package, which an installer makes, also where the interpreter must not write it."""
    compileall.compile_dir(Path(tb.__file__).parent, quiet=2)


# -- runners ----------------------------------------------------------------------------------------------


def runner(operation, name, contender, scale=1):
    """Return a process ready to run, or None if it needs what is not installed."""
    compile_bytecode()
    return filter_runner(name, contender, scale) if operation == "filter" else import_runner(contender)


@cache
def nvalues(operation, name, scale=1):
    """Return the number of keys and values in a file; a start counts as one."""
    return tb.count(old_files.make(name, scale)[0].read_bytes()) if operation == "filter" else 1


def names(operation, name):
    """Return the contenders of an operation."""
    return list(OPERATIONS[operation])


def races():
    """Yield the operations and their files."""
    yield "import", "start"
    for name in old_files.NAMES:
        yield "filter", name


CASES = [(*race, name) for race in races() for name in names(*race)]


@pytest.mark.benchmark(timer=lambda: cpu_of_children_ns() / 1e9)
@pytest.mark.parametrize(("operation", "name", "contender"), CASES)
def bench_filters(measure, scale, operation, name, contender):
    measure(f"{operation} {name}", runner(operation, name, contender, scale), nvalues(operation, name, scale))
