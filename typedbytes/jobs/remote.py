"""Inputs and outputs of jobs at URLs, which fsspec opens.

Here: what is done otherwise than for a path of this machine, and the one line that an error of a file system becomes.
Not here: what files hold. Invariant: an output has its _SUCCESS when all else is there; of a failed one nothing is
left.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager, suppress

from typedbytes._base import locations
from typedbytes.jobs.errors import InputError, JobError, OutputError

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["OutputAtUrl", "find_files", "opened", "opened_to_recognise", "reason_of", "reported", "size"]

PIECE_NBYTES = 1 << 20
MARK = "_SUCCESS"


def reason_of(error: BaseException) -> str:
    """Return what an error says in one line: those of some file systems have a stack of Java's."""
    text = getattr(error, "strerror", None) or str(error)
    return text.strip().partition("\n")[0].rstrip() or type(error).__name__


@contextmanager
def reported(kind: type[JobError], url: str) -> Iterator[None]:
    """Turn what a file system raises into a JobError of this kind, in one line."""
    try:
        yield
    except (JobError, MemoryError):
        raise
    except FileNotFoundError:
        raise kind(f"no such file: {url}") from None
    except Exception as error:  # each file system has errors of its own
        raise kind(f"{url}: {reason_of(error)}") from None


def find_files(url: str, recursive: bool = False) -> list[str]:
    """Return the files that a URL names: a file, a pattern, or the visible contents of a folder."""
    with reported(InputError, url):
        return locations.files([url], recursive)


def opened(path: str) -> Any:
    """Open a file, of this machine or at a URL, for reading without a buffer of ours."""
    return locations.opened(path, "r")[0]


def opened_to_recognise(path: str) -> Any:
    """Open a file whose first bytes are read."""
    return locations.opened_to_recognise(path) if locations.is_url(path) else open(path, "rb")


def size(path: str) -> int:
    """Return the number of bytes of a file, 0 if its server does not say: it is read to its end then."""
    return locations.size(path) or 0


class OutputAtUrl:
    """The folder at a URL that the output of a job goes to when the job is done."""

    def __init__(self, url: str, overwrite: bool) -> None:
        self._url = url.rstrip("/")
        with reported(OutputError, url):
            self._fs, path = locations.file_system(url)
            self._path = path.rstrip("/")
            self._is_there = self._fs.exists(self._path)
            if self._is_there and not overwrite:
                raise OutputError(f"the output {url} already exists; give another URL, or --overwrite to replace it")
            if self._is_there and not self._fs.exists(f"{self._path}/{MARK}"):
                raise OutputError(
                    f"{url} is not the output of a job that has succeeded, and is not overwritten: remove it"
                )

    def put(self, folder: str) -> None:
        """Copy all files of a folder, the mark of a complete output last; an earlier output is removed before."""
        files = [os.path.join(parent, name) for parent, _, names in os.walk(folder) for name in names]
        files.sort(key=lambda path: (os.path.basename(path) == MARK, path))
        with reported(OutputError, self._url):
            if self._is_there:
                self._fs.rm(self._path, recursive=True)
            try:
                self._fs.makedirs(self._path, exist_ok=True)
                for path in files:
                    self._copy(path, f"{self._path}/{os.path.relpath(path, folder).replace(os.sep, '/')}")
            except BaseException:
                with suppress(Exception):
                    self._fs.rm(self._path, recursive=True)
                raise

    def _copy(self, path, target):
        self._fs.makedirs(target.rpartition("/")[0], exist_ok=True)
        with open(path, "rb") as source, self._fs.open(target, "wb") as sink:
            shutil.copyfileobj(source, sink, PIECE_NBYTES)
