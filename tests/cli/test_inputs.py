"""Inputs: files, folders, patterns, URLs and stdin, and what cannot be read."""

import gzip
import os
import signal
import subprocess
import sys
import time
import zipfile

import fsspec
import pytest
from fsspec.spec import AbstractFileSystem

from support.commands import (
    COMMAND,
    FILTERS,
    LINES,
    NUMBERS,
    ONE,
    PAIRS,
    STREAM,
    TEXT,
    TWO,
    bad,
    good,
    rows,
    sequence_file,
)
from support.subprocess_runs import SECONDS
from typedbytes import sequencefile
from typedbytes._base import locations
from typedbytes.cli import main

pytestmark = [pytest.mark.oldest_python, pytest.mark.quick]


@pytest.mark.parametrize(
    "url", ["zip://a::{}", "tar://a::{}", "reference://a", "dir://a", "data://a", "generic://a", "nowhere://a"]
)
def test_urls_of_what_is_not_there(url, file):
    url = url.format(file(STREAM))
    assert bad(66, "cat", url)[1].startswith(f"{url}: ")
    assert url in bad(66, "cat", "-o", url, stdin=ONE)[1]


def test_an_archive_of_a_file_system(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("part-0", NUMBERS * 1000)
    assert good("cat", f"zip://part-0::{path}") == NUMBERS * 1000
    data = bytearray(path.read_bytes())
    data[40:48] = bytes(8)  # of the compressed bytes
    path.write_bytes(data)
    assert bad(74, "cat", f"zip://part-0::{path}")[1].startswith(f"zip://part-0::{path}: ")


def test_error_of_a_missing_remote_file():
    assert bad(66, "cat", "memory://nope")[1] == "memory://nope: No such file or directory: /nope"


class ManyLines(AbstractFileSystem):
    """A file system whose errors have a stack trace, as those of a name node do."""

    protocol = "manylines"
    error: Exception = FileNotFoundError

    def info(self, path, **how):
        raise self.error("File does not exist: /x\n\tat org.apache.hadoop.A.b(A.java:7)\n\tat c.D.e(D.java:8)")

    _open = ls = info


@pytest.mark.parametrize("error", [FileNotFoundError, OSError, RuntimeError])
def test_an_error_of_a_remote_system_is_one_line(monkeypatch, capfd, error):
    fsspec.register_implementation("manylines", ManyLines, clobber=True)
    monkeypatch.setattr(ManyLines, "error", error)
    for words in (["head"], ["convert", "--to", "json"], ["count"], ["sniff"]):
        assert main([*words, "manylines://host/x"]) in (66, 74)
        message = capfd.readouterr().err
        assert message.count("\n") == 1 and message.endswith("File does not exist: /x\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_no_name_node_answers(number):
    """What hdfs-native tries for three minutes, without hearing a signal."""
    pytest.importorskip("hdfs_native")
    process = subprocess.Popen([*COMMAND, "head", "hdfs://localhost:9/x"], stderr=subprocess.PIPE)
    time.sleep(2)
    process.send_signal(number)
    assert process.wait(10) in (-number, 128 + number) and process.communicate()[1] == b""


def test_what_to_check_when_no_name_node_answers(monkeypatch):
    pytest.importorskip("hdfs_native")
    from typedbytes._base import hdfs

    monkeypatch.setattr(hdfs, "ANSWER_SECONDS", 1)
    with pytest.raises(TimeoutError, match="no name node has answered at hdfs://localhost:9 for 1 s: check the host"):
        locations.file_system("hdfs://localhost:9/x")


def test_what_to_check_of_a_host_without_a_port():
    """It is the name of a cluster to hdfs-native, where Hadoop takes port 8020."""
    pytest.importorskip("hdfs_native")
    with pytest.raises(OSError, match="hdfs://no-such-cluster: .* check the host, the port"):
        locations.file_system("hdfs://no-such-cluster/x")


def test_folders_patterns_and_urls(file, tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    for name, data in (("part-0", ONE), ("part-1", TWO), ("_SUCCESS", b"x"), (".crc", b"x")):
        (folder / name).write_bytes(data)
    for location in (str(folder), f"{folder}/part-*", f"file://{folder}"):
        assert good("cat", location) == ONE + TWO
    assert good("cat", f"file://{folder}/part-0", f"file://{folder}/*-1") == ONE + TWO
    odd = file(TEXT, "a[1].tb")
    assert good("cat", odd) == good("cat", f"file://{odd}") == TEXT
    assert bad(66, "cat", f"file://{folder}/part-9")
    assert bad(66, "cat", "nothing://a")[1].startswith("nothing://a: Protocol not known")
    assert bad(66, "cat", "-o", "nothing://a", stdin=ONE)
    assert bad(66, "cat", "file:///nowhere/part-*")[1] == "file:///nowhere/part-*: matches no file"


def test_nothing_in_a_folder_is_left_out_silently(tmp_path):
    folder = tmp_path / "out"
    for name in ("_logs", ".tmp"):
        (folder / name).mkdir(parents=True)
    (folder / "part-0").write_bytes(ONE)
    (folder / "part-1").symlink_to("nowhere")
    for location, prefix in ((str(folder), ""), (f"file://{folder}", "file://")):
        stdout, message = bad(66, "cat", location)
        assert stdout == ONE and message == f"{prefix}{folder}/part-1: No such file or directory"
    (folder / "part-1").unlink()
    (folder / "more").mkdir()
    for location in (str(folder), f"file://{folder}"):
        assert bad(66, "cat", location) == (
            b"",
            f"{location}: a folder among the part files: {location}/more (--recursive reads it too)",
        )
    (folder / "more").rmdir()
    assert good("cat", str(folder)) == good("cat", f"file://{folder}") == ONE


def test_patterns_leave_hidden_names_out(tmp_path):
    for name, data in (("part-0", ONE), ("_SUCCESS", b"x"), (".crc", TWO)):
        (tmp_path / name).write_bytes(data)
    for pattern in (f"{tmp_path}/*", f"file://{tmp_path}/*"):
        assert good("cat", pattern) == ONE
    assert good("cat", f"{tmp_path}/.c*") == good("cat", f"file://{tmp_path}/.c*") == TWO
    assert bad(66, "cat", f"{tmp_path}/?SUCCESS")[1].endswith("?SUCCESS: matches no file")


PATTERNS = [
    "*/*.tb", "**", "**/c.tb", "*/**", "a/**", "a**/c.tb", "**/*/c.tb", ".g*/*", "?git/*", "[.a]*/c.tb", "*/.*",
    "**/.*", "*/", "**/", "_*/*", "*/*/*", "none/**",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_in_a_url_finds_what_one_in_a_path_finds(tmp_path, pattern):
    """With ** as with *: fsspec would find each folder beside what is in it, which would be read twice."""
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    memory.pseudo_dirs[:] = [""]
    for name in ("b.tb", "a/c.tb", "a/.h.tb", "a/d/c.tb", ".git/c.tb", "_t/c.tb", "a/.x/c.tb", "e/c.tb"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(ONE)
        memory.pipe(f"/in/{name}", ONE)
    here = [path.rstrip("/") for path in locations.glob_paths(f"{tmp_path}/{pattern}")]
    assert [path.rstrip("/") for path in locations.glob_paths(f"file://{tmp_path}/{pattern}")] == [
        f"file://{path}" for path in here
    ]
    assert [path.rstrip("/") for path in locations.glob_paths(f"memory://in/{pattern}")] == [
        path.replace(f"{tmp_path}", "memory:///in") for path in here
    ]


def test_no_file_is_read_twice_for_a_pattern_in_a_url(tmp_path):
    for name, data in (("d/a.tb", ONE), ("d/b.tb", TWO)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    for pattern in ("d/**", "d**", "**"):
        assert good("cat", f"{tmp_path}/{pattern}") == good("cat", f"file://{tmp_path}/{pattern}") == ONE + TWO


def test_inputs_that_cannot_be_opened(tmp_path):
    assert bad(66, "cat", str(tmp_path / "no"))[1] == f"{tmp_path}/no: No such file or directory"
    assert bad(66, "from-json", str(tmp_path))[1] == f"{tmp_path}: no part files in it"
    assert bad(66, "cat", f"{tmp_path}/part-*")[1] == f"{tmp_path}/part-*: matches no file"
    unreadable = tmp_path / "unreadable.tb"
    unreadable.symlink_to(unreadable)
    assert bad(66, "validate", str(unreadable))[1] == f"{unreadable}: Too many levels of symbolic links"


def test_records_before_a_missing_input_are_written(file):
    path = file(ONE)
    assert bad(66, "cat", path, path + "x")[0] == ONE


def test_closed_stdin():
    command = subprocess.list2cmdline([*COMMAND, "count"])
    done = subprocess.run(f"{command} <&-", shell=True, capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (66, b"", b"typedbytes count: standard input: closed\n")


@pytest.mark.parametrize("arguments", FILTERS, ids=" ".join)
def test_stdin_that_cannot_be_read(arguments, tmp_path):
    with open(tmp_path / "written", "wb") as stdin:
        done = subprocess.run([*COMMAND, *arguments], stdin=stdin, capture_output=True)
    assert (done.returncode, done.stdout) == (74, b"")
    assert done.stderr.decode() == f"typedbytes {arguments[0]}: standard input: Bad file descriptor\n"


NON_BLOCKING = {"to-json": STREAM, "from-json": LINES, "cat": b"\x1f\x8b\x08" + bytes(7), "sort": STREAM}


@pytest.mark.parametrize("arguments", [each for each in [*FILTERS, ["sort"]] if each != ["sniff"]], ids=" ".join)
def test_stdin_that_does_not_wait(arguments):
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.write(writing, NON_BLOCKING.get(arguments[0], STREAM))
    done = subprocess.run([*COMMAND, *arguments], stdin=reading, capture_output=True, timeout=SECONDS)
    os.close(writing)
    os.close(reading)
    message = f"typedbytes {arguments[0]}: standard input: the source must be in blocking mode\n"
    assert (done.returncode, done.stderr.decode()) == (74, message)


@pytest.fixture
def parts(tmp_path):
    """A folder whose one SequenceFile is among files without bytes, as tasks leave them that have written nothing."""
    folder = tmp_path / "parts"
    folder.mkdir()
    for name in ("part-00000", "part-00001.gz", "part-00004"):
        (folder / name).touch()
    (folder / "part-00002").write_bytes(sequence_file())
    (folder / "part-00003.gz").write_bytes(gzip.compress(b""))
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ["cut", "-f", "key"], ["cut", "-k", "key", "-f", "value"], ["grep", "--in", "key", "."],
        ["uniq", "--by", "key"], ["top", "--by", "key"], ["sort"], ["freq"], ["to-json"], ["to-text"],
        ["cat", "--to", "block"], ["slice"], ["sample", "--fraction", "1"], ["dumptb"], ["aggregate"],
        ["schema", "--python"], ["head", "--pairs"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_file_without_bytes_fits_any_other(words, parts):
    assert good(*words, str(parts)) == good(*words, str(parts / "part-00002"))


@pytest.mark.parametrize("words", [["convert"], ["cat", "--pairs"], ["head"], ["tail"], ["sort"]], ids=" ".join)
def test_a_file_without_bytes_has_no_classes(words, parts):
    copy, alone = (
        sequencefile.Reader(good(*words, "--to", "sequencefile", str(path))) for path in (parts, parts / "part-00002")
    )
    assert (copy.key_class, copy.read_all()) == (alone.key_class, alone.read_all())


def test_the_speed_of_pairs_is_not_that_of_a_file_without_bytes(parts):
    assert rows(good("bench", str(parts)))[0]["records"] == len(PAIRS)


def test_only_an_input_without_bytes_may_have_keys(file):
    for words in (["uniq", "--by", "key"], ["grep", "--in", "key", "."], ["cut", "-f", "key"]):
        assert "values have no key" in bad(64, *words, "--values", file(b""), file(STREAM, "b.tb"))[1]


@pytest.mark.parametrize("where", ["", "*/"])
def test_a_note_among_part_files(where, tmp_path):
    """What the message advises is then done."""
    folder = tmp_path / "events"
    (folder / where.replace("*", "01")).mkdir(parents=True)
    (folder / where.replace("*", "01") / "part-00000").write_bytes(sequence_file())
    (folder / "README.txt").write_text("This is a note about\nthe folder.\n")
    advice = f"name the part files: '{folder}/{where}part-*'"
    if where:
        for words in (["cat"], ["sort"], ["convert", "--to", "parquet", "-o", f"{tmp_path}/table/"]):
            message = bad(65, *words, "--recursive", str(folder))[1]
            assert message == f"{folder}/README.txt: text among the part files: {advice}"
    assert good("count", f"{folder}/{where}part-*") == b"100\n"


@pytest.mark.parametrize("url, library", [("s3://bucket/x", "s3fs"), ("gs://bucket/x", "gcsfs")])
def test_a_file_system_without_its_library(url, library, tmp_path):
    (tmp_path / f"{library}.py").write_text("raise ModuleNotFoundError\n")  # the library may be installed
    without = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    assert bad(69, "count", url, env=without)[1].endswith(f": pip install {library}")
