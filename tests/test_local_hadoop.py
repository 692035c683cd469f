"""Jobs on this machine beside the same jobs of a real Hadoop: equal part files, record by record and in the same order.

Belongs here: what Hadoop has the last word on: order and partition of keys of every type, lines and splits of text, and the examples.
The examples run here with few of the ways to run them; ``make local-beside-hadoop`` runs all.
"""

import random

import pytest

import beside_hadoop
import typedbytes as tb
from hadoop_support import SEQUENCE_FILE_INPUT, SEQUENCE_FILE_OUTPUT, hadoop, python_command
from local_jobs import parts_of, raw_pairs, run, write_script
from streaming_support import encode
from test_lines import PIECES
from test_sorting import made_pairs
from typedbytes import local

pytestmark = pytest.mark.hadoop

SYNC_INTERVAL = 102400    # SequenceFileInputFormat makes no split smaller
SEQUENCES = ("-outputformat", SEQUENCE_FILE_OUTPUT)


def cut_into(split_size):
    """Return the properties by which Hadoop cuts local files into splits of a size."""
    return {"fs.local.block.size": split_size, "fs.file.impl.disable.cache": "true"}


def hadoop_parts(folder):
    """Return the encoded pairs of each part file, as Hadoop's dumptb reads them."""
    return [list(tb.PairReader(hadoop().dump_pairs(path), raw=True)) for path in sorted(folder.glob("part-*"))]


@pytest.mark.parametrize(("nreducers", "secondary"), [(7, 0), (3, 6)])
def test_keys_of_every_type_are_sorted_and_partitioned_as_hadoop_does(tmp_path, nreducers, secondary):
    pairs = made_pairs(random.Random(secondary), 3000, nkeys=500)
    hadoop().load_pairs(b"".join(key + value for key, value in pairs), tmp_path / "in.seq")
    partitioner = ("-partitioner", "org.apache.hadoop.mapred.lib.BinaryPartitioner") if secondary else ()
    job = hadoop().job(
        input=tmp_path / "in.seq", output=tmp_path / "hadoop", mapper="cat", reducer="cat", nreducers=nreducers,
        options=("-inputformat", SEQUENCE_FILE_INPUT, *SEQUENCES, *partitioner),
        properties={"mapreduce.partition.binarypartitioner.right.offset": -secondary - 1} if secondary else None,
    )  # fmt: skip
    assert job.code == 0, job.log
    local.run("cat", "cat", inputs=tmp_path / "in.seq", output=tmp_path / "local", reducers=nreducers, secondary=secondary, memory=4 << 20)

    theirs, ours = hadoop_parts(tmp_path / "hadoop"), parts_of(tmp_path / "local")
    # Of equal keys, Hadoop gives the values in an order of its own, which it does not promise.
    assert [[key for key, _ in part] for part in ours] == [[key for key, _ in part] for part in theirs]
    assert [sorted(part) for part in ours] == [sorted(part) for part in theirs]


