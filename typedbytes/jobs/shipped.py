"""The files that travel with a job: a folder that holds them under their names, in which the tasks run.

Here: that folder. Not here: tasks. Invariant: the folder is removed with the job;
the files themselves are links to where they are, archives are unpacked.
"""

from __future__ import annotations

import os

from typedbytes.jobs.errors import ADVICE, CommandError, unwritten
from typedbytes.jobs.paths import absolute

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from typedbytes.jobs.job import Path
    from typedbytes.jobs.tasks.caretaker import Caretaker

__all__ = ["ship_files", "split_link"]


def split_link(text: str) -> tuple[str, str]:
    """Return the path and the name in a task's folder of a file given as PATH or PATH#NAME.

    >>> split_link("data/stop.txt"), split_link("data/stop.txt#words")
    (('data/stop.txt', 'stop.txt'), ('data/stop.txt', 'words'))
    """
    path, sign, name = text.partition("#")
    return path, name if sign else os.path.basename(path)


def ship_files(
    files: Iterable[Path], archives: Iterable[Path], environ: Mapping[str, str], caretaker: Caretaker
) -> tuple[str | None, dict[str, str]]:
    """Return the folder of files and archives given as PATH or PATH#NAME, and the variables of tasks in it.

    The folder is None if there are none. Raises CommandError.
    """
    environ = dict(environ or {})
    if not files and not archives:
        return None, environ
    import tempfile

    folder = os.path.join(tempfile.gettempdir(), f"typedbytes-{os.urandom(8).hex()}")
    caretaker.add(folder)
    try:
        os.mkdir(folder, 0o700)
        for add, given in ((_link, files), (_unpack, archives)):
            for file in given:
                path, name = split_link(os.fspath(file))
                _add(add, path, name, folder)
    except OSError as error:
        raise unwritten(CommandError, f"files to ship cannot be put into {folder}: {error.strerror}", error) from error
    # Modules are shipped too; and relative names in the path were those of another folder.
    modules = environ.get("PYTHONPATH", os.environ.get("PYTHONPATH"))
    module_paths = map(absolute, modules.split(os.pathsep)) if modules else []
    return folder, {**environ, "PYTHONPATH": os.pathsep.join([folder, *module_paths])}


def _add(add, path, name, folder):
    if not os.path.isfile(path):
        raise CommandError(f"there is no file {path} to ship with the job")
    if name in ("", ".", "..") or "/" in name:
        raise CommandError(f"{path} cannot be called {name!r} in the folder of a task: write {path}#NAME")
    try:
        add(path, os.path.join(folder, name))
    except FileExistsError:
        raise CommandError(
            f"two files are called {name} in the folder of a task: write {path}#NAME for one of them"
        ) from None


def _link(path, target):
    os.symlink(absolute(path), target)


def _unpack(path, target):
    """Unpack an archive of the kinds that Hadoop unpacks into a new folder."""
    import tarfile
    import zipfile
    import zlib

    os.mkdir(target)
    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                archive.extractall(target)
        elif tarfile.is_tarfile(path):
            with tarfile.open(path) as archive:
                # from 3.12 on, and in later patches of older versions
                archive.extraction_filter = getattr(tarfile, "tar_filter", None)
                archive.extractall(target)
        else:
            raise CommandError(f"{path} is not an archive: zip, jar, tar or tar.gz is expected")
    except (OSError, EOFError, zipfile.BadZipFile, tarfile.TarError, zlib.error) as error:
        if getattr(error, "errno", None) in ADVICE:
            raise
        raise CommandError(f"{path} cannot be unpacked: {error}") from None
