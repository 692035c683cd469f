"""Decode and encode every pair, one by one, as a filter does that looks at them."""

import typedbytes as tb

with tb.PairWriter(1, unicode_errors="surrogateescape") as writer:
    write = writer.write
    for key, value in tb.PairReader(0, unicode_errors="surrogateescape"):
        write(key, value)
