"""What a conversion to a table reads: splits of SequenceFiles and RCFiles, files of typed bytes, a schema for all.

Not here: what is written. Invariant: a value that does not fit the schema is a Failure that names the file.
"""

from __future__ import annotations

from collections import namedtuple
from contextlib import contextmanager, suppress

from typedbytes import columns
from typedbytes._base import locations
from typedbytes.cli._failure import BAD_DATA, IO_ERROR, NO_INPUT, USAGE, Failure, display_name, reason_of, say_message
from typedbytes.cli._input import progress
from typedbytes.cli._input.formats import EMPTY
from typedbytes.cli._input.inputs import opened
from typedbytes.cli._records.record_type import types_of_columns
from typedbytes.cli._tables.arrow import TO_TYPED_BYTES, name_table_option, notes_on_bytes, repair_advice
from typedbytes.columns import tables
from typedbytes.errors import DecodeError

__all__ = ["batches_of", "bytes_done", "make_plan"]

# The splits, their Schema, how columns are read, and for the path of each input its name in messages.
TablePlan = namedtuple("TablePlan", "splits schema structure names")


def make_plan(inputs, rereadables, split_size, widen, types):
    """Return the TablePlan of a conversion of Inputs, given as a list of Rereadables too.

    The columns have the types that --type and --key-type name, if there are any; with `widen` those that hold all
    records, else those of the first of each input. Those of RCFiles have the schema of --schema.
    """
    kinds = {_kind(source, inputs, widen) for source in rereadables} - {EMPTY}
    if "rcfile" in kinds:
        structure = _structure_of_rows(kinds, inputs, types)
    else:
        if len(kinds) > 1 and not inputs.pairs:
            raise Failure(
                USAGE, "the inputs are SequenceFiles and typed bytes: pass --pairs to read the typed bytes as pairs too"
            )
        pairs = inputs.pairs or "sequencefile" in kinds
        structure = {"pairs": pairs, "dialect": inputs.dialect, **inputs.text, **types_of_columns(types, pairs)}
    names = {source.path: display_name(source.name) for source in rereadables}
    files = [source.path for source in rereadables]
    with _as_usage_failure(), _as_input_failure(names):
        splits = columns.splits(files, split_size)
        schema = tables.infer_schema(files, structure, of_all_files=True, of_all_records=widen)
    if schema is None:
        schema = tables.schema_without_records(structure, _classes_of(files))
    for note in notes_on_bytes(schema.types):
        say_message(note)
    return TablePlan(splits, schema, structure, names)


def _structure_of_rows(kinds, inputs, types):
    """Return how the columns of RCFiles are read; raise Failure for other inputs among them."""
    if len(kinds) > 1:
        raise Failure(USAGE, "RCFiles and other inputs cannot be written to one table")
    if types:
        raise Failure(USAGE, "--type is not for RCFiles: --schema names and types their columns")
    return inputs.rcfile


def _classes_of(files):
    """Return the classes of the first SequenceFile."""
    from typedbytes import sequencefile

    for file in files:
        with suppress(DecodeError), sequencefile.Reader(file, raw=True) as reader:
            return reader.key_class, reader.value_class
    return ()


def _kind(rereadable, inputs, widen):
    """Return the format of an input; raise Failure for one that is not read by splits, or seems to hold pairs."""
    name = rereadable.name
    with opened(*rereadable) as source:
        kind, source = inputs.recognised(source, name)
        if kind not in ("sequencefile", "typedbytes", "rcfile", EMPTY):
            what = "--widen works only with" if widen else "a folder can be written only from"
            command = TO_TYPED_BYTES.get(kind)
            other = "leave out --widen" if widen else "give -o a file"
            other += f", or make typed bytes by {command}" if command else ""
            advice = inputs.part_files_advice(name) or other
            raise Failure(
                USAGE,
                f"{display_name(name)}: {what} SequenceFiles, RCFiles and typed bytes, and this is {kind}: {advice}",
            )
        source = inputs.check_for_pairs(source, kind, name)
        if kind == "sequencefile":
            with suppress(DecodeError):  # reading the records raises it
                inputs.source_of(source, kind, name)  # raises for classes that are not known
    return kind


def batches_of(split, plan):
    """Yield the record batches of a split, in the schema of the plan."""
    with _as_input_failure(plan.names, split.path):
        yield from tables.batches_of(split, plan.schema, plan.structure)


def bytes_done(splits):
    """Return a function to call with each split when it has been converted, which the command shows."""
    show = progress.reporter()
    if show is None:
        return lambda split: None
    sizes = [split.length or locations.size(split.path) or 0 for split in splits]
    total, done = sum(sizes), [0]
    nbytes_of = dict(zip(splits, sizes))

    def add(split):
        done.append(nbytes_of[split])
        show("conversion", sum(done), total)

    show("conversion", 0, total)
    return add


@contextmanager
def _as_usage_failure():
    """Turn what the columns of RCFiles cannot be into Failure."""
    try:
        yield
    except (LookupError, ValueError) as error:
        raise Failure(USAGE, str(error.args[0])) from None


@contextmanager
def _as_input_failure(names, path=None):
    """Turn errors of reading into Failure; those in the data name their file. names: of the inputs, by path."""
    try:
        yield
    except (DecodeError, tables.SchemaError) as error:
        path = error.filename
        error.filename = names.get(path, path)
        advice = ""
        if isinstance(error, DecodeError):
            name_table_option(error)
            is_copy = error.filename != display_name(path or "")  # of an input that cannot be read twice
            advice = "" if is_copy else repair_advice(error, path)
        raise Failure(BAD_DATA, f"{error}{advice}") from None
    except FileNotFoundError as error:
        path = error.filename or path
        raise Failure(NO_INPUT, f"{names.get(path, path)}: {reason_of(error)}") from None
    except OSError as error:
        path = path or error.filename
        raise Failure(IO_ERROR, f"{names.get(path, path)}: {reason_of(error)}") from None
