"""Exit codes, messages on stderr, and the exception that carries both.

A message is one line on stderr, and characters of a file's name or of data are escaped unless they are printable.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from contextlib import redirect_stderr, suppress

# Imported from here by the commands.
from typedbytes._base.exit_codes import (
    BAD_DATA,
    FAILED,
    INTERNAL,
    INTERRUPTED,
    IO_ERROR,
    NO_INPUT,
    OK,
    UNAVAILABLE,
    USAGE,
)
from typedbytes._base.locations import is_url
from typedbytes._base.secrets import without_secrets

__all__ = [
    "BAD_DATA", "FAILED", "INTERNAL", "INTERRUPTED", "IO_ERROR", "NO_INPUT", "OK", "UNAVAILABLE",
    "USAGE", "Failure", "display_name", "escaped", "nearest", "reason_of", "say", "say_lines", "say_message",
    "without_secrets_of",
]  # fmt: skip

# What a message begins with: main adds the name of the command, once that is known.
prefix = "typedbytes"


class Failure(Exception):
    """End the command, or its work on one input, with a message and an exit code."""

    def __init__(self, status, message):
        super().__init__(without_secrets(message))
        self.status = status

    def report(self):
        """Write the message to stderr and return the exit code."""
        say_message(str(self))
        return self.status


def nearest(word, words, cutoff=0.6):
    """Return the end of an error message that suggests the most similar of the known words; empty if none is near."""
    from difflib import get_close_matches

    close = get_close_matches(word, words, cutoff=cutoff)
    close.sort(key=lambda each: sorted(each) != sorted(word))  # swapped letters are the likeliest slip
    return "".join(f"; did you mean {each}?" for each in close[:1])


def say(text):
    """Write a line of text to stderr; a stderr that cannot be written to does not change the exit code."""
    if sys.stderr is not None:  # print would use stdout instead
        with suppress(OSError, ValueError):
            print(escaped(without_secrets(text)), file=sys.stderr, flush=True)


def say_message(text):
    """Write a line to stderr that names the command."""
    say(f"{prefix}: {text}")


def without_secrets_of(hook):
    """Return an exception hook that writes what another hook, perhaps the user's, prints, with secrets hidden."""

    def write_report(*exception):
        if sys.stderr is None:
            return
        with redirect_stderr(io.StringIO()) as report:
            hook(*exception)
        # ImportError: the interpreter is ending, and a text that could not be searched is not written.
        with suppress(OSError, ValueError, ImportError):
            sys.stderr.write(without_secrets(report.getvalue()))
            sys.stderr.flush()

    return write_report


def forget_unwritable_stderr():
    """Leave out sys.stderr if it cannot be flushed: Python 3.14 would end with 120, not with the exit code."""
    try:
        if sys.stderr is not None:
            sys.stderr.flush()
    except (OSError, ValueError):
        sys.stderr = None


def say_lines(text):
    """Write each line of a text to stderr as a message."""
    for line in text.splitlines():
        say_message(line)


def escaped(text):
    """Return text on one line, with characters that are not printable escaped as in Python."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def display_name(name):
    """Return the name of an input in messages."""
    return "standard input" if name == "-" else without_secrets(name) if is_url(name) else name


def reason_of(error):
    """Return the reason of an OSError as the system words it; of a remote system's many lines the first."""
    return _reason_of(error).partition("\n")[0].rstrip()


def _reason_of(error):
    if isinstance(error, FileNotFoundError) and not error.strerror:  # raised with a name only
        return f"{os.strerror(errno.ENOENT)}: {error}"
    return error.strerror or str(error) or type(error).__name__
