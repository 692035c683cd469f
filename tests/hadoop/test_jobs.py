"""Real Hadoop Streaming jobs in local mode, with ``-io typedbytes`` and scripts that use typedbytes.streaming.

Every job goes through Hadoop's own code from the input file to the output file; the scripts are child processes. What a
job gives is compared with what plain Python gives for the same input.
"""

import collections
import random
import re
import textwrap

import pytest

import typedbytes as tb
from support.hadoop_support import ROOT, SEQUENCE_FILE_INPUT, SEQUENCE_FILE_OUTPUT, hadoop, python_command

pytestmark = pytest.mark.hadoop

EXAMPLES = ROOT / "examples"
GOLDEN_PAIRS = ROOT / "test_vectors" / "foreign" / "hadoop" / "golden_pairs.tb"

SEQUENCE_OUTPUT = ("-outputformat", SEQUENCE_FILE_OUTPUT)
SEQUENCE_INPUT_AND_OUTPUT = ("-inputformat", SEQUENCE_FILE_INPUT, *SEQUENCE_OUTPUT)

IDENTITY = """
    from typedbytes import streaming

    def mapper(key, value):
        yield key, value

    def reducer(key, values):
        for value in values:
            yield key, value

    streaming.run(mapper, reducer, read_options={"exact": True, "pickle": "raw"})
"""


@pytest.fixture
def script(tmp_path):
    """A function that makes a script of its text and gives the script's path."""

    def make(text):
        path = tmp_path / "job.py"
        path.write_text(textwrap.dedent(text))
        return path

    return make


def run_example(name, lines, tmp_path, **options):
    """Run an example over lines of text and give the pairs of its output."""
    (tmp_path / "in.txt").write_text(lines)
    job = hadoop().job(
        input=tmp_path / "in.txt", output=tmp_path / "out", mapper=python_command(EXAMPLES / name, "map"),
        reducer=python_command(EXAMPLES / name, "reduce"), **{"options": SEQUENCE_OUTPUT, **options},
    )  # fmt: skip
    assert job.code == 0, job.log
    return list(tb.PairReader(hadoop().dump_pairs(tmp_path / "out"))), job


def raw_pairs(data):
    """Return the encoded pairs of a stream."""
    return list(tb.PairReader(data, raw=True))


def test_word_count_over_text(tmp_path):
    words = ["the", "fox", "Fuchs", "лиса", "狐", "ü", "e\u0301", "x_1", "\U0001d4cd", "don't"]
    picked = random.Random(5).choices(words, k=6000)
    ends = ["\n", "\r\n", " ", "\t", "\u2028", "\0"]
    data = (
        "".join(word + ends[i % 7 % 6] for i, word in enumerate(picked)).encode()
        + b"\xffbroken\xe2\x82 utf-8\xed\xa0\x80end"
    )
    (tmp_path / "in.txt").write_bytes(data)

    job = hadoop().job(
        input=tmp_path / "in.txt", output=tmp_path / "out", mapper=python_command(EXAMPLES / "wordcount.py", "map"),
        combiner=python_command(EXAMPLES / "wordcount.py", "combine"),
        reducer=python_command(EXAMPLES / "wordcount.py", "reduce"), nreducers=2, options=SEQUENCE_OUTPUT,
    )  # fmt: skip

    assert job.code == 0, job.log
    expected = collections.Counter(re.findall(r"\w+", data.decode("utf-8", "replace")))
    assert dict(tb.PairReader(hadoop().dump_pairs(tmp_path / "out"))) == expected
    tasks = job.counters["org.apache.hadoop.mapreduce.TaskCounter"]
    assert job.counters["wordcount"] == {"words": sum(expected.values())}
    assert tasks["MAP_OUTPUT_RECORDS"] == tasks["COMBINE_INPUT_RECORDS"] == sum(expected.values())
    assert tasks["COMBINE_OUTPUT_RECORDS"] == tasks["REDUCE_INPUT_RECORDS"] == len(expected)
    assert_placed(tmp_path / "out", 2, len(expected))


