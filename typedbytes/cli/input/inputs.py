"""The inputs of a command: naming, opening and recognising them, one after the other; which of their errors is which exit code.

The blocks that turn errors into Failure hold reading only: an OSError that leaves a command is one of the output's.
"""

import io
import itertools
import os
import sys
from codecs import BOM_UTF8
from contextlib import contextmanager

import typedbytes
from typedbytes._base.compression import decompressed, put_back
from typedbytes._base.secrets import without_secrets
from typedbytes._core import keep_freed_memory
from typedbytes.cli.failure import BAD_DATA, IO_ERROR, NO_INPUT, OK, UNAVAILABLE, USAGE, Failure, reason_of
from typedbytes.cli.input import formats, progress

MIXED_KINDS = "some inputs hold pairs and some values: --pairs reads all as pairs"
WILD = frozenset("*?[")


def input_names(options):
    """Return the names of the inputs, with folders and patterns replaced by the files they match."""
    found = []
    for path in options.files or ["-"]:
        found += matching_names(path)
    return found


def matching_names(path):
    """Return the names of the files that a path, a folder, a pattern or a URL matches."""
    if path == "-" or not ("://" in path or WILD.intersection(path) or os.path.isdir(path)):
        return [path]
    from typedbytes.cli.input.paths import files  # imported lazily: start-up time

    with as_input_failure(path, NO_INPUT):
        return files(path)


@contextmanager
def reading(name, options, raw=False, others=None, mixed=False):
    """Open an input and yield its reader; any error meanwhile becomes a Failure that names the input.

    others: for further formats, by name, a function of the source that returns a reader. mixed: pairs may follow values.
    """
    with opened(name) as source:
        form, source = recognised(source, options)
        is_empty, source = check_if_empty(source)
        if not mixed and not is_empty:
            _check_kind(form, options)
        if others and form in others:
            with others[form](source) as reader:
                yield reader
            return
        source = check_for_pairs(source, form, name, options)
        with formats.reader_of(source, form, display_name(name), options, raw) as reader:
            yield reader


def recognised(source, options):
    """Return the format of a source, given by --from or by its first bytes, and the source to read it from."""
    given = getattr(options, "from_", None)
    if given is not None:
        return given, source
    head, form = b"", None
    while form is None:
        piece = source.read(formats.nbytes_to_recognise(head)) or b""
        head += piece
        form = formats.recognise(head, not piece)
    return form, put_back(head, source)


def check_if_empty(source):
    """Return whether a source has no bytes, and so no kind of records, and the source to read it from."""
    head = source.read(1)
    return not head, put_back(head, source)


def _check_kind(form, options):
    """Raise Failure if an input of this format holds pairs and an earlier one values, or the other way round."""
    pairs = options.pairs or form == "sequencefile"
    if getattr(options, "holds_pairs", pairs) != pairs:
        raise Failure(USAGE, MIXED_KINDS)
    options.holds_pairs = pairs


def check_for_pairs(source, form, name, options):
    """Return the source, watched for what looks like pairs if the command depends on it, and no option says what a record is."""
    if form != "typedbytes" or not getattr(options, "pair_check", None) or not options.is_record_kind_unknown:
        return source
    from typedbytes.cli.input import pair_detection  # imported lazily: start-up time

    return pair_detection.watch_for_pairs(source, display_name(name), options)


@contextmanager
def opened(name, path=None):
    """Open an input and yield its decompressed contents; any error meanwhile becomes a Failure that names the input. path: that of a copy of it."""
    with opened_as_it_is(name, path) as source:
        yield decompressed(source, name)


@contextmanager
def opened_as_it_is(name, path=None):
    """Open an input in the same way and yield its bytes."""
    with _source(path or name) as source, as_input_failure(name), progress.show_progress(source, display_name(name)) as watched:
        yield watched


def lines(options, use=iter, piece_nbytes=-1):
    """Yield what `use` makes of the lines of JSON of each input, (location, line)s; a location is the input and the number of the line."""
    for name in input_names(options):
        with opened(name) as source:
            yield from use(_without_mark(formats.lines_of(source, display_name(name), options.max_bytes, piece_nbytes)))


def _without_mark(found):
    for location, line in itertools.islice(found, 1):
        yield location, line.removeprefix(BOM_UTF8) or b"\n"  # a byte order mark, which some editors write
    yield from found


def display_name(name):
    """Return the name of an input in messages."""
    return "standard input" if name == "-" else without_secrets(name) if "://" in name else name


class _BlockingPipe(io.RawIOBase):
    """Read from a pipe. If another process made it non-blocking, data that has not arrived is an error, not the end."""

    def __init__(self, source):
        self._source = source

    def readable(self):
        """Return True."""
        return True

    def readinto(self, target):
        """Fill the front of a buffer; return how many bytes that were."""
        nbytes = self._source.readinto(target)
        if nbytes is None:
            raise BlockingIOError("the source must be in blocking mode")
        return nbytes


def _source(name):
    keep_freed_memory()
    try:
        if "://" in name:
            from typedbytes.cli.input.paths import reading_url  # imported lazily: start-up time

            return reading_url(name)
        if name != "-":
            return open(name, "rb", buffering=0)
        if sys.stdin is None:
            raise Failure(NO_INPUT, f"{display_name(name)}: closed")
        source = open(0, "rb", buffering=0, closefd=False)
        return source if source.seekable() else _BlockingPipe(source)  # reading a file never blocks
    except OSError as error:
        raise Failure(NO_INPUT, f"{display_name(name)}: {reason_of(error)}") from None


@contextmanager
def as_input_failure(name, status=IO_ERROR):
    """Turn an error while an input is read into a Failure that names it."""
    try:
        yield
    except typedbytes.DecodeError as error:
        raise Failure(BAD_DATA, f"{display_name(name)}: {error}") from None
    except OSError as error:
        raise Failure(status, f"{display_name(name)}: {reason_of(error)}") from None
    except ModuleNotFoundError as error:
        raise Failure(UNAVAILABLE, f"{display_name(name)}: {error}") from None


def report_skipped(name, skipped):
    """Report on stderr the damage that was skipped; return the exit code."""
    for each in skipped:
        nrecords = "" if each.nrecords is None else f", {each.nrecords} records"
        Failure(BAD_DATA, f"{display_name(name)}: skipped {each.nbytes} bytes{nrecords}: {each.error}").report()
    return BAD_DATA if skipped else OK
