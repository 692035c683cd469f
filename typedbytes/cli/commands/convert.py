"""The command convert: every format into every other, including Arrow and Parquet, which need pyarrow."""

from __future__ import annotations

import argparse
import io
import os
import re
from contextlib import contextmanager
from functools import partial

import typedbytes
from typedbytes import columns
from typedbytes._base.codec_names import WRITABLE_CODECS
from typedbytes._base.locations import is_pattern, is_url
from typedbytes.cli._arguments import (
    CLASSES,
    KEY_CLASS,
    KEY_TYPE,
    OUTPUT,
    SERDE,
    TYPE,
    VALUE_CLASS,
    FileSettings,
    RecordForm,
    option,
    size,
    switch,
)
from typedbytes.cli._failure import USAGE, Failure, nearest
from typedbytes.cli._input.formats import INPUTS, NAMES, PAIRS_OF_ROWS
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._input.pair_detection import CHECK_UNDECIDED, NOTE
from typedbytes.cli._output.records import Records, refuse_compressed
from typedbytes.cli._records.encoded import Encoded
from typedbytes.cli._tables.arrow import Shape, as_data_failure, repair_advised
from typedbytes.cli._tables.column_order import ColumnOrder
from typedbytes.cli._tables.inputs import READ_TABLES, batches_of_table
from typedbytes.cli._tables.text_rows import DELIMITERS
from typedbytes.columns import type_strings
from typedbytes.errors import with_hint

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typedbytes.cli._output.files import CommandOutput

TABLES = ("arrow", "parquet", *DELIMITERS)
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
#: Formats by the ends of the names of outputs.
SUFFIXES = {
    ".parquet": "parquet", ".arrow": "arrow", ".arrows": "arrow", ".csv": "csv", ".tsv": "tsv", ".json": "json",
    ".jsonl": "json", ".ndjson": "json", ".seq": "sequencefile", ".sequencefile": "sequencefile", ".tb": "typedbytes",
    ".typedbytes": "typedbytes",
}  # fmt: skip
_ROW = re.compile(r"^\[(\d+)\]")  # at the start of an error's path
CODECS = ("none", *WRITABLE_CODECS)


def _encoding(name):
    """Return the name of an encoding that an option gives."""
    try:
        columns.read(b"", encoding=name)
    except LookupError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return name


class Settings(FileSettings, RecordForm):
    """The options of convert."""

    from_: str | None = option(
        "--from",
        choices=INPUTS + TABLES,
        metavar="FORMAT",
        help="the format of the inputs: rcfile, or one of --to (default: recognised by their first bytes)",
    )
    to: str = option(
        "--to", choices=NAMES + TABLES, help="the format of the output (default: by the suffix of OUT, as .parquet)"
    )
    codec: str | None = option("--codec", choices=CODECS, help="sequencefile, parquet: compression (none)")
    compression: str | None = option(
        "--compression",
        choices=("record", "block"),
        help="sequencefile: compress each value, or blocks (block)",
    )
    key_class: str | None = KEY_CLASS
    value_class: str | None = VALUE_CLASS
    columns: str | None = option(
        "--columns", metavar="NAMES", help="arrow, parquet, csv: the columns to write, as key,value.price (all)"
    )
    flatten: bool = switch(
        "--flatten", help="arrow, parquet, csv: fields of MAPs and items of VECTORs as columns of their own"
    )
    natural: bool = switch(
        "--plain", help="natural JSON, which has no types: what is written, or, if that is not JSON, what is read"
    )
    split_size: int | None = option(
        "--split-size",
        type=size,
        metavar="SIZE",
        help="arrow, parquet, csv: the bytes of input per file of an output folder (at most 128M)",
    )
    widen: bool = switch(
        "--widen",
        help=(
            "arrow, parquet, csv: choose column types that fit all records; "
            "reads the inputs twice (a pipe is copied to disk first)"
        ),
    )
    structs: str | None = option(
        "--structs",
        choices=("vector", "map"),
        help="what rows and structs of arrow and parquet become: map keeps their names (vector)",
    )
    classes: str | None = CLASSES
    schema: str | None = option(
        "--schema", metavar="COLUMNS", help='RCFile: the columns, as "id: long, name: string" (text, by number)'
    )
    serde: str | None = SERDE
    encoding: str | None = option(
        "--encoding",
        type=_encoding,
        metavar="NAME",
        help="arrow, parquet, csv: the encoding of the text that is read, as latin-1 (utf-8)",
    )
    type: str | None = TYPE
    key_type: str | None = KEY_TYPE
    output: str | None = OUTPUT

    @property
    def column_names(self) -> list[str] | None:
        """The names that --columns gives."""
        return self.columns.split(",") if self.columns else None

    @property
    def plain(self) -> bool:  # type: ignore[override]
        """Whether natural JSON is written."""
        return self.natural and self.target == "json"

    @property
    def target(self) -> str:
        """The format of the output: that of --to, or of the suffix of -o."""
        return self.to or _format_of_name(self.output)

    def output_file(self) -> str | None:
        """Return the path of the output, None if that is a folder."""
        _check_output(self)
        if self.target not in TABLES:
            if self.output is not None and self.output.endswith("/"):
                known = ", ".join(TABLES)
                raise Failure(USAGE, f"-o {self.output}: {self.target} is one file; a folder is for {known}")
            return self.output
        from typedbytes.cli._tables.folder import is_folder

        return None if is_folder(self.output, self.files) else self.output


