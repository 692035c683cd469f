"""Columns: streams of records of one shape to and from NumPy arrays and Arrow data, without a Python object per value.

    for batch in read("pairs.tb"):        # any source that a Reader accepts
        keys = batch.column("key")        # a NumPy array, without a copy
        polars.DataFrame(batch)           # or any other consumer of Arrow data

    write(sink, {"key": words, "value": counts})    # NumPy arrays, Arrow data, data frames

NumPy is imported when an array is asked for; no other library is ever imported.
"""

from typedbytes.columns._batch import Batch
from typedbytes.columns._read import read
from typedbytes.columns._reader import BatchReader, MismatchError
from typedbytes.columns._sources import Split, splits
from typedbytes.columns._write import write

__all__ = ["Batch", "BatchReader", "MismatchError", "Split", "read", "splits", "write"]
