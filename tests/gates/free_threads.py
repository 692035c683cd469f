"""An interpreter without the GIL and with ThreadSanitizer, and many threads on the core.

    python tests/gates/free_threads.py

Builds CPython 3.13 from Debian's source package, once, into ~/.cache/typedbytes (some ten minutes; needs clang with its
sanitizers, make and apt-get). The threads run with the GIL (PYTHON_GIL=1) and without it, each on values of its own and
all on one ring of calls; without it they also share and change containers and objects.

Here: getting that interpreter, the threads, reading the report. Not here: checks. Invariant:
only reports with a frame of ours count, and there must be none.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))

from gates import build_copies, figures  # noqa: E402

CACHE = (
    pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "typedbytes" / "python3.13-tsan"
)
SOURCE = "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {mirror} trixie main"
CONFIGURE = ["--disable-gil", "--with-thread-sanitizer", "--with-pydebug", "--without-ensurepip"]
BUILDERS = ["setuptools>=77", "cython>=3.3,<3.4"]
QUIET = {"TSAN_OPTIONS": "report_bugs=0"}
FLAGS = "-fsanitize=thread -g -O1"
OURS = ("/typedbytes/", "_codec.c", "_stream.c", "_scan.c", "_buffer.c", "_columns.c")

WORK = """
import io, os, sys, tempfile, threading, warnings
warnings.simplefilter("error")
import typedbytes as tb
from typedbytes import block, columns, sequencefile
from typedbytes._sorting import _native
assert sys._is_gil_enabled() == ("PYTHON_GIL" in os.environ)    # importing the package changes nothing
value = [1, "a", 2.5, {"k": (1, 2)}, b"x" * 100, 2**70, None, "\\u20ac"] * 20
data = tb.dumps(value)
encoder, decoder = tb.Encoder(), tb.Decoder()
shared = tb.Reader(io.BytesIO(data * 200))
records = encoder.encode_pairs([(number, number / 2) for number in range(5000)])
def halves(threads):
    return [bytes(batch.buffers("value")["data"]) for batch in columns.read(records, 500, threads=threads)]
expected = halves(1)
place = tempfile.TemporaryDirectory()
server = block.serve(place.name + "/calls", {"half": lambda number: number / 2})
calls = block.connect(server.address)    # by a ring, which all threads share
wrong = []
def work():
    for _ in range(20):
        if tb.loads(tb.dumps(value)) != value or decoder.decode(encoder.encode(value)) != value:
            wrong.append("value")
        if tb.count(data * 3) != 3 or list(tb.Reader(io.BytesIO(data))) != [value]:
            wrong.append("count")
        if halves(3) != expected:
            wrong.append("columns")
        for number in range(100):
            if calls.call(block.Command("half"), number)[0] != number / 2:
                wrong.append("call")
        try:
            next(shared, None)
        except RuntimeError:
            pass
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
calls.close()
server.close()
place.cleanup()
assert not wrong, wrong[:3]
os._exit(0)    # the threads of columns wait for ever, and the interpreter's end races with any such thread
"""

#: A name, what is added to the environment, and the arguments of the interpreter.
RUNS = [
    ("with_gil", {"PYTHON_GIL": "1"}, ["-c", WORK]),
    ("without_gil", {}, ["-c", WORK]),
    ("shared_without_gil", {}, ["tests/soak/shared_by_threads.py", "20", "4"]),
]


def interpreter():
    """Return the interpreter, built when there is none."""
    python = CACHE / "bin" / "python3.13"
    if not python.exists():
        with tempfile.TemporaryDirectory() as workspace:
            folder = fetched_source(pathlib.Path(workspace))
            environment = {**os.environ, **QUIET, "CC": "clang"}
            for words in (
                ["./configure", "--quiet", f"--prefix={CACHE}", *CONFIGURE],
                ["make", "-s", f"-j{os.cpu_count()}"],
            ):
                subprocess.run(words, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
            subprocess.run(
                ["make", "-s", "install"], cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True
            )
    return python


def fetched_source(workspace):
    """Return the unpacked sources of Debian's python3.13."""
    mirror = subprocess.check_output([pathlib.Path(__file__).parents[2] / ".ci" / "debian-mirror"], text=True).strip()
    (workspace / "list").write_text(SOURCE.format(mirror=mirror) + "\n")
    (workspace / "lists" / "partial").mkdir(parents=True)
    own = {
        "Dir::Etc::sourcelist": workspace / "list",
        "Dir::Etc::sourceparts": "-",
        "Dir::State::Lists": workspace / "lists",
        "APT::Sandbox::User": "root",
    }
    options = [word for name, value in own.items() for word in ("-o", f"{name}={value}")]
    for words in (["update"], ["source", "--download-only", "python3.13"]):
        subprocess.run(["apt-get", "--quiet", *options, *words], cwd=workspace, check=True)
    (archive,) = workspace.glob("*.orig.tar.xz")
    subprocess.run(["tar", "--extract", "--file", archive], cwd=workspace, check=True)
    (folder,) = workspace.glob("Python-*")
    return folder


def builders():
    """Return a folder with what builds the extensions, put there by this Python, since that one has no pip."""
    folder = CACHE / "builders"
    if not folder.exists():
        only_python = [
            "--only-binary=:all:", "--platform=any", "--implementation=py", "--abi=none", "--python-version=3.13",
        ]  # fmt: skip
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, *only_python, f"--target={folder}", *BUILDERS], check=True)
    return folder


def main():
    """Build, run the threads with the GIL and without, and look for reports of ours."""
    python = interpreter()
    switches = {
        "CC": "clang",
        "CFLAGS": FLAGS,
        "LDSHARED": "clang -shared -fsanitize=thread",
        "PYTHONPATH": str(builders()),
    }
    folder = build_copies.copy_sources(build_copies.BUILD / "free-threads")
    # Cython runs on this Python, which is many times as fast; its C is that of all,
    # and what this build compiles of it is not used.
    build_copies.build(folder, TYPEDBYTES_QUICK="1")
    build_copies.build(folder, python, **switches, **QUIET)
    codes, nreports = {}, {}
    for name, switch, words in RUNS:
        environment = build_copies.environment_for(folder, TSAN_OPTIONS="halt_on_error=0:exitcode=0", **switch)
        done = subprocess.run([python, *words], cwd=folder, env=environment, capture_output=True, text=True)
        reports = [
            part for part in done.stderr.split("WARNING: ThreadSanitizer")[1:] if any(name in part for name in OURS)
        ]
        print(f"{name}: exit code {done.returncode}, {len(reports)} reports with a frame of ours")
        print("\n".join(reports[:2]), done.stderr[-1000:] if done.returncode else "")
        codes[name], nreports[name] = done.returncode, len(reports)
    figures.report(**nreports)
    return int(any(codes.values()) or any(nreports.values()))


if __name__ == "__main__":
    sys.exit(main())
