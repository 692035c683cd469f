"""The command from-json."""

from __future__ import annotations

from typedbytes.cli._arguments import add_file_arguments, add_output_argument
from typedbytes.cli._inputs import lines
from typedbytes.cli._json_form import encoded_lines

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from typedbytes.cli._output import CommandOutput


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of from-json."""
    add_file_arguments(parser)
    add_output_argument(parser)
    parser.add_argument("--plain", action="store_true", help="natural JSON: every object is a MAP, no object names a type")


def run(options: Namespace, output: CommandOutput) -> int | None:
    """Write the value that each line of JSON describes; the inverse of to-json.

    Blank lines are skipped. With --pairs each line is an array of a key and a value. --max-bytes
    limits the length of a line.

    examples:
      typedbytes to-json a.tb | sed s/colour/color/ | typedbytes from-json > b.tb
      echo '{"name": "x", "data": {"bytes": "AAE="}}' | typedbytes from-json | xxd
    """
    output.refuse_terminal()
    for record in encoded_lines(lines(options), options.pairs, options.dialect, options.plain):
        output.write(record)
