"""The whole suite, but for Hadoop's jobs, and the fuzz targets, in a copy built with AddressSanitizer and UBSan.

    python tests/gates/sanitize.py [ARGUMENT OF PYTEST ...]

Here: the switches, the environment of such a build, the runs. Not here: tests. Invariant: memory comes from malloc,
since pymalloc's blocks have no red zones; leaks are not looked for here, since an interpreter never frees everything
(leaks.py does); the first report ends the process.
"""

import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from gates import build_copies, figures  # noqa: E402

NAME = "sanitized"  # the first word of a gate that wants this build
SWITCHES = {"TYPEDBYTES_SANITIZE": "1"}
EXECUTIONS = 5_000  # of each target
PARALLEL = ("--numprocesses=auto", "--maxprocesses=8", "--dist=worksteal", "--benchmark-disable")
SUITE = ("-q", "-m", "not hadoop and not unsanitized", *PARALLEL)


def tests(file, *words):
    """Return the gate that is some of the tests in this build."""
    return (NAME, "-m", "pytest", "-x", "-q", f"tests/{file}", *words)


def environment():
    """Return the environment that a process needs to load such extensions."""
    return {
        "LD_PRELOAD": " ".join(library(name) for name in ("libasan.so", "libubsan.so", "libstdc++.so.6")),
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1:handle_segv=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "PYTHONMALLOC": "malloc",
    }


def library(name):
    """Return the path of a library of the compiler's."""
    return subprocess.run(
        ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
    ).stdout.strip()


def main(arguments):
    """Build the copy, and run the suite and the targets."""
    folder = build_copies.copy_and_build("sanitized", **SWITCHES)
    pytest = [sys.executable, "-m", "pytest", *SUITE, *arguments, "tests"]
    fuzz = [sys.executable, "tests/fuzz/run.py", "--executions", EXECUTIONS, "--seed", 1]
    codes = [build_copies.run(folder, *command, **environment()) for command in (pytest, fuzz)]
    print("sanitizers: no report" if not any(codes) else f"sanitizers: exit codes {codes}")
    figures.report(runs=len(codes), failed=sum(code != 0 for code in codes))
    return 1 if any(codes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
