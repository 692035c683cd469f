"""HDFS by hdfs-native, with whole names, a limit on how long a call waits, and errors as those of this machine's files.

Here: what that library lacks. It cuts a name at # or ?, tries for minutes to reach a name node that is off, handles no
signal meanwhile, and raises RuntimeErrors with a stack of Java's. Not here: which URLs it reads. Invariants: imported
for a URL of HDFS only; what waits for a server does so in a thread, and ends as a result or an OSError of one line;
file systems are kept for good: one that is freed in the child of a fork waits for its threads, which the child lacks.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import threading
import time
from contextlib import nullcontext, suppress
from queue import Empty, SimpleQueue

from hdfs_native.fsspec import HdfsFileSystem

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["file_system", "os_error"]

ANSWER_SECONDS = 12  # in which a name node that is there answers a first call
CALL_SECONDS = 25  # in which servers that have answered before answer again
TIDYING_SECONDS = 3  # the limit of a call that cleans up: after a signal, or while an earlier call is unanswered
LOST_SECONDS = 60  # after which a file system without an answer is made again

_CHECK = (
    "check the host, the port (fs.defaultFS in core-site.xml has both), and HADOOP_CONF_DIR for the name of a cluster"
)
_CODES = {
    "AccessControlException": errno.EACCES, "DSQuotaExceededException": errno.EDQUOT,
    "NSQuotaExceededException": errno.EDQUOT, "ParentNotDirectoryException": errno.ENOTDIR,
    "SafeModeException": errno.EROFS, FileNotFoundError: errno.ENOENT, FileExistsError: errno.EEXIST,
}  # fmt: skip
_OF_SERVER = re.compile(r'RPCError\("(?:[\w$]+\.)*([\w$]+)", "(.*)', re.DOTALL)  # the class in Java, the message
_OF_LIBRARY = re.compile(r'(\w+)\("?(.*?)"?\)$', re.DOTALL)
_STACK = re.compile(r"\\n|\n|: \[Datanode")  # or the fields of servers

_found: dict[Any, Any] = {}  # the file systems that answer, by process, protocol, host and port
_kept: list[Any] = []


def file_system(url: str) -> tuple[Any, str]:
    """Return (file system, path) of a URL; TimeoutError if no name node answers."""
    kind: Any = _Viewfs if url.startswith("viewfs://") else _Hdfs
    where = kind._get_kwargs_from_urls(url)
    key = os.getpid(), kind, *where.values()
    if key not in _found or _found[key].is_lost():
        _found[key] = _answering(kind, where)
    return _found[key], kind._strip_protocol(url)


def _answering(kind, where):
    fs = _made(kind, where)
    if fs.answers_first_call():
        return fs
    from typedbytes._base.name_nodes import name_node_options

    if kind is _Hdfs and (option := name_node_options(where["host"])):
        other = _made(kind, {**where, **option})
        if other.answers_first_call():
            return other
    message = f"no name node has answered at {fs.root} for {ANSWER_SECONDS} s: {_CHECK}"
    raise TimeoutError(errno.ETIMEDOUT, message)


def _made(kind, options):
    try:
        _kept.append(kind(**options, skip_instance_cache=True))
    except RuntimeError as error:  # a host without a port is the name of a cluster to it
        reason = os_error(error, "").strerror
        raise OSError(f"{kind.protocol}://{options['host'] or ''}: {reason}: {_CHECK}") from error
    return _kept[-1]


def os_error(error: Exception, url: str) -> OSError:
    """Return an error of hdfs-native as one of the system's, with the first line of its text."""
    text = str(error)
    found = _OF_SERVER.match(text) or _OF_LIBRARY.match(text)
    name, reason = found.groups() if found else ("", text)
    code = _CODES.get(name) or _CODES.get(type(error)) or getattr(error, "errno", None) or errno.EIO
    reason = _STACK.split(reason, maxsplit=1)[0].replace('\\"', '"')
    if code == errno.ENOENT and not reason.startswith(("Path is not", "Failed to")):
        reason = os.strerror(code)  # else the path again
    return OSError(code, reason, url)


class _Client:
    """The methods of hdfs-native's client, the first argument of each of which is a path."""

    def __init__(self, client, fs):
        self._client, self._fs = client, fs

    def __getattr__(self, name):
        method = getattr(self._client, name)

        def call(path, *arguments):
            if name == "list_status":  # an iterator: each step may ask the server
                return self._fs.answer(path, lambda: list(method(path, *arguments)))
            result = self._fs.answer(path, method, path, *arguments)
            return _File(result, self._fs, path) if name in ("read", "create", "append") else result

        return call


