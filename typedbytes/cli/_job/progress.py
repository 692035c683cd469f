"""The progress of a job on this machine: bars with rich, one line on a terminal without it, lines elsewhere.

A job reads several files at once and says itself how much of them is done: `_input.progress` polls the offset of one.
Invariant: what tasks and the command write to standard error is not mixed with the line: it is erased first.
"""

from __future__ import annotations

import os
import sys
import threading
import time

from typedbytes.cli._failure import say
from typedbytes.cli._input.progress import COLUMNS, ERASE, line

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from typing import Any

__all__ = ["progress_of"]

SECONDS_BETWEEN_LINES = 5.0
SECONDS_BETWEEN_CHANGES = 0.25


def progress_of(quiet: bool) -> Any:
    """Return a context manager of a function to call as progress(phase, done, total), or of None."""
    if quiet:
        return _NoProgress()
    if sys.stderr is not None and sys.stderr.isatty():
        try:
            return _Bar()
        except ModuleNotFoundError:
            return _TerminalLine() if os.environ.get("TERM", "dumb") != "dumb" else _Lines()
    return _Lines()


class _NoProgress:
    """Show no progress."""

    def __enter__(self):
        return None

    def __exit__(self, *error):
        pass


class _Lines(_NoProgress):
    """Report progress in lines, every few seconds."""

    def __init__(self):
        self._phase, self._start = "", 0.0
        self._next = time.monotonic() + SECONDS_BETWEEN_LINES

    def __enter__(self):
        return self.update

    def update(self, phase, done, total):
        """Write a line if the last one is some seconds old."""
        now = time.monotonic()
        if phase != self._phase:
            self._phase, self._start = phase, now
        if now >= self._next and total:
            self._next = now + SECONDS_BETWEEN_LINES
            shown = f"{phase} {100 * done // total} %"
            if 0 < done < total and now > self._start:
                shown = line(phase, done, total, now - self._start)
            say(f"typedbytes: {shown}")


class _TerminalLine(_NoProgress):
    """Show progress in one line, and stand in the place of standard error, so that the line is erased for others."""

    def __init__(self):
        self._lock = threading.RLock()
        self._phase, self._start, self._next = "", 0.0, 0.0
        self._is_shown = False

    def __enter__(self):
        self._stderr: Any = sys.stderr
        sys.stderr = self
        return self.update

    def __exit__(self, *error):
        sys.stderr = self._stderr
        self._erase()

    def __getattr__(self, name):
        return getattr(self._stderr, name)

    def write(self, text):
        """Write a message in the place of the line."""
        with self._lock:
            self._erase()
            return self._stderr.write(text)

    def update(self, phase, done, total):
        """Change the line if it is not new."""
        now = time.monotonic()
        if phase != self._phase:
            self._phase, self._start = phase, now
        if now < self._next or now <= self._start:
            return
        self._next = now + SECONDS_BETWEEN_CHANGES
        with self._lock:
            self._draw(line(phase, done, total, now - self._start))
            self._is_shown = True

    def _erase(self):
        with self._lock:
            if self._is_shown:
                self._draw("")
                self._is_shown = False

    def _draw(self, text):
        """Replace the line; a terminal that is gone is not a failure of the job."""
        try:
            width = (os.get_terminal_size(self._stderr.fileno()).columns or COLUMNS) - 1
            self._stderr.write(ERASE + text[:width])
            self._stderr.flush()
        except (OSError, ValueError):
            pass


class _Bar(_NoProgress):
    """Show progress as bars on a terminal."""

    def __init__(self):
        from rich import progress
        from rich.console import Console

        columns = (
            progress.TextColumn("{task.description:6}"), progress.BarColumn(), progress.DownloadColumn(),
            progress.TransferSpeedColumn(), progress.TimeRemainingColumn(),
        )  # fmt: skip
        self._bars = progress.Progress(*columns, console=Console(stderr=True), redirect_stdout=False)
        self._of_phase = {}

    def __enter__(self):
        self._bars.start()
        return self.update

    def update(self, phase, done, total):
        """Update the bar of a phase."""
        if phase not in self._of_phase:
            self._of_phase[phase] = self._bars.add_task(phase)
        self._bars.update(self._of_phase[phase], completed=done, total=total)

    def __exit__(self, *error):
        self._bars.stop()
