# Layer 3. What the command says about records, compiled: lines of JSON, and statistics.

include "json.pxi"
include "statistics.pxi"

__all__ = ["Shape", "Tally", "Walker", "lines"]
