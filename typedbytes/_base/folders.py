"""Folders and the files in them, on this machine and at URLs, by the same calls.

Not here: opening and listing files, which is in locations; names that appear when files are complete on the disk, which
are in atomic. Invariant: fsspec is imported for a URL only.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

from typedbytes._base import locations

__all__ = ["exists", "make_folder", "names_in", "remove", "remove_folder", "rename"]


def make_folder(path: str) -> None:
    """Make a folder, and those around it, unless it is there."""
    if locations.is_url(path):
        fs, remote = locations.file_system(path)
        fs.makedirs(remote, exist_ok=True)
    else:
        os.makedirs(path, exist_ok=True)


def names_in(path: str) -> list[str]:
    """Return the names in a folder, in no order; none if it is not there."""
    if locations.is_url(path):
        fs, remote = locations.file_system(path)
        try:
            return [entry.rstrip("/").rpartition("/")[2] for entry in fs.ls(remote, detail=False)]
        except FileNotFoundError:
            return []
    return os.listdir(path) if os.path.isdir(path) else []


def rename(path: str, name: str) -> None:
    """Give a file another name in the same file system."""
    if locations.is_url(path):
        fs, remote = locations.file_system(path)
        fs.mv(remote, locations.file_system(name)[1])
    else:
        os.rename(path, name)


def remove(path: str) -> None:
    """Remove a file."""
    if locations.is_url(path):
        fs, remote = locations.file_system(path)
        fs.rm_file(remote)
    else:
        os.unlink(path)


def exists(path: str) -> bool:
    """Return whether a file or a folder of this name is there."""
    if locations.is_url(path):
        fs, remote = locations.file_system(path)
        return fs.exists(remote)
    return os.path.lexists(path)


def remove_folder(path: str) -> None:
    """Remove a folder if it is there, as far as it can be removed."""
    if locations.is_url(path):
        with suppress(Exception):
            fs, remote = locations.file_system(path)
            if fs.exists(remote):
                fs.rm(remote, recursive=True)
    else:
        shutil.rmtree(path, ignore_errors=True)
