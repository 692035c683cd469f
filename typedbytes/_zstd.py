"""The Zstandard library of this Python; importing this module raises ModuleNotFoundError if there is none."""

__all__ = ["zstd"]

try:
    from compression import zstd  # Python 3.14
except ModuleNotFoundError:
    from backports import zstd
