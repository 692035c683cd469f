"""Streaming scripts as Hadoop runs them: a child process with three pipes and the environment of a task.

Here: starting such a child and reading what it left. Not here: what a test expects. Invariant: the child sees the
package this test run sees, none of Hadoop's variables but those given, and every warning as an error.
"""

import os
import subprocess
import sys
from dataclasses import dataclass

from support.subprocess_runs import SECONDS
from typedbytes import Decoder, dumps

#: Python 3.12 and later warn of a fork beside any thread, the sign of life among them. Others need no filter by
#: message: compiling its pattern takes a third of the time that a short task takes.
WARNINGS = "error,ignore:This process (pid=:DeprecationWarning" if sys.version_info >= (3, 12) else "error"
HADOOP = ("mapreduce_", "mapred_", "map_input_", "stream_", "PYTHON")

#: A limit on files cuts off the bytecode of the modules that are imported under it,
#: and Python would use what is left of it for ever.
NO_BYTECODE = {"PYTHONDONTWRITEBYTECODE": "1"}

HEAD = """\
import os, sys, time
import typedbytes as tb
from typedbytes.streaming import StopEarly, counter, run, status, task
"""


def encode(*pairs):
    """Return the typed bytes of pairs."""
    return b"".join(dumps(item) for pair in pairs for item in pair)


def environment(variables=()):
    """Return the environment of a child."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(HADOOP)}
    return {**clean, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONWARNINGS": WARNINGS, **dict(variables)}


@dataclass(frozen=True)
class Outcome:
    """What a child left: its exit code, the bytes of its output, the lines of its messages."""

    code: int
    output: bytes
    messages: str

    @property
    def lines(self):
        return [line for line in self.messages.splitlines() if line]

    def details(self):
        """Return what the report of a failure says, by name."""
        said = [line.split(": ", 2) for line in self.lines if line.startswith("typedbytes: ")]
        return {parts[1]: parts[2] for parts in said if len(parts) == 3}


def read_message(child):
    """Return the next line that is not empty: a message begins with the end of the line before."""
    return child.stderr.readline().strip(b"\n") or child.stderr.readline().strip(b"\n")


def write_script(folder, text):
    """Write a script that ends as given, and return its path."""
    path = folder / "job.py"
    path.write_text(HEAD + text)
    return str(path)


def start(folder, text, *words, environ=(), **descriptors):
    """Start a script with pipes for the descriptors that are not given."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    command = [sys.executable, write_script(folder, text), *words]
    return subprocess.Popen(command, env=environment(environ), **{**pipes, **descriptors})


def finish(child, data=None):
    """Return a child its input, wait for its end and return the Outcome."""
    try:
        output, messages = child.communicate(data, timeout=SECONDS)
    finally:
        child.kill()
    return Outcome(child.returncode, output, (messages or b"").decode())


def run_script(folder, text, *words, data=b"", environ=(), **descriptors):
    """Run a script over its input and return the Outcome."""
    return finish(start(folder, text, *words, environ=environ, **descriptors), data)


def pairs(outcome):
    """Return the pairs that a task which succeeded has written."""
    assert outcome.code == 0, outcome.messages
    return Decoder().decode_pairs(outcome.output)


def run_module(module, folder, *words, code=0, stdin=b"", **variables):
    """Run a module of the package in a folder, and return what it wrote to standard output and standard error."""
    done = subprocess.run(
        [sys.executable, "-m", module, *map(str, words)],
        cwd=folder, input=stdin, env={**environment(), **variables}, capture_output=True,
    )  # fmt: skip
    assert done.returncode == code, done.stderr.decode()
    return done.stdout, done.stderr.decode()
