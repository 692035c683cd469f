"""The command completion."""

import subprocess

import pytest

from support.commands import bad, good


def test_completion_for_bash(tmp_path):
    # All three shells are typed into by tests/soak/shells.py.
    script = tmp_path / "typedbytes"
    script.write_bytes(good("completion", "bash"))

    def completed(*words):
        line = " ".join(f"'{word}'" for word in words)
        command = (
            f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _typedbytes; "
            f"printf '%s\\n' \"${{COMPREPLY[@]}}\""
        )
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=tmp_path)
        assert done.stderr == ""
        return done.stdout.split()

    assert completed("typedbytes", "co") == ["count", "convert", "completion"]
    assert completed("typedbytes", "cat", "--f") == ["--from"]
    assert completed("typedbytes", "cat", "--from", "") == ["typedbytes", "sequencefile", "json", "block", "rcfile"]
    assert completed("typedbytes", "convert", "--to", "p") == ["parquet"]
    assert completed("typedbytes", "head", "-n", "") == []
    assert completed("typedbytes", "cat", "typed") == ["typedbytes"]
    assert completed("typedbytes", "block", "e") == ["encode", "echo"]
    assert completed("typedbytes", "completion", "--o") == ["--output"]
    assert completed("typedbytes", "grep", "typed") == completed("typedbytes", "grep", "-e", "typed") == []
    assert completed("typedbytes", "grep", "-e", "x", "typed") == ["typedbytes"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_every_command_and_option(shell):
    text = good("completion", shell).decode()
    for word in ("validate", "to-json", "repair", "max-bytes", "sequencefile", "unordered"):
        assert word in text
    assert "a shell is bash, zsh or fish" in bad(64, "completion", "ksh")[1]
