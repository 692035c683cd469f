"""Records for the command: lines of JSON and of text both ways, statistics, fields, records that are chosen."""

from typedbytes._report._native import (
    ChosenRecords,
    ColumnTypes,
    DistinctRecords,
    Fields,
    JsonRecords,
    MatchingRecords,
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
    "ChosenRecords",
    "ColumnTypes",
    "DistinctRecords",
    "Fields",
    "JsonRecords",
    "MatchingRecords",
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
