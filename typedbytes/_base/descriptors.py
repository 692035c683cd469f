"""Descriptors of this process by number."""

from __future__ import annotations

import os

__all__ = ["move_descriptor", "open_stderr"]


def open_stderr() -> None:
    """Have a descriptor 2. Without it, the next file to be opened would have that number, and every message in it."""
    try:
        os.fstat(2)
    except OSError:
        move_descriptor(os.open(os.devnull, os.O_WRONLY), 2)


def move_descriptor(descriptor: int, number: int) -> None:
    """Give an open descriptor another number."""
    if descriptor != number:
        os.dup2(descriptor, number)
        os.close(descriptor)
