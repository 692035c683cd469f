"""The record batches of inputs in turn, for a table in one file.

Here: inputs as they come, and in one schema that holds all of them. Not here: splits of files, which have a plan.
Invariant: an error in the data names its input, and its offset in that.
"""

from __future__ import annotations

import os
import sys

from typedbytes import columns
from typedbytes.cli._failure import BAD_DATA, Failure, display_name, say_message
from typedbytes.cli._input.formats import sequence_file_reader
from typedbytes.cli._input.inputs import opened
from typedbytes.cli._input.rereadable import rereadable_inputs
from typedbytes.cli._records.record_type import types_of_columns
from typedbytes.cli._tables.advice import repair_advised, widen_advice
from typedbytes.cli._tables.arrow import as_data_failure, imported_pyarrow, notes_on_bytes
from typedbytes.cli._tables.inputs import READ_TABLES, batches_of_table
from typedbytes.cli._tables.plan import batches_of, bytes_done, make_plan
from typedbytes.columns._threads import BlocksAhead
from typedbytes.errors import with_hint

__all__ = ["as_they_come", "widened"]


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
