"""What a command reads and writes: its inputs, one after the other, and the standard output.

Here: opening, closing and naming of inputs, and which error of theirs is which exit code. Not here: what is done with
a record. Always true: the blocks that turn errors into Failure hold reading only, so that an OSError that leaves a
command is one of the output's.
"""

import io
import os
import sys
from contextlib import contextmanager

import typedbytes
from typedbytes.cli._manners import BAD_DATA, IO_ERROR, NO_INPUT, Failure, because

BUFFER_NBYTES = 1 << 16


class Output:
    """Write to a copy of the standard output, which is flushed and closed here and nowhere else."""

    def __init__(self):
        self._raw = open(os.dup(1), "wb", buffering=0)
        self._file = io.BufferedWriter(self._raw, BUFFER_NBYTES)
        self._watched = self._raw.isatty()
        self.write = self._file.write
        self.flush = self._file.flush

    def line(self, text):
        """Write one line of text, at once when somebody is looking on."""
        self.write(f"{text}\n".encode())
        if self._watched:
            self._file.flush()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        # After an error what is still in the buffer is dropped: a closed descriptor cannot be flushed to later.
        if kind is not None:
            self._raw.close()
        self._file.close()


def names(options):
    """Return the names of the inputs as the user gave them."""
    return options.files or ["-"]


@contextmanager
def reading(name, options, **decode):
    """Open an input and give its reader; what goes wrong meanwhile is a Failure that names the input."""
    kind = typedbytes.PairReader if options.pairs else typedbytes.Reader
    with _source(name) as source, _blaming(name):
        with kind(source, dialect=options.dialect, max_bytes=options.max_bytes, **decode) as reader:
            yield reader


@contextmanager
def opened(name):
    """Open an input and give its file; what goes wrong meanwhile is a Failure that names the input."""
    with _source(name) as source, _blaming(name):
        yield source


def records(options):
    """Yield the encoded records of all inputs: bytes, or with --pairs (key bytes, value bytes)."""
    for name in names(options):
        with reading(name, options, raw=True) as reader:
            yield from reader


def lines(options):
    """Yield (place, line) for the lines of all inputs; place tells the input and the line's number."""
    limit = -1 if options.max_bytes is None else options.max_bytes + 1
    for name in names(options):
        with _source(name) as source, _blaming(name), io.BufferedReader(source, BUFFER_NBYTES) as file:
            for number, line in enumerate(iter(lambda: file.readline(limit), b""), 1):
                place = f"{shown(name)}: line {number}"
                if len(line) == limit and not line.endswith(b"\n"):
                    raise Failure(BAD_DATA, f"{place}: longer than {options.max_bytes} bytes")
                yield place, line


def shown(name):
    """Return what messages call an input."""
    return "standard input" if name == "-" else name


def _source(name):
    try:
        if name != "-":
            return open(name, "rb", buffering=0)
        if sys.stdin is None:
            raise Failure(NO_INPUT, f"{shown(name)}: closed")
        return open(0, "rb", buffering=0, closefd=False)
    except OSError as error:
        raise Failure(NO_INPUT, f"{shown(name)}: {because(error)}") from None


@contextmanager
def _blaming(name):
    try:
        yield
    except typedbytes.DecodeError as error:
        raise Failure(BAD_DATA, f"{shown(name)}: {error}") from None
    except OSError as error:
        raise Failure(IO_ERROR, f"{shown(name)}: {because(error)}") from None
