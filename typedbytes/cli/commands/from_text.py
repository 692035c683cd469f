"""The command from-text."""

from __future__ import annotations

from typedbytes.cli._arguments import add_file_arguments, add_output_argument, add_text_arguments

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from typedbytes.cli._output import CommandOutput


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of from-text."""
    add_file_arguments(parser)
    add_output_argument(parser)
    add_text_arguments(parser)
    parser.add_argument("--infer", action="store_true", help="write what is a number in JSON as INT, LONG or DOUBLE, not as STRING")


def run(options: Namespace, output: CommandOutput) -> int | None:
    """Write each line of text in UTF-8 as a STRING, or with --pairs as a key, a TAB and a value.

    With --csv or --tsv each row is a VECTOR, and with --header a MAP, whose keys are the first row
    of each input; with --pairs it is a key and a value. Every field is a STRING: text has no types.
    With --infer what JSON writes as a number is one, but not 007, +1 or integers beyond 64 bits.
    Quotes are as Python's csv module reads them; a line ends with LF or CR LF, and inside quotes a
    field may hold line ends. --max-bytes limits the length of a line.

    examples:
      typedbytes from-text --pairs part-00000.txt -o pairs.tb
      typedbytes from-text --csv --header people.csv | typedbytes to-json
      typedbytes from-text --infer --pairs counts.tsv | typedbytes aggregate --pairs
    """
    from typedbytes.cli._text_form import encoded_text  # imported lazily: --help needs no csv

    output.refuse_terminal()
    for record in encoded_text(options):
        output.write(record)
