"""convert to a folder of Arrow or Parquet files: what is in it, and how an interrupted conversion goes on."""

import datetime
import decimal
import gzip
import json
import os
import shutil
import signal
import subprocess
import time

import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest

import typedbytes as tb
from support.commands import COMMAND, bad, good, rows, run
from support.subprocess_runs import SECONDS
from typedbytes import sequencefile
from typedbytes.cli import main
from typedbytes.cli._input.rereadable import Rereadable
from typedbytes.cli._tables import folder

ROWS = [[(f"{part}{number}", number) for number in range(1000)] for part in "abc"]
ALL = sum(ROWS, [])


@pytest.fixture
def counts(tmp_path):
    folder = tmp_path / "counts"
    folder.mkdir()
    for number, pairs in enumerate(ROWS):
        with sequencefile.Writer(folder / f"part-0000{number}", sync_interval=500) as writer:
            writer.writes(pairs)
    (folder / "_SUCCESS").touch()
    return folder


def rows_of(folder, form="parquet"):
    """Return the rows of a folder as pyarrow reads it."""
    return [tuple(row.values()) for row in pyarrow.dataset.dataset(folder, format=form).to_table().to_pylist()]


@pytest.mark.parametrize("size", ["1M", "7000", "1000"])
def test_one_file_for_each_split(counts, size):
    out = counts.with_name("table")
    assert good("convert", "--to", "parquet", "--split-size", size, str(counts), "-o", str(out)) == b""
    nsplits = sum(-(-file.stat().st_size // tb_size(size)) for file in counts.glob("part-*"))
    assert sorted(os.listdir(out)) == [
        "_SUCCESS",
        "_conversion.json",
        *(f"part-{n:05}.parquet" for n in range(nsplits)),
    ]
    assert rows_of(out) == ALL
    assert not out.with_name("table.unfinished").exists()


def tb_size(text):
    return 1 << 20 if text == "1M" else int(text)


def test_what_makes_a_folder(counts, tmp_path):
    pairs = tmp_path / "pairs.tb"
    pairs.write_bytes(tb.Encoder().encode_pairs(ROWS[0]))
    good("convert", "--to", "arrow", "--pairs", str(pairs), "-o", f"{tmp_path}/slash/")
    with pyarrow.ipc.open_stream(tmp_path / "slash" / "part-00000.arrow") as stream:
        assert [tuple(row.values()) for row in stream.read_all().to_pylist()] == ROWS[0]
    (tmp_path / "empty").mkdir()
    good("convert", "--to", "parquet", "--codec", "zstd", str(counts), str(pairs), "--pairs", "-o", f"{tmp_path}/empty")
    assert rows_of(tmp_path / "empty") == ALL + ROWS[0]
    good("convert", "--to", "parquet", str(counts), "-o", f"{tmp_path}/one.parquet")
    assert (tmp_path / "one.parquet").is_file()
    assert good("convert", "--to", "parquet", str(counts), "-o", "-").startswith(b"PAR1")
    good("convert", "--to", "parquet", str(counts / "part-00000"), "-o", f"{tmp_path}/nosuffix")
    assert (tmp_path / "nosuffix").is_file()


def test_numbers_of_several_widths_have_one_schema(tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    for number, value in enumerate((1, 1 << 40, None)):
        with sequencefile.Writer(source / f"part-{number}") as writer:
            writer.writes([("k", value), ("l", 2)])
    good("convert", "--to", "parquet", str(source), "-o", str(tmp_path / "out"))
    assert rows_of(tmp_path / "out") == [("k", 1), ("l", 2), ("k", 1 << 40), ("l", 2), ("k", None), ("l", 2)]


def test_maps_are_structs_with_the_fields_of_all_files(tmp_path):
    source = tmp_path / "in"
    source.mkdir()
    files = [[{"x": 1}, {"x": 2}], [{"x": 3, "y": "s"}, {}], [{"z": 1.5, "y": "t"}, None], [{"x": 1 << 40}]]
    for number, values in enumerate(files):
        (source / f"part-{number}").write_bytes(tb.Encoder().encode_all(values))
    good("convert", "--to", "parquet", str(source), "-o", str(tmp_path / "out"))
    found = pyarrow.parquet.read_table(tmp_path / "out").column("value")
    assert [field.name for field in found.type] == ["x", "y", "z"]
    assert found.to_pylist() == [
        value if value is None else {name: value.get(name) for name in "xyz"} for values in files for value in values
    ]
    later = [[{"x": 1, "y": "s"}, {"w": b"late"}], [{"x": 2}]]
    for number, values in enumerate(later):
        (source / f"part-{number}").write_bytes(tb.Encoder().encode_all(values))
    good("convert", "--to", "parquet", "--widen", str(source), "-o", str(tmp_path / "all"))
    names = [field.name for field in pyarrow.parquet.read_table(tmp_path / "all").column("value").type]
    assert names == ["x", "y", "w", "z"]


def test_what_is_refused_leaves_nothing(counts, tmp_path):
    words = ["convert", "--to", "parquet"]
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine").touch()
    lines = tmp_path / "a.json"
    lines.write_text('["a", 1]\n')
    before = sorted(os.listdir(tmp_path))
    assert bad(64, *words, str(counts), "-o", str(full))[1] == f"{full}: the folder is not empty"
    assert bad(64, *words, str(counts), "-o", f"file://{full}/")[1] == f"file://{full}: the folder is not empty"
    assert (
        "--max-bytes cannot be used when the output is a folder"
        in bad(64, *words, "--max-bytes", "9", str(counts), "-o", f"{tmp_path}/out")[1]
    )
    assert "standard input can be read only once: give -o a file" in bad(64, *words, "-o", f"{tmp_path}/out/")[1]
    assert (
        "a folder can be written only from SequenceFiles, RCFiles and typed bytes, and this is json: give -o a file"
        in bad(64, *words, str(lines), "-o", f"{tmp_path}/out/")[1]
    )
    assert (
        "--split-size is for a folder"
        in bad(64, *words, "--split-size", "9", str(counts), "-o", f"{tmp_path}/out.parquet")[1]
    )
    pairs = tmp_path / "counts" / "part-00003"
    pairs.write_bytes(tb.Encoder().encode_pairs(ROWS[0]))
    assert (
        "the inputs are SequenceFiles and typed bytes: pass --pairs"
        in bad(64, *words, "--values", str(counts), "-o", f"{tmp_path}/out")[1]
    )
    assert sorted(os.listdir(tmp_path)) == before


def test_a_folder_at_a_url_goes_on_and_is_marked(counts, tmp_path):
    out, bad_part = tmp_path / "out", counts / "part-00001"
    data = bad_part.read_bytes()
    words = ["convert", "--to", "parquet", str(counts), "-o", f"file://{out}/"]
    good("convert", "--to", "parquet", str(counts), "-o", str(tmp_path / "here"))
    damaged(bad_part)
    done = run(*words)
    assert done.returncode == 65 and f"{bad_part}: ".encode() in done.stderr
    assert b"the same command goes on with the others" in done.stderr
    names = set(os.listdir(out))
    assert "_conversion.json" in names and "_SUCCESS" not in names and "part-00001.parquet" not in names
    assert not any("partial" in name for name in names)
    assert "left by an unfinished run with other inputs" in bad(64, *words, "--codec", "gzip")[1]
    for name in names:
        os.unlink(out / name)
    bad_part.write_bytes(data)
    good(*words)
    assert rows_of(out) == rows_of(tmp_path / "here") and (out / "_SUCCESS").exists()
    assert f"file://{out}: the folder is not empty" in bad(64, *words)[1]


def damaged(path):
    data = bytearray(path.read_bytes())
    data[-20] ^= 255
    path.write_bytes(data[:-7])


def test_a_damaged_file_ends_it_and_the_others_are_kept(counts, tmp_path):
    out = tmp_path / "out"
    whole = (counts / "part-00002").read_bytes()
    when = os.stat(counts / "part-00002").st_mtime_ns
    damaged(counts / "part-00002")
    done = run("convert", "--to", "parquet", str(counts), "-o", str(out))
    assert done.returncode == 65 and f"{counts}/part-00002: " in done.stderr.decode()
    assert "the same command goes on with the others" in done.stderr.decode()
    assert not out.exists()
    (counts / "part-00002").write_bytes(whole)
    os.utime(counts / "part-00002", ns=(when, when))
    words = ["convert", "--to", "parquet", str(counts), "-o", str(out)]
    assert "remove it to start again" in bad(64, *words, "--codec", "gzip")[1]
    (tmp_path / "more").write_bytes(whole)
    assert "remove it to start again" in bad(64, *words, str(tmp_path / "more"))[1]
    assert run(*words).returncode == 0 and rows_of(out) == ALL


#: Let a process complete one part; the others wait as long as there is a file.
#: So a signal comes before the last part on any machine.
WAIT_AFTER_ONE = """
import os, sys, time
nparts = 0
def wait(event, arguments):
    global nparts
    if event == "os.rename" and b"part-" in os.fsencode(arguments[1]):
        nparts += 1
        while nparts > 1 and os.path.exists(os.environ["WAIT_FILE"]):
            time.sleep(0.01)
sys.addaudithook(wait)
"""


def test_an_interrupted_conversion_goes_on(tmp_path):
    source, out, wait_file = tmp_path / "in", tmp_path / "out", tmp_path / "wait"
    source.mkdir()
    (tmp_path / "sitecustomize.py").write_text(WAIT_AFTER_ONE)
    environment = {
        **os.environ,
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        "WAIT_FILE": str(wait_file),
    }
    rows = [(number, "x" * 100) for number in range(1000)]
    with sequencefile.Writer(source / "part-000", codec="default") as writer:
        writer.writes(rows)
    for number in range(1, 100):
        shutil.copy(source / "part-000", source / f"part-{number:03}")
    command = ["convert", "--to", "parquet", "--codec", "zstd", str(source), "-o", str(out)]
    unfinished = tmp_path / "out.unfinished"
    for number in (signal.SIGINT, signal.SIGKILL, signal.SIGTERM):
        already = set(unfinished.glob("part-*"))
        wait_file.touch()
        process = subprocess.Popen([*COMMAND, *command], stderr=subprocess.PIPE, env=environment)
        while not set(unfinished.glob("part-*")) - already and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(number)
        wait_file.unlink()
        message = process.communicate(timeout=SECONDS)[1].decode()
        assert process.returncode in (-number, 128 + number), message
        assert not out.exists() and already < set(unfinished.glob("part-*"))
        if number != signal.SIGKILL:
            assert "the same command goes on with the others" in message
            assert not list(unfinished.glob(".*.partial"))
    kept = {path.name: path.stat().st_mtime_ns for path in unfinished.glob("part-*")}
    assert "left by an unfinished run with other inputs or options" in bad(64, *command, "--codec", "gzip")[1]
    done = run(*command)
    nfiles = len(json.loads((out / "_conversion.json").read_text())["splits"])
    message = f"typedbytes convert: {len(kept)} of {nfiles} files are in {unfinished} already\n"
    assert (done.returncode, done.stderr.decode()) == (0, message)
    assert {name: (out / name).stat().st_mtime_ns for name in kept} == kept
    assert rows_of(out) == rows * 100


def test_two_at_once(tmp_path, counts):
    import fcntl

    unfinished = tmp_path / "out.unfinished"
    unfinished.mkdir()
    descriptor = os.open(unfinished, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    message = bad(64, "convert", "--to", "parquet", str(counts), "-o", str(tmp_path / "out"))[1]
    os.close(descriptor)
    assert message == f"{unfinished}: another process writes to it"


@pytest.mark.parametrize("out", [["out.parquet"], ["out/", "--split-size", "1G"]])
def test_a_row_group_holds_several_batches(tmp_path, out):
    with sequencefile.open(tmp_path / "pairs", "w") as writer:
        writer.writes((i, i % 9) for i in range(700_000))
    name, *options = out
    good("convert", "--to", "parquet", str(tmp_path / "pairs"), "-o", f"{tmp_path}/{name}", *options)
    (found,) = [tmp_path / name] if name == "out.parquet" else (tmp_path / name).glob("*.parquet")
    metadata = pyarrow.parquet.read_metadata(found)
    nrows = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    assert sum(nrows) == 700_000 and len(nrows) == 2, nrows
    assert pyarrow.parquet.read_table(found)["key"].to_pylist() == [*range(700_000)]


@pytest.mark.parametrize("nprocessors, nparts", [(1, 1), (2, 2), (8, 3)])
def test_one_large_file_has_splits_for_all_processors(nprocessors, nparts, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: nprocessors)
    with sequencefile.open(tmp_path / "large", "w") as writer:
        writer.writes((i, bytes(1 << 16)) for i in range(600))  # 37.5 MiB, in splits of 16 or more
    main(["convert", "--to", "arrow", "--columns", "key", str(tmp_path / "large"), "-o", f"{tmp_path}/out/"])
    parts = sorted((tmp_path / "out").glob("part-*"))
    assert len(parts) == nparts
    tables = [pyarrow.ipc.open_stream(part).read_all() for part in parts]
    assert min(map(len, tables)) > 0 and pyarrow.concat_tables(tables)["key"].to_pylist() == [*range(600)]


@pytest.mark.parametrize(
    "sizes, nprocessors, mebibytes",
    [
        ([300], 2, 75),
        ([300, 340], 2, 106),
        ([1], 8, 16),
        ([1000], 1, 125),
        ([9999], 64, 124),
        ([0], 2, 16),
        ([1, None], 2, 128),
    ],
)
def test_splits_have_128_mebibytes_at_most(sizes, nprocessors, mebibytes, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: nprocessors)
    monkeypatch.setattr(folder.locations, "size", lambda size: size and size << 20)
    found = folder._split_nbytes([Rereadable("", size) for size in sizes])
    assert found >> 20 == mebibytes and found <= 128 << 20


def test_another_machine_goes_on_with_the_same_splits(tmp_path, monkeypatch):
    with sequencefile.open(tmp_path / "large", "w") as writer:
        writer.writes((i, bytes(1 << 16)) for i in range(600))
    words = ["convert", "--to", "arrow", "--columns", "key", str(tmp_path / "large"), "-o", f"{tmp_path}/out/"]
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert main(words) == 0
    unfinished = (tmp_path / "out").rename(tmp_path / "out.unfinished")  # as if it had been killed
    for name in ("_SUCCESS", "part-00001.arrow"):
        (unfinished / name).unlink()
    kept = {path.name: path.stat().st_mtime_ns for path in unfinished.glob("part-*")}
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert main(words) == 0
    parts = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("part-*")}
    assert len(parts) == 3 and kept.items() < parts.items()


@pytest.mark.parametrize("out", ["out.parquet", "out/"])
def test_only_columns_whose_values_repeat_have_dictionaries(tmp_path, out):
    rows = [(i, f"w{i % 9}", f"n{i}", [i % 5], [i], i % 2 == 0) for i in range(100_000)]
    (tmp_path / "rows.tb").write_bytes(tb.Encoder().encode_all(rows))
    good("convert", "--values", "--to", "parquet", str(tmp_path / "rows.tb"), "-o", f"{tmp_path}/{out}")
    (found,) = [tmp_path / out] if out == "out.parquet" else (tmp_path / out).glob("*.parquet")
    table = pyarrow.parquet.read_table(found)
    assert [(*each.values(),) for each in table["value"].to_pylist()] == rows
    group = pyarrow.parquet.read_metadata(found).row_group(0)
    chunks = [group.column(i) for i in range(group.num_columns)]
    assert [chunk.has_dictionary_page for chunk in chunks] == [False, True, False, True, False, False]


@pytest.mark.parametrize("form", ["csv", "arrow", "parquet"])
def test_a_disk_that_is_full_at_the_last_bytes(form, tmp_path):
    # The system takes a part of a write then, without an error.
    path = tmp_path / "pairs.tb"
    path.write_bytes(b"".join(tb.dumps(i) + tb.dumps(f"word{i}") for i in range(2000)))
    command = [*COMMAND, "convert", "--pairs", "--to", form, str(path), "-o"]
    assert subprocess.run([*command, f"{tmp_path}/whole/"], timeout=SECONDS).returncode == 0
    [part] = (tmp_path / "whole").glob("part-*")
    for nbytes in part.stat().st_size // 1024, part.stat().st_size // 2048:
        out = tmp_path / str(nbytes)
        limited = ["bash", "-c", f'ulimit -f {nbytes}; exec "$@"', "bash", *command, f"{out}/"]
        done = subprocess.run(limited, capture_output=True, timeout=SECONDS)
        assert (done.returncode, out.exists()) == (74, False) and b"File too large" in done.stderr, done.stderr


def test_a_disk_that_is_full(counts, tmp_path):
    script = f"ulimit -f 1; exec {' '.join(COMMAND)} convert --to parquet {counts} -o {tmp_path}/out"
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=SECONDS)
    assert done.returncode == 74 and b"File too large" in done.stderr, done.stderr


@pytest.mark.parametrize("out", ["out.parquet", "out/"])
def test_types_for_all_records(tmp_path, out):
    rows = [[("a", 1), ("b", 2)], [("c", 1), ("d", 1 << 40), ("e", 3)], [("f", "text"), ("g", None)]]
    for number, pairs in enumerate(rows):
        (tmp_path / f"{number}.tb").write_bytes(tb.Encoder().encode_pairs(pairs))
    files = [str(tmp_path / f"{number}.tb") for number in range(3)]
    words = ["convert", "--to", "parquet", "--pairs", "-o", str(tmp_path / out)]
    message = bad(65, *words[:-1], str(tmp_path / "x.parquet"), *files[:2])[1]
    assert "LONG in column 'value', which holds int (--widen finds a type for all), at offset" in message
    good(*words, "--widen", *files[:2])
    assert rows_of(tmp_path / out) == rows[0] + rows[1]
    assert run(*words[:-1], str(tmp_path / "all.arrow"), "--to", "arrow", "--widen", *files).returncode == 0
    with pyarrow.ipc.open_stream(tmp_path / "all.arrow") as stream:
        found = [tuple(row.values()) for row in stream.read_all().to_pylist()]
    assert [(key, tb.loads(value)) for key, value in found] == sum(rows, [])
    assert "--widen is for arrow, parquet, csv, tsv" in bad(64, "convert", "--to", "json", "--widen", files[0])[1]


@pytest.mark.parametrize("options", [(), ("--split-size", "1M")], ids=["first records", "splits"])
def test_integers_and_real_numbers_are_one_column_of_a_folder(tmp_path, options):
    for number, value in enumerate((1, 2.5, 1 << 40)):
        (tmp_path / f"{number}.tb").write_bytes(tb.Encoder().encode_pairs([("a", value)]))
    files = [str(tmp_path / f"{number}.tb") for number in range(3)]
    good("convert", "--to", "parquet", "--pairs", *options, *files, "-o", f"{tmp_path}/out/")
    assert rows_of(tmp_path / "out") == [("a", 1.0), ("a", 2.5), ("a", float(1 << 40))]


def test_a_number_that_would_lose_digits_is_refused(tmp_path):
    later = [1] * 70_000 + [2**53 + 1]  # after the records that the schema is taken from
    for number, values in enumerate(((0.5,), later)):
        (tmp_path / f"{number}.tb").write_bytes(tb.Encoder().encode_pairs([("a", value) for value in values]))
    files = [str(tmp_path / f"{number}.tb") for number in range(2)]
    words = ["convert", "--to", "parquet", "--pairs", *files, "-o", f"{tmp_path}/out/"]
    refused = run(*words)
    said = (
        f"{files[1]}: the column value holds values of several types or integers beyond 2**53, "
        "and the schema has double"
    )
    assert (refused.returncode, said in refused.stderr.decode()) == (65, True), refused.stderr
    shutil.rmtree(tmp_path / "out.unfinished")
    assert run(*words, "--widen").returncode == 0
    assert [tb.loads(value) for _, value in rows_of(tmp_path / "out")] == [0.5, *later]


@pytest.mark.parametrize("out", ["out.parquet", "out.arrow", "out/"])
def test_columns_that_become_bytes_are_noted_once(tmp_path, out):
    dates, mixed = tmp_path / "dates.tb", tmp_path / "mixed.tb"
    row = ("a", (1, datetime.date(2026, 1, 31), [decimal.Decimal("1.50")]))
    dates.write_bytes(tb.Encoder().encode_pairs([row, row]))
    mixed.write_bytes(tb.Encoder().encode_pairs([("a", 1), ("b", "text")]))
    form = "arrow" if out == "out.arrow" else "parquet"
    words = ["convert", "--to", form, "--pairs", "-o", str(tmp_path / out)]
    noted = run(*words, str(dates), str(dates))
    pickled = (
        "typedbytes convert: note: value.1, value.2.item: pickled values, such as dates and Decimals: "
        "each is written as the bytes of its pickle\n"
    )
    assert (noted.returncode, noted.stdout, noted.stderr.decode()) == (0, b"", pickled)
    noted = run(*words[:-1], str(tmp_path / f"mixed.{out}"), "--widen", str(mixed))
    raw = "note: value: values of several types: each is written as bytes, which typedbytes.loads reads"
    assert (noted.returncode, noted.stderr.decode()) == (0, f"typedbytes convert: {raw}\n")


@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_a_file_of_another_schema_is_named(tmp_path, form):
    for number, value in enumerate((1, "text")):
        (tmp_path / f"{number}.tb").write_bytes(tb.Encoder().encode_pairs([("a", value)]))
    files = [str(tmp_path / f"{number}.tb") for number in range(2)]
    message = bad(65, "convert", "--to", form, "--pairs", "-o", str(tmp_path / "out.x"), *files)[1]
    assert message.startswith(f"{files[1]}: ")


@pytest.mark.parametrize(
    ("how", "names"),
    [
        ("< <(cat PAIRS)", ["PAIRS"]),
        ("<(cat PAIRS)", ["PAIRS"]),
        ("- PAIRS < <(gzip < PAIRS)", ["PAIRS", "PAIRS"]),
        ("< SEQUENCE", ["SEQUENCE"]),
        ("<(cat SEQUENCE) PAIRS", ["SEQUENCE", "PAIRS"]),
    ],
)
def test_types_for_all_records_of_a_pipe(tmp_path, how, names):
    """Which is copied, because it is read twice; the copy is removed."""
    rows = [("a", 1)] * 20_000 + [("b", 1 << 40)]
    (tmp_path / "pairs.tb").write_bytes(tb.Encoder().encode_pairs(rows))
    with sequencefile.Writer(tmp_path / "pairs.seq") as writer:
        writer.writes(rows[:3])
    (tmp_path / "tmp").mkdir()
    inputs = how.replace("PAIRS", f"{tmp_path}/pairs.tb").replace("SEQUENCE", f"{tmp_path}/pairs.seq")
    script = (
        f"TMPDIR={tmp_path}/tmp {' '.join(COMMAND)} convert --to parquet --widen --pairs -o "
        f"{tmp_path}/out.parquet {inputs}"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=SECONDS)
    assert (done.returncode, done.stderr) == (0, b"")
    assert rows_of(tmp_path / "out.parquet") == sum((rows if name == "PAIRS" else rows[:3] for name in names), [])
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (tb.Encoder().encode_pairs([("a", 1)]) + b"\x0e",
         "standard input: unknown type code 14 at offset 11, record 1"),
        (b"[1]\n[2]\n",
         "standard input: --widen works only with SequenceFiles, RCFiles and typed bytes, and this is json: "
         "leave out --widen, or make typed bytes by typedbytes from-json"),
    ],
)  # fmt: skip
def test_the_copy_of_a_pipe_has_the_name_of_the_pipe(tmp_path, data, message):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    status = 64 if data.startswith(b"[") else 65
    words = ["convert", "--to", "arrow", "--widen", "--pairs"]
    assert bad(status, *words, stdin=data, env=environment) == (b"", message)
    assert list(tmp_path.iterdir()) == []


