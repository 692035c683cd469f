"""The command convert: every format into every other, including Arrow and Parquet, which need pyarrow."""

from __future__ import annotations

import io
import re
import sys
from contextlib import closing, contextmanager
from functools import partial

import typedbytes
from typedbytes import columns
from typedbytes._base.codec_names import TO_WRITE
from typedbytes.cli.arguments import CHECK_UNDECIDED, NOTE, add_file_arguments, add_output_argument, parse_size
from typedbytes.cli.failure import BAD_DATA, USAGE, Failure, say
from typedbytes.cli.input.formats import NAMES, limited_source_of
from typedbytes.cli.input.inputs import check_for_pairs, display_name, input_names, opened, reading, recognised
from typedbytes.cli.output.records import Records
from typedbytes.cli.records.encoded import Encoded
from typedbytes.cli.tables.arrow import as_data_failure, imported_pyarrow, notes_on_bytes, table_writer
from typedbytes.cli.tables.column_order import ColumnOrder
from typedbytes.cli.tables.inputs import READ_TABLES, batches_of_table

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from typedbytes.cli.output.files import CommandOutput

TABLES = ("arrow", "parquet")
_ROW = re.compile(r"^\[(\d+)\]")  # at the start of an error's path
CODECS = ("none", *TO_WRITE)


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of convert."""
    add_file_arguments(parser)
    parser.add_argument(
        "--from", choices=NAMES + TABLES, dest="from_", help="the format of the inputs (default: recognised by their first bytes)"
    )
    parser.add_argument("--to", choices=NAMES + TABLES, required=True, help="the format of the output")
    parser.add_argument("--codec", choices=CODECS, help="sequencefile, parquet: compression (none)")
    parser.add_argument(
        "--compression", choices=("record", "block"), default="block", help="sequencefile: compress each value, or blocks (block)"
    )
    parser.add_argument(
        "--split-size", type=parse_size, metavar="SIZE", help="arrow, parquet: the bytes of input per file of an output folder (128M)"
    )
    parser.add_argument(
        "--widen",
        action="store_true",
        help="arrow, parquet: choose column types that fit all records; reads the inputs twice (a pipe is copied to disk first)",
    )
    parser.add_argument(
        "--structs", choices=("vector", "map"), help="what rows and structs of arrow and parquet become: map keeps their names (vector)"
    )
    add_output_argument(parser)


def writes_folder(options: Namespace) -> bool:
    """Return whether -o is a folder that the command makes itself."""
    if options.to not in TABLES:
        return False
    from typedbytes.cli.tables.folder import is_folder  # imported lazily: start-up time

    return is_folder(options)


def run(options: Namespace, output: CommandOutput) -> int | None:
    """Read records in any format and write them in another.

    Arrow is a stream of record batches (its IPC format; its files are read too), Parquet a file; both
    need pyarrow, and records of one schema: a pair becomes the columns key and value. A row read
    from them becomes a VECTOR, as does a struct, or with --pairs and two columns a pair; nulls need
    --dialect hive. With --structs map a row and each struct in it become a MAP by the names of
    columns and fields, without the fields that are null. Without it the columns of further inputs are
    read in the order of the first, by their names.
    If -o ends in a slash, or has no suffix and an input is a folder, it becomes a folder with a
    file for each split of the inputs. Run the same command again to resume an interrupted conversion.
    Where types change within an input, --widen finds one type for all: LONG for INT and LONG, and
    encoded values for all else.
    From SequenceFile to SequenceFile keys and values keep their classes, and the file its metadata.

    examples:
      typedbytes convert --to sequencefile --codec zstd -o part-00000 --pairs pairs.tb
      typedbytes convert --to sequencefile --codec gzip -o smaller.seq part-00000.seq
      typedbytes convert --to parquet --pairs part-0*.tb -o words.parquet
      typedbytes convert --to json words.parquet
      typedbytes convert --to parquet --codec zstd counts -o counts-parquet
    """
    if options.codec in (None, "none") and options.to == "sequencefile":
        options.codec, options.compression = "default", "none"
    if options.structs and options.to in TABLES:
        raise Failure(USAGE, "--structs is for converting Arrow and Parquet to other formats")
    options.pair_check = CHECK_UNDECIDED if options.to in TABLES else NOTE
    if writes_folder(options):
        from typedbytes.cli.tables.folder import write_folder  # imported lazily: start-up time

        write_folder(options)
        return None
    if options.widen and options.to not in TABLES:
        raise Failure(USAGE, "--widen is for arrow and parquet")
    if options.widen:
        _check_widen(options)
    if options.split_size is not None:
        raise Failure(USAGE, "--split-size is for a folder of Arrow or Parquet files: -o FOLDER/")
    if options.to in TABLES:
        _write_tables(options, output)
        return None
    keeps_names = options.structs == "map"
    order = None if keeps_names and not options.pairs else ColumnOrder(keeps_names)
    with Records(options, output) as records:
        for name in input_names(options):
            tables = {form: partial(_table_reader, form, name, options, order) for form in READ_TABLES}
            with reading(name, options, raw=True, others=tables) as reader:
                records.copy(reader)


def _check_widen(options):
    """Raise Failure for options that inputs read twice, by their paths, do not have."""
    if options.from_ is not None:
        raise Failure(USAGE, "--from cannot be used with --widen: its inputs are recognised, SequenceFiles or typed bytes")
    if options.max_bytes is not None:
        raise Failure(USAGE, "--max-bytes cannot be used with --widen")


@contextmanager
def _table_reader(form, name, options, order, source):
    with as_data_failure(name):
        kind = typedbytes.PairReader if options.pairs else typedbytes.Reader
        batches = batches_of_table(source, form, name)
        if order:
            batches = (order.arranged(batch, name) for batch in batches)
        yield kind(Encoded(_encoded_batches(batches, options)), dialect=options.dialect, raw=True)


def _encoded_batches(batches, options):
    """Yield the rows of the batches of a table as typed bytes."""
    how = {"pairs": options.pairs, "nulls": "hive" if options.dialect == "hive" else "error", "structs": options.structs or "vector"}
    nrows = 0
    for batch in batches:
        sink = io.BytesIO()
        try:
            columns.write(sink, batch if options.pairs else {"value": _rows(batch, options)}, **how)
        except typedbytes.EncodeError as error:
            raise type(error)(error.message, _ROW.sub(lambda row: f"[{int(row[1]) + nrows}]", error.path)) from None
        yield sink.getvalue()
        nrows += batch.num_rows


def _rows(batch, options):
    """Return the rows of a batch as a column."""
    if options.structs == "map":
        return batch  # which Arrow exports as a struct of its columns
    return tuple(batch.columns) or [()] * batch.num_rows


def _write_tables(options, output):
    """Write the batches of all inputs, in the schema of the first, or with --widen in one for all."""
    output.refuse_terminal()
    writer, sink = None, _File(output)
    with sink, closing((_widened if options.widen else _as_they_come)(options)) as batches:
        for name, batch in batches:
            with as_data_failure(name):  # a batch may have another schema
                if writer is None:
                    writer = table_writer(sink, batch.schema, options)
                writer.write_batch(batch)
        if writer is None:
            raise Failure(BAD_DATA, "there are no records to take the columns from")
        writer.close()


def _as_they_come(options):
    """Yield (name, batch) of all inputs."""
    notes: set[str] = set()
    types: dict[str, str] = {}
    for name in input_names(options):
        with opened(name) as source, as_data_failure(name):
            for batch in _batches_of(source, name, options, notes, types):
                yield name, batch


def _widened(options):
    """Yield (name, batch) of all inputs, in one schema."""
    from typedbytes.cli.input.rereadable import rereadable_inputs  # imported lazily: start-up time
    from typedbytes.cli.tables.plan import batches_of, make_plan

    imported_pyarrow()
    with rereadable_inputs(options) as inputs:
        plan = make_plan(options, sys.maxsize, inputs)
        for split in plan.splits:
            for batch in batches_of(split, plan):
                yield plan.names[split.path], batch


def _batches_of(source, name, options, notes, types):
    """Yield the rows of a table, or the records of another input, as batches; notes, types: those on columns and of them so far."""
    form, source = recognised(source, options)
    if form in READ_TABLES:
        yield from batches_of_table(source, form, name)
        return
    source = check_for_pairs(source, form, name, options)
    pairs = options.pairs or form == "sequencefile"
    batches = columns.read(limited_source_of(source, form, display_name(name), options), pairs=pairs, dialect=options.dialect)
    for note in notes_on_bytes(batches.schema):
        if note not in notes:
            notes.add(note)
            say(note)
    for batch in batches:
        _check_types(batch.schema, types, name)
        yield imported_pyarrow().record_batch(batch)


def _check_types(found, types, name):
    """Raise Failure for a column of another type than before; Arrow has one for BYTES, application data and encoded values."""
    for column, kind in found.items():
        before = types.setdefault(column, kind)
        if kind != before:
            message = f"the column {column} holds {kind}, and that of the inputs before {before} (--widen finds a type for all)"
            raise Failure(BAD_DATA, f"{display_name(name)}: {message}")


class _File(io.RawIOBase):
    """Give a CommandOutput the interface of a file that pyarrow writes to."""

    def __init__(self, output):
        self._output = output
        self._nbytes = 0
        self._has_failed = False

    def writable(self):
        """Return True."""
        return True

    def tell(self):
        """Return the number of bytes written."""
        return self._nbytes

    def __exit__(self, kind, error, traceback):
        # After a failure pyarrow still writes the end of the file when it is freed.
        self._has_failed = kind is not None

    def write(self, data):
        """Write bytes; return their number."""
        if not self._has_failed:
            self._output.write(data)
        self._nbytes += memoryview(data).nbytes
        return memoryview(data).nbytes
