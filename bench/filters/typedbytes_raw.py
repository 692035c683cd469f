"""Pass every pair through as the bytes it came in."""

import typedbytes as tb

with tb.PairWriter(1) as writer:
    write_raw = writer.write_raw
    for key, value in tb.PairReader(0, raw=True):
        write_raw(key, value)
