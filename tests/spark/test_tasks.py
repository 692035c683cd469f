"""The tasks of a job on Spark, without Spark: pieces of a shuffle, tasks tried again; and what is said without it."""

import contextlib
import errno
import os
import random
import resource
import sys

import pytest

from support.commands import bad
from support.local_jobs import WORD_COUNT, parts_of, run, write_script, write_words
from support.report_page import read_page
from support.streaming_support import environment
from typedbytes import local
from typedbytes.jobs.job import Job
from typedbytes.jobs.running import run_with_engine
from typedbytes.spark import _job, _tasks


class Shuffle:
    """A session whose tasks run here in turn; every map task is tried twice, and the second attempt counts."""

    def __init__(self):
        self.sparkContext = self
        self.npieces = 0

    def broadcast(self, value):
        self.value = value
        return self

    def unpersist(self):
        pass


class SparkJob(_job.SparkJob):
    """A SparkJob with this shuffle instead of Spark's."""

    def _mapped(self, setting):
        return [_tasks.run_map_only(setting.value, *split, number, None) for number, split in enumerate(self._splits)]

    def _reduced(self, setting):
        pieces, number = [], 0
        for split in self._splits:
            for _ in range(2):
                number += 1
                found = list(_tasks.run_map(setting.value, *split, number, None))
            pieces += found
        setting.npieces = len(pieces)
        random.Random(5).shuffle(pieces)
        outcomes = []
        for partition in range(self._nreducers):
            own = iter(sorted(each for each in pieces if _tasks.partition_of(each[0]) == partition))
            outcomes += _tasks.run_reduce(setting.value, partition, own, 1000 + partition, None)
        return outcomes


def run_both(folder, script, source, **options):
    """Run a script's job by these tasks and as usual; return both results."""
    shuffle = Shuffle()

    def engine(*given):
        return SparkJob(shuffle, *given)

    environ = {name: environment()[name] for name in ("PYTHONPATH", "PYTHONWARNINGS")}
    given = {{"reducers": "nreducers"}.get(name, name): value for name, value in options.items()}
    return (
        run_with_engine(engine, Job(script, source, folder / "tasks", quiet=True, environment=environ, **given)),
        run(script, source, folder / "here", **options),
        shuffle,
    )


@pytest.mark.parametrize("nreducers", [0, 1, 3])
@pytest.mark.parametrize("piece", [1 << 16, 100])
def test_parts_and_counters_are_the_same(tmp_path, monkeypatch, nreducers, piece):
    monkeypatch.setattr(_tasks, "PIECE_NBYTES", piece)
    write_words(tmp_path / "in.txt", 3000)
    script = write_script(tmp_path, WORD_COUNT)
    ours, there, shuffle = run_both(
        tmp_path, script, tmp_path / "in.txt", reducers=nreducers, split_size=9000, combiner=False
    )
    assert parts_of(tmp_path / "tasks") == parts_of(tmp_path / "here") and any(parts_of(tmp_path / "here"))
    assert ours.counters == there.counters and ours.nmaps == there.nmaps > 2
    if nreducers:
        assert (shuffle.npieces > 200) == (piece == 100)


