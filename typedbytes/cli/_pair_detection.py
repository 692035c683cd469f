"""Guess from the types of the first values whether a stream holds single values, or keys and values in turn.

A command that would separate keys from their values is ended. Bytes that were examined are read again, and a pipe is not read
further than the command would read it.
"""

import io
from contextlib import suppress

import typedbytes
from typedbytes.cli._failure import USAGE, Failure

MAX_VALUES = 1000
SHOWN_TYPES = 8
SEEMS_PAIRS = "pairs, it seems"
HEAD_NBYTES = 1 << 16  # examined at first, and more if they hold less than four values
MAX_NBYTES = 1 << 20


def holds(codes):
    """Guess what the values are by their type codes."""
    if not codes:
        return "nothing"
    keys, values = set(codes[::2]), set(codes[1::2])
    if len(codes) > 2 and len(codes) % 2 == 0 and len(keys) == len(values) == 1:
        return SEEMS_PAIRS if keys != values else "values or pairs"
    return "values"


def types(codes):
    """Return the names of the first type codes."""
    return " ".join(map(_name, codes[:SHOWN_TYPES]))


def _name(code):
    try:
        return typedbytes.TypeCode(code).name
    except ValueError:
        return str(code)


def watch_for_pairs(source, shown, dialect):
    """Return the source; Failure is raised, here or while it is read, if it looks like pairs."""
    guess = _PairGuess(shown, dialect)
    if not source.seekable():
        return _Guessed(source, guess)
    head, piece = b"", None
    while piece != b"" and guess.is_open and len(head) < MAX_NBYTES:
        piece = source.read(HEAD_NBYTES)
        head += piece
        if len(head) >= HEAD_NBYTES or not piece:
            guess.look(head, is_all=not piece)
    source.seek(-len(head), io.SEEK_CUR)
    return source


class _PairGuess:
    """A guess that stays open until there are enough values."""

    def __init__(self, shown, dialect):
        self._shown = shown
        self._dialect = dialect
        self.is_open = True

    def look(self, head, is_all):
        """Examine the start of an input, or all of it; raise Failure if that looks like pairs."""
        codes = []
        with suppress(typedbytes.DecodeError):  # an incomplete value, or damage that the command will report
            for value, _ in zip(typedbytes.Reader(head, dialect=self._dialect, raw=True), range(MAX_VALUES)):
                codes.append(value[0])
        if not is_all:
            del codes[len(codes) // 2 * 2 :]  # its value may not have arrived
        if holds(codes) == SEEMS_PAIRS:
            message = f"{self._shown}: the input looks like pairs ({types(codes[:4])}): use --pairs, or --values if that is wrong"
            raise Failure(USAGE, f"{message} (TYPEDBYTES_RECORDS=pairs or =values sets it for all commands)")
        self.is_open = len(codes) <= 2 and not is_all


class _Guessed(io.RawIOBase):
    """Read from a pipe, and guess from its first bytes whether it holds pairs."""

    def __init__(self, source, guess):
        self._source = source
        self._guess = guess
        self._head = b""
        self._due = 0  # bytes needed for the next look: doubled each time, so that the work stays linear

    def readable(self):
        """Say that it can be read from."""
        return True

    def readinto(self, target):
        """Fill the front of a buffer; return how many bytes that were."""
        nbytes = self._source.readinto(target)
        if self._guess.is_open:
            self._head += target[:nbytes]
            if len(self._head) >= self._due or not nbytes:
                self._guess.look(self._head, is_all=not nbytes)
                self._due = 2 * len(self._head)
            self._guess.is_open &= len(self._head) < MAX_NBYTES
        return nbytes
