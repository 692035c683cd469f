"""Input formats: recognise one by its first bytes, and read typed bytes from each.

No more is read to recognise an input than a single value of it could have, or than its first line if that may be JSON.
"""

import io
from codecs import BOM_UTF8
from collections import namedtuple

import typedbytes
from typedbytes._base.compression import put_back
from typedbytes._base.magic import (
    BLOCK_MESSAGE,
    BYTE_ORDER_MARKS,
    FOREIGN,
    OTHER_COMPRESSIONS,
    SEQUENCE_FILE,
    format_of,
    is_ambiguous,
    is_json,
    is_text,
    may_be_json,
    may_be_text,
)  # fmt: skip
from typedbytes.cli._failure import BAD_DATA, Failure
from typedbytes.cli._records.encoded import Encoded, NoPairs, NoValues, Pairs

EMPTY = "empty"  # an empty input is of every format
NAMES = ("typedbytes", "sequencefile", "json", "block")
INPUTS = (*NAMES, "rcfile")  # RCFiles are read, not written
# the code and the length of a value; more are read only where text may start with a signature, or a signature with text
MAX_NBYTES = 5
CHUNK_NBYTES = 1 << 16
_HINTS = {
    **dict.fromkeys(("parquet", "arrow", "arrow-file"), " (typedbytes convert reads it)"),
    **dict.fromkeys(OTHER_COMPRESSIONS.values(), " data (to be decompressed first)"),
}
PAIRS_OF_ROWS = (
    "typedbytes convert --to arrow --columns KEY,VALUE FILE | typedbytes convert --pairs --from arrow -o OUT "
    "makes pairs of two columns"
)
JSON_PIECE_NBYTES = 1 << 20  # of a line that may hold several values
_TEXT_NBYTES = 1 << 18  # looked at together
# 6: a version, which distinguishes it from text
_SIGNATURES = (SEQUENCE_FILE + b"\6", BLOCK_MESSAGE, *FOREIGN, *BYTE_ORDER_MARKS)


#: How an input is read; shown: what messages call it; plain: JSON is natural JSON.
Opening = namedtuple("Opening", "shown pairs dialect max_bytes plain", defaults=[False])


def recognise(head, is_all=False):
    """Return the format of an input by its first bytes, maybe a foreign one, "text" or EMPTY; None: more are needed.

    A value with an application code starts like text only if its length is one of four printable
    characters: 150 MB or more.
    """
    if is_all and not head:
        return EMPTY
    if not is_all and (
        is_ambiguous(head) or any(signature.startswith(head) for signature in _SIGNATURES if signature != head)
    ):
        return None
    if head.startswith(BOM_UTF8) and may_be_json(head.removeprefix(BOM_UTF8) or b"1"):
        found = recognise(head.removeprefix(BOM_UTF8), is_all)
        return "json" if found == EMPTY else found
    name = "text" if head.startswith(tuple(BYTE_ORDER_MARKS)) else format_of(head)
    if name:
        return name
    if not may_be_text(head):
        return "typedbytes"
    if len(head) < MAX_NBYTES and not is_all:
        return None
    if may_be_json(head):
        if not is_all and _has_open_line(head):
            return None
        return "json" if is_json(head + b"\n" if is_all else head) else "text"
    return "text" if is_text(head) else "typedbytes"


def nbytes_to_recognise(head):
    """Return how many bytes to read after these for `recognise`."""
    head = head.removeprefix(BOM_UTF8)
    if len(head) < MAX_NBYTES:
        return MAX_NBYTES - len(head) if head else 1
    return CHUNK_NBYTES if may_be_text(head) and may_be_json(head) and not is_ambiguous(head) else 1


def _has_open_line(head):
    """Return whether the first line goes on after these bytes; of a long one they are enough."""
    return len(head) < CHUNK_NBYTES and b"\n" not in head.lstrip()


def reader_of(source, name, opening, raw):
    """Return a reader of the records of a source in this format, encoded ones with raw."""
    if name == "sequencefile" and not raw:
        return sequence_file_reader(source, opening.dialect, opening.max_bytes)
    source = source_of(source, name, opening)
    return _kind_of_reader(name, opening.pairs)(source, dialect=opening.dialect, max_bytes=opening.max_bytes, raw=raw)


def _kind_of_reader(name, pairs):
    if name == EMPTY:
        return NoPairs if pairs else NoValues
    return Pairs if name == "sequencefile" else typedbytes.PairReader if pairs else typedbytes.Reader


def sequence_file_reader(source, dialect, max_bytes, **options):
    """Return a reader of the pairs of a SequenceFile as objects."""
    from typedbytes import sequencefile

    limit = {} if max_bytes is None else {"max_bytes": max_bytes}
    return sequencefile.Reader(source, dialect=dialect, **limit, **options)


