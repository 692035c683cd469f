"""The output of a job as rows: JSON lines, CSV and Parquet, read back by other programs' readers."""

import bz2
import csv
import datetime as dt
import gzip
import io
import json
import os
import re
import subprocess
import zlib

import pytest

from support.local_jobs import RUN, TASK_COUNTERS, pairs_of, run, write_script
from support.row_jobs import LINES, SALES, expected_rows
from support.streaming_support import environment
from support.subprocess_runs import run_fresh
from typedbytes import local
from typedbytes.cli._job.shown import show_parts
from typedbytes.streaming.formats.parquet import ParquetOutput
from typedbytes.streaming.formats.record_io import COUNT_NBYTES
from typedbytes.streaming.formats.rows import row_of


@pytest.fixture
def sales(tmp_path):
    """Return the input of the job sales.py beside it."""
    write_script(tmp_path, SALES, "sales.py")
    (tmp_path / "in.txt").write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    return tmp_path / "in.txt"


def parts(folder, suffix=""):
    return sorted(path for path in folder.iterdir() if re.fullmatch(rf"part-\d+{re.escape(suffix)}", path.name))


def test_json_lines_are_objects_of_keys_and_values(sales, tmp_path):
    result = run(tmp_path / "sales.py", sales, tmp_path / "out", output_format="json", reducers=2)
    rows = [json.loads(line) for path in parts(tmp_path / "out") for line in path.read_text("utf-8").splitlines()]
    assert sorted(rows, key=repr) == expected_rows()
    assert result.records_out == len(rows) == 4


def test_csv_has_the_names_of_columns_in_each_part(sales, tmp_path):
    result = run(tmp_path / "sales.py", sales, tmp_path / "out", output_format="csv", reducers=3)
    found = []
    for path in parts(tmp_path / "out"):
        with open(path, newline="", encoding="utf-8") as file:
            found += csv.DictReader(file)
    assert sorted(found, key=repr) == sorted(
        ({name: str(value) for name, value in row.items()} for row in expected_rows()), key=repr
    )
    assert result.records_out == 4  # not their lines, of which there are more
    assert len(parts(tmp_path / "out")) == 3


