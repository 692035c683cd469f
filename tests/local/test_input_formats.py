"""Inputs of a job as CSV, JSON lines and whole files, beside plain Python's csv and json."""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import random
import re
import subprocess

import pytest

import typedbytes as tb
from support.local_jobs import RUN, pairs_of, run, write_script
from support.streaming_support import environment
from typedbytes import hadoop, local

PAIRS = "from typedbytes import streaming; streaming.run(lambda key, value: [(key, value)])"
VISITS = """
    import dataclasses
    import datetime as dt
    from typing import Optional
    from typedbytes import streaming

    @dataclasses.dataclass
    class Visit:
        user: str
        day: dt.date
        ms: Optional[int]
        weight: float = 1.0

    def mapper(key, visit: Visit):
        yield visit.user, (visit.day.year, visit.ms, visit.weight)

    streaming.run(mapper{more})
"""


def by_plain_python(path):
    """Return the rows of a CSV file as dicts, by the module csv."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        return [*csv.DictReader(file)]


def write_rows(path, nrows, cells, seed, head=""):
    """Write rows of three random cells and return them."""
    rng = random.Random(seed)
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator=rng.choice(["\n", "\r\n"]))
    writer.writerow(["id", "näme", "the text"])
    for number in range(nrows):
        writer.writerow([number, rng.choice(cells), rng.choice(cells)])
    path.write_bytes((head + file.getvalue()).encode())
    return by_plain_python(path)


@pytest.mark.parametrize("split_size", [7, 100, 1000])
def test_rows_of_csv_are_those_of_plain_python_whatever_the_splits(tmp_path, split_size):
    nrows, head = (15, "\ufeff") if split_size == 7 else (60, "")
    rows = write_rows(tmp_path / "in.csv", nrows, ["", "a", "ü" * 5, "x" * 200], split_size, head)
    options = {"input_format": "csv", "split_size": split_size, "inline": True}
    result = run(write_script(tmp_path, PAIRS), tmp_path / "in.csv", tmp_path / "out", **options)
    found = sorted(pairs_of(tmp_path / "out"))
    assert [row for _, row in found] == rows
    assert result.nmaps > 5 and result.records_in == nrows
    data = (tmp_path / "in.csv").read_bytes()
    assert all(data[offset:].startswith(row["id"].encode() + b",") for offset, row in found)


@pytest.mark.parametrize("cells", [['a "b"', "", "c,d"], ["two\nlines", "x\r\ny", '"\n"']])
def test_a_file_with_quotation_marks_is_one_split(tmp_path, cells):
    rows = write_rows(tmp_path / "in.csv", 50, cells, 1)
    options = {"input_format": "csv", "split_size": 50, "inline": True}
    result = run(write_script(tmp_path, PAIRS), tmp_path / "in.csv", tmp_path / "out", **options)
    assert [row for _, row in pairs_of(tmp_path / "out")] == rows
    assert (result.nmaps, result.records_in) == (1, 50)


def test_compressed_and_empty_files(tmp_path):
    rows = write_rows(tmp_path / "a.csv", 9, ["a", "b"], 1)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv.gz").write_bytes(gzip.compress((tmp_path / "a.csv").read_bytes()))
    (tmp_path / "in" / "empty.csv").write_bytes(b"")
    (tmp_path / "in" / "names.csv").write_bytes(b"a,b\n\n")
    (tmp_path / "in" / "no end.csv").write_bytes(b"id\n1\n\n2")
    options = {"input_format": "csv", "split_size": 20, "inline": True}
    run(write_script(tmp_path, PAIRS), tmp_path / "in", tmp_path / "out", **options)
    found = [row for _, row in pairs_of(tmp_path / "out")]
    assert sorted(map(repr, found)) == sorted(map(repr, [*rows, {"id": "1"}, {"id": ""}, {"id": "2"}]))


CONTENTS = {"csv": b"id,n\n0,1\n1,2\n", "json": b'{"id": "0", "n": "1"}\n{"id": "1", "n": "2"}\n'}
ROWS = [{"id": "0", "n": "1"}, {"id": "1", "n": "2"}]


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
@pytest.mark.parametrize("input_format", ["csv", "json"])
def test_compressed_files_are_decompressed_whatever_their_names(tmp_path, input_format, compress):
    data = compress(CONTENTS[input_format])
    (tmp_path / "in.csv").write_bytes(data)
    script = write_script(tmp_path, PAIRS)
    run(script, tmp_path / "in.csv", tmp_path / "out", input_format=input_format, inline=True)
    assert [value for _, value in pairs_of(tmp_path / "out")] == ROWS
    words = [*RUN, script, "-", "--inline", "--quiet", "--output-format", "json", "--input-format", input_format]
    done = subprocess.run(words, input=data, env=environment(), capture_output=True, check=True)
    assert [json.loads(line)["n"] for line in done.stdout.splitlines()] == ["1", "2"]


def test_lines_of_a_compressed_file_under_another_name(tmp_path):
    (tmp_path / "in.txt").write_bytes(gzip.compress(b"a\nb\n"))
    run(write_script(tmp_path, PAIRS), tmp_path / "in.txt", tmp_path / "out", input_format="text", inline=True)
    assert pairs_of(tmp_path / "out") == [(0, "a"), (2, "b")]


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PK\x03\x04\x14\0", "zip{}, not {}; correct it, or give another format with input_format$"),
        (b"PAR1\x15\x04", "parquet{}, not {}; .*; typedbytes convert makes records of a table$"),
        (tb.dumps("a") * 2, "binary data{}, not {}; correct it"),
        (b"id,n\n0,\0\n", "binary data{}, not {}; correct it"),
        ("id,n\n0,1\n".encode("utf-16"), "text in UTF-16{}; convert it to UTF-8: iconv -f UTF-16 -t UTF-8$"),
    ],
    ids=["zip", "Parquet", "typed bytes", "NUL", "UTF-16"],
)
@pytest.mark.parametrize("input_format", ["csv", "json"])
def test_binary_data_is_neither_csv_nor_json(tmp_path, input_format, data, said, compress):
    path = tmp_path / f"in.{input_format}"
    path.write_bytes(compress(data))
    inside = "" if compress is bytes else " inside gzip"
    said = said.format(inside, {"csv": "CSV", "json": "lines of JSON"}[input_format])
    with pytest.raises(local.InputError, match=f"^{path}: {said}"):
        run(write_script(tmp_path, PAIRS), path, tmp_path / "out", input_format=input_format, inline=True)


def test_text_in_utf_16_is_named(tmp_path):
    (tmp_path / "in.txt").write_bytes("a\n".encode("utf-16"))
    with pytest.raises(local.InputError, match="in.txt: text in UTF-16; convert it to UTF-8"):
        run(write_script(tmp_path, PAIRS), tmp_path / "in.txt", tmp_path / "out", inline=True)
    run(write_script(tmp_path, PAIRS), tmp_path / "in.txt", tmp_path / "out", inline=True, input_format="text")


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'a,b\n1,"2\n3,4\n', "bad input: not CSV: unexpected end of data at offset 4, record 0; correct it"),
        (b'a,b\n1,"2"3\n', "bad input: not CSV: ',' expected after '\"' at offset 4"),
        (b"a,b\r1,2\r3,4", "bad input: not CSV: new-line character seen in unquoted field"),
        (b"a,a\n1,2\n", r"bad input: the first line of CSV has a name twice: \['a', 'a'\]"),
        (b"a,b\n1,2\n1,2,3\n", r"its input is bad"),
    ],
)
def test_what_is_not_csv_fails_the_job(tmp_path, data, said):
    (tmp_path / "in.csv").write_bytes(data)
    script = write_script(tmp_path, PAIRS)
    with pytest.raises(local.JobError, match=said) as caught:
        run(script, tmp_path / "in.csv", tmp_path / "out", input_format="csv")
    if "its input" in said:
        assert any("a row has 3 cells, not one for each name in the first line" in line for line in caught.value.tail)
    assert sorted(os.listdir(tmp_path)) == ["in.csv", "job.py"]


@pytest.mark.parametrize("more", ["", ", max_bad=1", ", batch=True"])
def test_blank_lines_of_json_are_left_out(tmp_path, more):
    """As by from-json."""
    (tmp_path / "in.json").write_bytes(b'\n{"a": 1}\n\n \t\n{"a": 2}\r\n\f\n{"a": 3}\n\n')
    code = "lambda batch: batch" if "batch" in more else "lambda key, value: [(key, value)]"
    script = write_script(tmp_path, f"from typedbytes import streaming; streaming.run({code}{more})")
    for split_size in (1, 10, 100):
        out = tmp_path / f"out{split_size}"
        result = run(script, tmp_path / "in.json", out, input_format="json", split_size=split_size, inline=True)
        assert sorted(pairs_of(out)) == [(1, {"a": 1}), (14, {"a": 2}), (26, {"a": 3})]
        assert result.bad_records == 0


LINES = [
    {"user": "ann", "day": "2026-05-01", "ms": 5, "weight": 1.5},
    {"user": "bé", "day": "2025-01-02", "ms": None},
    {"user": "", "day": "2024-01-02", "ms": 0, "weight": 2},
]
EXPECTED = [("ann", (2026, 5, 1.5)), ("bé", (2025, None, 1.0)), ("", (2024, 0, 2.0))]


def test_lines_of_json_as_objects_and_as_records(tmp_path):
    (tmp_path / "in.json").write_text("".join(f"{json.dumps(line)}\n" for line in LINES))
    script = write_script(tmp_path, PAIRS)
    options = {"input_format": "json", "split_size": 60, "inline": True}
    result = run(script, tmp_path / "in.json", tmp_path / "out", **options)
    assert [line for _, line in sorted(pairs_of(tmp_path / "out"))] == LINES and result.nmaps > 1
    write_script(tmp_path, VISITS.format(more=""))
    run(script, tmp_path / "in.json", tmp_path / "visits", **options)
    assert sorted(pairs_of(tmp_path / "visits")) == sorted(EXPECTED)


def test_rows_of_csv_as_records(tmp_path):
    (tmp_path / "in.csv").write_text(
        "ms,day,user,weight,more\n5,2026-05-01,ann,1.5,x\n,2025-01-02,bé,,\n0,2024-01-02,,2,\n"
    )
    script = write_script(tmp_path, VISITS.format(more=""))
    run(script, tmp_path / "in.csv", tmp_path / "out", input_format="csv", inline=True)
    assert pairs_of(tmp_path / "out") == EXPECTED


@pytest.mark.parametrize(
    ("name", "lines", "said"),
    [
        ("csv", ["ms,day,user", "1,2026-01-01,a", "x,2026-01-01,b", "1", "2,2026-01-02,c"], "path .ms"),
        ("json", ['{"user": "a", "day": "2026-01-01", "ms": 1}', "{", '{"user": 1}', "[NaN]",
                  '{"user": "c", "day": "2026-01-02", "ms": 2}'], "not a line of JSON that fits"),
    ],
)  # fmt: skip
def test_bad_records_are_left_out_or_fail_the_job(tmp_path, name, lines, said):
    path = tmp_path / f"in.{name}"
    path.write_text("".join(f"{line}\n" for line in lines))
    script = write_script(tmp_path, VISITS.format(more=", max_bad=3"))
    result = run(script, path, tmp_path / "out", input_format=name)
    assert pairs_of(tmp_path / "out") == [("a", (2026, 1, 1.0)), ("c", (2026, 2, 1.0))]
    assert result.bad_records == len(lines) - 2 - (name == "csv")
    write_script(tmp_path, VISITS.format(more=""))
    with pytest.raises(local.JobError, match="exit code 65") as caught:
        run(script, path, tmp_path / "again", input_format=name)
    assert any(said in line for line in caught.value.tail), caught.value.tail
    assert not (tmp_path / "again").exists()


def test_whole_files_are_paths_and_bytes(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    contents = {"a.bin": os.urandom(1_000_000), "b.gz": gzip.compress(b"x"), "empty": b""}
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    options = {"input_format": "file", "split_size": 1000}
    result = run(write_script(tmp_path, PAIRS), folder, tmp_path / "out", **options)
    assert dict(pairs_of(tmp_path / "out")) == {str(folder / name): data for name, data in contents.items()}
    assert (result.nmaps, result.records_in) == (3, 3)


def test_the_name_of_a_whole_file_that_no_key_can_be_is_an_error_before_the_job(tmp_path):
    name = os.path.join(tmp_path, os.fsdecode(b"caf\xe9.txt"))
    with open(name, "wb") as file:
        file.write(b"x")
    message = re.escape(f"{name}: the name is not UTF-8, which the key of a whole file has to be: rename the file")
    for inline in (False, True):
        with pytest.raises(local.InputError, match=f"^{message}$"):
            run(write_script(tmp_path, PAIRS), name, tmp_path / "out", input_format="file", inline=inline)
    run(write_script(tmp_path, PAIRS), name, tmp_path / "out")


def test_several_formats_in_one_job(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.log").write_text("line\n")
    (tmp_path / "users.csv").write_text("name\nann\n")
    (tmp_path / "b.json").write_text("[1]\n")
    (tmp_path / "other.csv").write_text("x\n")
    inputs = [tmp_path / name for name in ("logs", "users.csv", "b.json", "other.csv")]
    script = write_script(tmp_path, PAIRS)
    options = {"inline": True, "input_format": "users.csv=csv,*.json=json,logs/=file"}
    run(script, inputs, tmp_path / "out", **options)
    values = [value for _, value in pairs_of(tmp_path / "out")]
    assert sorted(map(repr, values)) == sorted(map(repr, [b"line\n", {"name": "ann"}, [1], "x"]))
    for text, error, said in (
        ("*.xml=json,text", local.InputError, r"the input format of '\*.xml' is that of no input"),
        ("a=b", ValueError, "input_format must be one of auto, .*, or PATTERN=FORMAT"),
        ("=csv", ValueError, "input_format must be one of"),
    ):
        with pytest.raises(error, match=said):
            run(script, inputs, tmp_path / "again", inline=True, input_format=text)
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("csv", "Hadoop cuts a file at any line"),
        ("file", "Hadoop has no such input format"),
        ("*.csv=csv", "a job on Hadoop has one format for all inputs"),
    ],
)
def test_hadoop_refuses_what_it_cannot_split(given, said):
    with pytest.raises(hadoop.SubmitError, match=said):
        hadoop.Plan("job.py", ["in"], "out", input_format=given).words()


def test_hadoop_reads_lines_of_json_as_text():
    words = hadoop.Plan("job.py", ["in"], "out", input_format="json").words()
    assert "typedbytes.input=json" in words and "org.apache.hadoop.mapred.TextInputFormat" in words