def test_a_sequencefile_that_is_compressed_as_a_whole_has_no_splits(counts, tmp_path):
    path = tmp_path / "a.seq.gz"
    with gzip.open(path, "wb") as file, sequencefile.Writer(file) as writer:
        writer.write("a", 1)
    message = (
        f"{path}: a SequenceFile inside gzip data, to be decompressed first "
        "(typedbytes convert --to sequencefile FILE -o OUT does)"
    )
    for out in (["--widen", "-o", f"{tmp_path}/out.arrow"], ["-o", f"{tmp_path}/out/"]):
        assert bad(65, "convert", "--to", "arrow", str(path), *out)[1].startswith(message)
    good("convert", "--to", "sequencefile", str(path), "-o", f"{tmp_path}/a.seq")
    good("convert", "--to", "arrow", f"{tmp_path}/a.seq", "-o", f"{tmp_path}/out/")


def test_what_is_no_input_of_a_folder(tmp_path):
    words = ["convert", "--to", "arrow", "--widen", "-o", f"{tmp_path}/out/"]
    assert bad(64, *words)[1] == "standard input can be read only once: give -o a file"


@pytest.mark.parametrize("words", [["-o", "{}/table/"], ["-o", "{}/t.parquet", "--widen"], ["-o", "{}/t.parquet"]])
def test_files_without_bytes_have_no_rows(words, counts, tmp_path):
    """Text reducers and LazyOutputFormat leave them."""
    for name in ("part-", "part-00000x", "part-9.gz"):
        (counts / name).touch()
    good("convert", "--to", "parquet", str(counts), *(word.format(tmp_path) for word in words))
    (table,) = tmp_path.glob("t*")
    assert rows_of(table) == ALL


