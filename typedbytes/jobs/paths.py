"""Absolute paths that mean what the given ones mean to the system.

Not here: what is at a path. Invariant: `link/..` is the parent of what the link leads to,
which os.path.abspath takes for the folder of the link.
"""

from __future__ import annotations

import os

from typedbytes._base.locations import is_url

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.jobs.job import Path

__all__ = ["absolute"]


def absolute(path: Path) -> str:
    """Return a path that holds in every folder, a URL as it is."""
    path = os.fspath(path)
    if is_url(path):
        return path
    if os.pardir not in path.split(os.sep):
        return os.path.abspath(path)
    folder, name = os.path.split(path.rstrip(os.sep))
    return os.path.realpath(path) if name == os.pardir else os.path.join(os.path.realpath(folder), name)