class _File:
    """The methods of a file of hdfs-native."""

    def __init__(self, file, fs, path):
        self._file, self._fs, self._path = file, fs, path
        self._is_closed = self._has_failed = False

    def __getattr__(self, name):
        return getattr(self._file, name)  # what waits for no server

    def read(self, nbytes):
        return self._fs.answer(self._path, self._file.read, nbytes)

    def write(self, data):
        self._has_failed = True
        nbytes = self._fs.answer(self._path, self._file.write, bytes(data))  # a copy: the thread may outlive the buffer
        self._has_failed = False
        return nbytes

    def close(self):
        """Close the file, once; the error of a write comes before that of closing it then."""
        if not self._is_closed:
            self._is_closed = True
            with suppress(OSError) if self._has_failed else nullcontext():
                self._fs.answer(self._path, self._file.close)


class _Worker:
    """A thread that calls one function after another: starting one for each call takes longer than most of them."""

    def __init__(self):
        self._calls: SimpleQueue[Any] = SimpleQueue()
        self.results: SimpleQueue[Any] = SimpleQueue()  # (result, None) or (None, error)
        threading.Thread(target=self._run, name="hdfs", daemon=True).start()

    def _run(self):
        while True:
            function, arguments = self._calls.get()
            try:
                result: Any = (function(*arguments), None)
            except BaseException as error:  # raised where the result is wanted
                result = None, error
            self.results.put(result)
            function = arguments = result = None  # they may hold files

    def start(self, function, arguments):
        self._calls.put((function, arguments))


class _Hdfs(HdfsFileSystem):
    """The file system of hdfs-native, with the changes that the docstring of this module lists."""

    can_replace = True  # by mv with overwrite=True, in one step

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.root = self.unstrip_protocol("/")[:-1]  # of its URLs
        self.client.inner = _Client(self.client.inner, self)
        self._seconds = ANSWER_SECONDS  # at most, for a call
        self._idle: list[_Worker] = []
        self._unanswered: list[_Worker] = []  # their calls are unanswered, and nothing waits for them any more
        self._unanswered_since = 0.0  # when the last of these calls was given up

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        start = f"{cls.protocol}://"
        return "/" + path[len(start) :].partition("/")[2] if path.startswith(start) else path or "/"

    def isdir(self, path: str) -> bool:
        """Return whether a path is a folder; to fsspec an error says that it is not."""
        return self.exists(path) and self.info(path)["type"] == "directory"

    def isfile(self, path: str) -> bool:
        """Return whether a path is a file."""
        return self.exists(path) and not self.isdir(path)

    def walk(self, path: str, maxdepth: int | None = None, **how: Any) -> Any:
        """Walk as fsspec does, but raise an error of a folder that is there, which it would leave out."""
        return super().walk(path, maxdepth, **{"on_error": _raise_unless_missing, **how})

    def answer(self, path: str, function: Any, *arguments: Any) -> Any:
        """Return the result of a function, called in a thread; TimeoutError if that takes too long."""
        is_signalled = not isinstance(sys.exc_info()[1], (Exception, type(None)))
        is_tidying = self._has_unanswered() or is_signalled
        try:
            worker = self._idle.pop()
        except IndexError:
            worker = _Worker()
        worker.start(function, arguments)
        try:
            seconds = min(self._seconds, TIDYING_SECONDS) if is_tidying else self._seconds
            result, error = worker.results.get(timeout=seconds)
        except BaseException as interruption:  # there is no answer, and no one waits for it any more
            self._unanswered.append(worker)
            self._unanswered_since = time.monotonic()
            if not isinstance(interruption, Empty):
                raise
            message = "the servers of HDFS no longer answer"
            raise TimeoutError(errno.ETIMEDOUT, message, f"{self.root}{path}") from None
        self._idle.append(worker)
        if isinstance(error, (OSError, RuntimeError)):
            raise os_error(error, f"{self.root}{path}") from None
        if error is not None:
            raise error
        return result

    def answers_first_call(self) -> bool:
        """Return whether a first call is answered, even by an error, which the next call reports."""
        with suppress(Exception):
            self.exists("/")
        self._seconds = CALL_SECONDS
        return not self._unanswered

    def is_lost(self) -> bool:
        """Return whether a call has had no answer for long."""
        return self._has_unanswered() and time.monotonic() - self._unanswered_since > LOST_SECONDS

    def _has_unanswered(self):
        self._unanswered = [worker for worker in self._unanswered if worker.results.empty()]
        return bool(self._unanswered)


def _raise_unless_missing(error):
    if not isinstance(error, FileNotFoundError):
        raise error


class _Viewfs(_Hdfs):
    protocol = "viewfs"
