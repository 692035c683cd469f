"""Scripts of dumbo, hadoopy and pydoop run unchanged, and write what the originals by Python 2.7 wrote.

expect_python2.py says how that was found; of pydoop, plain Python says what is right.
"""

import collections
import functools
import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.streaming_support import environment, run_module
from typedbytes.fronts import hadoopy

HERE = Path(__file__).parent
EXPECTED = json.loads((HERE / "expected_python2.json").read_text())


@pytest.fixture(params=EXPECTED["dumbo"], ids=lambda case: "".join(case["words"][:2]) + case["script"][:-3])
def case(request, tmp_path):
    """Return a case whose input is in the folder of the test."""
    for name, text in EXPECTED["files"].items():
        (tmp_path / name).write_text(text)
    return request.param


run_front = functools.partial(run_module, "typedbytes.fronts")


def test_a_script_writes_the_lines_that_it_wrote(tmp_path, case):
    """In the order of their encoded keys; dumbo's are in that of its lines."""
    _, said = run_front(tmp_path, HERE / "scripts" / case["script"], *case["words"], "-output", "out")
    assert sorted((tmp_path / "out").read_text().splitlines()) == sorted(case["output"].splitlines()), said


@pytest.mark.parametrize(
    ("number", "words"), [(0, ["in.txt", "--param", "least=2", "--param", "skipped=is"]), (3, ["names", "visits"])]
)
def test_the_command_runs_a_script_of_dumbo(tmp_path, number, words):
    for name, text in EXPECTED["files"].items():
        (tmp_path / name).write_text(text)
    case = EXPECTED["dumbo"][number]
    command = [sys.executable, "-m", "typedbytes", "run", "--as", "dumbo", "--quiet", "--output-format", "text"]
    done = subprocess.run(
        [*command, HERE / "scripts" / case["script"], *words], cwd=tmp_path, env=environment(), capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    found, expected = (text.replace("'", "").splitlines() for text in (done.stdout.decode(), case["output"]))
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize(
    "option, word, form",
    [
        *((option, "foo", "NAME=VALUE") for option in ("jobconf", "hadoopconf", "cmdenv", "param")),
        ("jobconf", "=3", "NAME=VALUE"),
        *(("numreducetasks", word, "a number") for word in ("x", "-1", "1.5", "\u0663")),
    ],
)
def test_a_word_that_an_option_does_not_take_ends_the_script_with_a_message(tmp_path, option, word, form):
    (tmp_path / "in.txt").write_text("x\n")
    words = "-input", "in.txt", "-output", "out", "-least", "2", f"-{option}", word
    said = run_front(tmp_path, HERE / "scripts" / "dumbo_words.py", *words, code=1)
    assert said == (b"", f"ERROR: -{option} takes {form}, not {word}\n")


def test_what_a_starter_refuses_ends_the_script(tmp_path):
    (tmp_path / "in.txt").write_text("x\n")
    words = "-input", "in.txt", "-output", "out"
    assert run_front(tmp_path, HERE / "scripts" / "dumbo_words.py", *words, code=1) == (b"", "ERROR: give -least\n")
    assert [path.name for path in tmp_path.iterdir()] == ["in.txt"]


@pytest.mark.parametrize("option", ["jobconfs", "cmdenvs"])
def test_a_word_that_hadoopy_does_not_take_is_named(option):
    with pytest.raises(ValueError, match=f"{option} are words NAME=VALUE, not 'foo'"):
        hadoopy.launch_local([("a", 1)], None, "job.py", **{option: ["a=b=c", "foo"]})


def test_words_for_hadoopy_may_be_an_iterator(tmp_path):
    script = HERE / "scripts" / "hadoopy_words.py"
    expected = list(hadoopy.launch_local([(1, "to be")], None, str(script), cmdenvs=["LEAST=1"]))
    assert list(hadoopy.launch_local([(1, "to be")], None, str(script), cmdenvs=iter(["LEAST=1"]))) == expected


def test_a_driver_of_hadoopy_prints_what_it_printed(tmp_path):
    output, _ = run_front(tmp_path, HERE / "scripts" / "hadoopy_drive.py")
    assert output.decode() == EXPECTED["hadoopy"]


@pytest.mark.parametrize("name", ["pydoop_functions.py", "pydoop_classes.py"])
@pytest.mark.parametrize("way", [[], ["--inline"]])
def test_words_are_counted_by_a_script_of_pydoop(tmp_path, name, way):
    (tmp_path / "in.txt").write_text(EXPECTED["files"]["in.txt"])
    command = [sys.executable, "-m", "typedbytes", "run", "--as", "pydoop", *way, HERE / "scripts" / name, "in.txt"]
    options = ["-D", "least=3", "--reducers", "2", "--output-format", "text", "-o", "out"]
    done = subprocess.run([*command, *options], cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    words = EXPECTED["files"]["in.txt"].split()
    counts = collections.Counter(word for word in words if len(word) > 2)
    parts = [(tmp_path / "out" / f"part-0000{number}").read_text().splitlines() for number in range(2)]
    assert sorted(line for part in parts for line in part) == sorted(f"{word}\t{n}" for word, n in counts.items())
    if name == "pydoop_classes.py":
        assert [{len(line.split()[0]) % 2 for line in part} for part in parts] in ([{0}, {1}], [{1}, {0}])
    assert f"short words = {sum(len(word) < 3 for word in words)}" in done.stderr


RAW = """
from dumbo.lib import RawReducer

def mapper(key, value):
    yield value, value.encode()

if __name__ == "__main__":
    import dumbo
    dumbo.run(mapper, RawReducer)
"""


def test_the_file_of_a_dumbo_job(tmp_path):
    """A wrong path or format fails before the job, and a raw file has the bytes."""
    (tmp_path / "job.py").write_text(RAW)
    (tmp_path / "in.txt").write_text("a b\nc\n")
    words = ["job.py", "-input", "in.txt", "-output"]
    for more, said in (
        (["no/out"], "-output takes the path of a file, in a folder that is there, not no/out"),
        ([str(tmp_path)], "-output takes the path of a file"),
        (["out", "-outputformat", "nope"], "-outputformat must be one of text, code, sequencefile, raw, not nope"),
    ):
        assert said in run_front(tmp_path, *words, *more, code=1)[1]
    run_front(tmp_path, *words, "out", "-outputformat", "raw")
    assert (tmp_path / "out").read_bytes() == b"ca b"  # in the order of the encoded keys


@pytest.mark.parametrize("inputs", [["data/in.txt"], ["data"], ["data/*.txt"], ["other.txt", "data/in.txt"]])
@pytest.mark.parametrize("output", ["data/in.txt", "link", "job.py"])
def test_the_file_of_a_dumbo_job_replaces_neither_the_script_nor_an_input(tmp_path, inputs, output):
    (tmp_path / "data").mkdir()
    texts = {"job.py": RAW, "data/in.txt": "a b\nc\n", "other.txt": "d\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "link").symlink_to("data/in.txt")
    words = [word for each in inputs for word in ("-input", each)]
    _, said = run_front(tmp_path, "job.py", *words, "-output", output, code=1)
    assert said == f"ERROR: -output {output} is the script or an input, which it would replace: give another path\n"
    assert {name: (tmp_path / name).read_text() for name in texts} == texts


RANGES = """
from pydoop.mapreduce import api, pipes

class Mapper(api.Mapper):
    def map(self, context):
        context.emit(int(context.value), "")

class Reducer(api.Reducer):
    def reduce(self, context):
        context.emit(context.key, "")

class Ranges(api.Partitioner):
    def partition(self, key, ntasks):
        return key * ntasks // 100

def __main__():
    pipes.run_task(pipes.Factory(Mapper, Reducer, partitioner_class=Ranges))
"""


@pytest.mark.parametrize("way", [[], ["--inline"]])
@pytest.mark.parametrize("parts", [["10", "30", "50 70", "90"], ["10 30", "50 70 90"], ["10 30 50 70 90"]])
def test_a_partitioner_of_pydoop_says_the_number_of_the_task(tmp_path, parts, way):
    """As Hadoop's pipes take what partition() returns: the ranges of keys are in the order of the part files."""
    (tmp_path / "job.py").write_text(RANGES)
    (tmp_path / "in").write_text("".join(f"{number}\n" for number in range(10, 100, 20)))
    words = ["--as", "pydoop", *way, "-q", "--output-format", "text", "-o", "out", "--reducers", str(len(parts))]
    run_module("typedbytes", tmp_path, "run", *words, "job.py", "in")
    written = [path.read_text().split() for path in sorted((tmp_path / "out").glob("part-*"))]
    assert [" ".join(each) for each in written] == parts


@pytest.mark.parametrize("number", ["100", "-30"])
def test_a_number_that_no_task_has_fails_the_job(tmp_path, number):
    """As Hadoop's "Illegal partition" does."""
    (tmp_path / "job.py").write_text(RANGES)
    (tmp_path / "in").write_text(f"{number}\n")
    words = ["--as", "pydoop", "-q", "-o", "out", "--reducers", "4", "job.py", "in"]
    _, said = run_module("typedbytes", tmp_path, "run", *words, code=1)
    returned = int(number) * 4 // 100
    assert f"partition() returned {returned} for the key {number}: it must be from 0 to 3\n" in said


def test_the_hash_of_a_part_leads_to_its_task(monkeypatch):
    """On each engine and on Hadoop: the bytes of the part have a hash with the number."""
    import typedbytes
    from typedbytes.fronts.pydoop.mapreduce import pipes

    for ntasks in (2, 7, 64, 1000):
        monkeypatch.setenv("mapreduce_job_reduces", str(ntasks))
        part_of = pipes._Partition(type("Same", (), {"partition": staticmethod(lambda key, _: key)}))
        for number in range(ntasks):
            assert (typedbytes.hash_code(typedbytes.dumps(part_of(number))) & 0x7FFFFFFF) % ntasks == number
