"""Paths, URLs and folders of part files and of MapFiles.

Here: opening, listing and sizes. Not here: the contents of files, except what distinguishes a MapFile. Invariants:
fsspec is imported for a URL only; the index of a MapFile is read only if its own path is given.
"""

from __future__ import annotations

import errno
import io
import os

from typedbytes._base.magic import SEQUENCE_FILE_NBYTES, is_sequence_file

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = [
    "MARK", "PART_PREFIX", "NestedFolderError", "file_system", "files", "glob_paths", "is_hidden", "is_map_file",
    "is_pattern", "is_url", "map_files", "opened", "opened_in", "opened_to_recognise", "part_files", "parts",
    "reason_of", "size", "visible_names", "visible_paths", "written_parts",
]  # fmt: skip

PART_PREFIX = "part-"  # of the names of part files
MARK = "_SUCCESS"  # the file of a complete output
_SIDE_FILE = r".+-(?:[mr]-\d{5,}|c-\d{5,}-\d+)(?:\..+)?"  # of a map task, a reduce task or a combiner
_CLASSES_NBYTES = 1 << 12  # of a header, up to its class names
_HDFS = ("hdfs://", "viewfs://", "arrow_hdfs://")
_HDFS_NEEDS = (
    "hdfs:// needs the library hdfs-native: pip install 'typedbytes[hdfs]' (or pyarrow, a JDK in JAVA_HOME, "
    "Hadoop with libhdfs.so in HADOOP_HOME, and CLASSPATH=$(hadoop classpath --glob))"
)
_REMOTE_NBYTES = 1 << 20  # of a first read
_MAX_REMOTE_NBYTES = 1 << 22  # of later pieces from a store, which answers late; HDFS is near
_HEAD_NBYTES = 1 << 12  # read in addition to the bytes that recognise a file


class NestedFolderError(IsADirectoryError):
    """A folder among part files. `message` does not name the option that reads it too: each caller has its own."""

    message: str


def opened(file: Any, mode: str) -> tuple[Any, bool]:
    """Return (file, whether we opened it) for mode "r", "w" or "a": paths and URLs are opened, descriptors wrapped."""
    if is_url(file):
        fs, path = file_system(file)  # checks what the file system needs; fsspec caches it
        if mode == "r":
            return opened_in(fs, path), True
        if _is_native_hdfs(type(fs)):
            return fs.open(path, f"{mode}b"), True
        return _fsspec().open(file, f"{mode}b").open(), True
    if isinstance(file, (str, os.PathLike)):
        return io.FileIO(file, mode), True
    if isinstance(file, int) and not isinstance(file, bool):
        return io.FileIO(file, mode, closefd=False), False
    return file, False


def opened_in(fs: Any, path: str) -> Any:
    """Open a file of a file system for reading, by large reads, the next one fetched meanwhile."""
    is_hdfs = _is_native_hdfs(type(fs))
    file = fs.open(path, "rb", **({} if is_hdfs else {"cache_type": "none"}))
    if not is_hdfs and not isinstance(file, _fsspec().spec.AbstractBufferedFile):
        return _unshared(file)  # of this machine, or in memory
    from typedbytes._base.read_ahead import ReadAhead

    return ReadAhead(file, _REMOTE_NBYTES, _REMOTE_NBYTES if is_hdfs else _MAX_REMOTE_NBYTES)


def opened_to_recognise(url: str) -> Any:
    """Open a file at a URL whose first bytes are read, by small reads: buffers of fsspec read 5 MiB of each file."""
    fs, path = file_system(url)
    # The buffer that hdfs-native makes of a block size cannot be read in all its versions.
    return _unshared(fs.open(path, "rb", **({} if _is_native_hdfs(type(fs)) else {"block_size": _HEAD_NBYTES})))


def _unshared(file):
    """Return a file with an offset of its own: one in memory is the same object each time it is opened."""
    return io.BytesIO(file.getvalue()) if type(file).__module__ == "fsspec.implementations.memory" else file


def reason_of(error: BaseException) -> str:
    """Return what an error says in one line: those of some file systems have a stack of Java's."""
    text = getattr(error, "strerror", None) or str(error)
    return text.strip().partition("\n")[0].rstrip() or type(error).__name__


def file_system(path: str) -> tuple[Any, str]:
    """Return (file system, path) of a URL; for hdfs://, an error says what must be installed, or does not answer."""
    fsspec = _fsspec()
    try:
        if not path.startswith(_HDFS[:2]) or not _is_native_hdfs(fsspec.get_filesystem_class(path.partition(":")[0])):
            return fsspec.core.url_to_fs(path)
    except (ImportError, OSError) as error:
        if not path.startswith(_HDFS) and isinstance(error, ImportError):
            raise _with_library(error, path) from error
        if not path.startswith(_HDFS):
            raise
        kind = ImportError if isinstance(error, ImportError) else OSError
        reason = str(error).partition("\n")[0]  # the rest lists where libraries were searched
        raise kind(f"{_HDFS_NEEDS}: {reason}") from error
    from typedbytes._base import hdfs

    return hdfs.file_system(path)


