"""Guess from the types of the first values whether a stream holds single values, or keys and values in turn.

A command that would separate keys from their values is ended, others say what they took the input for. Bytes that were
examined are read again, and a pipe is not read further than the command would read it.
"""

import io
import os
from contextlib import suppress

import typedbytes
from typedbytes.cli._failure import USAGE, Failure, say_message

# What to do about input that looks like pairs when no option says what a record is: NOTE reports it, REFUSE fails,
# CHECK_UNDECIDED also examines ambiguous input, which fails only if -o replaces an input.
NOTE, REFUSE, CHECK_UNDECIDED = "note", "refuse", "check_undecided"
MAX_VALUES = 1000
SHOWN_TYPES = 8
SEEMS_PAIRS = "pairs, it seems"
UNDECIDED = "values or pairs"
HEAD_NBYTES = 1 << 16  # examined at first, and more if they hold fewer than four values
MAX_NBYTES = 1 << 20


def guess_records(codes):
    """Guess from type codes: pairs if even or odd positions have a single type, and the two sets differ."""
    if not codes:
        return "nothing"
    keys, values = set(codes[::2]), set(codes[1::2])
    if len(codes) == 2 or len(codes) % 2 or min(len(keys), len(values)) > 1:
        return "values"
    return SEEMS_PAIRS if keys != values else UNDECIDED


def type_names(codes):
    """Return the names of the first type codes."""
    return " ".join(map(_type_name, codes[:SHOWN_TYPES]))


def _type_name(code):
    try:
        return typedbytes.TypeCode(code).name
    except ValueError:
        return str(code)


def watch_for_pairs(source, dialect, check):
    """Return the source, which is examined here or while it is read.

    check(codes) is called once there are enough values for a guess.
    """
    guess = _PairGuess(dialect, check)
    if not source.seekable():
        return _GuessedPipe(source, guess)
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

    def __init__(self, dialect, check):
        self._dialect = dialect
        self._check = check
        self.is_open = True

    def look(self, head, is_all):
        """Examine the start of an input, or all of it, and check the guess once there are enough values."""
        codes = []
        with suppress(typedbytes.DecodeError):  # an incomplete value, or damage that the command will report
            for value, _ in zip(typedbytes.Reader(head, dialect=self._dialect, raw=True), range(MAX_VALUES)):
                codes.append(value[0])
        if not is_all:
            del codes[len(codes) // 2 * 2 :]  # its value may not have arrived
        self.is_open = len(codes) <= 2 and not is_all
        if not self.is_open:
            self._check(codes)


def check_guess(name, pair_check, files, output, types):
    """Say what an input was taken for where that may be wrong; raise Failure where records would be taken apart.

    files: all inputs; output: the file that -o names; types: the type codes of the first values.
    """
    guess = guess_records(types)
    if guess == SEEMS_PAIRS:
        looks = f"looks like pairs ({type_names(types[:4])}): use --pairs, or --values if that is wrong"
        if pair_check == NOTE:
            say_message(f"{name}: read as single values, but it {looks}")
            return
        raise Failure(
            USAGE, f"{name}: the input {looks} (TYPEDBYTES_RECORDS=pairs or =values sets it for all commands)"
        )
    if guess == UNDECIDED and pair_check == CHECK_UNDECIDED:
        _check_undecided(_type_name(types[0]), name, files, output)


def _check_undecided(type_name, name, files, output):
    if (
        output is not None
        and os.path.exists(output)
        and any(os.path.exists(each) and os.path.samefile(each, output) for each in files)
    ):
        message = (
            f"these may be values, or pairs of two {type_name}s: pass --values or --pairs, because -o replaces an input"
        )
        raise Failure(USAGE, f"{name}: {message}")
    if files:  # with a pipe the original input is unchanged
        say_message(
            f"{name}: read as single values: use --pairs for pairs of two {type_name}s, "
            "or --values to leave out this line"
        )


class _GuessedPipe(io.RawIOBase):
    """Read from a pipe, and guess from its first bytes whether it holds pairs."""

    def __init__(self, source, guess):
        self._source = source
        self._guess = guess
        self._head = b""
        self._due = 0  # bytes needed for the next look: doubled each time, so that the work stays linear

    def readable(self):
        return True

    def readinto(self, target):
        nbytes = self._source.readinto(target)
        if self._guess.is_open:
            self._head += target[:nbytes]
            if len(self._head) >= self._due or not nbytes:
                self._guess.look(self._head, is_all=not nbytes)
                self._due = 2 * len(self._head)
            self._guess.is_open &= len(self._head) < MAX_NBYTES
        return nbytes