def _check_output(settings):
    """Raise Failure if -o is missing before the name of the output."""
    *inputs, last = settings.files or [""]
    is_named = settings.output is None and inputs and os.path.splitext(last)[1] in SUFFIXES
    if is_named and not (is_url(last) or is_pattern(last) or os.path.exists(last)):
        raise Failure(USAGE, f"{last} is an input that does not exist: -o {last} names the output")


def _format_of_name(name):
    """Return the format that the name of the output says; raise Failure if it says none."""
    stem, suffix = os.path.splitext(os.path.basename(name or ""))
    if suffix in COMPRESSED:
        suffix = os.path.splitext(stem)[1]
    if suffix not in SUFFIXES:
        known = ", ".join(sorted(SUFFIXES))
        near = nearest(suffix, SUFFIXES) if suffix else ""
        if near:
            raise Failure(USAGE, f"no format has the suffix {suffix}{near}")
        raise Failure(USAGE, f"the format of the output is unknown: give --to FORMAT, or end OUT in {known}")
    return SUFFIXES[suffix]


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Read records in any format and write them in another: that of --to, or of the suffix of OUT.

    Arrow is a stream of record batches (its IPC format; its files are read too), Parquet a file; both
    need pyarrow, as CSV and TSV do, and records of one schema: a pair becomes the columns key and
    value. A row read from them becomes a VECTOR, as does a struct, or with --pairs and two columns a
    pair; nulls need --dialect hive. With --structs map a row and each struct in it become a MAP by
    the names of columns and fields, without the fields that are null. Without it the columns of
    further inputs are read in the order of the first, by their names.
    Of arrow, parquet, csv and tsv, if -o ends in a slash, or has no suffix and an input is a folder,
    it becomes a folder with a file for each split of the inputs. Run the same command again to
    resume an interrupted conversion.
    --type gives the columns of arrow and parquet the types of a record class: dates, timestamps and
    Decimals as such.
    Where types change within an input, --widen finds one type for all: LONG for INT and LONG, and
    encoded values for all else. With --type the class has them, and nothing is read twice.
    From SequenceFile to SequenceFile keys and values keep their classes, and the file its metadata.
    --key-class and --value-class choose other classes, for readers in Java: of other inputs they are
    TypedBytesWritable.

    CSV and TSV have a header with the names of the columns. An input is read so if its name ends in
    .csv or .tsv, or .csv.gz and so on, or by --from. Numbers and dates are recognised by pyarrow's
    rules, 01234 as 1234; from-text --csv --header --infer keeps such texts. --flatten makes columns
    of the fields of MAPs, as value.price, and --columns chooses some. Without records the table is
    empty.
    An RCFile is a table too, whose columns --schema names and types; a folder of RCFiles becomes one
    of tables. --encoding reads text that is not UTF-8, as that of Python 2 may be; a table has it in
    UTF-8.

    examples:
      typedbytes convert out -o words.parquet
      typedbytes convert --flatten --columns key,value.price sales -o sales.csv
      typedbytes convert --pairs words.csv -o words.seq --key-class Text --value-class LongWritable
      typedbytes convert --to sequencefile --codec zstd -o part-00000 --pairs pairs.tb
      typedbytes convert --to sequencefile --codec gzip -o smaller.seq part-00000.seq
      typedbytes convert --to sequencefile --key-class Text --value-class IntWritable -o c.seq c.csv
      typedbytes convert --to parquet --pairs part-0*.tb -o words.parquet
      typedbytes convert --to json words.parquet
      typedbytes convert --to parquet --type visits:Visit visits.tb -o visits.parquet
      typedbytes convert --schema "id: long, name: string" --columns name 000000_0 -o names.parquet
      typedbytes convert --to parquet --codec zstd counts -o counts-parquet
    """
    is_table = settings.target in TABLES
    if settings.structs and is_table:
        raise Failure(USAGE, "--structs is for converting Arrow and Parquet to other formats")
    if (settings.key_class or settings.value_class) and settings.target != "sequencefile":
        raise Failure(USAGE, f"--key-class and --value-class are for a SequenceFile, not for {settings.target}")
    types = _types(settings)
    if (settings.columns or settings.flatten) and not is_table:
        raise Failure(USAGE, f"--columns and --flatten are for {', '.join(TABLES)}, not for {settings.target}")
    _check_compression(settings)
    shape = Shape(settings.column_names, settings.flatten)
    check, notes = CHECK_UNDECIDED if is_table else NOTE, settings.target != "sequencefile"
    inputs = Inputs(
        settings,
        check,
        DELIMITERS,
        _rcfile_options(settings),
        notes,
        settings.natural and not settings.plain,
        notes_partitions=True,
        only_for=_formats_of_options(settings, is_table),
    )
    if settings.output and not settings.output_file():
        from typedbytes.cli._tables.folder import write_folder

        folder, size = settings.output, settings.split_size
        write_folder(folder, inputs, settings.target, settings.codec, size, settings.widen, shape, types)
        return None
    if settings.widen:
        _check_widen(is_table, inputs)
    if settings.split_size is not None:
        raise Failure(USAGE, "--split-size is for a folder of tables: -o FOLDER/")
    if settings.target == "parquet":
        refuse_compressed("a Parquet file", output)
    if is_table:
        from typedbytes.cli._tables.one_file import EmptyInputs, as_they_come, widened, write_table

        empty = EmptyInputs(inputs, types)
        is_read_twice = settings.widen and not types  # given types fit all records
        batches = widened(inputs) if is_read_twice else as_they_come(inputs, types, empty)
        write_table(batches, output, settings.target, settings.codec, shape, empty)
        return None
    classes = {"key_class": settings.key_class, "value_class": settings.value_class}
    if settings.target != "sequencefile":
        options = {}
    elif settings.codec in (None, "none"):
        options = {"codec": "default", "compression": "none", **classes}
    else:
        options = {"codec": settings.codec, "compression": settings.compression or "block", **classes}
    keeps_names = settings.structs == "map"
    order = None if keeps_names and not settings.pairs else ColumnOrder(keeps_names)
    with Records(settings, output, **options) as records:
        for name in inputs:
            tables = {form: partial(_table_reader, form, name, inputs, keeps_names, order) for form in READ_TABLES}
            advised = repair_advised(name, inputs.max_bytes is not None, settings.target)
            with inputs.reading(name, others=tables) as reader, advised:
                records.copy(reader)


def _rcfile_options(settings):
    """Return what columns.read is to know of RCFiles, of which only the columns that are written are read."""
    schema, names = None, settings.column_names
    if settings.schema is not None:
        try:
            schema = type_strings.row_types(settings.schema)
        except ValueError as error:
            raise Failure(USAGE, f"--schema: {error}") from None
    if names:
        names = map(str.strip, names)
        names = list(dict.fromkeys(name if schema and name in schema else name.partition(".")[0] for name in names))
    return {"schema": schema, "serde": settings.serde or "text", "columns": names or None, **settings.text_options}


def _check_compression(settings):
    """Raise Failure for a compression that the output does not have."""
    is_none = settings.codec in (None, "none")
    if settings.target not in ("sequencefile", "parquet") and not is_none:
        raise Failure(USAGE, f"--codec is for sequencefile and parquet, not for {settings.target}{_by_name(settings)}")
    if settings.compression and settings.target != "sequencefile":
        raise Failure(USAGE, f"--compression is for sequencefile, not for {settings.target}")
    if settings.compression and is_none:
        raise Failure(USAGE, "--compression needs a --codec, such as gzip")


def _by_name(settings):
    """Return what a message says of the compression that the name of an output gives; nothing of a folder's."""
    if settings.output in (None, "-"):
        return ": -o OUT.gz is compressed by its name"
    if not settings.output_file():
        return ""
    is_compressed = settings.output.endswith(COMPRESSED)
    return f": -o {settings.output}{'' if is_compressed else '.gz'} is compressed by its name"


