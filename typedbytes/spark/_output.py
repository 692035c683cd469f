"""A folder of SequenceFiles that several tasks write. Needs pyarrow, and no Spark.

Invariant: files have their names only after all tasks have succeeded, and a job that fails leaves none of them; a folder in which not all
of them have theirs, or whose old files are being removed, has no _SUCCESS; what a failed or killed task leaves is in one hidden folder,
which is removed at the end of the job.
"""

from __future__ import annotations

import io
import os
import shutil
from contextlib import suppress

from typedbytes import columns, sequencefile
from typedbytes.sequencefile import _locations

__all__ = ["Output"]


class Output:
    """The files of one job."""

    def __init__(self, path, options, overwrite):
        options = {name.lower(): value for name, value in options.items()}
        self._path = path
        self._job = os.urandom(4).hex()
        self._overwrite = overwrite
        self._nulls = options.get("nulls", "value")
        codec = options.get("codec", "default")
        self._writer_options = {"compression": "none"} if codec == "none" else {"compression": "block", "codec": codec}
        sequencefile.Writer(io.BytesIO(), **self._writer_options).close()  # refuses a codec before the job starts

    @property
    def _temporary(self):
        return f"{self._path}/_temporary-{self._job}"

    def write(self, batches, partition, attempt):
        """Write record batches of a key and a value to a file; return its name and that until the commit, or None for no records."""
        batch = next(batches, None)
        if batch is None:
            return None
        name = f"part-{partition:05d}-{self._job}.seq"
        _make_folder(self._temporary)
        unfinished = f"{name}.{attempt}"
        with sequencefile.open(f"{self._temporary}/{unfinished}", "w", **self._writer_options) as writer:
            while batch is not None:
                sink = io.BytesIO()
                columns.write(sink, batch, nulls=self._nulls)
                writer.write_typed(sink.getvalue())
                batch = next(batches, None)
        return name, unfinished

    def commit(self, written):
        """Give the files of the tasks that succeeded their names; after an error none of them is left."""
        _make_folder(self._path)
        old = _locations.parts(self._path) if self._overwrite else []
        was_complete = _remove_if_there(self._mark)
        names = {f"{self._path}/{name}": f"{self._temporary}/{unfinished}" for name, unfinished in filter(None, written)}
        try:
            for name, unfinished in names.items():
                _rename(unfinished, name)
        except BaseException:
            _take_back(names)
            if was_complete:
                self._mark_complete()
            raise
        try:
            for file in old:
                _remove(file)
        except BaseException:
            _take_back(names)
            raise
        self.abort()
        self._mark_complete()

    @property
    def _mark(self):
        return f"{self._path}/_SUCCESS"

    def _mark_complete(self):
        with _locations.opened(self._mark, "w")[0]:
            pass

    def abort(self):
        """Remove what the tasks have written."""
        _remove_folder(self._temporary)


def _make_folder(path):
    if "://" in path:
        fs, remote = _locations.file_system(path)
        fs.makedirs(remote, exist_ok=True)
    else:
        os.makedirs(path, exist_ok=True)


def _rename(path, name):
    if "://" in path:
        fs, remote = _locations.file_system(path)
        fs.mv(remote, _locations.file_system(name)[1])
    else:
        os.rename(path, name)


def _remove(path):
    if "://" in path:
        fs, remote = _locations.file_system(path)
        fs.rm_file(remote)
    else:
        os.unlink(path)


def _remove_if_there(path):
    """Remove a file; return whether there was one."""
    if "://" in path:
        fs, remote = _locations.file_system(path)
        is_there = fs.exists(remote)
    else:
        is_there = os.path.lexists(path)
    if is_there:
        _remove(path)
    return is_there


def _take_back(paths):
    """Remove those of the files that are there."""
    for path in paths:
        with suppress(Exception):
            _remove(path)


def _remove_folder(path):
    if "://" in path:
        fs, remote = _locations.file_system(path)
        if fs.exists(remote):
            fs.rm(remote, recursive=True)
    else:
        shutil.rmtree(path, ignore_errors=True)
