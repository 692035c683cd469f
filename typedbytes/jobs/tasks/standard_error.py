"""The standard error of a process, which others may hold open after its end.

Here: reading it. Not here: what its lines mean. Invariant: all that the process itself has written is read.
"""

from __future__ import annotations

import fcntl
import select
import sys
import termios
import time

from typedbytes.jobs.counters import lines_of

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from typedbytes.jobs.counters import Messages

__all__ = ["StandardError", "read_all", "read_messages"]

PIPE_NBYTES = 1 << 20
STDERR_SECONDS = 2  # how long it is read after the end of the process, while another one holds it open
POLL_SECONDS = 0.2


class StandardError:
    """The standard error of a process, read to its end, or soon after that of the process.

    A process in another session may keep it open for long.
    """

    def __init__(self, pipe: Any) -> None:
        self._pipe = pipe
        self._poll = select.poll()
        self._poll.register(pipe, select.POLLIN)
        self._deadline: float | None = None
        self._is_overdue = False
        # once overdue, how many bytes are still to be read, all that the process itself wrote among them
        self._left = 0

    def __enter__(self) -> StandardError:
        return self

    def __exit__(self, *error: object) -> None:
        self._pipe.close()

    def note_process_end(self) -> None:
        """Start the deadline: the process has ended."""
        self._deadline = time.monotonic() + STDERR_SECONDS

    def read(self, nbytes: int) -> bytes:
        """Return bytes that were written, none at the end."""
        while not self._check_deadline():
            if self._poll.poll(1000 * POLL_SECONDS):
                return self._pipe.read(nbytes)
        data = self._pipe.read(min(nbytes, self._left)) if self._left else b""
        self._left -= len(data)
        return data

    def _check_deadline(self):
        if not self._is_overdue and self._deadline is not None and time.monotonic() >= self._deadline:
            self._is_overdue = True
            self._left = int.from_bytes(fcntl.ioctl(self._pipe, termios.FIONREAD, bytes(4)), sys.byteorder)
        return self._is_overdue


def read_all(stderr: Any, pieces: list[bytes]) -> None:
    """Read to the end, and add what was read to the pieces."""
    with stderr:
        while data := stderr.read(PIPE_NBYTES):
            pieces.append(data)


def read_messages(stderr: Any, messages: Messages) -> None:
    """Read to the end, and have each line handled."""
    with stderr:
        for line, whole in lines_of(stderr):
            messages.handle(line, whole)