def assert_placed(folder, nreducers, npairs):
    """Check that each part of a job's output holds the keys of its partition, in the order of their bytes."""
    parts = sorted(folder.glob("part-*"))
    assert len(parts) == nreducers
    nfound = 0
    for number, part in enumerate(parts):
        keys = [key for key, value in raw_pairs(hadoop().dump_pairs(part))]
        assert keys == sorted(keys)
        assert {tb.partition(key, nreducers) for key in keys} == {number}
        nfound += len(keys)
    assert nfound == npairs


def test_every_type_passes_through_a_mapper(tmp_path, script):
    pairs = GOLDEN_PAIRS.read_bytes() + every_value()
    hadoop().load_pairs(pairs, tmp_path / "in.seq")
    assert hadoop().dump_pairs(tmp_path / "in.seq") == pairs

    job = hadoop().job(
        input=tmp_path / "in.seq", output=tmp_path / "out", mapper=python_command(script(IDENTITY), "map"), nreducers=0,
        options=SEQUENCE_INPUT_AND_OUTPUT,
    )  # fmt: skip

    assert job.code == 0, job.log
    assert hadoop().dump_pairs(tmp_path / "out") == pairs


def every_value():
    """Return pairs of a number and a value, encoded: a value of every kind that a mapper may write."""
    return tb.Encoder().encode_pairs(
        enumerate(
            [
                *(None, True, False, 0, -1, 2**31 - 1, -(2**31), 2**31, -(2**63), 2**63 - 1, 2**63, tb.Long(1)),
                *(tb.Byte(-128), tb.Byte(127), tb.Float(0.1), 0.1, -0.0, float("inf"), float("nan")),
                *("", "\0", "ü\U0001f600", b"", bytes(range(256)), "x" * 100_000),
                *(
                    (),
                    [],
                    {},
                    ((),),
                    [[]],
                    {"k": {}},
                    (1, [2, {"three": (4.0, b"five")}]),
                    {(1, 2): [3], 4: 5, None: 6},
                ),
                *(tb.Ext(144, b"R"), tb.Ext(200), tb.Writable("org.apache.hadoop.io.NullWritable", b"")),
            ]
        )
    )


def test_every_type_as_a_key_is_sorted_partitioned_and_grouped(tmp_path, script):
    keys = [key for key, value in raw_pairs(GOLDEN_PAIRS.read_bytes())]
    pairs = b"".join(key + tb.dumps(number) for number, key in enumerate(keys))
    hadoop().load_pairs(pairs, tmp_path / "in.seq")
    command = python_command(script(IDENTITY))

    job = hadoop().job(
        input=tmp_path / "in.seq", output=tmp_path / "out", mapper=f"{command} map", reducer=f"{command} reduce",
        nreducers=3, options=SEQUENCE_INPUT_AND_OUTPUT,
    )  # fmt: skip

    assert job.code == 0, job.log
    assert sorted(raw_pairs(hadoop().dump_pairs(tmp_path / "out"))) == sorted(raw_pairs(pairs))
    assert job.counters["org.apache.hadoop.mapreduce.TaskCounter"]["REDUCE_INPUT_GROUPS"] == len(set(keys))
    assert_placed(tmp_path / "out", 3, len(keys))


def test_mean_example(tmp_path):
    lines = "oslo -3.5\nrome 20\noslo 0.5\nno number here\nrome 30\noslo 0\n"
    pairs, job = run_example("mean.py", lines, tmp_path, combiner=python_command(EXAMPLES / "mean.py", "combine"))
    assert pairs == [("oslo", {"mean": -1.0, "count": 3}), ("rome", {"mean": 25.0, "count": 2})]
    assert job.counters["mean"] == {"lines passed over": 1}


def test_join_example(tmp_path):
    lines = 'order,7,19.90\ncustomer,7,"Lovelace, Ada"\ncustomer,8,Bob\norder,9,1\norder,7,5\n'
    pairs, job = run_example("join.py", lines, tmp_path)
    assert pairs == [("Lovelace, Ada", [5.0, 19.9])]
    assert job.counters["join"] == {"orders without a customer": 1}


