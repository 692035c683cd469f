from typedbytes._sortkey import Descending as Descending
from typedbytes._sortkey import decode as decode
from typedbytes._sortkey import encode as encode

__all__ = ["Descending", "decode", "encode"]
