# Reports about records for the command, compiled: lines of JSON, and statistics.

include "json.pxi"
include "statistics.pxi"

__all__ = ["Schema", "RecordStatistics", "Walker", "lines"]
