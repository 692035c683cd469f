"""Commands that copy encoded records: cat, head, tail, slice and sample.

No value is made of a record, but its structure is checked. Always true: records come out in the order they came in, byte for
byte.
"""

import math
import sys
from argparse import ArgumentTypeError
from collections import deque
from itertools import groupby
from operator import itemgetter

import typedbytes
from typedbytes import _core
from typedbytes.cli._failure import USAGE, Failure
from typedbytes.cli._parser import add_picking_arguments, add_record_arguments, natural
from typedbytes.cli._record_output import Records, joined
from typedbytes.cli._inputs import is_pairs, names, reading

cat_arguments = add_record_arguments


def cat(options, output):
    """Copy the records of all inputs to stdout, byte for byte.

    Only whole records are copied. At damage the records before it are written, the message
    tells the place, and the exit code is 65. Of a SequenceFile the pairs come as typed bytes.

    examples:
      typedbytes cat part-0*.tb > all.tb
      typedbytes cat out -o all.tb
      typedbytes cat --pairs part-00000.tb | typedbytes count --pairs
    """
    with Records(options, output) as records:
        for name in names(options):
            with reading(name, options, raw=True) as reader:
                records.copy(reader)


def head_arguments(parser):
    """Declare the arguments of head."""
    add_picking_arguments(parser)
    _add_number(parser, "how many records (10)")


def head(options, output):
    """Copy the first records to stdout, byte for byte.

    What comes after them is not looked at.

    examples:
      typedbytes head -n 3 --pairs part-00000.tb | typedbytes to-json --pairs
      typedbytes head --pairs < pairs.tb > ten.tb
    """
    _copy_range(options, output, range(options.nrecords))


def slice_arguments(parser):
    """Declare the arguments of slice."""
    add_picking_arguments(parser)
    parser.add_argument("-r", "--range", default=":", metavar="START:STOP:STEP", help="as in Python, counted over all inputs")


def slice(options, output):
    """Copy the records of a range to stdout, byte for byte.

    START:STOP:STEP is as in Python, but no number may be negative: records are counted from 0
    over all inputs. What is not in the range is walked over; what comes after it is not looked at.

    examples:
      typedbytes slice -r 1000:1010 --pairs part-00000.tb | typedbytes to-json --pairs
      typedbytes slice -r ::100 --values words-*.tb > hundredth.tb
    """
    _copy_range(options, output, _range(options.range))


def _range(text):
    parts = text.split(":")
    if len(parts) not in (2, 3) or not all(part == "" or part.isascii() and part.isdigit() for part in parts):
        raise Failure(USAGE, f"argument -r: expected START:STOP or START:STOP:STEP, not {text!r}")
    start, stop, step = (natural(part) if part else None for part in [*parts, ""][:3])
    if step == 0:
        raise Failure(USAGE, "argument -r: a step is at least 1")
    return range(start or 0, sys.maxsize if stop is None else stop, step or 1)


def _copy_range(options, output, wanted):
    """Copy the records whose numbers are in a range."""
    here, due = 0, wanted.start
    with Records(options, output) as records:
        for name in names(options):
            if due >= wanted.stop:
                return
            with reading(name, options, raw=True) as reader, records.writer(reader) as writer:
                while due < wanted.stop:
                    here += reader.skip(due - here)
                    record = next(reader, None) if here == due else None
                    if record is None:
                        break  # go on in the next input
                    writer.write_raw(joined(record))
                    here, due = due + 1, due + wanted.step


def tail_arguments(parser):
    """Declare the arguments of tail."""
    add_picking_arguments(parser)
    _add_number(parser, "how many records (10)")


def tail(options, output):
    """Copy the last records to stdout, byte for byte.

    There is no way to read typed bytes from behind: all input is walked over, and what may still
    be wanted is kept in memory.

    examples:
      typedbytes tail -n 3 --pairs part-00000.tb | typedbytes to-json --pairs
    """
    last = _Last(options)
    with Records(options, output) as records:
        for name in names(options):
            with reading(name, options, raw=True) as reader:
                last.take(reader)
        for reader, chunk in last.chunks():
            with records.writer(reader) as writer:
                writer.write_raw(chunk)


class _Last:
    """Keep the last records of all that are taken, in chunks as they come."""

    def __init__(self, options):
        self._wanted = options.nrecords
        self._dialect = options.dialect
        self._kept = deque()  # (reader, chunk, number of its values)
        self._surplus = -self._wanted  # records kept beyond those wanted

    def take(self, reader):
        """Take all records that a reader has left."""
        self._reader = reader
        self._nparts = 2 if is_pairs(reader) else 1
        with typedbytes.Writer(self) as writer:
            writer.copy(reader)

    def write(self, chunk):
        """Take a chunk of whole records."""
        nrecords = typedbytes.count(chunk, dialect=self._dialect) // self._nparts
        self._kept.append((self._reader, bytes(chunk), nrecords))
        self._surplus += nrecords
        while self._kept and self._kept[0][2] <= self._surplus:
            self._surplus -= self._kept.popleft()[2]

    def chunks(self):
        """Yield (reader, bytes of whole records); the first chunk begins with the first record wanted."""
        for reader, chunk, _ in self._kept:
            if self._surplus > 0:
                nvalues = self._surplus * (2 if is_pairs(reader) else 1)
                chunk = chunk[_core.advance(chunk, 0, nvalues, dialect=self._dialect) :]
                self._surplus = 0
            yield reader, chunk


def sample_arguments(parser):
    """Declare the arguments of sample."""
    add_picking_arguments(parser)
    _add_number(parser, "how many records (10)")
    parser.add_argument("-p", "--fraction", type=_fraction, metavar="P", help="each record with the probability P instead")
    parser.add_argument("--seed", type=natural, metavar="N", help="draw the same records again")


def sample(options, output):
    """Copy records that are drawn at random to stdout, in the order they come in.

    With -n exactly so many, all sets of them equally probable, kept in memory until all input was
    walked over. With -p each record for itself, written at once.

    examples:
      typedbytes sample -n 100 --pairs part-0*.tb > hundred.tb
      typedbytes sample -p 0.01 --seed 1 < big.tb > small.tb
    """
    from random import Random  # its users only

    chance = Random(options.seed)
    if options.fraction is None:
        _draw_number(options, output, chance)
    else:
        _draw_fraction(options, output, chance)


def _draw_fraction(options, output, chance):
    with Records(options, output) as records:
        for name in names(options):
            with reading(name, options, raw=True) as reader, records.writer(reader) as writer:
                while options.fraction:
                    ahead = _records_ahead(chance, options.fraction)
                    record = next(reader, None) if reader.skip(ahead) == ahead else None
                    if record is None:
                        break
                    writer.write_raw(joined(record))


def _records_ahead(chance, probability):
    """Return how many records are passed over before one that is drawn with this probability comes."""
    if probability >= 1:
        return 0
    return int(min(math.log(1 - chance.random()) / math.log1p(-probability), sys.maxsize))


def _draw_number(options, output, chance):
    # Li's algorithm L: only the records that enter the reservoir are looked at, all others are walked over.
    kept, probability, here, ahead = [], 1.0, 0, 0
    with Records(options, output) as records:
        for name in names(options):
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


def _add_number(parser, text):
    parser.add_argument("-n", type=natural, default=10, metavar="N", dest="nrecords", help=text)


def _fraction(text):
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise ArgumentTypeError(f"expected a number from 0 to 1, not {text!r}")
    return number
