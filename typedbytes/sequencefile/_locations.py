"""Paths, URLs and folders of part files.

Here: opening, listing and sizes. Not here: the contents of files. Always true: fsspec is imported for a URL only.
"""

import errno
import io
import os

__all__ = ["LARGEST", "file_system", "is_hidden", "opened", "parts", "size"]

LARGEST = 2**31 - 1
_HDFS = ("hdfs://", "arrow_hdfs://")
_HDFS_NEEDS = (
    "hdfs:// needs pyarrow, a JDK in JAVA_HOME, Hadoop with libhdfs.so in HADOOP_HOME, and CLASSPATH=$(hadoop classpath --glob); "
    "webhdfs://me@namenode:9870/path needs only the library requests"
)


def opened(place, mode):
    """Return (file, whether we opened it) for mode "r" or "w": paths and URLs are opened, descriptors wrapped."""
    if _is_url(place):
        file_system(place)  # checks what the file system needs; fsspec caches it
        return _fsspec().open(place, f"{mode}b").open(), True
    if isinstance(place, (str, os.PathLike)):
        return io.FileIO(place, mode), True
    if isinstance(place, int) and not isinstance(place, bool):
        return io.FileIO(place, mode, closefd=False), False
    return place, False


def file_system(place):
    """Return (file system, path) of a URL; for hdfs://, an error says what must be installed."""
    fsspec = _fsspec()
    try:
        return fsspec.core.url_to_fs(place)
    except (ImportError, OSError) as error:
        if not place.startswith(_HDFS):
            raise
        kind = ImportError if isinstance(error, ImportError) else OSError
        reason = str(error).partition("\n")[0]  # the rest lists where libraries were searched
        raise kind(f"{reason}: {_HDFS_NEEDS}") from error


def parts(place):
    """Return the files of a location: itself, or those of a folder whose names do not start with _ or a dot.

    Any other folder inside it raises IsADirectoryError: its files would be missing from the result.
    """
    if _is_url(place):
        fs, path = file_system(place)
        if not fs.isdir(path):
            return [place]
        entries = fs.ls(path, detail=True)
        found = {entry["name"].rstrip("/").rpartition("/")[2]: entry["type"] == "directory" for entry in entries}
        return [f"{place.rstrip('/')}/{name}" for name in _visible_files(found, place)]
    if not os.path.isdir(place):
        return [place]
    with os.scandir(place) as entries:
        found = {entry.name: entry.is_dir() for entry in entries}
    return [os.path.join(place, name) for name in _visible_files(found, place)]


def size(place):
    """Return the number of bytes of a file."""
    if _is_url(place):
        fs, path = file_system(place)
        return fs.size(path)
    return os.path.getsize(place)


def is_hidden(name):
    """Return whether Hadoop ignores files of this name."""
    return name.startswith(("_", "."))


def _visible_files(found, place):
    """Return the names that are not hidden, sorted; `found` maps each name to whether it is a folder."""
    names = sorted(name for name in found if not is_hidden(name))
    for name in names:
        if found[name]:
            raise IsADirectoryError(errno.EISDIR, f"a folder among the part files: {place}/{name}")
    return names


def _is_url(place):
    return isinstance(place, str) and "://" in place


def _fsspec():
    try:
        import fsspec
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("a URL needs the library fsspec: pip install 'typedbytes[fsspec]'", name="fsspec") from error
    return fsspec
