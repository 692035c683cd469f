"""The types of columns of text: INT, LONG or DOUBLE where all cells are such numbers in JSON, else STRING.

Invariant: the cells of a column become values of one type, and an empty cell among numbers a null.
"""

import re
from collections import defaultdict

import typedbytes

__all__ = ["ColumnTypes"]

_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(rf"{_INTEGER.pattern}(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_MAX_INTEGER_NCHARS = 20  # of 64 bits and a sign
_KEPT_NCHARS = 16  # a point and 15 digits: every DOUBLE keeps so many
_EXPONENT = frozenset("eE")
_INT_END, _LONG_END = 1 << 31, 1 << 63
_DOUBLE_MAX = 1 << 53  # beyond it a DOUBLE does not hold every integer


class ColumnTypes:
    """Find the types of columns by all of their records, then convert the same records.

    A record is the dict or tuple of a row, whose keys or numbers are its columns, or a single text.
    """

    def __init__(self):
        self._columns = defaultdict(_Column)
        self._conversions = None

    def add(self, record):
        """Take a record into account."""
        for name, text in _cells(record):
            self._columns[name].add(text)

    def convert(self, record):
        """Return a record with the types of its columns; raise LookupError or ValueError for one that was not added."""
        if self._conversions is None:
            self._conversions = {name: column.conversion() for name, column in self._columns.items()}
        cells = {name: self._conversions[name](text) for name, text in _cells(record)}
        if type(record) is dict:
            return cells
        return tuple(cells.values()) if type(record) is tuple else cells[0]


def _cells(record):
    """Return (column, text) of the cells of a record."""
    if type(record) is dict:
        return record.items()
    return enumerate(record if type(record) is tuple else (record,))


class _Column:
    """What the cells of a column are so far."""

    __slots__ = ("has_fractions", "has_negative_zero", "has_numbers", "is_text", "maximum", "minimum")

    def __init__(self):
        self.is_text = self.has_numbers = self.has_fractions = self.has_negative_zero = False
        self.minimum = self.maximum = 0  # of the integers

    def add(self, text):
        """Take a cell into account; an empty one fits every type."""
        if self.is_text or not text:
            return
        self.has_numbers = True
        if _INTEGER.fullmatch(text):
            number = int(text[: _MAX_INTEGER_NCHARS + 1])  # int() refuses thousands of digits
            self.minimum = min(number, self.minimum)
            self.maximum = max(number, self.maximum)
            self.has_negative_zero |= text == "-0"
        elif _NUMBER.fullmatch(text) and _is_kept_by_double(text):
            self.has_fractions = True
        else:
            self.is_text = True

    def conversion(self):
        """Return the function that makes the value of a cell."""
        if self.is_text or not self.has_numbers:
            return str
        if self.has_fractions:
            return _float_or_null if max(self.maximum, -self.minimum) <= _DOUBLE_MAX else str
        if self.has_negative_zero:
            return str
        if self._is_within(_INT_END):
            return _int_or_null
        return _long_or_null if self._is_within(_LONG_END) else str

    def _is_within(self, end):
        return -end <= self.minimum and self.maximum < end


def _is_kept_by_double(text):
    """Return whether the DOUBLE of a number has its digits, which infinity has not, and 0.0 only of zeros."""
    if len(text) <= _KEPT_NCHARS and not _EXPONENT.intersection(text):
        return True
    digits = _digits(text)
    return _digits(f"{float(text):.{max(len(digits) - 1, 0)}e}") == digits


def _digits(text):
    """Return the digits of a number without its sign, its exponent, and the zeros around them."""
    return text.lower().partition("e")[0].replace(".", "").lstrip("-0").rstrip("0")


def _int_or_null(text):
    return int(text) if text else None


def _long_or_null(text):
    return typedbytes.Long(text) if text else None


def _float_or_null(text):
    return float(text) if text else None
