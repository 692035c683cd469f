"""One line on the terminal that shows how much of the whole input has been read, after the first second.

There is no line unless stderr is a terminal, and it ends where output goes to one. A timer's signal asks the open
inputs for their offsets, so that reading itself is not slowed. It may interrupt a write to sys.stderr, which is not
re-entrant, so the line is written to descriptor 2. If the terminal is stopped (Ctrl-S) that write blocks, and signals
meanwhile draw nothing. Invariant: what is written to sys.stderr is not mixed with the line, which is erased first.
"""

from __future__ import annotations

import _signal  # as in _signals
import io
import os
import stat
import sys
import time
from _thread import RLock
from contextlib import contextmanager, suppress

from typedbytes._base.locations import is_url
from typedbytes.cli import _failure as failure

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

INTERVAL = 0.25  # seconds
DELAY = 1.0  # seconds before the line appears
COLUMNS = 80  # of a terminal that does not say how many it has
BAR_COLUMNS = 20
ERASE = "\r\x1b[K"

_current: Any = None  # the Progress of the command, while it may have a line


class Progress:
    """Show the progress of a command during the block, where the terminal has a line for it."""

    def __init__(self):
        self._sizes: dict[str, int | None] = {}  # of the inputs by their names; None: not known yet
        self._open: dict[str, Any] = {}  # what is being read, by its name
        self._name = ""  # of the last that was opened, as it is shown
        self._nread = self._done = 0  # inputs that were read, and their bytes
        self._phase = ""
        self._reported: Any = None  # a function that returns bytes done and in total, instead of inputs
        self._start = time.monotonic()
        self._is_drawing = False
        self.bar: Any = None  # a function that draws what part is done, in BAR_COLUMNS

    def __enter__(self):
        global _current
        if _is_enabled():
            with suppress(ValueError):  # not in the main thread, which handles all signals
                self._before = _signal.signal(_signal.SIGALRM, self._draw)
                self._stderr = sys.stderr
                self._terminal = sys.stderr = _Terminal(sys.stderr)
                _current = self
                _signal.setitimer(_signal.ITIMER_REAL, DELAY, INTERVAL)

    def __exit__(self, *error):
        if _current is self:
            stop()

    def end(self):
        """Erase the line, and show no other."""
        global _current
        _current = None
        _signal.setitimer(_signal.ITIMER_REAL, 0)
        _signal.signal(_signal.SIGALRM, self._before)
        sys.stderr = self._stderr
        self._terminal.draw("")

    def expect(self, names):
        """Take note of inputs that are to be read."""
        self._sizes.update(dict.fromkeys(names))

    def add(self, source, name, nbytes):
        """Begin to read a source, maybe for a second time, or what was made of all of them."""
        if not self._open and self._nread >= len(self._sizes):
            if name not in self._sizes:
                self._sizes = {}
            self._nread = self._done = 0
            self._start = time.monotonic()
        self._reported = None
        self._sizes[name] = nbytes
        self._name = failure.escaped(failure.display_name(name))
        self._open[name] = source

    def remove(self, name):
        """Take note that a source has been read, before it is closed."""
        source, nbytes = self._open.pop(name, None), self._sizes.get(name)
        if source is not None:
            self._nread += 1
            with suppress(OSError, ValueError):  # of a URL, which a reader has closed
                self._done += source.tell() if nbytes is None else nbytes

    def report(self, phase, reported):
        """Show a phase, of which a function returns how many bytes are done and in total, instead of inputs."""
        if phase != self._phase:
            self._phase, self._start = phase, time.monotonic()
        self._reported = reported

    def _draw(self, *signal_and_frame):
        """Rewrite the line, unless the signal came while that is done."""
        if self._is_drawing:
            return
        self._is_drawing = True
        try:
            name, done, total = (self._phase, *self._reported()) if self._reported else self._read_so_far()
            seconds = time.monotonic() - self._start
            if name and seconds > 0:
                bar = total and self.bar and self.bar(min(done / total, 1))
                self._terminal.draw(line(name, done, total, seconds), bar)
        finally:
            self._is_drawing = False

    def _read_so_far(self):
        """Return the name of what is being read, and the bytes of all inputs: read, and in total or None."""
        if not self._open:
            return "", 0, None
        name = self._name
        if len(self._sizes) > 1:
            name = f"{self._nread + len(self._open)} of {len(self._sizes)}, {name}"
        for each, nbytes in self._sizes.items():
            if nbytes is None and not is_url(each):
                with suppress(OSError):  # reading it reports the error
                    self._sizes[each] = os.stat(each).st_size
        done = self._done + sum(source.tell() for source in self._open.values())
        sizes = [each for each in self._sizes.values() if each is not None]
        return name, done, sum(sizes) if len(sizes) == len(self._sizes) else None


