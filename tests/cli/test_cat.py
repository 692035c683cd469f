"""The command cat."""

import subprocess
import sys

import pytest

from support.commands import LIST, STREAM, TEXT, TWO, good

pytestmark = pytest.mark.quick


def test_cat_copies_stdin():
    assert good("cat", stdin=STREAM) == STREAM


@pytest.mark.parametrize("words", [["in.tb"], []], ids=["a file", "standard input"])
def test_cat_refuses_to_add_a_file_to_itself(tmp_path, words):
    path = tmp_path / "in.tb"
    path.write_bytes(STREAM)
    with path.open("rb") as source, path.open("ab") as target:
        done = subprocess.run(
            [sys.executable, "-m", "typedbytes", "cat", *words], cwd=tmp_path, stdin=source, stdout=target,
            stderr=subprocess.PIPE, text=True, timeout=30,
        )  # fmt: skip
    assert done.returncode == 64
    named = words[0] if words else "standard input"
    assert done.stderr == f"typedbytes cat: {named}: the output is added to this input: write to another file\n"
    assert path.read_bytes() == STREAM


def test_cat_copies_files_and_stdin_in_order(file):
    assert good("cat", file(LIST), "-", file(TWO, "b.tb"), stdin=TEXT) == LIST + TEXT + TWO
