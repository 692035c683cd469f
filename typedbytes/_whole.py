"""Files and folders that get their names when they are whole, and are on the disk by then; and temporary folders.

Here: syncing, renaming, and removing what was not finished; the one place that does it for all of the package. Not here: what is
written. Always true: after a crash of the machine too, what bears the name holds all that was written, or what it held before; a folder
takes the place of nothing, not even of an empty one unless that is asked for. What is unfinished is named .NAME.PID.TOKEN.partial.
"""

import errno
import os
import stat
from contextlib import contextmanager

__all__ = ["name_files", "name_folder", "remove_unfinished", "sync", "sync_contents", "temporary_folder", "whole_file", "whole_folder"]

# What a folder, or a file that is none on a disk, answers where it cannot be synced.
_UNSYNCABLE = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM)

_unfinished = set()  # paths, from before each is made until it has its name or is gone


@contextmanager
def whole_file(place, overwrite=True):
    """Give a raw file that takes the place of the file `place` after the block; on an error it is as if it had never been opened.

    Without overwrite, a file that has come there meanwhile is left, and FileExistsError is raised.
    """
    place = os.path.realpath(place)
    partial = _partial(place)
    try:
        with open(partial, "xb", buffering=0) as file:
            if os.path.exists(place):
                os.chmod(partial, stat.S_IMODE(os.stat(place).st_mode))
            yield open(os.dup(file.fileno()), "wb", buffering=0)  # the user closes it
            _sync(file.fileno())
        _put(partial, place, overwrite)
    except BaseException:
        _remove(partial)
        raise
    _unfinished.discard(partial)
    sync(os.path.dirname(place))


def _put(partial, place, overwrite):
    if not overwrite:
        try:
            os.link(partial, place)
        except FileExistsError:
            raise
        except OSError:  # the file system has no links
            if os.path.lexists(place):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), place) from None
        else:
            os.unlink(partial)
            return
    os.replace(partial, place)


@contextmanager
def whole_folder(place):
    """Make a folder and give its path; after the block it takes the place of nothing or of an empty folder. On an error it is gone."""
    place = os.path.realpath(place)
    partial = _partial(place)
    try:
        os.mkdir(partial)
        yield partial
        sync_contents(partial)
        name_folder(partial, place, over_empty=True)
    except BaseException:
        _remove(partial)
        raise
    _unfinished.discard(partial)


@contextmanager
def temporary_folder(prefix, place=None):
    """Make a folder in the folder `place`, or where TMPDIR says, and give its path; it is gone after the block."""
    paths = [os.path.join(each, f"{prefix}{os.urandom(8).hex()}") for each in ([place] if place else _temporary_places())]
    _unfinished.update(paths)  # before any is there: tempfile's can be left by a signal that comes while they are made
    try:
        yield _first_made(paths)
    finally:
        for path in paths:
            _remove(path)


def _temporary_places():
    return [*filter(None, [os.environ.get("TMPDIR")]), "/tmp", "/var/tmp", os.getcwd()]


def _first_made(paths):
    for path in paths:
        try:
            os.mkdir(path, 0o700)
            return path
        except OSError:
            if path == paths[-1]:
                raise


def name_files(names):
    """Give files their names, a dict from path to path, when all of them are on the disk."""
    for path in names:
        sync(path)
    for path, place in names.items():
        os.rename(path, place)
    for folder in set(map(os.path.dirname, names.values())):
        sync(folder)


def name_folder(folder, place, *, over_empty=False):
    """Give a folder, whose contents are on the disk, its name; raises OSError for a name that is taken."""
    sync(folder)
    if not over_empty:
        os.mkdir(place)  # claims the name: to rename would replace an empty folder without a word
    try:
        os.rename(folder, place)
    except BaseException:
        if not over_empty:
            _remove_claim(folder, place)
        raise
    sync(os.path.dirname(os.path.abspath(place)))


def _remove_claim(folder, place):
    if os.path.exists(folder):  # it has not been renamed
        try:
            os.rmdir(place)
        except OSError:
            pass  # another has put something into it


def sync_contents(folder):
    """See that the files and folders in a folder are on the disk, all the way down."""
    for here, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(here, name)
            if stat.S_ISREG(os.lstat(path).st_mode):
                sync(path)
        if here != folder:
            sync(here)


def sync(path):
    """See that a file, or the names in a folder, are on the disk."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:
        return  # it may be written to and not be read
    try:
        _sync(descriptor)
    finally:
        os.close(descriptor)


def _sync(descriptor):
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _UNSYNCABLE:
            raise


def remove_unfinished():
    """Remove what a signal has kept from being removed: for the end of a process."""
    for partial in list(_unfinished):
        _remove(partial)


def _partial(place):
    folder, base = os.path.split(place)
    path = os.path.join(folder, f".{base[:50]}.{os.getpid()}.{os.urandom(4).hex()}.partial")
    _unfinished.add(path)
    return path


def _remove(partial):
    try:
        os.unlink(partial)
    except (IsADirectoryError, PermissionError):  # PermissionError: macOS, for a folder
        import shutil  # its users only

        shutil.rmtree(partial, ignore_errors=True)
    except OSError:
        pass  # it was never made
    _unfinished.discard(partial)
