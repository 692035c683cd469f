"""Memory that two processes map and neither can remove: a missing page would kill the one that reads it.

    Linux    anonymous memory with seals, which the other side opens by /proc/PID/fd/N
    macOS    shared memory of POSIX, which the other side opens by its name; the kernel lets its size be set only once

Here: making and mapping it. Not here: what is in it. Invariant: memory of another process is mapped only when no page
of it can go away; on Linux shared memory of POSIX can be truncated, so it is used on macOS alone.
"""

import errno
import mmap
import os
import re
import stat
import sys
from contextlib import contextmanager

from typedbytes.errors import BlockError

__all__ = ["make_memory", "make_peer_memory", "map_memory", "map_peer_memory", "seal_peer_memory"]

_NAME = "typedbytes"  # the name of the memory in /proc
_PATH = re.compile(r"/proc/[0-9]{1,10}/fd/[0-9]{1,10}")
_ADD_SEALS, _GET_SEALS = 1033, 1034  # Linux values; some builds of Python lack some of these constants
_SEAL_SEAL, _SEAL_SHRINK, _SEAL_GROW, _SEAL_FUTURE_WRITE = 1, 2, 4, 16
_SEALS = _SEAL_SHRINK | _SEAL_FUTURE_WRITE  # no byte can be removed by truncation or by a hole

_POSIX_NAME = re.compile(r"/typedbytes-[0-9a-f]{16}")  # macOS takes 31 characters


def make_memory(nbytes):
    """Return a context manager of new memory, mapped for writing, and the path by which others can map it."""
    return _make_posix(nbytes) if sys.platform == "darwin" else _make_sealed(nbytes)


def map_memory(path, nbytes):
    """Return a read-only mapping of memory that another process offers, after checking that it cannot be removed."""
    return _map_posix(path, nbytes) if sys.platform == "darwin" else _map_sealed(path, nbytes)


# -- macOS ------------------------------------------------------------------------------------------------


@contextmanager
def _make_posix(nbytes):
    import _posixshmem  # what multiprocessing.shared_memory calls, which also starts a process that tracks names

    path = f"/typedbytes-{os.urandom(8).hex()}"
    file = _posixshmem.shm_open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, mode=0o600)
    try:
        os.ftruncate(file, nbytes)
        yield mmap.mmap(file, nbytes), path
    finally:
        os.close(file)
        _posixshmem.shm_unlink(path)


def _map_posix(path, nbytes):
    import _posixshmem

    if not _POSIX_NAME.fullmatch(path):
        raise BlockError(f"{path!r:.80} is not shared memory, /typedbytes-NUMBER")
    try:
        file = _posixshmem.shm_open(path, os.O_RDONLY, mode=0)
    except OSError as error:
        raise BlockError(f"{path} cannot be opened ({error.strerror}): one user has to run both sides") from error
    try:
        _check_size(nbytes, os.fstat(file).st_size)
        return mmap.mmap(file, nbytes, prot=mmap.PROT_READ)
    finally:
        os.close(file)


def _check_size(nbytes, available):
    if not 1 <= nbytes <= available:
        raise BlockError(f"the shared memory has fewer than {nbytes} bytes")


# -- Linux ------------------------------------------------------------------------------------------------


@contextmanager
def _make_sealed(nbytes):
    """Only this mapping can write to the memory."""
    with _allocated(nbytes) as (file, path):
        memory = mmap.mmap(file, nbytes)
        try:
            _add_seals(file, _SEALS | _SEAL_GROW | _SEAL_SEAL)
        except OSError:
            memory.close()
            raise
        yield memory, path


@contextmanager
def make_peer_memory(nbytes):
    """Return a context manager of new memory for the other side to write to: its descriptor, and the path of it.

    Its size is fixed; until `seal_peer_memory` any process that opens it can write to it, and punch holes. Linux alone.
    """
    with _allocated(nbytes) as (file, path):
        _add_seals(file, _SEAL_SHRINK | _SEAL_GROW)
        yield file, path


