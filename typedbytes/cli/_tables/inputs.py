"""The record batches of inputs that are Arrow streams, Arrow files, Parquet files, and rows of text with a header.

pyarrow reads a stream up to its end mark, and of a file what its footer names. Here it is checked that nothing else is
in the input. Invariant: when the last batch has been yielded, the input has been read to its end.
"""

from __future__ import annotations

import io
import re
import struct
from functools import partial

from typedbytes._base.magic import format_of
from typedbytes.cli._failure import BAD_DATA, USAGE, Failure, display_name, say_message
from typedbytes.cli._tables.arrow import imported_pyarrow
from typedbytes.cli._tables.text_rows import DELIMITERS
from typedbytes.errors import FormatError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["READ_TABLES", "batches_of_table"]

READ_TABLES = ("arrow", "parquet", "arrow-file", "rcfile", *DELIMITERS)
_ROWS_NBYTES = 16 << 20  # of rows, from the first of which the types of columns are taken
_PIECE_NBYTES = 1 << 20  # a declared length allocates no more than the data has
_HEAD_NBYTES = 5  # so many tell an Arrow stream
_ARROW_MAGIC, _PARQUET_MAGIC = b"ARROW1", b"PAR1"
# Thrift's compact protocol: the type of a page and the first byte of the next field;
# an offset, an i64, and then a length, an i32.
_PAGE_HEADER = re.compile(rb"\x15[\0\2\4\6]\x15")
_INDEX = re.compile(
    rb"(?=[%b]([\x80-\xff]{0,9}[\0-\x7f])\x15([\x80-\xff]{0,4}[\0-\x7f]))" % bytes(range(0x16, 0x100, 0x10))
)
# before the first message of an Arrow file, and after the last: an end mark,
# and the widest alignment. A file is longer.
_MAX_PADDING = 64


def batches_of_table(source: Any, form: str, name: str, rcfile: dict[str, Any]) -> Iterator[Any]:
    """Yield the batches of a source that hold rows; if there are none, an empty one.

    name: of the input. rcfile: what columns.read is to know of an RCFile.
    """
    if form == "rcfile":
        yield from _of_rcfile(source, rcfile)
        return
    pyarrow, has_rows = imported_pyarrow(), False
    if form != "arrow" and not source.seekable():
        source = io.BytesIO(source.read())
    watched = _Source(source)
    try:
        schema, batches = _READERS[form](watched, name)
        for batch in batches:
            if form != "parquet":
                for column in batch.columns:
                    column.validate(full=_has_references(column.type))
            if batch.num_rows:
                has_rows = True
                yield batch
        if not has_rows:
            yield pyarrow.RecordBatch.from_arrays([pyarrow.nulls(0, field.type) for field in schema], schema=schema)
    except MemoryError:
        raise  # pyarrow's is also an ArrowException
    except (pyarrow.ArrowException, OSError) as error:  # pyarrow raises OSError for some data too
        if error is watched.error:
            raise
        if form == "arrow":
            raise FormatError(f"damaged Arrow stream: {error}", watched.tell()) from None
        raise Failure(BAD_DATA, f"{display_name(name)}: {error}") from None


def _of_rcfile(source, options):
    from typedbytes import columns
    from typedbytes.columns._sources import OpenRCFile

    pyarrow, has_rows = imported_pyarrow(), False
    try:
        batches = columns.read(OpenRCFile(source), **options)
    except LookupError as error:
        raise Failure(USAGE, str(error.args[0])) from None
    with batches:
        for batch in batches:
            has_rows = True
            yield pyarrow.record_batch(batch)
        if not has_rows:
            schema = pyarrow.RecordBatchReader.from_stream(batches).schema
            yield pyarrow.RecordBatch.from_arrays([pyarrow.nulls(0, field.type) for field in schema], schema=schema)


