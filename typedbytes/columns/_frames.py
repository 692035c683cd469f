"""Columns of objects in Polars, whose export to Arrow would not keep the values.

Here: which columns those are, and their values. Not here: how values are written. Polars is not imported: who has such a column has it.
"""

from __future__ import annotations

import sys

__all__ = ["objects_of", "parts_of"]


def objects_of(column):
    """Return the Python values of a column of objects, None for a column of another kind."""
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(column, polars.Series) and column.dtype == polars.Object:
        return column.to_list()  # Arrow would be given the addresses of the objects
    return None


def parts_of(frame):
    """Return the names and the columns of a frame with columns of objects, None for other frames and for what is no frame."""
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(frame, polars.DataFrame) and polars.Object in frame.dtypes:
        return frame.columns, frame.get_columns()
    return None
