"""The job's side of a process that forks for each task; fork_server is the other side."""

from __future__ import annotations

import os
import socket
import subprocess
from contextlib import suppress
from threading import Lock

from typedbytes.jobs.tasks import fork_server
from typedbytes.jobs.tasks.pipes import make_pipe

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

__all__ = ["ForkServer", "ForkedTask"]

START_SECONDS = 10  # of a server, and of a task
KILLED = -9  # the exit code of a task whose server is gone


def _load(path):
    """Return a program that runs a script as python would, but keeps no memory of its source for each task to free."""
    path = os.path.abspath(path)
    return (
        "import sys\n"
        f"if not getattr(sys.flags, 'safe_path', False): sys.path[0] = {os.path.dirname(path)!r}\n"
        f"with open({path!r}, 'rb') as file: code = compile(file.read(), file.name, 'exec')\n"
        "exec(code, {'__name__': '__main__', '__file__': file.name})"
    )


class ForkServer:
    """The job's side of a server. task_names: of the variables that a task has for itself."""

    def __init__(
        self,
        start: Callable[..., subprocess.Popen[bytes]],
        command: Sequence[str],
        environ: Mapping[str, str],
        task_names: Iterable[str],
    ) -> None:
        self._names = [*task_names]
        self.may_combine: bool = False
        self._can_fork: bool | None = None  # None: it has not said yet
        self._lock = Lock()
        self._channel, channel = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._channel.settimeout(START_SECONDS)
        python, *words = command
        unread, stdin = make_pipe()
        with channel, unread, open(os.memfd_create("output"), "wb") as output:
            with stdin:
                stdin.write(fork_server.UNREAD)
            server = [python, "-c", _load(fork_server.__file__), str(channel.fileno()), ",".join(self._names)]
            self.process: subprocess.Popen[bytes] = start(
                [*server, *words], env=environ, stdin=unread, stdout=output, stderr=output,
                pass_fds=[channel.fileno()],
            )  # fmt: skip

    def can_fork(self) -> bool:
        """Return whether it can fork, as soon as that is known: it runs the script meanwhile, as a task would."""
        with self._lock:
            if self._can_fork is None:
                try:
                    said = self._channel.recv(1)
                except (BlockingIOError, socket.timeout):
                    self._channel.settimeout(0)  # other tasks see whether it has said something, and do not wait
                    return False
                except OSError:
                    said = b""
                self._channel.settimeout(START_SECONDS)
                self._can_fork, self.may_combine = bool(said), said == fork_server.COMBINES
            return self._can_fork

    def fork(self, environ: Mapping[str, str], files: Iterable[Any]) -> ForkedTask | None:
        """Return a new task with three files as its standard ones; None if it cannot be forked."""
        message = os.fsencode("\0".join(f"{name}={environ[name]}" for name in self._names if name in environ))
        if len(message) >= fork_server.MAX_NBYTES:
            return None
        link, other_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)  # messages of this kind stay apart
        with other_end:
            try:
                socket.send_fds(self._channel, [message or b"\0"], [each.fileno() for each in (*files, other_end)])
            except OSError:
                self._can_fork = False
        link.settimeout(START_SECONDS)
        try:
            said = link.recv(16)
        except OSError:
            said = b""
        if not said.startswith(fork_server.STARTED):  # an exit code would be that of a process that became no task
            self._can_fork = False  # so that no other task waits for a server that hangs
            link.close()
            return None
        link.settimeout(None)
        return ForkedTask(int(said), link)

    def stop(self) -> None:
        """Have the server fork no more; no task waits for it."""
        with suppress(OSError):  # the channel is closed
            self._channel.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Have the server end, and all of its tasks."""
        self._channel.close()


class ForkedTask:
    """A task, with what a job uses of subprocess.Popen."""

    def __init__(self, pid: int, link: socket.socket) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self.stdin: Any = None
        self.stdout: Any = None
        self.stderr: Any = None
        self._link = link

    def wait_for_end(self) -> None:
        """Wait until it has ended; its process ID stays its own."""
        if self.returncode is None:
            try:
                code = self._link.recv(16)
            except ConnectionError:
                code = b""
            self.returncode = int(code) if code else KILLED

    def wait(self) -> int | None:
        """Wait until it has ended, give its process ID back, and return its exit code, or minus the signal."""
        self.wait_for_end()
        self._link.close()
        return self.returncode
