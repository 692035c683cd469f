"""The size of pipes between a task and the process that started it: with larger ones both wait less often."""

__all__ = ["enlarge_pipe"]

NBYTES = 1 << 20


def enlarge_pipe(pipe):
    """Let a pipe hold a mebibyte, where the system can and allows it; anything but a pipe stays as it is."""
    try:
        import fcntl  # not on Windows

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, NBYTES)  # Linux, Python 3.10
    except (ImportError, AttributeError, OSError):
        pass  # a smaller pipe does as well
