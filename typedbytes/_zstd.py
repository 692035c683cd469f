"""The library of Zstandard, wherever this Python has it; importing this raises ModuleNotFoundError where it has none."""

__all__ = ["zstd"]

try:
    from compression import zstd  # Python 3.14
except ModuleNotFoundError:
    from backports import zstd
