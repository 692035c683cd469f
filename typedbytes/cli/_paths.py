"""Places that are no single file on this machine: folders of part files, patterns, and URLs that fsspec knows.

Here: what they stand for, and opening URLs. Not here: what is read or written there. Always true: names that start with _ or a
dot are no part files, as Hadoop has it.
"""

import glob
import io
import os
from contextlib import contextmanager, suppress

from typedbytes.cli._failure import IO_ERROR, NO_INPUT, UNAVAILABLE, Failure
from typedbytes.sequencefile import _locations

# fsspec's file over pyarrow's has no commit, and that of webhdfs:// renames without looking whether it could.
WITHOUT_TRANSACTIONS = ("hdfs://", "arrow_hdfs://", "webhdfs://", "swebhdfs://")


def files(place):
    """Return the names of the files that a folder, a pattern or a URL stands for."""
    with _blaming(place):
        matching = _matching(place)
        if not matching:
            raise Failure(NO_INPUT, f"{place}: matches no file")
        found = [name for match in matching for name in _locations.parts(match)]
    if not found:
        raise Failure(NO_INPUT, f"{place}: no part files in there")
    return found


def _matching(place):
    if not glob.has_magic(place) or os.path.exists(place):
        return [place]
    if "://" not in place:
        return _wanted(glob.glob(place), place)
    fs, path = _locations.file_system(place)
    return _wanted(map(fs.unstrip_protocol, fs.glob(path)), place)


def _wanted(found, pattern):
    """Return what a pattern stands for, in order: hidden names only where the pattern starts as they do."""
    first = _name(pattern)[:1]
    return sorted(each for each in found if not _locations.is_hidden(_name(each)) or _name(each).startswith(first))


def _name(place):
    return place.rstrip("/").rpartition("/")[2]


def reading_url(place):
    """Open a URL for reading."""
    with _blaming(place):
        fs, path = _locations.file_system(place)
        return _File(place, fs, fs.open(path, "rb"))


class _File(io.RawIOBase):
    """Read a file of a file system, which is kept: that of an archive closes its files when it is let go of."""

    def __init__(self, place, fs, file):
        self._place = place
        self._fs = fs
        self._file = file
        self.size = getattr(file, "size", None)

    def readable(self):
        """Say that it can be read from."""
        return True

    def seekable(self):
        """Tell whether it can be read from another place on."""
        return self._file.seekable()

    def seek(self, offset, whence=io.SEEK_SET):
        """Go to another place and return it."""
        with _blaming(self._place, IO_ERROR):
            return self._file.seek(offset, whence)

    def tell(self):
        """Return the place."""
        return self._file.tell()

    def readinto(self, target):
        """Fill the front of a buffer; return how many bytes that were."""
        with _blaming(self._place, IO_ERROR):
            data = self._file.read(len(target))
        target[: len(data)] = data
        return len(data)

    def close(self):
        """Close the file."""
        super().close()
        self._file.close()


def is_there(place):
    """Tell whether there is a file or a folder of this URL."""
    with _blaming(place):
        fs, path = _locations.file_system(place)
        return fs.exists(path)


@contextmanager
def creating(place):
    """Open a URL for writing; the file is there after the block, and not when that fails."""
    with _blaming(place):
        fs, path = _locations.file_system(place)
    how = _moving if place.startswith(WITHOUT_TRANSACTIONS) else _in_a_transaction
    with how(fs, path, place) as file:
        yield file


@contextmanager
def _in_a_transaction(fs, path, place):
    with fs.transaction:
        with _blaming(place):
            file = fs.open(path, "wb")
        yield file


@contextmanager
def _moving(fs, path, place):
    """Write to a name beside the file's, which takes its place after the block: HDFS renames to free names only."""
    folder, _, name = path.rpartition("/")
    partial = f"{folder}/.{name}.{os.getpid()}.partial"
    try:
        with _blaming(place):
            file = fs.open(partial, "wb")
        yield file
        with _blaming(place, IO_ERROR):
            if fs.exists(path):
                fs.rm_file(path)
            fs.mv(partial, path)
            if not fs.exists(path):  # fsspec's webhdfs does not look at what a rename answers
                raise OSError(f"{partial} could not be renamed")
    except BaseException:
        with suppress(Exception):
            fs.rm_file(partial)
        raise


@contextmanager
def _blaming(place, status=NO_INPUT):
    """Turn what a file system raises into a Failure, but for an OSError, which is told as that of any file."""
    try:
        yield
    except (Failure, OSError, MemoryError):
        raise
    except ImportError as error:  # fsspec itself, or what it needs for this protocol
        raise Failure(UNAVAILABLE, f"{place}: {error}") from None
    except Exception as error:  # a zip that is none, a URL without a part that the protocol needs: each has errors of its own
        raise Failure(status, f"{place}: {str(error) or type(error).__name__}") from None
