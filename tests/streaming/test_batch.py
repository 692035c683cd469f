"""Jobs on columns: what mappers and reducers with batch=True get, and what becomes of what they return.

Here: tasks as child processes with batches. Not here: how columns are read. Invariant:
the same job on pairs says what is right.
"""

import itertools

import pytest

from support.streaming_support import encode, pairs, run_script
from typedbytes import Decoder, columns

ROWS = [
    (word, number + 2**33)
    for word, numbers in itertools.groupby(sorted(["the", "quick", "fox", "and", "the", "other", "fox"] * 500))
    for number, _ in enumerate(numbers)
]
DATA = encode(*ROWS)

DOUBLE = """
import numpy
def mapper(batch):
    return {"key": batch.column("key"), "value": batch.column("value") * 2}
run(mapper, batch=True, read_options={"batch_rows": 700})
"""
DOUBLE_AS_PAIRS = """
def mapper(batch):
    for key, value in zip(batch.column(0).tolist(), batch.column(1).tolist()):
        yield key, value * 2
run(mapper, batch=True, read_options={"batch_rows": 700})
"""
SAME = """
run(lambda batch: batch, batch=True, read_options={"batch_rows": 7})
"""
SUM = """
import numpy
from typedbytes import Long
class reducer:
    def configure(self):
        self.nbatches = 0
    def reduce(self, batch):
        self.nbatches += 1
        keys, values = batch.column("key"), batch.column("value")
        starts = numpy.flatnonzero(numpy.append(True, keys[1:] != keys[:-1]))
        return {"key": keys[starts], "value": numpy.add.reduceat(values, starts)}
    def close(self):
        counter("batches", "read", self.nbatches)
run(None, reducer, combiner=reducer, batch=True, read_options={"batch_rows": %d})
"""


@pytest.mark.parametrize("text", [DOUBLE, DOUBLE_AS_PAIRS])
def test_a_mapper_of_batches(tmp_path, text):
    assert pairs(run_script(tmp_path, text, "map", data=DATA)) == [(key, 2 * value) for key, value in ROWS]


def test_a_batch_may_be_returned_as_it_is(tmp_path):
    assert run_script(tmp_path, SAME, "map", data=DATA).output == DATA
    assert run_script(tmp_path, SAME, "map", data=b"").output == b""


@pytest.mark.parametrize(
    "role, batch_rows", [*(("reduce", n) for n in (1, 499, 500, 501, 1000, 3500, 10**6)), ("combine", 501)]
)
def test_a_reducer_has_all_pairs_of_a_key_in_one_batch(tmp_path, role, batch_rows):
    outcome = run_script(tmp_path, SUM % batch_rows, role, data=DATA)
    expected = [(key, sum(value for _, value in group)) for key, group in itertools.groupby(ROWS, lambda pair: pair[0])]
    assert pairs(outcome) == expected


@pytest.mark.parametrize(
    "key",
    [lambda n: n, lambda n: (n, "a"), lambda n: [n] * (n % 3), lambda n: {"k": n}, lambda n: (n, n), lambda n: None],
)
def test_whole_groups_of_any_key(key):
    rows = [(key(n), m) for n in range(30) for m in range(n % 7 + 1)]
    data = encode(*rows)
    for batch_rows in (1, 2, 5, 1000):
        found = list(columns.read(data, batch_rows).groups())
        assert sum(map(len, found)) == len(rows)
        ends = list(itertools.accumulate(map(len, found)))[:-1]
        assert all(encode(rows[end - 1])[:-5] != encode(rows[end])[:-5] for end in ends)
        assert Decoder().decode_pairs(b"".join(_written(batch) for batch in found)) == rows


def _written(batch):
    import io

    sink = io.BytesIO()
    columns.write(sink, batch)
    return sink.getvalue()


def test_groups_that_cannot_be_kept_whole():
    for options in ({"threads": 2}, {"on_mismatch": "split"}, {"columns": ["key"]}):
        with (
            pytest.raises(
                ValueError, match=r"groups\(\) cannot be combined with threads, on_mismatch=\"split\" or columns"
            ),
            columns.read(DATA, **options) as reader,
        ):
            reader.groups()


def test_a_bad_record_is_reported_as_such(tmp_path):
    outcome = run_script(tmp_path, SAME, "map", data=DATA[:-1])
    assert outcome.code == 65
    assert outcome.details()["bad record"] == f"{len(ROWS) - 1}, at byte {len(DATA) - 1}"
    outcome = run_script(tmp_path, SAME, "map", data=DATA + encode(("a", "b")))
    assert outcome.code == 65 and "STRING in column 'value', which holds long" in outcome.messages


def test_a_job_that_fails(tmp_path):
    outcome = run_script(tmp_path, "run(lambda batch: 1 / 0, batch=True)", "map", data=DATA)
    assert outcome.code == 1 and "ZeroDivisionError" in outcome.messages
    outcome = run_script(tmp_path, 'run(lambda batch: {"key": ["a"]}, batch=True)', "map", data=DATA)
    assert outcome.code == 1 and "expected 2 columns" in outcome.messages
    lazy = "import polars\nrun(lambda batch: polars.DataFrame(batch).lazy(), batch=True)"
    assert "columns must be a dict" in run_script(tmp_path, lazy, "map", data=DATA).messages
    outcome = run_script(tmp_path, SAME, "map", data=b"", environ={"stream_map_input": "text"})
    assert outcome.code == 64
    assert "batch=True needs typed bytes as input and between tasks; this task has text as input" in outcome.messages


NULLS = """
import pyarrow
def mapper(batch):
    return pyarrow.table({{"key": ["a", "b"], "value": pyarrow.array([1, None], pyarrow.int32())}})
run(mapper, batch=True, write_options={options})
"""


def test_nulls_of_arrow_are_written_as_the_job_says(tmp_path):
    pytest.importorskip("pyarrow")
    data = encode(("x", 1))
    outcome = run_script(tmp_path, NULLS.format(options={}), "map", data=data)
    assert (outcome.code, outcome.output) == (1, b"")
    assert outcome.details()["what to do"].startswith('pass run(..., write_options={"nulls": ')
    outcome = run_script(tmp_path, NULLS.format(options={"nulls": "hive", "int_width": 64}), "map", data=data)
    assert (outcome.code, outcome.output) == (0, encode(("a", 1), ("b",)) + b"\x0c")
    outcome = run_script(tmp_path, NULLS.format(options={"nulls": "value", "null_value": -1}), "map", data=data)
    assert pairs(outcome) == [("a", 1), ("b", -1)]
    outcome = run_script(tmp_path, NULLS.format(options={"nulls": "none"}), "map", data=data)
    assert outcome.lines[-1] == 'ValueError: write_options: nulls must be "error", "hive" or "value", not \'none\''
    single = "run(lambda *pair: [pair], write_options={'nulls': 'hive'})"
    assert run_script(tmp_path, single, "map", data=data).lines[-1].startswith("TypeError: write_options: ")


def test_stopping_early(tmp_path):
    text = """
def mapper(batch):
    raise StopEarly
run(mapper, batch=True)
"""
    assert pairs(run_script(tmp_path, text, "map", data=DATA)) == []
