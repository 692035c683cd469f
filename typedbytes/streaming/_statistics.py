"""Number, mean, deviation, least and greatest of values, and what a combiner sends of them.

A variance is a small difference of large sums where values are close to one another. So the sums are exact: integers,
for each denominator that the values have. A result that is beyond all floats is infinite; a combiner sends such a sum
as an int. Here: numbers. Not here: keys, and how values arrive.
"""

import math

CLOSE = 2**20  # if the sum of squares exceeds this many times the squared deviations, it is too coarse after rounding


def statistics(values):
    """Return number, mean, standard deviation of a sample, least and greatest.

    values: numbers, or what combined_statistics made of some.
    """
    n, total, squares, least, greatest, exact = _sums(values)
    mean = _divided(total, n)
    if exact is None:
        deviations = squares - total * mean
    else:
        (top, bottom), _ = exact
        mean = _divided(top, bottom * n) if isinstance(total, float) else mean
        deviations = _divided(*_squared_deviations(n, *exact))
    return n, mean, math.sqrt(max(deviations / (n - 1), 0)) if n > 1 else 0, least, greatest


def combined_statistics(values):
    """Return a list of tuples (number, sum, sum of squares, least, greatest).

    The first holds the totals; the others have number 0 and hold what rounding removed.
    """
    n, total, squares, least, greatest, exact = _sums(values)
    if exact is None or not isinstance(total, float):
        return [(n, total, squares, least, greatest)]
    rounded = [_rounded(*fraction) for fraction in exact]
    combined = [(n, *rounded, least, greatest)]
    if n > 1 and _divided(*_squared_deviations(n, *exact)) * CLOSE < rounded[1]:
        while any(rounded):
            exact = [_difference(*fraction, *part.as_integer_ratio()) for fraction, part in zip(exact, rounded)]
            rounded = [_rounded(*fraction) for fraction in exact]
            if any(rounded):
                combined.append((0, *rounded, least, greatest))
    return combined


def _sums(values):
    """Return number, sum, sum of squares, least, greatest, and both sums as exact fractions, or None.

    None: a value is not finite.
    """
    n = total = squares = 0
    least = greatest = None
    totals: dict = {}  # denominator -> sum of numerators
    totals_of_squares: dict = {}
    are_finite = True
    for value in values:
        number, part, square, low, high = value if isinstance(value, tuple) else (1, value, value * value, value, value)
        try:
            n, total, squares = n + number, total + part, squares + square
        except OverflowError:  # a float and an int that no float can hold
            n, total, squares = n + number, _sum_as_float(total, part), _sum_as_float(squares, square)
        least = low if least is None or low < least else least
        greatest = high if greatest is None or high > greatest else greatest
        try:
            top, bottom = part.as_integer_ratio()
            square_top, square_bottom = (top * top, bottom * bottom) if number == 1 else square.as_integer_ratio()
        except (AttributeError, OverflowError, ValueError):  # a number of another kind, infinite, NaN
            are_finite = False
            continue
        totals[bottom] = totals.get(bottom, 0) + top
        totals_of_squares[square_bottom] = totals_of_squares.get(square_bottom, 0) + square_top
    return n, total, squares, least, greatest, (_added(totals), _added(totals_of_squares)) if are_finite else None


def _added(sums):
    bottom = math.lcm(*sums)
    return sum(top * (bottom // each) for each, top in sums.items()), bottom


def _squared_deviations(n, total, squares):
    (top, bottom), (square_top, square_bottom) = total, squares
    return square_top * bottom * bottom * n - top * top * square_bottom, square_bottom * bottom * bottom * n


def _difference(top, bottom, other_top, other_bottom):
    return top * other_bottom - other_top * bottom, bottom * other_bottom


def _sum_as_float(*numbers):
    return sum(_divided(*number.as_integer_ratio()) if isinstance(number, int) else number for number in numbers)


def _rounded(top, bottom):
    """Return a fraction as a float, or the int below it if it is beyond all floats."""
    try:
        return top / bottom
    except OverflowError:
        return top // bottom


def _divided(top, bottom):
    try:
        return top / bottom
    except OverflowError:
        return math.inf if top > 0 else -math.inf


class _NanRank:
    """Stands for NaN, which itself has no order, before or after everything else."""

    def __init__(self, is_least):
        self._is_least = is_least

    def __lt__(self, other):
        return self._is_least and other is not self

    def __gt__(self, other):
        return not self._is_least and other is not self


def ranked(order, *, nan_is_least):
    """Return a function for sorting by `order`, or by the values, with NaN before or after all else, also in tuples."""
    nan_rank = _NanRank(nan_is_least)

    def rank(value):
        if type(value) is tuple:
            return tuple(map(rank, value))
        return nan_rank if isinstance(value, float) and value != value else value

    return rank if order is None else lambda value: rank(order(value))