def _formats_of_options(settings, is_table):
    """Return by options that are given the formats of inputs to which they apply; raise Failure for an --encoding."""
    found: dict[str, Sequence[str]] = {}
    if settings.schema is not None or settings.serde:
        found["--schema and --serde are"] = ("rcfile",)
    if settings.structs:
        found["--structs is"] = READ_TABLES
    if settings.encoding:
        if not is_table:
            raise Failure(USAGE, f"--encoding is for {', '.join(TABLES)}, not for {settings.target}")
        if settings.type is not None or settings.key_type is not None:
            raise Failure(USAGE, "--encoding cannot be used with --type, which says what values are")
        found["--encoding is"] = ("typedbytes", "sequencefile", "rcfile")
    return found


def _check_widen(is_table, inputs):
    """Raise Failure for what inputs that are read twice, by their paths, do not have."""
    if not is_table:
        raise Failure(USAGE, f"--widen is for {', '.join(TABLES)}")
    if inputs.format is not None:
        raise Failure(
            USAGE,
            "--from cannot be used with --widen: its inputs are recognised, SequenceFiles, RCFiles or typed bytes",
        )
    if inputs.max_bytes is not None:
        raise Failure(USAGE, "--max-bytes cannot be used with --widen")


@contextmanager
def _table_reader(form, name, inputs, keeps_names, order, source):
    with as_data_failure(name, is_table=False):
        kind = typedbytes.PairReader if inputs.pairs else typedbytes.Reader
        batches = batches_of_table(source, form, name, inputs.rcfile)
        if order:
            batches = (order.arranged(batch, name) for batch in batches)
        encoded = _encoded_batches(batches, inputs.pairs, inputs.dialect == "hive", keeps_names)
        yield kind(Encoded(encoded), dialect=inputs.dialect, raw=True)


