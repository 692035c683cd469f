"""The progress of a job on this machine: the line of all commands, with a bar by rich; elsewhere lines in between."""

from __future__ import annotations

import time

from typedbytes.cli._failure import say_message
from typedbytes.cli._input.progress import BAR_COLUMNS, line, reporter

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["progress_of"]

SECONDS_BETWEEN_LINES = 5.0


def progress_of(quiet: bool) -> Any:
    """Return a function to call as progress(phase, done, total), or None."""
    if quiet:
        return None
    return reporter(_bar()) or _Lines().update


def _bar() -> Callable[[float], str] | None:
    """Return a function that draws a bar for what part is done, None without rich."""
    try:
        from rich.console import Console
        from rich.progress_bar import ProgressBar
    except ModuleNotFoundError:
        return None
    console = Console(stderr=True)

    def bar(part):
        with console.capture() as captured:
            console.print(ProgressBar(1, part, BAR_COLUMNS), end="")
        return captured.get().strip()

    return bar


class _Lines:
    """Report progress in lines, every few seconds."""

    def __init__(self):
        self._phase, self._start = "", 0.0
        self._next = time.monotonic() + SECONDS_BETWEEN_LINES

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
            say_message(shown)
