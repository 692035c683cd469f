"""Which lines and branches of the core the suite reaches, counted by the compiler, and which lines of Python.

    python tests/gates/line_coverage.py [ARGUMENT OF PYTEST ...]

The core is built twice with counters (gcc's --coverage): as it is, for the whole suite but Hadoop's jobs, and with the
public API alone, for the codec's tests, so that both forms of the headers' functions are counted. The C that Cython
makes says from which source line it came. Python's lines are counted by coverage.py meanwhile.

A branch is an outcome of a decision in our sources: of an `if`, a loop, an `and`, a comparison of `min`.
What Cython adds to find out whether a call has failed is counted apart, as outcomes of calls: most of them
fail only without memory.

Here: the builds and the counts. Not here: tests. Invariant: a line of the core that is not reached fails this gate, but
for those that only gigabytes of memory reach, which are listed and reported.
"""

import collections
import functools
import json
import pathlib
import re
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from gates import build_copies, figures  # noqa: E402
from typedbytes import _core  # noqa: E402

MIN_BRANCHES = 0.9
MIN_PYTHON = 0.95
WHOLE, PORTABLE = "coverage", "coverage-portable"
COUNTED = "not hadoop and not uncounted"
#: Run without coverage.py, as what is `untraced`: it traces where an exception cannot be raised.
SIGNALS = "signal or interrupt or interpreter"
#: These lines, and what it would take to reach them.
UNREACHABLE = {
    ("block/coalesce_threads.pxi", "raise_errno(failed)"): "a system that refuses a mutex",
    (
        "core/codec/pickle/write.pxi",
        "return raise_too_long(e, PICKLE, total)",
    ): "a value whose pickle has 2 GiB, of parts that are smaller",
    ("columns/widen.pxi", 'raise SystemError("a null that has no encoding")'): "a column with nulls of no kind",
    (
        "core/cpython_decimal.h",
        "return (void)kind, (void)text",
    ): "a build that knows no layout of Decimals, and so never asks",
    (
        "_sorting/text_input.pxi",
        'raise LimitError("a line has more than 2^31-1 bytes as UTF-8"',
    ): "a line of 2 GiB in memory",
    ("_sorting/text_input.pxi", "return TOO_LONG"): "the same",
    (
        "_sorting/sorter.pxi",
        'raise LimitError(f"a record is longer than {MAX_ARENA_NBYTES} bytes"',
    ): "a record of 4 GiB in memory",
}
#: Functions that only a build without the GIL calls; likewise the line after "if NO_GIL".
WITHOUT_GIL = (
    "encode_shared_list", "try_store_shared", "release_strings", "free_strings_at_thread_end",
)  # fmt: skip
NO_GIL = "an interpreter without the GIL"
WIDE_LOOPS = "core/utf8/avx512.h"

LOCATION = re.compile(r'\s*/\* "(?:src/)?(?:typedbytes/)?([\w/]+\.p\w+)":(\d+)$')
LOCATIONS_END = re.compile(r'\s*/\* (?:"\(tree fragment\)"|function exit code)')
OUR_FUNCTION = re.compile(r"__pyx_(?:pf|f|gb)_")  # bodies; wrappers and the module's own start are Cython's
HEAD = re.compile(r"\s*(?:def |@|cdef class|cdef [^=]*\(.*[:,]$|cdef [^=]*\)( \w+)*( except.*)?:$)")
CHECK = re.compile(r"__PYX_ERR|\b(?:un)?likely\(|exc_type|__Pyx_Iter|if \(size > |switch \(__pyx_t|__Pyx_Raise")
NAMES = re.compile(r"__pyx_t_\d+|__pyx_L\d+\w*|\b\d+\b")  # names in C that differ between copies of one source line


class Counts:
    """How often each line was reached, and each outcome of its branches and of its calls."""

    def __init__(self):
        self.lines = collections.Counter()
        self.branches = collections.defaultdict(collections.Counter)
        self.calls = collections.defaultdict(collections.Counter)

    def add_header(self, name, lines):
        """Count the lines of a C header."""
        for line in lines:
            location = name, line["line_number"]
            self.lines[location] += line["count"]
            for number, branch in enumerate(line["branches"]):
                self.branches[location][number] += branch["count"]

    def add_generated(self, text, lines):
        """Count the lines of C that Cython made, for the source lines that they say they come from."""
        counted = collections.defaultdict(list)
        for line in lines:
            if OUR_FUNCTION.match(line.get("function_name", "")):
                counted[line["line_number"]].append(line)
        location, is_first, is_final = None, False, False
        for number, words in enumerate(text, 1):
            found = LOCATION.match(words)
            if found:
                location, is_first, is_final = (found[1], int(found[2])), True, False
            elif LOCATIONS_END.match(words):
                location = None
            elif "/*finally:*/" in words:
                is_final = True  # one exit follows the other, each with its own copy of the body
            elif location:
                self.add_line(location, words, counted[number], is_first or is_final)
                is_first = is_first and not counted[number]

    def add_line(self, location, words, lines, is_reached):
        """Count a line of C; is_reached: whether it counts as reaching the source line."""
        table = self.calls if CHECK.search(words) else self.branches
        for line in lines:
            if is_reached:
                self.lines[location] += line["count"]
            for number, branch in enumerate(line["branches"]):
                table[location][NAMES.sub("", words), number] += branch["count"]


