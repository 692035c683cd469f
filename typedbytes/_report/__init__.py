"""Records for the command: lines of JSON and of text both ways, statistics, fields, records that are chosen."""

from typedbytes._report._native import (
    ChosenRecords,
    ColumnTypes,
    DistinctRecords,
    Fields,
    JsonRecords,
    MatchingRecords,
    RecordStatistics,
    Reservoir,
    Schema,
    Sums,
    TextLines,
    TextRecords,
    Walker,
    WholeRecords,
    WithoutSortKeys,
    lines,
)

__all__ = [
    "ChosenRecords",
    "ColumnTypes",
    "DistinctRecords",
    "Fields",
    "JsonRecords",
    "MatchingRecords",
    "RecordStatistics",
    "Reservoir",
    "Schema",
    "Sums",
    "TextLines",
    "TextRecords",
    "Walker",
    "WholeRecords",
    "WithoutSortKeys",
    "lines",
]