def _is_enabled():
    # The parent may have closed it.
    if sys.stderr is None or os.name != "posix":
        return False
    return sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def expect(names):
    """Take note of the names of inputs before the first of them is read."""
    if _current is not None:
        _current.expect(names)


def follow(sink, name, nbytes):
    """Show how much has been written of what was made of all inputs."""
    if _current is not None:
        _current.report(name, lambda: (sink.tell(), nbytes))


def reporter(bar=None):
    """Return a function to call as progress(phase, bytes done, bytes in total), None where nothing is shown.

    bar: a function that returns a bar of BAR_COLUMNS for what part is done.
    """
    progress = _current
    if progress is None:
        return None
    progress.bar = bar
    return lambda phase, done, total: progress.report(phase, lambda: (done, total))


def stop():
    """Show no line from here on: output goes to a terminal, or the command has ended."""
    if _current is not None:
        _current.end()


@contextmanager
def show_progress(source, name):
    """Show the progress of reading a source during the block; yields the source to read from."""
    progress = _current
    if progress is None:
        yield source
        return
    if name == "-" and os.isatty(0):  # what is typed has the line
        stop()
    watched = source if source.seekable() else CountingSource(source)
    progress.add(watched, name, _size(source))
    try:
        yield watched
    finally:
        progress.remove(name)


class _Terminal:
    """Replace sys.stderr, so that the line is erased before anything else is written."""

    def __init__(self, stream):
        self._stream = stream
        self._lock = RLock()
        self._is_busy = self._is_shown = self._is_within_line = False

    def __getattr__(self, name):
        return getattr(self._stream, name)

    def write(self, text):
        """Write a message in the place of the line."""
        if not text:
            return 0
        with self._alone():
            if self._is_shown:
                self._replace("", "")
            self._is_within_line = not text.endswith("\n")
            return self._stream.write(text)

    def draw(self, text, bar=""):
        """Replace the line, unless the signal came while it, or a message, is being written."""
        if self._lock.acquire(blocking=False):
            try:
                if not self._is_busy and not self._is_within_line and (text or self._is_shown):
                    with self._alone():
                        self._replace(text, bar)
            finally:
                self._lock.release()

    @contextmanager
    def _alone(self):
        with self._lock:
            self._is_busy = True
            try:
                yield
            finally:
                self._is_busy = False

    def _replace(self, text, bar):
        """Write the line; a terminal that is gone, or takes no line, is not a failure of the command."""
        self._is_shown = True  # before it is: Ctrl-C may come in between
        with suppress(OSError):
            width = (os.get_terminal_size(2).columns or COLUMNS) - 1
            shown = f"{bar} {text[: width - BAR_COLUMNS - 1]}" if bar and width > 2 * BAR_COLUMNS else text[:width]
            os.write(2, (ERASE + shown).encode(self._stream.encoding, "backslashreplace"))
        self._is_shown = bool(text)


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


class CountingSource(io.RawIOBase):
    """Read from a source, maybe a pipe, and count."""

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
