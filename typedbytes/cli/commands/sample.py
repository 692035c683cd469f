"""The command sample."""

from __future__ import annotations

import math
import sys
from argparse import ArgumentTypeError
from itertools import groupby
from operator import itemgetter

from typedbytes.cli._arguments import RecordSettings, integer, number_option, option
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._input.pair_detection import CHECK_UNDECIDED
from typedbytes.cli._output.records import Records
from typedbytes.cli._records.encoded import CHUNK_NBYTES, joined, nparts

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


def _fraction(text):
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise ArgumentTypeError(f"expected a number from 0 to 1, not {text!r}")
    return number


class Settings(RecordSettings):
    """The options of sample."""

    nrecords: int = number_option("number")
    fraction: float | None = option(
        "-p", "--fraction", type=_fraction, metavar="P", group="number",
        help="copy each record with probability P instead",
    )  # fmt: skip
    seed: int | None = option(
        "--seed", type=integer, metavar="N", help="the seed; the same seed draws the same records"
    )


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Copy random records to stdout, in the order of the input.

    With -n exactly N records, every set of N equally probable, kept in memory until all input has
    been read. With -p each record independently, written at once.

    examples:
      typedbytes sample -n 100 --pairs part-0*.tb > hundred.tb
      typedbytes sample -p 0.01 --seed 1 < big.tb > small.tb
    """
    from random import Random

    inputs, chance = Inputs(settings, CHECK_UNDECIDED), Random(settings.seed)
    with Records(settings, output) as records:
        if settings.fraction is None:
            _draw_number(inputs, records, settings.nrecords, chance)
        else:
            _draw_fraction(inputs, records, settings.fraction, chance)


def _draw_fraction(inputs, records, fraction, chance):
    for name in inputs:
        with inputs.reading(name) as reader, records.writer(reader) as writer:
            while fraction:
                ahead = _records_ahead(chance, fraction)
                record = next(reader, None) if reader.skip(ahead) == ahead else None
                if record is None:
                    break
                writer.write_raw(joined(record))


def _records_ahead(chance, probability):
    """Return the number of records before the next that is drawn, each with this probability."""
    if probability >= 1:
        return 0
    return int(min(math.log(1 - chance.random()) / math.log1p(-probability), sys.maxsize))


def _draw_number(inputs, records, nrecords, chance):
    from typedbytes import _report

    reservoir = _report.Reservoir(nrecords, chance.getrandbits(64), dialect=inputs.dialect)
    for name in inputs:
        with inputs.reading(name) as reader:
            records.meet(reader)
            while nrecords:
                reservoir.ahead -= reader.skip(reservoir.ahead)
                chunk = b"" if reservoir.ahead else reader.__read_records__(CHUNK_NBYTES)
                if not chunk:
                    break
                reservoir.take(chunk, nparts(reader), reader)
    for reader, pieces in groupby(reservoir.pieces(), key=itemgetter(0)):
        with records.writer(reader) as writer:
            for _, piece in pieces:
                writer.write_raw(piece)
