"""An interpreter without the GIL and with ThreadSanitizer, and many threads on the core.

    python tests/gates/free_threads.py

Builds CPython 3.13 from its source with pyenv's python-build, once, into build/python-tsan (some ten minutes; needs clang).
Extensions there turn the GIL on again unless they say that they do without; so first the promise is looked at that importing
this package does that, with a warning and no crash, and then the threads run with it and without it (PYTHON_GIL=0).

Belongs here: getting that interpreter, the threads, reading the report. It knows nothing of checks. Always true: only reports
with a frame of ours count; threads that share nothing must be clean, and those that share an object may raise RuntimeError.
"""

import os
import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS)]

from gates import workshop  # noqa: E402

VERSION = "3.13.0"
CONFIGURE = "--disable-gil --with-thread-sanitizer --with-pydebug"
FLAGS = "-fsanitize=thread -g -O1"
OURS = ("typedbytes", "_codec", "_stream", "_scan", "_buffer")

WORK = """
import io, threading
import typedbytes as tb
value = [1, "a", 2.5, {"k": (1, 2)}, b"x" * 100, 2**70, None, "\\u20ac"] * 20
data = tb.dumps(value)
encoder, decoder = tb.Encoder(), tb.Decoder()
shared = tb.Reader(io.BytesIO(data * 200))
wrong = []
def work():
    for _ in range(20):
        if tb.loads(tb.dumps(value)) != value or decoder.decode(encoder.encode(value)) != value:
            wrong.append("value")
        if tb.count(data * 3) != 3 or list(tb.Reader(io.BytesIO(data))) != [value]:
            wrong.append("count")
        try:
            next(shared, None)
        except RuntimeError:
            pass
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert not wrong, wrong[:3]
"""


def interpreter():
    """Return the interpreter, built when there is none."""
    folder = workshop.BUILD / "python-tsan"
    python = folder / "bin" / "python3"
    if not python.exists():
        root = subprocess.run(["pyenv", "root"], capture_output=True, text=True, check=True).stdout.strip()
        program = pathlib.Path(root) / "plugins" / "python-build" / "bin" / "python-build"
        environment = {**os.environ, "CC": "clang", "PYTHON_CONFIGURE_OPTS": CONFIGURE, "TSAN_OPTIONS": "report_bugs=0"}
        subprocess.run([program, VERSION, folder], env=environment, check=True)
        packages = ["setuptools>=77", "cython>=3.3,<3.4"]
        subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], env=environment, check=True)
    return python


def main():
    """Build, run the threads with the GIL and without, and look for reports of ours."""
    python = interpreter()
    switches = {"CC": "clang", "CFLAGS": FLAGS, "LDSHARED": "clang -shared -fsanitize=thread"}
    folder = workshop.copy_and_build("free-threads", python, TSAN_OPTIONS="report_bugs=0", **switches)
    nbad = 0
    for gil in ("1", "0"):
        environment = workshop.sees(folder, PYTHON_GIL=gil, TSAN_OPTIONS="halt_on_error=0:exitcode=0")
        done = subprocess.run([python, "-c", WORK], cwd=folder, env=environment, capture_output=True, text=True)
        reports = [part for part in done.stderr.split("WARNING: ThreadSanitizer")[1:] if any(name in part for name in OURS)]
        print(f"PYTHON_GIL={gil}: exit code {done.returncode}, {len(reports)} reports with a frame of ours")
        print("\n".join(reports[:2]), done.stderr[-1000:] if done.returncode else "")
        nbad += gil == "1" and (len(reports) + (done.returncode != 0))
    return 1 if nbad else 0


if __name__ == "__main__":
    sys.exit(main())
