"""Sorting by values, numbers by their size: a sort key of its value, or of a field, goes before each record."""

from functools import partial

import typedbytes
from typedbytes import sortkey
from typedbytes._core import write_all
from typedbytes.cli._records.encoded import Encoded, chunks, nparts

_SORTED = "only by numbers, texts, bytes and VECTORs of them"
_INTEGERS_START, _INTEGERS_END = -(1 << 63), 1 << 64  # of a sort key


def with_sort_keys(source, nparts, dialect, fields):
    """Return a source of pairs of a sort key and a record, by what is at the path of `fields`."""
    reader = (typedbytes.PairReader if nparts == 2 else typedbytes.Reader)(source, dialect=dialect)
    return Encoded(keyed_chunks(reader, dialect, fields))


class RecordSink:
    """Write the records in such pairs, which come in any pieces, to an output."""

    def __init__(self, output):
        from typedbytes import _report

        self._take, self._output, self._nbytes = _report.WithoutSortKeys().take, output, 0

    def write(self, pairs):
        """Write what a piece has of the records."""
        self._nbytes += len(pairs)
        write_all(self._output, self._take(pairs))

    def tell(self):
        """Return how many bytes of pairs have been written."""
        return self._nbytes


def keyed_chunks(reader, dialect, fields):
    """Yield pairs of a sort key and a record of a reader, several at a time."""
    other_key = partial(key_of, typedbytes.Decoder(dialect=dialect, unicode_errors="surrogateescape"))
    for start, number, chunk in chunks(reader):
        pairs, fault = fields.compiled.with_sort_keys(chunk, nparts(reader), other_key)
        if fault:
            offset, nbefore, cause = fault
            if isinstance(cause, int):
                message, path = f"no {fields.paths[cause]} in the record to sort it by", ""
            else:
                message, path = f"cannot sort by this value, {_SORTED}: {cause.message}", cause.path
            raise typedbytes.FormatError(message, start + offset, path=path, record=number + nbefore)
        yield pairs


def key_of(decoder, field):
    """Return the sort key of the encoded value of a field; raise DecodeError or EncodeError where it has none."""
    value = _without_types(decoder.decode(field))
    try:
        return sortkey.encode(value, none="first")
    except TypeError as error:
        if isinstance(error, typedbytes.EncodeError):
            raise
        raise typedbytes.EncodeTypeError(str(error)) from None  # of an array, which is an index if it is a number


def _without_types(value):
    """Return a value with integers as ints, since the types at the end of a sort key would decide among equals."""
    if type(value) is tuple:
        return tuple(map(_without_types, value))
    if type(value) is bool or (
        type(value) is float and value.is_integer() and _INTEGERS_START <= value < _INTEGERS_END
    ):
        return int(value)
    return value
