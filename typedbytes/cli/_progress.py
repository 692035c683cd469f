"""A line on the terminal that tells how far the reading of an input is, from the first second on.

Here: when there is such a line, and what stands in it. Not here: reading. Always true: there is none unless stderr is a
terminal and stdout is not, it is gone before anything else is written, and the reading itself is not slowed: a timer's signal
asks the file where it stands.
"""

import io
import os
import stat
import sys
import time
from contextlib import contextmanager

from typedbytes.cli._failure import escaped

EVERY = 0.25  # seconds
PATIENCE = 1.0  # seconds without a line
ERASE = "\r\x1b[K"


@contextmanager
def watching(source, name):
    """Tell about the reading of a source while the block runs; gives the source to read from."""
    if not _is_wanted():
        yield source
        return
    import signal  # imported lazily: start-up time

    meter = _Meter(source, name)
    before = signal.signal(signal.SIGALRM, meter.tell)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE, EVERY)
    try:
        yield meter.source
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        meter.erase()


def _is_wanted():
    # The parent may have closed any of them.
    streams = sys.stderr, sys.stdout
    if None in streams or os.name != "posix":
        return False
    on_stderr, on_stdout = (stream.isatty() for stream in streams)
    return on_stderr and not on_stdout and os.environ.get("TERM", "dumb") != "dumb"


class _Meter:
    def __init__(self, source, name):
        self._name = escaped(name)
        self._nbytes = _size(source)
        self._start = time.monotonic()
        self._is_shown = False
        self.source = source if source.seekable() else _Counted(source)

    def tell(self, *signal_and_frame):
        """Write the line anew."""
        done = self.source.tell()
        seconds = time.monotonic() - self._start
        text = line(self._name, done, self._nbytes, seconds)
        self._is_shown = True    # before it is: Ctrl-C may come in between
        sys.stderr.write(ERASE + text[: os.get_terminal_size(2).columns - 1])
        sys.stderr.flush()

    def erase(self):
        """Take the line away."""
        if self._is_shown:
            sys.stderr.write(ERASE)
            sys.stderr.flush()


def line(name, done, nbytes, seconds):
    """Return the line: what was read of how much, at which rate, and how long the rest will take.

    >>> line("a.tb", 250_000_000, 1_000_000_000, 2.5)
    '250.0 MB of 1.0 GB, 25 %, 100.0 MB/s, 0:07 left: a.tb'
    >>> line("standard input", 250_000_000, None, 2.5)
    '250.0 MB, 100.0 MB/s, 0:02: standard input'
    """
    rate = done / seconds
    if not nbytes or not done:
        return f"{size(done)}, {size(rate)}/s, {_clock(seconds)}: {name}"
    left = _clock(max(0, nbytes - done) / rate)
    return f"{size(done)} of {size(nbytes)}, {100 * done // nbytes} %, {size(rate)}/s, {left} left: {name}"


def size(nbytes):
    """Return a number of bytes with a unit.

    >>> size(999), size(1234567)
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
    """Return the number of bytes that a regular file or a URL has, None of anything else."""
    if type(source) is not io.FileIO:
        return getattr(source, "size", None)
    status = os.fstat(source.fileno())
    return status.st_size if stat.S_ISREG(status.st_mode) else None


class _Counted(io.RawIOBase):
    """Read from a pipe and count."""

    def __init__(self, source):
        self._source = source
        self._nbytes = 0

    def readable(self):
        """Say that it can be read from."""
        return True

    def tell(self):
        """Return the number of bytes read."""
        return self._nbytes

    def readinto(self, target):
        """Fill the front of a buffer; return how many bytes that were."""
        nbytes = self._source.readinto(target)
        self._nbytes += nbytes or 0
        return nbytes
