"""Block messages: whole and in pieces, held against the slow implementation, and written again.

Here: what must hold for any bytes on each wire, and how bytes come about that are nearly a message. Not here: engines.
Invariant: a buffer that is decoded ends where an unreadable page begins.
"""

import numpy

import typedbytes
from fuzz import inputs
from fuzz.choices import Choices
from fuzz.guard import Guard
from support import block_reference as slow
from support.block_calls import by_feed, by_reader, formatted, same
from typedbytes.block import ArrowStream, BlockDecoder, BlockEncoder, Command

GUARD = Guard()
HEAD = 4  # bytes that choose
LIMITS = (None, None, None, 1, 30, 200, 5000)


def check_layouts(data):
    """Decode messages in a legacy layout."""
    choices = Choices(data)
    check(choices.pick(slow.LAYOUTS), choices, data[HEAD:])


def check_native(data):
    """Decode native messages."""
    choices = Choices(data)
    choices.byte()
    check("native", choices, data[HEAD:])


def check(wire, choices, data):
    """All ways come to what the reference says; what is decoded can be written, and comes back."""
    limit, at, step = choices.pick(LIMITS), choices.byte(), choices.byte() + 1
    expected = slow.decode(wire, data, limit)
    view = GUARD.put(data)
    at = min(at, len(view))
    same(by_feed(wire, [view], max_bytes=limit), expected)
    same(by_feed(wire, [view[:at], view[at:]], max_bytes=limit), expected)
    same(by_feed(wire, [view[n : n + step] for n in range(0, len(view), step)], max_bytes=limit), expected)
    same(by_reader(wire, [bytes(view[:at]), bytes(view[at:])], max_bytes=limit), expected)
    check_skipping(wire, view, limit, len(expected[0]))
    for _, values in expected[0]:
        check_written(wire, values)


def check_skipping(wire, view, limit, least):
    """With what is bad skipped there are as many messages or more, and no other errors."""
    decoder, messages = BlockDecoder(wire, max_bytes=limit, skip_bad=True), []
    try:
        messages += decoder.feed(view)
        decoder.close()
    except typedbytes.DecodeError:
        pass
    assert len(messages) >= least


def check_written(wire, values):
    """Write values that came out of a message."""
    values = [
        numpy.zeros(value[1], value[2].newbyteorder("<")) if type(value) is tuple and value[:1] == ("array",) else value
        for value in values
    ]
    values = [native_order(value) if isinstance(value, numpy.ndarray) else value for value in values]
    if wire != "native" and any(
        value is None or type(value) in (bool, list, tuple, dict, numpy.ndarray, ArrowStream) for value in values
    ):
        check_refused(wire, values)  # a native message among those in a legacy layout
        return
    try:
        written = BlockEncoder(wire).encode(values)
    except typedbytes.EncodeError:
        assert wire != "native" or any(not isinstance(value, (int, float, str, bytes)) for value in values)
        return
    (message,) = BlockDecoder(wire).feed(written)
    if wire in ("line", "block"):
        values = [float("nan") if value != value else value for value in values]
    assert formatted(message) == formatted(values)


def check_refused(wire, values):
    """Values that the legacy layouts have no code for are refused, and nothing is written; arrays are bytes there."""
    if all(isinstance(value, (int, float, str, bytes, numpy.ndarray)) and type(value) is not bool for value in values):
        return
    try:
        BlockEncoder(wire).encode(values)
    except typedbytes.EncodeError:
        return
    raise AssertionError(f"{wire} took {values!r}")


def native_order(array):
    """Return an array with the elements of this machine."""
    return array.astype(array.dtype.newbyteorder("="))


def layouts_shape(maker):
    """Return bytes that choose, and messages of a layout, most of them spoiled."""
    index = maker.rng.randrange(len(slow.LAYOUTS))
    return bytes([index]) + maker.rng.randbytes(HEAD - 1) + messages(maker, slow.LAYOUTS[index])


def native_shape(maker):
    """Return bytes that choose, and native messages, most of them spoiled."""
    return maker.rng.randbytes(HEAD) + messages(maker, "native")


def messages(maker, wire):
    """Return one or two messages, spoiled or not."""
    rng = maker.rng
    data = b"".join(
        slow.encode(wire if rng.random() < 0.95 else "native", arguments(maker, wire),
                    rng.choice(inputs.NUMBERS) & 0xFFFFFFFF, rng.random() < 0.5,
                    wire == "native" and rng.random() < 0.3)
        for _ in range(rng.choice((1, 1, 2)))
    )  # fmt: skip
    return data if rng.random() < 0.25 else maker.spoiled(data)


def arguments(maker, wire):
    """Return values that the wire knows."""
    rng = maker.rng
    kinds = 6 if wire != "native" else 11
    return [argument(maker, rng.randrange(kinds)) for _ in range(rng.choice((0, 1, 1, 2, 3, 5)))]


def argument(maker, kind):
    """Return a value of a kind; the first six are those of the legacy layouts."""
    rng = maker.rng
    return (
        lambda: (
            rng.randbytes(rng.choice((0, 1, 3, 8, 25)))
            if rng.random() < 0.99
            else bytes(rng.choice((65_535, 65_536, 70_001)))
        ),
        lambda: rng.choice(inputs.TEXTS) + rng.choice(("", "\\", "\r\n")),
        lambda: Command(rng.choice(inputs.TEXTS)),
        lambda: rng.choice(inputs.NUMBERS),
        lambda: rng.choice((0.0, -1.5, 1e300, float("inf"), float("nan"), rng.random())),
        lambda: rng.choice(inputs.TEXTS),
        lambda: rng.choice((None, True, False)),
        lambda: rng.choice((typedbytes.Byte(-3), typedbytes.Long(7), typedbytes.Float(1.5))),
        lambda: rng.choice(([1, "a"], (b"x", [None]), {"k": {2: 3.5}}, typedbytes.Ext(144, b"e"), 2**80)),
        lambda: ArrowStream(rng.randbytes(5)),
        lambda: numpy.arange(6).astype(rng.choice(slow.ELEMENTS)).reshape(rng.choice(((6,), (2, 3), (1, 1, 6)))),
    )[kind]()
