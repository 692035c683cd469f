"""The records that contain a pattern, found slowly: each is decoded, and each of its texts searched."""

import decimal

import typedbytes


def matches(pattern, record, nparts, part, dialect):
    """Return whether a record contains a compiled pattern; part: 0 or 1: only that of a pair, -1: any."""
    decoder = typedbytes.Decoder(
        dialect=dialect, pickle="raw", map_pairs=True, unicode_errors="surrogateescape", exact=True
    )
    try:
        values = decoder.decode_all(record)
    except typedbytes.DecodeError:  # the structure is right; what is wrong holds no text
        return False
    assert len(values) == nparts
    return any(map(pattern.search, texts(values if part < 0 else values[part : part + 1], dialect)))


def texts(values, dialect):
    """Yield the texts of values and of their items."""
    for value in values:
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
            yield from texts(value, dialect)
        elif isinstance(value, typedbytes.Ext):
            yield from texts_of_number(typedbytes.dumps(value, dialect=dialect), dialect)


def texts_of_number(encoded, dialect):
    """Yield the text of a SHORT, and of a number that is pickled."""
    try:
        value = typedbytes.Decoder(dialect=dialect).decode(encoded)
    except typedbytes.DecodeError:
        return
    if type(value) is float:
        yield repr(value)
    elif type(value) is int:
        yield str(decimal.Decimal(value))
    elif type(value) is decimal.Decimal:
        yield str(value) if value.is_finite() else "nan" if value.is_nan() else str(float(value))
