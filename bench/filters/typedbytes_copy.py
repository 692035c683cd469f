"""Pass everything through as it came, with the loop left to the writer: structure is checked, nothing is decoded."""

import typedbytes as tb

with tb.PairWriter(1) as writer:
    writer.copy(tb.PairReader(0))
