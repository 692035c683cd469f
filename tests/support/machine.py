"""What the machine that runs the tests is like."""

import sys

import pytest

NEEDS_64_BITS = pytest.mark.skipif(sys.maxsize < 2**32, reason="with 32 bits no object can be so large")
