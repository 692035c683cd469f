"""What hypothesis makes up: values, encoded bytes good and spoiled, options, ways to cut a stream.

Here: strategies, each with a word on what it leaves out. Not here: the compiled implementation and what it does.
Invariant: sizes are small, because many small inputs find more than few large ones.
"""

import datetime
import struct
import uuid

from hypothesis import settings, strategies as st

from typedbytes._types import Byte, Ext, Float, Long, Writable

INT_EDGES = [0, 1, -1, 127, 128, -128, -129, 255, 256, 2**15, 2**16, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1]
LONG_EDGES = [2**32, 2**53, 2**62, 2**63 - 1, -(2**63), -(2**62)]
#: Pieces of text that lines are made of.
PIECES = [
    b"a", b"hello world ", b"\n", b"\n", b"\r", b"\r\n", "ü狐".encode(), "\U0001f600".encode(), b"\xff", b"\xe2\x82",
    b"x" * 300,
]  # fmt: skip
WIDE_EDGES = [2**63, -(2**63) - 1, 2**64, 2**71, -(2**71), 2**127, 2**128, 2**255, 10**100]


def examples(number, **options):
    """Return settings with this many examples where a property has 100, fewer with --hypothesis-profile=brief."""
    return settings(max_examples=max(1, number * settings().max_examples // 100), **options)


# -- values -----------------------------------------------------------------------------------------------

ints = st.sampled_from(INT_EDGES + LONG_EDGES) | st.integers(-(2**63), 2**63 - 1) | st.integers(-300, 300)
wide_ints = st.sampled_from(WIDE_EDGES) | st.integers(-(2**200), 2**200)
doubles = st.integers(0, 2**64 - 1).map(lambda bits: struct.unpack(">d", struct.pack(">Q", bits))[0]) | st.floats()
# FLOATs that a binary32 holds: rounding has vectors of its own
singles = st.floats(width=32).map(Float)
# text with lone surrogates is left out: strict encoding refuses it, and vectors say how
texts = st.text(max_size=40) | st.text(st.characters(max_codepoint=127), max_size=80)
binaries = st.binary(max_size=40)
exts = st.builds(Ext, st.integers(51, 200).filter(lambda code: code not in (100, 101, 102)), st.binary(max_size=12))
writables = st.builds(Writable, st.text(max_size=12), st.binary(max_size=12))
widths = st.builds(Byte, st.integers(-128, 127)) | st.builds(Long, st.integers(-(2**31), 2**31 - 1)) | singles

# time zones other than fixed ones are left out: they are no value type
zones = st.none() | st.builds(
    lambda minutes: datetime.timezone(datetime.timedelta(minutes=minutes)), st.integers(-1439, 1439)
)
pickled_hashable = st.one_of(
    st.none(),
    wide_ints,
    # signalling NaNs are left out: they cannot be hashed
    st.decimals().filter(lambda number: not number.is_snan()),
    st.complex_numbers(allow_nan=False),
    st.uuids().map(lambda value: uuid.UUID(int=value.int)),
    st.dates(),
    st.datetimes(timezones=zones),
    st.times(timezones=zones),
    st.timedeltas(),
    zones,
    st.frozensets(st.integers(-300, 300), max_size=4),
)
pickled = pickled_hashable | st.sets(st.none() | st.integers(), max_size=4)

plain_scalars = st.one_of(st.booleans(), ints, doubles, texts, binaries)
scalars = st.one_of(plain_scalars, plain_scalars, plain_scalars, widths, exts, writables, pickled)
hashable_scalars = st.one_of(plain_scalars, plain_scalars, widths, exts, writables, pickled_hashable)
keys = hashable_scalars | st.tuples(hashable_scalars) | st.tuples(hashable_scalars, st.tuples(hashable_scalars))


def nested(children):
    """Return containers of what children gives."""
    return st.one_of(
        st.lists(children, max_size=5),
        st.lists(children, max_size=5).map(tuple),
        st.dictionaries(keys, children, max_size=4),
    )


values = st.recursive(scalars, nested, max_leaves=12)


class Unknown:
    """Have no type code; the name lets a default distinguish them."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"Unknown({self.name!r})"


# no pickles in keys: sorting looks at their bytes, and those are the pickler's own
sortable = st.recursive(
    st.one_of(plain_scalars, widths, exts, writables),
    lambda children: (
        st.dictionaries(plain_scalars | widths | exts, children, max_size=5) | st.lists(children, max_size=3)
    ),
    max_leaves=12,
)

# what an encoder may refuse: other types, text and numbers that the format cannot hold
unsure = st.recursive(
    st.one_of(
        scalars,
        st.builds(Unknown, st.text(max_size=4)),
        st.text(st.characters(categories=["Cs", "Ll"]), max_size=6),
        doubles.filter(lambda number: number == number).map(Float),
        st.builds(Ext, st.sampled_from([11, 12, 50, 100, 101, 102, 177]), st.binary(max_size=3)),
    ),
    nested,
    max_leaves=8,
)


# -- bytes ------------------------------------------------------------------------------------------------


def sized(code, payload):
    """Return a code, a length and that many bytes."""
    return struct.pack(">Bi", code, len(payload)) + payload


def fixed(code, nbytes):
    """Return values of one width with any bits."""
    return st.binary(min_size=nbytes, max_size=nbytes).map(bytes([code]).__add__)


# fewer letters, so that keys repeat
short = st.text("ab\xe9\u20ac\U0001f600", max_size=3).map(lambda text: text.encode("utf-8"))
pieces = st.sampled_from([b"a", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xe2\x82"])
not_utf8 = st.lists(pieces, max_size=3).map(b"".join)
small_ints = st.integers(-2, 2).map(lambda number: struct.pack(">Bi", 3, number))
small_longs = st.integers(-2, 2).map(lambda number: struct.pack(">Bq", 4, number))
# pickles that name a class are left out: the reference's unpickler is more patient with odd
# ones; vectors have whole ones
PICKLES = [
    b"\x80\x02N.", b"\x80\x02K\x01.", b"\x80\x02\x8a\x09" + (2**64).to_bytes(9, "little") + b".",
    b"\x80\x02\x8a\x01\x05.", b"cos\ngetpid\n(tR.", b"", b"\x80\x02.",
]  # fmt: skip
WRITABLES = [
    b"\0\0\0\1C", b"\0\0\0\1Cpayload", b"\0\0\0\0", b"\0\0\0\2C", b"\xff\xff\xff\xff", b"\0\0", b"\0\0\0\1\xff",
]  # fmt: skip
wire_scalars = st.one_of(
    small_ints,
    small_ints,
    small_longs,
    fixed(1, 1),
    fixed(2, 1),
    fixed(3, 4),
    fixed(4, 8),
    fixed(5, 4),
    fixed(6, 8),
    short.map(lambda payload: sized(7, payload)),
    short.map(lambda payload: sized(7, payload)),
    short.map(lambda payload: sized(0, payload)),
    not_utf8.map(lambda payload: sized(7, payload)),
    st.builds(sized, st.sampled_from([51, 99, 101, 144, 177, 200]), short),
    st.sampled_from(PICKLES).map(lambda payload: sized(100, payload)),
    st.sampled_from(WRITABLES).map(lambda payload: sized(50, payload)),
    # arrays are left out here: NumPy's own words for a bad header differ from version to version; vectors have them
    fixed(11, 2),
    st.sampled_from([b"\x0c", b"\xb1"]),
)


def wire_nested(children):
    """Return encoded containers; a MAP may repeat keys and have keys that cannot be hashed."""
    items = st.lists(children, max_size=4)
    return st.one_of(
        items.map(lambda parts: struct.pack(">Bi", 8, len(parts)) + b"".join(parts)),
        items.map(lambda parts: b"\x09" + b"".join(parts) + b"\xff"),
        st.lists(st.tuples(wire_scalars | children, children), max_size=4).map(
            lambda pairs: struct.pack(">Bi", 10, len(pairs)) + b"".join(key + value for key, value in pairs)
        ),
    )


# mostly right for one of the two dialects, and right in structure for a reader of both
wires = st.recursive(wire_scalars, wire_nested, max_leaves=10)


@st.composite
def spoiled(draw):
    """Return encoded bytes with a few bytes changed, put in, taken out or cut off."""
    data = bytearray(draw(wires))
    for _ in range(draw(st.integers(1, 3))):
        offset = draw(st.integers(0, len(data)))
        kind = draw(st.sampled_from(["change", "insert", "delete", "cut", "double"]))
        if kind == "change":
            byte = draw(st.sampled_from([0, 1, 7, 8, 9, 10, 127, 128, 255]) | st.integers(0, 255))
            data[offset : offset + 1] = bytes([byte])
        elif kind == "insert":
            data[offset:offset] = draw(st.binary(min_size=1, max_size=5) | wire_scalars)
        elif kind == "delete":
            del data[offset : offset + draw(st.integers(1, 4))]
        elif kind == "cut":
            del data[offset:]
        else:
            data[offset:offset] = data[offset : offset + draw(st.integers(1, 9))]
    return bytes(data)


# random bytes rarely get far, so codes and small numbers are frequent in some of them
noise = st.binary(max_size=40) | st.lists(
    st.sampled_from([0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 10, 11, 12, 50, 51, 100, 101, 177, 255]), max_size=40
).map(bytes)

inputs = st.one_of(wires, spoiled(), spoiled(), noise)


# -- options ----------------------------------------------------------------------------------------------


def hook(code, data):
    """Return what an Ext shows."""
    return ("hook", code, data)


def unhashable_hook(code, data):
    """Return what no MAP can have as a key."""
    return [code, data]


ENCODE_HANDLERS = ["strict", "replace", "ignore", "surrogateescape", "surrogatepass"]
DECODE_HANDLERS = [*ENCODE_HANDLERS, "backslashreplace"]

decode_options = st.fixed_dictionaries(
    {},
    optional={
        "pickle": st.sampled_from(["safe", "raw"]),
        "exact": st.booleans(),
        "map_pairs": st.booleans(),
        "ext_hook": st.sampled_from([None, hook, unhashable_hook]),
        "unicode_errors": st.sampled_from(DECODE_HANDLERS),
        "dialect": st.sampled_from(["hadoop", "hive"]),
        "max_depth": st.integers(0, 6) | st.just(256),
        "max_bytes": st.none() | st.integers(1, 60),
    },
)

encode_options = st.fixed_dictionaries(
    {},
    optional={
        "int_width": st.sampled_from(["auto", 32, 64]),
        "pickle": st.sampled_from(["safe", "raw"]),
        "default": st.sampled_from([None, repr]),
        "unicode_errors": st.sampled_from(ENCODE_HANDLERS),
        "dialect": st.sampled_from(["hadoop", "hive"]),
        "max_depth": st.integers(0, 6) | st.just(256),
    },
)


@st.composite
def chunked(draw, data):
    """Return data cut into chunks, empty ones among them."""
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=8)))
    return [data[start:end] for start, end in zip([0, *cuts], [*cuts, len(data)])]
