"""Outputs by key: each pair in the folder that its key names, read back by other programs' readers."""

import collections
import csv
import json
import os
import subprocess

import pytest

from support.local_jobs import RUN, pairs_of, run, write_script
from support.streaming_support import environment
from typedbytes import hadoop, local
from typedbytes.jobs import Job
from typedbytes.jobs.history import nbytes_of_parts

SCRIPT = """
    from typedbytes.streaming import run

    def mapper(offset, line):
        town, product, amount = line.split(";")
        yield (f"town={town}", product), int(amount)

    def reducer(key, amounts):
        town, product = key
        yield (town, product), sum(amounts)

    if __name__ == "__main__":
        run(mapper, reducer, combiner=reducer)
"""
TOWNS, PRODUCTS = ["Köln", "Oslo", "Bern", "Rio"], ["tea", 'a "cup"', "ink, blue"]
LINES = [f"{TOWNS[i % 4]};{PRODUCTS[i % 7 % 3]};{i}" for i in range(100)]


def expected():
    """Return the sums by town and product, by plain Python."""
    found = collections.defaultdict(collections.Counter)
    for line in LINES:
        town, product, amount = line.split(";")
        found[f"town={town}"][product] += int(amount)
    return {town: dict(sums) for town, sums in found.items()}


@pytest.fixture
def job(tmp_path):
    (tmp_path / "in.txt").write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return write_script(tmp_path, SCRIPT)


def files_of(folder):
    """Return the paths of all files in an output, by folder."""
    found = collections.defaultdict(list)
    for here, _, names in os.walk(folder):
        found[os.path.relpath(here, folder)] += sorted(os.path.join(here, name) for name in names)
    return found


def read(path, output_format):
    """Return the (key, value) of a part file, by a reader of its format that is not ours."""
    if output_format == "parquet":
        rows = pytest.importorskip("pyarrow.parquet").ParquetFile(path).read().to_pylist()
        return [(row["key"], row["value"]) for row in rows]
    with open(path, newline="", encoding="utf-8") as file:
        if output_format == "text":
            return [(key, int(value)) for key, _, value in (line.rstrip("\n").partition("\t") for line in file)]
        rows = map(json.loads, file) if output_format == "json" else csv.DictReader(file)
        if output_format == "rows":
            return [(row["key"], row["value"]) for row in rows]
        return [(row["key"], int(row["value"])) for row in rows]


@pytest.mark.parametrize("inline", [False, True])
@pytest.mark.parametrize("output_format", ["json", "csv", "text", "parquet"])
def test_each_folder_has_the_pairs_of_its_key(tmp_path, job, output_format, inline):
    if output_format == "parquet":
        pytest.importorskip("pyarrow")
    options = {"output_format": output_format, "output_by_key": True, "reducers": 3, "inline": inline}
    result = run(job, tmp_path / "in.txt", tmp_path / "out", **options)
    found = files_of(tmp_path / "out")
    assert nbytes_of_parts(tmp_path / "out") == sum(os.path.getsize(path) for paths in found.values() for path in paths)
    assert [os.path.basename(path) for path in found.pop(".")] == ["_SUCCESS"]
    sums = {town: [pair for path in paths for pair in read(path, output_format)] for town, paths in found.items()}
    assert {town: dict(pairs) for town, pairs in sums.items()} == expected()
    assert sum(map(len, sums.values())) == result.records_out == 12
    suffix = ".parquet" if output_format == "parquet" else ""
    names = {os.path.basename(path) for paths in found.values() for path in paths}
    assert names <= {f"part-0000{number}{suffix}" for number in range(3)} and len(names) > 1


@pytest.mark.parametrize("output_format", ["sequencefile", "pairs"])
def test_a_folder_is_an_output_of_its_own(tmp_path, job, output_format):
    compress = {"mapred.output.compress": "true", "mapred.output.compression.type": "BLOCK"}
    options = {"output_format": output_format, "output_by_key": True, "reducers": 2, "properties": compress}
    run(job, tmp_path / "in.txt", tmp_path / "out", **options)
    assert {town: dict(pairs_of(tmp_path / "out" / town)) for town in expected()} == expected()
    if output_format == "sequencefile":
        first = next((tmp_path / "out" / "town=Oslo").iterdir())
        assert b"DefaultCodec" in first.read_bytes()[:200]


