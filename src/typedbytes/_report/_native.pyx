# Reports about records for the command, compiled: lines of JSON, statistics, and what validate decodes.

include "json.pxi"
include "statistics.pxi"
include "whole_records.pxi"

__all__ = ["Schema", "RecordStatistics", "Walker", "WholeRecords", "lines"]
