"""The command slice."""

from __future__ import annotations

import sys

from typedbytes.cli._arguments import RecordSettings, integer, option
from typedbytes.cli._failure import USAGE, Failure
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._input.pair_detection import REFUSE
from typedbytes.cli._output.records import Records
from typedbytes.cli._query.ranges import copy_from_end, copy_range

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(RecordSettings):
    """The options of slice."""

    range: str = option(
        "-r",
        "--range",
        default=":",
        metavar="START:STOP:STEP",
        help="as in Python, counted over all inputs (:, which is all records)",
    )


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Copy the records of a range to stdout, byte for byte.

    START:STOP:STEP is as in Python, with a positive STEP: records are counted from 0 over all inputs,
    and negative numbers from the end. Records before the range are skipped; what follows it is not
    read, unless a number is negative: then all input is, and as many records are kept in memory.

    examples:
      typedbytes slice -r 1000:1010 --pairs part-00000.tb | typedbytes to-json --pairs
      typedbytes slice -r ::100 --values words-*.tb > hundredth.tb
      typedbytes slice -r -3: --values words.tb > last-three.tb
    """
    start, stop, step = _range(settings.range)
    inputs = Inputs(settings, REFUSE)
    with Records(settings, output) as records:
        if start < 0 or stop < 0:
            copy_from_end(inputs, records, slice(start, stop, step))
        else:
            copy_range(inputs, records, range(start, stop, step))


def _range(text):
    """Return START, STOP and STEP."""
    parts = text.split(":")
    if len(parts) not in (2, 3) or not all(_is_number(part) for part in parts if part):
        raise Failure(USAGE, f"argument -r: expected START:STOP or START:STOP:STEP, not {text!r}")
    start, stop, step = (_number(part, default) for part, default in zip([*parts, ""], (0, sys.maxsize, 1)))
    if step < 1:
        raise Failure(USAGE, "argument -r: expected a step of at least 1")
    return start, stop, step


def _is_number(text):
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit()


def _number(text, default):
    return (-integer(text[1:]) if text.startswith("-") else integer(text)) if text else default
