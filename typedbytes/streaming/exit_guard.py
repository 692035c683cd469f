"""The end of this process in the middle of a job: code of a task cannot end it with 0, as in a process of its own.

Here: os._exit and os.exec*, and what a process does that a task has forked. Not here: the tasks. Invariant: after the
job these functions are those of the process again; in a forked process they are its own all the time.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress

from typedbytes._base.exit_codes import FAILED
from typedbytes.streaming._process_exit import exits_replaced_by, replace_in_modules
from typedbytes.streaming.capture import write_error

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["ExitGuard", "flush", "leave_forked"]


class ExitGuard:
    """Have os._exit(0) and os.exec* raise an error in code of a job, from start() to finish()."""

    def start(self) -> None:
        """Replace the functions, in all modules."""
        self._owner: int | None = os.getpid()
        self._thread = threading.get_ident()
        replaced = exits_replaced_by(self._only_when_done, self._refused)
        self._originals = {wrapper: function for function, wrapper in replaced.items()}
        replace_in_modules(replaced)

    def finish(self) -> None:
        """Put the functions back."""
        self._owner = None  # where something else than a module still holds them
        replace_in_modules(self._originals)

    def _only_when_done(self, function):
        def exit_when_done(status):
            if os.getpid() != self._owner or status & 0xFF:  # the part of a status that a parent process sees
                function(status)
            said = f"os._exit({status}) before the job was done"
            if threading.get_ident() == self._thread:
                raise SystemExit(said)
            try:  # not as a message of the task, which may be left out
                os.write(2, f"typedbytes: {said}: exit code {FAILED}\n".encode())
            finally:
                function(FAILED)

        return exit_when_done

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
    flush(sys.stdout, sys.stderr)
    os._exit(0 if code is None else code if isinstance(code, int) else FAILED)


def flush(*streams: Any) -> None:
    """Write what streams of Python hold, as far as they are there and open."""
    for stream in streams:
        with suppress(AttributeError, OSError, ValueError):
            stream.flush()
