"""Every command under Python's stricter options, and without assertions and docstrings: the same output."""

import subprocess
import sys

import pytest

import typedbytes as tb
from support.subprocess_runs import SECONDS
from typedbytes.cli.registry import COMMANDS

VALUES = tb.dumps({"items": [1, "x"], "b": (1, 2.5)}) + tb.dumps({"items": [], 3: b"x"}) + tb.dumps(["items"])
PAIRS = tb.Encoder().encode_pairs([("a", 1), ("b", 2), ("a", 3)])
SCRIPT = (
    "import typedbytes.streaming\n\n\ndef mapper(key, value):\n    yield value, 1\n\n\nif __name__ == '__main__':\n"
    "    typedbytes.streaming.run(mapper)\n"
)
OPTIONS = {"-OO": ["-OO"], "-X dev": ["-X", "dev", "-bb"]}  # which prints each warning that -W error would raise

# What each command is given, beside pairs on its stdin; a command that is not here is given the values.
ARGUMENTS = {
    "aggregate": ["--pairs", "pairs.tb"],
    "freq": ["--pairs", "pairs.tb"],
    "sort": ["--pairs", "pairs.tb"],
    "partition": ["--pairs", "-n", "2", "pairs.tb", "-o", "parts"],
    "diff": ["values.tb", "pairs.tb"],
    "grep": ["items", "values.tb"],
    "cut": ["-f", "key", "--pairs", "pairs.tb"],
    "join": ["pairs.tb", "pairs.tb"],
    "top": ["--by", "key", "--pairs", "pairs.tb"],
    "from-json": ["--plain", "a.json"],
    "from-text": ["a.json"],
    "dumptb": ["a.seq"],
    "loadtb": ["out.seq"],
    "convert": ["--to", "json", "values.tb"],
    "run": ["job.py", "a.json", "-o", "out"],
    "submit": ["job.py", "a", "-o", "b", "--dry-run", "--python", sys.executable],
    "bundle": ["bundle.zip"],
    "bench": ["values.tb"],
    "completion": ["bash"],
    "man": [],
    "block": ["encode", "list.json"],
}
CHANGING = {"bench"}  # its output is times


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "values.tb").write_bytes(VALUES)
    (tmp_path / "pairs.tb").write_bytes(PAIRS)
    (tmp_path / "a.json").write_text('{"a": 1}\n[2,\n3]\n')
    (tmp_path / "list.json").write_text("[1]\n")
    (tmp_path / "job.py").write_text(SCRIPT)
    with tb.sequencefile.open(str(tmp_path / "a.seq"), "w") as writer:
        writer.writes(tb.PairReader(PAIRS))
    return tmp_path


def result(options, command, folder):
    arguments = [sys.executable, *options, "-m", "typedbytes", command, *ARGUMENTS.get(command, ["values.tb"])]
    with open(folder / "pairs.tb", "rb") as stdin:
        done = subprocess.run(arguments, cwd=folder, capture_output=True, stdin=stdin, timeout=SECONDS)
    assert b"Traceback" not in done.stderr and b"Warning" not in done.stderr, done.stderr.decode()
    return done.returncode, b"" if command in CHANGING else done.stdout


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command(command, options, folder):
    found = result(OPTIONS[options], command, folder)
    assert found[0] in ((1,) if command == "diff" else (0,))
    assert found[1] or command in ("partition", "loadtb", "run", "bundle", *CHANGING)