def _with_library(error, url):
    """Return the ImportError with the library to install, where it is that of the file system itself."""
    scheme = url.rpartition("::")[2].partition("://")[0]
    from fsspec.registry import known_implementations

    library = known_implementations.get(scheme, {}).get("class", "").partition(".")[0]
    if library in ("", "fsspec") or library not in str(error) or "pip install" in str(error):
        return error
    return ImportError(f"{error}: pip install {library}")


def _is_native_hdfs(kind):
    return any(each.__module__.startswith("hdfs_native") for each in kind.__mro__)


def glob_paths(path: str) -> list[str]:
    """Return the paths or URLs that a pattern matches, in order, and anything else as it is.

    Names that start with _ or a dot match only patterns that do. ** is as *, in a URL too.
    """
    pattern = os.fspath(path)
    if not is_pattern(pattern) or os.path.exists(pattern):
        return [path]
    if not is_url(pattern):
        import glob

        return visible_paths(glob.glob(pattern), pattern)
    fs, remote = file_system(pattern)
    if fs.exists(remote):
        return [path]
    while "**" in remote:
        remote = remote.replace("**", "*")  # fsspec would find folders at any depth, and what is in them once more
    if pattern.endswith("/"):  # it is for folders alone, which the path of a URL leaves out
        remote = f"{remote.rstrip('/')}/"
    found = [each for each in fs.glob(remote) if _has_visible_folders(each, remote)]
    return visible_paths(map(fs.unstrip_protocol, found), pattern)


def _has_visible_folders(path, pattern):
    """Return whether no part of a path starts with a dot where that of the pattern does not, as the module glob has it.

    A path may begin otherwise than the pattern: they are compared from their ends.
    """
    parts = zip(*(reversed(each.rstrip("/").split("/")) for each in (path, pattern)))
    return all(part.startswith(".") or not name.startswith(".") for name, part in parts)


def is_pattern(path: str) -> bool:
    """Return whether a path or URL has characters of a pattern.

    As for fsspec, a ? in a URL of a web server starts a query.
    """
    start = path.partition("?")[0]
    is_of_web = start.rpartition("::")[2].startswith(("http://", "https://"))
    return not {*"*?["}.isdisjoint(start if is_of_web else path)


def visible_paths(paths: Iterable[str], pattern: str) -> list[str]:
    """Return in order what a pattern has found, without indexes of MapFiles.

    Hidden names are left out too, unless the pattern starts as they do.
    """
    first = _name(pattern)[:1]
    return _without_indexes(
        sorted(path for path in paths if not is_hidden(_name(path)) or _name(path).startswith(first))
    )


def _name(path):
    return path.rstrip("/").rpartition("/")[2]


def files(paths: Any, recursive: bool = False) -> list[Any]:
    """Return the files of paths, URLs, folders or patterns; FileNotFoundError for a pattern that matches none.

    recursive: those of the folders inside folders too.
    """
    found = []
    for path in paths if isinstance(paths, (list, tuple)) else [paths]:
        matches = glob_paths(path)
        if not matches:
            raise FileNotFoundError(errno.ENOENT, "no file matches the pattern", os.fspath(path))
        found += [file for match in matches for file in parts(match, recursive)]
    return found


def parts(path: str, recursive: bool = False) -> list[str]:
    """Return the files of a location: itself, or the visible ones of a folder, and of each MapFile its data.

    As for Hadoop's SequenceFileInputFormat, a folder inside it means its file `data`. A folder without a SequenceFile
    of that name raises IsADirectoryError, because its files would be missing from the result. recursive: read the files
    of such folders too, at any depth, as with Hadoop's property of that name; of a MapFile still its data alone. Hadoop
    itself would read the index of a MapFile that is named, or found recursively, as records.
    """
    entries = _visible_entries(path)
    if entries is None:
        return [path]
    if not recursive:
        return _without_indexes([_data_of(name) if is_folder else name for name, is_folder in entries])
    return _without_indexes(
        [file for name, is_folder in entries for file in (parts(name, True) if is_folder else [name])]
    )


def part_files(path: str) -> list[str]:
    """Return the files of a location as `parts` does, but MapFiles as they are stored.

    A folder of them raises IsADirectoryError.
    """
    entries = _visible_entries(path)
    if entries is None:
        return [path]
    return [_refused(name) if is_folder else name for name, is_folder in entries]


