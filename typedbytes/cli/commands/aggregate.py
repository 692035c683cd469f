"""The command aggregate."""

from __future__ import annotations

from collections import defaultdict

import typedbytes
from typedbytes.cli._arguments import ReportSettings
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._input.pair_detection import REFUSE
from typedbytes.cli._output.reports import Json, json_of, report
from typedbytes.cli._records.encoded import is_pairs

MAX_NDIGITS = 10_000  # of a sum of Decimals: two of them, of a few bytes each, can have one of gigabytes

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(ReportSettings):
    """The options of aggregate."""


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Report the count, sum, minimum, maximum and mean of the values of each key, which are numbers.

    Keys are compared by their bytes, are reported in the order in which they come, and are kept in
    memory. Values without keys make one row. Decimals are added up exactly, to a sum of at most 10000
    digits, but not together with floats; their mean has 28 digits. Nulls are left out; any other
    value that is not a number is an error.

    examples:
      typedbytes aggregate --pairs part-0*.tb
      typedbytes cut -f "value['size']" --values logs.tb | typedbytes aggregate
    """
    inputs = Inputs(settings, REFUSE)
    groups: dict[bytes | None, _Numbers] = defaultdict(_Numbers)
    for name in inputs:
        with inputs.reading(name) as reader:
            _add_all(reader, groups, settings.dialect)
    report((_row(*each, settings.dialect) for each in groups.items()), settings, output)


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


def _row(key, numbers, dialect):
    named = {} if key is None else {"key": json_of(key, dialect)}
    found = {"sum": numbers.total, "min": numbers.minimum, "max": numbers.maximum, "mean": numbers.mean()}
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
        """Add a number. TypeError: it is not one; ArithmeticError: no exact sum, or too large for a float."""
        if type(number) not in (int, float) and not _is_decimal(number):
            raise TypeError(f"expected a number, not an object of type {type(number).__name__}")
        if _is_decimal(number) or _is_decimal(self.total):
            self.total = _exact_sum(self.total, number) if self.count else _exact_sum(number)
        else:
            self.total += number
            float(self.total)  # the mean is one
        self.count += 1
        if number == number:  # NaN has no order
            self.minimum = number if self.minimum is None else min(self.minimum, number)
            self.maximum = number if self.maximum is None else max(self.maximum, number)

    def mean(self):
        """Return the mean, or None if there are no numbers."""
        if not self.count:
            return None
        return _context(28).divide(self.total, self.count) if _is_decimal(self.total) else self.total / self.count


def _exact_sum(*numbers):
    """Return the sum of one or two Decimals or ints; ArithmeticError beyond MAX_NDIGITS, TypeError for a float."""
    from decimal import Inexact, InvalidOperation  # imported lazily: start-up time

    context = _context(MAX_NDIGITS, Inexact, InvalidOperation)
    try:
        return context.add(*numbers) if len(numbers) == 2 else context.plus(*numbers)
    except Inexact:
        raise OverflowError(f"the sum has more than {MAX_NDIGITS} digits") from None
    except InvalidOperation:
        raise ArithmeticError("infinities of both signs have no sum, and signaling NaNs have none") from None


def _context(ndigits, *traps):
    """Return a context for Decimals of this many digits, which do not exceed its exponents."""
    from decimal import MAX_EMAX, MIN_EMIN, Context  # imported lazily: start-up time

    return Context(ndigits, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=list(traps))
