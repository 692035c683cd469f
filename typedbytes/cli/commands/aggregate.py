"""The command aggregate."""

from __future__ import annotations

from functools import partial

import typedbytes
from typedbytes.cli._arguments import ReportSettings
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._input.pair_detection import REFUSE
from typedbytes.cli._output.reports import Json, is_table, json_of, line, report
from typedbytes.cli._records.encoded import chunks, nparts

MAX_NDIGITS = 10_000  # of a sum of Decimals: two of them, of a few bytes each, can have one of gigabytes
LINES_AT_ONCE = 4096

TYPE_CHECKING = False

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
    from typedbytes import _report

    inputs = Inputs(settings, REFUSE)
    sums = _report.Sums(partial(_Numbers, typedbytes.Decoder(dialect=settings.dialect)), dialect=settings.dialect)
    for name in inputs:
        with inputs.reading(name) as reader:
            _add_all(reader, sums)
    rows = (_row(sums, number, settings.dialect) for number in range(len(sums)))
    if is_table(settings, output):
        report(rows, settings, output)
    else:
        for first in range(0, len(sums), LINES_AT_ONCE):
            output.write(sums.lines(first, LINES_AT_ONCE, lambda number: line(_row(sums, number, settings.dialect))))
        if output.is_terminal:
            output.flush()


def _add_all(reader, sums):
    """Add the numbers that a reader of encoded records has left to those of their keys."""
    for start, number, chunk in chunks(reader):
        try:
            sums.add(chunk, nparts(reader))
        except (TypeError, ArithmeticError) as error:
            message = f"cannot add this value up: {error}"
            raise typedbytes.FormatError(message, start + sums.offset, record=number + sums.record) from None
        except typedbytes.DecodeError as error:
            error.offset += start + sums.value_offset
            error.record = number + sums.record
            raise


def _row(sums, number, dialect):
    numbers = sums.number(number)
    if type(numbers) is tuple:
        numbers = _Numbers(None, *numbers)
    key = sums.key(number)
    named = {} if key is None else {"key": json_of(key, dialect)}
    found = {"sum": numbers.total, "min": numbers.minimum, "max": numbers.maximum, "mean": numbers.mean()}
    return {**named, "count": numbers.count, **{name: _shown(number) for name, number in found.items()}}


def _is_decimal(number):
    return type(number).__module__ == "decimal"  # not imported for this: start-up time


def _shown(number):
    """Return a number of a report: a Decimal with each of its digits, of which infinities and NaN are text."""
    if not _is_decimal(number):
        return number
    return Json(number) if number.is_finite() else str(number)


class _Numbers:
    """The count, sum, minimum and maximum of numbers, of which compiled code has added up the first."""

    def __init__(self, decoder, count, total, minimum, maximum):
        self._decoder = decoder
        self.count, self.total, self.minimum, self.maximum = count, total, minimum, maximum

    def add(self, encoded):
        """Add a number or a null. TypeError: it is neither; ArithmeticError: no exact sum, or too large for a float."""
        number = self._decoder.decode(encoded)
        if number is None:
            return
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
    from decimal import Inexact, InvalidOperation

    context = _context(MAX_NDIGITS, Inexact, InvalidOperation)
    try:
        return context.add(*numbers) if len(numbers) == 2 else context.plus(*numbers)
    except Inexact:
        raise OverflowError(f"the sum has more than {MAX_NDIGITS} digits") from None
    except InvalidOperation:
        raise ArithmeticError("infinities of both signs have no sum, and signaling NaNs have none") from None


def _context(ndigits, *traps):
    """Return a context for Decimals of this many digits, which do not exceed its exponents."""
    from decimal import MAX_EMAX, MIN_EMIN, Context

    return Context(ndigits, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=list(traps))
