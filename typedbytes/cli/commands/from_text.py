"""The command from-text."""

from __future__ import annotations

from contextlib import closing

from typedbytes.cli.arguments import add_file_arguments, add_output_argument, add_text_arguments

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from typedbytes.cli.output.files import CommandOutput


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of from-text."""
    add_file_arguments(parser)
    add_output_argument(parser)
    add_text_arguments(parser)
    parser.add_argument("--infer", action="store_true", help="write columns of numbers as INT, LONG or DOUBLE; reads the inputs twice")


def run(options: Namespace, output: CommandOutput) -> int | None:
    """Write each line of text in UTF-8 as a STRING, or with --pairs as a key, a TAB and a value.

    With --csv or --tsv each row is a VECTOR, and with --header a MAP, whose keys are the first row
    of each input; with --pairs it is a key and a value. Every field is a STRING: text has no types.
    Quotes are as Python's csv module reads them; a line ends with LF or CR LF, and inside quotes a
    field may hold line ends. --max-bytes limits the length of a line.

    With --infer each column has one type, which holds all of its cells in all inputs: INT or LONG if
    they are integers, DOUBLE if they are numbers as JSON writes them, else STRING. An empty cell
    among numbers is a null. A column with a number that would not come back stays STRING: 007, +1,
    integers beyond 64 bits, or beyond 2**53 in a column with decimals, more digits than a DOUBLE has,
    -0 among integers. Lines are one column, the keys and values of --pairs two. The inputs are read
    twice; a pipe is first copied to a file in TMPDIR.

    examples:
      typedbytes from-text --pairs part-00000.txt -o pairs.tb
      typedbytes from-text --csv --header people.csv | typedbytes to-json
      typedbytes from-text --csv --infer a.csv | typedbytes convert --values --to parquet -o a.parquet
      typedbytes from-text --infer --pairs counts.tsv | typedbytes aggregate --pairs
    """
    from typedbytes.cli.forms.text_form import encoded_text  # imported lazily: --help needs no csv

    output.refuse_terminal()
    with closing(encoded_text(options)) as records:  # a failure to write them ends the reading too, and removes its copies
        for record in records:
            output.write(record)