def _has_references(kind):
    """Return whether the values of a type have offsets or indices, which pyarrow takes as they are, damaged or not.

    Other values are right as they are: a time beyond the day, which a full validation refuses, leads nowhere else.
    """
    types = imported_pyarrow().types
    return not (types.is_primitive(kind) or types.is_decimal(kind))


def _of_streams(source, name):
    stream = imported_pyarrow().ipc.open_stream(source)
    return stream.schema, _batches_of_streams(stream, source, name)


def _batches_of_streams(stream, source, name):
    """Yield the batches of an Arrow stream, and of those after it, which must have the same columns."""
    schema = stream.schema
    while stream:
        yield from stream
        end = source.tell()
        if source.is_at_end:  # the format allows it
            message = f"the Arrow stream has no end mark, and may have been cut between two batches, at offset {end}"
            say_message(f"note: {display_name(name)}: {message}")
        head, stream = source.peek(_HEAD_NBYTES), None
        if head:
            if format_of(head) != "arrow":
                raise FormatError("expected the end of the input or another Arrow stream, found other data", end)
            stream = imported_pyarrow().ipc.open_stream(source)
            if not stream.schema.equals(schema):
                raise FormatError("expected an Arrow stream with the columns of the first, found one with others", end)


def _of_arrow_file(source, name):
    file = imported_pyarrow().ipc.open_file(source)
    start, footer = _footer(source, _ARROW_MAGIC)
    end = _end_of_messages(footer)
    if start - end > _MAX_PADDING:
        # As in two files, one after the other: the footer of the second has offsets from its own start.
        raise FormatError(
            f"expected a footer after the last message of an Arrow file, found {start - end} other bytes", end
        )
    return file.schema, map(file.get_batch, range(file.num_record_batches))


def _end_of_messages(footer):
    """Return the offset after the last message that the footer of an Arrow file lists: a table of flatbuffers."""
    (table,) = struct.unpack_from("<I", footer)
    vtable = table - struct.unpack_from("<i", footer, table)[0]
    nfields = struct.unpack_from("<H", footer, vtable)[0] // 2 - 2
    ends = []
    for field in struct.unpack_from(f"<{nfields}H", footer, vtable + 4)[2:4]:  # the dictionaries and the record batches
        if field:
            vector = table + field + struct.unpack_from("<I", footer, table + field)[0]
            nblocks, start = struct.unpack_from("<I", footer, vector)[0], vector + 4
            blocks = struct.iter_unpack("<qi4xq", footer[start : start + 24 * nblocks])
            ends += [offset + nhead + nbody for offset, nhead, nbody in blocks]
    # Without them there is only the schema, which the footer repeats. Its length is not read: polars leaves it out.
    return max(ends, default=_MAX_PADDING + len(footer))


def _of_parquet_file(source, name):
    file = imported_pyarrow().parquet.ParquetFile(source)
    start, footer = _footer(source, _PARQUET_MAGIC)
    chunks = _last_chunks(file.metadata)
    end = max((start + nbytes for start, nbytes in chunks), default=len(_PARQUET_MAGIC))
    second = _start_of_second_parquet_file(source, start - end, chunks)
    if second is not None and not _has_index_before(footer, start):  # a value may hold a Parquet file
        raise FormatError("expected the end of a Parquet file, found another one", second)
    return file.schema_arrow, file.iter_batches()


def _last_chunks(metadata):
    """Return (offset, length) of the columns of the last row group that has pages."""
    for number in reversed(range(metadata.num_row_groups)):
        group = metadata.row_group(number)
        columns = [group.column(column) for column in range(group.num_columns)]
        starts = [list(filter(None, (column.data_page_offset, column.dictionary_page_offset))) for column in columns]
        chunks = [(min(start), column.total_compressed_size) for start, column in zip(starts, columns) if start]
        if chunks:
            return chunks
    return []


def _has_index_before(footer, start):
    """Return whether an index, or a Bloom filter, ends where the footer starts: offsets then count from there."""
    return any(_number(offset) + _number(nbytes) == start for offset, nbytes in _INDEX.findall(footer))


