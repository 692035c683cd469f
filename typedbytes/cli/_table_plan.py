"""What a conversion to a table reads: the splits of SequenceFiles and files of typed bytes, and one schema for all of them.

Not here: what is written. Invariant: a value that does not fit the schema is a Failure that names the file.
"""

from __future__ import annotations

from collections import namedtuple
from contextlib import contextmanager

from typedbytes import columns
from typedbytes.cli._failure import BAD_DATA, IO_ERROR, NO_INPUT, USAGE, Failure, reason_of, say
from typedbytes.cli._inputs import check_for_pairs, input_names, opened, recognised
from typedbytes.cli._tables import notes_on_bytes
from typedbytes.columns import _tables
from typedbytes.errors import DecodeError

__all__ = ["batches_of", "make_plan"]

# The splits, their Schema, and how columns are read.
TablePlan = namedtuple("TablePlan", "splits schema structure")


def make_plan(options, split_size):
    """Return the TablePlan of a conversion. With --widen the types are those that hold all records, else those of the first of each input."""
    files = input_names(options)
    kinds = [_kind(name, options) for name in files]
    if len({*kinds}) > 1 and not options.pairs:
        raise Failure(USAGE, "the inputs are SequenceFiles and typed bytes: pass --pairs to read the typed bytes as pairs too")
    structure = {"pairs": bool(options.pairs or "sequencefile" in kinds), "dialect": options.dialect}
    with _as_input_failure():
        splits = columns.splits(files, split_size)
        schema = _tables.infer_schema(files, structure, of_all_files=True, of_all_records=options.widen)
    if schema is None:
        raise Failure(BAD_DATA, "there are no records to take the columns from")
    for note in notes_on_bytes(schema.types):
        say(note)
    return TablePlan(splits, schema, structure)


def _kind(name, options):
    """Return the format of an input; raise Failure for one that is not read by splits, or seems to hold pairs."""
    if name == "-":
        raise Failure(USAGE, f"standard input can be read only once: {_advice(options)}")
    with opened(name) as source:
        kind, source = recognised(source, options)
        if kind not in ("sequencefile", "typedbytes"):
            what = "--widen works only with" if options.widen else "a folder can be written only from"
            raise Failure(USAGE, f"{name}: {what} SequenceFiles and typed bytes, and this is {kind}: {_advice(options)}")
        check_for_pairs(source, kind, name, options)
    return kind


def _advice(options):
    return "leave out --widen" if options.widen else "give -o a file"


def batches_of(split, plan):
    """Yield the record batches of a split, in the schema of the plan."""
    with _as_input_failure(split.path):
        yield from _tables.batches_of(split, plan.schema, plan.structure)


@contextmanager
def _as_input_failure(path=None):
    """Turn errors of reading into Failure; those in the data name their file."""
    try:
        yield
    except (DecodeError, _tables.SchemaError) as error:
        raise Failure(BAD_DATA, str(error)) from None
    except FileNotFoundError as error:
        raise Failure(NO_INPUT, f"{error.filename or path}: {reason_of(error)}") from None
    except OSError as error:
        raise Failure(IO_ERROR, f"{path or error.filename}: {reason_of(error)}") from None
