"""Typed records and the libraries that decode and encode them: the rows of typed_records.py.

Here: record classes, their data, what each contender does, the goals. Not here: how time is taken. Invariant: all
contenders of a row have equal records in classes that are equal as far as the libraries let them be; a contender is
made in a process of its own, from a seed.
"""

import dataclasses
import datetime as dt
import decimal
import enum
import random
import typing
import uuid
from dataclasses import dataclass
from functools import partial

import msgspec

import typedbytes as tb

NROWS = 5000
PLAIN = (
    ("user", str), ("ms", int), ("ok", bool), ("score", float), ("url", str), ("n", int), ("big", int), ("word", str),
)  # fmt: skip
WIDE = tuple((f"field_{i}", (str, int, float, bool)[i % 4]) for i in range(50))
POINT = (("x", float), ("y", float))
ITEM = (("sku", str), ("n", int), ("price", float))


class Color(enum.Enum):
    """An Enum of ints."""

    RED = 1
    GREEN = 2
    BLUE = 3


RICH = (
    ("id", uuid.UUID), ("at", dt.datetime), ("day", dt.date), ("price", decimal.Decimal), ("color", Color), ("n", int),
)  # fmt: skip


def with_slots(name, fields):
    """Return a dataclass with slots, which Python 3.9 cannot make by itself."""
    names = [field for field, _ in fields]
    made = type(name, (), {"__slots__": tuple(names), "__annotations__": dict(fields)})
    return dataclasses.dataclass(made)


#: How a class of each kind is made.
KINDS = {
    "NamedTuple": lambda name, fields: typing.NamedTuple(name, fields),
    "dataclass": lambda name, fields: dataclasses.make_dataclass(name, fields),
    "slots dataclass": with_slots,
    "Struct": lambda name, fields: msgspec.defstruct(name, fields),
    "array Struct": lambda name, fields: msgspec.defstruct(name, fields, array_like=True),
    "TypedDict": lambda name, fields: typing.TypedDict(name, dict(fields)),
}


def plain_rows(rng):
    """Return tuples of eight plain fields."""
    words = ("alpha", "beta", "gamma", "delta", "epsilon")
    return [
        (f"user{rng.randrange(10**6)}", rng.randrange(1000), rng.random() < 0.5, rng.random(),
         f"http://example.com/{rng.randrange(10**9)}", i, rng.randrange(2**40), rng.choice(words))
        for i in range(NROWS)
    ]  # fmt: skip


def rich_rows(rng):
    """Return tuples of a UUID, a datetime, a date, a Decimal, an Enum and an int."""
    start = dt.datetime(2020, 1, 1)
    return [
        (uuid.UUID(int=rng.getrandbits(128)), start + dt.timedelta(seconds=rng.random() * 10**8),
         start.date() + dt.timedelta(days=i % 1000), decimal.Decimal(rng.randrange(10**6)) / 100,
         rng.choice(list(Color)), i)
        for i in range(NROWS)
    ]  # fmt: skip


