"""The command aggregate."""

from __future__ import annotations

from collections import defaultdict

import typedbytes
from typedbytes.cli._arguments import REFUSE, add_report_arguments
from typedbytes.cli._encoded_records import is_pairs
from typedbytes.cli._failure import USAGE, Failure
from typedbytes.cli._inputs import input_names, reading
from typedbytes.cli._reports import Json, json_of, report

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from typedbytes.cli._output import CommandOutput


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of aggregate."""
    add_report_arguments(parser)
    parser.set_defaults(pair_check=REFUSE)


def run(options: Namespace, output: CommandOutput) -> int | None:
    """Report the count, sum, minimum, maximum and mean of the values of each key, which are numbers.

    Keys are compared by their bytes, are reported in the order in which they come, and are kept in
    memory. Values without keys make one row. Decimals are added up exactly, but not
    together with floats. Nulls are left out; any other value that is not a number is an error.

    examples:
      typedbytes aggregate --pairs part-0*.tb
      typedbytes cut -f "value['size']" --values logs.tb | typedbytes aggregate
    """
    groups: dict[bytes | None, _Numbers] = defaultdict(_Numbers)
    kinds = set()
    for name in input_names(options):
        with reading(name, options, raw=True) as reader:
            kinds.add(is_pairs(reader))
            if len(kinds) > 1:
                raise Failure(USAGE, "some inputs hold pairs and some values: --pairs reads all as pairs")
            _add_all(reader, groups, options.dialect)
    report((_row(*each, options) for each in groups.items()), options, output)


def _add_all(reader, groups, dialect):
    """Add the numbers that a reader of encoded records has left to those of their keys."""
    decoder = typedbytes.Decoder(dialect=dialect)
    pairs, start = is_pairs(reader), 0
    for index, record in enumerate(reader):
        key, value = record if pairs else (None, record)
        try:
            number = decoder.decode(value)
            if number is None:
                groups[key]  # is reported, with a count of 0 if it has nothing else
            else:
                groups[key].add(number)
        except (TypeError, ArithmeticError) as error:
            raise typedbytes.FormatError(f"cannot add this value up: {error}", start, record=index) from None
        except typedbytes.DecodeError as error:
            error.offset += reader.offset - len(value)
            error.record = index
            raise
        start = reader.offset


def _row(key, numbers, options):
    named = {} if key is None else {"key": json_of(key, options)}
    mean = numbers.total / numbers.count if numbers.count else None
    found = {"sum": numbers.total, "min": numbers.minimum, "max": numbers.maximum, "mean": mean}
    return {**named, "count": numbers.count, **{name: _shown(number) for name, number in found.items()}}


def _is_decimal(number):
    return type(number).__module__ == "decimal"  # which is not imported for this: start-up time


def _shown(number):
    """Return a number of a report: a Decimal with each of its digits, of which infinities and NaN are text."""
    if not _is_decimal(number):
        return number
    return Json(number) if number.is_finite() else str(number)


class _Numbers:
    """The count, sum, minimum and maximum of numbers."""

    def __init__(self):
        self.count = self.total = 0
        self.minimum = self.maximum = None

    def add(self, number):
        """Add one; raise TypeError if it is not a number, and OverflowError if a float cannot hold the sum."""
        if type(number) not in (int, float) and not _is_decimal(number):
            raise TypeError(f"expected a number, not an object of type {type(number).__name__}")
        self.total += number
        float(self.total)  # the mean is one
        self.count += 1
        if number == number:  # NaN has no order
            self.minimum = number if self.minimum is None else min(self.minimum, number)
            self.maximum = number if self.maximum is None else max(self.maximum, number)
