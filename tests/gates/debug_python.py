"""References and blocks on an interpreter built for debugging, which counts every reference and checks every block.

    python tests/gates/debug_python.py [--thorough]

Takes Debian's, python3.11-dbg (apt-get install python3-dbg python3-venv). Here: running leaks.py and the core's tests
on it. Not here: what they look for. Invariant: its virtual environment and its copy of the sources are under build/.
"""

import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(HERE))

from gates import build_copies  # noqa: E402

DEBIAN = "python3.11-dbg"
PACKAGES = [
    "numpy", "attrs", "msgspec", "typing-extensions", "pytest", "hypothesis", "setuptools>=77", "cython>=3.3,<3.4",
]  # fmt: skip
#: An assertion of the interpreter that fails ends the process.
MARKS = "codec or debug"


def interpreter():
    """Return an interpreter built for debugging."""
    found = shutil.which(DEBIAN)
    if not found:
        sys.exit(f"{DEBIAN} was not found: apt-get install python3-dbg python3-venv")
    return found


def environment_of(python):
    """Return the Python of a virtual environment with what the tests need, made when there is none."""
    venv = build_copies.BUILD / "venv-debug"
    inside = venv / "bin" / "python"
    if not (venv / "complete").exists():
        subprocess.run([python, "-m", "venv", "--clear", venv], check=True)
        subprocess.run(
            [inside, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--upgrade", *PACKAGES],
            check=True,
        )
        (venv / "complete").touch()
    return inside


def main(arguments):
    """Count leaks and run the core's tests."""
    python = environment_of(interpreter())
    folder = build_copies.copy_and_build("debug", python)
    codes = [
        build_copies.run(folder, python, "tests/gates/leaks.py", *arguments),
        build_copies.run(folder, python, "-m", "pytest", "-q", "-x", "-m", MARKS, "tests"),
    ]
    return 1 if any(codes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
