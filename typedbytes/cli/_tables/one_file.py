"""A table in one file: an Arrow stream, a Parquet file, or rows of text.

Invariant: a thread of its own writes one group of batches while the next is read; nothing is written after a failure.
"""

from __future__ import annotations

import io
from contextlib import closing

from typedbytes.cli._failure import BAD_DATA, Failure, display_name
from typedbytes.cli._tables.arrow import Groups, as_data_failure, imported_pyarrow, table_writer

__all__ = ["EmptyInputs", "write_table"]


def write_table(batches, output, form, codec, shape, empty):
    """Write (name, batch)es in the schema of the first; a thread writes some while the next are read."""
    from concurrent.futures import ThreadPoolExecutor

    output.refuse_terminal()
    name, writer, sink, writing, groups = None, None, _File(output), None, Groups(form)
    with ThreadPoolExecutor(1) as pool, sink, closing(batches):
        for name, batch in batches:
            with as_data_failure(name):  # a batch may have another schema
                arranged = shape.arranged(batch)
                if writer is None:
                    first, schema = name, arranged.schema
                    writer = table_writer(sink, schema, form, codec)
                elif arranged.schema.names != schema.names:
                    raise _other_columns(name, arranged.schema, first, schema)
                for group in groups.after(arranged):
                    if writing is not None:
                        writing.result()
                    writing = pool.submit(writer.write, group)
        if writer is None:
            writer = table_writer(sink, shape.schema(empty.schema()), form, codec)
        with as_data_failure(name):
            if writing is not None:
                writing.result()
            for group in groups.rest():
                writer.write(group)
        writer.close()


def _other_columns(name, found, first, schema):
    """Return the Failure for a table with other columns than the first one."""
    columns, before = ", ".join(found.names), ", ".join(schema.names)
    message = f"the columns are {columns}, and those of {display_name(first)} {before}"
    cure = " (--schema gives all RCFiles the same columns)" if all(map(str.isdecimal, found.names)) else ""
    return Failure(BAD_DATA, f"{display_name(name)}: {message}{cure}")


class EmptyInputs:
    """What is known of the columns of inputs without records."""

    def __init__(self, inputs, types):
        self._inputs = inputs
        self._types = types  # of --type and --key-type
        self.classes = ()  # of the first SequenceFile

    def schema(self):
        """Return the schema of the table: null where nothing says what the values would be."""
        from typedbytes.cli._records.record_type import types_of_columns
        from typedbytes.columns.tables import schema_without_records

        imported_pyarrow()
        pairs = bool(self._inputs.pairs or self.classes)
        return schema_without_records({"pairs": pairs, **types_of_columns(self._types, pairs)}, self.classes).arrow


class _File(io.RawIOBase):
    """Give a CommandOutput the interface of a file that pyarrow writes to."""

    def __init__(self, output):
        self._output = output
        self._start = output.tell()
        self._has_failed = False

    def writable(self):
        return True

    def tell(self):
        return self._output.tell() - self._start

    def __exit__(self, kind, error, traceback):
        # After a failure pyarrow still writes the end of the file when it is freed.
        self._has_failed = kind is not None

    def write(self, data):
        if not self._has_failed:
            self._output.write(data)
        return memoryview(data).nbytes
