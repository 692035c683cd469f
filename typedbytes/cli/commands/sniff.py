"""The command sniff: the format of an input, by its first bytes. The number of bytes read is bounded."""

from __future__ import annotations

import io

import typedbytes
from typedbytes._compression import Decompressed
from typedbytes.cli import _input_formats
from typedbytes.cli._arguments import add_report_arguments
from typedbytes.cli._failure import Failure
from typedbytes.cli._inputs import display_name, input_names, opened, recognised
from typedbytes.cli._pair_detection import MAX_VALUES, guess_records, type_names
from typedbytes.cli._reports import report

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import Namespace

    from typedbytes.cli._output import CommandOutput

PICKLE = b"\x80\x02"  # also the start of a value of 33 MB with an application code
add_arguments = add_report_arguments


def run(options: Namespace, output: CommandOutput) -> int | None:
    """Report what each input is, by its first bytes and its first values.

    The report has the format, whether values look like pairs (the bytes do not say it), the types
    of the first values, and the header of a SequenceFile. The rest is not read, and a bad input is
    not an error.

    examples:
      typedbytes sniff out
      typedbytes sniff < unknown.bin
    """
    report((_describe(name, options) for name in input_names(options)), options, output)


def _describe(name, options):
    """Return the report on an input."""
    row = {"input": display_name(name)}
    with opened(name) as source:
        if isinstance(source, Decompressed):
            row["compressed"] = source.kind
        try:
            _describe_contents(source, name, options, row)
        except (Failure, typedbytes.DecodeError, ModuleNotFoundError, OSError) as error:
            row["fault"] = str(error)
    return row


def _describe_contents(source, name, options, row):
    """Add what the first bytes and the first values show."""
    form, source = recognised(source, options)
    head = source.read(16) if source.seekable() else b""
    if source.seekable():
        row.update(_size(source, head))
        source.seek(0)
    row["format"] = "pickle" if head.startswith(PICKLE) else form
    if row["format"] == "sequencefile":
        row.update(_header(source, options))
    elif row["format"] in _input_formats.NAMES:
        row.update(_values(source, form, name, options))


def _size(source, head):
    """Return the size of a source, if it is known: files of /proc have none, or report 0."""
    try:
        nbytes = source.seek(0, io.SEEK_END)
    except OSError:
        return {}
    return {"bytes": nbytes} if nbytes or not head else {}


def _header(source, options):
    reader = _input_formats.sequence_file_reader(source, options)
    header = {name: getattr(reader, name) for name in ("version", "compression", "codec", "key_class", "value_class")}
    return {"holds": "pairs", **header}


def _values(source, form, name, options):
    options.pairs = False  # read single values
    codes, fault = [], {}
    with _input_formats.reader_of(source, form, display_name(name), options, raw=True) as reader:
        try:
            for value, _ in zip(reader, range(MAX_VALUES)):
                codes.append(value[0])
        except (Failure, typedbytes.DecodeError) as error:
            fault["fault"] = str(error)
    return {"holds": guess_records(codes), "types": type_names(codes), **fault}
