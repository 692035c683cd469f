"""The files of jobs: Hadoop's where its command is found, else those of this machine."""

from __future__ import annotations

import os
import tempfile

from typedbytes import sequencefile
from typedbytes.fronts.file_systems import FileSystem, HadoopFileSystem

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

__all__ = [
    "abspath", "cp", "exists", "get", "has_hadoop", "isdir", "isempty", "ls", "mkdir", "mv", "put", "readtb", "rmr",
    "stat", "writetb", "writetb_parts",
]  # fmt: skip


def has_hadoop() -> bool:
    """Return whether Hadoop's command is found."""
    from typedbytes.hadoop.installed import find_command
    from typedbytes.jobs.errors import SubmitError

    try:
        return bool(find_command("hadoop"))
    except SubmitError:
        return False


def _fs() -> Any:
    return HadoopFileSystem() if has_hadoop() else FileSystem()


def exists(path: str) -> bool:
    """Return whether there is something at a path."""
    return _fs().exists(path)


def isdir(path: str) -> bool:
    """Return whether there is a folder at a path."""
    return _tested("-d", path) if has_hadoop() else os.path.isdir(path)


def isempty(path: str) -> bool:
    """Return whether a file has no bytes."""
    return _tested("-z", path) if has_hadoop() else os.path.getsize(path) == 0


def _tested(flag, path):
    try:
        HadoopFileSystem()._run("-test", flag, path)
    except OSError:
        return False
    return True


def abspath(path: str) -> str:
    """Return an absolute path."""
    return path if has_hadoop() else os.path.abspath(path)


def ls(path: str) -> list[str]:
    """Return the files at a path or a pattern. Raises OSError if there are none."""
    found = list(_fs().ls(path))
    if not found or (not has_hadoop() and not os.path.exists(found[0])):
        raise OSError(f"ls: there is nothing at {path}")
    return found


def put(local_path: str, hdfs_path: str) -> None:
    """Copy a file of this machine to Hadoop."""
    _fs().put(local_path, hdfs_path)


def get(hdfs_path: str, local_path: str) -> None:
    """Copy a file of Hadoop to this machine."""
    _fs().get(hdfs_path, local_path)


def cp(hdfs_src: str, hdfs_dst: str) -> None:
    """Copy a file."""
    HadoopFileSystem()._run("-cp", hdfs_src, hdfs_dst) if has_hadoop() else FileSystem().put(hdfs_src, hdfs_dst)


def mv(hdfs_src: str, hdfs_dst: str) -> None:
    """Rename a file."""
    _fs().mv(hdfs_src, hdfs_dst)


def rmr(path: str) -> None:
    """Remove a file or a folder."""
    _fs().rm(path)


def mkdir(path: str) -> None:
    """Make a folder."""
    _fs().mkdir(path)


def stat(path: str, format: str) -> str:
    """Return what Hadoop's command says of a file in a format."""
    return HadoopFileSystem()._run("-stat", format, path).decode().rstrip("\n")


def writetb(path: str, kvs: Iterable[tuple[Any, Any]], java_mem_mb: int = 256) -> None:
    """Write pairs into a SequenceFile of typed bytes."""
    if not has_hadoop():
        FileSystem().mkdir(os.path.dirname(path) or ".")
        _write(path, kvs)
        return
    with tempfile.TemporaryDirectory(prefix="hadoopy-") as folder:
        _write(os.path.join(folder, "records"), kvs)
        put(os.path.join(folder, "records"), path)


def _write(path, kvs):
    from typedbytes import PairWriter
    from typedbytes.streaming.formats.splits import SequenceFileSink

    with sequencefile.Writer(path) as file, PairWriter(SequenceFileSink(file)) as writer:
        writer.writes(kvs)


def writetb_parts(path: str, kvs: Iterable[tuple[Any, Any]], num_per_file: int, **kw: Any) -> None:
    """Write pairs into a folder of SequenceFiles, each with so many of them."""
    from itertools import islice

    pairs, number = iter(kvs), 0
    while part := list(islice(pairs, num_per_file)):
        writetb(f"{path}/part-{number:05}", part, **kw)
        number += 1


def readtb(
    paths: Any, num_procs: int = 1, java_mem_mb: int = 256, ignore_logs: bool = True
) -> Iterator[tuple[Any, Any]]:
    """Yield the pairs of SequenceFiles, or of folders of them; files whose names start with _ are left out."""
    for path in [paths] if isinstance(paths, str) else paths:
        for name in ls(path):
            if not (ignore_logs and os.path.basename(name).startswith(("_", "."))):
                yield from _pairs_of(name)


def _pairs_of(path):
    from typedbytes.files import PairReader

    if not has_hadoop():
        with PairReader(path) if path.endswith(".tb") else sequencefile.Reader(path) as reader:
            yield from reader
        return
    with tempfile.TemporaryDirectory(prefix="hadoopy-") as folder:
        local = os.path.join(folder, "records")
        get(path, local)
        with sequencefile.Reader(local) as reader:
            yield from reader
