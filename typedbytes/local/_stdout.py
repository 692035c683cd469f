"""Standard output for the result alone, where code of the job runs in the process that writes it.

Here: descriptor 1 and what writes to it. Not here: the result. Invariant: afterwards descriptor 1 is what it was, and
nothing that was written meanwhile reaches it.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["stdout_as_stderr"]


@contextmanager
def stdout_as_stderr() -> Iterator[None]:
    """Have descriptor 1 be standard error for a while: print, C libraries and child processes write to it.

    For a process of our own: in a user's, other threads may write to standard output meanwhile.
    """
    _flush()
    try:
        saved = os.dup(1)
    except OSError:  # there is no standard output
        yield
        return
    try:
        if sys.__stderr__ is not None:
            os.dup2(2, 1)
        else:  # it was closed when the process started, and descriptor 2 may be the result by now
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.close(null)
        yield
    finally:
        _flush()
        os.dup2(saved, 1)
        os.close(saved)


def _flush():
    """Write what the streams of Python and of C hold for standard output."""
    for stream in (sys.stdout, sys.__stdout__):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            pass  # it is closed
    try:
        import ctypes

        ctypes.CDLL(None).fflush(None)
    except (ImportError, OSError, TypeError, AttributeError):
        pass  # no C library is found so
