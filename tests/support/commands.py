"""The command as a process of its own, and small streams for it."""

import fcntl
import io
import json
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import typedbytes as tb
from support import command_server
from support.subprocess_runs import SECONDS
from typedbytes import sequencefile
from typedbytes.cli.registry import COMMANDS

FLAGS = ("-X", "dev")
COMMAND = [sys.executable, *FLAGS, "-m", "typedbytes"]

ONE, TWO = b"\x03\x00\x00\x00\x01", b"\x03\x00\x00\x00\x02"

TEXT = b"\x07\x00\x00\x00\x02hi"

LIST = b"\x09" + ONE + TEXT + b"\xff"

STREAM = ONE + TEXT + LIST + TWO

LINES = b'1\n"hi"\n[1, "hi"]\n2\n'

PAIRS = [(f"key {i % 7}", i) for i in range(100)]

PAIR_STREAM = tb.Encoder().encode_pairs(PAIRS)

NUMBERS = tb.Encoder().encode_all(range(20))

# Commands that read records from stdin when nothing else is said, with what they need besides.
# The others have tests of their own.
NEEDED = {"grep": ["grep", "-v", "nowhere"], "convert": ["convert", "--to", "typedbytes"]}

FILTERS = [
    NEEDED.get(name, [name])
    for name in COMMANDS
    if name in (
        "cat", "head", "tail", "slice", "sample", "count", "stats", "schema", "freq", "sniff", "validate", "grep",
        "uniq", "to-json", "from-json", "convert",
    )
]  # fmt: skip


def run(*arguments, stdin=b"", **how):
    if not how:
        return command_server.run(FLAGS, arguments, stdin, SECONDS)
    return subprocess.run([*COMMAND, *arguments], input=stdin, capture_output=True, timeout=SECONDS, **how)


def good(*arguments, stdin=b""):
    done = run(*arguments, stdin=stdin)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def bad(status, *arguments, stdin=b"", **how):
    """Run what must fail and return its stdout and its one line on stderr."""
    done = run(*arguments, stdin=stdin, **how)
    message = done.stderr.decode()
    assert done.returncode == status, message
    command = next((each for each in arguments if each in COMMANDS), None)
    is_named = command and not message.startswith("typedbytes: option ")  # given before the command
    front = f"typedbytes {command}: " if is_named else "typedbytes: "
    assert message.startswith(front) and message.endswith("\n") and message[:-1].isprintable(), message
    return done.stdout, message[len(front) : -1]


def fine(name, nrecords, nbytes, unit="values"):
    return {"input": name, "ok": True, "records": nrecords, "unit": unit, "bytes": nbytes}


def rows(stdout):
    return [json.loads(line) for line in stdout.splitlines()]


def until_it_waits(process):
    """Wait until a process waits inside a system call, or has ended."""
    while Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] not in "SZ":
        time.sleep(0.001)


def until_it_has_read(process):
    """Wait until a process has read all that its stdin, a pipe, has been given."""
    while struct.unpack("i", fcntl.ioctl(process.stdin, termios.FIONREAD, bytes(4)))[0]:
        time.sleep(0.001)


def values(stdout):
    return tb.Decoder().decode_all(stdout)


def sequence_file():
    sink = io.BytesIO()
    with sequencefile.Writer(sink) as writer:
        writer.writes(PAIRS)
    return sink.getvalue()


def map_of(*pairs):
    """Return a MAP of these pairs, equal keys among them."""
    return b"\x0a" + len(pairs).to_bytes(4, "big") + b"".join(tb.dumps(part) for pair in pairs for part in pair)