def _number(varint):
    number = sum((byte & 0x7F) << 7 * n for n, byte in enumerate(varint))
    return number >> 1  # zigzag


def _start_of_second_parquet_file(source, nbytes, chunks):
    """Return the offset where the file begins whose footer was read, None for 0.

    nbytes: between the last column and the footer. They may be an index. Else they are so many because the offsets in
    the footer count from a later start, after no more bytes than these.
    """
    for offset in range(0, nbytes, _PIECE_NBYTES):
        data = source.read_at(offset + 1, min(_PIECE_NBYTES, nbytes - offset) + len(_PARQUET_MAGIC) - 1)
        for found in re.finditer(_PARQUET_MAGIC, data):
            second = offset + 1 + found.start()
            if all(_PAGE_HEADER.match(source.read_at(second + start, 3)) for start, _ in chunks):
                return second
    return None


def _footer(source, magic):
    """Return the offset of the footer of a file that ends with its length and this signature, and the footer."""
    end = source.seek(0, io.SEEK_END) - len(magic) - 4
    (nbytes,) = struct.unpack("<I", source.read_at(end, 4))
    return end - nbytes, source.read_at(end - nbytes, nbytes)


def _of_rows(delimiter, source, name):
    from pyarrow import csv

    if not source.peek(1):
        return imported_pyarrow().schema([]), iter(())
    nblank, ncolumns = _header_of(source.peek(_PIECE_NBYTES), delimiter)
    is_single = ncolumns == 1  # an empty line is a row then, but before the header
    rows = csv.open_csv(
        source,
        read_options=csv.ReadOptions(block_size=_ROWS_NBYTES, skip_rows=nblank if is_single else 0),
        parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=not is_single),
    )
    return rows.schema, rows


def _header_of(head, delimiter):
    """Return the number of empty lines at the start of rows of text, and of the columns after them; 0: not known."""
    import csv

    nblank = 0
    text = io.StringIO(head.removeprefix(b"\xef\xbb\xbf").decode("latin-1"), newline="")
    try:
        for row in csv.reader(text, delimiter=delimiter):
            if row:
                return nblank, len(row)
            nblank += 1
    except csv.Error:  # a longer cell than the module takes
        pass
    return nblank, 0


_READERS: dict[str, Any] = {
    "arrow": _of_streams,
    "arrow-file": _of_arrow_file,
    "parquet": _of_parquet_file,
    **{form: partial(_of_rows, delimiter) for form, delimiter in DELIMITERS.items()},
}


class _Source:
    """What pyarrow reads: it knows its offset in a pipe too, and which error is its own."""

    closed = False

    def __init__(self, source):
        self._source = source
        self._head = b""
        self._offset = 0
        self.is_at_end = False  # whether the last reading found less than it asked for
        self.error = None

    def read(self, nbytes):
        """Return this many bytes, fewer at the end."""
        data, self._head = bytearray(self._head[:nbytes]), self._head[nbytes:]
        self.is_at_end = False
        try:
            while len(data) < nbytes:
                piece = self._source.read(min(nbytes - len(data), _PIECE_NBYTES))
                if not piece:
                    self.is_at_end = True
                    break
                data += piece
        except OSError as error:
            self.error = error
            raise
        self._offset += len(data)
        return data

    def peek(self, nbytes):
        """Return the next bytes, fewer at the end, and leave them to be read."""
        self._head = bytes(self.read(nbytes))
        self._offset -= len(self._head)
        return self._head

    def read_at(self, offset, nbytes):
        """Return the bytes at an offset."""
        self.seek(offset)
        return self.read(nbytes)

    def seek(self, offset, whence=io.SEEK_SET):
        try:
            self._offset = self._source.seek(offset, whence)
        except OSError as error:
            self.error = error
            raise
        return self._offset

    def tell(self):
        return self._offset