def wide_rows(rng):
    """Return tuples of fifty fields."""
    return [
        tuple((f"v{i}{j % 100}", i * j, i / (j + 1), j % 2 == 1)[i % 4] for i in range(50)) for j in range(NROWS // 6)
    ]


def points(rng):
    """Return pairs of doubles."""
    return [(rng.random(), rng.random()) for _ in range(2 * NROWS)]


#: Fields and rows by name.
DATA = {
    "8 fields": (PLAIN, plain_rows), "dates and the like": (RICH, rich_rows), "50 fields": (WIDE, wide_rows),
    "points": (POINT, points),
}  # fmt: skip


def instances(data, kind):
    """Return the class of a kind, and its instances."""
    fields, rows = DATA[data]
    cls = KINDS[kind](f"{kind.title()}Row".replace(" ", ""), list(fields))
    names = [name for name, _ in fields]
    return cls, [cls(**dict(zip(names, row))) for row in rows(random.Random(1))]


def carts(kind):
    """Return the class of a kind that holds five items, and its instances."""
    item = KINDS[kind]("Item", list(ITEM))
    cart = KINDS[kind]("Cart", [("user", str), ("items", list[item]), ("total", float)])
    return cart, [
        cart(user=f"u{i}", items=[item(sku=f"sku{i % 77}-{k}", n=k, price=k * 1.5) for k in range(5)], total=float(i))
        for i in range(NROWS // 5)
    ]


def values(name):
    """Return the class of a column of the rows with dates and the like, and its values."""
    n = [field for field, _ in RICH].index(name)
    return RICH[n][1], [row[n] for row in rich_rows(random.Random(1))]


# -- what a contender does: each function returns a call without arguments ---------------------------------


def decode(library, make, *arguments):
    """Decode a list of all in one call."""
    cls, objects = make(*arguments)
    if library == "msgspec":
        return partial(msgspec.msgpack.Decoder(list[cls]).decode, msgspec.msgpack.encode(objects))
    return partial(tb.Decoder(type=list[cls]).decode, tb.dumps(objects, type=list[cls]))


def encode(library, typed, make, *arguments):
    """Encode a list of all in one call; msgspec's encoder has no type."""
    cls, objects = make(*arguments)
    if library == "msgspec":
        return partial(msgspec.msgpack.Encoder().encode, objects)
    return partial((tb.Encoder(type=list[cls]) if typed else tb.Encoder()).encode, objects)


def each(call, arguments):
    """Return a call that calls something with each of some arguments."""

    def run():
        for argument in arguments:
            call(argument)

    return run


def decode_each(library, by_function, make, *arguments):
    """Decode one record a call."""
    cls, objects = make(*arguments)
    if library == "msgspec":
        encoded = list(map(msgspec.msgpack.encode, objects))
        function = partial(msgspec.msgpack.decode, type=cls)
        return each(function if by_function else msgspec.msgpack.Decoder(cls).decode, encoded)
    encoded = [tb.dumps(each, type=cls) for each in objects]
    return each(partial(tb.loads, type=cls) if by_function else tb.Decoder(type=cls).decode, encoded)


def encode_each(library, typed, make, *arguments):
    """Encode one record a call."""
    cls, objects = make(*arguments)
    if library == "msgspec":
        return each(msgspec.msgpack.Encoder().encode, objects)
    return each((tb.Encoder(type=cls) if typed else tb.Encoder()).encode, objects)


def read_pairs(library, in_loop, make, *arguments):
    """Read a stream of keys and records. msgspec has no streams: all is one list, or each pair has bytes of its own."""
    cls, objects = make(*arguments)
    pairs = [(f"key {i % 100}", each) for i, each in enumerate(objects)]
    if library == "msgspec":
        if not in_loop:
            return partial(msgspec.msgpack.Decoder(list[tuple[str, cls]]).decode, msgspec.msgpack.encode(pairs))
        encoded, decoder = list(map(msgspec.msgpack.encode, pairs)), msgspec.msgpack.Decoder(tuple[str, cls])
        return partial(loop, lambda: map(decoder.decode, encoded))
    encoded = tb.Encoder(key_type=str, value_type=cls).encode_pairs(pairs)
    if not in_loop:
        return partial(tb.Decoder(key_type=str, value_type=cls).decode_pairs, encoded)
    return partial(loop, lambda: tb.PairReader(encoded, key_type=str, value_type=cls))


def loop(pairs):
    """Go through keys and values."""
    for key, value in pairs():
        pass


def write_pairs(library, typed, make, *arguments):
    """Encode a stream of keys and records."""
    cls, objects = make(*arguments)
    pairs = [(f"key {i % 100}", each) for i, each in enumerate(objects)]
    if library == "msgspec":
        return partial(msgspec.msgpack.Encoder().encode, pairs)
    return partial((tb.Encoder(key_type=str, value_type=cls) if typed else tb.Encoder()).encode_pairs, pairs)


@dataclass(frozen=True)
class Row:
    """What is done with which records.

    goal: the time at most, as a part of the faster of msgspec's forms. forms: by name, the arguments of `make` there;
    the first is the same class as ours.
    """

    name: str
    goal: float
    work: object
    nrecords: int
    ours: tuple
    forms: dict

    def run(self, contender):
        """Return what a contender does, in this process."""
        if contender == "typedbytes":
            return self.work("typedbytes", *self.ours)
        return self.work("msgspec", *self.forms[contender])


def row(name, goal, work, data, kind, *others, option=()):
    """Return a row of one kind of class; msgspec may have others besides."""
    fields_and_rows = DATA[data][1](random.Random(1))
    of = {each: (*option, instances, data, each) for each in (kind, *others)}
    return Row(name, goal, work, len(fields_and_rows), of[kind], of)


def rows():
    """Yield all rows."""
    for kind in ("NamedTuple", "slots dataclass"):
        yield vector_row(kind)
    yield row("decode 8 fields, VECTOR: array Struct", 0.75, decode, "8 fields", "array Struct")
    for kind, goal in (("dataclass", 0.5), ("slots dataclass", 0.5), ("Struct", 0.8)):
        yield row(f"decode 8 fields, MAP: {kind}", goal, decode, "8 fields", kind)
    for kind in ("NamedTuple", "array Struct", "dataclass", "slots dataclass", "Struct"):
        yield row(f"decode dates and the like: {kind}", 0.75, decode, "dates and the like", kind)
    for kind in ("NamedTuple", "array Struct", "slots dataclass", "Struct"):
        yield row(f"decode 50 fields: {kind}", 0.8, decode, "50 fields", kind)
    for kind in ("dataclass", "slots dataclass", "Struct"):
        yield Row(f"decode carts of 5 items: {kind}", 0.8, decode, NROWS // 5, (carts, kind), {kind: (carts, kind)})
    yield row("decode points: NamedTuple", 0.8, decode, "points", "NamedTuple", "array Struct")
    for kind in ("array Struct", "Struct", "dataclass"):
        yield row(f"decode points: {kind}", 0.8, decode, "points", kind)
    for name in ("day", "at", "price", "id", "color"):
        title = values(name)[0].__name__
        yield Row(f"decode {title} alone", 1.0, decode, NROWS, (values, name), {title: (values, name)})
        yield Row(f"encode {title} alone", 1.0, partial(encode_typed), NROWS, (values, name), {title: (values, name)})
    for by_function, title in ((False, "Decoder"), (True, "loads")):
        for kind in ("NamedTuple", "dataclass", "Struct"):
            yield row(f"one a call, {title}: {kind}", 1.0, decode_each, "8 fields", kind, option=(by_function,))
    for typed, title in ((True, "with type="), (False, "without type=")):
        for kind in ("dataclass", "Struct", "NamedTuple"):
            yield row(f"one a call, Encoder {title}: {kind}", 1.0, encode_each, "8 fields", kind, option=(typed,))
    for in_loop, title in ((False, "at once"), (True, "in a loop")):
        for kind in ("NamedTuple", "dataclass", "Struct"):
            yield row(f"pairs {title}: {kind}", 1.0, read_pairs, "8 fields", kind, option=(in_loop,))
    for typed, title in ((True, "with types"), (False, "without types")):
        yield row(f"encode pairs {title}: dataclass", 1.0, write_pairs, "8 fields", "dataclass", option=(typed,))
    for typed, title in ((True, "with type="), (False, "without type=")):
        for kind in ("dataclass", "slots dataclass", "Struct", "array Struct", "NamedTuple"):
            goal = 1.0 if kind == "NamedTuple" else 0.7
            yield row(f"encode 8 fields {title}: {kind}", goal, encode, "8 fields", kind, option=(typed,))
        carts_of = (typed, carts, "dataclass")
        yield Row(f"encode carts {title}: dataclass", 0.7, encode, NROWS // 5, carts_of, {"dataclass": carts_of})
    for kind in ("dataclass", "Struct"):
        yield row(f"encode dates and the like: {kind}", 0.7, encode, "dates and the like", kind, option=(True,))


def encode_typed(library, make, *arguments):
    """Encode a list with a type."""
    return encode(library, True, make, *arguments)


def vector_row(kind):
    """Return the row of a class from VECTORs; a dataclass is written as a MAP otherwise, and msgspec reads no other."""
    of = {each: (kind, instances, "8 fields", each) for each in (kind, "array Struct")}
    return Row(f"decode 8 fields, VECTOR: {kind}", 0.75, decode_vectors, NROWS, of[kind], of)


def decode_vectors(library, kind, make, data, own):
    """Decode rows that were written as plain tuples, where the library can."""
    cls, objects = make(data, own)
    if library == "msgspec":
        return decode(library, make, data, own)
    rows = DATA[data][1](random.Random(1))
    return partial(tb.Decoder(type=list[cls]).decode, tb.dumps(rows))
