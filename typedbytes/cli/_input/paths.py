"""Folders of part files, patterns, and URLs of file systems that fsspec knows: the files they match, and opening URLs.

As in Hadoop, names that start with _ or a dot are not part files.
"""

import io
import os
from contextlib import contextmanager, suppress

from typedbytes._base import locations
from typedbytes.cli._failure import IO_ERROR, NO_INPUT, UNAVAILABLE, Failure

# fsspec's file over pyarrow's has no commit, nor has hdfs-native's, and that of webhdfs:// ignores a failed rename.
WITHOUT_TRANSACTIONS = ("hdfs://", "viewfs://", "arrow_hdfs://", "webhdfs://", "swebhdfs://")


def files(path_or_url, recursive=False):
    """Return the names of the files that a folder, a pattern or a URL matches."""
    with _as_url_failure(path_or_url):
        paths = locations.glob_paths(path_or_url)
        if not paths:
            raise Failure(NO_INPUT, f"{path_or_url}: matches no file")
        try:
            found = [name for path in paths for name in locations.parts(path, recursive)]
        except locations.NestedFolderError as error:
            raise IsADirectoryError(error.errno, f"{error.message} (--recursive reads it too)") from None
    if not found:
        raise Failure(NO_INPUT, f"{path_or_url}: no part files in it")
    return found


def reading_url(url):
    """Open a URL for reading."""
    with _as_url_failure(url):
        fs, path = locations.file_system(url)
        return _File(url, fs, locations.opened_in(fs, path))


class _File(io.RawIOBase):
    """Read a file of a file system. The file system is kept: that of an archive closes its files when it is freed."""

    def __init__(self, url, fs, file):
        self._url = url
        self._fs = fs
        self._file = file
        self.size = getattr(file, "size", None)

    def readable(self):
        return True

    def seekable(self):
        return self._file.seekable()

    def seek(self, offset, whence=io.SEEK_SET):
        with _as_url_failure(self._url, IO_ERROR):
            return self._file.seek(offset, whence)

    def tell(self):
        return self._file.tell()

    def readinto(self, target):
        with _as_url_failure(self._url, IO_ERROR):
            data = self._file.read(len(target))
        target[: len(data)] = data
        return len(data)

    def close(self):
        super().close()
        self._file.close()


def exists(url):
    """Return whether a file or a folder of this URL exists."""
    with _as_url_failure(url):
        fs, path = locations.file_system(url)
        return fs.exists(path)


@contextmanager
def create_file_of_url(url):
    """Open a URL for writing; the file exists after the block, unless the block fails."""
    with _as_url_failure(url):
        fs, path = locations.file_system(url)
    writing = _replace_by_rename if url.startswith(WITHOUT_TRANSACTIONS) else _in_a_transaction
    with writing(fs, path, url) as file:
        yield file


@contextmanager
def _in_a_transaction(fs, path, url):
    with fs.transaction:
        with _as_url_failure(url):
            file = fs.open(path, "wb")
        yield file


@contextmanager
def _replace_by_rename(fs, path, url):
    """Write to a file beside it, and rename it after the block: over HTTP, HDFS does not rename over a file."""
    folder, _, name = path.rpartition("/")
    partial = f"{folder}/.{name}.{os.getpid()}.partial"
    try:
        with _as_url_failure(url):
            file = fs.open(partial, "wb")
        yield file
        with _as_url_failure(url, IO_ERROR):
            if getattr(fs, "can_replace", False):
                fs.mv(partial, path, overwrite=True)
            else:
                if fs.exists(path):
                    fs.rm_file(path)
                fs.mv(partial, path)
            if not fs.exists(path):  # fsspec's webhdfs ignores the result of a rename
                raise OSError(f"{partial} could not be renamed")
    except BaseException:
        with suppress(Exception):
            fs.rm_file(partial)
        raise


@contextmanager
def _as_url_failure(path_or_url, status=NO_INPUT):
    """Turn what a file system raises into a Failure, except an OSError, which is reported as for any file."""
    try:
        yield
    except (Failure, OSError, MemoryError):
        raise
    except ImportError as error:  # fsspec itself, or what it needs for this protocol
        raise Failure(UNAVAILABLE, f"{path_or_url}: {error}") from None
    except Exception as error:
        # a damaged zip, a URL without a part that the protocol needs: each has errors of its own
        raise Failure(status, f"{path_or_url}: {locations.reason_of(error)}") from None
