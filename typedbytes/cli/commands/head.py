"""The command head."""

from __future__ import annotations

from typedbytes.cli.arguments import add_number_argument, add_picking_arguments
from typedbytes.cli.query.ranges import copy_range

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from typedbytes.cli.output.files import CommandOutput


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of head."""
    add_picking_arguments(parser)
    add_number_argument(parser)


def run(options: Namespace, output: CommandOutput) -> int | None:
    """Copy the first records to stdout, byte for byte.

    The rest of the input is not read.

    examples:
      typedbytes head -n 3 --pairs part-00000.tb | typedbytes to-json --pairs
      typedbytes head --pairs < pairs.tb > ten.tb
    """
    copy_range(options, output, range(options.nrecords))