def seal_peer_memory(file, path, nbytes):
    """Return a read-only mapping of lent memory that the other side has mapped: no other process maps it any more."""
    _add_seals(file, _SEAL_FUTURE_WRITE | _SEAL_SEAL)
    _check_sealed(file, path, nbytes)  # afterwards: until then the other side could remove pages
    return mmap.mmap(file, nbytes, prot=mmap.PROT_READ)


def map_peer_memory(path, nbytes):
    """Return a mapping for writing of memory that another process lends, which cannot truncate it."""
    file = _open_memory(path, os.O_RDWR)
    try:
        if not _seals_of(file) & _SEAL_SHRINK:
            raise _not_sealed(path)
        _check_allocated(file, nbytes)
        return mmap.mmap(file, nbytes)
    finally:
        os.close(file)


@contextmanager
def _allocated(nbytes):
    _require_seals()
    available = _available_nbytes()
    if nbytes > available:  # when memory runs out, the kernel kills processes
        raise OSError(
            errno.ENOMEM, f"shared memory of {nbytes} bytes is more than the {available} that this machine has left"
        )
    file = os.memfd_create(_NAME, os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    try:
        os.posix_fallocate(file, 0, nbytes)  # allocate all pages: no SIGBUS later because memory ran out
        yield file, f"/proc/{os.getpid()}/fd/{file}"
    finally:
        os.close(file)


def _add_seals(file, seals):
    import fcntl  # not on Windows

    try:
        fcntl.fcntl(file, _ADD_SEALS, seals)
    except OSError as error:
        raise _unsupported() from error


def _available_nbytes():
    """Return how many bytes of memory can be allocated without swapping."""
    with open("/proc/meminfo", "rb") as file:
        fields = dict(line.split(b":") for line in file)
    return 1024 * int(fields[b"MemAvailable"].split()[0])


def _map_sealed(path, nbytes):
    file = _open_memory(path, os.O_RDONLY)
    try:
        _check_sealed(file, path, nbytes)
        return mmap.mmap(file, nbytes, prot=mmap.PROT_READ)
    finally:
        os.close(file)


def _open_memory(path, mode):
    _require_seals()
    if not _PATH.fullmatch(path):
        raise BlockError(
            f"{path!r:.80} is not sealed memory, /proc/PID/fd/N: a named file can be truncated, which kills its readers"
        )
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)  # has no effect on what is opened, and never waits
    except OSError as error:
        raise BlockError(
            f"{path} cannot be opened ({error.strerror}): one user has to run both sides, in one PID namespace"
        ) from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise BlockError(f"{path} is not memory")
        if status.st_uid != os.geteuid():
            raise BlockError(f"{path} is of another user: one user has to run both sides")
        return os.open(f"/proc/self/fd/{descriptor}", mode | os.O_CLOEXEC)
    finally:
        os.close(descriptor)


def _seals_of(file):
    import fcntl  # not on Windows

    try:
        return fcntl.fcntl(file, _GET_SEALS)
    except OSError:  # an ordinary file
        return 0


def _not_sealed(path):
    return BlockError(f"{path} is not sealed: the other side could truncate it, which would kill this process")


def _check_sealed(file, path, nbytes):
    if _seals_of(file) & _SEALS != _SEALS:
        raise _not_sealed(path)
    _check_allocated(file, nbytes)


def _check_allocated(file, nbytes):
    status = os.fstat(file)
    # a page that is not allocated yet would be charged to this process; where there are more bytes than nbytes, the
    # blocks may be theirs
    _check_size(nbytes, min(status.st_size, 512 * status.st_blocks))
    if status.st_size > -(-nbytes // mmap.PAGESIZE) * mmap.PAGESIZE:
        raise BlockError(f"the shared memory has more than {nbytes} bytes")


def _require_seals():
    if not (hasattr(os, "memfd_create") and os.path.exists("/proc/self/fd")):
        raise _unsupported()


def _unsupported():
    needed = "Linux 5.1 or later with /proc and a Python that has os.memfd_create, or macOS"
    return OSError(errno.ENOTSUP, f"bodies in shared memory need {needed}")
