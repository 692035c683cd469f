"""The manners of the command: exit codes, messages on stderr, and the one exception that carries both.

Here: what every command says and returns when something is wrong. Not here: what it is that can go wrong.
Always true: a message is one line on stderr, and no character of a file's name or of data reaches a terminal as it is
unless it is printable.
"""

import errno
import os
import sys
from contextlib import suppress

OK = 0
DIFFERENT = 1
JOB_FAILED = 1
USAGE = 64
BAD_DATA = 65
NO_INPUT = 66
UNAVAILABLE = 69
INTERNAL = 70
IO_ERROR = 74
INTERRUPTED = 130
BROKEN_PIPE = 141


class Failure(Exception):
    """End the command, or its work on one input, with a message and an exit code."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status

    def report(self):
        """Write the message to stderr and return the exit code."""
        say(f"typedbytes: {self}")
        return self.status


def say(text):
    """Write a line of text to stderr; one that is closed or cannot be written to leaves the exit code."""
    if sys.stderr is not None:  # print would take stdout instead
        with suppress(OSError, ValueError):
            print(escaped(text), file=sys.stderr, flush=True)


def say_lines(text):
    """Write each line of a text to stderr as a message."""
    for line in text.splitlines():
        say(f"typedbytes: {line}")


def escaped(text):
    """Return text on one line, what is not printable written as Python would escape it."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode("ascii") for each in text)


def because(error):
    """Return the reason that the system gives for an OSError."""
    if isinstance(error, FileNotFoundError) and not error.strerror:  # raised with a name only
        return f"{os.strerror(errno.ENOENT)}: {error}"
    return error.strerror or str(error) or type(error).__name__
