"""What a command reads and writes: its inputs, one after the other, and the standard output.

Here: opening, closing and naming of inputs, telling a SequenceFile from a stream, and which error of theirs is
which exit code. Not here: what is done with a record. Always true: the blocks that turn errors into Failure hold reading only, so that an OSError that leaves a
command is one of the output's.
"""

import io
import os
import sys
from contextlib import contextmanager

import typedbytes
from typedbytes.cli._manners import BAD_DATA, IO_ERROR, NO_INPUT, UNAVAILABLE, Failure, because

BUFFER_NBYTES = 1 << 16
SEQUENCE_FILE = b"SEQ"


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
def reading(name, options, raw=False):
    """Open an input and give its reader; what goes wrong meanwhile is a Failure that names the input."""
    with opened(name) as source:
        head = _head_of(source)
        if head and source.seekable():
            source.seek(-len(head), io.SEEK_CUR)
        elif head:
            source = _Again(head, source)
        with (_sequence_file if head == SEQUENCE_FILE else _stream)(source, options, raw) as reader:
            yield reader


def _stream(source, options, raw):
    kind = typedbytes.PairReader if options.pairs else typedbytes.Reader
    return kind(source, dialect=options.dialect, max_bytes=options.max_bytes, raw=raw)


def _sequence_file(source, options, raw):
    from typedbytes.cli import _sequence_files  # its users only

    return (_sequence_files.raw_pairs if raw else _sequence_files.reader)(source, options)


def unit(reader):
    """Return what a record of a reader is called."""
    return "values" if type(reader) is typedbytes.Reader else "pairs"


def _head_of(source):
    """Return the bytes that had to be read to tell a SequenceFile from a stream: all of its mark, or as far as it went."""
    head = b""
    while len(head) < len(SEQUENCE_FILE) and SEQUENCE_FILE.startswith(head):
        piece = source.read(len(SEQUENCE_FILE) - len(head))
        if not piece:
            break
        head += piece
    return head


class _Again:
    """Give bytes that have been read already, and then what follows them."""

    def __init__(self, head, source):
        self._head = head
        self._source = source

    def readinto(self, target):
        """Fill the front of a buffer; return how many bytes that were."""
        if not self._head:
            return self._source.readinto(target)
        piece, self._head = self._head[: len(target)], self._head[len(target) :]
        target[: len(piece)] = piece
        return len(piece)

    def read(self, nbytes):
        """Return at most so many bytes."""
        if not self._head:
            return self._source.read(nbytes)
        piece, self._head = self._head[:nbytes], self._head[nbytes:]
        return piece


@contextmanager
def opened(name):
    """Open an input and give its file; what goes wrong meanwhile is a Failure that names the input."""
    with _source(name) as source, blaming(name):
        yield source


def records(options):
    """Yield the encoded records of all inputs: bytes, or of pairs (key bytes, value bytes)."""
    for name in names(options):
        with reading(name, options, raw=True) as reader:
            yield from reader


def lines(options):
    """Yield (place, line) for the lines of all inputs; place tells the input and the line's number."""
    limit = -1 if options.max_bytes is None else options.max_bytes + 1
    for name in names(options):
        with _source(name) as source, blaming(name), io.BufferedReader(source, BUFFER_NBYTES) as file:
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
def blaming(name):
    """Turn what goes wrong while an input is read into a Failure that names it."""
    try:
        yield
    except typedbytes.DecodeError as error:
        raise Failure(BAD_DATA, f"{shown(name)}: {error}") from None
    except OSError as error:
        raise Failure(IO_ERROR, f"{shown(name)}: {because(error)}") from None
    except ModuleNotFoundError as error:
        raise Failure(UNAVAILABLE, f"{shown(name)}: {error}") from None
