"""A line on the terminal that shows how much of an input has been read, after the first second.

There is no line unless stderr is a terminal and stdout is not, and it is erased before a message is written. A timer's
signal asks the file for its offset, so that reading itself is not slowed. The signal may interrupt a write to
sys.stderr, which is not re-entrant, so the line is written to descriptor 2. If the terminal is stopped (Ctrl-S) that
write blocks, and signals meanwhile draw nothing.
"""

import io
import os
import stat
import sys
import time
from contextlib import contextmanager

from typedbytes.cli import _failure as failure

INTERVAL = 0.25  # seconds
DELAY = 1.0  # seconds before the line appears
COLUMNS = 80  # of a terminal that does not say how many it has
ERASE = "\r\x1b[K"


@contextmanager
def show_progress(source, name):
    """Show the progress of reading a source during the block; yields the source to read from."""
    if not _is_enabled():
        yield source
        return
    import signal  # imported lazily: start-up time

    meter = _Meter(source, name)
    outer, failure.without_progress = failure.without_progress, meter.hidden
    before = signal.signal(signal.SIGALRM, meter.show)
    signal.setitimer(signal.ITIMER_REAL, DELAY, INTERVAL)
    try:
        yield meter.source
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        failure.without_progress = outer
        _Meter.erase()


def _is_enabled():
    # The parent may have closed any of them.
    streams = sys.stderr, sys.stdout
    if None in streams or os.name != "posix":
        return False
    on_stderr, on_stdout = (stream.isatty() for stream in streams)
    return on_stderr and not on_stdout and os.environ.get("TERM", "dumb") != "dumb"


class _Meter:
    _is_shown = False  # of the class: the terminal has one line, also while two inputs are open

    def __init__(self, source, name):
        self._name = failure.escaped(name)
        self._nbytes = _size(source)
        self._start = time.monotonic()
        self._is_paused = False
        self.source = source if source.seekable() else _CountingSource(source)

    def show(self, *signal_and_frame):
        """Rewrite the line, unless the signal came while it, or a message, is being written."""
        if self._is_paused:
            return
        self._is_paused = True
        try:
            done = self.source.tell()
            seconds = time.monotonic() - self._start
            _Meter._is_shown = True  # before it is: Ctrl-C may come in between
            _draw(line(self._name, done, self._nbytes, seconds))
        finally:
            self._is_paused = False

    @contextmanager
    def hidden(self):
        """Keep the line off the terminal during the block."""
        self._is_paused = True
        try:
            self.erase()
            yield
        finally:
            self._is_paused = False

    @staticmethod
    def erase():
        """Erase the line."""
        if _Meter._is_shown:
            _draw("")
            _Meter._is_shown = False


def _draw(text):
    """Replace the line on the terminal; one that is gone, or takes no line, is not a failure of the command."""
    try:
        width = (os.get_terminal_size(2).columns or COLUMNS) - 1
        os.write(2, (ERASE + text[:width]).encode(sys.stderr.encoding, "backslashreplace"))
    except OSError:
        pass


def line(name, done, nbytes, seconds):
    """Return the line: the bytes read and in total, the rate, and the time left.

    >>> line("a.tb", 250_000_000, 1_000_000_000, 2.5)
    '250.0 MB of 1.0 GB, 25 %, 100.0 MB/s, 0:07 left: a.tb'
    >>> line("standard input", 250_000_000, None, 2.5)
    '250.0 MB, 100.0 MB/s, 0:02: standard input'
    """
    rate = done / seconds
    if not nbytes or not done:
        return f"{_format_size(done)}, {_format_size(rate)}/s, {_clock(seconds)}: {name}"
    left = _clock(max(0, nbytes - done) / rate)
    return (
        f"{_format_size(done)} of {_format_size(nbytes)}, {100 * done // nbytes} %, {_format_size(rate)}/s, "
        f"{left} left: {name}"
    )


def _format_size(nbytes):
    """Return a number of bytes with a unit.

    >>> _format_size(999), _format_size(1234567)
    ('999 B', '1.2 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if nbytes < 1000 or unit == "GB":
            return f"{nbytes:.0f} B" if unit == "B" else f"{nbytes:.1f} {unit}"
        nbytes /= 1000


def _clock(seconds):
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _size(source):
    """Return the size of a regular file or a URL, None for anything else."""
    if type(source) is not io.FileIO:
        return getattr(source, "size", None)
    status = os.fstat(source.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) else None


class _CountingSource(io.RawIOBase):
    """Read from a pipe and count."""

    def __init__(self, source):
        self._source = source
        self._nbytes = 0

    def readable(self):
        return True

    def tell(self):
        return self._nbytes

    def readinto(self, target):
        nbytes = self._source.readinto(target)
        self._nbytes += nbytes or 0
        return nbytes