def test_a_folder_of_files_without_bytes(tmp_path):
    (tmp_path / "parts").mkdir()
    for name in "ab":
        (tmp_path / "parts" / name).touch()
    good("convert", "--to", "parquet", str(tmp_path / "parts"), "-o", f"{tmp_path}/table/")
    assert rows_of(tmp_path / "table") == []


def test_the_repair_of_an_input_at_a_url_is_in_the_message(counts, tmp_path):
    url = f"file://{counts}/part-00002"
    damaged(counts / "part-00002")
    words = ["convert", "--to", "parquet", f"file://{counts}", "-o", f"{tmp_path}/out/"]
    message = run(*words).stderr.decode()
    assert f" (copy it, then typedbytes validate --repair {url} {url} keeps only the intact records)" in message
    assert run("validate", "--repair", url, url).returncode == 65
    assert run(*words).returncode == 0
    chained = run("convert", "--to", "parquet", f"simplecache::{url}", "-o", f"{tmp_path}/other/").stderr.decode()
    assert "--repair" not in chained


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_a_conversion_goes_on_after_the_repair_of_an_input(scheme, counts, tmp_path):
    """Parts of files that have not changed are kept; the message has the command that repairs the others."""
    out, bad_part = tmp_path / "out", counts / "part-00002"
    damaged(bad_part)
    words = ["convert", "--to", "parquet", "--split-size", "7000", str(counts), "-o", f"{scheme}{out}/"]
    message = run(*words).stderr.decode()
    repair = f"typedbytes validate --repair {bad_part} {bad_part}"
    assert f" (copy it, then {repair} keeps only the intact records)" in message
    unfinished = out if scheme else tmp_path / "out.unfinished"
    plan = json.loads((unfinished / "_conversion.json").read_text())
    parts = {name: os.stat(unfinished / name) for name in os.listdir(unfinished) if name.endswith(".parquet")}
    kept = {name for name in parts if plan["splits"][name][0] != str(bad_part)}
    assert kept
    (row,) = rows(run(*repair.split()[1:]).stdout)
    assert 0 < row["records"] < len(ROWS[2])
    good_run = run(*words)
    assert good_run.returncode == 0 and b"files are in" in good_run.stderr
    assert rows_of(out) == [*ROWS[0], *ROWS[1], *sequencefile.read(str(bad_part))]
    for name in kept:
        assert os.stat(out / name).st_ino == parts[name].st_ino
