"""The command sniff: the format of an input, by its first bytes. The number of bytes read is bounded."""

from __future__ import annotations

import io

import typedbytes
from typedbytes import TypeCode
from typedbytes._base.chunks import Contents
from typedbytes._base.codec_names import CLASSES
from typedbytes._base.magic import BYTE_ORDER_MARKS
from typedbytes._base.secrets import without_secrets
from typedbytes.cli._arguments import ReportSettings
from typedbytes.cli._failure import Failure, display_name, escaped
from typedbytes.cli._input import formats
from typedbytes.cli._input.inputs import Inputs, opened
from typedbytes.cli._input.pair_detection import MAX_VALUES, UNDECIDED, guess_records, type_names
from typedbytes.cli._output.reports import is_table, report

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput

MAX_NBYTES = 1 << 26  # of the input, or of what it is decompressed to
MIN_VALUES = 2  # before a fault: of a thousand random bytes one in fifty starts with one, one in a thousand with two
TEXT_NBYTES = 1 << 12
BINARY = frozenset((0, *range(0x0E, 0x1B), *range(0x1C, 0x20)))  # in no text, not even in Hive's, and not in colours
#: The columns of a table, the most important first: a terminal cuts the rest. Faults are lines below it.
SHOWN = (
    "input", "format", "key_class", "value_class", "compression", "compressed", "columns", "holds", "types", "bytes",
    "version", "metadata",
)  # fmt: skip
PICKLE = b"\x80\x02"  # also the start of a value of 33 MB with an application code


class Settings(ReportSettings):
    """The options of sniff."""


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Report what each input is, by its first bytes and its first values.

    The report has the format, whether values look like pairs (the bytes do not say it), the types
    of the first values, and the header of a SequenceFile or an RCFile. Up to 1,000 values are
    looked at, in up to 64 MiB; the rest is not read, and a bad input is not an error. What is not
    a known format, and does not start with two values at least, is "unknown"; an input without
    bytes, which fits every format, is "empty". A table has the columns that some input fills, with
    short names of Hadoop's classes.

    examples:
      typedbytes sniff out
      typedbytes sniff < unknown.bin
    """
    inputs = Inputs(settings, notes_classes=True)
    described = (_describe(name, inputs) for name in inputs)
    if not is_table(settings, output):
        report(described, settings, output)
        return None
    rows = list(described)
    shown = [_shown(row) for row in rows]
    names = [name for name in SHOWN if any(row.get(name) not in (None, "", {}) for row in shown)]
    report([{name: row.get(name) for name in names} for row in shown], settings, output)
    for row in rows:
        if "fault" in row:
            name, fault = row["input"], without_secrets(row["fault"])
            output.line(escaped(fault if fault.startswith(f"{name}: ") else f"{name}: {fault}"))
    return None


def _shown(row):
    """Return the row of a table: with the short names of Hadoop's classes, and the codec beside the compression."""
    shown = {name: _short(value) if name.endswith("_class") else value for name, value in row.items()}
    if row.get("codec"):
        codec = next((name for name, kind in CLASSES.items() if kind == row["codec"]), row["codec"])
        shown["compression"] = f"{row['compression']}, {codec}"
    return shown


def _short(name):
    return name.rpartition(".")[2] if name.startswith("org.apache.hadoop.") else name


def _describe(name, inputs):
    """Return the report on an input."""
    row = {"input": display_name(name)}
    with opened(name) as source:
        if isinstance(source, Contents):
            row["compressed"] = source.kind
        try:
            _describe_contents(source, name, inputs, row)
        except (Failure, typedbytes.DecodeError, ModuleNotFoundError, OSError) as error:
            row["fault"] = str(error)
    return row


def _describe_contents(source, name, inputs, row):
    """Add what the first bytes and the first values show."""
    form, source = inputs.recognised(source)
    head = source.read(16) if source.seekable() else b""
    if source.seekable():
        row.update(_size(source, head))
        source.seek(0)
    row["format"] = "pickle" if head.startswith(PICKLE) else form
    if row["format"] == "sequencefile":
        _add_header(source, inputs, row)
    elif form == "rcfile":
        row.update(_header_of_rcfile(source, inputs))
    elif form == "text" and not _is_all_text(source):
        row["format"] = "unknown"
    elif row["format"] in formats.NAMES:
        shown, nvalues = _values(source, form, name, inputs, row.get("bytes"))
        if form == "typedbytes" and inputs.format is None and "fault" in shown and nvalues < MIN_VALUES:
            shown = {"format": "unknown", "fault": shown["fault"]}
        row.update(shown)


