"""Records as text and back: one a line, key, separator and value, or rows by the rules of the csv module.

Text has no types: all that is read becomes STRINGs. What a line or row could not give back as it was is an error.
Both directions are compiled (typedbytes._report).
"""

from __future__ import annotations

import io

import typedbytes
from typedbytes import _report
from typedbytes.cli._failure import BAD_DATA, USAGE, Failure, escaped
from typedbytes.cli._records.encoded import is_pairs
from typedbytes.errors import with_hint

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

_PIECE_NBYTES = 1 << 18  # of text
_EMPTY_VALUES = b"\x08\0\0\0\0", b"\x09\xff"  # VECTOR and LIST


class Layout:
    """What the options make of a line."""

    def __init__(self, pairs, delimiter, header, separator):
        self.pairs = pairs
        self.header = header
        self.is_rows = delimiter is not None
        self.separator = separator or delimiter or "\t"
        if self.is_rows and (len(self.separator) != 1 or self.separator in '"\r\n'):
            raise Failure(
                USAGE,
                "argument --separator: a row needs one character other than a quote or a line end, "
                f"not {self.separator!r}",
            )
        if separator == "" or "\n" in self.separator or "\r" in self.separator:
            raise Failure(USAGE, f"argument --separator: expected text without a line end, not {separator!r}")
        if separator is not None and not (self.pairs or self.is_rows):
            raise Failure(USAGE, "argument --separator: only --pairs, --csv and --tsv separate anything")
        if self.header and (self.pairs or not self.is_rows):
            raise Failure(USAGE, "argument --header: needs --csv or --tsv, and no --pairs")

    def refuse_separator_of_no_text(self):
        """Raise Failure if no line can have the separator, since lines are UTF-8."""
        try:
            self.separator.encode()
        except UnicodeEncodeError:
            message = f"argument --separator: expected text in UTF-8, as the lines are, not {self.separator!r}"
            raise Failure(USAGE, message) from None


# Text to records


def records_of(source, shown, layout, max_bytes, lines=None):
    """Yield encoded records of a source of text, several at a time.

    shown: the input in messages. lines: gets the number of the last line of each record.
    """
    options = {"pairs": layout.pairs, "rows": layout.is_rows, "header": layout.header, "max_bytes": max_bytes}
    text = _report.TextRecords(layout.separator.encode(), **options)
    with io.BufferedReader(source, _PIECE_NBYTES) as file:
        piece = None
        while piece != b"":
            piece = file.read1(_PIECE_NBYTES)
            records = text.take(piece, not piece, lines)
            if records:
                yield records
            if text.fault:
                raise failure_at(shown, *text.fault)


def failure_at(shown, line, message):
    """Return a Failure that names a line of text."""
    return Failure(BAD_DATA, f"{shown}: line {line}: {message}")


# Records to text


class TextOutput:
    """Write records to a CommandOutput as lines of text."""

    def __init__(self, output, dialect, layout):
        self._layout = layout
        self._options = {"rows": layout.is_rows, "header": layout.header, "dialect": dialect}
        self._output = output
        self._lines: Any = None

    def expect(self, reader):
        """Prepare for the records of this reader."""
        pairs = is_pairs(reader)
        self._nbytes = self._nrecords = 0  # written of it
        if pairs and self._layout.header:
            raise Failure(USAGE, "argument --header: needs values, not pairs")
        if self._lines is None:
            separator = self._layout.separator.encode(errors="surrogateescape")
            self._lines = _report.TextLines(separator, pairs=pairs, **self._options)

    def close(self, is_complete):
        """Write what follows the last record: nothing."""

    def write(self, records):
        """Write records as text, up to the first that cannot be text."""
        ends: list[int] | None = [] if self._output.is_terminal else None
        text, fault = self._lines.lines(records, ends)
        if ends is not None:
            lines = (text[start : end - 1].decode(errors="surrogateescape") for start, end in zip([0, *ends], ends))
            text = "".join(f"{escaped(line)}\n" for line in lines).encode(errors="surrogateescape")
        self._output.write(text)
        if self._output.is_terminal:
            self._output.flush()
        if fault:
            offset, nbefore, message = fault
            error = typedbytes.FormatError(message, self._nbytes + offset, record=self._nrecords + nbefore)
            is_plain_row = self._layout.is_rows and not self._layout.header
            if is_plain_row and bytes(records[offset : offset + 5]).startswith(_EMPTY_VALUES):
                with_hint(error, " (to-json --plain writes [] for it)")
            raise error
        self._nbytes += len(records)
        self._nrecords += self._lines.nrecords
