"""Every way of reading a value, as a function from chunks of bytes and options to the values in them.

Here: calls of typedbytes that must all come to the same. Not here: what is right. Invariant: a way puts the values
before a fault into `values`, which the caller passes in, and raises the fault itself.
"""

import io

import typedbytes
from support.vectors import Dribble


def by_decode_from(chunks, values, **options):
    """Decode one value after the other where the last one ended."""
    data = b"".join(chunks)
    decoder, offset = typedbytes.Decoder(**options), 0
    while offset < len(data):
        value, offset = decoder.decode_from(data, offset)
        values.append(value)


def by_feed(chunks, values, **options):
    """Push the chunks and take what is complete."""
    decoder = typedbytes.Decoder(**options)
    for chunk in chunks:
        decoder.feed(chunk)
        values.extend(decoder)
    decoder.close()


def by_byte(chunks, values, **options):
    """Push one byte at a time."""
    data = b"".join(chunks)
    by_feed([data[n : n + 1] for n in range(len(data))], values, **options)


def by_reader(chunks, values, **options):
    """Read a buffer."""
    for value in typedbytes.Reader(b"".join(chunks), **options):
        values.append(value)


def by_file(chunks, values, **options):
    """Read a file ahead."""
    for value in typedbytes.Reader(io.BytesIO(b"".join(chunks)), **options):
        values.append(value)


def by_exact_file(chunks, values, **options):
    """Read a file no further than each value."""
    for value in typedbytes.Reader(io.BytesIO(b"".join(chunks)), read_ahead=False, **options):
        values.append(value)


def by_one_byte_reads(chunks, values, **options):
    """Read a source that gives one byte for each read."""
    for value in typedbytes.Reader(Dribble(b"".join(chunks)), **options):
        values.append(value)


def by_exact_one_byte_reads(chunks, values, **options):
    """Read such a source no further than each value."""
    for value in typedbytes.Reader(Dribble(b"".join(chunks)), read_ahead=False, **options):
        values.append(value)


WAYS = [by_decode_from, by_feed, by_byte, by_reader, by_file, by_exact_file, by_one_byte_reads, by_exact_one_byte_reads]
