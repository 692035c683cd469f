"""Sockets by address: a host and a port, or the path of a Unix socket.

Here: listening and connecting, and whether a path is still that of a server. Not here: what is sent. Invariant: a path
is removed only while it leads to the socket of the server that removes it, or to one on which no process listens.
"""

import errno
import os
import socket
import stat
import time
from contextlib import contextmanager, suppress

_BACKLOG = 64


def is_local(sock):
    """Return whether the other side of a socket is on this machine."""
    return sock.family == socket.AF_UNIX or sock.getpeername()[0] == sock.getsockname()[0]


def is_of_this_user(sock):
    """Return whether one user runs both ends of a TCP connection within this machine; False where it cannot be seen."""
    ports = tuple(f":{address[1]:04X}" for address in (sock.getpeername(), sock.getsockname()))
    users = set()
    for table in ("tcp", "tcp6"):
        with suppress(OSError), open(f"/proc/net/{table}") as file:
            rows = map(str.split, file)
            users |= {row[7] for row in rows if (row[1][-5:], row[2][-5:]) == ports}  # local, remote
    return users == {str(os.geteuid())}


def open_socket(address, timeout):
    """Return a socket that is connected to an address."""
    if isinstance(address, tuple):
        try:
            return socket.create_connection(address, timeout)
        except OSError as error:
            error.filename = f"{address[0]}:{address[1]}"  # then its text names it, unless it is a timeout
            raise
    path = os.fspath(address)
    sock = socket.socket(socket.AF_UNIX)
    try:
        sock.settimeout(timeout)
        _connect_in_time(sock, path, timeout)
    except OSError as error:
        sock.close()
        raise _with_path(error, path) from None
    except BaseException:
        sock.close()
        raise
    return sock


def _connect_in_time(sock, path, timeout):
    deadline = time.monotonic() + (timeout or 0)
    while True:
        try:
            return sock.connect(path)
        except BlockingIOError:  # many clients wait to be accepted: the kernel waits only where there is no timeout
            if time.monotonic() >= deadline:
                raise socket.timeout("timed out") from None
            time.sleep(0.005)


def listen(address):
    """Return a socket that listens on an address, and its place, None where it has no path."""
    if isinstance(address, tuple):
        family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        return socket.create_server(address, family=family, backlog=_BACKLOG), None
    path = os.fspath(address)
    sock = socket.socket(socket.AF_UNIX)
    try:
        if path[:1] in ("\0", b"\0"):  # a name of Linux, which is not a path
            sock.bind(path)
            sock.listen(_BACKLOG)
            return sock, None
        with _locked(os.path.dirname(os.path.abspath(path))):
            _bind(sock, path)
            sock.listen(_BACKLOG)
            path = os.path.abspath(path)
            return sock, (path, _file_at(path))
    except BaseException:
        sock.close()
        raise


@contextmanager
def _locked(folder):
    # Two servers may start on the path of one that has ended, and each could take the other's socket for that of
    # the ended one: nothing listens on it yet.
    import fcntl  # not on Windows

    file = None
    try:
        with suppress(OSError):  # a folder that cannot be read, a system of files without locks
            file = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        if file is not None:
            os.close(file)


def _bind(sock, path):
    try:
        sock.bind(path)
    except OSError as error:
        if error.errno != errno.EADDRINUSE or not _has_ended(path):
            raise _with_path(error, path) from None
        os.unlink(path)
        sock.bind(path)


def _has_ended(path):
    try:
        open_socket(path, 1.0).close()
    except ConnectionRefusedError:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:
        pass
    return False


def is_still_there(place):
    """Return whether the path of a server still leads to its socket."""
    path, file = place
    try:
        return _file_at(path) == file
    except OSError:
        return False


def _file_at(path):
    found = os.lstat(path)
    return found.st_dev, found.st_ino


def _with_path(error, path):
    return OSError(error.errno, error.strerror, path) if error.errno else error
