"""Jobs on this machine beside the same jobs of a real Hadoop: equal part files, record by record and in the same order.

Here: what Hadoop has the last word on: order and partition of keys of every type, lines and splits of text, and the
examples. The examples run here with few of the ways to run them; ``make -C tests/soak beside-hadoop`` runs all.
"""

import random
import zlib

import pytest

import typedbytes as tb
from soak import beside_hadoop
from support.hadoop_support import SEQUENCE_FILE_INPUT, SEQUENCE_FILE_OUTPUT, hadoop, python_command
from support.local_jobs import TASK_COUNTERS, parts_of, raw_pairs, run, write_script
from support.sort_pairs import made_pairs
from support.strategies import PIECES
from support.streaming_support import encode
from typedbytes import local

pytestmark = pytest.mark.hadoop

SYNC_INTERVAL = 102400  # SequenceFileInputFormat makes no split smaller
SEQUENCES = ("-outputformat", SEQUENCE_FILE_OUTPUT)


GREATEST = 2**63 - 1
FOX = "\U0001f98a"  # two characters to Java
#: What a task may say of its counters, and what only looks so; each begins a line unless it says otherwise.
REPORTS = [
    *(f"reporter:counter:amounts,{number},{text}" for number, text in enumerate((
        "1", "+4", "-2", "-0", "007", "0" * 30 + "1", "0" * 5000 + "9", GREATEST, GREATEST + 1, -GREATEST - 1,
        -GREATEST - 2, 10**25, "1.5", "1e3", " 3", "3 ", "3\t", "3\x1c", "3\xa0", "", "+", "-", "--1", "0x10", "1_000",
        "\u0663", "\uff17", "\U0001d7d1", "\xb2", "5L", "1,", "1,,", "1,x", "\x001\x00",
    ))),
    f"reporter:counter:sums,wraps,{GREATEST}", "reporter:counter:sums,wraps,1",
    f"reporter:counter:sums,falls,-{GREATEST}", f"reporter:counter:sums,falls,-{GREATEST}",
    *(f"reporter:counter:{'g' * group},{'n' * name},1" for group, name in (
        (127, 63), (128, 64), (129, 65), (300, 3), (3, 300), (70_000, 5),
    )),
    f"reporter:counter:{FOX * 64},{FOX * 32},1", f"reporter:counter:{FOX * 65},a,1",
    "reporter:counter: trimmed , not trimmed ,1", "reporter:counter:,no group,1", "reporter:counter:no name,,1",
    "reporter:counter:,,1", "reporter:counter:fields,1", "reporter:counter:fields,a,b,1", "reporter:counters:other,a,1",
    "Reporter:counter:other,b,1", " reporter:counter:other,c,1", "partial reporter:counter:other,d,1", "reporter:",
    "reporter:counter:", "reporter:status:at work", "reporter:status", "",
    *(f"{'x' * nbytes}reporter:counter:long,{nbytes},1" for nbytes in (65535, 65536, 65537, 131072)),
    "50 %\rreporter:counter:ends,return,1\rreporter:counter:ends,both,1\r", "\x0breporter:counter:ends,a,1",
    "\u2028reporter:counter:ends,b,1", "reporter:counter:ends,next line\x85,1", "reporter:counter:ends,form feed\x0c,1",
    "reporter:counter:ends,separator\u2028,1",
]  # fmt: skip
SAID = "\n".join(REPORTS).encode() + b"\nreporter:counter:bytes \xff\xc3(,a,1\nreporter:counter:ends,of all,1"


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
    local.run(
        "cat", "cat", inputs=tmp_path / "in.seq", output=tmp_path / "local", reducers=nreducers, secondary=secondary,
        memory=4 << 20,
    )  # fmt: skip

    theirs, ours = hadoop_parts(tmp_path / "hadoop"), parts_of(tmp_path / "local")
    # Of equal keys, Hadoop passes the values in an order that it does not guarantee.
    assert [[key for key, _ in part] for part in ours] == [[key for key, _ in part] for part in theirs]
    assert [sorted(part) for part in ours] == [sorted(part) for part in theirs]