def source_of(source, name, opening):
    """Return a source of typed bytes that converts a source in this format."""
    if name == "text":
        raise Failure(
            BAD_DATA,
            f"{opening.shown}: text that is neither typed bytes nor lines of JSON "
            "(typedbytes from-text reads lines, CSV and TSV)",
        )
    if name == "rcfile":
        rows = rows_of_rcfile(source, opening)
        return Encoded(iter(lambda: rows.__read_encoded__(CHUNK_NBYTES)[0] or None, None))
    if name in FOREIGN.values():
        hint = _HINTS.get(name, "")
        raise Failure(BAD_DATA, f"{opening.shown}: not typed bytes but {name}{hint}")
    reader = None
    if name == "sequencefile":
        reader = sequence_file_reader(source, opening.dialect, opening.max_bytes, raw=True)
        pieces = iter(lambda: reader.read_typed(CHUNK_NBYTES) or None, None)
    elif name == "json":
        pieces = records_of_json(source, opening)
    elif name == "block":
        pieces = _from_messages(source, opening)
    else:
        return source
    return Encoded(pieces, reader)


def rows_of_rcfile(source, opening, resync=False, serde="text"):
    """Return an RCFile, of which each row is a VECTOR of texts, or of bytes."""
    from typedbytes.sequencefile.rcfile import RCFile

    if opening.pairs:
        rows = "an RCFile has rows, not pairs: without --pairs they are read"
        raise Failure(BAD_DATA, f"{opening.shown}: {rows}; {PAIRS_OF_ROWS}")
    return RCFile(source, serde=serde, dialect=opening.dialect, max_bytes=opening.max_bytes, resync=resync)


def limited_source_of(source, name, opening):
    """Return a source of typed bytes as `source_of` does, in which no record is larger than max_bytes."""
    if opening.max_bytes is None:
        return source_of(source, name, opening)
    records = reader_of(source, name, opening, True)
    pieces = (record if type(record) is bytes else b"".join(record) for record in records)
    return Encoded(pieces, getattr(records, "sequence_file", None))


def records_of_json(source, opening):
    """Yield encoded records of a source of JSON, several at a time.

    A line that is refused is read again, as objects, for its error.
    """
    from typedbytes import _report

    shown, pairs, dialect, max_bytes, plain = opening
    records = _report.JsonRecords(pairs=pairs, plain=plain, dialect=dialect, max_bytes=max_bytes)
    with io.BufferedReader(source, _TEXT_NBYTES) as file:
        piece = None
        while piece != b"":
            piece = file.read1(_TEXT_NBYTES)
            encoded = records.take(piece, not piece)
            if encoded:
                yield encoded
            if records.is_refused:
                from typedbytes.cli._forms.json_form import encoded_lines

                rest, before = put_back(records.rest, file), (records.nlines, records.line_nbytes)
                lines = lines_of(rest, shown, max_bytes, JSON_PIECE_NBYTES, before)
                yield from encoded_lines(lines, pairs, dialect, plain, max_bytes)
                return


def lines_of(source, shown, max_bytes, piece_nbytes=-1, before=(0, 0)):
    """Yield (location, line), with long lines in pieces of piece_nbytes, without a byte order mark before the first.

    A location is the input and the number of the line. before: the lines before the source, and how many bytes of its
    first line.
    """
    number, nbytes = before
    limit = piece_nbytes if max_bytes is None else max_bytes + 1 - nbytes
    with io.BufferedReader(source, CHUNK_NBYTES) as file:
        is_end, mark = True, b"" if number or nbytes else BOM_UTF8
        for line in iter(lambda: file.readline(limit), b""):
            number += is_end
            is_end = line.endswith(b"\n")
            location = f"{shown}: line {number}"
            if max_bytes is not None and len(line) == limit and not is_end:
                raise Failure(BAD_DATA, f"{location}: longer than {max_bytes} bytes")
            yield location, line.removeprefix(mark) or b"\n"
            mark = b""
            limit = piece_nbytes if max_bytes is None else max_bytes + 1


def _from_messages(source, opening):
    """Yield each message as a VECTOR of its values; with --pairs a message must be two values, a key and its value."""
    from typedbytes.block import ArrowStream, BlockReader

    handler = "surrogateescape"  # keeps the bytes of text that is not UTF-8
    encoder = typedbytes.Encoder(dialect=opening.dialect, unicode_errors=handler)
    for message in BlockReader(source, "native", max_bytes=opening.max_bytes, exact=True, unicode_errors=handler):
        values = tuple(value.data if isinstance(value, ArrowStream) else value for value in message)
        if not opening.pairs:
            yield encoder.encode(values)
        elif len(values) == 2:
            yield encoder.encode_pairs([values])
        else:
            raise Failure(BAD_DATA, f"expected a message of two values for a pair, not of {len(values)}")
