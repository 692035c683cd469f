"""Block messages of the published sizes, and random ones that a peer sends back."""

import numpy

import typedbytes as tb
from support import block_peer, block_reference as slow
from support.block_calls import formatted
from typedbytes.block import ArrowStream, BlockReader, BlockWriter, Command


def answer_sizes(wire, sizes):
    """Send messages of the published sizes and wait for the byte that answers each."""
    with block_peer.peer("ack", wire) as sock:
        reader, writer = BlockReader(sock, wire), BlockWriter(sock, wire)
        for size in sizes:
            writer.write(slow.published(size))
            assert reader.read_bytes(1) == b"\0"


def random_message(rng, wire):
    """Return values that have a code on the wire."""
    kinds = 6 if wire != "native" else 15
    return [random_value(rng, rng.randrange(kinds), wire) for _ in range(rng.choice((0, 1, 2, 3, 8)))]


def random_value(rng, kind, wire):
    """Return a value of a kind: the first six are known to every wire."""
    text = "".join(rng.choices("ab\\\r\n\u00e9\u20ac\U0001f600\0", k=rng.randrange(8)))
    return [
        lambda: rng.randbytes(rng.randrange(20)),
        lambda: text,
        lambda: Command(text.replace("\r", "").replace("\n", "") if wire == "line" else text),
        lambda: rng.randrange(-(2**31), 2**31),
        lambda: rng.choice((2**31, -(2**63), 2**63 - 1, rng.getrandbits(62) + 2**40)),
        lambda: rng.choice((0.0, -0.0, 1.5, float("inf"), float("-inf"), rng.random(), 5e-324, 1.7976931348623157e308)),
        lambda: None,
        lambda: rng.random() < 0.5,
        lambda: tb.Byte(rng.randrange(-128, 128)),
        lambda: tb.Long(rng.randrange(100)),
        lambda: tb.Float(rng.random()),
        lambda: [1, text, {"k": (2.5, b"raw", [True])}],
        lambda: tb.Ext(144, rng.randbytes(3)),
        lambda: ArrowStream(rng.randbytes(9)),
        lambda: (
            numpy.arange(6).astype(rng.choice(slow.ELEMENTS)).reshape(rng.choice(((6,), (2, 3), (1, 6, 1), (3, 2))))
        ),
    ][kind]()


def echo_messages(sock, wire, rng, count):
    """Send random messages in batches and compare the bytes and values that come back, until there are `count`."""
    reader, writer = BlockReader(sock, wire), BlockWriter(sock, wire)
    while count > 0:
        batch = [random_message(rng, wire) for _ in range(100)]
        writer.writes(batch)
        for args in batch:
            message = reader.read()
            assert formatted(message) == formatted(map(plain, args))
        count -= len(batch)


def plain(value):
    """Return the value that is read back for one."""
    kinds = {tb.Byte: int, tb.Long: int, tb.Float: float}
    return (
        kinds[type(value)](numpy.float32(value) if type(value) is tb.Float else value)
        if type(value) in kinds
        else value
    )
