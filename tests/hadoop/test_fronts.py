"""Scripts of older libraries on a real Hadoop, by the command lines that they had.

Not here: what they write elsewhere, which is in tests/fronts.
"""

import ast
import collections
import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.streaming_support import environment
from typedbytes import sequencefile

pytestmark = [pytest.mark.hadoop]
FRONTS = Path(__file__).resolve().parents[1] / "fronts"
OF_MRJOB = json.loads((FRONTS / "expected.json").read_text())["cases"]
OF_PYTHON_2 = json.loads((FRONTS / "expected_python2.json").read_text())


@pytest.fixture
def run_front(tmp_path, home):
    def run_front(script, *words):
        """Run a script in a folder of its own, and return what it wrote to standard output."""
        done = subprocess.run(
            [sys.executable, "-m", "typedbytes.fronts", FRONTS / "scripts" / script, *words],
            cwd=tmp_path,
            env={**environment(), "HADOOP_HOME": str(home), "HADOOP_CONF_DIR": str(home), "PATH": f"{home}/bin:/bin"},
            capture_output=True,
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    return run_front


@pytest.mark.parametrize("number", [1, 2, 4], ids=["words", "steps", "files"])
def test_a_script_of_mrjob(tmp_path, run_front, number):
    """It prints what the original printed."""
    case = OF_MRJOB[number]
    (tmp_path / "in").write_text(case["text"])
    (tmp_path / "STOP").write_text("to be\n")
    options = ["-r", "hadoop", "--no-conf", "-q", "--python-bin", sys.executable]
    assert run_front(case["script"], *options, *case["words"], "in") == case["output"]


def test_a_format_of_the_job_gets_keys_and_values(tmp_path, run_front):
    """As the original gave them: each is a text of its protocol, not the whole line a value."""
    (tmp_path / "formatted.py").write_text(
        "from mrjob.job import MRJob\n"
        "class Words(MRJob):\n"
        "    HADOOP_OUTPUT_FORMAT = 'org.apache.hadoop.mapred.SequenceFileOutputFormat'\n"
        "    def mapper(self, _, line):\n"
        "        for word in line.split():\n"
        "            yield word, 1\n"
        "    def reducer(self, word, counts):\n"
        "        yield word, sum(counts)\n"
        "Words.run()\n"
    )
    (tmp_path / "in").write_text("to be or\nnot to be\n")
    options = ["-r", "hadoop", "--no-conf", "-q", "--python-bin", sys.executable, "--no-output", "-o", "out"]
    run_front(tmp_path / "formatted.py", *options, "in")
    assert [*sequencefile.read(tmp_path / "out")] == [('"be"', "2"), ('"not"', "1"), ('"or"', "1"), ('"to"', "2")]


MAP_ONLY = """
from mrjob.job import MRJob
from mrjob.step import MRStep

class Words(MRJob):
    def steps(self):
        no_reduce = {"mapreduce.job.reduces": 0}
        swapped = MRStep(mapper=lambda word, n: [(n, word)], reducer=self.reducer, jobconf=no_reduce)
        return [MRStep(mapper=self.mapper, reducer=self.reducer), swapped][:STEPS]

    def mapper(self, _, line):
        for word in line.split():
            yield word, 1

    def reducer(self, word, counts):
        yield word, sum(counts)

Words.run()
"""


def test_lines_of_a_mapper_without_reduce_tasks(tmp_path, run_front, submit):
    (tmp_path / "words.py").write_text(f"STEPS = 1\n{MAP_ONLY}")
    (tmp_path / "in").write_text("to be\nor to\n")
    expected = '"to"\t1\n"be"\t1\n"or"\t1\n"to"\t1\n'
    options = ["-r", "hadoop", "--no-conf", "-q", "--python-bin", sys.executable, "-D", "mapreduce.job.reduces=0"]
    assert run_front(tmp_path / "words.py", *options, "in") == expected
    submit("--as", "mrjob", "words.py", "in", "-o", "out", "--reducers", "0")
    assert (tmp_path / "out" / "part-00000").read_text() == expected
    (tmp_path / "steps.py").write_text(f"STEPS = 2\n{MAP_ONLY}")
    submit("--as", "mrjob", "steps.py", "in", "-o", "swapped")
    assert (tmp_path / "swapped" / "part-00000").read_text() == '1\t"be"\n1\t"or"\n2\t"to"\n'


def test_whole_files_of_one_name_for_mrjob(tmp_path, run_front):
    """Each task gets a file of its own, decompressed."""
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    (tmp_path / "one" / "words").write_text("to\nbe\n")
    (tmp_path / "two" / "words").write_text("or\n")
    (tmp_path / "words.gz").write_bytes(gzip.compress(b"be\n"))
    inputs = ["one/words", "two/words", "words.gz"]
    options = ["-r", "hadoop", "--no-conf", "-q", "--python-bin", sys.executable]
    assert run_front("mr_whole_files.py", *options, *inputs).splitlines() == [
        '"be"\t[["words", "words"], ["words", "words.gz"]]', '"or"\t[["words", "words"]]',
        '"to"\t[["words", "words"]]',
    ]  # fmt: skip
    assert not any((tmp_path / "tmp" / "mrjob").glob("*"))


def test_a_script_of_dumbo(tmp_path, run_front):
    case = OF_PYTHON_2["dumbo"][0]
    for name, text in OF_PYTHON_2["files"].items():
        (tmp_path / name).write_text(text)
    run_front(case["script"], *case["words"], "-hadoop", "yes", "-python", sys.executable, "-output", "out")
    expected = [tuple(map(ast.literal_eval, line.split("\t"))) for line in case["output"].splitlines()]
    assert sorted(sequencefile.read(tmp_path / "out")) == sorted(expected)


def test_a_driver_of_hadoopy(tmp_path, run_front):
    """Hadoop's file system has its pairs."""
    (tmp_path / "driver.py").write_text(
        "import sys, hadoopy\n"
        "hadoopy.writetb('in.tb', enumerate(['to be or', 'not to be']))\n"
        "options = {'cmdenvs': ['LEAST=3'], 'python_cmd': sys.executable, 'num_reducers': 1}\n"
        "hadoopy.launch('in.tb', 'out', sys.argv[1], **options)\n"
        "print(sorted(hadoopy.readtb('out')))\n"
    )
    output = run_front(tmp_path / "driver.py", FRONTS / "scripts" / "hadoopy_words.py")
    assert output == "[('end', [1, -1, {'half': 0.5}, None]), ('not', [1, 1, {'half': 0.5}, None])]\n"


@pytest.mark.parametrize("name", ["pydoop_functions.py", "pydoop_classes.py"])
def test_a_script_of_pydoop(tmp_path, submit, name):
    (tmp_path / "in.txt").write_text(OF_PYTHON_2["files"]["in.txt"])
    options = ["--as", "pydoop", "-D", "least=3", "--output-format", "text", "-o", "out"]
    _, said = submit(*options, FRONTS / "scripts" / name, "in.txt")
    words = OF_PYTHON_2["files"]["in.txt"].split()
    counts = collections.Counter(word for word in words if len(word) > 2)
    output = "".join(path.read_text() for path in sorted((tmp_path / "out").glob("part-*")))
    assert sorted(output.splitlines()) == sorted(f"{word}\t{n}" for word, n in counts.items())
    assert f"short words: {sum(len(word) < 3 for word in words)}" in said
