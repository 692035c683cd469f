"""A folder of SequenceFiles that several tasks write, with its new files or without any of them. Needs pyarrow, and no Spark.

Invariant: files have their names only after all tasks have succeeded; what a failed or killed task leaves is in one hidden folder,
which goes with the end of the job.
"""

from __future__ import annotations

import io
import os
import shutil

from typedbytes import columns, sequencefile
from typedbytes.sequencefile import _locations

__all__ = ["Output"]

_DONE = "_SUCCESS"


class Output:
    """The files of one job."""

    def __init__(self, path, options, overwrite):
        options = {name.lower(): value for name, value in options.items()}
        self._path = path
        self._job = os.urandom(4).hex()
        self._overwrite = overwrite
        self._nulls = options.get("nulls", "value")
        codec = options.get("codec", "default")
        self._how = {"compression": "none"} if codec == "none" else {"compression": "block", "codec": codec}
        sequencefile.Writer(io.BytesIO(), **self._how).close()  # refuses a codec before the job starts

    @property
    def _temporary(self):
        return f"{self._path}/_temporary-{self._job}"

    def write(self, batches, partition, attempt):
        """Write record batches of a key and a value to a file; return its name, or None for no records."""
        batch = next(batches, None)
        if batch is None:
            return None
        name = f"part-{partition:05d}-{self._job}.seq"
        _make_folder(self._temporary)
        unfinished = f"{name}.{attempt}"
        with sequencefile.open(f"{self._temporary}/{unfinished}", "w", **self._how) as writer:
            while batch is not None:
                sink = io.BytesIO()
                columns.write(sink, batch, nulls=self._nulls)
                writer.write_typed(sink.getvalue())
                batch = next(batches, None)
        return name, unfinished

    def commit(self, written):
        """Give the files of the tasks that succeeded their names."""
        _make_folder(self._path)
        if self._overwrite:
            for file in _locations.parts(self._path):
                _remove(file)
        for name, unfinished in filter(None, written):
            _rename(f"{self._temporary}/{unfinished}", f"{self._path}/{name}")
        self.abort()
        with _locations.opened(f"{self._path}/{_DONE}", "w")[0]:
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


def _remove_folder(path):
    if "://" in path:
        fs, remote = _locations.file_system(path)
        if fs.exists(remote):
            fs.rm(remote, recursive=True)
    else:
        shutil.rmtree(path, ignore_errors=True)
