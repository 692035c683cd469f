"""Results of submitted jobs that are shown or have rows: a real Hadoop in local mode beside ``typedbytes run``."""

import csv
import io
import json
import os
import subprocess

import pytest

import typedbytes as tb
from support.hadoop_home import QUICK
from support.hadoop_support import jars
from support.local_jobs import RUN, WORD_COUNT, write_script
from support.row_jobs import LINES, SALES, expected_rows
from support.streaming_support import environment
from typedbytes import sequencefile

pytestmark = [pytest.mark.hadoop, pytest.mark.every_hadoop]


@pytest.mark.parametrize("output_format", ["json", "csv"])
def test_the_lines_of_rows_are_those_of_run(tmp_path, submit, output_format):
    script = write_script(tmp_path, SALES)
    (tmp_path / "in.txt").write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    words = ["job.py", "in.txt", "--output-format", output_format, "-r", "2"]
    submit(*words, "-o", "theirs", *QUICK)
    subprocess.run([*RUN, *words, "-q", "-o", "ours"], cwd=script.parent, env=environment(), check=True)
    theirs, ours = (
        [path.read_text("utf-8") for path in sorted((tmp_path / name).glob("part-*"))] for name in ("theirs", "ours")
    )
    assert theirs == ours and len(ours) == 2
    read = csv.DictReader if output_format == "csv" else (lambda file: map(json.loads, file))
    rows = [row for text in theirs for row in read(io.StringIO(text, newline=""))]
    kind = str if output_format == "csv" else (lambda item: item)
    assert sorted(rows, key=repr) == sorted(
        ({name: kind(item) for name, item in row.items()} for row in expected_rows()), key=repr
    )


def test_without_a_folder_the_result_goes_to_standard_output(tmp_path, submit):
    write_script(tmp_path, WORD_COUNT)
    (tmp_path / "in.txt").write_text("b a b\n")
    output, messages = submit("job.py", "in.txt", "-r", "2", *QUICK)
    assert sorted(output.splitlines()) == [b"a\t1", b"b\t2"]
    assert "typedbytes submit: Map-Reduce Framework: Map input records: 1" in messages.splitlines()
    output, _ = submit("job.py", "in.txt", "-o", "-", *QUICK)
    assert list(tb.PairReader(output)) == [("a", 1), ("b", 2)]
    output, _ = submit("job.py", "in.txt", "-r", "2", "--output-format", "csv", *QUICK)
    assert output.splitlines()[0] == b"key,value" and sorted(output.splitlines()[1:]) == [b"a,1", b"b,2"]
    write_script(tmp_path, WORD_COUNT.replace("yield word, sum(counts)", "1 / 0"))
    output, messages = submit("job.py", "in.txt", *QUICK, code=1)
    assert output == b"" and "ZeroDivisionError" in messages
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "job.py"]


def test_lines_of_json_are_read_as_records(tmp_path, submit):
    write_script(
        tmp_path,
        """
        import datetime as dt
        from typing import NamedTuple
        from typedbytes import streaming

        class Visit(NamedTuple):
            user: str
            day: dt.date

        def mapper(offset, visit: Visit):
            yield offset, (visit.user, visit.day.year)

        streaming.run(mapper, max_bad=1)
        """,
    )
    lines = ['{"day": "2026-05-01", "user": "ann"}', "{", '{"user": "b\\u00e9", "day": "2025-01-02"}']
    (tmp_path / "in.json").write_text("".join(f"{line}\n" for line in lines))
    words = ["job.py", "in.json", "--input-format", "json"]
    output, messages = submit(*words, "-o", "-", *QUICK)
    assert list(tb.PairReader(output)) == [(0, ("ann", 2026)), (39, ("bé", 2025))]
    assert "typedbytes submit: typedbytes: BadRecords: 1" in messages.splitlines()
    ours = subprocess.run([*RUN, *words, "-q", "-o", "-"], cwd=tmp_path, env=environment(), stdout=subprocess.PIPE)
    assert list(tb.PairReader(ours.stdout)) == [(0, ("ann", 2026)), (39, ("bé", 2025))]


@pytest.mark.parametrize(
    ("output_format", "feed"),
    [("json", "pairs"), ("text", "pairs"), ("sequencefile", "pairs"), ("sequencefile", "splits")],
)
def test_an_output_by_key_is_that_of_run(tmp_path, submit, output_format, feed):
    write_script(
        tmp_path,
        """
        from typedbytes.streaming import run

        def mapper(offset, line):
            for word in line.split():
                yield (f"n={len(word)}/first={word[0]}", word), 1

        run(mapper, lambda key, counts: [(key, sum(counts))])
        """,
    )
    (tmp_path / "in.txt").write_text("to be or not to be that is\nthe question\n")
    words = ["job.py", "in.txt", "--output-by-key", "--output-format", output_format, "-r", "2"]
    if feed == "splits":
        jars.build_with_maven(jars.SPLITS, tmp_path / "plug-in", "-DskipTests")
        words += ["--feed-jar", str(tmp_path / "plug-in" / "typedbytes-hadoop.jar")]
    _, messages = submit(*words, "-o", "theirs", "--feed", feed, *QUICK)
    assert "typedbytes submit: typedbytes: RecordsByKey: 8" in messages.splitlines()
    subprocess.run([*RUN, *words[:7], "-q", "-o", "ours"], cwd=tmp_path, env=environment(), check=True)
    theirs, ours = (
        {str(path.relative_to(tmp_path / name)): _content(path) for path in (tmp_path / name).rglob("*")
         if path.is_file() and not path.name.startswith(".")}
        for name in ("theirs", "ours")
    )  # fmt: skip
    assert theirs == ours and "_SUCCESS" in ours
    assert sorted({os.path.dirname(path) for path in ours} - {""}) == [
        "n=2/first=b", "n=2/first=i", "n=2/first=o", "n=2/first=t", "n=3/first=n", "n=3/first=t", "n=4/first=t",
        "n=8/first=q",
    ]  # fmt: skip


def _content(path):
    if not path.read_bytes().startswith(b"SEQ"):
        return path.read_bytes()
    with sequencefile.Reader(path) as reader:
        return list(reader)
