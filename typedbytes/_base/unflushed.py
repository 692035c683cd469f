"""The end of a process whose open writers could not write their buffers when the interpreter ended.

The loss is reported on standard error, and the exit code becomes 120, with which the interpreter also ends when it
cannot flush standard output. Ending at once with os._exit would lose the buffers of other files.
"""

import sys

TIMEOUT = 5.0  # seconds for a daemon thread that is in the middle of a write


def report(kind, sink, error):
    """Report a writer of this kind whose sink has not received everything."""
    if not isinstance(sys.stderr, _FailingStderr):
        sys.stderr = _FailingStderr(sys.stderr)
    sys.stderr.report(
        f"typedbytes: unclosed {kind}: what it held for {_sink_name(sink)} at the end is lost: "
        f"{type(error).__name__}: {error}\n"
    )


def _sink_name(sink):
    try:
        name = getattr(sink, "name", None)
    except Exception:
        name = None
    return type(sink).__name__ if name is None else f"{type(sink).__name__} {name!r:.200}"


class _FailingStderr:
    """Replace standard error, and fail at its last flush, which the interpreter checks at its very end."""

    closed = False

    def __init__(self, file):
        self._file = file
        self._is_due = True

    def __getattr__(self, name):
        return getattr(self._file, name)

    def report(self, text):
        """Write a line, if standard error is still usable."""
        try:
            self._file.write(text)
            self._file.flush()
        except Exception:
            pass  # the exit code reports it

    def flush(self):
        """Flush standard error."""
        if self._is_due and sys.is_finalizing():
            self._is_due = False
            raise OSError("records were lost")
        if self._file is not None:
            self._file.flush()
