# What the command does with records, compiled: lines of JSON and of text, statistics, fields, what validate decodes.

include "json.pxi"
include "statistics.pxi"
include "whole_records.pxi"
include "fields.pxi"
include "text.pxi"
include "rows.pxi"
include "key_table.pxi"
include "sums.pxi"
include "json_records.pxi"
include "json_values.pxi"
include "column_types.pxi"
include "distinct.pxi"
include "matching.pxi"
include "reservoir.pxi"

__all__ = [
    "ChosenRecords", "ColumnTypes", "DistinctRecords", "Fields", "JsonRecords", "MatchingRecords", "RecordCounts",
    "RecordStatistics", "Reservoir", "Schema", "Sums", "TextLines", "TextRecords", "Walker", "WholeRecords",
    "WithoutSortKeys", "lines",
]
