"""Standard input and output, for the task alone.

A print, a C library or a child process that writes to descriptor 1 inserts bytes between two records,
and Hadoop reads them as a record. So the task works on private descriptors; descriptor 1 becomes standard
error and descriptor 0 becomes empty, for this process and for every child. Records are
not known here. The private descriptors are never inherited by a program and refuse to work for a forked process, and
each file keeps the error it failed with, so that the task's own input and output errors are never confused with
those of user code.
"""

from __future__ import annotations

import os
import sys
from io import FileIO

from typedbytes._base.descriptors import move_descriptor, open_stderr


class _TaskDescriptor(FileIO):
    """A descriptor of the task's process; ``error`` is the OSError it failed with, or None."""

    error: OSError | None = None

    def __init__(self, descriptor, mode, **options):
        super().__init__(descriptor, mode, **options)
        self._owner = os.getpid()
        self._identity = _identity_of(descriptor)

    def check(self):
        """Raise OSError in another process, and when user code has replaced the descriptor."""
        self._check_owner()
        if _identity_of(self.fileno()) != self._identity:
            raise OSError(f"descriptor {self.fileno()} of the task was closed, and opened again for something else")

    def _check_owner(self):
        if os.getpid() != self._owner:
            raise OSError("the records belong to the process that Hadoop started, not to one forked from it")


class InputDescriptor(_TaskDescriptor):
    """The task's input; ``ended`` says whether its end has been read."""

    ended = False

    def readinto(self, buffer):
        """Read what is there into the buffer and return the number of bytes, 0 at the end."""
        try:
            self._check_owner()
            nbytes = _check_blocking("input", super().readinto(buffer))
            if nbytes == 0:
                self.check()  # the end of another file is not that of the input
                self.ended = True
            return nbytes
        except OSError as error:
            self.error = error
            raise

    def check_end(self):
        """Raise RuntimeError where the end of the input has not been read."""
        if not self.ended:
            raise RuntimeError("the task is done, but the end of its input has not been read: records may be left")


class OutputDescriptor(_TaskDescriptor):
    """The task's output."""

    def write(self, data):
        """Write what fits and return the number of bytes."""
        try:
            self.check()
            return _check_blocking("output", super().write(data))
        except OSError as error:
            self.error = error
            raise

    def close(self):
        """Close the output, which may report what went wrong with earlier bytes."""
        try:
            super().close()
        except OSError as error:
            self.error = error
            raise


def _identity_of(descriptor):
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino


def _check_blocking(name, nbytes):
    # A non-blocking descriptor returns None when it has no data, which must not be taken for the end.
    if nbytes is None:
        raise BlockingIOError(f"standard {name} is non-blocking")
    return nbytes


def open_descriptors():
    """Return the task's InputDescriptor and OutputDescriptor, and replace descriptors 0 and 1."""
    open_stderr()
    source = InputDescriptor(os.dup(0), "rb", closefd=False)  # stays open as long as the process, as descriptor 0 does
    sink = OutputDescriptor(os.dup(1), "wb")
    os.dup2(2, 1)
    move_descriptor(os.open(os.devnull, os.O_RDONLY), 0)
    if sys.stdout is not None:
        sys.stdout.flush()  # only now: what was printed before belongs on standard error too
    sys.stdout = sys.stderr
    return source, sink