def _is_all_text(source):
    """Return whether the first bytes are those of text, in UTF-16 too; the very first may be so by chance."""
    head = piece = source.read(TEXT_NBYTES)
    while piece and len(head) < TEXT_NBYTES:
        piece = source.read(TEXT_NBYTES - len(head))
        head += piece
    return head.startswith(tuple(BYTE_ORDER_MARKS)) or BINARY.isdisjoint(head)


def _size(source, head):
    """Return the size of a source, if it is known: files of /proc have none, or report 0."""
    try:
        nbytes = source.seek(0, io.SEEK_END)
    except OSError:
        return {}
    return {"bytes": nbytes} if nbytes or not head else {}


def _add_header(source, inputs, row):
    from typedbytes.sequencefile._files import check_readable, header_of

    header = header_of(source)
    inputs.note_classes(header)
    row["holds"] = "pairs"
    row.update(
        {name: getattr(header, name) for name in ("version", "compression", "codec", "key_class", "value_class")}
    )
    if header.metadata:
        row["metadata"] = header.metadata
    check_readable(header)  # the header is shown where a library is missing


def _header_of_rcfile(source, inputs):
    from typedbytes.sequencefile.rcfile import RCFile

    file = RCFile(source, max_bytes=inputs.max_bytes)
    header = {name: getattr(file, name) for name in ("version", "compression", "codec")}
    return {"holds": "rows", **header, "columns": file.ncolumns, "metadata": file.metadata}


def _values(source, form, name, inputs, size):
    """Return what the first values show, and how many are whole and right."""
    opening = formats.Opening(display_name(name), False, inputs.dialect, inputs.max_bytes)
    start = _FirstBytes(formats.source_of(source, form, opening))
    heads: list = []
    offset, fault = 0, None

    def look(view):
        heads.append(bytes(view[:5]))
        return 0, 0  # bytes and records used

    with typedbytes.Reader(start, dialect=inputs.dialect, max_bytes=inputs.max_bytes) as reader:
        try:
            while len(heads) < MAX_VALUES and reader.__use_encoded__(look, 5):
                offset = reader.offset
                reader.skip()
        except (Failure, typedbytes.DecodeError) as error:
            fault = error
        nvalues = reader.record
    if start.is_cut and type(fault) is typedbytes.TruncatedError:
        fault = _beyond(heads[-1], offset, size)
    codes = [head[0] for head in (heads[:nvalues] if fault else heads)]
    holds = guess_records(codes[: len(codes) // 2 * 2] if start.is_cut else codes)
    if start.is_cut and len(codes) <= 2:
        holds = UNDECIDED
    return {"holds": holds, "types": type_names(codes), **({"fault": str(fault)} if fault else {})}, nvalues


def _beyond(head, offset, size):
    """Return what is wrong with a value that was read in part: a length beyond the input; None if nothing is."""
    if size is None or not (head[0] in (TypeCode.BYTES, TypeCode.STRING) or 50 <= head[0] <= 200):
        return None
    nbytes = int.from_bytes(head[1:], "big")
    message = f"a length of {nbytes} goes beyond the end of the input"
    return typedbytes.TruncatedError(message, offset) if offset + len(head) + nbytes > size else None


class _FirstBytes(io.RawIOBase):
    """Read the first bytes of a source, MAX_NBYTES of them; `is_cut` once it ended there."""

    def __init__(self, source):
        self._source = source
        self._left = MAX_NBYTES
        self.is_cut = False

    def readable(self):
        return True

    def readinto(self, target):
        self.is_cut = self._left == 0
        nbytes = 0 if self.is_cut else self._source.readinto(memoryview(target)[: self._left])
        self._left -= nbytes
        return nbytes
