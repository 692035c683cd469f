"""The command from-json."""

from __future__ import annotations

from functools import partial

from typedbytes.cli.arguments import add_file_arguments, add_output_argument
from typedbytes.cli.forms.json_form import encoded_lines
from typedbytes.cli.input.formats import JSON_PIECE_NBYTES
from typedbytes.cli.input.inputs import lines

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from typedbytes.cli.output.files import CommandOutput


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of from-json."""
    add_file_arguments(parser)
    add_output_argument(parser)
    parser.add_argument("--plain", action="store_true", help="natural JSON: every object is a MAP, no object names a type")


def run(options: Namespace, output: CommandOutput) -> int | None:
    """Write the values that lines of JSON describe; the inverse of to-json.

    A value may take several lines, as to-json --pretty writes it, and a line may hold several
    values. Blank lines are skipped. With --pairs each value is an array of a key and a value.
    --max-bytes limits the length of a line and of a value. With --plain the last of equal names in
    an object counts.

    examples:
      typedbytes to-json a.tb | sed s/colour/color/ | typedbytes from-json > b.tb
      echo '{"name": "x", "data": {"bytes": "AAE="}}' | typedbytes from-json | xxd
    """
    output.refuse_terminal()
    how = {"pairs": options.pairs, "dialect": options.dialect, "plain": options.plain, "max_bytes": options.max_bytes}
    for record in lines(options, partial(encoded_lines, **how), JSON_PIECE_NBYTES):
        output.write(record)
