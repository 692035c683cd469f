"""Files and folders that get their names once they are complete and on the disk; and temporary folders.

Here: syncing, renaming, locking, and removing what was not finished; the only module that does so. Not here: what is
written. Invariant: even after a crash of the machine, a file of the name holds all that was written, or what it held
before; a folder replaces nothing, and an empty folder only on request. Unfinished files and folders are named
.NAME.PID.TOKEN.partial.
"""

import errno
import os
import stat
from contextlib import contextmanager

__all__ = [
    "atomic_file", "atomic_folder", "locked_folder", "name_files", "name_folder", "remove_unfinished", "sync",
    "sync_contents", "temporary_folder",
]  # fmt: skip

# The errors of syncing a folder, or a file that is not on a disk, where that is not supported.
_UNSYNCABLE = (errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM)

_unfinished: set[str] = set()  # paths, from before each is made until it has its name or is gone


@contextmanager
def atomic_file(path, overwrite=True):
    """Yield a raw file that replaces the file at `path` after the block; after an error nothing has changed.

    Without overwrite, a file that was created there in the meantime is kept, and FileExistsError is raised. A device or
    a named pipe is written to, not replaced.
    """
    path = os.path.realpath(path)
    if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
        yield open(path, "wb", buffering=0)
        return
    partial = _partial(path)
    try:
        with open(partial, "xb", buffering=0) as file:
            if os.path.exists(path):
                os.chmod(partial, stat.S_IMODE(os.stat(path).st_mode))
            yield open(os.dup(file.fileno()), "wb", buffering=0)  # the user closes it
            _sync(file.fileno())
        _publish(partial, path, overwrite)
    except BaseException:
        _remove(partial)
        raise
    _unfinished.discard(partial)
    sync(os.path.dirname(path))


def _publish(partial, path, overwrite):
    if not overwrite:
        try:
            os.link(partial, path)
        except FileExistsError:
            raise
        except OSError:  # the file system has no links
            if os.path.lexists(path):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path) from None
        else:
            os.unlink(partial)
            return
    os.replace(partial, path)


@contextmanager
def atomic_folder(path):
    """Make a folder and yield its path; after the block it is renamed to `path`, after an error it is gone.

    Only an empty folder may be at `path`.
    """
    path = os.path.realpath(path)
    partial = _partial(path)
    try:
        os.mkdir(partial)
        yield partial
        sync_contents(partial)
        name_folder(partial, path, over_empty=True)
    except BaseException:
        _remove(partial)
        raise
    _unfinished.discard(partial)


@contextmanager
def temporary_folder(prefix, parent=None):
    """Make a folder in the folder `parent`, or where TMPDIR says, and yield its path; it is gone after the block."""
    paths = [
        os.path.join(each, f"{prefix}{os.urandom(8).hex()}") for each in ([parent] if parent else _temporary_parents())
    ]
    _unfinished.update(paths)  # before any exists: a signal during the creation could leave one of tempfile's
    try:
        yield _make_first(paths)
    finally:
        for path in paths:
            _remove(path)


@contextmanager
def locked_folder(path):
    """Hold the lock of a folder, where the system has such locks; BlockingIOError if another process holds it."""
    try:
        import fcntl
    except ModuleNotFoundError:
        yield
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _temporary_parents():
    return [*filter(None, [os.environ.get("TMPDIR")]), "/tmp", "/var/tmp", os.getcwd()]


def _make_first(paths):
    for path in paths:
        try:
            os.mkdir(path, 0o700)
            return path
        except OSError:
            if path == paths[-1]:
                raise


def name_files(names):
    """Rename files, by a dict from path to path, when all of them are on the disk."""
    for path in names:
        sync(path)
    for path, name in names.items():
        os.rename(path, name)
    for folder in set(map(os.path.dirname, names.values())):
        sync(folder)


def name_folder(folder, path, *, over_empty=False):
    """Rename a folder, whose contents are on the disk; raises OSError for a name that exists."""
    sync(folder)
    if not over_empty:
        os.mkdir(path)  # claims the name: a rename would silently replace an empty folder
    try:
        os.rename(folder, path)
    except BaseException:
        if not over_empty:
            _remove_claim(folder, path)
        raise
    sync(os.path.dirname(os.path.abspath(path)))


def _remove_claim(folder, path):
    if os.path.exists(folder):  # the folder has not been renamed
        try:
            os.rmdir(path)
        except OSError:
            pass  # another process has created something in it


def sync_contents(folder):
    """Sync all files and folders below a folder to the disk."""
    for here, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(here, name)
            if stat.S_ISREG(os.lstat(path).st_mode):
                sync(path)
        if here != folder:
            sync(here)


def sync(path):
    """Sync a file, or the names in a folder, to the disk."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:
        return  # a folder may be writable and not readable
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
    """Remove, at the end of a process, what a signal has kept from being removed."""
    for partial in list(_unfinished):
        _remove(partial)


def _partial(path):
    folder, base = os.path.split(path)
    path = os.path.join(folder, f".{base[:50]}.{os.getpid()}.{os.urandom(4).hex()}.partial")
    _unfinished.add(path)
    return path


def _remove(partial):
    try:
        os.unlink(partial)
    except (IsADirectoryError, PermissionError):  # PermissionError: macOS, for a folder
        import shutil

        shutil.rmtree(partial, ignore_errors=True)
    except OSError:
        pass  # the file was never made
    _unfinished.discard(partial)
