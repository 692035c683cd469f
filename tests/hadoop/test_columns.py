"""A real Hadoop Streaming job whose mapper and reducer work on columns, beside the same job on pairs.

Both go through Hadoop's own code from the input file to the output file; what they give must be the same bytes. The CPU
time of their Python processes is counted by the jobs themselves and printed, and decides nothing.
"""

import random
import textwrap

import pytest

import typedbytes as tb
from support.hadoop_support import ROOT, SEQUENCE_FILE_INPUT, SEQUENCE_FILE_OUTPUT, hadoop, python_command

pytestmark = pytest.mark.hadoop

SEQUENCES = ("-inputformat", SEQUENCE_FILE_INPUT, "-outputformat", SEQUENCE_FILE_OUTPUT)
NPAIRS, NSENSORS = 100_000, 500

ON_PAIRS = """
    import time
    from typedbytes import Long, streaming

    class Job:
        def close(self):
            streaming.counter("cpu", "milliseconds", int(1000 * time.process_time()))

    class Mapper(Job):
        def map(self, sensor, value):
            if value[0] >= 0.5:
                yield sensor, (value[0], Long(value[1]))

    class Reducer(Job):
        def reduce(self, sensor, values):
            measures, counts = zip(*values)
            yield sensor, (sum(measures), Long(sum(counts)))

    streaming.run(Mapper, Reducer)
"""
ON_COLUMNS = """
    import time, sys
    sys.path.insert(0, {examples!r})
    import columns
    from typedbytes import streaming

    class Job:
        def close(self):
            streaming.counter("cpu", "milliseconds", int(1000 * time.process_time()))

    class Mapper(Job):
        map = staticmethod(columns.mapper)

    class Reducer(Job):
        reduce = staticmethod(columns.reducer)

    streaming.run(Mapper, Reducer, batch=True)
"""


def test_a_job_on_columns_gives_what_the_job_on_pairs_gives(tmp_path, capsys):
    rng = random.Random(11)
    # halves: sums of them are exact in any order
    rows = [
        (rng.randrange(NSENSORS), (rng.randrange(1000) / 512, tb.Long(rng.randrange(2**20)))) for _ in range(NPAIRS)
    ]
    hadoop().load_pairs(tb.Encoder().encode_pairs(rows), tmp_path / "in.seq")
    found = {}
    for kind, text in (("pairs", ON_PAIRS), ("columns", ON_COLUMNS.format(examples=str(ROOT / "examples")))):
        script = tmp_path / f"{kind}.py"
        script.write_text(textwrap.dedent(text))
        job = hadoop().job(
            input=tmp_path / "in.seq", output=tmp_path / kind, mapper=python_command(script, "map"),
            reducer=python_command(script, "reduce"), nreducers=2, options=SEQUENCES,
        )  # fmt: skip
        assert job.code == 0, job.log
        found[kind] = hadoop().dump_pairs(tmp_path / kind)
        with capsys.disabled():
            print(f"\n{kind}: {job.counters['cpu']['milliseconds']} ms of CPU time in Python for {NPAIRS} pairs")
    assert found["columns"] == found["pairs"]
    assert len(list(tb.PairReader(found["columns"]))) == NSENSORS
