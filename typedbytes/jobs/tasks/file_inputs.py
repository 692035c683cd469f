"""Inputs that are more than lines: the rows of CSV files, and whole files.

Here: their pairs as typed bytes. Not here: what a row means to the task, which parses its cells. Invariant: a file with
a quotation mark is one split, since a line may end inside a cell; a row is read once, in the split with its first byte;
every split takes the names of the columns from the file's first line.
"""

from __future__ import annotations

import csv
import io

from typedbytes import PairWriter, dumps
from typedbytes.errors import DecodeError
from typedbytes.jobs.remote import opened

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from typedbytes.jobs.tasks.inputs import Split

__all__ = ["CsvRows", "WholeFile", "check_end", "has_quotes"]

PIECE_NBYTES = 1 << 18
CELL_NCHARS = 64 << 20  # of a cell at most: without a closing quotation mark it would be the rest of the file
MAX_FILE_NBYTES = 2**31 - 1  # of BYTES


def has_quotes(path: str) -> bool:
    """Return whether a file has a quotation mark anywhere."""
    with opened(path) as file:
        return any(b'"' in piece for piece in iter(lambda: file.read(PIECE_NBYTES), b""))


def check_end(offset: int, split: Split) -> None:
    """Raise OSError if a file in which nothing follows this offset was larger when its splits were made."""
    end = split.start + split.length
    if offset < end:
        raise OSError(f"the file ends before byte {end}, which it had when the job began")


class CsvRows:
    """The rows of a split as pairs of an offset and a MAP from the names of the columns to texts.

    A row with more or fewer cells than names is a LIST of them.
    """

    def __init__(self, split: Split, file: Any) -> None:
        """file: at its start, decompressed."""
        csv.field_size_limit(max(csv.field_size_limit(), CELL_NCHARS))  # of the whole process
        self._split = split
        self._file = io.BufferedReader(file)
        self._offset = 0
        self._start = 0  # of the row that was read last
        self.record: int = 0  #: the number of rows copied

    def copy_to(self, sink: Any) -> None:
        """Write all rows to a sink."""
        with PairWriter(sink, buffer_size=PIECE_NBYTES) as writer:
            writer.writes(self._rows())

    def _rows(self):
        rows = csv.reader(self._lines(), strict=True)
        split = self._split
        try:
            names = next(rows, None)
            if names is None:
                if not split.codec:
                    check_end(self._offset, split)
                return
            if len({*names}) < len(names):
                raise DecodeError(f"the first line of CSV has a name twice: {names!r:.200}", 0)
            end = split.start + split.length if split.length and not split.codec else None
            if split.start > self._offset:
                self._file.seek(split.start - 1)
                self._offset = split.start - 1
                next(self._lines(), None)  # the end of a line whose row is that of the split before
            while end is None or self._offset < end:
                self._start = self._offset
                row = next(rows, None)
                if row is None:
                    if end is not None:
                        check_end(self._offset, split)
                    return
                if not row and len(names) == 1:
                    row = [""]  # elsewhere an empty line is no row
                if row:
                    self.record += 1
                    yield self._start, dict(zip(names, row)) if len(row) == len(names) else row
        except csv.Error as error:
            reason = str(error).partition(" - ")[0]  # what follows is advice to callers of open()
            raise DecodeError(f"not CSV: {reason}", self._start, record=self.record) from None

    def _lines(self):
        while line := self._file.readline():
            text = line.decode("utf-8", "replace")
            if not self._offset:
                text = text.removeprefix("\ufeff")
            self._offset += len(line)
            yield text

    @property
    def position(self) -> int:
        """The number of bytes read."""
        return max(0, min(self._offset - self._split.start, self._split.length))

    def __enter__(self) -> CsvRows:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()


class WholeFile:
    """A file as one pair of its path and its bytes."""

    def __init__(self, split: Split) -> None:
        self._split = split
        if split.length > MAX_FILE_NBYTES:
            raise DecodeError(f"a file of {split.length} bytes is too large to be one value", 0)
        self._file = opened(split.path)
        self.record: int = 0  #: the number of pairs copied
        self.position: int = 0  #: the number of bytes read

    def copy_to(self, sink: Any) -> None:
        """Write the pair to a sink."""
        file, nbytes = self._file, self._split.length
        if not nbytes:  # its server does not say, or it is a file of /proc
            data = self._read_all()
            file, nbytes = io.BytesIO(data), len(data)
        sink.write(dumps(self._split.path) + b"\0" + nbytes.to_bytes(4, "big"))
        while data := file.read(min(PIECE_NBYTES, nbytes - self.position)):
            sink.write(data)
            self.position += len(data)
        check_end(self.position, self._split)
        self.record = 1

    def _read_all(self):
        data = bytearray()
        while piece := self._file.read(PIECE_NBYTES):
            data += piece
            if len(data) > MAX_FILE_NBYTES:
                raise DecodeError(f"a file of more than {MAX_FILE_NBYTES} bytes is too large to be one value", 0)
        return data

    def __enter__(self) -> WholeFile:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()
