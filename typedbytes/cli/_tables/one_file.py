"""A table in one file: an Arrow stream, a Parquet file, or rows of text.

Invariant: a thread of its own writes one group of batches while the next is read; nothing is written after a failure.
"""

from __future__ import annotations

import io
from contextlib import ExitStack, closing

from typedbytes.cli._failure import BAD_DATA, Failure, display_name
from typedbytes.cli._tables.arrow import as_data_failure, imported_pyarrow
from typedbytes.cli._tables.text_rows import DELIMITERS
from typedbytes.cli._tables.writers import Groups, table_writer, write_group

__all__ = ["EmptyInputs", "write_table"]


def write_table(batches, output, form, codec, shape, empty):
    """Write (name, batch)es as a table; a thread writes some while the next are read."""
    from concurrent.futures import ThreadPoolExecutor

    output.refuse_terminal()
    writer, sink, writing, groups = None, _File(output), None, Groups(form)
    with ExitStack() as stack, ThreadPoolExecutor(1) as pool, sink, closing(batches):
        for name, batch in batches:
            with as_data_failure(name):
                arranged = shape.arranged(batch)
                if writer is None:
                    first, schema = name, arranged.schema
                    writer = table_writer(sink, schema, form, codec)
                    stack.callback(writer.abandon)  # after a failure, when the sink takes nothing more
            _check_columns(name, arranged.schema, first, schema, form)
            for group in groups.after(name, arranged):
                if writing is not None:
                    writing.result()
                writing = pool.submit(write_group, writer, group)
        if writer is None:
            with as_data_failure(None):
                writer = table_writer(sink, shape.schema(empty.schema()), form, codec)
        if writing is not None:
            writing.result()
        for group in groups.rest():
            write_group(writer, group)
        writer.close()


def _check_columns(name, found, first, schema, form):
    """Raise Failure for a table with other columns than the first one, or with other types where those are written."""
    if found.names != schema.names:
        columns, before = ", ".join(found.names), ", ".join(schema.names)
        message = f"the columns are {columns}, and those of {display_name(first)} {before}"
        cure = " (--schema gives all RCFiles the same columns)" if all(map(str.isdecimal, found.names)) else ""
        raise Failure(BAD_DATA, f"{display_name(name)}: {message}{cure}")
    for field, before in zip(found, schema):
        if form not in DELIMITERS and not field.equals(before):
            message = f"the column {field.name} holds {_type(field)}, and that of {display_name(first)} {_type(before)}"
            raise Failure(BAD_DATA, f"{display_name(name)}: {message}")


def _type(field):
    return f"{field.type}{'' if field.nullable else ' not null'}"


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
