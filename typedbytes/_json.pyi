from typing import Literal

from _typeshed import ReadableBuffer

TAGS: frozenset[bytes]

def lines(data: ReadableBuffer, *, pairs: bool = False, plain: bool = False, dialect: Literal["hadoop", "hive"] = ...) -> bytes: ...
