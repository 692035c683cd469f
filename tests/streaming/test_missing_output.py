"""Tasks and jobs that had input and wrote nothing: a hint says why that may be, once, and nothing fails.

Here: what is said, and when it is not. Invariant: a hint never changes an exit code or the output.
"""

import subprocess

import pytest

from support import local_jobs
from support.streaming_support import encode, environment
from support.subprocess_runs import SECONDS
from typedbytes.cli._job.result import hints

PRINTING = """
def job(key, value):
    print(key, value)
run(job, job, job)
"""
SAID = (
    "read 3 records and wrote no pairs: if that is not intended, yield pairs or return a list of them; "
    "what it prints goes to standard error"
)
PAIRS = encode(("a", 1), ("b", 2), ("c", 3))


@pytest.mark.parametrize("role, name", [("map", "mapper"), ("combine", "combiner"), ("reduce", "reducer")])
@pytest.mark.parametrize(
    "text",
    [PRINTING, "run(*[lambda key, value: iter(())] * 3)", "run(*[lambda records: [None for _ in records][3:]] * 3)"],
)
def test_a_task_by_hand(run_here, text, role, name):
    outcome = run_here(text, role, data=PAIRS)
    assert (outcome.code, outcome.output) == (0, b"")
    assert outcome.lines.count(f"typedbytes: the {name} {SAID}") == 1


def test_a_task_of_batches(run_here):
    outcome = run_here("run(lambda batch: None, batch=True)", "map", data=PAIRS)
    assert outcome.code == 0 and outcome.lines == [f"typedbytes: the mapper {SAID}"]


SILENT = {
    "a pair": ("run(lambda key, value: [(key, value)] if value == 2 else None)", PAIRS, {}),
    "a pair at the end": ("class Late:\n def map(self, key, value): pass\n def close(self): return [(1, 2)]\nrun(Late)",
                          PAIRS, {}),
    "no input": ("run(lambda key, value: None)", b"", {}),
    "a counter": ("run(lambda key, value: counter('words', value))", PAIRS, {}),
    "a side file": (
        "from typedbytes.streaming import side_file\nrun(lambda key, value: side_file(key).write(b'x') and None)",
        PAIRS,
        {},
    ),
    "bad records": ("run(lambda key, value: 1 / 0, max_bad=3)", PAIRS, {}),
    "a task of a job": ("run(lambda key, value: None)", PAIRS,
                        {"mapreduce_job_id": "job_1", "stream_map_input": "typedbytes"}),
}  # fmt: skip


@pytest.mark.parametrize("text, data, variables", SILENT.values(), ids=SILENT)
def test_no_hint(run_here, text, data, variables):
    outcome = run_here(text, "map", data=data, environ=variables)
    assert outcome.code == 0 and "wrote no pairs" not in outcome.messages


JOB = """
    from typedbytes.streaming import counter, run, side_file
    def mapper(offset, line):
        {mapper}
    def reducer(key, values):
        {reducer}
    if __name__ == "__main__":
        run(mapper, reducer, combiner={combiner})
"""
GIVING, NOTHING = "yield line, 1", "print(1)"


@pytest.mark.parametrize("mapper, reducer, combiner, said", [
    (GIVING, "yield key, 1", "reducer", []), (NOTHING, "yield key, 1", "reducer", ["mapper"]),
    (GIVING, NOTHING, None, ["reducer"]), (GIVING, NOTHING, "reducer", ["combiner"]),
    (GIVING + ' if line == "y" else 2', NOTHING, None, ["reducer"]),
    ("if line == 'y1': yield line, 1", "yield key, 1", None, []),
    ("counter('lines', 'seen')", "yield key, 1", None, []), ("side_file(line).write(b'x')", "yield key, 1", None, []),
    (GIVING, "side_file(key).write(b'x')", None, []),
])  # fmt: skip
def test_a_job_of_many_tasks_says_it_once(tmp_path, mapper, reducer, combiner, said):
    script = local_jobs.write_script(tmp_path, JOB.format(mapper=mapper, reducer=reducer, combiner=combiner))
    for number in range(3):
        (tmp_path / f"in{number}").write_text(f"x{number}\ny{number}\n")
    inputs = [tmp_path / f"in{number}" for number in range(3)]
    words = [*local_jobs.RUN, script, *inputs, "-o", tmp_path / "out"]
    done = subprocess.run(
        [*words, "--processes", "1"], capture_output=True, text=True, env=environment(), timeout=SECONDS
    )
    assert done.returncode == 0, done.stderr
    found = [line.split()[3] for line in done.stderr.splitlines() if "wrote no pairs" in line]
    assert found == said, done.stderr
    if said:
        again = subprocess.run(
            [*words[:-1], tmp_path / "quiet", "-q"], capture_output=True, text=True, env=environment(), timeout=SECONDS
        )
        assert "wrote no pairs" not in again.stderr


def test_counters_as_hadoop_prints_them():
    group = {"Map input records": 2, "Map output records": 0, "Combine input records": 0, "Reduce input records": 0}
    others = {"File System Counters": {"FILE: Number of bytes read": 10}, "Shuffle Errors": {"BAD_ID": 0}}
    (hint,) = hints({**others, "Map-Reduce Framework": group})
    assert hint.startswith("the mapper read 2 records and wrote no pairs")
    assert hints({**others, "Map-Reduce Framework": {**group, "Map output records": 1}}) == []
    assert hints({**others, "Map-Reduce Framework": group, "words": {"seen": 2}}) == []
    assert hints(others) == []
    of_splits = {**others, "Map-Reduce Framework": group, "typedbytes": {"MapInputRecords": 7}}
    assert hints(of_splits)[0].startswith("the mapper read 7 records and")
    assert hints({**of_splits, "typedbytes": {"MapInputRecords": 7, "BadRecords": 7}}) == []
