"""The Zstandard library of this Python; importing this module raises ModuleNotFoundError if there is none."""

__all__ = ["zstd"]

try:
    from compression import zstd  # Python 3.14
except ModuleNotFoundError:
    try:
        import backports.zstd as zstd
    except ModuleNotFoundError:  # of backports too, which is a folder of other packages as well
        raise ModuleNotFoundError("No module named 'backports.zstd'", name="backports.zstd") from None
