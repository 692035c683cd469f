"""The tasks of a job on a machine: their input, their processes, and what becomes of their output. For POSIX alone."""

try:
    import fcntl  # noqa: F401
    import resource  # noqa: F401
except ModuleNotFoundError:
    from typedbytes._base.posix import require_posix

    require_posix("typedbytes.local")
    raise