def written_parts(folder: str) -> list[str]:
    """Return the part files that a job has written into a folder of this machine, in order."""
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.startswith(PART_PREFIX)]


def is_map_file(folder: str) -> bool:
    """Return whether a folder is a MapFile: `data` and, from keys of the same class to offsets, `index`."""
    key_class, _ = _classes_of(_joined(folder, "data"))
    return key_class is not None and _classes_of(_joined(folder, "index")) == (
        key_class,
        b"org.apache.hadoop.io.LongWritable",
    )


def map_files(folder: str) -> list[str]:
    """Return the MapFiles in a folder, in order; none if it is one itself, or has anything else in it."""
    entries = _visible_entries(folder.rstrip("/")) or []
    return [path for path, _ in entries] if entries and all(is_map_file(path) for path, _ in entries) else []


def _classes_of(path):
    """Return the names of the classes of keys and values of a SequenceFile; (None, None) for any other file."""
    head, start, names = _head(path, _CLASSES_NBYTES), SEQUENCE_FILE_NBYTES, []
    if not is_sequence_file(head):
        return None, None
    for _ in range(2):
        length = head[start : start + 1]
        start += 1
        if b"\x88" <= length <= b"\x8f":  # the length has up to 8 bytes: WritableUtils.writeVLong
            nbytes = 0x90 - length[0]
            length = head[start : start + nbytes]
            start += nbytes
        end = start + int.from_bytes(length, "big")
        names.append(head[start:end])
        start = end
    return tuple(names) if start <= len(head) else (None, None)


def _without_indexes(paths):
    """Return paths without the index, and the filter, of each MapFile whose data is among them."""
    among, left_out = set(paths), set()
    for path in paths:
        folder = path[: -len("data")]
        if os.path.basename(path) == "data" and f"{folder}index" in among and is_map_file(folder):
            left_out |= {f"{folder}index", f"{folder}bloom"}
    return [path for path in paths if path not in left_out] if left_out else paths


def _data_of(folder):
    path = _joined(folder, "data")
    return path if is_sequence_file(_head(path, SEQUENCE_FILE_NBYTES)) else _refused(folder)


def _refused(folder):
    message = f"a folder among the part files: {folder}"
    error = NestedFolderError(errno.EISDIR, f"{message} (recursive reads it too)")
    error.message = message
    raise error


def _head(path, nbytes):
    """Return the first bytes of a file, nbytes at most; none if there is no such file."""
    if is_url(path):
        fs, remote = file_system(path)
        is_file = fs.isfile(remote)
    else:
        is_file = os.path.isfile(path)
    if not is_file:
        return b""
    with opened_to_recognise(path) if is_url(path) else opened(path, "r")[0] as file:
        return file.read(nbytes)


def _visible_entries(path):
    """Return (path, whether it is a folder) of the visible entries of a folder, in order; None if it is a file."""
    if is_url(path):
        fs, remote = file_system(path)
        if not fs.isdir(remote):
            return None
        is_folder = {_name(entry["name"]): entry["type"] == "directory" for entry in fs.ls(remote, detail=True)}
    else:
        if not os.path.isdir(path):
            return None
        with os.scandir(path) as entries:
            is_folder = {entry.name: entry.is_dir() for entry in entries}
    return [(_joined(path, name), is_folder[name]) for name in visible_names(is_folder)]


def _joined(folder, name):
    if not is_url(folder):
        return os.path.join(folder, name)
    return f"{folder}{name}" if folder.endswith("/") else f"{folder}/{name}"


def size(path: str) -> Any:
    """Return the number of bytes of a file, None where its server does not say."""
    if is_url(path):
        fs, remote = file_system(path)
        return fs.size(remote)
    return os.path.getsize(path)


def is_hidden(name: str) -> bool:
    """Return whether Hadoop ignores files of this name."""
    return name.startswith(("_", "."))


def visible_names(names: Iterable[str]) -> list[str]:
    """Return the sorted names of the files that a folder has as an input: visible ones, without side files.

    What tasks write beside their output, as log-r-00000 and bad-records-m-00003, is not output.
    Without part files it is read.
    """
    visible = sorted(name for name in names if not is_hidden(name))
    if not any(name.startswith(PART_PREFIX) for name in visible):
        return visible
    import re

    return [name for name in visible if name.startswith(PART_PREFIX) or not re.fullmatch(_SIDE_FILE, name)]


def is_url(path: Any) -> bool:
    """Return whether a path is a URL, which fsspec opens."""
    return isinstance(path, str) and "://" in path


def _fsspec():
    try:
        import fsspec
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "a URL needs the library fsspec: pip install 'typedbytes[fsspec]'", name="fsspec"
        ) from error
    return fsspec
