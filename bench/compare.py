"""Measure two commits side by side: the one that is given, and this checkout, as it is built.

    python bench/compare.py HEAD~1                 a few minutes; ratios below 1 are gains
    python bench/compare.py HEAD~1 --only int64    what has that in its name

Here: building the base, two workers, their turns. Invariant: both workers run the benches of this checkout, each with
its own build of the package, in turn and never at once.
"""

import argparse
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import bench_filters
import bench_objects
import bench_streams
import typedbytes as tb
from timing import collector_frozen

ROOT = Path(__file__).resolve().parent.parent
BASES = ROOT / "build" / "bench" / "bases"
LEVELS = {"objects": bench_objects, "streams": bench_streams, "filters": bench_filters}
NROUNDS = 4
#: Ratios this near to 1 are not remarked upon.
NOISE = 0.05
WIDTH = 48
STREAM_SHAPES = ("bool", "small_int", "word_pairs")
FILTERS = ("double_100k", "gb_100k", "list_50", "string_1k_10k")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("--only", default="", help="measure what has this in its name")
    parser.add_argument("--nturns", type=int, default=10, help=f"turns of {NROUNDS} rounds that each has (%(default)s)")
    arguments = parser.parse_args()

    workers = [Worker(build(arguments.base)), Worker(ROOT)]
    print(f"{'ns for a value':<{WIDTH}}{arguments.base[:10]:>12}{'this':>12}{'ratio':>8}")
    ratios = []
    for case in cases():
        if arguments.only in " ".join(case):
            ratios += compare(workers, case, arguments.nturns)
    if ratios:
        print(f"{'geometric mean':<{WIDTH + 24}}{math.exp(sum(map(math.log, ratios)) / len(ratios)):>8.3f}")
    for worker in workers:
        worker.close()


def cases():
    """Yield what is measured: level, operation, shape, contender."""
    for operation, shape in bench_objects.races():
        yield "objects", operation, shape, "typedbytes"
    for operation in ("encode", "decode"):
        yield "objects", operation, "word_pairs", "typedbytes stream"
    for operation in bench_streams.OPERATIONS:
        for shape in STREAM_SHAPES:
            for contender in bench_streams.names(operation, shape):
                if contender.startswith("typedbytes"):
                    yield "streams", operation, shape, contender
    yield "filters", "import", "start", "typedbytes"
    for shape in FILTERS:
        yield "filters", "filter", shape, "typedbytes"


def compare(workers, case, nturns):
    """Measure one case and print its line; return its ratio, nothing unless both can do it."""
    name = " ".join(case)
    for turn in range(nturns):
        first, second = workers if turn % 2 else reversed(workers)
        if None in (first.ask(case), second.ask(case)):
            print(f"{name:<{WIDTH}}  not in both")
            return []
    base, this = (worker.least for worker in workers)
    remark = "" if abs(this / base - 1) < NOISE else "  faster" if this < base else "  SLOWER"
    print(f"{name:<{WIDTH}}{base:>12.2f}{this:>12.2f}{this / base:>8.3f}{remark}", flush=True)
    return [this / base]


# -- the two builds ---------------------------------------------------------------------------------------


def build(base):
    """Return a folder with the package of a commit, built now unless it is there."""
    commit = git("rev-parse", "--verify", f"{base}^{{commit}}")
    folder, checkout = BASES / commit, BASES / f"{commit}.checkout"
    if not folder.exists():
        print(f"building {commit[:10]} ...", file=sys.stderr)
        git("worktree", "add", "--force", "--detach", checkout, commit)
        try:
            install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
            subprocess.run([*install, "--target", folder, checkout], check=True)
        finally:
            git("worktree", "remove", "--force", checkout)
    return folder


def git(*arguments):
    """Return what git says."""
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


class Worker:
    """A process that measures with the package found in a folder; `least` are its nanoseconds for a value."""

    def __init__(self, folder):
        self.least = None
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--worker"],
            env={**os.environ, "PYTHONPATH": str(folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        found = Path(self.answer())
        if folder not in found.parents:
            sys.exit(f"typedbytes came from {found}, not from {folder}")

    def ask(self, case):
        """Let it have a turn; return the least of all its turns so far, None if it cannot do that."""
        self.process.stdin.write(json.dumps(case) + "\n")
        self.process.stdin.flush()
        self.least = self.answer()
        return self.least

    def answer(self):
        """Return what it says next."""
        line = self.process.stdout.readline()
        return json.loads(line) if line else sys.exit("a worker has ended")

    def close(self):
        """End it."""
        self.process.stdin.close()
        self.process.wait()


def work():
    """Be a worker: take a case a line, answer with a number a line."""
    print(json.dumps(tb.__file__), flush=True)
    latest = runner = nvalues = None
    for line in sys.stdin:
        if line != latest:
            latest = line
            runner, nvalues = prepare(*json.loads(line))
        print(json.dumps(runner and take_turn(runner) / nvalues), flush=True)


def prepare(level, operation, shape, contender):
    """Return a runner and the number of its values, nothing if this build cannot do it."""
    bench = LEVELS[level]
    try:
        return bench.runner(operation, shape, contender), bench.nvalues(operation, shape)
    except Exception as error:  # an older package may lack anything
        print(f"{operation} {shape} {contender}: {error!r}", file=sys.stderr)
        return None, None


def take_turn(runner):
    """Run some rounds; return the least nanoseconds of all rounds so far."""
    with collector_frozen():
        for nround in range(NROUNDS):
            runner.take_turn(nround)
    return runner.call_ns


if __name__ == "__main__":
    work() if sys.argv[1:] == ["--worker"] else main()
