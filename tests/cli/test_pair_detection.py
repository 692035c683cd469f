"""What commands do where it is not said whether records are values or pairs."""

import contextlib
import os
import subprocess

import pytest

import typedbytes as tb
from support.commands import (
    COMMAND,
    LIST,
    ONE,
    PAIR_STREAM,
    TEXT,
    TWO,
    bad,
    good,
    rows,
    run,
    sequence_file,
    until_it_has_read,
)
from support.subprocess_runs import SECONDS
from typedbytes.cli import main

# Commands that copy some records, or in another order, and what they need besides.
PICKING = {
    "head": ["-n", "3"], "tail": ["-n", "3"], "slice": ["-r", "::2"], "sample": ["-n", "3", "--seed", "1"],
    "grep": ["key"], "uniq": [], "sort": [], "top": ["-n", "3"],
    "cut": ["-f", "value"],
    "partition": ["-n", "2", "-o", "{}/parts"], "diff": ["--unordered", "{}/pairs.tb"],
    "validate": ["--repair", "{}/repaired"],
}  # fmt: skip


def picking(command, folder):
    return [command, *(word.format(folder) for word in PICKING[command])]


@pytest.mark.parametrize("command", PICKING)
def test_what_seems_to_be_pairs_is_not_taken_apart(command, tmp_path, capfdbinary, monkeypatch):
    path = tmp_path / "pairs.tb"
    path.write_bytes(PAIR_STREAM)
    arguments = [*picking(command, tmp_path), str(path)]
    assert main(arguments) == 64
    stdout, stderr = capfdbinary.readouterr()
    guess = "the input looks like pairs (STRING INT STRING INT): use --pairs, or --values if that is wrong"
    assert stdout == b""
    assert stderr.decode().startswith(f"typedbytes {command}: {path}: {guess} (TYPEDBYTES_RECORDS=")
    assert stderr.count(b"\n") == 1
    assert os.listdir(tmp_path) == ["pairs.tb"]
    printed = []
    for word in ("pairs", "values"):
        assert main([*arguments, f"--{word}"]) == 0
        printed.append(capfdbinary.readouterr())
        _remove(tmp_path / "parts")
        monkeypatch.setenv("TYPEDBYTES_RECORDS", word)
        assert main(arguments) == 0
        assert capfdbinary.readouterr() == printed[-1]
        _remove(tmp_path / "parts")
        monkeypatch.delenv("TYPEDBYTES_RECORDS")
    assert command in ("diff", "partition", "uniq") or printed[0] != printed[1]


def _remove(folder):
    for part in folder.glob("*"):
        part.unlink()


def test_the_environment_says_what_a_record_is(capfdbinary, monkeypatch, file):
    path = file(PAIR_STREAM)
    for word, counted in (("pairs", b"100\n"), ("values", b"200\n"), ("", b"200\n")):
        monkeypatch.setenv("TYPEDBYTES_RECORDS", word)
        assert main(["count", path]) == 0 and capfdbinary.readouterr().out == counted
    monkeypatch.setenv("TYPEDBYTES_RECORDS", "pairs")
    assert main(["count", "--values", path]) == 0 and capfdbinary.readouterr().out == b"200\n"
    monkeypatch.setenv("TYPEDBYTES_RECORDS", "both")
    assert main(["count", path]) == 64
    assert b"TYPEDBYTES_RECORDS in the environment must be pairs or values, not 'both'" in capfdbinary.readouterr().err
    assert main(["count", "--values", "--pairs", path]) == 64


@pytest.mark.parametrize(
    "data",
    [
        b"", ONE + TEXT, (ONE + TEXT) * 2 + ONE, ONE * 20, ONE + TEXT + LIST + TWO, ONE + TEXT + TEXT + ONE,
        tb.dumps("x" * (1 << 21)) + ONE,
    ],
    ids=["none", "two", "odd", "same", "mixed", "swapped", "large"],
)  # fmt: skip
def test_what_seems_to_be_values_is_taken_for_values(data, file):
    assert good("slice", file(data)) == good("slice", "--values", file(data)) == data


TEXTS = tb.Encoder().encode_pairs([("zeta", "a"), ("alpha", "b"), ("mid", "zz")])

TAKEN_APART = {
    "sort": [],
    "top": ["-n", "2"],
    "uniq": [],
    "sample": ["-n", "2"],
    "partition": ["-n", "2", "-o", "{}/parts"],
    "convert": ["--to", "parquet", "-o", "{}/a.parquet"],
    "validate": ["--repair", "{}/good.tb"],
    "diff": ["--unordered", "{}/in.tb"],
}


