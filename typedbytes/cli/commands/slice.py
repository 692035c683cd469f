"""The command slice."""

from __future__ import annotations

import sys

from typedbytes.cli._arguments import add_picking_arguments, natural
from typedbytes.cli._failure import USAGE, Failure
from typedbytes.cli._record_range import copy_range

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from typedbytes.cli._output import CommandOutput


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of slice."""
    add_picking_arguments(parser)
    parser.add_argument("-r", "--range", default=":", metavar="START:STOP:STEP", help="as in Python, counted over all inputs")


def run(options: Namespace, output: CommandOutput) -> int | None:
    """Copy the records of a range to stdout, byte for byte.

    START:STOP:STEP is as in Python, but no number may be negative: records are counted from 0
    over all inputs. Records before the range are skipped; what follows it is not read.

    examples:
      typedbytes slice -r 1000:1010 --pairs part-00000.tb | typedbytes to-json --pairs
      typedbytes slice -r ::100 --values words-*.tb > hundredth.tb
    """
    copy_range(options, output, _range(options.range))


def _range(text):
    parts = text.split(":")
    if len(parts) not in (2, 3) or not all(part == "" or part.isascii() and part.isdigit() for part in parts):
        raise Failure(USAGE, f"argument -r: expected START:STOP or START:STOP:STEP, not {text!r}")
    start, stop, step = (natural(part) if part else None for part in [*parts, ""][:3])
    if step == 0:
        raise Failure(USAGE, "argument -r: expected a step of at least 1")
    return range(start or 0, sys.maxsize if stop is None else stop, step or 1)
