"""Pipes of which only the job's process may have its end: their readers wait until every copy of it is closed.

Here: a process that the program forks meanwhile, from another thread than the job's, closes its copies. Not here: processes that
subprocess starts, which get none. Limit: a fork by other means than os.fork keeps them open until that process ends.
"""

import os
import weakref

__all__ = ["without_copies"]

_pipes: weakref.WeakSet = weakref.WeakSet()


def without_copies(pipe):
    """Return a file, which a forked process closes at once."""
    _pipes.add(pipe)
    return pipe


def _close_all():
    for pipe in list(_pipes):
        pipe.close()


os.register_at_fork(after_in_child=_close_all)
