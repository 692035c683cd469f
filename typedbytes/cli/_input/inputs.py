"""The inputs of a command: naming, opening and recognising them in turn, and the exit codes of their errors.

The blocks that turn errors into Failure hold reading only: an OSError that leaves a command is one of the output's.
"""

from __future__ import annotations

import io
import os
import stat
import sys
from contextlib import contextmanager, suppress
from functools import partial

import typedbytes
from typedbytes._base.compression import compression_of_text, decompressed, put_back
from typedbytes._base.locations import PART_PREFIX, is_pattern, is_url
from typedbytes._core import keep_freed_memory
from typedbytes.cli._failure import (
    BAD_DATA,
    IO_ERROR,
    NO_INPUT,
    OK,
    UNAVAILABLE,
    USAGE,
    Failure,
    display_name,
    reason_of,
    say_message,
)
from typedbytes.cli._input import formats, progress

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from typing import Any

    from typedbytes.cli._arguments import InputSettings


class Inputs:
    """The inputs of a command by name, with the files of folders and patterns, and how they are read.

    pair_check: what to do about input that looks like pairs, one of pair_detection; None: nothing. rows: the formats of
    rows of text that the command reads. rcfile: what columns.read is to know of RCFiles. notes_classes: say which
    classes of SequenceFiles are not known. plain: all are natural JSON. notes_partitions: say which columns of a table
    of Hive only its folders have. only_for: by options that are given, the formats to which they apply; one input has
    to be of these.
    """

    def __init__(
        self,
        settings: InputSettings,
        pair_check: str | None = None,
        rows: Iterable[str] = (),
        rcfile: Any = None,
        notes_classes: bool = False,
        plain: bool = False,
        notes_partitions: bool = False,
        only_for: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.files = settings.files
        refuse_stdin_twice(self.files)
        self.format = settings.from_
        self.dialect = settings.dialect
        self.pairs = settings.pairs
        self.max_bytes = settings.max_bytes
        self.recursive = settings.recursive
        self.rcfile: dict[str, Any] = rcfile or {}
        self.text = settings.text_options
        self._only_for = dict(only_for or {})
        self._others: dict[str, str] = {}  # by options, what is said of an input to which they do not apply
        self._rows = tuple(rows)
        self._names: list[str] = []
        self._plain = plain
        self._notes_partitions = notes_partitions
        self._pair_check = pair_check if settings.is_record_kind_unknown else None
        self._output = settings.output
        self._kinds: dict[bool, str] = {}  # by whether it holds pairs, the name of the first input
        self._noted_classes: set[str] | None = set() if notes_classes else None

    def __iter__(self) -> Iterator[str]:
        names = [name for path in self.files or ["-"] for name in matching_names(path, self.recursive)]
        progress.expect(names)
        self._names = names
        if self._notes_partitions:
            _note_partitions(names)
        return iter(names)

    def part_files_advice(self, name: str) -> str:
        """Return what a message says of a file that is not what the part files of its folder are; empty: it is one."""
        part = next((each for each in self._names if os.path.basename(each).startswith(PART_PREFIX)), "")
        folder = next((path.rstrip("/") for path in self.files if name.startswith(f"{path.rstrip('/')}/")), None)
        if os.path.basename(name).startswith(PART_PREFIX) or folder is None or not part.startswith(f"{folder}/"):
            return ""
        depth = part[len(folder) + 1 :].count("/")
        return f"name the part files: '{folder}/{'*/' * depth}{PART_PREFIX}*'"

    @contextmanager
    def reading(
        self,
        name: str,
        raw: bool = True,
        others: Mapping[str, Callable[[Any], AbstractContextManager]] | None = None,
        mixed: bool = False,
    ) -> Iterator[Any]:
        """Open an input and yield its reader; any error meanwhile becomes a Failure that names the input.

        raw: records are read as bytes. others: for further formats, by name,
        a function of the source that returns a reader. mixed: pairs may follow values.
        """
        with opened(name) as source:
            form, source = self.recognised(source, name)
            if not mixed and form != formats.EMPTY:
                self.check_kind(self.pairs or form == "sequencefile", name)
            if others and form in others:
                with others[form](source) as reader:
                    yield reader
                return
            source = self.check_for_pairs(source, form, name)
            with formats.reader_of(source, form, self._opening(name), raw) as reader:
                self.note_classes(reader)
                yield reader

    def recognised(self, source: Any, name: str = "") -> tuple[str, Any]:
        """Return the format of a source, given by --from or by its first bytes, and the source to read it from.

        Without bytes it is EMPTY, unless --from names a format of tables. What has no signature is of the format among
        the rows that the end of its name says.
        """
        form, source = self._recognised(source, name)
        advice = self.part_files_advice(name) if form == "text" else ""
        if advice:
            raise Failure(BAD_DATA, f"{display_name(name)}: text among the part files: {advice}")
        if self._plain and form not in ("json", formats.EMPTY):
            raise Failure(USAGE, f"{display_name(name)}: --plain is a form of JSON, and this is {form}")
        self._check_options(form, name)
        return form, source

    def _check_options(self, form, name):
        """Raise Failure at the last input if an option applies to none."""
        for given, known in list(self._only_for.items()):
            if form in known:
                del self._only_for[given]
                continue
            if form != formats.EMPTY:
                message = f"{display_name(name)}: {given} for {', '.join(known)}, and this is {form}"
                self._others.setdefault(given, message)
            if given in self._others and [name] == self._names[-1:]:
                raise Failure(USAGE, self._others[given])

    def _recognised(self, source, name):
        if self.format is not None:
            is_empty, source = check_if_empty(source) if self.format in formats.INPUTS else (False, source)
            return formats.EMPTY if is_empty else self.format, source
        head, form = b"", None
        while form is None:
            piece = source.read(formats.nbytes_to_recognise(head)) or b""
            head += piece
            form = formats.recognise(head, not piece)
        if form in ("text", "json", "typedbytes"):
            form = self._rows_by_name(name) or form
        return form, put_back(head, source)

    def _rows_by_name(self, name):
        """Return the format of rows that a name says, maybe before the suffix of a compression; None: it says none."""
        stem = os.path.splitext(name)[0]
        for form in self._rows:
            if name.endswith(f".{form}") or stem.endswith(f".{form}") and compression_of_text(name):
                return form
        return None

    def check_kind(self, pairs: bool, name: str) -> None:
        """Raise Failure if an input holds pairs and an earlier one values, or the other way round."""
        self._kinds.setdefault(pairs, display_name(name))
        if len(self._kinds) > 1:
            message = (
                f"some inputs hold pairs and some values ({self._kinds[True]} pairs, {self._kinds[False]} values): "
                "--pairs reads all as pairs"
            )
            raise Failure(USAGE, message)

    def check_for_pairs(self, source: Any, form: str, name: str) -> Any:
        """Return the source, watched for what looks like pairs where no option says whether records are pairs."""
        if form != "typedbytes" or not self._pair_check:
            return source
        from typedbytes.cli._input import pair_detection

        check = partial(pair_detection.check_guess, display_name(name), self._pair_check, self.files, self._output)
        return pair_detection.watch_for_pairs(source, self.dialect, check)

    def source_of(self, source: Any, form: str, name: str) -> Any:
        """Return a source of typed bytes in which no record is larger than --max-bytes."""
        found = formats.limited_source_of(source, form, self._opening(name))
        self.note_classes(found)
        return found

    def note_classes(self, reader: Any) -> None:
        """Say which classes are not known of a SequenceFile, or of the one that a source of records has, if any.

        Only a command that shows what is in the values asks for it.
        """
        file = getattr(reader, "sequence_file", reader)
        if self._noted_classes is not None and hasattr(file, "key_class"):
            from typedbytes.cli._input.classes import note_unknown_classes

            note_unknown_classes(file, self._noted_classes)

    def _opening(self, name):
        return formats.Opening(display_name(name), self.pairs, self.dialect, self.max_bytes, self._plain)

    def lines(self) -> Iterator[tuple[str, bytes]]:
        """Yield (location, line) for the lines of JSON of each input.

        A location is the input and the number of the line.
        """
        for name in self:
            with opened(name) as source:
                yield from formats.lines_of(source, display_name(name), self.max_bytes)

    def records_of_json(self) -> Iterator[bytes]:
        """Yield the encoded records of each input of JSON, several at a time."""
        for name in self:
            with opened(name) as source:
                yield from formats.records_of_json(source, self._opening(name))


def _note_partitions(names):
    """Say which columns are in the names of folders, as ti in warehouse/visits/ti=1, and not in the files."""
    folders = [folder.partition("=") for name in names for folder in name.split("/")[:-1]]
    found = dict.fromkeys(column for column, sign, _ in folders if column and sign)
    if found:
        is_or_are = f"s {', '.join(found)} are" if len(found) > 1 else f" {next(iter(found))} is"
        say_message(f"note: the column{is_or_are} in the names of folders alone, and not in the output")


def matching_names(path, recursive=False):
    """Return the names of the files that a path, a folder, a pattern or a URL matches."""
    if path == "-" or not (is_url(path) or is_pattern(path) or os.path.isdir(path)):
        return [path]
    from typedbytes.cli._input.paths import files

    with as_input_failure(path, NO_INPUT):
        return files(path, recursive)


def check_if_empty(source):
    """Return whether a source has no bytes, and the source to read it from."""
    head = source.read(1)
    return not head, put_back(head, source)


def refuse_stdin_twice(files):
    """Raise Failure where standard input is given twice."""
    if files.count("-") > 1:
        raise Failure(USAGE, "standard input is given twice among the inputs, but can be read only once")


@contextmanager
def opened(name, path=None):
    """Open an input and yield its decompressed contents; any error meanwhile becomes a Failure that names the input.

    path: that of a copy of it.
    """
    with opened_as_it_is(name, path) as source:
        yield decompressed(source, name)


@contextmanager
def opened_as_it_is(name, path=None):
    """Open an input as `opened` does, and yield its bytes as they are."""
    with (
        _source(path or name) as source,
        as_input_failure(name),
        progress.show_progress(source, name) as watched,
    ):
        yield watched


class _BlockingPipe(io.RawIOBase):
    """Read from a pipe. If another process made it non-blocking, data that has not arrived is an error, not the end."""

    def __init__(self, source):
        self._source = source

    def readable(self):
        return True

    def readinto(self, target):
        nbytes = self._source.readinto(target)
        if nbytes is None:
            raise BlockingIOError("the source must be in blocking mode")
        return nbytes


def _source(name):
    keep_freed_memory()
    try:
        if is_url(name):
            from typedbytes.cli._input.paths import reading_url

            return reading_url(name)
        if name == "-" and sys.stdin is None:
            raise Failure(NO_INPUT, f"{display_name(name)}: closed")
        source = open(0 if name == "-" else name, "rb", buffering=0, closefd=name != "-")
        _refuse_output(source, name)
        return source if name != "-" or source.seekable() else _BlockingPipe(source)  # reading a file never blocks
    except OSError as error:
        raise Failure(NO_INPUT, f"{display_name(name)}: {reason_of(error)}") from None


def _refuse_output(source, name):
    """Raise Failure for a file that standard output is added to: it would grow while it is read."""
    found = os.fstat(source.fileno())
    with suppress(OSError):  # standard output is closed
        if stat.S_ISREG(found.st_mode) and found.st_size and os.path.samestat(found, os.fstat(1)):
            source.close()
            raise Failure(USAGE, f"{display_name(name)}: the output is added to this input: write to another file")


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
    for part in skipped:
        nrecords = "" if part.nrecords is None else f", {part.nrecords} records"
        Failure(BAD_DATA, f"{display_name(name)}: skipped {part.nbytes} bytes{nrecords}: {part.error}").report()
    return BAD_DATA if skipped else OK