def test_lines_and_splits_of_text_are_hadoops(tmp_path):
    chance = random.Random(11)
    folder, nsplits = tmp_path / "in", 9
    folder.mkdir()
    for number, nbytes in enumerate((3000, 1000, 201, 0)):
        data = b"\xef\xbb\xbf" + b"".join(chance.choices(PIECES, k=nbytes))
        (folder / f"{number}.txt").write_bytes(data[:nbytes])
    total = sum(path.stat().st_size for path in folder.iterdir())
    job = hadoop().job(
        input=folder / "*", output=tmp_path / "hadoop", mapper="cat", nreducers=0, options=SEQUENCES, properties=cut_into(total // nsplits)
    )
    assert job.code == 0, job.log
    local.run("cat", inputs=folder, output=tmp_path / "local", split_size=total // nsplits)
    ours = parts_of(tmp_path / "local")
    assert len(ours) > nsplits
    assert ours == hadoop_parts(tmp_path / "hadoop")


def test_sequence_files_are_cut_as_hadoop_cuts_them(tmp_path):
    hadoop().write_sequence_file(tmp_path / "in.seq", "none", "none", nrecords=300, nbytes=2000)
    job = hadoop().job(
        input=tmp_path / "in.seq", output=tmp_path / "hadoop", mapper="cat", nreducers=0,
        options=("-inputformat", SEQUENCE_FILE_INPUT, *SEQUENCES), properties=cut_into(SYNC_INTERVAL),
    )  # fmt: skip
    assert job.code == 0, job.log
    local.run("cat", inputs=tmp_path / "in.seq", output=tmp_path / "local", split_size=SYNC_INTERVAL)
    ours = parts_of(tmp_path / "local")
    assert sum(map(len, ours)) == 300
    assert len(ours) > 2
    assert ours == hadoop_parts(tmp_path / "hadoop")


JOIN = """
    from typedbytes import streaming
    from typedbytes.streaming import lib

    mapper = lib.MultiMapper()
    mapper.add("names", lib.primary(lib.identitymapper))
    mapper.add("prices", lib.secondary(lib.identitymapper))

    class Reducer(lib.JoinReducer):
        def primary(self, key, names):
            self.name = next(names)

        def secondary(self, key, prices):
            yield self.name, sorted(prices)

    if __name__ == "__main__":
        streaming.run(mapper, Reducer, lib.JoinCombiner)
"""


def test_a_join_needs_no_option_for_several_reducers(tmp_path):
    (tmp_path / "in").mkdir()
    sides = {number: (f"name {number}", [number + 0.5] * (number % 4)) for number in range(60)}
    sides = {(key if key % 2 else str(key)): side for key, side in sides.items()}
    prices = [(key, price) for key, (_, prices) in sides.items() for price in prices]
    hadoop().load_pairs(encode(*((key, name) for key, (name, _) in sides.items())), tmp_path / "in" / "names.seq")
    hadoop().load_pairs(encode(*random.Random(3).sample(prices, len(prices))), tmp_path / "in" / "prices.seq")
    script = write_script(tmp_path, JOIN)
    mapper, combiner, reducer = (python_command(script, role) for role in ("map", "combine", "reduce"))
    job = hadoop().job(
        input=tmp_path / "in", output=tmp_path / "hadoop", mapper=mapper, combiner=combiner, reducer=reducer, nreducers=3,
        options=("-inputformat", SEQUENCE_FILE_INPUT, *SEQUENCES),
    )  # fmt: skip
    assert job.code == 0, job.log
    run(script, tmp_path / "in", tmp_path / "local", reducers=3)
    parts = hadoop_parts(tmp_path / "hadoop")
    assert parts_of(tmp_path / "local") == parts
    joined = [(tb.loads(name), tb.loads(prices)) for part in parts for name, prices in part]
    assert sorted(joined) == sorted((name, prices) for name, prices in sides.values() if prices)
    # where the key itself would go, had it no mark
    homes = {name: tb.partition(tb.dumps(key), 3) for key, (name, _) in sides.items()}
    assert [{homes[tb.loads(name)] for name, _ in part} for part in parts] == [{0}, {1}, {2}]


@pytest.mark.parametrize("case", beside_hadoop.SOME, ids=str)
def test_examples_give_the_same_parts(tmp_path, case):
    theirs, ours = beside_hadoop.both(case, tmp_path)
    assert ours == theirs
    assert len(ours) == case.nreducers
    assert any(ours)


def test_the_command_reads_what_a_job_has_written(tmp_path):
    (tmp_path / "in.txt").write_text("one\ntwo\n")
    local.run("cat", inputs=tmp_path / "in.txt", output=tmp_path / "out")
    assert list(tb.PairReader(hadoop().dump_pairs(tmp_path / "out"))) == [(0, "one"), (4, "two")]
    assert [tb.loads(key) for key, _ in raw_pairs(tmp_path / "out" / "part-00000")] == [0, 4]
