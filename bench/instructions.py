"""Count the instructions of the hot paths with callgrind: a number that no busy neighbour changes.

    python bench/instructions.py             count, and compare with bench/instructions.json
    python bench/instructions.py --check     the same; fail where there are more than the bound allows
    python bench/instructions.py --update    count, and write bench/instructions.json

Here: the paths that are counted, and the comparison. Invariant: counts of another interpreter, compiler, C library,
valgrind or processor are not compared; then it says so, and does not fail.
"""

import argparse
import gc
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections import deque
from functools import partial
from pathlib import Path

import contenders
import data
import typedbytes as tb

RECORD = Path(__file__).with_suffix(".json")
BOUND = 0.01
SCALES = 0.1, 0.4
#: Not shorter texts that are not ASCII: whether one is taken for known depends on its address.
SHAPES = (
    "bool", "small_int", "int32", "int64", "wide_int", "double", "ascii_8", "text_1000", "bytes_100", "word_pairs",
    "tuple_2", "dict_5",
)  # fmt: skip
CALLED_EACH = ("small_int", "ascii_8", "dict_5")
STREAM_SHAPE = "small_int"
#: callgrind writes what it has counted, and counts from nothing, each time the process is about to call this.
MARK = "getppid"
FEATURES = ("avx2", "bmi2")  # AVX-512 is not among them: valgrind hides it from the programs that it runs
#: The lowest count of this many turns is taken: now and then a turn does work that an earlier
#: one left to the allocator.
NTIMES = 3
#: What is left out. Allocators of the interpreter and the C library: a block takes more instructions where it fills its
#: pool, lies in the upper part of an arena or cannot grow where it is. All this depends on what was mapped and made
#: before, even on the length of this file's path. And the C library's copies: it has one for each kind of processor.
LEFT_OUT = re.compile(
    r"_?Py(Object|Mem)_(Raw)?(Malloc|Calloc|Realloc|Free)|_PyObject_Arena\w+"
    r"|new_arena|allocate_from_new_pool|insert_to_\w+pool"
    r"|(_int_|sys)?(malloc|calloc|realloc|free)(_consolidate|_mmap)?|systrim|\w+_(chunk|perturb)"
    r"|mmap(64)?|munmap|mremap|s?brk|__mem(cpy|move|set)_\w+"
)
#: All of the environment that the counted process sees: the size of the rest would move its stack.
KEPT = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "VIRTUAL_ENV") if name in os.environ}
#: Long copies in one kind of loop: the processor's own instruction for them would count once for each byte, and the
#: loop for the longest depends on the cache's size and on where the bytes lie.
KEPT["GLIBC_TUNABLES"] = ":".join(
    f"glibc.cpu.x86_{name}_threshold=1000000000" for name in ("rep_movsb", "rep_stosb", "non_temporal")
)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--check", action="store_true", help="fail where there are too many")
    choice.add_argument("--update", action="store_true", help="write the record")
    choice.add_argument("--run", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        run_marked()
        return
    if shutil.which("valgrind") is None:
        give_up("valgrind is not installed")
    here = {"environment": environment(), "instructions_per_value": count()}
    if arguments.update:
        RECORD.write_text(json.dumps(here, indent=1) + "\n")
    record = json.loads(RECORD.read_text())
    if record["environment"] != here["environment"]:
        give_up(f"recorded with {record['environment']}", f"counted with  {here['environment']}")
    too_many = compare(record["instructions_per_value"], here["instructions_per_value"])
    if too_many and arguments.check:
        sys.exit(
            f"more than {BOUND:.0%} more instructions than recorded: {', '.join(too_many)}.\n"
            "Find out why, or show in the same change what the instructions are for and run `make -C bench "
            "instructions-update`."
        )


def give_up(*reasons):
    """Say loudly that nothing was compared, and end without failing."""
    print("=" * 30, "INSTRUCTIONS WERE NOT COMPARED", "=" * 30, *reasons, "=" * 93, sep="\n", file=sys.stderr)
    sys.exit(0)


def compare(recorded, counted):
    """Print both counts for each path; return the paths that take too many."""
    print(f"{'instructions for a value':<28}{'recorded':>10}{'now':>10}{'':>9}")
    for name, now in counted.items():
        before = recorded.get(name)
        change = "new" if before is None else f"{now / before - 1:+.1%}"
        print(f"{name:<28}{before or 0:>10.1f}{now:>10.1f}{change:>9}")
    return [name for name, now in counted.items() if name in recorded and now > recorded[name] * (1 + BOUND)]


# -- what is counted --------------------------------------------------------------------------------------


def paths(scale):
    """Yield the name of each path, a function that takes it, and for how many values."""
    for name in SHAPES:
        items = data.SHAPES[name].items(scale=scale)
        codec = contenders.codec("typedbytes stream" if name in data.PAIRS else "typedbytes", data.SHAPES[name])
        nvalues = data.count_values(items)
        yield f"encode {name}", partial(codec.dumps, items), nvalues
        yield f"decode {name}", partial(codec.loads, codec.dumps(items)), nvalues
        if name in CALLED_EACH:
            yield f"encode each {name}", partial(call_each, codec.dumps, items), nvalues
            yield f"decode each {name}", partial(call_each, codec.loads, list(map(codec.dumps, items))), nvalues
    yield from stream_paths(data.SHAPES[STREAM_SHAPE].items(scale=scale))


def call_each(function, arguments):
    """Call a function with each argument and discard the results."""
    deque(map(function, arguments), maxlen=0)


def stream_paths(items):
    """Yield the paths of streams of pairs."""
    encoded = tb.Encoder().encode_all(items)
    pairs = list(zip(items[::2], items[1::2]))
    sink = os.open(os.devnull, os.O_WRONLY)

    def read():
        for key, value in tb.PairReader(encoded):
            pass

    def write():
        with tb.PairWriter(sink) as writer:
            for key, value in pairs:
                writer.write(key, value)

    def copy():
        with tb.PairWriter(sink) as writer:
            writer.writes(tb.PairReader(encoded))

    for path in (read, write, copy):
        yield f"{path.__name__} pairs of {STREAM_SHAPE}", path, len(items)


def run_marked():
    """Take each path to warm up, and then between marks, at both sizes; print its name and the number of values."""
    for scale in SCALES:
        for name, path, nvalues in list(paths(scale)):
            path()
            gc.collect()
            gc.freeze()
            for _ in range(NTIMES):
                os.getppid()
                path()
            os.getppid()
            print(name, nvalues, sep="\t")


def count():
    """Return the instructions for one more value on each path: what the larger size takes beyond the smaller one."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "callgrind")
        lines = run_under_callgrind(out)
        totals = [least(out, index * (NTIMES + 1)) for index in range(len(lines))]
    half, counts = len(lines) // 2, {}
    for index, (name, nvalues) in enumerate(lines[:half]):
        more_values = int(lines[half + index][1]) - int(nvalues)
        counts[name] = round((totals[half + index] - totals[index]) / more_values, 2)
    return counts


def run_under_callgrind(out):
    """Run this file in a process of its own, with callgrind's files named like `out`; return its fields.

    It runs once without callgrind before: a process that compiles its modules takes up to 1 % more than one
    that finds their byte code.
    """
    command = [sys.executable, __file__, "--run"]
    callgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", f"--dump-before={MARK}"]
    environ = {**KEPT, "PYTHONHASHSEED": "0"}
    subprocess.run(command, env=environ, stdout=subprocess.DEVNULL, check=True)
    run = subprocess.run(callgrind + command, env=environ, capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    return [line.split("\t") for line in run.stdout.splitlines()]


def least(out, nfiles):
    """Return the lowest count of a path's turns.

    nfiles: the number of dumps before this path's; the first dump precedes its first turn.
    """
    return min(total(Path(f"{out}.{nfiles + 2 + turn}")) for turn in range(NTIMES))


def total(path):
    """Return the number of instructions in one of callgrind's files, without what is left out and what that calls.

    A line of costs belongs to the function last named by fn=, or, after calls=, to the one that it calls, named
    by cfn=: then it says again what that one took with all that it called. A name is written once, and its
    number alone from there on.
    """
    ninstructions, names, called = 0, {}, False
    for line in path.read_text().splitlines():
        if mention := re.match(r"(c?)fn=(\(\d+\))(?: (.+))?", line):
            of_callee, number, name = mention.groups()
            if name:
                names[number] = LEFT_OUT.fullmatch(name.partition(".")[0]) is not None
            if of_callee:
                leaves_out_callee = names[number]
            else:
                leaves_out = names[number]
        elif re.match(r"[\d+*-]", line):
            cost = int(line.split()[1])
            if not called and not leaves_out:
                ninstructions += cost
            elif called and leaves_out and not leaves_out_callee:
                ninstructions -= cost
            called = False
        else:
            called = line.startswith("calls=")
    return ninstructions


def environment():
    """Return what the counts depend on, beside our own sources."""
    compiler = shlex.split(sysconfig.get_config_var("CC"))[0]
    flags = re.search(r"^flags.*", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return {
        "python": " ".join((platform.python_version(), *platform.python_build(), platform.python_compiler())),
        "compiler": first_line(compiler, "--version"),
        "libc": " ".join(platform.libc_ver()),
        "valgrind": first_line("valgrind", "--version"),
        "processor": " ".join([platform.machine(), *(name for name in FEATURES if flags and name in flags[0].split())]),
    }


def first_line(*command):
    """Return the first line that a command prints."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()[0]


if __name__ == "__main__":
    main()
