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
from typedbytes._base.folders import remove_folder
from typedbytes._base.locations import MARK, is_url
from typedbytes.jobs.errors import InputError, JobError, OutputError, nested_folder
from typedbytes.jobs.messages import option_named

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["OutputAtUrl", "can_seek", "find_files", "opened", "opened_to_recognise", "path_here", "reported", "size"]

PIECE_NBYTES = 1 << 20


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
        raise kind(f"{url}: {locations.reason_of(error)}") from None


@contextmanager
def _failing_to_write(url):
    """Turn an error of the system's, such as that of a quota, into a JobError that it is the cause of."""
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        raise JobError(f"{url}: {locations.reason_of(error)}") from error


def find_files(url: str, recursive: bool = False) -> list[str]:
    """Return the files that a URL names: a file, a pattern, or the visible contents of a folder."""
    with reported(InputError, url):
        try:
            return locations.files([url], recursive)
        except locations.NestedFolderError as error:
            raise nested_folder(error) from None


def opened(path: str) -> Any:
    """Open a file, of this machine or at a URL, for reading without a buffer of ours."""
    return locations.opened(path, "r")[0]


def opened_to_recognise(path: str) -> Any:
    """Open a file whose first bytes are read."""
    return locations.opened_to_recognise(path) if is_url(path) else open(path, "rb")


def size(path: str) -> int:
    """Return the number of bytes of a file, 0 if its server does not say: it is read to its end then."""
    return locations.size(path) or 0


def path_here(url: str) -> str | None:
    """Return the path of a URL on this machine, file:///...; None for any other."""
    fs, path = locations.file_system(url)
    return path if type(fs).__module__ == "fsspec.implementations.local" else None


def can_seek(path: str) -> bool:
    """Return whether a file can be read from any offset: a web server may only give it whole."""
    if not is_url(path):
        return True
    with opened_to_recognise(path) as file:
        file.read(1)
        try:
            file.seek(0)
        except (OSError, ValueError):
            return False
    return True


class OutputAtUrl:
    """The folder at a URL that the output of a job goes to when the job is done.

    Raises OutputError before the job if nothing can be written there, or if something is there that is not replaced.
    """

    def __init__(self, url: str, overwrite: bool) -> None:
        self._url = url.rstrip("/")
        self._overwrite = overwrite
        with reported(OutputError, url):
            self._fs, path = locations.file_system(url)
            self._path = path.rstrip("/")
            folder, slash, name = self._path.rpartition("/")
            self._beside = f"{folder}{slash}.{name}.typedbytes-{os.urandom(4).hex()}"
            self._find_earlier()
            self._try_to_write()

    def _find_earlier(self):
        """Return whether there is an earlier output, which is to be replaced."""
        self._fs.invalidate_cache()
        if not self._fs.exists(self._path):
            return False
        if not self._overwrite:
            hint = "give another URL, or " + option_named("overwrite", True) + " to replace it"
            raise OutputError(f"the output {self._url} already exists", hint=hint)
        if not self._fs.exists(f"{self._path}/{MARK}"):
            raise OutputError(
                f"{self._url} is not the output of a job that has succeeded, and is not overwritten: remove it"
            )
        return True

    def _try_to_write(self):
        """Write an empty file beside the output, or in the folder in which its folders will be, and remove it."""
        path = self._beside
        try:
            try:
                self._fs.open(path, "wb").close()
            except FileNotFoundError:  # in a file system with folders, this one is made with the output
                folder, _, name = path.rpartition("/")
                while "/" in folder and not self._fs.exists(folder):
                    folder = folder.rpartition("/")[0]
                path = f"{folder}/{name}"
                self._fs.open(path, "wb").close()
            self._fs.rm_file(path)
        except NotImplementedError:
            raise OutputError(f"{self._url}: nothing can be written there, its file system is read-only") from None

    def put(self, folder: str) -> None:
        """Copy all files of a folder, the mark of a complete output last.

        What replaces an earlier output is copied into a folder beside it first. A copy that fails leaves nothing; once
        the earlier output is removed, the error says where the new one is.
        """
        mark = os.path.join(folder, MARK)
        with reported(OutputError, self._url), _failing_to_write(self._url):
            is_earlier = self._find_earlier()
            target = self._beside if is_earlier else self._path
            made: list[tuple[Any, str]] = []  # what removes each file and folder, and its path
            try:
                for parent, _, names in os.walk(folder):
                    there = target if parent == folder else f"{target}/{_relative(parent, folder)}"
                    self._fs.makedirs(there, exist_ok=parent != folder)
                    made.append((self._fs.rmdir, there))
                    for path in sorted(os.path.join(parent, name) for name in names):
                        if path != mark:
                            made.append((self._fs.rm_file, f"{there}/{os.path.basename(path)}"))
                            self._copy(path, made[-1][1])
                if not is_earlier:
                    made.append((self._fs.rm_file, f"{target}/{MARK}"))
                    self._copy(mark, f"{target}/{MARK}")
                else:
                    self._find_earlier()
            except BaseException:
                for remove, path in reversed(made):
                    with suppress(Exception):
                        remove(path)
                raise
            if is_earlier:
                self._replace_earlier(mark)

    def _replace_earlier(self, mark):
        name = self._beside.rpartition("/")[2]
        beside = f"{self._url.rpartition('/')[0]}/{name}"
        where = beside
        try:
            self._fs.rm(self._path, recursive=True)
            for path in sorted(self._fs.find(self._beside)):  # a store has no folder that could be moved
                target = f"{self._path}/{path.partition(f'/{name}/')[2]}"
                self._fs.makedirs(target.rpartition("/")[0], exist_ok=True)
                self._fs.mv(path, target)
                where = f"{beside} and {self._url}"
            where = self._url
            self._copy(mark, f"{self._path}/{MARK}")
        except Exception as error:
            kind = JobError if isinstance(error, OSError) else OutputError
            raise kind(
                f"{self._url}: {locations.reason_of(error)}; the earlier output is removed, and the new one is in "
                f"{where}, complete but for {MARK}"
            ) from error
        remove_folder(beside)

    def _copy(self, path, target):
        with open(path, "rb") as source, self._fs.open(target, "wb") as sink:
            shutil.copyfileobj(source, sink, PIECE_NBYTES)


def _relative(path, folder):
    return os.path.relpath(path, folder).replace(os.sep, "/")
