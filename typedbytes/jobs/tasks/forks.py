"""Which tasks of a job are forked from a process that has imported its script: those of a command from the third on.

Invariant: a task that cannot be forked, or not yet, is started as any process is.
"""

from __future__ import annotations

import os
import sys
from threading import Lock

from typedbytes.jobs.environment import names_of_task_variables

TYPE_CHECKING = False

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from typedbytes.jobs.tasks.forked_task import ForkServer

__all__ = ["CAN_FORK", "Forks"]

CAN_FORK = (
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
        self._ntasks: dict[Any, int] = {}
        self._servers: dict[Any, ForkServer] = {}
        self._task_names = {*names_of_task_variables()}

    def server_for(self, command: Sequence[str], environ: Mapping[str, str]) -> ForkServer | None:
        """Return a server that can fork a task now, or None; it is called once for each task."""
        if not CAN_FORK:
            return None
        variables, key = self._shared(command, environ)
        with self._lock:
            number = self._ntasks[key] = self._ntasks.get(key, -1) + 1
            if number == FIRST_FORKED and self.can_fork(command):
                from typedbytes.jobs.tasks.forked_task import ForkServer

                try:
                    self._servers[key] = ForkServer(self._start, command, variables, self._task_names)
                except OSError:  # there is no process or descriptor left for it
                    pass
            return self._ready(key)

    def may_combine(self, command: Sequence[str], environ: Mapping[str, str]) -> bool:
        """Return whether a server has said that tasks of a command can run the job's combiner themselves."""
        if not self._servers:
            return False
        _, key = self._shared(command, environ)
        with self._lock:
            server = self._ready(key)
            return server is not None and server.may_combine

    def _shared(self, command, environ):
        """Return the variables that all tasks of a command share, and a key for these and the command."""
        variables = {name: environ[name] for name in environ.keys() - self._task_names}
        return variables, (*command, frozenset(variables.items()))

    def _ready(self, key):
        server = self._servers.get(key)
        return server if server is not None and server.is_ready() else None

    def close(self) -> list[subprocess.Popen[bytes]]:
        """Have all servers end, and return their processes."""
        for server in self._servers.values():
            server.close()
        return [server.process for server in self._servers.values()]
