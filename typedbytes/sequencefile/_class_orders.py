"""The order of described keys, as Java's compareTo of such classes has it: by their fields, from the first one.

Not here: orders of the classes that are built in. Invariant: a class with a field whose order is not clear has none.
"""

from __future__ import annotations

import math
from functools import partial

from typedbytes.sequencefile._files import decode

__all__ = ["order_of"]


def order_of(program, classes):
    """Return a function of a key's bytes whose results compare as Hadoop compares the keys; None: it is not clear."""
    convert = _order(program.find(program.class_name), program.find, set())
    return None if convert is None else lambda data: convert(decode(program.class_name, data, classes=classes))


def _order(tree, find, opened):
    """Return a function from a value to what compares as it does in Java, or None."""
    kind, _, _, items, names, value = tree
    if kind in _SCALARS:
        return _SCALARS[kind]
    if kind == "enum":
        return names.index
    if kind == "class" and value not in opened:
        return _order(find(value), find, opened | {value})
    if kind == "within":
        return _order(items[0], find, opened)
    if kind != "record":
        return None
    orders = [_order(item, find, opened) for item in items if item[0] != "constant"]
    return None if None in orders else partial(_order_fields, orders)


def _order_fields(orders, record):
    values = record.values() if type(record) is dict else record
    return tuple(order(value) for order, value in zip(orders, values))


def _same(value):
    return value


def _order_float(number):
    """Order as Float.compare and Double.compare do: -0.0 is less than 0.0, and NaN is greatest."""
    return (1,) if math.isnan(number) else (0, number, math.copysign(1, number))


def _order_java_text(text):
    return text.encode("utf-16-be", "surrogatepass")


_SCALARS = {
    **dict.fromkeys(("byte", "short", "int", "long", "vint", "vlong", "boolean", "bytes", "fixed", "rest"), _same),
    **dict.fromkeys(("float", "double"), _order_float),
    "text": lambda text: text.encode("utf-8", "surrogateescape"),
    **dict.fromkeys(("utf", "char"), _order_java_text),
}
