"""A table in one file: an Arrow stream, a Parquet file, or rows of text.

Here: the batches of inputs as they come, or in one schema that holds all, and their writing. Not here: splits of files.
Invariant: a thread of its own writes one group of batches while the next is read; nothing is written after a failure.
"""

from __future__ import annotations

import io
import os
import sys
from contextlib import ExitStack, closing

from typedbytes import columns
from typedbytes.cli._failure import BAD_DATA, Failure, display_name, say_message
from typedbytes.cli._input.formats import sequence_file_reader
from typedbytes.cli._input.inputs import opened
from typedbytes.cli._input.rereadable import rereadable_inputs
from typedbytes.cli._records.record_type import types_of_columns
from typedbytes.cli._tables.arrow import (
    as_data_failure,
    imported_pyarrow,
    notes_on_bytes,
    repair_advised,
    widen_advice,
)
from typedbytes.cli._tables.inputs import READ_TABLES, batches_of_table
from typedbytes.cli._tables.plan import batches_of, bytes_done, make_plan
from typedbytes.cli._tables.text_rows import DELIMITERS
from typedbytes.cli._tables.writers import Groups, table_writer, write_group
from typedbytes.columns._threads import BlocksAhead
from typedbytes.columns.tables import schema_without_records
from typedbytes.errors import with_hint

__all__ = ["EmptyInputs", "as_they_come", "widened", "write_table"]


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
        imported_pyarrow()
        pairs = bool(self._inputs.pairs or self.classes)
        return schema_without_records({"pairs": pairs, **types_of_columns(self._types, pairs)}, self.classes).arrow


def as_they_come(inputs, columns_of_types, empty):
    """Yield (name, batch) of all inputs."""
    notes: set[str] = set()
    types: dict[str, str] = {}
    for name in inputs:
        advised = repair_advised(name, inputs.max_bytes is not None)
        with opened(name) as source, advised, as_data_failure(name):
            for batch in _batches_of(source, name, inputs, notes, types, columns_of_types, empty):
                yield name, batch


def widened(inputs):
    """Yield (name, batch) of all inputs, in one schema."""
    imported_pyarrow()
    with rereadable_inputs(inputs) as rereadables:
        plan = make_plan(inputs, rereadables, sys.maxsize, widen=True, types={})
        done = bytes_done(plan.splits)
        for split in plan.splits:
            for batch in batches_of(split, plan):
                yield plan.names[split.path], batch
            done(split)


def _batches_of(source, name, inputs, notes, types, columns_of_types, empty):
    """Yield the rows of a table, or the records of another input, as batches.

    notes, types: those on columns and of them so far. columns_of_types: those that --type and --key-type name.
    """
    form, source = inputs.recognised(source, name)
    if form in READ_TABLES:
        yield from batches_of_table(source, form, name, inputs.rcfile)
        return
    if form == "sequencefile":  # as such: errors have their offsets in the file
        source = sequence_file_reader(source, inputs.dialect, inputs.max_bytes, raw=True)
        inputs.note_classes(source)
        empty.classes = empty.classes or (source.key_class, source.value_class)
        BlocksAhead(os.cpu_count() or 1).start(source)
    else:
        source = inputs.source_of(inputs.check_for_pairs(source, form, name), form, name)
    pairs = inputs.pairs or form == "sequencefile"
    options = {"pairs": pairs, **inputs.text, **types_of_columns(columns_of_types, pairs)}
    try:
        batches = columns.read(source, dialect=inputs.dialect, **options)
        for note in notes_on_bytes(batches.schema):
            if note not in notes:
                notes.add(note)
                say_message(note)
        for batch in batches:
            _check_types(batch.schema, types, name, form)
            yield imported_pyarrow().record_batch(batch)
    except columns.MismatchError as error:
        with_hint(error, widen_advice(form))
        raise


def _check_types(found, types, name, form):
    """Raise Failure for a column of another type than before, where Arrow has one type for several of ours."""
    for column, kind in found.items():
        before = types.setdefault(column, kind)
        if kind != before:
            message = f"the column {column} holds {kind}, and that of the inputs before {before}{widen_advice(form)}"
            raise Failure(BAD_DATA, f"{display_name(name)}: {message}")


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