@pytest.mark.parametrize("command", TAKEN_APART)
def test_what_may_be_pairs_of_one_type_is_said_to_be_taken_for_values(command, tmp_path):
    path = tmp_path / "in.tb"
    path.write_bytes(TEXTS)
    words = [command, *(word.format(tmp_path) for word in TAKEN_APART[command]), str(path)]
    done = run(*words)
    note = (
        f"typedbytes {command}: {path}: read as single values: use --pairs for pairs of two STRINGs, "
        "or --values to leave out this line"
    )
    assert done.returncode == 0 and set(done.stderr.decode().splitlines()) == {note}
    _remove(tmp_path / "parts")
    assert good(*words[:-1], "--values", words[-1]) == done.stdout or command == "sample"


@pytest.mark.parametrize(
    "command", [["sort"], ["uniq"], ["sample", "-n", "2"], ["convert", "--to", "parquet"]], ids=lambda words: words[0]
)
def test_an_input_is_not_replaced_before_it_is_clear_what_a_record_is(command, tmp_path):
    (tmp_path / "in.tb").write_bytes(TEXTS)
    os.symlink("in.tb", tmp_path / "link")
    for name in ("in.tb", "link", "./in.tb"):
        message = bad(64, *command, "in.tb", "-o", name, cwd=tmp_path)[1]
        assert message == (
            "in.tb: these may be values, or pairs of two STRINGs: pass --values or --pairs, "
            "because -o replaces an input"
        )
    assert (tmp_path / "in.tb").read_bytes() == TEXTS
    good(*command, "--pairs", str(tmp_path / "in.tb"), "-o", str(tmp_path / "in.tb"))


@pytest.mark.parametrize("command", ["count", "to-text", "convert", "freq", "stats"])
def test_commands_that_keep_pairs_together_only_warn(command, file):
    extra = ["--to", "json"] if command == "convert" else []
    done = run(command, *extra, file(PAIR_STREAM))
    assert done.returncode == 0
    assert b"read as single values, but it looks like pairs (STRING INT STRING INT): use --pairs" in done.stderr
    for word in "--pairs", "--values":
        good(command, *extra, word, file(PAIR_STREAM))


@pytest.mark.parametrize(
    "pairs", [[("z", 1), ("a", 2.5)], [("z", 1), (2, 3), (None, 4)], [("a", [1]), ("b", {"c": 1}), ("d", "e")]]
)
def test_pairs_of_several_types_are_seen(pairs, file):
    data = tb.Encoder().encode_pairs(pairs)
    assert rows(good("sniff", stdin=data))[0]["holds"] == "pairs, it seems"
    assert "the input looks like pairs" in bad(64, "sort", file(data))[1]


def test_large_pairs_are_seen_too(file):
    pairs = tb.Encoder().encode_pairs([(number, "x" * 200_000) for number in range(2)])
    for arguments, stdin in (((file(pairs),), b""), ((), pairs)):
        assert "INT STRING INT STRING" in bad(64, "tail", *arguments, stdin=stdin)[1]


def test_pairs_in_a_pipe_are_seen_as_they_come():
    """Nothing is waited for: the first pair passes as two values, and with the second they are known for pairs."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    pair = tb.Encoder().encode_pairs([("a", 1)])
    with subprocess.Popen([*COMMAND, "head", "-n", "9"], **pipes) as process:
        process.stdin.write(pair)
        process.stdin.flush()
        until_it_has_read(process)  # so that the pairs come one by one
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(pair)
            process.stdin.close()
        assert b"looks like pairs (STRING INT STRING INT)" in process.stderr.read()
        assert pair.startswith(process.stdout.read()) and process.wait(SECONDS) == 64


@pytest.mark.parametrize(
    "command",
    ["cat", "to-json", "to-text", "tail", "head -n 200", "sample --seed 1 -p 1", "sample -n 200",
     "grep key", "grep -c .", "uniq", "cut -f value",
     "slice", "slice -r -200:", "count", "diff", "diff --unordered", "freq", "schema", "convert --to json",
     "cat --to block"],
)  # fmt: skip
def test_pairs_and_values_are_not_mixed(command, file):
    words, single, pairs, nothing = command.split(), file(TEXT * 3), file(sequence_file(), "a.seq"), file(b"", "b.tb")
    expected = f"some inputs hold pairs and some values ({pairs} pairs, {single} values): --pairs reads all as pairs"
    for inputs in ((single, pairs), (pairs, single)):
        assert bad(64, *words, *inputs)[1] == expected
    if words[0] not in ("freq", "schema"):
        done = run(*words, nothing, pairs)
        assert (done.returncode in (0, 1), done.stderr) == (True, b"")
    assert run(*words, "--pairs", pairs, file(ONE + TWO, "c.tb")).returncode in (0, 1)
