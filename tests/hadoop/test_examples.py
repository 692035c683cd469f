"""The examples as real Hadoop jobs, with the exact options of docs/hadoop.md; and what a job leaves beside its output.

Here: one job for each example. Invariant: what Hadoop gives is compared with what the example gives in this process,
and with plain Python that knows nothing of jobs.
"""

import collections
import re
import subprocess
import sys
from operator import itemgetter

import numpy
import pytest

import typedbytes as tb
from support.hadoop_support import ROOT, SEQUENCE_FILE_INPUT, SEQUENCE_FILE_OUTPUT, hadoop, python_command
from typedbytes import hadoop as submitting, sequencefile
from typedbytes.streaming import testing

pytestmark = pytest.mark.hadoop

EXAMPLES = ROOT / "examples"
SEQUENCES = ("-outputformat", SEQUENCE_FILE_OUTPUT)


@pytest.fixture
def example(monkeypatch):
    """Return a function that imports an example."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return __import__


def made(*words):
    """Return what inputs.py prints."""
    return subprocess.run([sys.executable, EXAMPLES / "inputs.py", *words], check=True, stdout=subprocess.PIPE).stdout


def run_example(name, folder, *, nreducers=2, secondary=0, combiner=False, options=SEQUENCES):
    """Run an example over in* of a folder and return the pairs of its output, and the job."""
    plan = submitting.Plan(name, ["in"], "out", nreducers=nreducers, secondary=secondary)
    partitioner = [word for part in plan._other_parts() if part[0] == "-partitioner" for word in part]
    command = python_command(EXAMPLES / name)
    job = hadoop().job(
        input=folder / "in*", output=folder / "out", nreducers=nreducers,
        mapper=f"{command} map", reducer=f"{command} reduce", combiner=f"{command} combine" if combiner else None,
        options=[*options, *partitioner], properties={**plan.all_properties(), **plan.properties},
    )  # fmt: skip
    assert job.code == 0, job.log
    return list(tb.PairReader(hadoop().dump_pairs(folder / "out"))), job


def test_inverted_index(tmp_path):
    texts = {"in-a.txt": "the fox\nThe end\n", "in-b.txt": "a fox, the Fuchs\nü\n"}
    expected = collections.defaultdict(lambda: collections.defaultdict(list))
    for name, text in texts.items():
        (tmp_path / name).write_text(text, "utf-8")
        offset = 0
        for line in text.splitlines(keepends=True):
            for word in set(re.findall(r"\w+", line.lower())):
                expected[word][name].append(offset)
            offset += len(line.encode())
    pairs, _ = run_example("inverted_index.py", tmp_path, combiner=True)
    assert dict(pairs) == expected


def test_max_temperature(tmp_path):
    (tmp_path / "in.txt").write_bytes(made("weather", "3000"))
    highest = {}
    for line in made("weather", "3000").decode().splitlines():
        station, date, degrees, quality = line.split()
        if quality in "01459" and degrees != "9999":
            measured = (-float(degrees), station)
            highest[int(date[:4])] = min(highest.get(int(date[:4]), measured), measured)
    pairs, job = run_example("max_temperature.py", tmp_path, nreducers=3, secondary=20)
    assert sorted(pairs) == [(year, (-degrees, station)) for year, (degrees, station) in sorted(highest.items())]
    assert (
        job.counters["weather"]["measurements passed over"]
        == 3000 - job.counters["org.apache.hadoop.mapreduce.TaskCounter"]["MAP_OUTPUT_RECORDS"]
    )


def test_sessions(tmp_path, example):
    lines = made("log", "2000").decode().splitlines()
    (tmp_path / "in.txt").write_text("\n".join(lines))
    pairs, _ = run_example("sessions.py", tmp_path, nreducers=3)
    sessions = example("sessions")
    assert sorted(pairs) == sorted(
        testing.run_job(enumerate(lines), sessions.mapper, sessions.reducer, group_by=itemgetter(0))
    )
    assert sum(npages for _, (npages, _, _, _) in pairs) == len(lines)
    times = collections.defaultdict(list)
    for line in lines:
        seconds, visitor, _ = line.split()
        times[visitor].append(int(seconds))
    nsessions = sum(1 + sum(b - a >= 1800 for a, b in zip(sorted(each), sorted(each)[1:])) for each in times.values())
    assert len(pairs) == nsessions


def test_matrix(tmp_path):
    assert made("matrices", "16", tmp_path / "in.seq") == b""
    blocks = dict(sequencefile.read(str(tmp_path / "in.seq")))
    a, b = (numpy.block([[blocks[name, row, column] for column in range(4)] for row in range(4)]) for name in "AB")
    pairs, _ = run_example("matrix.py", tmp_path, options=("-inputformat", SEQUENCE_FILE_INPUT, *SEQUENCES))
    product = dict(pairs)
    assert len(pairs) == 16
    assert (numpy.block([[product[row, column] for column in range(4)] for row in range(4)]) == a @ b).all()


def test_side_files_and_bad_records(tmp_path):
    (tmp_path / "in.txt").write_text("1\n2\nx\n4\n")
    (tmp_path / "job.py").write_text(
        "from typedbytes import streaming\n"
        "class Job:\n"
        "    def configure(self):\n"
        "        self.file = streaming.side_file('seen')\n"
        "    def map(self, offset, line):\n"
        "        self.file.write(line.encode())\n"
        "        yield line, int(line)\n"
        "streaming.run(Job, max_bad=1)\n"
    )
    job = hadoop().job(
        input=tmp_path / "in.txt", output=tmp_path / "out", mapper=python_command(tmp_path / "job.py", "map"),
        nreducers=0, options=SEQUENCES,
    )  # fmt: skip
    assert job.code == 0, job.log
    names = {path.name for path in (tmp_path / "out").iterdir() if not path.name.startswith((".", "_"))}
    assert names == {"part-00000", "seen-m-00000", "bad-records-m-00000"}
    assert (tmp_path / "out" / "seen-m-00000").read_bytes() == b"12x4"
    assert list(tb.PairReader((tmp_path / "out" / "bad-records-m-00000").read_bytes())) == [(4, "x")]
    assert job.counters["typedbytes"] == {"BadRecords": 1}


def test_the_demo_removes_only_what_a_demo_has_made(example, tmp_path):
    kept = tmp_path / "theirs" / "kept"
    kept.parent.mkdir()
    kept.touch()
    done = subprocess.run(
        [sys.executable, EXAMPLES / "demo.py", "--folder", kept.parent], capture_output=True, text=True
    )
    assert (done.returncode, kept.exists()) == (1, True)
    assert (
        done.stderr
        == f"{kept.parent} holds what no demo has made: name an empty folder, or one that is not there yet\n"
    )
    ours = tmp_path / "new" / "ours"
    for _ in range(2):
        example("demo_input").make_empty(ours)
        assert [path.name for path in ours.iterdir()] == ["made-by-demo"]
        (ours / "output").mkdir()


def test_the_demo_without_java_checks_itself(tmp_path):
    done = subprocess.run(
        [sys.executable, EXAMPLES / "demo.py", "--folder", tmp_path / "demo"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count(": the same as a plain count in Python") == 2


@pytest.mark.parametrize("words", [[], ["weather"]])
def test_inputs_says_how_it_is_called(words):
    done = subprocess.run([sys.executable, EXAMPLES / "inputs.py", *words], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "") and done.stderr.startswith("Make inputs for the examples")


def test_the_demo_says_that_it_needs_the_sources(tmp_path):
    for name in ("demo_hadoop.py", "demo_input.py", "wordcount.py"):
        (tmp_path / name).write_bytes((EXAMPLES / name).read_bytes())
    done = subprocess.run([sys.executable, tmp_path / "demo_hadoop.py"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (
        1,
        "demo_hadoop.py needs the checkout of the sources: it uses test_vectors/java\n",
    )
