"""Where the result of a job goes: to standard output, over an earlier one, without its keys; and options in a file."""

import functools
import os
import sys

import pytest

import typedbytes as tb
from support.local_jobs import WORD_COUNT, pairs_of, run, write_script
from support.streaming_support import run_module
from typedbytes import local

command = functools.partial(run_module, "typedbytes")


@pytest.fixture
def job(tmp_path):
    """Return the script of a job, beside its input in.txt."""
    (tmp_path / "in.txt").write_text("b a b\n")
    return write_script(tmp_path, WORD_COUNT)


def test_without_a_folder_the_result_goes_to_standard_output(job, tmp_path):
    output, said = command(tmp_path, "run", "-r", "2", job, "in.txt")
    assert sorted(output.splitlines()) == [b"a\t1", b"b\t2"]
    assert "typedbytes run: done: 1 map and 2 reduce tasks" in said
    output, _ = command(tmp_path, "run", "-q", job, "in.txt", "-o", "-")
    assert list(tb.PairReader(output)) == [("a", 1), ("b", 2)]
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]
    _, said = command(tmp_path, "run", job, "in.txt", "--output-format", "sequencefile", code=64)
    assert "SequenceFiles are files of a folder: give --output FOLDER" in said


def test_values_are_lines_without_keys(tmp_path):
    script = write_script(
        tmp_path,
        "from typedbytes import streaming\n"
        "values = ['one', b'\\xff', 2, None]\n"
        "streaming.run(lambda key, line: [(key, value) for value in values])",
    )
    (tmp_path / "in.txt").write_text("x\n")
    run(script, tmp_path / "in.txt", tmp_path / "out", output_format="values")
    assert (tmp_path / "out" / "part-00000").read_bytes() == b"one\n\xff\n2\n\n"


def test_an_earlier_output_is_replaced_when_the_job_has_succeeded(job, tmp_path):
    out = tmp_path / "out"
    run(job, tmp_path / "in.txt", out, overwrite=True)
    (tmp_path / "in.txt").write_text("c\n")
    with pytest.raises(local.OutputError, match="already exists; give another path, or --overwrite"):
        run(job, tmp_path / "in.txt", out)
    run(job, tmp_path / "in.txt", out, overwrite=True)
    assert pairs_of(out) == [("c", 1)]
    bad = write_script(tmp_path, WORD_COUNT.replace("yield word, 1", "1 / 0"), "bad.py")
    with pytest.raises(local.JobError, match="ZeroDivisionError"):
        run(bad, tmp_path / "in.txt", out, overwrite=True)
    assert pairs_of(out) == [("c", 1)]
    assert sorted(os.listdir(tmp_path)) == ["bad.py", "in.txt", "job.py", "out"]


def test_a_folder_that_is_no_output_is_kept(job, tmp_path):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("all of it")
    (tmp_path / "link").symlink_to(mine)
    for path in (mine, tmp_path / "link"):
        with pytest.raises(local.OutputError, match="is not the output of a job that has succeeded"):
            run(job, tmp_path / "in.txt", path, overwrite=True)
    assert (mine / "thesis.txt").read_text() == "all of it"


def test_outputs_of_steps_are_kept_and_read_again(tmp_path):
    script = write_script(
        tmp_path,
        """
        from typedbytes.streaming import Step, lib, run

        def words(offset, line):
            return [(word, 1) for word in line.split()]

        run(steps=[
            Step(words, lib.sumreducer),
            Step(lambda word, n: [(n, word)], lib.identityreducer),
            Step(lib.identitymapper, lib.identityreducer, inputs=[1, 2]),
        ])
        """,
    )
    (tmp_path / "in.txt").write_text("b a b\n")
    run(script, tmp_path / "in.txt", tmp_path / "out", step_output=str(tmp_path / "steps"))
    first, second = pairs_of(tmp_path / "steps" / "step1"), pairs_of(tmp_path / "steps" / "step2")
    assert sorted(first) == [("a", 1), ("b", 2)] and sorted(second) == [(1, "a"), (2, "b")]
    assert sorted(map(repr, pairs_of(tmp_path / "out"))) == sorted(map(repr, [*first, *second]))
    run(script, tmp_path / "in.txt", tmp_path / "again")
    assert pairs_of(tmp_path / "again") == pairs_of(tmp_path / "out")
    assert sorted(os.listdir(tmp_path)) == ["again", "in.txt", "job.py", "out", "steps"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python has no reader of TOML")
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
