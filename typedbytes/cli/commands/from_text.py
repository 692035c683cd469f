"""The command from-text."""

from __future__ import annotations

from contextlib import closing

from typedbytes._base.compression import compression_of_text
from typedbytes.cli._arguments import FileSettings, TextSettings, switch
from typedbytes.cli._failure import display_name
from typedbytes.cli._input.inputs import Inputs, opened

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


KEPT_NBYTES = 64 << 20  # of converted records, whose text is not read a second time


class Settings(TextSettings, FileSettings):
    """The options of from-text."""

    infer: bool = switch("--infer", help="write columns of numbers as INT, LONG or DOUBLE; may read the inputs twice")


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Write each line of text in UTF-8 as a STRING, or with --pairs as a key, a TAB and a value.

    With --csv or --tsv each row is a VECTOR, and with --header a MAP, whose keys are the first row
    of each input; with --pairs it is a key and a value. Every field is a STRING: text has no types.
    Quotes are as Python's csv module reads them; a line ends with LF or CR LF, and inside quotes a
    field may hold line ends. An empty line is a row with an empty field after rows of one field, and
    none elsewhere. --max-bytes limits the length of a line.

    With --infer each column has one type, which holds all of its cells in all inputs: INT or LONG if
    they are integers, DOUBLE if they are numbers as JSON writes them, else STRING. An empty cell
    among numbers is a null. A column with a number that would not come back stays STRING: 007, +1,
    integers beyond 64 bits, or beyond 2**53 in a column with decimals, more digits than a DOUBLE has,
    -0 among integers. Lines are one column, the keys and values of --pairs two. More than 64 MiB are
    read twice; a pipe is first copied to a file in TMPDIR.

    examples:
      typedbytes from-text --pairs part-00000.txt -o pairs.tb
      typedbytes from-text --csv --header people.csv | typedbytes to-json
      typedbytes from-text --csv --infer a.csv | typedbytes convert --values --to parquet -o a.parquet
      typedbytes from-text --infer --pairs counts.tsv | typedbytes aggregate --pairs
    """
    from typedbytes.cli._forms.text_form import Layout

    output.refuse_terminal()
    layout = Layout(settings.pairs, settings.delimiter, settings.header, settings.separator)
    layout.refuse_separator_of_no_text()
    inputs = Inputs(settings)
    records = _typed_records(inputs, layout, settings) if settings.infer else _text_records(inputs, layout)
    with closing(records):  # a failure to write them ends the reading too, and removes its copies
        for encoded in records:
            output.write(encoded)


def _text_records(inputs, layout):
    """Yield the encoded records of all inputs, of text."""
    for name in inputs:
        yield from _records_of(name, None, inputs.max_bytes, layout)


def _typed_records(inputs, layout, settings):
    """Yield the records of all inputs, with types that hold the whole of each column; many take a second reading."""
    from typedbytes import _report
    from typedbytes.cli._forms.text_form import failure_at
    from typedbytes.cli._input.rereadable import rereadable_inputs

    types = _report.ColumnTypes(pairs=settings.pairs, dialect=settings.dialect)
    kept: list[bytes] = []
    nbytes, nchanges, has_all = 0, 0, True
    with rereadable_inputs(inputs) as rereadables:
        for name, path in rereadables:
            for encoded in _records_of(name, path, inputs.max_bytes, layout):
                converted = types.add(encoded)
                nbytes += len(converted)
                has_all = has_all and nbytes <= KEPT_NBYTES and (not kept or types.nchanges == nchanges)
                nchanges = types.nchanges
                if has_all:
                    kept.append(converted)
                else:
                    kept.clear()
        yield from kept
        for name, path in () if has_all else rereadables:
            lines: list[int] = []
            for encoded in _records_of(name, path, inputs.max_bytes, layout, lines):
                converted, unknown = types.convert(encoded)
                yield converted
                if unknown >= 0:
                    message = "the input has changed since the types of its columns were found"
                    raise failure_at(display_name(name), lines[unknown], message)
                lines.clear()


def _records_of(name, path, max_bytes, layout, lines=None):
    """Yield encoded records of an input, several at a time; lines gets the number of the last line of each."""
    from typedbytes.cli._forms.text_form import records_of

    with opened(name, path) as source:
        compression_of_text(name)  # raises FormatError for one that cannot be read
        yield from records_of(source, display_name(name), layout, max_bytes, lines)
