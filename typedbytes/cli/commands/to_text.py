"""The command to-text."""

from __future__ import annotations

from typedbytes.cli.arguments import NOTE, add_output_argument, add_stream_arguments, add_text_arguments
from typedbytes.cli.commands import cat

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from typedbytes.cli.output.files import CommandOutput


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of to-text."""
    add_stream_arguments(parser)
    add_output_argument(parser)
    add_text_arguments(parser)
    parser.set_defaults(pair_check=NOTE)


def run(options: Namespace, output: CommandOutput) -> int | None:
    """Write each value as a line of text, and each pair as its key, a TAB and its value.

    STRING and BYTES are written as they are, everything else as to-json --plain writes it: containers
    as JSON, NaN as null. Types are lost: the STRING 5 and the INT 5 are the same line. With --csv or
    --tsv the items of a VECTOR or LIST are the fields of a row, in quotes where Python's csv module
    needs them; null is an empty field, and so is NaN. With --header each value is a MAP with the keys
    of the first one.

    What does not fit on a line is an error, and the records before it are written: a line end, or
    the separator in a key, without --csv or --tsv; a MAP with other keys.

    examples:
      typedbytes to-text --pairs out | sort | head
      typedbytes to-text --csv --header people.tb -o people.csv
    """
    options.to = "text"
    return cat.run(options, output)