def test_the_mapper_writes_where_no_reducer_does_and_folders_nest(tmp_path):
    script = write_script(
        tmp_path,
        """
        from typedbytes.streaming import run

        def mapper(offset, line):
            year, month = line.split("-")
            yield (f"year={year}/month={month}", None), {"line": line}

        run(mapper)
        """,
    )
    lines = [f"{2000 + i % 3}-{i % 12}" for i in range(60)]
    (tmp_path / "in.txt").write_text("".join(f"{line}\n" for line in lines))
    run(script, tmp_path / "in.txt", tmp_path / "out", output_format="json", output_by_key=True, split_size=50)
    found = files_of(tmp_path / "out")
    assert len(found["year=2000/month=0"]) > 1  # one for each task that had its pairs
    rows = []
    for folder, paths in found.items():
        for path in paths if folder != "." else ():
            with open(path) as file:
                here = [json.loads(line)["line"] for line in file]
            assert {f"year={line.replace('-', '/month=')}" for line in here} == {folder}
            rows += here
    assert sorted(rows) == sorted(lines)


@pytest.mark.parametrize("output_format", ["csv", "sequencefile"])
def test_more_folders_than_files_that_may_be_open(tmp_path, output_format):
    script = write_script(
        tmp_path,
        """
        from typedbytes.streaming import run

        def mapper(offset, line):
            for number in range(1000):
                yield (f"folder{number % 100}", number), line

        run(mapper, max_bad=1)
        """,
    )
    (tmp_path / "in.txt").write_text("one line\n")
    environ = {"PYTHONWARNINGS": "error"}
    result = run(script, tmp_path / "in.txt", tmp_path / "out", output_format=output_format, output_by_key=True,
                 environ=environ)  # fmt: skip
    found = files_of(tmp_path / "out")
    assert result.records_out == 1000 and len(found) == 101
    if output_format == "sequencefile":
        assert sorted(key for key, _ in pairs_of(tmp_path / "out" / "folder7")) == list(range(7, 1000, 100))
        return
    rows = [row for path in found["folder7"] for row in read(path, "rows")]
    assert sorted(rows, key=lambda row: int(row[0])) == [(str(n), "one line") for n in range(7, 1000, 100)]


@pytest.mark.parametrize("output_format", ["json", "csv", "pairs", "parquet"])
def test_a_value_that_changes_after_its_pair_is_written_as_it_was(tmp_path, output_format):
    if output_format == "parquet":
        pytest.importorskip("pyarrow")
    script = write_script(
        tmp_path,
        """
        from typedbytes.streaming import run

        def mapper(offset, line):
            row, items = {}, []
            for number in range(150):
                row["n"], row["items"] = number, items
                items.append(number)
                yield (f"f{number % 75}", None), row
                row.clear()
                items.clear()

        run(mapper, max_bad=5)
        """,
    )
    (tmp_path / "in.txt").write_text("x\n")
    run(script, tmp_path / "in.txt", tmp_path / "out", output_format=output_format, output_by_key=True)
    found = files_of(tmp_path / "out")
    for number in range(75):
        (path,) = found[f"f{number}"]
        if output_format == "pairs":
            rows = [value for _, value in pairs_of(tmp_path / "out" / f"f{number}")]
        elif output_format == "parquet":
            rows = pytest.importorskip("pyarrow.parquet").ParquetFile(path).read().to_pylist()
        else:
            with open(path, newline="") as file:
                rows = [*(map(json.loads, file) if output_format == "json" else csv.DictReader(file))]
        assert [int(row["n"]) for row in rows] == [number, number + 75]
        assert [str(row["items"]) for row in rows] == [f"[{number}]", f"[{number + 75}]"]


def test_a_bad_record_is_in_no_folder(tmp_path):
    script = write_script(
        tmp_path,
        """
        from typedbytes.streaming import run

        def mapper(offset, line):
            yield ("good", line), 1
            if line == "b":
                yield ("../bad", line), 1

        run(mapper, max_bad=1)
        """,
    )
    (tmp_path / "in.txt").write_text("a\nb\nc\n")
    result = run(script, tmp_path / "in.txt", tmp_path / "out", output_format="text", output_by_key=True)
    assert (tmp_path / "out" / "good" / "part-00000").read_text() == "a\t1\nc\t1\n"
    assert result.bad_records == 1 and result.records_out == 2


