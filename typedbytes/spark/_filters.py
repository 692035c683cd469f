"""Filters of a data frame, applied to record batches before they go to Spark. Needs pyarrow, and the filters of Spark 4.1.

Invariant: a filter is applied here only where Arrow decides as Spark does. So none is on numbers with NaN, which for Spark equals itself
and is greater than all others, nor on values within values.
"""

from __future__ import annotations

__all__ = ["apply_filters", "is_supported", "keeps_path"]

_COMPARISONS = {
    "EqualTo": "equal",
    "GreaterThan": "greater",
    "GreaterThanOrEqual": "greater_equal",
    "LessThan": "less",
    "LessThanOrEqual": "less_equal",
}
_TEXT_MATCHES = {"StringStartsWith": "starts_with", "StringEndsWith": "ends_with", "StringContains": "match_substring"}


def is_supported(condition, schema):
    """Return whether a filter of Spark on columns of this Arrow schema can be applied here."""
    from pyarrow import ArrowException, types

    kind = type(condition).__name__
    if kind == "Not":
        return is_supported(condition.child, schema)
    number = schema.get_field_index(condition.attribute[0]) if len(condition.attribute) == 1 else -1
    if number < 0:  # within a value, or there are several of this name
        return False
    column = schema.field(number).type
    if kind in ("IsNull", "IsNotNull"):
        return True
    if not any(test(column) for test in (types.is_integer, types.is_boolean, types.is_string, types.is_binary)):
        return False
    try:
        if kind == "In":
            return all(_scalar(value, column).is_valid for value in condition.value)
        if kind in _COMPARISONS:
            return _scalar(condition.value, column).is_valid
    except (ArrowException, OverflowError):
        return False  # a number that the column cannot hold
    return kind in _TEXT_MATCHES and types.is_string(column)


def apply_filters(batch, conditions):
    """Return the rows of a record batch for which all of the filters hold."""
    for condition in conditions:
        batch = batch.filter(_mask(condition, batch))  # a null holds for none
    return batch


def keeps_path(path, column, conditions):
    """Return whether the filters that are on the column of paths hold for a path."""
    import pyarrow

    batch = pyarrow.record_batch([pyarrow.array([path])], names=[column])
    return len(apply_filters(batch, [each for each in conditions if _column_of(each) == column])) == 1


def _column_of(condition):
    return _column_of(condition.child) if type(condition).__name__ == "Not" else condition.attribute[0]


def _mask(condition, batch):
    """Return an array of bools, null where Spark's condition is: a comparison with null, and its negation."""
    import pyarrow
    from pyarrow import compute

    kind = type(condition).__name__
    if kind == "Not":
        return compute.invert(_mask(condition.child, batch))
    column = batch.column(condition.attribute[0])
    if kind == "IsNull":
        return column.is_null()
    if kind == "IsNotNull":
        return column.is_valid()
    if kind == "In":
        found = compute.is_in(column, pyarrow.array(condition.value, column.type))
        return compute.if_else(column.is_valid(), found, pyarrow.scalar(None, pyarrow.bool_()))
    if kind in _TEXT_MATCHES:
        return getattr(compute, _TEXT_MATCHES[kind])(column, condition.value)
    return getattr(compute, _COMPARISONS[kind])(column, _scalar(condition.value, column.type))


def _scalar(value, kind):
    import pyarrow

    return pyarrow.scalar(value, kind)
