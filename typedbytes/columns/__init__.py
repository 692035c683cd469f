"""Columns: streams of records of one shape to and from NumPy arrays and Arrow data, without a Python object per value.

    for batch in read("pairs.tb"):        # any source that a Reader accepts
        keys = batch.column("key")        # a NumPy array, without a copy
        polars.DataFrame(batch)           # or any other consumer of Arrow data

    read("counts").to_pandas()            # to_polars() and to_arrow() too
    scan_polars("counts")                 # a lazy frame, which reads what a query needs

    write(sink, {"key": words, "value": counts})    # NumPy arrays, Arrow data, data frames

A library is imported when something of it is asked for.
"""

from typedbytes.columns._batch import Batch
from typedbytes.columns._read import read
from typedbytes.columns._reader import BatchReader, MismatchError
from typedbytes.columns._scan import scan_polars
from typedbytes.columns._sources import Split, splits
from typedbytes.columns._write import write

__all__ = ["Batch", "BatchReader", "MismatchError", "Split", "read", "scan_polars", "splits", "write"]


def __dir__() -> list[str]:
    return __all__
