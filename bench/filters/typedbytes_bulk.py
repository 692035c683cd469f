"""Decode and encode every pair, with the loop left to the writer."""

import typedbytes as tb

with tb.PairWriter(1, unicode_errors="surrogateescape") as writer:
    writer.writes(tb.PairReader(0, unicode_errors="surrogateescape"))
