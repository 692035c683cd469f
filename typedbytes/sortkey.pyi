from typedbytes._sorting._native import Descending as Descending, decode as decode, encode as encode

__all__ = ["Descending", "decode", "encode"]
