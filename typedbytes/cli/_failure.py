"""The manners of the command: exit codes, messages on stderr, and the one exception that carries both.

Here: what every command says and returns when something is wrong. Not here: what it is that can go wrong.
Always true: a message is one line on stderr, and no character of a file's name or of data reaches a terminal as it is
unless it is printable.
"""

import errno
import os
import sys
from contextlib import suppress

# Imported from here by the commands.
from typedbytes._exit_codes import BAD_DATA, INTERNAL, INTERRUPTED, IO_ERROR, NO_INPUT, OK, UNAVAILABLE, USAGE
from typedbytes._exit_codes import FAILED as DIFFERENT
from typedbytes._exit_codes import FAILED as JOB_FAILED

__all__ = [
    "BAD_DATA", "DIFFERENT", "INTERNAL", "INTERRUPTED", "IO_ERROR", "JOB_FAILED", "NO_INPUT", "OK", "UNAVAILABLE", "USAGE", "Failure", "because",
    "escaped", "say",
]  # fmt: skip


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
