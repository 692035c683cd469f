"""Whole splits: a task finds in a file's bytes the pairs that Hadoop itself would have passed on one by one."""

import bz2
import collections
import gzip
import io
import random
import textwrap
import zipfile

import pytest

import typedbytes as tb
from support.hadoop_support import SEQUENCE_FILE_OUTPUT, ZSTD, airlift_codec, hadoop, jars, python_command
from typedbytes import sequencefile
from typedbytes._base import bzip2
from typedbytes._base.zstd import zstd
from typedbytes.jobs.tasks import inputs
from typedbytes.streaming.formats.splits import open_split

pytestmark = [pytest.mark.hadoop, pytest.mark.every_hadoop]


def pairs_of(kind, piece, told):
    """Return the pairs of a whole split, as a task has them, as typed bytes."""
    source = open_split(io.BytesIO(piece), {"typedbytes_split_format": kind, **told})
    found = b"".join(iter(lambda: source.read1(1 << 16), b""))
    assert source.read1(1 << 16) == b""
    return found


def cuts(size, step):
    """Return the splits of a file that is cut every `step` bytes."""
    return [(start, min(step, size - start)) for start in range(0, size, step)] or [(0, 0)]


def check(kind, path, steps):
    """Compare the pairs of each split, however the file is cut, with those of Hadoop's own; return the number."""
    splits = [each for step in steps for each in cuts(path.stat().st_size, step)]
    expected = hadoop().pairs_of_splits(kind, path, splits)
    for split, pairs, (piece, told) in zip(splits, expected, hadoop().whole_splits(kind, path, splits)):
        assert pairs_of(kind, piece, told) == pairs, split
    return sum(tb.count(pairs) // 2 for pairs in expected)


TEXTS = {
    "lf": b"one\ntwo\n\n\nthree four\n",
    "crlf": b"one\r\ntwo\r\n\r\nthree\r\n\r\n",
    "cr": b"one\rtwo\r\rthree\r",
    "mixed": b"a\r\n\nb\r\r\nc\n\rd\r\n\r\n\r",
    "no end": b"one\ntwo",
    "ends with cr": b"one\ntwo\r",
    "empty": b"",
    "one end": b"\n",
    "utf-8": "é\nлиса\r\n狐狸\r\U0001d4cd\n".encode(),
    "not utf-8": b"\xff\n\xed\xa0\x80\n\xe2\x82\nend",
    "mark": b"\xef\xbb\xbfone\ntwo\n",
    "long": b"x" * 40_000 + b"\r\n" + b"y" * 20_000 + b"\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_lines_are_those_of_hadoop_wherever_a_text_is_cut(name, tmp_path):
    path = tmp_path / "in.txt"
    path.write_bytes(TEXTS[name])
    steps = (
        range(1, len(TEXTS[name]) + 2) if len(TEXTS[name]) < 100 else (16_383, 16_384, 40_000, 40_001, 40_002, 10**6)
    )
    nlines = check("text", path, steps)
    assert nlines % len(steps) == 0 and (nlines > 0) == bool(TEXTS[name])


def test_lines_at_random(tmp_path):
    rng = random.Random(21)
    for number in range(12):
        path = tmp_path / f"{number}.txt"
        path.write_bytes(
            b"".join(rng.choices([b"\r", b"\n", b"\r\n", b"a", b"bc", "é".encode()], k=rng.randint(1, 30)))
        )
        check("text", path, range(1, path.stat().st_size + 2, 5))


@pytest.mark.parametrize("suffix, compress", [(".gz", gzip.compress), (".bz2", bz2.compress), (".zst", zstd.compress)])
def test_compressed_text_is_one_split(suffix, compress, tmp_path):
    path = tmp_path / f"in.txt{suffix}"
    path.write_bytes(compress(b"one\r\ntwo\n" * 1000))
    assert check("text", path, [10**6]) == 2000
    ours, hadoops = hadoop().make_splits("text", path, 10)
    assert ours == f"0 {path.stat().st_size}," and (suffix == ".bz2" or ours == hadoops)


BZIP2 = {
    "one stream": lambda rng: bz2.compress(lines_of(rng, 6000, [b"\n"]), 1),
    "any ends of lines": lambda rng: bz2.compress(lines_of(rng, 6000, [b"\n", b"\r", b"\r\n"]), 1),
    "many streams": lambda rng: b"".join(
        bz2.compress(lines_of(rng, rng.randrange(1, 6), [b"\n", b"\r\n", b""])) for _ in range(30)
    ),
    "ends between blocks": lambda rng: b"".join(
        map(bz2.compress, [b"a\n", b"b\r", b"\nc\r", b"d\n", b"e", b"f\r\n", b"\r", b"\n", b"gggg", b"h\n"])
    ),
}  # fmt: skip


def lines_of(rng, nlines, ends):
    return b"".join(rng.randbytes(rng.randrange(60)).hex().encode() + rng.choice(ends) for _ in range(nlines))


@pytest.mark.parametrize("name", BZIP2)
def test_a_bzip2_file_on_this_machine_has_the_pairs_of_hadoop_wherever_it_is_cut(name, tmp_path):
    path = tmp_path / "in.bz2"
    data = BZIP2[name](random.Random(8))
    path.write_bytes(data)
    blocks = [offset for offset, _ in bzip2._Blocks(io.BytesIO(data), 0)]
    steps = [blocks[1] - 1, blocks[1], blocks[1] + 1, len(data) // 7, len(data) + 1]
    steps += [1, 2, 3, 5, 38, 39] if len(data) < 1000 else []
    splits = [each for step in steps for each in cuts(len(data), step)]
    for (start, length), pairs in zip(splits, hadoop().pairs_of_splits("text", path, splits)):
        sink = io.BytesIO()
        with inputs.open_split(inputs.Split(str(path), inputs.TEXT, start, length, "bzip2")) as reader:
            reader.copy_to(sink)
        assert sink.getvalue() == pairs, (start, length)


CLASSES = {
    "typed bytes": ("TypedBytesWritable", [("key %d" % number, (number, [1.5])) for number in range(200)]),
    "text": ("Text", [("k%d" % number, "é" * (number % 7)) for number in range(200)]),
    "tiny": ("NullWritable", [(None, None)] * 300),
    "large": ("BytesWritable", [(bytes([number]), bytes(number * 997 % 1500)) for number in range(20)]),
}


COMPRESSIONS = {
    **{name: {"compression": name} for name in ("none", "record", "block")},
    **{name.lower(): {"compression": "block", "codec": airlift_codec(name)} for name in ("Snappy", "Lz4", "Zstd")},
}


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("classes", CLASSES)
def test_pairs_of_a_sequence_file_are_those_of_hadoop_wherever_it_is_cut(classes, compression, tmp_path):
    name, pairs = CLASSES[classes]
    path = tmp_path / "in.seq"
    how = COMPRESSIONS[compression]
    with sequencefile.open(
        str(path),
        "w",
        key_class=name,
        value_class=name,
        sync_interval=100,
        block_size=300,
        metadata={"of": "me"},
        **how,
    ) as file:
        file.writes(pairs)
    size = path.stat().st_size
    with sequencefile.open(str(path)) as file:
        head = file.offset  # the end of the header
    steps = [size // 100, head - 1, head, head + 1, *random.Random(5).sample(range(head, size + 2), 4), 10 * size]
    assert check("sequencefile", path, steps) == len(steps) * len(pairs)


def test_splits_are_hadoops(tmp_path):
    path = tmp_path / "in.txt"
    path.write_bytes(b"line\n" * 5000)
    assert len(set(hadoop().make_splits("text", path, 3000))) == 1
    with sequencefile.open(str(tmp_path / "in.seq"), "w") as file:
        file.writes(enumerate(["text" * 30] * 20_000))
    ours, hadoops = hadoop().make_splits("sequencefile", tmp_path / "in.seq", 300_000)
    assert ours == hadoops and ours.count(",") > 5


# The plug-in, and jobs


def test_the_plug_in_builds_and_its_own_tests_pass(tmp_path):
    said = jars.build_with_maven(jars.SPLITS, tmp_path)
    with zipfile.ZipFile(tmp_path / "typedbytes-hadoop.jar") as jar:
        versions = {jar.read(name)[6:8] for name in jar.namelist() if name.endswith(".class")}
    ntests = sum(path.read_text("utf-8").count("@Test\n") for path in (jars.SPLITS / "src" / "test").rglob("*.java"))
    assert ntests > 5 and f"Tests run: {ntests}, Failures: 0, Errors: 0, Skipped: 0" in said
    assert versions == {b"\x00\x34"}  # Java 8


JOB = """
    from typedbytes import streaming

    def mapper(key, value):
        for word in value.split():
            yield word, 1

    def reducer(key, values):
        yield key, sum(values)

    streaming.run(mapper, reducer, combiner=reducer)
"""
IDENTITY = """
    from typedbytes import streaming

    streaming.run(
        lambda key, value: [(key, value)],
        lambda key, values: [(key, value) for value in values],
        read_options={"exact": True},
    )
"""
BATCHES = """
    from typedbytes import streaming

    streaming.run(lambda batch: batch, batch=True)
"""
SEQUENCE_OUTPUT = ("-outputformat", SEQUENCE_FILE_OUTPUT)
RESOLVER = "org.typedbytes.hadoop.SplitIdentifierResolver"
SPLIT_INPUT = ("-inputformat", "org.typedbytes.hadoop.SplitInputFormat")
SPLIT_OUTPUT = ("-outputformat", "org.typedbytes.hadoop.SplitOutputFormat")


@pytest.fixture
def run_job(tmp_path):
    """A function that runs a job's script over splits of a format and gives the job."""

    def run(
        script, kind, *, name="out", whole_output=False, nreducers=0, properties=(), options=(), with_combiner=False
    ):
        path = tmp_path / "job.py"
        path.write_text(textwrap.dedent(script))
        outputs = {"stream.map.output" if nreducers == 0 else "stream.reduce.output": "split"} if whole_output else {}
        formats = {
            **{f"stream.{side}": "typedbytes" for side in ("map.output", "reduce.input", "reduce.output")},
            "stream.map.input": "split",
        }
        formats = {
            "stream.io.identifier.resolver.class": RESOLVER,
            "typedbytes.split.format": kind,
            **formats,
            **outputs,
        }
        how = {"reducer": python_command(path, "reduce")} if nreducers else {}
        if with_combiner:
            how["combiner"] = python_command(path, "combine")
        return hadoop().job(
            input=tmp_path / "in", output=tmp_path / name, mapper=python_command(path, "map"), nreducers=nreducers,
            io=None, options=(*SPLIT_INPUT, *(SPLIT_OUTPUT if whole_output else SEQUENCE_OUTPUT), *options),
            properties={**formats, **dict(properties)}, **how,
        )  # fmt: skip

    (tmp_path / "in").mkdir()
    return run


@pytest.mark.parametrize("whole_output", [False, True])
def test_words_are_counted(whole_output, run_job, tmp_path):
    lines = [f"the fox {number % 37} лиса" for number in range(20_000)]
    (tmp_path / "in" / "a.txt").write_text("\r\n".join(lines))
    (tmp_path / "in" / "b.txt.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    small = {"mapreduce.input.fileinputformat.split.maxsize": 100_000}
    job = run_job(JOB, "text", nreducers=2, whole_output=whole_output, properties=small, with_combiner=True)
    assert job.code == 0, job.log
    expected = collections.Counter(word for line in lines for word in line.split())
    pairs = list(sequencefile.read(tmp_path / "out"))
    assert dict(pairs) == {word: 2 * count for word, count in expected.items()} and len(pairs) == len(expected)
    assert job.counters["typedbytes"]["MapInputRecords"] == 2 * len(lines)


@pytest.mark.parametrize("script", [IDENTITY, BATCHES], ids=["pairs", "batches"])
@pytest.mark.parametrize("compression", [None, "RECORD", "BLOCK"])
def test_a_map_only_job_writes_what_it_reads(script, compression, run_job, tmp_path):
    pairs = [(number, tb.Long(7 * number)) for number in range(30_000)]
    for name in ("a.seq", "b.seq"):
        with sequencefile.open(str(tmp_path / "in" / name), "w", compression="block") as file:
            file.writes(pairs)
    compressed = {} if compression is None else {"compress": "true", "compress.type": compression}
    properties = {f"mapreduce.output.fileoutputformat.{name}": value for name, value in compressed.items()}
    job = run_job(script, "sequencefile", whole_output=True, properties=properties)
    assert job.code == 0, job.log
    for part in ("part-00000", "part-00001"):
        with sequencefile.open(str(tmp_path / "out" / part), exact=True) as file:
            assert file.read_all() == pairs
            assert file.compression == (compression or "none").lower()
    header, records = hadoop().read_sequence_file(tmp_path / "out" / "part-00000")
    assert len(records) == len(pairs)
    assert job.counters["typedbytes"]["MapInputRecords"] == 2 * len(pairs)


def test_reducers_without_input_write_an_empty_file(run_job, tmp_path):
    (tmp_path / "in" / "a.txt").write_text("one\n")
    job = run_job(JOB, "text", nreducers=3, whole_output=True)
    assert job.code == 0, job.log
    assert [list(sequencefile.read(tmp_path / "out" / f"part-0000{number}")) for number in range(3)].count([]) == 2


def test_a_file_of_typed_bytes_is_one_split(run_job, tmp_path):
    pairs = [(number, {"a": [number]}) for number in range(5000)]
    (tmp_path / "in" / "a.tb").write_bytes(tb.Encoder().encode_pairs(pairs))
    job = run_job(
        IDENTITY, "typedbytes", whole_output=True, properties={"mapreduce.input.fileinputformat.split.maxsize": 1000}
    )
    assert job.code == 0, job.log
    assert list(sequencefile.read(tmp_path / "out")) == pairs


def test_zstd_text_is_read_where_hadoop_has_a_codec_for_it(run_job, tmp_path):
    (tmp_path / "in" / "a.txt.zst").write_bytes(zstd.compress(b"one two\n" * 1000))
    job = run_job(JOB, "text", nreducers=1, properties={"io.compression.codecs": ZSTD})
    assert job.code == 0, job.log
    assert list(sequencefile.read(tmp_path / "out")) == [("one", 1000), ("two", 1000)]
    job = run_job(JOB, "text", nreducers=1, name="without")
    assert job.code != 0 and "native zStandard library not available" in job.log


def test_zstd_sequence_files_need_no_codec_of_hadoop(run_job, tmp_path):
    pairs = [(number, tb.Long(7 * number)) for number in range(3000)]
    with sequencefile.open(str(tmp_path / "in" / "a.seq"), "w", compression="block", codec="zstd") as file:
        file.writes(pairs)
    written = {"": "true", ".type": "BLOCK", ".codec": "org.apache.hadoop.io.compress.ZStandardCodec"}
    properties = {f"mapreduce.output.fileoutputformat.compress{name}": value for name, value in written.items()}
    job = run_job(IDENTITY, "sequencefile", whole_output=True, properties=properties)
    assert job.code == 0, job.log
    with sequencefile.open(str(tmp_path / "out" / "part-00000"), exact=True) as file:
        assert (file.read_all(), file.codec) == (pairs, "org.apache.hadoop.io.compress.ZStandardCodec")


FAILING = {
    "an error": ("streaming.run(lambda key, value: [(key, 1 / (key - 3000))])", "division by zero"),
    "an early exit": ("streaming.run(lambda key, value: sys.exit(0) if key == 3000 else ())",
                      "to end a task early, raise StopEarly"),
    "a kill": ("streaming.run(lambda key, value: os.kill(os.getpid(), 9) if key == 3000 else ())",
               "failed with code 137"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILING)
def test_a_task_that_does_not_do_its_whole_split_fails(name, run_job, tmp_path):
    with sequencefile.open(str(tmp_path / "in" / "a.seq"), "w") as file:
        file.writes(zip(range(200_000), range(200_000)))
    script, report = FAILING[name]
    job = run_job(f"import os, sys\nfrom typedbytes import streaming\n{script}", "sequencefile", whole_output=True)
    assert job.code != 0 and report in job.log
    assert not (tmp_path / "out" / "part-00000").exists()


def test_damage_fails_the_task(run_job, tmp_path):
    with sequencefile.open(str(tmp_path / "in" / "a.seq"), "w") as file:
        file.writes(zip(range(20_000), range(20_000)))
    data = bytearray((tmp_path / "in" / "a.seq").read_bytes())
    data[5000:5008] = b"\x7f" * 8
    (tmp_path / "in" / "a.seq").write_bytes(data)
    job = run_job(IDENTITY, "sequencefile", whole_output=True)
    assert job.code != 0 and "bad input (exit code 65)" in job.log


def test_what_whole_splits_cannot_be_is_refused(run_job, tmp_path):
    (tmp_path / "in" / "a.txt").write_text("one\n")
    job = run_job(JOB, "text", properties={"textinputformat.record.delimiter": ";"})
    assert job.code != 0 and "use --feed pairs" in job.log
    job = run_job(JOB, "parquet", name="other")
    assert job.code != 0 and "must be one of [text, sequencefile, typedbytes], not 'parquet'" in job.log
    job = run_job(JOB, "sequencefile", name="third")
    assert job.code != 0 and "is not a SequenceFile" in job.log
