"""A folder of SequenceFiles that several tasks write. Needs pyarrow, and no Spark.

Invariant: files have their names only after all tasks have succeeded, and a job that fails leaves none of them and the
old ones in place; a folder in which not all files have their names, or old ones are still there, has no _SUCCESS. What
a failed or killed task leaves is in one hidden folder, and the old files that are replaced are in another; both are
removed at the end of the job. Old files that cannot be moved back, or whose job was killed meanwhile, stay in theirs.
"""

from __future__ import annotations

import io
import os
from contextlib import suppress

from typedbytes import columns, sequencefile
from typedbytes._base import locations
from typedbytes._base.folders import exists, make_folder, remove, remove_folder, rename
from typedbytes.spark._rows import TypedRows
from typedbytes.spark._splits import types_of

__all__ = ["Output"]


class Output:
    """The files of one job."""

    def __init__(self, path, options, overwrite):
        options = {name.lower(): value for name, value in options.items()}
        self._path = path
        self._job = os.urandom(4).hex()
        self._overwrite = overwrite
        self._nulls = options.get("nulls", "value")
        self._types = types = types_of(options, pairs=True)
        if types and "structs" in options:
            raise ValueError("structs cannot be combined with type, which says what a struct becomes")
        self._structs = options.get("structs", "map" if types else "vector")
        codec = options.get("codec", "default")
        self._writer_options = {"compression": "none"} if codec == "none" else {"compression": "block", "codec": codec}
        if self._nulls == "hive":
            self._writer_options["dialect"] = "hive"
        for option, name in (("keyclass", "key_class"), ("valueclass", "value_class")):
            if option in options:
                self._writer_options[name] = options[option]
        # Refuse what cannot be written before the job starts.
        self._typed_rows()
        sequencefile.Writer(io.BytesIO(), **self._writer_options).close()
        columns.write(io.BytesIO(), {"key": [], "value": []}, nulls=self._nulls, structs=self._structs)

    @property
    def _temporary(self):
        return f"{self._path}/_temporary-{self._job}"

    @property
    def _replaced(self):
        return f"{self._path}/_replaced-{self._job}"

    def _typed_rows(self):
        return TypedRows(self._types, self._nulls) if self._types else None

    def write(self, batches, partition, attempt):
        """Write record batches to a file; return its name and its name until the commit, or None without batches."""
        batch = next(batches, None)
        if batch is None:
            return None
        name = f"part-{partition:05d}-{self._job}.seq"
        make_folder(self._temporary)
        unfinished, typed = f"{name}.{attempt}", self._typed_rows()
        with sequencefile.open(f"{self._temporary}/{unfinished}", "w", **self._writer_options) as writer:
            while batch is not None:
                sink = io.BytesIO()
                columns.write(sink, batch, nulls=self._nulls, structs=self._structs)
                writer.write_typed(typed.encoded(sink.getvalue()) if typed else sink.getvalue())
                batch = next(batches, None)
        return name, unfinished

    def commit(self, written):
        """Give the files of the tasks that succeeded their names; after an error the folder is as it was."""
        make_folder(self._path)
        old = locations.part_files(self._path) if self._overwrite else []
        moved = {file: f"{self._replaced}/{file.rpartition('/')[2]}" for file in old}
        names = {
            f"{self._path}/{name}": f"{self._temporary}/{unfinished}" for name, unfinished in filter(None, written)
        }
        was_complete = exists(self._mark)
        try:
            if was_complete:
                remove(self._mark)
            for name, unfinished in names.items():
                rename(unfinished, name)
            if moved:
                make_folder(self._replaced)
            for file, path in moved.items():
                rename(file, path)
            self._mark_complete()
        except BaseException:
            self._take_back(names, moved, was_complete)
            raise
        self.abort()
        remove_folder(self._replaced)

    def _take_back(self, names, moved, was_complete):
        for path in (*names, self._mark):
            with suppress(Exception):
                remove(path)
        with suppress(Exception):
            for file, path in moved.items():
                if not exists(file):  # else it was not moved, or its copy may be incomplete
                    rename(path, file)
            remove_folder(self._replaced)
            if was_complete and not any(map(exists, names)):
                self._mark_complete()

    @property
    def _mark(self):
        return f"{self._path}/{locations.MARK}"

    def _mark_complete(self):
        with locations.opened(self._mark, "w")[0]:
            pass

    def abort(self):
        """Remove what the tasks have written."""
        remove_folder(self._temporary)
