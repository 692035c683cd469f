"""Read the output of a job: part files on this machine, at a URL, or copied here by Hadoop."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from contextlib import contextmanager

from typedbytes._core import WrappedIterator
from typedbytes.hadoop.installed import default_file_system, find_command
from typedbytes.jobs.errors import SubmitError
from typedbytes.jobs.modules import is_importable

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

__all__ = ["copied_here", "local_folder", "read_output", "remove_output"]


def read_output(path: str, environ: Mapping[str, str] = os.environ) -> Iterator[tuple[Any, Any]]:
    """Return an iterator of the pairs of a job's output, the SequenceFiles and MapFiles part-* of a folder.

    Local folders, and URLs that fsspec opens, are read directly; others are first copied to this machine by Hadoop.

    >>> from typedbytes import sequencefile
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with sequencefile.open(os.path.join(folder, "part-00000"), "w") as file:
    ...         file.write("a", 1)
    ...     list(read_output(folder))
    [('a', 1)]
    """
    folder = local_folder(path, environ)
    if folder is not None:
        return WrappedIterator(_pairs_of(folder))
    scheme, _, _ = path.partition(":")
    is_opened = "/" not in scheme and scheme not in (path, "hdfs") and is_importable("fsspec")
    return WrappedIterator(_pairs_of(path) if is_opened else _fetch_pairs(path, environ))


def local_folder(path: str, environ: Mapping[str, str] = os.environ) -> str | None:
    """Return the folder of this machine that one of Hadoop's paths names, None if it is elsewhere."""
    scheme, colon, rest = path.partition(":")
    if not colon or "/" in scheme:
        return path if _paths_are_local(environ) else None
    return "/" + rest.lstrip("/") if scheme == "file" else None


def _paths_are_local(environ):
    """Return whether a path without a scheme is a local path for Hadoop too, or no Hadoop is installed."""
    url = default_file_system(environ)
    if url:
        return url.startswith("file:")
    try:
        find_command("hadoop", environ)
    except SubmitError:
        return True
    return False


def _pairs_of(path):
    from typedbytes import sequencefile
    from typedbytes._base import locations

    for part in locations.parts(path):
        if os.path.basename(part.removesuffix("/data")).startswith(locations.PART_PREFIX):  # the data of a MapFile
            yield from sequencefile.read(part)


def _fetch_pairs(path, environ):
    with copied_here(path, environ) as folder:
        yield from _pairs_of(folder)


@contextmanager
def copied_here(path: str, environ: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Yield a folder of this machine with the part files of an output: its own, or one with copies.

    Raises SubmitError.
    """
    found = local_folder(path, environ)
    if found is not None:
        yield found
        return
    with tempfile.TemporaryDirectory() as folder:
        pattern = re.sub(r"([\\*?\[\]{}])", r"\\\1", path) + "/part-*"
        _call(environ, f"Hadoop could not copy the output {path} here", "-get", pattern, folder)
        yield folder


def remove_output(path: str, environ: Mapping[str, str] = os.environ) -> None:
    """Remove a folder that a job may have made. Raises SubmitError."""
    found = local_folder(path, environ)
    if found is not None:
        shutil.rmtree(found, ignore_errors=True)
    else:
        _call(environ, f"Hadoop could not remove {path}", "-rm", "-r", "-f", "-skipTrash", path)


def _call(environ, otherwise, *words):
    command = [find_command("hadoop", environ), "fs", *words]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        raise SubmitError(f"{otherwise}: {done.stdout.strip()}")