def test_lines_and_splits_of_text_are_hadoops(tmp_path):
    rng = random.Random(11)
    folder, nsplits = tmp_path / "in", 9
    folder.mkdir()
    for number, nbytes in enumerate((3000, 1000, 201, 0)):
        data = b"\xef\xbb\xbf" + b"".join(rng.choices(PIECES, k=nbytes))
        (folder / f"{number}.txt").write_bytes(data[:nbytes])
    total = sum(path.stat().st_size for path in folder.iterdir())
    job = hadoop().job(
        input=folder / "*", output=tmp_path / "hadoop", mapper="cat", nreducers=0, options=SEQUENCES,
        properties=cut_into(total // nsplits),
    )  # fmt: skip
    assert job.code == 0, job.log
    local.run("cat", inputs=folder, output=tmp_path / "local", split_size=total // nsplits)
    ours = parts_of(tmp_path / "local")
    assert len(ours) > nsplits
    assert ours == hadoop_parts(tmp_path / "hadoop")


def test_text_of_hadoops_default_codec_is_known_by_its_name(tmp_path):
    """DefaultCodec: zlib, one stream or several, named .deflate.

    No byte is NUL in some, and some start as a word does.
    """
    folder = tmp_path / "in"
    folder.mkdir()
    rng = random.Random(5)
    for number in range(6):
        words = [b"".join(rng.choices(PIECES, k=rng.randrange(30))) for _ in range(2)]
        (folder / f"{number}.deflate").write_bytes(
            b"".join(zlib.compress(each, level) for each, level in zip(words, (number, 6)))
        )
    job = hadoop().job(input=folder, output=tmp_path / "hadoop", mapper="cat", nreducers=0, options=SEQUENCES)
    assert job.code == 0, job.log
    local.run("cat", inputs=folder, output=tmp_path / "local", quiet=True)
    ours = parts_of(tmp_path / "local")
    assert sum(map(len, ours)) > 50 and ours == hadoop_parts(tmp_path / "hadoop")
    for data in (b"a line\n", zlib.compress(b"a line\n")[2:], b"\x1f\x8b"):
        (tmp_path / "bad.deflate").write_bytes(data)
        assert hadoop().job(input=tmp_path / "bad.deflate", output=tmp_path / "none", mapper="cat", nreducers=0).code
        with pytest.raises(local.JobError, match="damaged deflate data"):
            local.run("cat", inputs=tmp_path / "bad.deflate", output=tmp_path / "bad", quiet=True)


@pytest.mark.parametrize(
    "written, theirs",
    [
        ("a\tb\nc\td", "a\tb\nc\td\n"),
        ("a\tb\n", "a\tb\n"),
        ("\tb\na\t", "\tb\na\t\n"),
        ("a\nb\tc\rd\te\n", None),  # docs/local.md lists the differences
    ],
)
def test_lines_of_text_output_are_hadoops(tmp_path, written, theirs):
    (tmp_path / "in.txt").write_text("a line\n")
    (tmp_path / "written").write_text(written)
    (tmp_path / "job.sh").write_text(f"cat >/dev/null; cat {tmp_path / 'written'}")
    command, text = f"bash {tmp_path / 'job.sh'}", {"stream.map.output": "text"}
    job = hadoop().job(
        input=tmp_path / "in.txt", output=tmp_path / "hadoop", mapper=command, nreducers=0, properties=text, io=None
    )
    assert job.code == 0, job.log
    result = local.run(command, inputs=tmp_path / "in.txt", output=tmp_path / "local", output_format="text")
    parts = [(tmp_path / each / "part-00000").read_bytes().decode() for each in ("local", "hadoop")]
    counted = [each.counters[TASK_COUNTERS]["MAP_OUTPUT_RECORDS"] for each in (result, job)]
    if theirs is None:
        assert (parts, counted) == ([written, "a\t\nb\tc\nd\te\n"], [2, 3])
    else:
        assert (parts, counted) == ([theirs] * 2, [theirs.count("\n")] * 2)


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
        input=tmp_path / "in", output=tmp_path / "hadoop", mapper=mapper, combiner=combiner, reducer=reducer,
        nreducers=3, options=("-inputformat", SEQUENCE_FILE_INPUT, *SEQUENCES),
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


def test_counters_are_parsed_as_hadoop_parses_them(tmp_path):
    (tmp_path / "in.txt").write_text("a line\n")
    (tmp_path / "said").write_bytes(SAID)
    (tmp_path / "job.sh").write_text(f"cat >/dev/null; cat {tmp_path / 'said'} >&2")
    job = hadoop().job(
        input=tmp_path / "in.txt", output=tmp_path / "hadoop", mapper=f"bash {tmp_path / 'job.sh'}", nreducers=0
    )
    assert job.code == 0, job.log
    result = local.run(["bash", tmp_path / "job.sh"], inputs=tmp_path / "in.txt", output=tmp_path / "local", quiet=True)
    theirs = {group: names for group, names in job.counters.items() if not group.startswith(("org.apache.", "File "))}
    assert {group: names for group, names in result.counters.items() if not group.startswith("org.apache.")} == theirs
    assert sum(map(len, theirs.values())) > 20


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
