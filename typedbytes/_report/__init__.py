"""Records for the command: lines of JSON and of text, statistics, fields."""

from typedbytes._report._native import (
    Fields,
    RecordStatistics,
    Schema,
    Sums,
    TextLines,
    TextRecords,
    Walker,
    WholeRecords,
    lines,
    without_sort_keys,
)

__all__ = [
    "Fields",
    "RecordStatistics",
    "Schema",
    "Sums",
    "TextLines",
    "TextRecords",
    "Walker",
    "WholeRecords",
    "lines",
    "without_sort_keys",
]