def test_output_as_text_is_what_java_prints(tmp_path):
    run_example("wordcount.py", "b a\nb ü\n", tmp_path, options=())
    assert (tmp_path / "out" / "part-00000").read_text("utf-8") == "a\t1\nb\t2\nü\t1\n"


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        pytest.param("raise LookupError('no such word')", 1, "LookupError: no such word", id="raises"),
        pytest.param("return [(key, object())]", 1, "EncodeTypeError", id="value without an encoding"),
        pytest.param("return [key]", 1, "TypeError", id="no pair"),
        pytest.param(
            "sys.exit(0)",
            1,
            "typedbytes: exit: the script called sys.exit(); to end a task early",
            id="exits with code 0",
        ),
        pytest.param("os.kill(os.getpid(), signal.SIGTERM)", 143, "stopped by SIGTERM", id="is stopped"),
        pytest.param("print('dying', flush=True); os.kill(os.getpid(), signal.SIGKILL)", 137, "dying", id="is killed"),
    ],
)
def test_job_fails_with_its_mapper(tmp_path, script, body, code, said):
    (tmp_path / "in.txt").write_text("one\ntwo\n")
    path = script(
        f"""
        import os, signal, sys
        from typedbytes import streaming

        def mapper(key, value):
            if value == "two":
                {body}
            return [(value, 1)]

        streaming.run(mapper)
        """
    )

    job = hadoop().job(
        input=tmp_path / "in.txt", output=tmp_path / "out", mapper=python_command(path, "map"), nreducers=0
    )

    assert job.code != 0
    assert f"subprocess failed with code {code}\n" in job.log
    assert said in job.log


def test_job_fails_with_its_reducer_and_reports_why(tmp_path, script):
    (tmp_path / "in.txt").write_text("one\n")
    path = script(
        """
        from typedbytes import streaming

        def mapper(key, value):
            yield value, 1

        def reducer(key, values):
            raise LookupError("nothing is known about " + key)

        streaming.run(mapper, reducer)
        """
    )

    job = hadoop().job(
        input=tmp_path / "in.txt",
        output=tmp_path / "out",
        mapper=python_command(path, "map"),
        reducer=python_command(path, "reduce"),
    )

    assert job.code != 0
    assert "LookupError: nothing is known about one" in job.log


def test_job_succeeds_with_a_mapper_that_stops_early(tmp_path, script):
    (tmp_path / "in.txt").write_text("a line\n" * 100_000)
    path = script(
        """
        from typedbytes import streaming

        def mapper(key, value):
            if key > 7:
                raise streaming.StopEarly
            yield key, value

        streaming.run(mapper)
        """
    )

    job = hadoop().job(
        input=tmp_path / "in.txt", output=tmp_path / "out", mapper=python_command(path, "map"), nreducers=0,
        options=SEQUENCE_OUTPUT,
    )  # fmt: skip

    assert job.code == 0, job.log
    assert list(tb.PairReader(hadoop().dump_pairs(tmp_path / "out"))) == [(0, "a line"), (7, "a line")]


def test_what_a_mapper_prints_stays_out_of_the_output(tmp_path, script):
    (tmp_path / "in.txt").write_text("one\ntwo\n")
    path = script(
        """
        import os, subprocess, sys
        from typedbytes import streaming

        def mapper(key, value):
            print("printed", value)
            os.write(1, b"written\\n")
            subprocess.run(["echo", "echoed"])
            yield value, len(value)

        streaming.run(mapper)
        """
    )

    job = hadoop().job(
        input=tmp_path / "in.txt", output=tmp_path / "out", mapper=python_command(path, "map"), nreducers=0,
        options=SEQUENCE_OUTPUT,
    )  # fmt: skip

    assert job.code == 0, job.log
    assert list(tb.PairReader(hadoop().dump_pairs(tmp_path / "out"))) == [("one", 3), ("two", 3)]
    assert {"printed two", "written", "echoed"} <= set(job.log.splitlines())


def test_counters_and_status_reach_hadoop(tmp_path, script):
    (tmp_path / "in.txt").write_text("one\ntwo\nthree\n")
    path = script(
        """
        from typedbytes import streaming

        def mapper(key, value):
            streaming.counter("Wörter, alle", "mit e", value.count("e"))
            streaming.status("at " + value)

        streaming.run(mapper)
        """
    )

    job = hadoop().job(
        input=tmp_path / "in.txt", output=tmp_path / "out", mapper=python_command(path, "map"), nreducers=0
    )

    assert job.code == 0, job.log
    assert job.counters["Wörter; alle"] == {"mit e": 3}
    assert "Cannot parse" not in job.log
