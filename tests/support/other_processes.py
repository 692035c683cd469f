"""Waiting for what other processes do, by what is there and not by how long it takes."""

import contextlib
import time
from pathlib import Path

from support.subprocess_runs import SECONDS


def until(holds):
    """Wait until something holds."""
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline, f"not true after {SECONDS} s"
        time.sleep(0.005)


def is_running(pid):
    """Return whether there is a process of that ID that has not ended."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False
