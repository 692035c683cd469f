"""Options of jobs in a file: typedbytes.toml, or a part of pyproject.toml."""

import functools
import os

import pytest

from support.local_jobs import write_script
from support.streaming_support import run_module

command = functools.partial(run_module, "typedbytes")


def test_options_of_a_file_and_of_its_profiles(job, tmp_path):
    (tmp_path / "typedbytes.toml").write_text(
        '[run]\nreducers = 3\nquiet = true\noutput_format = "text"\nparam = { x = 1 }\n'
        '[profile.big.run]\nreducers = 2\nD = ["a.b=c"]\n'
    )
    for words, nparts in (([], 3), (["--profile", "big"], 2), (["--profile=big", "-r", "1"], 1)):
        command(tmp_path, "run", *words, job, "in.txt", "-o", f"out{nparts}")
        assert len([*(tmp_path / f"out{nparts}").glob("part-*")]) == nparts
    _, said = command(tmp_path, "run", "--profile", "small", job, "in.txt", code=64)
    assert "there is no profile small in typedbytes.toml" in said
    os.rename(tmp_path / "typedbytes.toml", tmp_path / "mine.toml")
    command(tmp_path, "run", job, "in.txt", "-o", "out", TYPEDBYTES_OPTIONS=str(tmp_path / "mine.toml"))
    assert len([*(tmp_path / "out").glob("part-*")]) == 3
    (tmp_path / "pyproject.toml").write_text("[tool.typedbytes.submit]\npython = '/opt/python'\n")
    shown, said = command(tmp_path, "submit", "--no-bundle", "--dry-run", job, "in.txt", "-o", "sent")
    assert b"-mapper '/opt/python job.py map'" in shown
    assert "options of pyproject.toml: --python /opt/python" in said
    (tmp_path / "pyproject.toml").write_text("[tool.typedbytes\n")
    _, said = command(tmp_path, "run", job, "in.txt", code=64)
    assert "pyproject.toml is not TOML" in said


@pytest.mark.parametrize(
    ("text", "words", "code", "shown"),
    [
        ("[run]\ncombiner = true", ["--no-combiner"], 0, ""),
        ("[run]\ncombiner = false", ["--combiner"], 64, ""),
        ("[run]\ncombiner = true", ["--combiner"], 64, "--combiner"),
        ("[run]\nfork = false", ["--fork"], 0, ""),
        ("[run]\nfork = true", ["--no-fork"], 0, ""),
        ("[run]\ncombiner = true\n[profile.p.run]\ncombiner = false", ["--profile", "p"], 0, "--no-combiner"),
        ("[run]\ncombiner = false\n[profile.p.run]\ncombiner = true", ["--profile", "p"], 64, "--combiner"),
        ("[run]\ncombiner = true\n[profile.p.run]\nno_combiner = true", ["--profile", "p"], 0, "--no-combiner"),
        ("[run]\nfork = true\n[profile.p.run]\nno_fork = false", ["--profile", "p"], 0, "--fork"),
        ("[run]\nno_fork = true\n[profile.p.run]\nno_fork = false", ["--profile", "p"], 0, ""),
        ("[run]\nkeep_failed = true\n[profile.p.run]\nkeep_failed = false", ["--profile", "p"], 0, ""),
        ("[run]\nreducers = 3\n[profile.p.run]\nr = 2", ["--profile", "p"], 0, "-r 2"),
        ("[run]\narg = ['a']\n[profile.p.run]\narg = ['b']", ["--profile", "p"], 0, "--arg a --arg b"),
    ],
)
def test_what_is_nearer_to_the_user_wins(tmp_path, text, words, code, shown):
    """A profile over [run], the command line over both: a job without a combiner says which of them it has."""
    script = write_script(tmp_path, "from typedbytes.streaming import lib, run\nrun(lib.countmapper, lib.sumreducer)")
    (tmp_path / "in.txt").write_text("b a b\n")
    (tmp_path / "typedbytes.toml").write_text(text)
    _, said = command(tmp_path, "run", *words, script, "in.txt", code=code)
    assert ("has no combiner" in said) == bool(code)
    assert [line for line in said.splitlines() if "options of" in line] == [
        f"typedbytes run: options of typedbytes.toml: {shown}"
    ] * bool(shown)


def test_a_bundle_of_the_command_line_takes_the_place_of_none(job, tmp_path):
    (tmp_path / "typedbytes.toml").write_text("[submit]\nbundle = 'no.zip'")
    command(tmp_path, "submit", "--no-bundle", "--dry-run", job, "in.txt", "-o", "sent")
    (tmp_path / "typedbytes.toml").write_text("[submit]\nno_bundle = true")
    _, said = command(tmp_path, "submit", "--bundle=no.zip", "--dry-run", job, "in.txt", "-o", "sent", code=64)
    assert "make it with typedbytes bundle no.zip" in said


