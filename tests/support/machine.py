"""What the machine that runs the tests is like."""

import pathlib
import struct
import sys

import pytest

NEEDS_CHECKOUT = pytest.mark.skipif(
    not (pathlib.Path(__file__).resolve().parents[2] / ".git").exists(),
    reason="not a checkout of the repository, which has all files and knows them",
)
NEEDS_64_BITS = pytest.mark.skipif(
    sys.maxsize < 2**32, reason="with 32 bits no object can be so large, or memory is not the limit"
)

_SIGNALLING_NAN = bytes.fromhex("7ff0000000000001")
# the x87 quietens what it returns
KEEPS_SIGNALLING_NANS = struct.pack(">d", *struct.unpack(">d", _SIGNALLING_NAN)) == _SIGNALLING_NAN