def _encoded_batches(batches, pairs, is_hive, keeps_names):
    """Yield the rows of the batches of a table as typed bytes."""
    options = {"pairs": pairs, "nulls": "hive" if is_hive else "error", "structs": "map" if keeps_names else "vector"}
    nrows = 0
    for batch in batches:
        sink = io.BytesIO()
        try:
            columns.write(sink, batch if pairs else {"value": _rows(batch, keeps_names)}, **options)
        except typedbytes.EncodeError as error:
            if pairs and batch.num_columns > 2:
                with_hint(error, f" ({PAIRS_OF_ROWS})")
            error.path = _ROW.sub(lambda row: f"[{int(row[1]) + nrows}]", error.path)
            raise
        yield sink.getvalue()
        nrows += batch.num_rows


def _rows(batch, keeps_names):
    """Return the rows of a batch as a column."""
    if keeps_names:
        return batch  # Arrow exports a batch as a struct of its columns
    return tuple(batch.columns) or [()] * batch.num_rows


def _types(settings):
    """Return the types of columns that --type and --key-type name."""
    if settings.type is None and settings.key_type is None:
        return {}
    if settings.target not in (*TABLES, "json"):
        raise Failure(USAGE, f"--type is for arrow, parquet and json, not for {settings.target}")
    if settings.target not in TABLES:
        return {}
    from typedbytes.cli._records.record_type import types_of

    return types_of(settings.type, settings.key_type)
