"""What tasks write their input to: a pipe, and a sink that reports progress."""

from __future__ import annotations

import errno
import os

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


__all__ = ["PipeSink", "ProgressSink"]


class PipeSink:
    """Write everything to a pipe until the process at its other end `is_over`."""

    is_over = False

    def __init__(self, pipe: Any) -> None:
        self._pipe = pipe

    def write(self, data: Any) -> int:
        """Write bytes and return their number."""
        with memoryview(data) as view:
            nbytes = 0
            while nbytes < len(view):
                if self.is_over:
                    raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))
                nbytes += self._pipe.write(view[nbytes:])
            return nbytes


class ProgressSink:
    """A sink that reports the number of bytes written so far: report_progress(nbytes)."""

    def __init__(self, sink: Any, report_progress: Callable[[int], object]) -> None:
        self._sink = sink
        self._report_progress = report_progress
        self._nbytes = 0

    def write(self, data: Any) -> int:
        """Write bytes and return their number."""
        self._nbytes += self._sink.write(data)
        self._report_progress(self._nbytes)
        return len(data)
