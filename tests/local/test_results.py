"""Where the result of a job goes: to standard output, over an earlier one, without its keys."""

import functools
import os

import pytest

import typedbytes as tb
from support.local_jobs import WORD_COUNT, pairs_of, run, write_script
from support.streaming_support import run_module
from typedbytes import local

command = functools.partial(run_module, "typedbytes")


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
    with pytest.raises(local.OutputError, match="already exists; give another path, or overwrite=True"):
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
