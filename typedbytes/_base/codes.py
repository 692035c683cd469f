"""The type codes of the wire, as plain ints.

The core has them in `src/typedbytes/core/typecode.pxd`; a test compares both. This file imports nothing: enum, which
TypeCode needs, takes as long as half a task's start.
"""

BYTES = 0
BYTE = 1
BOOL = 2
INT = 3
LONG = 4
FLOAT = 5
DOUBLE = 6
STRING = 7
VECTOR = 8
LIST = 9
MAP = 10
SHORT = 11
NULL = 12
WRITABLE = 50
PICKLE = 100
BYTESTRING = 101
NDARRAY = 102
ENDOFRECORD = 177
MARKER = 255