def test_secrets_are_not_shown(job, tmp_path):
    (tmp_path / "typedbytes.toml").write_text(
        '[submit]\nenv = { AWS_SECRET_ACCESS_KEY = "hunter2" }\n'
        '[submit.D]\n"fs.s3a.secret.key" = "hunter2"\n"mapreduce.job.queuename" = "etl"\n'
    )
    shown, said = command(tmp_path, "submit", "--no-bundle", "--dry-run", job, "in.txt", "-o", "sent")
    options = "--env AWS_SECRET_ACCESS_KEY=*** -D fs.s3a.secret.key=*** -D mapreduce.job.queuename=etl"
    assert f"options of typedbytes.toml: {options}\n" in said and "hunter2" not in said
    assert shown.count(b"hunter2") == 2


def test_values_may_look_like_options(tmp_path):
    script = write_script(
        tmp_path, "import sys\nfrom typedbytes import streaming\nstreaming.run(lambda *_: [(sys.argv[2:], 1)])"
    )
    (tmp_path / "in.txt").write_text("b\n")
    (tmp_path / "typedbytes.toml").write_text('[run]\narg = ["-v", "--x=1"]\n')
    output, _ = command(tmp_path, "run", script, "in.txt")
    assert output == b"['-v', '--x=1']\t1\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("run = 3", "run is not a table: options are in [run] or [submit] or [profile]"),
        ("processes = 3", "processes is not a table: options are in [run] or [submit] or [profile]"),
        ('profile = "x"', "profile is not a table: options are in [run] or [submit] or [profile]"),
        ("profile.x = 3", "profile.x is not a table: options are in [profile.NAME.run]"),
        ("profile.x.run = [1]", "profile.x.run is not a table: options are in [profile.x.run] or [profile.x.submit]"),
        ("[runs]\nreducers = 3", "there is no section [runs]; did you mean run?"),
        ("[profile.x.submits]\nreducers = 3", "there is no section [profile.x.submits]; did you mean submit?"),
        ("[run]\nprocess = 3", "[run] has no option process; did you mean processes?"),
        ('[run]\nprofile = "x"', "[run] has no option profile\n"),
        ("[run]\nhelp = true", "[run] has no option help\n"),
        ('[run]\nd = "x"', "[run] has no option d\n"),
        ("[run]\nship = [{ a = 1 }]", "[run]: ship takes no table"),
        ("[run]\nship = { a = 1 }", "[run]: ship takes no table"),
        ("[run]\nship = [[1]]", "[run]: ship takes no list"),
        ("[run]\nreducers = [1, 2]", "[run]: reducers takes no list"),
        ("[run]\nreducers = 2026-01-01", "[run]: reducers takes no date"),
        ("[run]\nreducers = true", "[run]: reducers takes a value"),
        ('[run]\nquiet = "yes"', "[run]: quiet takes true or false"),
        ('[run]\nquiet = true\nD = "x"', "[run]: D takes NAME=VALUE, not 'x'"),
        ("[run.D]\nmapreduce.job.reduces = 3", "[run]: D.mapreduce takes no table: a name with dots is one in quotes"),
        ('[run]\nquiet = true\nreducers = "x"', "argument -r/--reducers: expected an integer of at least 0, not 'x'"),
        ('[run]\nquiet = true\ncodec = "zip"', "argument --codec: invalid choice: 'zip'"),
        ("[run]\nfork = true\nno_fork = true", "argument --no-fork: not allowed with argument --fork"),
    ],
)
@pytest.mark.parametrize("name", ["typedbytes.toml", "pyproject.toml"])
def test_what_is_wrong_is_named_with_the_file(job, tmp_path, name, text, message):
    if name == "pyproject.toml":
        sections = [line.replace("[", "[tool.typedbytes.", 1) for line in text.splitlines() if line.startswith("[")]
        text = "\n".join([*sections, text.partition("]\n")[2]] if sections else ["[tool.typedbytes]", text])
    (tmp_path / name).write_text(text)
    _, said = command(tmp_path, "run", job, "in.txt", "-o", "out", code=64)
    assert said.startswith(f"typedbytes run: {name}: {message}") and said.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "text", ["tool.typedbytes = 3 # [tool.typedbytes", "tool = 3 # [tool.typedbytes", "[[tool.typedbytes]]"]
)
def test_a_part_of_pyproject_that_is_not_a_table(job, tmp_path, text):
    (tmp_path / "pyproject.toml").write_text(text)
    _, said = command(tmp_path, "run", job, "in.txt", code=64)
    assert "pyproject.toml: " in said and "is not a table" in said and said.count("\n") == 1


@pytest.mark.parametrize("name", ["typedbytes.toml", "pyproject.toml"])
def test_a_file_that_cannot_be_read(job, tmp_path, name):
    (tmp_path / name).mkdir()
    _, said = command(tmp_path, "run", job, "in.txt", code=64)
    assert said == f"typedbytes run: {name}: Is a directory\n"
    (tmp_path / name).rmdir()
    (tmp_path / name).write_bytes(b"\xff [tool.typedbytes]")
    _, said = command(tmp_path, "run", job, "in.txt", code=64)
    assert said.startswith(f"typedbytes run: {name} is not TOML: ") and said.count("\n") == 1
