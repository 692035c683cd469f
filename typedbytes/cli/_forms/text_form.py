"""Records as text and back: one a line, key, separator and value, or rows by the rules of the csv module.

Text has no types: all that is read becomes STRINGs. What a line or row could not give back as it was is an error.
"""

import csv
import json

import typedbytes
from typedbytes import TypeCode, _report
from typedbytes.cli._failure import BAD_DATA, USAGE, Failure, escaped
from typedbytes.cli._records.encoded import is_pairs, split

_WITH_TEXT = (TypeCode.STRING, TypeCode.BYTES, TypeCode.BYTESTRING)
MAX_FIELD_NBYTES = (1 << 31) - 1


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


# Text to records


def records_of(lines, layout):
    """Yield (record, its TextLines) for each line or row; lines: as lines_of yields them."""
    lines = TextLines(lines, layout)
    for record in (_rows if layout.is_rows else _pairs if layout.pairs else iter)(lines):
        yield record, lines


class TextLines:
    """The lines of an input as text, those of rows with their ends; `location` is that of the last one."""

    def __init__(self, lines, layout):
        self.layout = layout
        self.location = None
        self._lines = lines

    def __iter__(self):
        return self

    def __next__(self):
        is_first = self.location is None
        self.location, line = next(self._lines)
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise self.failure(f"not UTF-8 at byte {error.start}") from None
        if self.layout.is_rows:
            return text.removeprefix("\ufeff") if is_first else text  # spreadsheets write a byte order mark
        return text.removesuffix("\n").removesuffix("\r")

    def failure(self, message):
        """Return a Failure that names the last line."""
        return Failure(BAD_DATA, f"{self.location}: {message}")


def _pairs(lines):
    """Yield (key, value) for each line; the first separator ends the key."""
    separator = lines.layout.separator
    for line in lines:
        key, found, value = line.partition(separator)
        if not found:
            raise lines.failure(f"expected a key, {separator!r} and a value, not {_short(line)}")
        yield key, value


def _rows(lines):
    """Yield each row, a tuple or with a header a dict; blank lines are left out."""
    layout, columns = lines.layout, None
    for row in _fields(lines):
        if layout.pairs and len(row) != 2:
            raise lines.failure(f"expected a key and a value, not {len(row)} fields")
        if not layout.header:
            yield tuple(row)
        elif columns is None:
            columns = row
            if len(set(columns)) < len(columns):
                raise lines.failure("the header has a name twice")
        elif len(row) != len(columns):
            raise lines.failure(f"expected {len(columns)} fields, as the header has, not {len(row)}")
        else:
            yield dict(zip(columns, row))


def _fields(lines):
    csv.field_size_limit(MAX_FIELD_NBYTES)  # --max-bytes limits lines
    try:
        yield from filter(None, csv.reader(lines, delimiter=lines.layout.separator, strict=True))
    except csv.Error as error:
        raise lines.failure(error) from None


def _short(text):
    return repr(text if len(text) <= 40 else text[:40] + "…")


# Records to text


class _Unwritable(ValueError):
    """Say why a record is not written as text."""


