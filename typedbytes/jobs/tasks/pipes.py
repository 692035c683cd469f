"""The job's ends of pipes whose readers wait until every copy is closed.

Here: a process that another thread of the program forks meanwhile closes its copies of these ends. Not here: processes
that subprocess starts, which get no copies. Limits: a copy stays open until its process ends if the process was forked
by other means than os.fork, or just while the end was being closed. So do copies of the pipes of subprocess itself, if
a process is forked while subprocess starts another.
"""

from __future__ import annotations

import os
import threading
import weakref
from contextlib import suppress

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

__all__ = ["make_pipe"]

_pipes: weakref.WeakSet = weakref.WeakSet()
# held while a pipe is made and while a process is forked; a signal handler may fork in the thread that has it
_lock = threading.RLock()


def make_pipe() -> tuple[Any, Any]:
    """Return both ends of a pipe as files; a forked process closes its copy of the second, for writing, at once."""
    with _lock:
        reader, writer = (open(end, mode, buffering=0) for end, mode in zip(os.pipe(), ("rb", "wb")))
        _pipes.add(writer)
    return reader, writer


def _close_copies():
    try:
        for pipe in list(_pipes):
            with suppress(OSError):  # closed by the program's own hook
                pipe.close()
    finally:
        _lock.release()


os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_close_copies)
