# What the command does with records, compiled: lines of JSON and of text, statistics, fields, what validate decodes.

include "json.pxi"
include "statistics.pxi"
include "whole_records.pxi"
include "fields.pxi"
include "text.pxi"
include "rows.pxi"
include "sums.pxi"

__all__ = [
    "Fields", "RecordStatistics", "Schema", "Sums", "TextLines", "TextRecords", "Walker", "WholeRecords", "lines",
    "without_sort_keys",
]
