"""The command grep."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from contextlib import nullcontext

import typedbytes
from typedbytes.cli import _arguments as arguments
from typedbytes.cli._arguments import RecordSettings, option, switch
from typedbytes.cli._failure import USAGE, Failure
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._input.pair_detection import REFUSE
from typedbytes.cli._output.records import Records, UntilFailure
from typedbytes.cli._records.encoded import is_pairs

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput

NEVER_IN_A_NUMBER = re.compile(r"[^-+.0-9aefilnrstu]", re.IGNORECASE)  # occurs in no number, and not in true or false


class _PatternSettings(arguments.Settings):
    pattern: str = option(metavar="PATTERN", help="a regular expression of Python")


class Settings(RecordSettings, _PatternSettings):
    """The options of grep."""

    fixed: bool = switch("-F", "--fixed", help="PATTERN is plain text")
    ignore_case: bool = switch("-i", "--ignore-case", help="ignore the case of letters")
    count: bool = switch("-c", "--count", help="print the number of matching records, and no record")
    invert: bool = switch("-v", "--invert", help="copy the records that do not match")
    part: str = option(
        "--in", choices=("any", "key", "value"), default="any", help="the part of a pair to search (any)"
    )


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Copy the records that contain PATTERN to stdout, byte for byte.

    Each STRING and BYTES of a record is searched, also inside containers, and so are its numbers as
    they are written in decimal. A record that cannot be decoded does not match. The exit code is 1
    if no record matches. -c prints the number of matches in all inputs. A PATTERN without special
    characters is found many times faster than others, unless -i is given.

    examples:
      typedbytes grep -F hadoop --in key --pairs part-0*.tb | typedbytes to-json --pairs
      typedbytes grep '^(GET|HEAD) ' logs.tb -o requests.tb
    """
    search, inputs = _Search(settings), Inputs(settings, REFUSE)
    with nullcontext(_NoOutput()) if settings.count else Records(settings, output) as records:
        for name in inputs:
            with inputs.reading(name) as reader:
                if settings.part != "any" and not is_pairs(reader):
                    raise Failure(USAGE, f"argument --in: values have no {settings.part} (see --pairs)")
                search.nparts = 2 if is_pairs(reader) else 1
                records.filter_chunks(reader, search.matches)
    if settings.count:
        output.line(str(search.nfound))
    return 0 if search.nfound else 1


class _NoOutput:
    """In the place of Records where the chosen records are only counted."""

    def filter_chunks(self, reader, select):
        """Walk over the records that select(chunk) yields, for chunks of whole records."""
        with typedbytes.Writer(UntilFailure(lambda chunk: deque(select(chunk), 0))) as copier:
            copier.copy(reader)


class _Search:
    """Find the records of a chunk that match."""

    def __init__(self, settings):
        text = settings.pattern
        is_fixed = settings.fixed or re.escape(text) == text
        flags = re.IGNORECASE if settings.ignore_case else 0
        try:
            self._search = re.compile(re.escape(text) if is_fixed else text, flags).search
        except re.error as error:
            raise Failure(USAGE, f"argument PATTERN: {error}") from None
        # Search for bytes that every match must hold, if there are any:
        # not if numbers, or letters of both cases, may match.
        has_bytes = is_fixed and NEVER_IN_A_NUMBER.search(text) and not settings.ignore_case
        self._find = re.compile(re.escape(text.encode("utf-8", "surrogateescape"))).finditer if has_bytes else None
        self._part = {"any": slice(None), "key": slice(0, 1), "value": slice(1, 2)}[settings.part]
        self._copies_matches = not settings.invert
        self._dialect = settings.dialect
        self._decoder = typedbytes.Decoder(
            dialect=settings.dialect, pickle="raw", map_pairs=True, unicode_errors="surrogateescape", exact=True
        )
        self.nparts = 1
        self.nfound = 0

    def matches(self, chunk):
        """Yield the records to copy."""
        chunk = bytes(chunk)
        found = [match.start() for match in self._find(chunk)] if self._find else None
        if found == [] and self._copies_matches:
            return
        starts = typedbytes.index(chunk, dialect=self._dialect)[:: self.nparts]
        stops = [*starts[1:], len(chunk)]
        candidates = range(len(starts)) if found is None else {bisect_right(starts, offset) - 1 for offset in found}
        for number in sorted(candidates) if self._copies_matches else range(len(starts)):
            record = chunk[starts[number] : stops[number]]
            if (number in candidates and self._is_in(record)) == self._copies_matches:
                self.nfound += 1
                yield record

    def _is_in(self, record):
        try:
            values = self._decoder.decode_all(record)
        except typedbytes.DecodeError:  # the reader has checked the structure; what is wrong holds no text
            return False
        return any(map(self._search, _texts(values[self._part])))


def _texts(values):
    """Yield the texts of values and of their items."""
    stack = [iter(values)]
    while stack:
        for value in stack[-1]:
            if isinstance(value, str):
                yield value
            elif isinstance(value, bytes):
                yield value.decode("utf-8", "surrogateescape")
            elif isinstance(value, bool):
                yield "true" if value else "false"
            elif isinstance(value, int):  # the repr of a subclass with a width is not a decimal number
                yield int.__repr__(value)
            elif isinstance(value, float):
                yield float.__repr__(value)
            elif isinstance(value, (tuple, list)) and not isinstance(value, (typedbytes.Ext, typedbytes.Writable)):
                stack.append(iter(value))
                break
        else:
            stack.pop()
