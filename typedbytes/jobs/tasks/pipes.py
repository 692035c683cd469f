"""The job's ends of pipes whose readers wait until every copy is closed.

Here: a process that the program forks meanwhile, from another thread than the job's, closes its copies. Not here:
processes that subprocess starts, which get none. Limits: a copy stays open until its process ends if that was forked by
other means than os.fork, or while the end was being closed; and so do copies of subprocess's own pipes, if a process
was forked while another was started.
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
