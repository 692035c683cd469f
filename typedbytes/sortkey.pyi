from typedbytes._sorting._native import Descending as Descending
from typedbytes._sorting._native import decode as decode
from typedbytes._sorting._native import encode as encode

__all__ = ["Descending", "decode", "encode"]
