"""Paths that a job gives: of files of this machine, which may be URLs, have variables in them, and names for tasks."""

from __future__ import annotations

import os
import shutil

from typedbytes.fronts.mrjob.util import expand_path

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

__all__ = ["archived", "expanded", "local_path", "whole"]


def local_path(path: str) -> str:
    """Return the path of a file of this machine, which may be given as file:///path."""
    return path[len("file://") :] if path.startswith("file:///") else path


def expanded(paths: Iterable[str]) -> list[str]:
    """Return whole paths, each once: a class and a command line may name the same file."""
    return [*dict.fromkeys(map(whole, paths))]


def whole(path: str) -> str:
    """Return a path that does not depend on the current folder, where it names a file."""
    found: Any = expand_path(local_path(path))
    return os.path.abspath(found) if os.path.exists(found) else found


def archived(path: str, folder: str) -> str:
    """Return an archive of a folder, as "PATH#NAME"."""
    path, sign, name = local_path(path).rstrip("/").partition("#")
    name = name if sign else os.path.basename(path)
    base = os.path.join(folder, name)
    return f"{shutil.make_archive(base, 'tar', expand_path(path))}#{name}"
