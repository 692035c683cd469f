"""Files beside the records: a task's own files in the folder of the job's output.

Hadoop gives each attempt a folder of its own and moves its files to the output when the attempt has succeeded, so a
task that is run twice, or fails, leaves no duplicate or partial file. A file is written under a hidden name, synced,
and renamed as the last step of the task. Hadoop's own shell copies files to a folder that is not a path of this
machine, such as one of HDFS. Here: names and ends of files. Not here: what is in one.
"""

from __future__ import annotations

import io
import os

from typedbytes.streaming.task_environment import Task

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any


class SideFiles:
    """The files of one task, open until it ends."""

    def __init__(self):
        self._role: Any = None  # of the running task; None: no task runs
        self._pid = None
        self._files = {}  # final name -> open file
        self._folders = set()  # made by the task for an output by key
        self.error = None  # the OSError that kept them from being finished

    @property
    def are_used(self):
        """Whether the task has opened any."""
        return bool(self._files or self._folders)

    def start(self, role):
        """Begin a task of this process."""
        self._role, self._pid, self.error = role, os.getpid(), None

    def open(self, name):
        """Open a new file to write bytes to."""
        if self._role is None:
            raise RuntimeError("side files belong to a task: open them while run() runs")
        _check_owner(self._pid)  # the process would empty the file that the task has under the same name
        if not name or "/" in name or name.startswith((".", "_", "part-")):
            raise ValueError(
                f"{name!r} cannot be the name of a side file: it must be a plain name that does not start "
                "with part-, _ or ."
            )
        name = self._final_name(name)
        if name in self._files:
            raise ValueError(f"the side file {name!r} already exists: open it once per task, in configure()")
        folder = _spool_folder()
        os.makedirs(folder, exist_ok=True)
        file = self._files[name] = io.BufferedWriter(_File(os.path.join(folder, _temporary_name(name)), "w"))
        return file

    def open_part(self, folder, suffix):
        """Open a part file of the output in a folder of it; it has its name at once: an attempt's folder is its own."""
        _check_owner(self._pid)
        task = Task(os.environ)
        # of a folder that is not on this machine, a place that no other attempt has
        spool = _spool_folder() if _remote_folder() is None else _by_key_folder()
        os.makedirs(os.path.join(spool, folder), exist_ok=True)
        self._folders.add(os.path.join(spool, folder.partition("/")[0]))
        return _File(os.path.join(spool, folder, f"part-{task.partition or 0:05}{suffix}"), "x")

    def commit(self):
        """Close all files and give them their names; what fails here fails the task."""
        try:
            self._commit()
        except OSError as error:
            self.error = error
            raise

    def _commit(self):
        if not self.are_used:
            return
        from typedbytes._base.atomic import name_files

        for file in self._files.values():
            file.close()
        named = {file.name: os.path.join(os.path.dirname(file.name), name) for name, file in self._files.items()}
        name_files(named)
        paths = [*named.values(), *self._folders]
        self._files.clear()
        self._folders.clear()
        remote = _remote_folder()
        if remote is not None:
            from typedbytes.streaming._upload import upload

            try:
                upload(paths, remote)
            finally:
                _remove_folder(_by_key_folder())

    def drop(self):
        """Close all files and remove them: the attempt is void."""
        while self._folders and os.getpid() == self._pid:
            _remove_folder(self._folders.pop())
        while self._files and os.getpid() == self._pid:  # a process forked from the task does not own them
            _, file = self._files.popitem()
            try:
                try:
                    os.unlink(file.name)
                finally:
                    file.close()
            except OSError:
                pass  # the folder of a failed attempt is removed anyway
        if os.getpid() == self._pid:
            self._pid = None  # what an output still holds makes no file any more

    def _final_name(self, name):
        # As Hadoop names a task's files. A map task may run its combiner many times, each time in a process. The files
        # of all steps of a job end in one folder.
        task = Task(os.environ)
        step = f"step{task.step}-" if task.step else ""
        process = f"-{os.getpid()}" if self._role == "combine" else ""
        return f"{step}{name}-{self._role[0]}-{task.partition or 0:05}{process}"


def _check_owner(pid):
    if os.getpid() != pid:
        raise OSError("side files belong to the process that Hadoop started, not to one forked from it")


class _File(io.FileIO):
    """A file that refuses to write in a process forked from the task, which has the same buffer and offset."""

    def __init__(self, path, mode):
        super().__init__(path, mode)
        self._pid = os.getpid()

    def write(self, data):
        _check_owner(self._pid)
        return super().write(data)


side_files = SideFiles()


def side_file(name):
    """Open a binary file that is moved beside the part files of the job's output when the task has succeeded.

    It is named like ``name-m-00003``, after the kind of task and its number; in a job of several steps,
    ``step1-name-m-00003``. The file is closed at the end of the task, if it is not yet, and removed when the task
    fails. Outside Hadoop it is moved to the current folder. Raises RuntimeError outside run(), ValueError for a second
    file of one name in a task and for a name with a prefix of Hadoop's own files.

    >>> side_file("rejected")
    Traceback (most recent call last):
    RuntimeError: side files belong to a task: open them while run() runs
    """
    return side_files.open(name)


def _output_folder():
    return Task(os.environ).output_folder or "."


def _local_path(folder):
    """Return the local path of one of Hadoop's folders, or None if it is not on this machine."""
    scheme, colon, path = folder.partition(":")
    if not colon or "/" in scheme:
        return folder
    return "/" + path.lstrip("/") if scheme == "file" else None


def _spool_folder():
    return _local_path(_output_folder()) or os.environ.get("TMPDIR") or "."


def _remove_folder(path):
    import shutil

    shutil.rmtree(path, ignore_errors=True)


def _by_key_folder():
    return os.path.join(_spool_folder(), f".{Task(os.environ).attempt_id or os.getpid()}-by-key")


def _remote_folder():
    folder = _output_folder()
    return folder if _local_path(folder) is None else None


def _temporary_name(name):
    return f".{name}.{Task(os.environ).attempt_id or os.getpid()}"
