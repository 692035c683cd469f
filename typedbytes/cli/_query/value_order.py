"""Sorting by values, numbers by their size: a sort key of its value, or of a field, goes before each record."""

import typedbytes
from typedbytes import sortkey
from typedbytes.cli._records.encoded import Encoded, joined

_INTEGERS_START, _INTEGERS_END = -(1 << 63), 1 << 64  # of a sort key
BYTES_NBYTES = 5  # of the code and the length before a record


def with_sort_keys(source, nparts, dialect, fields):
    """Return a source of pairs of a sort key and a record, by what is at the path of `fields`."""
    return Encoded(_pairs(source, nparts, dialect, fields))


def without_sort_keys(source):
    """Return a source of the records in such pairs."""
    return Encoded(record[BYTES_NBYTES:] for _, record in typedbytes.PairReader(source, raw=True))


def _pairs(source, nparts, dialect, fields):
    reader = (typedbytes.PairReader if nparts == 2 else typedbytes.Reader)(source, raw=True, dialect=dialect)
    decoder = typedbytes.Decoder(dialect=dialect)
    encoder = typedbytes.Encoder()
    start = 0
    for number, record in enumerate(reader):
        try:
            key = sortkey.encode(_without_types(decoder.decode(fields.of(record))), none="first")
        except LookupError as error:
            raise typedbytes.FormatError(
                f"no {error.args[0]} in the record to sort it by", start, record=number
            ) from None
        except (typedbytes.EncodeError, typedbytes.DecodeError) as error:
            message = f"cannot sort by this value, only by numbers, texts, bytes and VECTORs of them: {error}"
            raise typedbytes.FormatError(message, start, record=number) from None
        yield encoder.encode_pairs([(key, joined(record))])
        start = reader.offset


def _without_types(value):
    """Return a value with integers as ints, since the types at the end of a sort key would decide among equals."""
    if type(value) is tuple:
        return tuple(map(_without_types, value))
    if type(value) is bool or (
        type(value) is float and value.is_integer() and _INTEGERS_START <= value < _INTEGERS_END
    ):
        return int(value)
    return value
