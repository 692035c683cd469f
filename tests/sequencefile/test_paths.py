"""Paths, files and URLs that SequenceFiles are read from and written to."""

import gc
import io
import os
import socket

import pytest

import typedbytes as tb
from support.commands import run
from support.small_sequencefiles import MARKER, NUMBERS, pairs_of, written
from support.subprocess_runs import run_fresh
from typedbytes import columns, sequencefile
from typedbytes._base import locations

pytestmark = [pytest.mark.oldest_python, pytest.mark.lowest]


def test_paths_and_files_to_read_from(tmp_path):
    data = written(NUMBERS)
    path = tmp_path / "f"
    path.write_bytes(data)
    assert pairs_of(path) == pairs_of(str(path)) == NUMBERS
    assert pairs_of(bytearray(data)) == pairs_of(memoryview(data)) == NUMBERS
    assert pairs_of(memoryview(b"".join(bytes([each, 0]) for each in data))[::2]) == NUMBERS
    with open(path, "rb") as file, open(path, "rb", buffering=0) as raw:
        assert pairs_of(file) == pairs_of(raw) == NUMBERS
        assert not file.closed and not raw.closed
    descriptor = os.open(path, os.O_RDONLY)
    assert pairs_of(descriptor) == NUMBERS
    os.close(descriptor)
    reading, writing = socket.socketpair()
    with reading, writing, reading.makefile("rb") as file:
        writing.sendall(data[:5000])
        writing.close()
        reader = sequencefile.Reader(file)
        assert reader.read() == NUMBERS[0]


def test_paths_and_files_to_write_to(tmp_path):
    data = written(NUMBERS)
    for target in (tmp_path / "a", str(tmp_path / "b"), os.open(tmp_path / "c", os.O_WRONLY | os.O_CREAT)):
        with sequencefile.open(target, "w", sync_marker=MARKER) as writer:
            writer.writes(NUMBERS)
        if isinstance(target, int):
            os.close(target)
    with open(tmp_path / "d", "wb") as file, sequencefile.Writer(file, sync_marker=MARKER) as writer:
        writer.writes(NUMBERS)
    assert {(tmp_path / name).read_bytes() for name in "abcd"} == {data}


def test_paths_that_are_refused(tmp_path):
    for file in (io.StringIO(), object(), 5.5):
        with pytest.raises(TypeError):
            sequencefile.Reader(file)
        with pytest.raises(TypeError):
            sequencefile.Writer(file)
    with pytest.raises(FileNotFoundError):
        sequencefile.Reader(tmp_path / "no")
    with pytest.raises(IsADirectoryError):
        sequencefile.Reader(tmp_path)
    with pytest.raises(ValueError, match="mode"):
        sequencefile.open(tmp_path / "f", "rb")
    (tmp_path / "bad").write_bytes(b"nothing")
    with pytest.raises(tb.FormatError, match="not a SequenceFile"):
        sequencefile.Reader(tmp_path / "bad")
    gc.collect()  # what was opened has been closed, or this would warn


def test_urls(tmp_path):
    data = written(NUMBERS, sync_interval=100)
    with sequencefile.open("memory://folder/part-00000", "w", sync_marker=MARKER, sync_interval=100) as writer:
        writer.writes(NUMBERS)
    import fsspec

    assert fsspec.open("memory://folder/part-00000").open().read() == data
    with fsspec.open("memory://folder/_SUCCESS", "wb"):
        pass
    assert pairs_of("memory://folder/part-00000") == NUMBERS
    halves = [pairs_of("memory://folder/part-00000", start=start, length=9000) for start in range(0, len(data), 9000)]
    assert sum(halves, []) == NUMBERS and len(halves) > 2
    (tmp_path / "f").write_bytes(data)
    assert list(sequencefile.read(["memory://folder", f"file://{tmp_path}/f"])) == NUMBERS * 2
    assert list(sequencefile.read("memory://folder/part-0000?")) == NUMBERS


@pytest.mark.parametrize(
    "url", ["https://host/a?sig=x*", "http://host/a.seq?a[]=1", "simplecache::https://host/a?sig=*"]
)
def test_a_query_is_no_pattern(url):
    """As fsspec says of HTTP, where a ? starts a query, and a server may give any characters in it a meaning."""
    assert locations.glob_paths(url) == [url]


@pytest.mark.parametrize("said", [0, None])
def test_a_file_that_does_not_say_its_size_is_read_to_its_end(said, tmp_path, monkeypatch):
    """As files of some servers and of some file systems in user space."""
    monkeypatch.setattr(locations, "size", lambda path: said)
    (tmp_path / "f").write_bytes(written(NUMBERS, sync_interval=100))
    reported = []
    assert (
        list(sequencefile.read(tmp_path / "f", split_size=500, progress=lambda *now: reported.append(now))) == NUMBERS
    )
    assert reported == [(0, 0)]