def test_an_output_by_key_has_the_same_folders(tmp_path):
    write_words(tmp_path / "in.txt", 2000)
    script = write_script(tmp_path, WORD_COUNT.replace("yield word, sum", "yield (f'length={len(word)}', word), sum"))
    options = {"output_by_key": True, "output_format": "csv", "reducers": 3, "split_size": 9000, "combiner": False}
    ours, there, _ = run_both(tmp_path, script, tmp_path / "in.txt", **options)
    found = [
        {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for folder in (tmp_path / "tasks", tmp_path / "here")
    ]
    assert found[0] == found[1] and len(found[0]) > 6
    assert ours.records_out == there.records_out == sum(max(text.count(b"\n") - 1, 0) for text in found[0].values())


def test_what_travels_with_a_job(tmp_path, monkeypatch):
    (tmp_path / "beside.py").write_text("rules = 'imported'\n")
    (tmp_path / "rules.txt").write_text("shipped")
    script = write_script(
        tmp_path,
        """
        import sys
        import beside
        from typedbytes import streaming

        def mapper(offset, line):
            with open("rules.txt") as file:
                yield line, (beside.rules, file.read(), streaming.task().params["x"], sys.argv[1:])

        streaming.run(mapper)
        """,
    )
    (tmp_path / "in.txt").write_text("a\n")
    options = {"files": [tmp_path / "rules.txt"], "params": {"x": 3}}
    run_both(tmp_path, script, tmp_path / "in.txt", **options)
    assert parts_of(tmp_path / "tasks") == parts_of(tmp_path / "here")


def test_a_failure_is_found_in_what_spark_makes_of_it():
    failure = _tasks.TaskFailed("map task 0 failed: exit code 1\n", ["Traceback", 'a "quoted" line \\n'])
    text = f"An error occurred\n  File x\ntypedbytes.spark._tasks.TaskFailed: {failure}\n\n\tat org.apache"
    assert _tasks.TaskFailed.found_in(text) == [
        "map task 0 failed: exit code 1\n",
        ["Traceback", 'a "quoted" line \\n'],
    ]
    assert _tasks.TaskFailed.found_in("other") is None


def test_a_task_that_fails(tmp_path):
    script = write_script(
        tmp_path, "import sys\nfrom typedbytes import streaming\nstreaming.run(lambda k, v: sys.exit('enough'))\n"
    )
    (tmp_path / "in.txt").write_text("a\n")
    with pytest.raises(local.JobError, match=r"map task 0 \(.*in.txt, bytes 0 to 2\) failed: exit code 1") as caught:
        run_both(tmp_path, script, tmp_path / "in.txt")
    assert any("enough" in line for line in caught.value.tail)
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


def test_pieces_that_are_lost_are_an_error(tmp_path, monkeypatch):
    write_words(tmp_path / "in.txt", 3000)
    monkeypatch.setattr(_tasks, "PIECE_NBYTES", 1000)
    received = _tasks._received
    monkeypatch.setattr(_tasks, "_received", lambda pieces, *more: received(iter([*pieces][:-1]), *more))
    script = write_script(tmp_path, WORD_COUNT)
    with pytest.raises(local.JobError, match="reduce task 0 .*temporary files or output: input ends inside"):
        run_both(tmp_path, script, tmp_path / "in.txt", combiner=False)
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


@contextlib.contextmanager
def file_size_limit(nbytes):
    """Have this process, and those that it starts, write no file larger than this."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (nbytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


LONG_VALUES = """
from typedbytes import streaming
streaming.run(lambda offset, line: [(line, 1)], lambda key, values: ((key, "x" * (2 << 20)) for _ in values))
"""


@pytest.mark.parametrize("output_format", ["sequencefile", "pairs", "text"])
@pytest.mark.parametrize("limit, task", [(100, "map"), (1 << 20, "reduce")])
def test_a_limit_on_files_fails_the_task_with_the_reason_of_the_system(tmp_path, output_format, limit, task):
    """The script that a map task unpacks meets it, or the part file of a reduce task."""
    write_words(tmp_path / "in.txt", 3000)
    script = write_script(tmp_path, LONG_VALUES)
    said = f"^{task} task 0 .* failed: temporary files or output: .*File too large"
    with file_size_limit(limit), pytest.raises(local.JobError, match=said):
        run_both(tmp_path, script, tmp_path / "in.txt", output_format=output_format)
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


def test_a_piece_that_is_written_in_part_is_an_error(tmp_path):
    """A system writes what fits below the limit, and fails only when it is asked for more."""
    pieces = [((0, 0, 0, number), (2, bytes(600))) for number in range(2)]
    with file_size_limit(1000), pytest.raises(OSError) as caught:
        list(_tasks._received(iter(pieces), tmp_path / "received", []))
    assert caught.value.errno == errno.EFBIG


def test_what_is_said_without_spark_or_for_other_engines(tmp_path):
    script = str(write_script(tmp_path, WORD_COUNT))
    words = [script, script, "-o", str(tmp_path / "out")]
    (tmp_path / "absent").mkdir()
    (tmp_path / "absent" / "pyspark.py").write_text("raise ModuleNotFoundError\n")  # PySpark may be installed
    without = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "absent"), *sys.path])}
    for command in ("run", "submit"):
        said = bad(69, command, "--engine", "spark", *words, env=without)[1]
        assert said == "--engine spark needs PySpark: pip install 'typedbytes[spark]'"
    assert bad(64, "run", "--engine", "spark", "--memory", "1G", *words)[1] == "--memory is not for --engine spark"
    assert bad(64, "submit", "--engine", "spark", "--feed", "pairs", *words)[1] == "--feed is not for --engine spark"
    assert bad(64, "submit", "--master", "local", *words)[1] == "--master is for --engine spark"


def test_commands_are_relocated(tmp_path):
    script = str(tmp_path / "job.py")
    commands = {
        "map": [sys.executable, script, "map", "-x"],
        "combine": None,
        "reduce": [sys.executable, script, "reduce"],
    }
    moved = {"map": ["{python}", "job.py", "map", "-x"], "combine": None, "reduce": ["{python}", "job.py", "reduce"]}
    assert _job._relocated(commands) == (script, moved)
    assert _job._relocated({"map": [script, "map"]}) == (script, {"map": ["./job.py", "map"]})


def test_a_report_has_the_attempts_that_count(tmp_path):
    write_words(tmp_path / "in.txt", 3000)
    script, report = write_script(tmp_path, WORD_COUNT), tmp_path / "job.html"
    environ = {name: environment()[name] for name in ("PYTHONPATH", "PYTHONWARNINGS")}
    options = {"quiet": True, "environment": environ, "split_size": 6000, "report": report}
    shuffle = Shuffle()
    job = Job(script, tmp_path / "in.txt", tmp_path / "out", 2, **options)
    result = run_with_engine(lambda *given: SparkJob(shuffle, *given), job, where="Spark")
    page = read_page(report)
    assert page.bars("map") == page.bars("combine") == result.nmaps > 2
    assert page.bars("reduce") == 2 + 2  # over time, and the bytes of each
    assert " on Spark, started " in "".join(page.sections[""])
