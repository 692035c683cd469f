"""The end of this process in the middle of a job: code of a task cannot end it with 0, as in a process of its own.

Here: os._exit and os.exec*, and what a process does that a task has forked. Not here: the tasks. Invariant: after the
job these functions are those of the process again; in a forked process they are its own all the time.
"""

from __future__ import annotations

import os
import sys
import threading

from typedbytes._base.exit_codes import FAILED
from typedbytes.streaming._process_exit import replace_in_modules
from typedbytes.streaming.capture import write_error

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["ExitGuard", "leave_forked"]


class ExitGuard:
    """Have os._exit(0) and os.exec* raise an error in code of a job, from start() to finish()."""

    def start(self) -> None:
        """Replace the functions, in all modules."""
        self._owner: int | None = os.getpid()
        self._thread = threading.get_ident()
        self._exit = os._exit
        replaced: dict[Any, Any] = {}
        for module in (os, sys.modules[os.name]):  # a tool may have replaced a function of os, which is one of posix
            replaced[module._exit] = self._exit_now
            for function in (module.execv, module.execve):
                replaced[function] = self._refused(function)
        self._originals = {wrapper: function for function, wrapper in replaced.items()}
        replace_in_modules(replaced)

    def finish(self) -> None:
        """Put the functions back."""
        self._owner = None  # where something else than a module still holds them
        replace_in_modules(self._originals)

    def _exit_now(self, status):
        if os.getpid() != self._owner or status & 0xFF:  # the part of a status that a parent process sees
            self._exit(status)
        said = f"os._exit({status}) before the job was done"
        if threading.get_ident() == self._thread:
            raise SystemExit(said)
        try:  # not as a message of the task, which may be left out
            os.write(2, f"typedbytes: {said}: exit code {FAILED}\n".encode())
        finally:
            self._exit(FAILED)

    def _refused(self, function):
        def exec_when_done(*arguments, **named):
            if os.getpid() == self._owner:
                raise RuntimeError("a task cannot exec another program; start a child process")
            function(*arguments, **named)

        return exec_when_done


def leave_forked(error: BaseException) -> NoReturn:
    """End a process that a task has forked, where it has left the code of the task: the job is its parent's."""
    code = error.code if isinstance(error, SystemExit) else FAILED
    if not isinstance(error, SystemExit):
        write_error(error)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass  # it is closed, or there is none
    os._exit(0 if code is None else code if isinstance(code, int) else FAILED)
