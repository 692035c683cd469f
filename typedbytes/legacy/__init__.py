"""The names of the older libraries, typedbytes and ctypedbytes, with their behaviour.

    Input, PairedInput      values, and pairs of them, from a binary file object
    Output, PairedOutput    into one

Code written for those modules depends on this: handlers registered for a type code or a Python type read and write
``self.file`` themselves, so the file's position is exact whenever a handler or a caller of ``read`` uses it, and what
``write`` was given is in the file when it returns. One exception, for a file opened with a buffer and for standard
output: while a loop over an Input has records that are read already, those written wait, and are sent before the loop
reads more, ends or is left, and before any method of the file does its work. The compiled streams encode and decode;
only a container whose items may have handlers is walked here.

What differs from the originals, always so that no data is lost silently:

- ``None`` and the end of an iteration come only at the end of the file, between two values. Truncated input raises
  TruncatedError, and bytes that are not a value, MARKER included, raise FormatError; the Input then stays failed.
- STRING is text: a str both ways, checked by ``unicode_errors``. A str of Python 2 that was not UTF-8 is read and
  written unchanged with ``unicode_errors="surrogateescape"``. bytes are BYTES and read back as `Bytes`, and so do
  byte strings of code 101.
- Code 100 is read and written under the policy of the ``pickle`` keyword, by default "safe".
- Application codes without a handler read as Ext instead of failing.
- A handler that raises StopIteration does not end an iteration.
"""

from typedbytes._base.codes import (
    BOOL,
    BYTE,
    BYTES,
    BYTESTRING,
    DOUBLE,
    FLOAT,
    INT,
    LIST,
    LONG,
    MAP,
    MARKER,
    PICKLE,
    STRING,
    VECTOR,
)
from typedbytes.legacy._base import Bytes
from typedbytes.legacy._input import Input, PairedInput
from typedbytes.legacy._output import Output, PairedOutput

__all__ = [
    "BYTES", "BYTE", "BOOL", "INT", "LONG", "FLOAT", "DOUBLE", "STRING", "VECTOR", "LIST", "MAP", "PICKLE",
    "BYTESTRING", "MARKER", "Bytes", "Input", "Output", "PairedInput", "PairedOutput",
]  # fmt: skip
