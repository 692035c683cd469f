"""Streaming jobs as tasks of a real Spark, beside the same jobs on this machine; `make spark` runs these tests.

What this machine gives is compared with a real Hadoop elsewhere: so all three engines give the same part files.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from soak import beside_hadoop
from support.local_jobs import RUN, WORD_COUNT, pairs_of, parts_of, run, write_script
from support.portable_jobs import JOBS, lay_out
from support.streaming_support import environment, run_module
from typedbytes import local, sequencefile, spark as typedbytes_spark

FRONTS = Path(__file__).resolve().parents[1] / "fronts"
OF_MRJOB = json.loads((FRONTS / "expected.json").read_text())["cases"]


@pytest.fixture(scope="module")
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "OFF")
        .getOrCreate()
    )
    yield session
    session.stop()


@pytest.mark.parametrize("case", beside_hadoop.ALL, ids=str)
def test_examples_give_the_same_parts(spark, tmp_path, tmp_path_factory, case):
    example = beside_hadoop.EXAMPLE[case.name]
    example.make(tmp_path / "in")
    options = {
        "inputs": str(tmp_path / "in"), "reducers": case.nreducers, "secondary": example.secondary, "quiet": True,
        "combiner": None if case.combiner else False, "split_size": max(1000, (tmp_path / "in").stat().st_size // 3),
    }  # fmt: skip
    script = beside_hadoop.script_of(case.name, tmp_path_factory.mktemp("example") / "script")
    ours = typedbytes_spark.run_script(spark, script, output=tmp_path / "spark", **options)
    there = local.run_script(script, output=tmp_path / "local", **options)
    assert parts_of(tmp_path / "spark") == parts_of(tmp_path / "local") and any(parts_of(tmp_path / "spark"))
    assert sorted(os.listdir(tmp_path / "spark")) == sorted(os.listdir(tmp_path / "local"))
    assert (ours.counters, ours.nmaps, ours.nreducers) == (there.counters, there.nmaps, there.nreducers)
    assert sorted(os.listdir(tmp_path)) == ["in", "local", "spark"]


@pytest.mark.parametrize("name", JOBS)
@pytest.mark.parametrize("command", ["run", "submit"])
def test_jobs_as_users_write_them(tmp_path, name, command):
    job = lay_out(tmp_path, name)
    words = [sys.executable, "-m", "typedbytes", command, "--engine", "spark", "--reducers", "2"]
    words += ["--master", "local[2]", *job.submit_options] if command == "submit" else []
    done = subprocess.run(
        [*words, f"{name}.py", "in.txt", "-o", "out", *job.options],
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert sorted(pairs_of(tmp_path / "out")) == job.output
    others = [line for path in sorted((tmp_path / "out").glob("others-*")) for line in path.read_text().splitlines()]
    assert others == job.side_output


@pytest.mark.parametrize("number", [1, 2, 3], ids=["words", "steps", "commands"])
def test_a_script_of_mrjob_prints_what_it_printed(tmp_path, number):
    case = OF_MRJOB[number]
    (tmp_path / "in").write_text(case["text"])
    words = [FRONTS / "scripts" / case["script"], *case["words"], "-r", "spark", "in", "--no-conf", "-q"]
    output, _ = run_module("typedbytes.fronts", tmp_path, *words)
    assert output.decode("latin-1") == case["output"]


def test_lines_of_a_mapper_of_mrjob_without_reduce_tasks(tmp_path):
    (tmp_path / "in").write_text("to be\n")
    script = FRONTS / "scripts" / "mr_words.py"
    expected, _ = run_module("typedbytes.fronts", tmp_path, script, "-D", "mapreduce.job.reduces=0", "-q", "in")
    for words in (["--reducers", "0"], ["-D", "mapreduce.job.reduces=0"]):
        command = ["run", "--engine", "spark", "-q", "--as", "mrjob", script, "in", *words]
        assert run_module("typedbytes", tmp_path, *command)[0] == expected != b""


def test_an_output_by_key(tmp_path):
    write_script(tmp_path, WORD_COUNT.replace("yield word, sum", "yield (f'length={len(word)}', word), sum"))
    (tmp_path / "in.txt").write_text("to be or not to be\n")
    options = ["--engine", "spark", "--no-combiner", "--output-by-key", "--output-format", "text", "-q"]
    subprocess.run([*RUN, *options, "job.py", "in.txt", "-o", "out"], cwd=tmp_path, env=environment(), check=True)
    found = {path.parent.name: path.read_text() for path in (tmp_path / "out").glob("length=*/*")}
    assert found == {"length=2": "be\t2\nor\t1\nto\t2\n", "length=3": "not\t1\n"}


def test_map_only_text_and_records_in_memory(spark, tmp_path):
    script = write_script(
        tmp_path, "from typedbytes import streaming\nstreaming.run(lambda key, value: [(value, key)])\n"
    )
    typedbytes_spark.run_script(
        spark, script, inputs=[(1, "a"), (2, "b")], output=tmp_path / "out", output_format="text", quiet=True
    )
    assert (tmp_path / "out" / "part-00000").read_text() == "a\t1\nb\t2\n"


def test_pairs_that_are_larger_than_what_a_task_may_hold(spark, tmp_path):
    script = write_script(
        tmp_path,
        "from typedbytes import streaming\nstreaming.run(lambda k, v: [(k, v)], lambda k, vs: ((k, v) for v in vs))\n",
    )
    rows = [(number % 1000, os.urandom(500)) for number in range(400_000)]
    with sequencefile.Writer(tmp_path / "in.seq") as writer:
        writer.writes(rows)
    typedbytes_spark.run_script(
        spark, script, inputs=tmp_path / "in.seq", output=tmp_path / "out", reducers=2, split_size=10**9, quiet=True
    )
    found = list(sequencefile.read(str(tmp_path / "out")))
    assert sorted(found) == sorted(rows)
    of_one_key = [value for key, value in rows if key == 7]
    assert [value for key, value in found if key == 7] == of_one_key


FAILING = """
    from typedbytes import streaming

    def mapper(offset, line):
        yield 1 / len(line.strip()), line

    streaming.run(mapper{})
