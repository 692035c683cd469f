"""Which tasks of a job are forked from a process that has imported its script: those of a command from the third on.

Invariant: a task that cannot be forked is started as any process is.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from threading import Lock

from typedbytes.jobs.environment import names_of_task_variables

TYPE_CHECKING = False

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from typedbytes.jobs.tasks.forked_task import ForkServer

__all__ = ["Forks"]

_CAN_FORK = (
    sys.platform == "linux"
    and hasattr(os, "pidfd_open")
    and hasattr(os, "memfd_create")
    and not getattr(sys, "frozen", False)
)
FIRST_FORKED = 2  # the number of the first task for which a server pays


class Forks:
    """The servers of a job, one for each command with its variables.

    start(command, **options): starts a process, as subprocess.Popen does.
    """

    def __init__(self, start: Callable[..., subprocess.Popen[bytes]]) -> None:
        self.can_fork: Callable[[Sequence[str]], bool] = lambda command: False
        self._start = start
        self._lock = Lock()
        self._ntasks: Counter[Any] = Counter()
        self._servers: dict[Any, ForkServer | None] = {}  # None: its tasks are not forked
        self._task_names = {*names_of_task_variables()}

    def server_for(self, command: Sequence[str], environ: Mapping[str, str]) -> ForkServer | None:
        """Return a server that can fork a task, or None; it is called once for each task."""
        server, key = self._find(command, environ)
        with self._lock:
            self._ntasks[key] += 1
        return server

    def may_combine(self, command: Sequence[str], environ: Mapping[str, str]) -> bool:
        """Return whether a server has said that tasks of a command can run the job's combiner themselves."""
        server, _ = self._find(command, environ)
        return server is not None and server.may_combine

    def _find(self, command, environ):
        """Return the server of a command that can fork, or None, and a key for the command and its variables."""
        # variables that all tasks of the command share
        variables = {name: environ[name] for name in environ.keys() - self._task_names}
        key = (*command, frozenset(variables.items()))
        with self._lock:
            if self._ntasks[key] >= FIRST_FORKED and key not in self._servers:
                self._servers[key] = self._new_server(command, variables)
            server = self._servers.get(key)
        return (server if server is not None and server.can_fork() else None), key

    def _new_server(self, command, variables):
        if not (_CAN_FORK and self.can_fork(command)):
            return None
        from typedbytes.jobs.tasks.forked_task import ForkServer

        try:
            return ForkServer(self._start, command, variables, self._task_names)
        except OSError:  # there is no process or descriptor left for it
            return None

    def stop(self) -> None:
        """Have all servers fork no more; no task waits for one."""
        with self._lock:
            for server in filter(None, self._servers.values()):
                server.stop()

    def close(self) -> list[subprocess.Popen[bytes]]:
        """Have all servers end, and return their processes."""
        servers = [*filter(None, self._servers.values())]
        for server in servers:
            server.close()
        return [server.process for server in servers]