def test_without_a_library_the_error_says_what_to_install():
    code = """
        import io, sys
        sys.modules.update(dict.fromkeys(["cramjam", "backports.zstd", "compression", "lzallright", "fsspec"]))
        from typedbytes import sequencefile
        from typedbytes.sequencefile import _codecs
        for function in (
            lambda: sequencefile.Writer(io.BytesIO(), compression="block", codec="snappy"),
            lambda: sequencefile.Writer(io.BytesIO(), compression="block", codec="lz4"),
            lambda: sequencefile.Writer(io.BytesIO(), compression="block", codec="zstd"),
            lambda: _codecs.find("lzo"),  # a file that is only read
            lambda: sequencefile.open("s3://bucket/file"),
        ):
            try:
                function()
            except ModuleNotFoundError as error:
                print(error)
    """
    lines = run_fresh(code).splitlines()
    for line, extra in zip(lines, ["snappy", "lz4", "zstd", "lzo", "fsspec"]):
        assert line.endswith(f": pip install 'typedbytes[{extra}]'")
    assert "org.apache.hadoop.io.compress.SnappyCodec needs the library cramjam" in lines[0]
    assert len(lines) == 5


@pytest.mark.parametrize("missing", ["", 'sys.modules["pyarrow.fs"] = None'])
def test_what_hdfs_takes_is_said(missing):
    code = f"""
        import sys
        import fsspec
        # as where hdfs-native is not installed
        fsspec.register_implementation("hdfs", "fsspec.implementations.arrow.HadoopFileSystem", clobber=True)
        {missing}
        from typedbytes import sequencefile
        write, read = lambda path: sequencefile.open(path, "w"), lambda path: list(sequencefile.read(path))
        for act in (sequencefile.open, write, read):
            try:
                act("hdfs://no-such-host.invalid:8020/part-00000")
            except ({"ImportError" if missing else "OSError"}) as error:
                print(error)
    """
    lines = run_fresh(code).splitlines()
    assert len(lines) == 3
    for line in lines:
        assert line.startswith("hdfs:// needs the library hdfs-native: pip install 'typedbytes[hdfs]' (")
        assert "JAVA_HOME" in line and "CLASSPATH" in line


def test_the_child_of_a_fork_does_not_wait_for_threads_of_hdfs():
    pytest.importorskip("hdfs_native")
    code = """
        import os
        from hdfs_native.fsspec import HdfsFileSystem
        from typedbytes._base import locations
        HdfsFileSystem.exists = lambda *arguments: True  # no name node is needed for what follows
        locations.file_system("hdfs://127.0.0.1:9/part-00000")
        child = os.fork()
        if child == 0:
            os._exit(7)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert run_fresh(code) == "7"


def test_importing_brings_no_library():
    code = """
        import sys, io
        from typedbytes import sequencefile
        with sequencefile.Writer(io.BytesIO()) as writer:
            writer.write(1, 2)
        libraries = {"cramjam", "fsspec", "bz2", "zlib", "numpy", "concurrent.futures", "typedbytes.streaming"}
        print(sorted(libraries & set(sys.modules)))
    """
    assert run_fresh(code, flags=("-S",)) == "[]"


SIDE_FILES = ["log-r-00000", "bad-records-m-00003", "step1-log-m-00000", "log.txt-m-00010.gz", "log-c-00000-4711"]


def test_side_files_beside_part_files_are_no_input(tmp_path):
    with sequencefile.open(tmp_path / "part-00000", "w") as writer:
        writer.write("k", 1)
    with sequencefile.open(tmp_path / "more.seq", "w") as writer:
        writer.write("l", 2)
    for name in SIDE_FILES:
        (tmp_path / name).write_bytes(b"not a SequenceFile")
    assert list(sequencefile.read(tmp_path)) == [("l", 2), ("k", 1)]
    assert list(sequencefile.read(tmp_path.as_uri())) == [("l", 2), ("k", 1)]
    with columns.read(tmp_path) as batches:
        assert [len(batch) for batch in batches] == [2]
    assert run("to-json", "--pairs", str(tmp_path)).stdout.splitlines() == [b'["l", 2]', b'["k", 1]']


def test_side_files_alone_are_read(tmp_path):
    for name in SIDE_FILES:
        with sequencefile.open(tmp_path / name, "w") as writer:
            writer.write(name, 1)
    assert {key for key, _ in sequencefile.read(tmp_path)} == set(SIDE_FILES)