def count(folders):
    """Return the counts of these builds together."""
    counts = Counts()
    for folder in folders:
        for data in sorted(folder.glob("build/temp*/**/*.gcda")):
            words = ["gcov", "--json-format", "--stdout", "--branch-probabilities", data]
            found = json.loads(subprocess.run(words, cwd=folder, capture_output=True, check=True).stdout)
            for file in found["files"]:
                path = folder / file["file"]
                if path.suffix == ".c":
                    counts.add_generated(path.read_text("utf-8").split("\n"), file["lines"])
                elif "src/typedbytes/" in file["file"]:
                    # below the folder, or in the copies that Cython makes below build/cython
                    counts.add_header(file["file"].rpartition("src/typedbytes/")[2], file["lines"])
    return counts


@functools.cache
def source_of(name):
    """Return the lines of a source."""
    return (build_copies.ROOT / "src" / "typedbytes" / name).read_text("utf-8").split("\n")


def texts(locations):
    """Return the source text of each location."""
    return {(name, number): source_of(name)[number - 1].strip() for name, number in locations}


def judge(counts):
    """Print what was not reached, and return the figures and whether they are good enough."""
    sources = texts({*counts.lines, *counts.branches, *counts.calls})
    lines = {
        location: times
        for location, times in counts.lines.items()
        if location[0].endswith(".h") or not HEAD.match(sources[location])
    }
    missed = []
    for location in sorted(location for location, times in lines.items() if not times):
        why = why_unreachable(*location)
        print(f"line     {location[0]}:{location[1]}  {sources[location]}" + (f"    takes {why}" if why else ""))
        missed += [location] * (not why)
    outcomes, bad = outcomes_of(counts.branches, lines, sources, "branch")
    calls, uncalled = outcomes_of(counts.calls, lines, sources, None)
    totals = dict(
        lines=len(lines), lines_missed=len(missed), branches=outcomes, branches_missed=bad, calls=calls,
        calls_missed=uncalled,
    )  # fmt: skip
    return totals, not missed and share(totals, "branches") >= MIN_BRANCHES


def why_unreachable(name, number):
    """Return what it would take to reach a line, None for one that a test can reach."""
    if name == WIDE_LOOPS and not has_wide_vectors():
        return "a processor with AVX-512"
    lines = source_of(name)
    head = next((line for line in reversed(lines[:number]) if line[:1].isalpha()), "")
    if lines[number - 2].lstrip().startswith("if NO_GIL") or any(f"{function}(" in head for function in WITHOUT_GIL):
        return NO_GIL
    return why_listed(name, lines[number - 1].strip())


def why_listed(name, text):
    """Return what UNREACHABLE says of a line, or None."""
    return next((why for (file, start), why in UNREACHABLE.items() if name == file and text.startswith(start)), None)


@functools.cache
def has_wide_vectors():
    """Return whether this processor runs the loops over 64 bytes."""
    return _core._limit_vectors(2) == 2


def outcomes_of(table, lines, sources, kind):
    """Return how many outcomes there are and how many never came; name those when they have a kind."""
    total, missed = 0, 0
    for location, outcomes in sorted(table.items()):
        if location in lines and not sources[location].startswith("except BaseException"):
            never = sum(not times for times in outcomes.values())
            total += len(outcomes)
            missed += never
            if never and kind:
                print(f"{kind}   {location[0]}:{location[1]}  {never} of {len(outcomes)}: {sources[location]}")
    return total, missed


def run(arguments):
    """Build both copies and run the suite in them; return them, and whether all tests passed."""
    folders = [build_copies.copy_and_build(WHOLE, TYPEDBYTES_TRACE="1")]
    folders.append(build_copies.copy_and_build(PORTABLE, TYPEDBYTES_TRACE="1", TYPEDBYTES_PORTABLE="1"))
    for folder in folders:
        for data in [*folder.glob("build/temp*/**/*.gcda"), *folder.glob(".coverage*")]:
            data.unlink()
    traced = f"{COUNTED} and not untraced"
    runs = [
        (folders[0], ["-m", "coverage", "run"], traced, ["-k", f"not ({SIGNALS})"]),
        (folders[0], [], traced, ["-k", SIGNALS]),
        (folders[0], [], f"{COUNTED} and untraced", []),
        (folders[1], [], f"{COUNTED} and (codec or portable) and not unportable", []),
    ]
    codes = [
        build_copies.run(
            folder, sys.executable, *tracer, "-m", "pytest", "-q", "-m", marks, *arguments, *words, "tests"
        )
        for folder, tracer, marks, words in runs
    ]
    return folders, not any(codes)


def python_lines(folder):
    """Print the lines of Python that were not reached; return how many there are, and how many of them were missed."""
    for words in (["combine", "--quiet"], ["report"], ["json", "-q", "-o", "python-lines.json"]):
        subprocess.run([sys.executable, "-m", "coverage", *words], cwd=folder, check=True)
    totals = json.loads((folder / "python-lines.json").read_text("utf-8"))["totals"]
    return totals["num_statements"], totals["missing_lines"]


def main(arguments):
    """Run, count and judge."""
    folders, passed = run(arguments)
    statements, missing = python_lines(folders[0])
    totals, enough = judge(count(folders))
    totals.update(python_lines=statements, python_lines_missed=missing)
    for part in ("lines", "branches", "calls", "python_lines"):
        print(
            f"{part.replace('_', ' '):<16}{totals[part]:>6}  missed {totals[part + '_missed']:>5}  "
            f"{share(totals, part):6.1%}"
        )
    figures.report(**totals)
    return 0 if passed and enough and share(totals, "python_lines") >= MIN_PYTHON else 1


def share(totals, part):
    """Return which share of something was reached."""
    return 1 - totals[f"{part}_missed"] / totals[part]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
