"""Objects to encode, among them such as a program should not write; every way of encoding gives the same bytes.

Here: objects out of bytes, and what must hold of their encoding. Not here: sinks. Invariant: an object that cannot be
encoded raises EncodeError and leaves nothing; what can be reads back.
"""

import array
import collections
import datetime
import decimal
import io
import uuid

import numpy

import typedbytes
from fuzz import options as sets
from fuzz.choices import Choices
from fuzz.guard import Guard
from fuzz.inputs import NUMBERS, TEXTS
from support.vectors import Colour, Point, Thing, exact_repr, failure
from typedbytes import Byte, Ext, Float, Writable
from typedbytes._types import Long
from typedbytes.errors import EncodeError

GUARD = Guard(1 << 16)


class Number(int):
    """An int by inheritance."""


class Name(str):
    """A str by inheritance."""


class Row(tuple):
    """A tuple by inheritance."""


class Sheet(list):
    """A list by inheritance."""


class Index(dict):
    """A dict by inheritance."""


class Odd(dict):
    """A dict whose items are not pairs."""

    def items(self):
        """Return a record that is not a pair."""
        return [(1, 2, 3)]


FIXED = [
    None, True, False, 2**63, -(2**63) - 1, 2**2039, -(2**2039), 2**2040, 2**4000, "\ud800", "a\udfff" * 9, "\udc80",
    float("nan"), float("-inf"), -0.0, 5e-324, decimal.Decimal("1.50"), decimal.Decimal("sNaN"), 1j, uuid.UUID(int=5),
    datetime.date(2020, 2, 29), datetime.datetime(2020, 1, 1, fold=1), datetime.timedelta(-1, 5), datetime.timezone.utc,
    {1, "a"}, frozenset((1, (2,))), {Thing}, Thing(), object, Ellipsis, range(3), Colour.RED, Point(1, "x"),
    Number(2**70), Number(5), Name("n\xe9"), Odd(), Ext(51, b"x"), Ext(200, b""), Writable("a.B", b"z"),
    Writable("\ud800", b""), Byte(-128), Long(5), Float(1.5), Float(1e39), tuple.__new__(Ext, (1, 2, 3)),
    tuple.__new__(Ext, (300, b"")), tuple.__new__(Writable, ("a",)), int.__new__(Byte, 300), int.__new__(Long, 2**70),
    Ext(11, b"ab"), Ext(12, b""), Ext(177, b""), Ext(177, b"x"), bytearray(b"ba"), memoryview(b"abcdef")[::2],
    memoryview(array.array("i", [1, 2])), array.array("d", [1.5]), numpy.int8(-3), numpy.uint64(2**64 - 1),
    numpy.float16(2.5), numpy.float32(1.1), numpy.float64(1.1), numpy.bool_(True), numpy.complex64(1),
    numpy.longdouble(1), numpy.datetime64(1, "s"), numpy.arange(6).reshape(2, 3).T, numpy.array([Thing()]),
    numpy.zeros(0), numpy.str_("s"), io.BytesIO, "x" * 600, b"y" * 600, "\xe9" * 300, "\u20ac" * 200,
    "\U0001f600" * 150,
]  # fmt: skip


class Objects:
    """Objects out of choices."""

    def __init__(self, choices):
        self.choices = choices

    def value(self, depth):
        """Return an object, a container as long as there is depth."""
        choices = self.choices
        kind = choices.below(16)
        if kind < 6 or not depth:
            return self.scalar()
        count = choices.pick((0, 1, 1, 2, 3, 5))
        if kind < 12:
            make = (list, tuple, tuple, Row, Sheet, self.cycle)[kind - 6]
            return make([self.value(depth - 1) for _ in range(count)])
        make = (dict, dict, Index, collections.OrderedDict)[kind - 12]
        return make((self.key(), self.value(depth - 1)) for _ in range(count))

    def cycle(self, items):
        """Return a list that sometimes holds itself."""
        if self.choices.below(8) == 7:
            items.append(items)
        return items

    def key(self):
        """Return what can be a key."""
        key = self.scalar()
        try:
            hash(key)
        except (TypeError, ValueError):
            return "no key"
        return key

    def scalar(self):
        """Return an object that holds no other."""
        choices = self.choices
        kind = choices.below(8)
        if kind == 0:
            return choices.pick(NUMBERS)
        if kind == 1:
            return choices.below(1 << 24) - (1 << 23)
        if kind == 2:
            return choices.pick(TEXTS)
        if kind == 3:
            return choices.take(choices.below(12))
        if kind == 4:
            return choices.take(choices.below(12)).decode("utf-8", "surrogateescape")
        return choices.pick(FIXED)


def check_object(data):
    """Encode one object in every way there is; the first byte chooses options."""
    choices = Choices(data)
    options = choices.pick(sets.ENCODE)
    obj = Objects(choices).value(4)
    encoder = typedbytes.Encoder(**options)
    encoded, trouble = attempt(encoder.encode, obj)
    check_ways(encoder, options, obj, encoded, trouble)
    assert encoder.encode([1]) == typedbytes.Encoder(**options).encode([1]) if options.get("max_depth") != 0 else True
    if trouble is None:
        check_read(encoded, options)


def attempt(call, *arguments):
    """Return what a call gives, and the error it raises instead."""
    try:
        return call(*arguments), None
    except EncodeError as error:
        assert str(error)
        return None, error


def check_ways(encoder, options, obj, encoded, trouble):
    """All ways of encoding agree on the bytes, or on what is wrong."""
    sink = io.BytesIO()
    writer = typedbytes.Writer(sink, **options)
    target = GUARD.put(bytes(len(encoded or b"12345678")))
    ways = [
        (lambda: typedbytes.dumps(obj, **options), encoded),
        (lambda: encoder.encode_all([obj, obj]), encoded and encoded * 2),
        (lambda: encoder.encode_pairs([(obj, obj)]), encoded and encoded * 2),
        (lambda: bytes(target[: encoder.encode_into(obj, target)]), encoded),
        (lambda: writer.write(obj), None),
    ]
    for way, expected in ways:
        found, error = attempt(way)
        assert found == expected and type(error) is type(trouble), (found, expected, error, trouble)
        assert error is None or failure(error) == failure(trouble), (failure(error), failure(trouble))
    writer.close()
    assert sink.getvalue() == (encoded or b"")


def check_read(encoded, options):
    """What was encoded is one whole value, and reads as one that is encoded alike."""
    manner = {
        "dialect": options.get("dialect", "hadoop"),
        "pickle": "raw",
        "exact": True,
        "unicode_errors": "surrogatepass",
    }
    if options.get("unicode_errors") == "surrogateescape":
        manner["unicode_errors"] = "surrogateescape"
    assert typedbytes.skip(encoded, dialect=manner["dialect"]) == len(encoded)
    pairs = typedbytes.loads(encoded, map_pairs=True, **manner)
    again = typedbytes.dumps(pairs, dialect=manner["dialect"], pickle="raw", unicode_errors=manner["unicode_errors"])
    assert exact_repr(typedbytes.loads(again, map_pairs=True, **manner)) == exact_repr(pairs)
