"""Steps in a unit test, by streaming.testing: the pairs are those of a real job of the same steps."""

import pytest

from support.local_jobs import pairs_of, run, write_script
from typedbytes.streaming import Step, lib, testing

LINES = ["b a", "skip", "a c"]

START = """
    import os
    from operator import itemgetter
    from typing import NamedTuple

    from typedbytes.streaming import Step, lib, run, task

    def words(offset, line):
        return [(word, 1) for word in line.split()]

    def shown(key, value):
        yield repr(key), repr(value)

    def listed(key, values):
        yield key, list(values)

    def record(key, line):
        yield line, {"words": line.split()}

    def picky(key, value):
        if "skip" in str(value):
            raise ValueError("as asked")
        yield value, 1

    class Totals:
        def partition_by(self, key):
            return key[::-1]

        def reduce(self, key, values):
            yield key, sum(values)

    class Point:
        def __init__(self):
            self.x = 1

    class Row(NamedTuple):
        word: str
        count: int

    def rows(key, line) -> tuple[str, Row]:
        yield line, Row(line, 2)

    def environment(key, value):
        yield os.environ["my_limit"], [task().step, task().nreducers]
"""

JOBS = {
    "inputs": (
        "Step(words, lib.sumreducer), Step(shown), Step(shown, inputs=[1]), Step(lib.identitymapper, inputs=[2, 3])"
    ),
    "the input of the job again": "Step(words), Step(shown, inputs=[0])",
    "read_options": "Step(record), Step(shown, read_options={'map_pairs': True})",
    "write_options": "Step(lambda k, v: [(v, Point())], write_options={'default': vars}), Step(shown)",
    "write_options of the last": "Step(lambda k, v: [(v, Point())], write_options={'default': vars})",
    "a combiner's options": (
        "Step(words, listed, lambda key, values: [(key, Point())], write_options={'default': vars})"
    ),
    "types": "Step(rows), Step(shown)",
    "max_bad": "Step(picky, max_bad=1), Step(shown)",
    "max_bad of groups": "Step(lambda k, v: [(len(v), v)], lambda k, v: picky(k, sorted(v)), max_bad=3)",
    "group_by": "Step(lambda k, v: [((v[0], k), v)], listed, group_by=itemgetter(0))",
    "group_by and max_bad": (
        "Step(lambda k, v: [((v[0], k), v)], lambda k, v: picky(k, tuple(v)), group_by=itemgetter(0), max_bad=1)"
    ),
    "partition_by": "Step(lambda k, v: [(v + 'x', 1), (v, 1)], Totals())",
    "batch": "Step(words), Step(lambda batch: [(1, len(batch))], batch=True)",
    "batch of groups": (
        "Step(lib.identitymapper), Step(lambda batch: batch, lambda batch: [(1, len(batch))], batch=True)"
    ),
    "raw_text": "Step(shown, raw_text=True)",
    "raw_text of a later step": "Step(words), Step(shown, raw_text=True)",
    "raw_text and max_bad": "Step(picky, raw_text=True, max_bad=1), Step(shown)",
    "commands": "Step(mapper_command='tr a-z A-Z', reducer_command='uniq -c')",
    "a filter": "Step(words, lib.sumreducer, mapper_command='grep -v skip'), Step(shown)",
    "properties": "Step(environment, properties={'my.limit': 3})",
    "properties that leave the reducer out": (
        "Step(words, listed, lib.sumreducer, properties={'mapreduce.job.reduces': 0})"
    ),
    "properties of two": "Step(environment, lib.identityreducer, properties={'my.limit': 3}), Step(shown)",
}


@pytest.mark.parametrize("steps", JOBS.values(), ids=JOBS)
def test_a_script_makes_the_pairs_of_its_job(steps, tmp_path):
    script = write_script(tmp_path, f"{START}\n    if __name__ == '__main__':\n        run(steps=[{steps}])\n")
    (tmp_path / "in.txt").write_text("".join(f"{line}\n" for line in LINES))
    run(script, tmp_path / "in.txt", tmp_path / "out")
    offsets = [0, 4, 9]
    assert testing.run_script(script, zip(offsets, LINES)) == pairs_of(tmp_path / "out")


def test_steps_are_those_that_a_job_takes():
    with pytest.raises(ValueError, match="step 1 reads only earlier steps"):
        testing.run_job([], steps=[Step(lib.identitymapper, inputs=[1])])
    with pytest.raises(TypeError, match="at least one Step"):
        testing.run_job([], steps=[])


def test_lines_are_raw_only_where_the_input_of_the_job_has_lines():
    step = Step(lambda key, value: [(key, value)], raw_text=True)
    assert testing.run_job([(5, "a"), (9, "b")], steps=[step]) == [(0, b"a"), (1, b"b")]
    assert testing.run_job([("x", "a")], steps=[step]) == [("x", "a")]
    assert testing.run_job([(5, "a\nb")], steps=[step]) == [(5, "a\nb")]


def test_bad_records_are_counted_and_leave_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with testing.counted() as amounts:
        step = Step(lambda key, value: [(1 // value, key)], max_bad=1)
        assert testing.run_job([("a", 1), ("b", 0)], steps=[step]) == [(1, "a")]
    assert amounts == {("typedbytes", "BadRecords"): 1}
    assert not any(tmp_path.iterdir())
    with pytest.raises(RuntimeError, match="side files belong to a task"):
        testing.call_map(lambda key, value: _open_side_file(), [(1, 2)])


def _open_side_file():
    from typedbytes.streaming import side_file

    side_file("log")


def test_what_fails_in_a_step_is_raised_as_it_is():
    with pytest.raises(ZeroDivisionError):
        testing.run_job([(0, 0)], steps=[Step(lambda key, value: [(1 // value, 1)])])
