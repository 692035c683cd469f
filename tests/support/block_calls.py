"""Every way of decoding block messages, and how outcomes are compared.

Here: calls that must all come to the same. Not here: what is right. Invariant: a way gives the messages before a fault,
and describes the fault as the reference does.
"""

import numpy

import typedbytes as tb
from support.vectors import exact_repr
from typedbytes.block import ArrowStream, BlockDecoder, BlockReader


def by_feed(wire, chunks, **options):
    """Decode what is fed: (id, values) of the messages, and the error as the reference gives it."""
    decoder, messages = BlockDecoder(wire, **options), []
    try:
        for chunk in chunks:
            messages += decoder.feed(chunk)
        decoder.close()
    except tb.DecodeError as error:
        assert raised(lambda: decoder.feed(b"")) is error
        return messages, fault(error)
    return messages, None


def by_reader(wire, chunks, **options):
    """Decode what is read."""
    reader, messages = BlockReader(Pieces(chunks), wire, **options), []
    try:
        for message in reader:
            messages.append(message)
    except tb.DecodeError as error:
        assert raised(reader.read) is error
        return messages, fault(error)
    return messages, None


class Pieces:
    """Give one chunk for each read."""

    def __init__(self, chunks):
        self.chunks = [chunk for chunk in chunks if chunk]

    def read(self, nbytes):
        """Return the next chunk, or as much of it as is wanted."""
        chunk = self.chunks.pop(0) if self.chunks else b""
        if len(chunk) > nbytes:
            self.chunks.insert(0, chunk[nbytes:])
        return chunk[:nbytes]


def fault(error):
    """Return what an error says, as the reference does."""
    entry = int(error.path[1 : error.path.index("]")]) if error.path else None
    if type(error) is tb.BlockError:
        assert error.entry == entry
    return type(error), error.offset, entry, error.record


def same(found, expected):
    """Compare outcomes."""
    (messages, error), (right, wrong) = found, expected
    assert [(message.id, formatted(message)) for message in messages] == [
        (id, formatted(values)) for id, values in right
    ]
    assert error == wrong


def raised(call):
    """Return what a failed decoder raises again."""
    try:
        call()
    except tb.DecodeError as error:
        return error
    raise AssertionError("a failed decoder went on")


def formatted(values):
    """Return values as text: arrays by their elements, however they are held."""
    found = []
    for value in values:
        if isinstance(value, (memoryview, numpy.ndarray)):
            value = numpy.asarray(value)
            value = value.astype(value.dtype.newbyteorder("<"))
        elif isinstance(value, ArrowStream):
            value = ("arrow", bytes(value.data))
        elif isinstance(value, tuple) and value and value[0] == "array":
            value = numpy.zeros(value[1], value[2].newbyteorder("<"))
        found.append(exact_repr(value))
    return found
