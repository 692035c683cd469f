"""The files that travel with a job: a folder that holds them under their names, in which the tasks run.

Here: that folder. Not here: tasks. Always true: the folder is removed with the job; the files themselves are links to where they are.
"""

import os
import tempfile

from typedbytes.local._errors import CommandError
from typedbytes.streaming._job_options import link_of

__all__ = ["ship_files"]


def ship_files(files, environ, caretaker):
    """Return the folder of files given as PATH or PATH#NAME, None if there are none, and the variables of tasks that run in it.

    Raises CommandError.
    """
    environ = dict(environ or {})
    if not files:
        return None, environ
    folder = os.path.join(tempfile.gettempdir(), f"typedbytes-{os.urandom(8).hex()}")
    caretaker.add(folder)
    os.mkdir(folder, 0o700)
    for file in files:
        path, name = link_of(os.fspath(file))
        _link(path, name, folder)
    # Modules are shipped too; and relative names in the path were those of another folder.
    given = environ.get("PYTHONPATH", os.environ.get("PYTHONPATH"))
    found = map(os.path.abspath, given.split(os.pathsep)) if given else []
    return folder, {**environ, "PYTHONPATH": os.pathsep.join([folder, *found])}


def _link(path, name, folder):
    if not os.path.isfile(path):
        raise CommandError(f"there is no file {path} to ship with the job")
    if name in ("", ".", "..") or "/" in name:
        raise CommandError(f"{path} cannot be called {name!r} in the folder of a task: write {path}#NAME")
    try:
        os.symlink(os.path.abspath(path), os.path.join(folder, name))
    except FileExistsError:
        raise CommandError(f"two files are called {name} in the folder of a task: write {path}#NAME for one of them") from None
