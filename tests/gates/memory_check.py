"""The vectors and the corpus under valgrind: no read of what was never written, nothing beyond a block, in any build.

    python tests/gates/memory_check.py

Wants valgrind (Debian: apt-get install valgrind). Here: that run, and reading its report. Not here: checks. Invariant:
only errors in our code count, since the interpreter and its libraries have some of their own; a read of uninitialised
memory is planted first and must be found.
"""

import pathlib
import re
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from gates import build_copies, figures  # noqa: E402

SOURCES = build_copies.ROOT / "src" / "typedbytes"
MODULES, HEADERS = ("|".join({path.stem for path in SOURCES.rglob(names)}) for names in ("*.pyx", "*.h"))
#: A frame in a module of ours; where it has lines, a function of Cython's, since the interpreter has a _report.c too,
#: or one in a header.
OURS = re.compile(
    rf"(by|at) 0x[0-9A-F]+: (__[Pp]yx\w+ \(({MODULES})\.c:|.*\(({HEADERS})\.h:|.*\(in .*/typedbytes/.*\.so\))"
)
INTERPRETER = "_PyEval_EvalFrameDefault"  # frames below it called us, frames above it we called
NWIRES = 200

WORK = f"""
import io, sys
import typedbytes
from typedbytes._report import _native as _report
from fuzz import inputs, options as sets
from gates import leaks
planted = sys.argv[1:] == ["planted"]
if planted:
    import ctypes
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    block = libc.malloc(64)
    leaks.attempt(typedbytes.loads, (ctypes.c_char * 64).from_address(block), {{}})
maker = inputs.Maker("valgrind")
wires = [*inputs.seeds()[::4], *(maker.wire()[:4000] for _ in range({NWIRES}))]
objects = leaks.objects()[::3]
for subjects, operations, tables in ((wires, leaks.DECODING, sets.DECODE), (objects, leaks.ENCODING, sets.ENCODE)):
    for number, subject in enumerate(subjects[:1] if planted else subjects):
        for call in operations.values():
            leaks.attempt(call, subject, tables[number % len(tables)])
_report.lines(typedbytes.dumps("\\1" * (1 << 20)))  # output that grows far
"""


def errors_of_ours(report):
    """Return the errors of a report that happened in our code, or in what it called without the interpreter between."""
    return [block for block in re.split(r"\n==\d+== \n", report) if OURS.search(block.split(INTERPRETER)[0])]


def check(folder, *arguments):
    """Run the work under valgrind and return our errors in it."""
    words = ["valgrind", "--quiet", "--error-limit=no", "--num-callers=30", sys.executable, "-c", WORK, *arguments]
    environment = build_copies.environment_for(folder, PYTHONMALLOC="malloc")
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise RuntimeError(f"exit code {done.returncode}\n{done.stderr[-4000:]}")
    return errors_of_ours(done.stderr)


def main():
    """See that valgrind finds what is planted, and nothing else."""
    folder = build_copies.copy_and_build("valgrind")
    if not check(folder, "planted"):
        print("valgrind did not find the planted error")
        return 1
    errors = check(folder)
    print("\n\n".join(errors[:5]))
    print(f"valgrind: {len(errors)} errors of ours")
    figures.report(errors=len(errors))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
