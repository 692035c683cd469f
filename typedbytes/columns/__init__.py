"""Columns: streams of like-shaped records straight into NumPy and Arrow, and back, without an object for each value.

    for batch in read("pairs.tb"):        # any source that a Reader takes
        keys = batch.column("key")        # a NumPy array over the batch's memory
        polars.DataFrame(batch)           # or whatever else speaks Arrow's C data interface

    write(sink, {"key": words, "value": counts})    # NumPy arrays, Arrow data, data frames

What belongs here: where bytes come from and go to, the policies, NumPy. The loops are compiled and know none of it. NumPy
is imported when an array is asked for, and nothing else ever is.
"""

from typedbytes.columns._batch import Batch
from typedbytes.columns._reader import BatchReader, MismatchError, read
from typedbytes.columns._write import write

__all__ = ["Batch", "BatchReader", "MismatchError", "read", "write"]
