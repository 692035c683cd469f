"""Copy all pairs in one call, with the names of the older libraries."""

import sys

from typedbytes import PairedInput, PairedOutput

source = PairedInput(sys.stdin.buffer, unicode_errors="surrogateescape")
PairedOutput(sys.stdout.buffer, unicode_errors="surrogateescape").writes(source.reads())
