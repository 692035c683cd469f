"""Records become batches: the types of the columns, the rows of the next batch, and the complete batches.

Here: what a BatchReader and its threads share. Not here: sources, errors, threads; the decoding itself is compiled.
"""

import sys

from typedbytes.columns import _native
from typedbytes.columns._batch import Batch

__all__ = ["Assembly"]


class Assembly:
    """Assemble batches.

    names: of the values of a record. types: of those, None: inferred from the next record. visible: the names of the
    columns wanted, and paths: where they are in a record, None: all values. batch_rows, batch_nbytes: where a batch
    ends. policy: what to do with a value of another type than its column. structure: the dialect and the depth.
    convert, text: for typed columns, and for STRINGs that are not UTF-8, see Builder.
    """

    def __init__(
        self, names, types, visible, paths, batch_rows, batch_nbytes, policy, structure, convert=None, text=None
    ):
        self.names = names
        self.visible = visible
        self.paths = paths
        self.batch_rows = self._max_rows = batch_rows  # _max: of the current batch
        self.batch_nbytes = self._max_nbytes = batch_nbytes
        self.policy = policy
        self.structure = structure
        self.convert = convert
        self.text = text
        self.is_new = types is None  # the types are inferred from the next record
        self.builder = self.new_builder(types)  # has the rows after those of `ready`
        self.ready = []  # complete batches, in order

    def new_builder(self, types):
        """Return an empty builder of these types."""
        options = {"convert": self.convert, "text": self.text, **self.structure}
        return _native.Builder(types, len(self.names), self.paths, self.policy, **options)

    def append(self, view, start):
        """Append the records from `start` on; return the number of bytes and of records used."""
        if self.builder.state == "split" and not self.builder.nrows:
            self.forget_types()
        used = self._append(view, start)
        while self.policy == "split" and self.is_new and self.builder.state == "mismatch" and self._make_column_raw():
            used = self._append(view, start)
        self.is_new = self.is_new and not used[0]
        return used

    def _append(self, view, start):
        return self.builder.append_records(view, self._max_rows, self._max_nbytes, start)

    def finish(self, nrows):
        """Return a batch of the first rows."""
        self._max_rows, self._max_nbytes = self.batch_rows, self.batch_nbytes
        return self.builder.finish(Batch, self.visible, nrows)

    def enlarge_batch(self):
        """Let the full batch take more records, because its last group continues."""
        self._max_rows = 2 * max(self.builder.nrows, self._max_rows)
        self._max_nbytes = min(2 * self._max_nbytes, sys.maxsize)

    def forget_types(self):
        """Infer the types from the next record."""
        self.builder.forget_types()
        self.is_new = True

    def empty_batch(self):
        """Return a batch without rows."""
        types = self.builder.described
        if types:
            return self.new_builder(types).finish(Batch, self.visible)
        types = (("unknown",),) * len(self.visible)  # a path into one would find nothing
        return _native.Builder(types, len(types), None, self.policy, **self.structure).finish(Batch, self.visible)

    def _make_column_raw(self):
        """Make a column raw whose first value does not fit the type inferred from it, with items of several types.

        Return False if only parts of that column were selected.
        """
        types = list(self.builder.described)
        types[self.builder.column] = ("raw",)
        try:
            self.builder = self.new_builder(tuple(types))
        except LookupError:
            return False
        return True
