"""Decoding and encoding by type beside the slow reference: same values, same bytes, same errors at the same places.

Here: bytes that are nearly of a type, and what must hold of them. Not here: the types, the reference. Invariant: the
bytes looked at end at an unreadable page; the first byte chooses the type, the second the options.
"""

import random
import re
import struct

import typedbytes
from fuzz import inputs
from fuzz.guard import Guard
from support import typed_reference
from support.record_types import TYPES, made, spelled
from support.vectors import exact_repr, failure
from typedbytes._core import safe_loads
from typedbytes.errors import DecodeError, EncodeError, FormatError

GUARD = Guard(1 << 20)
HINTS = list(TYPES.values())
CODECS = {}
SHAPES = []
SINGLES = re.compile(r"Float\(([^()]*)\)")
OTHER_ZONE = "timezone(datetime.timedelta"  # in a pickle; a datetime written by its type is in UTC
NSHAPES = 3000
NEW = 0.003  #: parts of the inputs after these that are made again

OPTIONS = [
    {},
    {},
    {},
    {"strict": False},
    {"dialect": "hive"},
    {"dialect": "hive", "strict": False},
    {"pickle": "raw"},
    {"max_depth": 1},
    {"max_depth": 3},
    {"max_bytes": 20},
    {"unicode_errors": "replace"},
]


class Walk(typed_reference.Walk):
    """The reference with our own reader of pickles: it is Python, and tested by itself."""

    def application(self, start, code, path):
        """Return the value of an application code."""
        if self.exact or code != typed_reference.PICKLE or self.pickle != "safe":
            return super().application(start, code, path)
        payload = self.sized(start, code, path)
        try:
            return safe_loads(payload)
        except Exception:
            raise FormatError("broken payload", offset=start, code=code, path=path) from None


def shape(maker):
    """Return the choice of a type and of options, and a value that is nearly of the type."""
    rng = maker.rng
    choice = rng.randrange(len(HINTS))
    kind = rng.random()
    if kind < 0.1:
        wire = maker.wire()
    else:
        hint = HINTS[choice if kind < 0.9 else rng.randrange(len(HINTS))]
        value = made(random.Random(rng.getrandbits(32)), hint)
        wire = typed_reference.dumps(value, hint, omit_none=rng.random() < 0.3)
        if kind < 0.3:  # as it is written without types, with pickles
            wire = typedbytes.dumps(typedbytes.loads(wire)) if kind < 0.2 else typedbytes.dumps(value, default=repr)
        if kind > 0.4:
            wire = maker.spoiled(wire)
    return bytes((choice, rng.randrange(len(OPTIONS)))) + wire[: inputs.MAX_SEED_BYTES]


def spoiled_shape(maker):
    """Return one of the values that are nearly of a type, with a few bytes changed: many in little time."""
    rng = maker.rng
    if len(SHAPES) < NSHAPES or rng.random() < NEW:
        SHAPES.append(shape(maker))
        return SHAPES[-1]
    data = bytearray(SHAPES[int(rng.random() * len(SHAPES))])
    for _ in range(int(rng.random() * 4)):
        at = int(rng.random() * len(data))
        data[at] = rng.choice(inputs.CODES) if rng.random() < 0.3 else int(rng.random() * 256)
    return data


def check_alone(data):
    """Decode by type, and encode what came of it: neither reads beyond the bytes, and what was written is read."""
    choice, options = data[0] % len(HINTS) if data else 0, data[1] % len(OPTIONS) if len(data) > 1 else 0
    decoder, encoder = CODECS.get((choice, options)) or CODECS.setdefault((choice, options), codecs(choice, options))
    try:
        value = decoder.decode_from(GUARD.put(data[2:]), 0)[0]
    except DecodeError:
        return
    try:
        encoded = encoder.encode(value)
    except EncodeError:
        return
    if not OPTIONS[options]:
        decoder.decode_from(GUARD.put(encoded), 0)


def codecs(choice, options):
    """Return a Decoder and an Encoder of a type."""
    options = OPTIONS[options]
    shared = {name: option for name, option in options.items() if name in ("dialect", "unicode_errors")}
    return typedbytes.Decoder(type=HINTS[choice], **options), typedbytes.Encoder(type=HINTS[choice], **shared)


def check_typed(data):
    """Decode by type, whole and in pieces, beside the reference; what was decoded is written and read again."""
    choice, options = data[0] % len(HINTS) if data else 0, OPTIONS[data[1] % len(OPTIONS)] if len(data) > 1 else {}
    hint, plain = HINTS[choice], data[2:]
    decoder = typedbytes.Decoder(type=hint, **options)
    found = outcome(decoder.decode_from, GUARD.put(plain), 0)
    expected = outcome(slowly, plain, hint, options)
    assert found == expected, (hint, options, found, expected)
    check_pieces(plain, hint, options, found)
    if type(found) is str and "pickle" not in options:
        check_again(decoder.decode_from(plain, 0)[0], hint, options)


def slowly(plain, hint, options):
    """Return the value as the reference sees it, and the offset after it."""
    walk = Walk(plain, **options)
    return walk.typed(hint), walk.offset


def check_pieces(plain, hint, options, found):
    """The first value of a stream in two pieces is the value, or the error."""
    decoder = typedbytes.Decoder(type=hint, **options)

    def first():
        middle = len(plain) // 2
        for piece in (plain[:middle], plain[middle:]):
            decoder.feed(piece)
            for value in decoder:
                return value, found_end(found, plain, hint, options)
        decoder.close()
        raise EOFError

    try:
        again = outcome(first)
    except EOFError:
        assert not plain
    else:
        assert again == found, (hint, options, again, found)


def found_end(found, plain, hint, options):
    """Return the offset after the value."""
    return typedbytes.Decoder(type=hint, **options).decode_from(plain, 0)[1] if type(found) is str else None


def check_again(value, hint, options):
    """What has been decoded can be encoded by its type as the reference does, and reads as the same value."""
    options = {name: option for name, option in options.items() if name == "dialect"}
    encoded = outcome_of_dumps(typedbytes.dumps, value, type=hint, **options)
    expected = outcome_of_dumps(typed_reference.dumps, value, hint, **options)
    assert typed_bytes_of(encoded, **options) == typed_bytes_of(expected, **options), (hint, encoded, expected)
    if type(encoded) is bytes:
        again = typedbytes.loads(encoded, type=hint, **options)
        text = SINGLES.sub(rounded, spelled(value))
        assert spelled(again) == text or OTHER_ZONE in text, (hint, value)


def rounded(spelled_float):
    """Return a Float as it is written: read from a wider number, it has more digits than 32 bits hold."""
    return f"Float({struct.unpack('>f', struct.pack('>f', float(spelled_float[1])))[0]!r})"


def outcome_of_dumps(dumps, *arguments, **options):
    """Return encoded bytes, or what the error says."""
    try:
        return dumps(*arguments, **options)
    except EncodeError as error:
        return failure(error)


def typed_bytes_of(encoded, dialect="hadoop"):
    """Return encoded bytes in words if there is a pickle in them, whose opcodes are the pickler's own choice."""
    is_checked = type(encoded) is bytes and typed_reference.PICKLE in encoded
    return exact_repr(typedbytes.loads(encoded, dialect=dialect)) if is_checked else encoded


def outcome(call, *arguments):
    """Return the spelling of what a call gives, or what its error says."""
    try:
        return spelled(call(*arguments))
    except DecodeError as error:
        return failure(error)
