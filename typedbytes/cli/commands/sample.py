"""The command sample."""

from __future__ import annotations

import math
import sys
from argparse import ArgumentTypeError
from itertools import groupby
from operator import itemgetter

from typedbytes.cli.arguments import CHECK_UNDECIDED, add_number_argument, add_picking_arguments, integer
from typedbytes.cli.input.inputs import input_names, reading
from typedbytes.cli.output.records import Records
from typedbytes.cli.records.encoded import joined

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from typedbytes.cli.output.files import CommandOutput


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of sample."""
    add_picking_arguments(parser)
    parser.set_defaults(pair_check=CHECK_UNDECIDED)
    number = parser.add_mutually_exclusive_group()
    add_number_argument(number)
    number.add_argument("-p", "--fraction", type=_fraction, metavar="P", help="copy each record with probability P instead")
    parser.add_argument("--seed", type=integer, metavar="N", help="the seed; the same seed draws the same records")


def run(options: Namespace, output: CommandOutput) -> int | None:
    """Copy random records to stdout, in the order of the input.

    With -n exactly N records, every set of N equally probable, kept in memory until all input has
    been read. With -p each record independently, written at once.

    examples:
      typedbytes sample -n 100 --pairs part-0*.tb > hundred.tb
      typedbytes sample -p 0.01 --seed 1 < big.tb > small.tb
    """
    from random import Random  # imported lazily: start-up time

    chance = Random(options.seed)
    if options.fraction is None:
        _draw_number(options, output, chance)
    else:
        _draw_fraction(options, output, chance)


def _draw_fraction(options, output, chance):
    with Records(options, output) as records:
        for name in input_names(options):
            with reading(name, options, raw=True) as reader, records.writer(reader) as writer:
                while options.fraction:
                    ahead = _records_ahead(chance, options.fraction)
                    record = next(reader, None) if reader.skip(ahead) == ahead else None
                    if record is None:
                        break
                    writer.write_raw(joined(record))


def _records_ahead(chance, probability):
    """Return the number of records before the next that is drawn, each with this probability."""
    if probability >= 1:
        return 0
    return int(min(math.log(1 - chance.random()) / math.log1p(-probability), sys.maxsize))


def _draw_number(options, output, chance):
    # Li's algorithm L: only the records that enter the reservoir are read, all others are skipped.
    kept: list = []
    probability, here, ahead = 1.0, 0, 0
    with Records(options, output) as records:
        for name in input_names(options):
            with reading(name, options, raw=True) as reader:
                while options.nrecords:
                    passed = reader.skip(ahead)
                    ahead, here = ahead - passed, here + passed
                    record = next(reader, None) if not ahead else None
                    if record is None:
                        break
                    if len(kept) == options.nrecords:
                        kept.pop(chance.randrange(len(kept)))
                    kept.append((here, reader, joined(record)))
                    here += 1
                    if len(kept) == options.nrecords:
                        probability *= math.exp(math.log(1 - chance.random()) / len(kept))
                        ahead = _records_ahead(chance, probability)
        _write_kept([each[1:] for each in kept], records)


def _write_kept(kept, records):
    """Write records of several readers, given as (reader, bytes)."""
    for reader, group in groupby(kept, key=itemgetter(0)):
        with records.writer(reader) as writer:
            for _, record in group:
                writer.write_raw(record)


def _fraction(text):
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise ArgumentTypeError(f"expected a number from 0 to 1, not {text!r}")
    return number
