"""Reports about records for the command: lines of JSON and statistics."""

from typedbytes._report._native import RecordStatistics, Schema, Walker, WholeRecords, lines

__all__ = ["RecordStatistics", "Schema", "Walker", "WholeRecords", "lines"]
