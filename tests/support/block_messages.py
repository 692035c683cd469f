"""Random block messages, sent to a peer and compared when they come back."""

import numpy

import block_peer
import block_reference as slow
import typedbytes as tb
from block_ways import spelled
from typedbytes.block import ArrowStream, BlockReader, BlockWriter, Command


def answer_sizes(wire, sizes):
    """Send messages of the published sizes and wait for the byte that answers each."""
    with block_peer.peer("ack", wire) as sock:
        reader, writer = BlockReader(sock, wire), BlockWriter(sock, wire)
        for size in sizes:
            writer.write(slow.published(size))
            assert reader.read_bytes(1) == b"\0"


def random_message(chance, wire):
    """Return values that have a code on the wire."""
    kinds = 6 if wire != "native" else 15
    return [random_value(chance, chance.randrange(kinds)) for _ in range(chance.choice((0, 1, 2, 3, 8)))]


def random_value(chance, kind):
    """Return a value of a kind: the first six are known to every wire."""
    text = "".join(chance.choices("ab\\\r\n\u00e9\u20ac\U0001f600\0", k=chance.randrange(8)))
    return [
        lambda: chance.randbytes(chance.randrange(20)),
        lambda: text,
        lambda: Command(text),
        lambda: chance.randrange(-(2**31), 2**31),
        lambda: chance.choice((2**31, -(2**63), 2**63 - 1, chance.getrandbits(62) + 2**40)),
        lambda: chance.choice((0.0, -0.0, 1.5, float("inf"), float("-inf"), chance.random(), 5e-324, 1.7976931348623157e308)),
        lambda: None,
        lambda: chance.random() < 0.5,
        lambda: tb.Byte(chance.randrange(-128, 128)),
        lambda: tb.Long(chance.randrange(100)),
        lambda: tb.Float(chance.random()),
        lambda: [1, text, {"k": (2.5, b"raw", [True])}],
        lambda: tb.Ext(144, chance.randbytes(3)),
        lambda: ArrowStream(chance.randbytes(9)),
        lambda: numpy.arange(6).astype(chance.choice(slow.ELEMENTS)).reshape(chance.choice(((6,), (2, 3), (1, 6, 1), (3, 2)))),
    ][kind]()


def echo_messages(sock, wire, chance, count):
    """Send random messages in batches and compare the bytes and values that come back, until there are `count`."""
    reader, writer = BlockReader(sock, wire), BlockWriter(sock, wire)
    while count > 0:
        batch = [random_message(chance, wire) for _ in range(100)]
        writer.writes(batch)
        for args in batch:
            message = reader.read()
            assert spelled(message) == spelled(map(plain, args))
        count -= len(batch)


def plain(value):
    """Return what a value is read back as."""
    kinds = {tb.Byte: int, tb.Long: int, tb.Float: float}
    return kinds[type(value)](numpy.float32(value) if type(value) is tb.Float else value) if type(value) in kinds else value