class TextOutput:
    """Write records to a CommandOutput as lines of text."""

    def __init__(self, output, dialect, layout):
        self._layout = layout
        self._dialect = dialect
        self._output = output
        self._columns = None  # the names in the header that has been written
        self._row = _Row(self._layout.separator) if self._layout.is_rows else None
        self._null = "" if self._layout.is_rows else "null"

    def expect(self, reader):
        """Prepare for the records of this reader."""
        self._pairs = is_pairs(reader)
        self._nbytes = self._nrecords = 0  # written of it
        if self._pairs and self._layout.header:
            raise Failure(USAGE, "argument --header: needs values, not pairs")

    def close(self, is_complete):
        """Write what follows the last record: nothing."""

    def write(self, records):
        """Write records as text, up to the first that cannot be text."""
        nlines = 0
        try:
            for line in self._lines(records):
                self._write_line(line)
                nlines += 1
        except _Unwritable as error:
            start = typedbytes.index(records, dialect=self._dialect)[nlines * (2 if self._pairs else 1)]
            raise typedbytes.FormatError(str(error), self._nbytes + start, record=self._nrecords + nlines) from None
        if self._output.is_terminal:
            self._output.flush()
        self._nbytes += len(records)
        self._nrecords += nlines

    def _write_line(self, line):
        self._output.write(f"{escaped(line) if self._output.is_terminal else line}\n".encode(errors="surrogateescape"))

    def _lines(self, records):
        """Yield the line of each record, and write the header before the first."""
        row = self._row
        if row is None:
            yield from self._joined(self._texts(records))
        elif self._pairs:
            texts = self._texts(records)
            yield from map(row.line, zip(texts, texts))
        else:
            for record in split(bytes(records), 1, self._dialect):
                yield row.line(self._named_fields(record, row) if self._layout.header else self._fields(record))

    def _joined(self, texts):
        separator = self._layout.separator
        for text in texts:
            if self._pairs:
                line = text + separator
                if line.index(separator) < len(text):
                    how = "holds" if separator in text else "ends with the beginning of"
                    raise _Unwritable(f"the key {_short(text)} {how} the separator (--csv or --tsv puts it in quotes)")
                text = line + next(texts)
            if "\n" in text or "\r" in text:
                raise _Unwritable(
                    f"a line end in {_short(text)} (--csv or --tsv puts it in quotes, and to-json escapes it)"
                )
            yield text

    def _fields(self, record):
        """Return the fields of a row: the items of a VECTOR or LIST, or one value."""
        if record[0] == TypeCode.VECTOR:
            fields = list(self._texts(record[5:]))
        elif record[0] == TypeCode.LIST:
            fields = list(self._texts(record[1:-1]))
        else:
            return self._texts(record)
        if not fields:
            raise _Unwritable("a row has no form without a field")
        return fields

    def _named_fields(self, record, row):
        """Return the values of a MAP in the order of the header, which is written before the first."""
        if record[0] != TypeCode.MAP:
            raise _Unwritable("expected a MAP, whose keys are the header (or leave out --header)")
        texts = list(self._texts(record[5:]))
        named = dict(zip(texts[::2], texts[1::2]))
        if self._columns is None:
            self._columns = list(named)
            if self._columns:
                self._write_line(row.line(self._columns))
        if len(named) < len(texts) // 2 or named.keys() != set(self._columns) or not named:
            raise _Unwritable(
                f"expected the keys {_short(', '.join(self._columns))} once each, not {_short(', '.join(texts[::2]))}"
            )
        return [named[name] for name in self._columns]

    def _texts(self, values):
        """Yield the text of each encoded value: its plain JSON, but of a string or bytes the characters.

        Surrogates stand for bytes that are not UTF-8.
        """
        lines = _report.lines(values, plain=True, dialect=self._dialect).decode().split("\n")
        for value, line in zip(split(bytes(values), 1, self._dialect), lines):
            if value[0] in _WITH_TEXT:
                yield value[5:].decode(errors="surrogateescape")
            else:
                yield json.loads(line) if line[0] == '"' else self._null if line == "null" else line


class _Row:
    """Write one row as text."""

    def __init__(self, delimiter):
        self._delimiter = delimiter
        # whose line ends have a CR, so that a field with one is in quotes
        self._writer = csv.writer(self, delimiter=delimiter)
        self._line = ""

    def write(self, line):
        """Keep a line of the csv module without its end."""
        self._line = line[:-2]

    def line(self, fields):
        """Return the line of a row."""
        self._writer.writerow(fields)
        if not self._line.startswith("\ufeff"):
            return self._line
        first, delimiter, others = self._line.partition(self._delimiter)
        return f'"{first}"{delimiter}{others}'  # not in quotes it would be a byte order mark
