"""The Java side of block messages: its Maven module, and its peer program as a running process.

Here: compiling src/java and its typed records, and talking to Peer's standard streams. Not here: what a test expects.
Invariant: the classes are made from the present sources. Without a JDK or Maven whatever is asked for raises and says
what to install.
"""

import contextlib
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test_vectors" / "java"))

import jars  # noqa: E402

from support.subprocess_runs import SECONDS  # noqa: E402

MODULE = ROOT / "src" / "java"
SOURCES = sorted((MODULE / "src" / "main").rglob("*.java"))
_RECORDS = MODULE / "records" / "src" / "main"
_NEWER = {path.name: path for path in (_RECORDS / "java16").rglob("*.java")}  # in place of those for Java 8
RECORD_SOURCES = sorted(_NEWER.get(path.name, path) for path in (_RECORDS / "java").rglob("*.java"))


def classes():
    """Return the folder of the compiled classes, compiled when a source has changed."""
    return jars._made(jars.BUILD / "java-block-classes", SOURCES, _compile)


def _compile(folder):
    command = [
        jars.find_tool("javac"), "--release", "8", "-Xlint:all,-options", "-Werror", "-encoding", "UTF-8", "-d", folder,
        *SOURCES,
    ]  # fmt: skip
    jars._run(command, "javac could not compile the Java side of block messages")


def record_classes():
    """Return the folder of the compiled classes of typed records, those that know Java's own records."""
    return jars._made(jars.BUILD / "java-record-classes", RECORD_SOURCES, _compile_records)


def _compile_records(folder):
    command = [jars.find_tool("javac"), "-encoding", "UTF-8", "-d", folder, *RECORD_SOURCES]
    jars._run(command, "javac could not compile the Java side of typed records")


def command(mode, wire, where="tcp", options=jars.QUICK_START):
    """Return the command line of a peer."""
    return [
        jars.find_tool("java"), *options, "-cp", str(classes()), "org.typedbytes.block.Peer", mode, wire, str(where),
    ]  # fmt: skip


@contextlib.contextmanager
def peer(mode, wire, where="tcp", options=jars.QUICK_START):
    """Yield a socket that is connected to a peer of its own; the peer ends with it."""
    process = subprocess.Popen(
        command(mode, wire, where, options), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        address = process.stdout.readline().strip()
        if not address:
            raise RuntimeError("the peer did not start")
        if where == "tcp":
            sock = socket.create_connection(("127.0.0.1", int(address)))
        else:
            sock = socket.socket(socket.AF_UNIX)
            sock.connect(address)
        with sock:
            yield sock
    finally:
        process.stdin.close()
        process.wait(timeout=SECONDS)
        process.stdout.close()
