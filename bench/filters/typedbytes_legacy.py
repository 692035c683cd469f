"""Copy pairs, with the names of the older libraries."""

import sys

from typedbytes import PairedInput, PairedOutput

output = PairedOutput(sys.stdout.buffer, unicode_errors="surrogateescape")
for pair in PairedInput(sys.stdin.buffer, unicode_errors="surrogateescape"):
    output.write(pair)