@pytest.mark.parametrize(
    "folder",
    ["", "/tmp", "../up", "a//b", "a/", "_a", ".a", "a/part-1", "a:b", "a\nb", "ü" * 128, "a/x-m-00001", "log-r-00000"],
)
def test_a_folder_that_cannot_be_in_the_output_fails_the_job(tmp_path, folder):
    script = write_script(
        tmp_path, f"from typedbytes.streaming import run\nrun(lambda key, line: [(({folder!r}, 1), 2)])\n"
    )
    (tmp_path / "in.txt").write_text("x\n")
    with pytest.raises(local.JobError, match="cannot be a folder of the output"):
        run(script, tmp_path / "in.txt", tmp_path / "out", output_by_key=True)
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


def test_a_key_without_a_folder_fails_the_job(tmp_path):
    script = write_script(tmp_path, "from typedbytes.streaming import run\nrun(lambda key, line: [('xy', 2)])\n")
    (tmp_path / "in.txt").write_text("x\n")
    with pytest.raises(local.JobError, match="a key is a tuple of a folder, a str, and a key, not str 'xy'"):
        run(script, tmp_path / "in.txt", tmp_path / "out", output_by_key=True)


@pytest.mark.parametrize("output_format", ["text", "sequencefile", "csv"])
def test_a_full_disk_fails_the_job_and_leaves_nothing(tmp_path, output_format):
    script = write_script(
        tmp_path,
        "import os\nfrom typedbytes import streaming\n"
        "streaming.run(lambda key, line: ((('f', None), os.urandom(99).hex()) for i in range(20_000)))\n",
    )
    (tmp_path / "in.txt").write_text("x\n")
    words = [*RUN, str(script), "in.txt", "-o", "out", "--output-format", output_format, "--output-by-key"]
    limited = ["bash", "-c", 'ulimit -f 1024; exec "$@"', "limited", *words]
    done = subprocess.run(limited, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert done.returncode == 1 and "exit code 74: OSError: [Errno 27] File too large" in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


def test_the_last_step_alone_is_by_key(tmp_path):
    script = write_script(
        tmp_path,
        """
        from typedbytes.streaming import Step, lib, run

        def words(offset, line):
            return [(word, 1) for word in line.split()]

        run(steps=[Step(words, lib.sumreducer), Step(lambda word, n: [((f"n{n}", word), None)])])
        """,
    )
    (tmp_path / "in.txt").write_text("b a b c\n")
    run(script, tmp_path / "in.txt", tmp_path / "out", output_format="text", output_by_key=True)
    assert (tmp_path / "out" / "n1" / "part-00000").read_text() == "a\tNone\nc\tNone\n"
    assert (tmp_path / "out" / "n2" / "part-00000").read_text() == "b\tNone\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["job.py", "in.txt"], "--output-by-key writes folders: give --output FOLDER"),
        (["--mapper", "cat", "in.txt", "-o", "out"], "--output-by-key is for scripts: commands write lines"),
        (["--as", "mrjob", "job.py", "in.txt", "-o", "out"], "a job of mrjob writes lines"),
        (
            ["job.py", "in.txt", "-o", "out", "--output-format", "text", "-D", "mapred.output.compress=true"],
            "--output-by-key writes text as it is",
        ),
    ],
)
def test_what_cannot_be_by_key_is_refused_before_the_job(tmp_path, job, words, said):
    for command in ("run", "submit"):
        given = [*RUN[:-1], command, "--output-by-key", *words]
        done = subprocess.run(given, cwd=tmp_path, env=environment(), capture_output=True, text=True)
        assert done.returncode == 64 and said in done.stderr, done.stderr
        assert "--read" not in done.stderr  # not given here, and run has no such option
    words = ["submit", "--output-by-key", "job.py", "in.txt", "-o", "out", "--read"]
    done = subprocess.run([*RUN[:-1], *words], cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert "give --output FOLDER, without --read" in done.stderr, done.stderr
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


def test_commands_of_a_program_are_refused(tmp_path):
    with pytest.raises(local.OptionError, match="output_by_key is for functions"):
        local.run("cat", inputs=[(1, 2)], output=tmp_path / "out", output_by_key=True)


def test_hadoop_writes_no_file_of_its_own():
    plan = hadoop.Plan("job.py", ["in"], "out", output_by_key=True, output_format="csv", bundle=None)
    assert "-lazyOutput" in plan.words() and "typedbytes.output.by.key=csv" in plan.words()
    with pytest.raises(local.OptionError, match="needs a format that tasks can write"):
        hadoop.Plan("job.py", ["in"], "out", output_by_key=True, output_format="org.example.Format")
    assert not Job("job.py", "in", "out").output_by_key
