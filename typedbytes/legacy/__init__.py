"""The names of the older libraries, typedbytes and ctypedbytes, with their manners.

What belongs here: what code written for those modules leans on. Handlers registered for a type code or a Python type
read and write ``self.file`` themselves, so the file's position is exact whenever they or a caller of ``read`` look at
it, and what ``write`` was given is in the file when it returns. What this file must not know: the wire; the compiled
streams read and write it, except that a container whose values may belong to handlers is walked here.

What differs from the originals, always to lose no data in silence:

- ``None`` and the end of an iteration come only at the end of the file between two values. Input that is cut, and
  bytes that are no value, MARKER included, raise TruncatedError and FormatError; the Input then stays failed.
- STRING is text: a str both ways, checked by ``unicode_errors``. What a str of Python 2 held beyond UTF-8 reads and
  writes unchanged with ``unicode_errors="surrogateescape"``. bytes are BYTES and read back as `Bytes`, and so do
  byte strings of code 101.
- Code 100 is read and written under the policy of the ``pickle`` keyword, "safe" unless given.
- Application codes without a handler read as Ext instead of failing.
- A handler ends nothing by raising StopIteration.
"""

from typedbytes.legacy._input import (
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
    Bytes,
    Input,
    Output,
    PairedInput,
    PairedOutput,
)

__all__ = [
    "BYTES", "BYTE", "BOOL", "INT", "LONG", "FLOAT", "DOUBLE", "STRING", "VECTOR", "LIST", "MAP", "PICKLE", "BYTESTRING",
    "MARKER", "Bytes", "Input", "Output", "PairedInput", "PairedOutput",
]  # fmt: skip
