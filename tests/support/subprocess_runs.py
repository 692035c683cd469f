"""A fresh interpreter for what may crash, fork or leak, and a bound for what may hang.

Here: starting a process, waiting, measuring. Not here: what is being tested. Invariant: a child sees the package that
this run sees, takes every warning as an error, and has to end well and silently.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import threading

# far beyond what anything needs, on a machine that stands still for a while too: only what hangs takes so long
SECONDS = 600

# "(pid=1) is multi-threaded": tests fork beside threads to see what happens then
FORKING = "ignore:This process:DeprecationWarning"


def program(name):
    """Return the path of a program that the tests need beside Python."""
    path = shutil.which(name)
    if path is None:
        raise RuntimeError(f"{name} was not found: make system-packages installs it on Debian and Ubuntu")
    return path


def run_fresh(code, *arguments, flags=(), warnings="error", folders=()):
    """Run code in a fresh interpreter, with modules in these folders; return its output without the last newline."""
    paths = os.pathsep.join([*sys.path, *map(str, folders)])
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONWARNINGS": f"{warnings},{FORKING}"}
    command = [sys.executable, *flags, "-c", textwrap.dedent(code), *map(str, arguments)]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, env=environment, text=True, start_new_session=True, **pipes) as child:
        try:
            stdout, stderr = child.communicate(timeout=SECONDS)
        except BaseException:
            os.killpg(child.pid, signal.SIGKILL)  # and the processes that it has forked, which hold its pipes
            raise
    if child.returncode or stderr:
        raise AssertionError(f"exit code {child.returncode}\n{stdout}\n{stderr}")
    return stdout[:-1]


def in_threads(work, arguments):
    """Call a function with each of several tuples of arguments, in a thread for each, and wait for all."""
    threads = [threading.Thread(target=work, args=each) for each in arguments]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@contextlib.contextmanager
def within():
    """Fail, instead of waiting for ever, when the body hangs."""

    def too_late(*_):
        raise AssertionError(f"still waiting after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, too_late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def lowest_free_descriptor():
    """Return the number that the next file opened will have: it grows when one is left open."""
    descriptor = os.dup(0)
    os.close(descriptor)
    return descriptor


def run_on_terminal(command, **options):
    """Run a command whose standard error is a terminal; return its exit code and what the terminal got, as bytes.

    options: of subprocess.Popen; env and cwd among them.
    """
    ours, theirs = os.openpty()
    with subprocess.Popen(command, stderr=theirs, **options) as process:
        os.close(theirs)
        said = b""
        try:
            while data := os.read(ours, 4096):
                said += data
        except OSError:  # what a terminal raises when no process writes to it any more
            pass
    os.close(ours)
    return process.returncode, said