"""


@pytest.mark.parametrize("reducer", ["", ", lambda key, values: [(key, len(list(values)))]"])
def test_a_task_that_fails_fails_the_job(spark, tmp_path, reducer):
    script = write_script(tmp_path, FAILING.format(reducer))
    (tmp_path / "in.txt").write_text("a\n\n")
    with pytest.raises(
        local.JobError, match=r"map task 0 \(.*in.txt, bytes 0 to 3\) failed: exit code 1: ZeroDivisionError"
    ) as caught:
        typedbytes_spark.run_script(spark, script, inputs=tmp_path / "in.txt", output=tmp_path / "out", quiet=True)
    assert any("ZeroDivisionError" in line for line in caught.value.tail)
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


def test_a_command_that_fails(tmp_path):
    write_script(tmp_path, FAILING.format(""))
    (tmp_path / "in.txt").write_text("\n")
    command = [*RUN, "--engine", "spark", "job.py", "in.txt", "-o", "out"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1 and "ZeroDivisionError" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("typedbytes run: map task 0")
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


@pytest.mark.parametrize(("code", "said"), [(None, "there is no script"), ("1 / 0", "ZeroDivisionError")])
def test_a_script_that_does_not_run_is_an_error_of_the_user(tmp_path, code, said):
    """The exit code is that of the other engines, and the script's own traceback is there."""
    if code is not None:
        write_script(tmp_path, code)
    (tmp_path / "in.txt").write_text("\n")
    command = [*RUN, "--engine", "spark", "job.py", "in.txt", "-o", "out"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True)
    assert (done.returncode, said in done.stderr) == (64, True), done.stderr


def test_a_session_that_is_there_stays(spark, tmp_path):
    script = write_script(tmp_path, WORD_COUNT)
    (tmp_path / "in.txt").write_text("a b a\n")
    for name in ("one", "two"):
        typedbytes_spark.run_script(spark, script, inputs=tmp_path / "in.txt", output=tmp_path / name, quiet=True)
    run(script, tmp_path / "in.txt", tmp_path / "here")
    assert parts_of(tmp_path / "one") == parts_of(tmp_path / "two") == parts_of(tmp_path / "here")