def test_parquet_has_a_file_for_each_part_with_rows(sales, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    result = run(tmp_path / "sales.py", sales, tmp_path / "out", output_format="parquet", reducers=9)
    found = [row for path in parts(tmp_path / "out", ".parquet") for row in parquet.read_table(path).to_pylist()]
    assert sorted(found, key=repr) == expected_rows()
    assert result.records_out == 4 and result.counters[TASK_COUNTERS]["REDUCE_OUTPUT_RECORDS"] == 4
    assert 0 < len(parts(tmp_path / "out", ".parquet")) <= 4 and parts(tmp_path / "out") == []


def test_batches_become_parquet_without_rows(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    script = write_script(
        tmp_path,
        """
        import pyarrow
        from typedbytes import streaming

        def mapper(batch):
            values = pyarrow.record_batch(batch)["value"]
            return {"word": values, "length": pyarrow.compute.utf8_length(values)}

        import pyarrow.compute
        streaming.run(mapper, batch=True)
        """,
    )
    (tmp_path / "in.txt").write_text("one\nthree\n" * 50_000)
    result = run(script, tmp_path / "in.txt", tmp_path / "out", output_format="parquet")
    found = parquet.read_table(tmp_path / "out" / "part-00000.parquet").to_pydict()
    assert found == {"word": ["one", "three"] * 50_000, "length": [3, 5] * 50_000}
    assert result.records_out == 100_000


def test_no_batch_is_missing_in_parquet_without_a_word():
    """Neither its rows, if it has no column, nor columns that the first one does not have."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    bare = pyarrow.RecordBatch.from_struct_array(pyarrow.array([{}, {}], pyarrow.struct([])))

    def written(*batches):
        sink = io.BytesIO()
        output = ParquetOutput(sink)
        for each in batches:
            output.writes(each)
        output.close()
        return parquet.read_table(io.BytesIO(sink.getvalue()[:-COUNT_NBYTES])).to_pydict()

    assert written(pyarrow.table({}), pyarrow.table({"a": [1, 2]})) == {"a": [1, 2]}
    for batches in ([bare], [bare, pyarrow.table({"a": [1]})]):
        with pytest.raises(ValueError, match="a row of Parquet has at least one column"):
            written(*batches)
    with pytest.raises(ValueError, match=r"the first rows do not have the columns \['b'\], only \['a'\]"):
        written(pyarrow.table({"a": [1]}), pyarrow.table({"b": [3], "a": [2]}))


def test_values_of_every_kind(tmp_path):
    script = write_script(
        tmp_path,
        """
        import datetime as dt
        from decimal import Decimal
        from typedbytes import streaming

        def mapper(offset, line):
            yield None, {"a": True, "b": None, "c": dt.date(2026, 5, 1), "d": Decimal("1.50"), "e": [1, {"x": "y"}]}
            yield None, {"a": b"\\xc3\\xbc", "e": float("inf"), "d": ""}

        streaming.run(mapper)
        """,
    )
    (tmp_path / "in.txt").write_text("x\n")
    run(script, tmp_path / "in.txt", tmp_path / "csv", output_format="csv")
    run(script, tmp_path / "in.txt", tmp_path / "json", output_format="json")
    assert (tmp_path / "csv" / "part-00000").read_text("utf-8") == (
        'a,b,c,d,e\ntrue,,2026-05-01,1.50,"[1, {""x"": ""y""}]"\nü,,,,inf\n'
    )
    lines = (tmp_path / "json" / "part-00000").read_text("utf-8").splitlines()
    assert lines[0] == '{"a": true, "b": null, "c": "2026-05-01", "d": 1.50, "e": [1, {"x": "y"}]}'
    assert json.loads(lines[1]) == {"a": "ü", "e": None, "d": ""}


@pytest.mark.parametrize(
    ("pairs", "output_format", "said"),
    [
        ([("a", {"key": 1})], "json", "the key and the value of a row both have the column 'key'"),
        ([("a", {2: 1})], "csv", "the names of columns are str, not 2"),
        ([("a", {"x": 1}), ("b", {"y": 1})], "csv", r"as in the first row, which does not have \['y'\]"),
        ([("a", "x\r")], "csv", "a carriage return inside a row of CSV"),
        ([("a", {"x\n": 1})], "csv", "the name of a column of CSV has a line end"),
        ([(None, {})], "csv", "a row of CSV has at least one column"),
        ([(None, {}), (None, {})], "parquet", "a row of Parquet has at least one column"),
        ([("a", object)], "json", "cannot encode"),
        ([("a", 1), ("b", "x")], "parquet", "the values of the column 'value' are not of one type"),
        ([("a", 1)] * 65536 + [("b", 1.5)], "parquet", "the values of the column 'value' are not of int64"),
        ([("a", 1)] * 65536 + [("b", "15")], "parquet", "the values of the column 'value' are not of int64"),
        ([("a", [1])] * 65536 + [("b", [1.5])], "parquet", "the values of the column 'value' are not of list<"),
        ([("a", 1)] * 65536 + [("b", {"x": 1})], "parquet", r"the first rows do not have the columns \['x'\]"),
    ],
)
def test_what_is_no_row_fails_the_job_and_leaves_nothing(tmp_path, pairs, output_format, said):
    pytest.importorskip("pyarrow")
    text = repr(pairs[:1] if len(pairs) > 9 else pairs).replace("<class 'object'>", "object")
    more = f" * 65536 + {pairs[-1:]!r}" if len(pairs) > 9 else ""
    script = write_script(
        tmp_path, f"from typedbytes import streaming\nstreaming.run(lambda key, line: {text}{more})\n"
    )
    (tmp_path / "in.txt").write_text("x\n")
    with pytest.raises(local.JobError, match=said) as caught:
        run(script, tmp_path / "in.txt", tmp_path / "out", output_format=output_format)
    assert "map task 0" in str(caught.value)
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


def test_a_bad_record_leaves_no_row(tmp_path):
    script = write_script(
        tmp_path,
        """
        from typedbytes import streaming

        def mapper(offset, line):
            yield "first", {"line": line}
            if line != "a":
                yield "second", {"line": line, **({"other": 1} if line == "b" else {})}

        streaming.run(mapper, max_bad=1)
        """,
    )
    (tmp_path / "in.txt").write_text("a\nb\nc\n")
    result = run(script, tmp_path / "in.txt", tmp_path / "out", output_format="csv")
    assert (tmp_path / "out" / "part-00000").read_text() == "key,line\nfirst,a\nfirst,c\nsecond,c\n"
    assert result.bad_records == 1 and result.records_out == 3


@pytest.mark.parametrize("job", ["mapper", "lib.Combining(mapper)"])
@pytest.mark.parametrize("by_key", [False, True])
def test_a_record_that_is_left_out_does_not_give_the_columns(tmp_path, job, by_key):
    key = '("f", None)' if by_key else "None"
    script = write_script(
        tmp_path,
        f"""
        from typedbytes.streaming import lib, run

        def mapper(offset, line):
            name, _, n = line.partition(" ")
            if name == "old":
                yield {key}, {{"name": name, "extra": 1}}
                int(n)
            if "left" in name:
                yield {key}, {{"name": name, "n": n, "more": ""}}
            yield {key}, {{"name": name, "n": n}}

        def newer(one, other):
            return other

        run({job.replace("mapper)", "mapper, newer, nkeys=1)")}, max_bad=5)
        """,
    )
    (tmp_path / "in.txt").write_text("old x\nold y\nann 5\nleft 6\nold z\nbob 7\n")
    result = run(script, tmp_path / "in.txt", tmp_path / "out", output_format="csv", output_by_key=by_key)
    folder = tmp_path / "out" / ("f" if by_key else "")
    assert (folder / "part-00000").read_text() == "name,n\nann,5\nbob,7\n"
    assert result.bad_records == 4


def test_a_record_that_is_not_a_column_of_parquet_is_no_file(tmp_path):
    """A killed task has written the start of one."""
    script = write_script(
        tmp_path,
        """
        import os, signal
        from typedbytes import streaming

        def mapper(offset, line):
            for number in range(200_000):
                yield number, line
            os.kill(os.getpid(), signal.SIGKILL)

        streaming.run(mapper)
        """,
    )
    pytest.importorskip("pyarrow")
    (tmp_path / "in.txt").write_text("x\n")
    with pytest.raises(local.JobError, match="it was ended by SIGKILL"):
        run(script, tmp_path / "in.txt", tmp_path / "out", output_format="parquet")
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


@pytest.mark.parametrize("output_format", ["json", "csv", "parquet"])
def test_a_full_disk_fails_the_job_and_leaves_nothing(tmp_path, output_format):
    pytest.importorskip("pyarrow")
    script = write_script(
        tmp_path,
        "import os\nfrom typedbytes import streaming\n"
        "streaming.run(lambda key, line: ((None, {'x': os.urandom(99).hex()}) for i in range(20_000)))\n",
    )
    (tmp_path / "in.txt").write_text("x\n")
    words = [*RUN, str(script), "in.txt", "-o", "out", "--output-format", output_format]
    limited = ["bash", "-c", 'ulimit -f 1024; exec "$@"', "limited", *words]
    done = subprocess.run(limited, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert done.returncode == 74, done.stderr
    assert "File too large; raise the limit on the size of a file: ulimit -f unlimited" in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


def test_rows_are_for_functions(tmp_path):
    with pytest.raises(local.OptionError, match="output_format 'json' is for functions"):
        local.run("cat", inputs=[(1, 2)], output=tmp_path / "out", output_format="json")
    assert os.listdir(tmp_path) == []


def test_the_last_step_alone_writes_rows(tmp_path):
    script = write_script(
        tmp_path,
        """
        from typedbytes.streaming import Step, lib, run

        def words(offset, line):
            return [(word, 1) for word in line.split()]

        run(steps=[Step(words, lib.sumreducer, lib.sumreducer), Step(lambda word, n: [(n, word)], lib.identityreducer)])
        """,
    )
    (tmp_path / "in.txt").write_text("b a b\n")
    run(script, tmp_path / "in.txt", tmp_path / "out", output_format="json", step_output=str(tmp_path / "steps"))
    assert (tmp_path / "out" / "part-00000").read_text() == '{"key": 1, "value": "a"}\n{"key": 2, "value": "b"}\n'
    assert pairs_of(tmp_path / "steps" / "step1") == [("a", 1), ("b", 2)]


def test_later_rows_of_parquet_may_have_fewer_columns_and_numbers_that_fit(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    script = write_script(
        tmp_path,
        """
        from typedbytes import streaming

        def mapper(offset, line):
            for number in range(70_000):
                yield None, {"n": number + 0.5, "x": "y"} if number < 65_536 else {"n": number}

        streaming.run(mapper)
        """,
    )
    (tmp_path / "in.txt").write_text("x\n")
    run(script, tmp_path / "in.txt", tmp_path / "out", output_format="parquet")
    table = parquet.read_table(tmp_path / "out" / "part-00000.parquet").to_pydict()
    assert table["n"] == [number + 0.5 if number < 65_536 else float(number) for number in range(70_000)]
    assert table["x"] == ["y"] * 65_536 + [None] * (70_000 - 65_536)


def test_the_result_on_standard_output_has_the_names_once_and_no_side_files(tmp_path):
    script = write_script(
        tmp_path,
        """
        from typedbytes import streaming

        def mapper(offset, line):
            streaming.side_file(f"log{offset}").write(b"not shown")
            yield line, 1

        streaming.run(mapper)
        """,
    )
    (tmp_path / "in.txt").write_text("key\nb\n\n")
    words = [*RUN, str(script), "in.txt", "--output-format", "csv", "--split-size", "2"]
    done = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "key,value"
    assert sorted(done.stdout.splitlines()[1:]) == [",1", "b,1", "key,1"]
    words = [*RUN, str(script), "in.txt", "--output-format", "parquet"]
    done = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, text=True)
    assert done.returncode == 64 and "Parquet files are files of a folder: give --output FOLDER" in done.stderr
    assert sorted(os.listdir(tmp_path)) == ["in.txt", "job.py"]


def shown_parts(tmp_path, lines, *words):
    """Return what a job with a part for each line leaves: its exit code, its output and its messages."""
    (tmp_path / "in").mkdir()
    for number, line in enumerate(lines):
        (tmp_path / "in" / f"{number}.txt").write_text(f"{line}\n")
    command = [*RUN, write_script(tmp_path, OF_PART), "in", "--quiet", "--output-format", "csv", *words]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True)
    return done.returncode, done.stdout, done.stderr.decode().splitlines()


OF_PART = """
    from typedbytes import streaming

    ROWS = {"a": {"name": "x", "age": 1}, "b": {"age": 2, "name": "y"}, "c": {"name": "z", "size": 3}, "d": {}}
    streaming.run(lambda offset, line: [(None, ROWS[line])] * (line != "d"))
"""


@pytest.mark.parametrize(("lines", "names"), [("ab", "age, name"), ("adac", "name, size")])
@pytest.mark.parametrize("inline", [(), ("--inline",)])
def test_parts_with_other_columns_are_not_put_under_the_names_of_the_first(tmp_path, lines, names, inline):
    code, output, messages = shown_parts(tmp_path, lines, *inline)
    assert (code, output) == (65, b"")
    assert messages == [
        f"typedbytes run: part-0000{len(lines) - 1} has the columns {names}, and part-00000 has name, age: "
        "give --output FOLDER, or have each task begin with a row of the same columns in the same order"
    ]


def inflate(data):
    """Return the contents of streams of zlib, one after the other."""
    contents = b""
    while data:
        stream = zlib.decompressobj()
        contents += stream.decompress(data)
        data = stream.unused_data
    return contents


@pytest.mark.parametrize(
    ("codec", "decompress"),
    [("GzipCodec", gzip.decompress), ("BZip2Codec", bz2.decompress), ("DefaultCodec", inflate), (None, bytes)],
)
def test_compressed_parts_on_standard_output_have_the_names_once(tmp_path, codec, decompress):
    prefix = "mapreduce.output.fileoutputformat.compress"
    words = ["-D", f"{prefix}=true", "-D", f"{prefix}.codec=org.apache.hadoop.io.compress.{codec}"] if codec else []
    code, output, messages = shown_parts(tmp_path, "dadaa", *words)
    assert (code, messages) == (0, [])
    assert decompress(output) == b"name,age\n" + b"x,1\n" * 3


def test_parts_whose_library_is_missing_are_not_put_together(tmp_path):
    (tmp_path / "part-00000.zst").write_bytes(b"any")
    code = f"""
        import sys
        from typedbytes.cli._job.csv_parts import PartsError, find_names
        sys.modules.update(dict.fromkeys(["compression.zstd", "backports.zstd", "zstandard"]))
        try:
            find_names([{str(tmp_path / "part-00000.zst")!r}])
        except PartsError as error:
            print(error)
    """
    assert run_fresh(code).endswith("pip install 'typedbytes[zstd]'; or give --output FOLDER")


def test_parts_whose_compression_is_not_written_are_not_put_together(tmp_path):
    """As those of Hadoop may be; one part is written as it is."""
    output = io.BytesIO()
    (tmp_path / "part-00000.snappy").write_bytes(b"any")
    show_parts(tmp_path, "csv", output)
    assert output.getvalue() == b"any"
    (tmp_path / "part-00001.snappy").write_bytes(b"any")
    with pytest.raises(ValueError, match="part files compressed by snappy .*: give --output FOLDER"):
        show_parts(tmp_path, "csv", output)


def test_columns_of_a_pair():
    assert row_of(None, None) == {"value": None}
    assert row_of("a", None) == {"key": "a", "value": None}
    assert row_of(["a"], dt.date(2026, 5, 1)) == {"key": ["a"], "value": dt.date(2026, 5, 1)}
    with pytest.raises(ValueError, match="both have the column 'key1'"):
        row_of(("a",), {"key1": 2})
