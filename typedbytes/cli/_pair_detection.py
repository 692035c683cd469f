"""Whether a stream of typed bytes holds values, or keys and values in turn: a guess by the types of the first values.

Here: the guess, and the end of a command that would take pairs apart. Not here: reports. Always true: what was looked at is read
again; of a pipe nothing is waited for that the command would not wait for.
"""

import io
from contextlib import suppress

import typedbytes
from typedbytes.cli._failure import USAGE, Failure

MOST_VALUES = 1000
SHOWN_TYPES = 8
SEEMS_PAIRS = "pairs, it seems"
HEAD_NBYTES = 1 << 16  # that are looked at, and more if four values do not end in there
MOST_NBYTES = 1 << 20


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


def unless_pairs(source, shown, dialect):
    """Return the source; Failure is raised, here or by it, when it seems to hold pairs."""
    guess = _Guess(shown, dialect)
    if not source.seekable():
        return _Guessed(source, guess)
    head, piece = b"", None
    while piece != b"" and guess.is_open and len(head) < MOST_NBYTES:
        piece = source.read(HEAD_NBYTES)
        head += piece
        if len(head) >= HEAD_NBYTES or not piece:
            guess.look(head, is_all=not piece)
    source.seek(-len(head), io.SEEK_CUR)
    return source


class _Guess:
    """A guess that is open until there are enough values."""

    def __init__(self, shown, dialect):
        self._shown = shown
        self._dialect = dialect
        self.is_open = True

    def look(self, head, is_all):
        """Look at what an input starts with, or all of it; Failure is raised when that seems to be pairs."""
        codes = []
        with suppress(typedbytes.DecodeError):  # of a value that is not all there, or of damage, which the command will meet
            for value, _ in zip(typedbytes.Reader(head, dialect=self._dialect, raw=True), range(MOST_VALUES)):
                codes.append(value[0])
        if not is_all:
            del codes[len(codes) // 2 * 2 :]  # its value may be still to come
        if holds(codes) == SEEMS_PAIRS:
            message = f"{self._shown}: keys and values in turn, it seems ({types(codes[:4])}): say --pairs, or --values if that is wrong"
            raise Failure(USAGE, f"{message} (TYPEDBYTES_RECORDS=pairs or =values says it for all commands)")
        self.is_open = len(codes) <= 2 and not is_all


class _Guessed(io.RawIOBase):
    """Read from a pipe, and guess by what comes what it holds."""

    def __init__(self, source, guess):
        self._source = source
        self._guess = guess
        self._head = b""
        self._due = 0  # bytes to look at next: twice as many each time, so that the work does not grow with their square

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
            self._guess.is_open &= len(self._head) < MOST_NBYTES
        return nbytes
