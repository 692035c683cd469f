"""What is said of a value that does not fit its type: each message, with its place."""

import dataclasses
import datetime
import decimal
import enum
import typing
import uuid

import msgspec
import pytest

import typedbytes as tb
from typedbytes import records

pytestmark = [pytest.mark.codec, pytest.mark.every_python]

Annotated, Any, Literal, Optional, Union = typing.Annotated, typing.Any, typing.Literal, typing.Optional, typing.Union


class Visit(typing.NamedTuple):
    user: str
    at: datetime.datetime
    ms: int = 0
    price: Optional[decimal.Decimal] = None


@dataclasses.dataclass
class Page:
    url: str
    visits: list[Visit] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Span:
    low: int
    high: int

    def __post_init__(self):
        if self.low > self.high:
            raise ValueError("low is above high")


class Strict(msgspec.Struct, forbid_unknown_fields=True):
    a: int = 0


class Cat(msgspec.Struct, tag=True):
    lives: int


class Dog(msgspec.Struct, tag=True):
    name: str


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Movie(typing.TypedDict, total=False):
    title: str


AT = 1_600_000_000_000_000
UTC = datetime.timezone.utc
PLACED = {"url": "x", "visits": [("a", AT), ("b", "late")]}

READ = [
    (int, "b", 'expected int, found STRING "b" at offset 0'),
    (int, 1.5, "expected int, found DOUBLE 1.5 at offset 0"),
    (int, True, "expected int, found BOOL True at offset 0"),
    (int, None, "expected int, found PICKLE None at offset 0"),
    (int, [1], "expected int, found LIST at offset 0"),
    (int, datetime.date(2026, 5, 1), "expected int, found PICKLE of datetime.date at offset 0"),
    (float, "1.5", 'expected float, found STRING "1.5" at offset 0'),
    (float, 2**53 + 1, "expected float, found LONG 9007199254740993, which is not exactly a float at offset 0"),
    (Annotated[float, tb.Float], -(2**53) - 1,
     "expected float, found LONG -9007199254740993, which is not exactly a float at offset 0"),
    (tb.Float, 2**62 + 1, "expected Float, found LONG 4611686018427387905, which is not exactly a float at offset 0"),
    (list[float], [0.5, 2**63 - 1],
     "expected float, found LONG 9223372036854775807, which is not exactly a float at offset 10, path [1]"),
    (Union[float, str], 2**53 + 1,
     "expected float, found LONG 9007199254740993, which is not exactly a float at offset 0"),
    (str, b"ab", "expected str, found BYTES b'ab' at offset 0"),
    (str, b"x" * 41, "expected str, found BYTES at offset 0"),
    (str, None, "expected str, found PICKLE None at offset 0"),
    (bytes, "ab", 'expected bytes, found STRING "ab" at offset 0'),
    (bool, 2, "expected bool, found INT 2 at offset 0"),
    (type(None), 0, "expected None, found INT 0 at offset 0"),
    (Optional[int], "b", 'expected int | None, found STRING "b" at offset 0'),
    (Union[int, str], 1.5, "expected int | str, found DOUBLE 1.5 at offset 0"),
    (list[int], [1, "b"], 'expected int, found STRING "b" at offset 6, path [1]'),
    (list[int], {}, "expected list, found MAP at offset 0"),
    (dict[str, int], {"k": "v"}, 'expected int, found STRING "v" at offset 11, path ["k"]'),
    (dict[str, int], {1: 2}, "expected str, found INT 1 at offset 5, path .key(0)"),
    (tuple[int, str], (1,), "tuple: expected 2 items, found 1 at offset 0"),
    (tuple[int], [1, 2], "tuple: expected 1 item, found more at offset 0"),
    (datetime.date, 2**31 - 1, "expected date, found INT 2147483647, which is out of range at offset 0"),
    (datetime.date, "2020-13-01", 'expected date, found STRING "2020-13-01" at offset 0'),
    (datetime.datetime, "2020-01-01T00:00:00Z", 'expected datetime, found STRING "2020-01-01T00:00:00Z" at offset 0'),
    (datetime.datetime, datetime.datetime(2020, 1, 1, tzinfo=UTC),
     "expected datetime, found PICKLE of datetime.datetime at offset 0"),
    (Annotated[datetime.datetime, records.UTC], "2020-01-01T00:00:00",
     'expected datetime, found STRING "2020-01-01T00:00:00" at offset 0'),
    (datetime.time, 86_400_000_000, "expected time, found LONG 86400000000, which is out of range at offset 0"),
    (datetime.timedelta, "P", 'expected timedelta, found STRING "P" at offset 0'),
    (decimal.Decimal, "1_0", 'expected Decimal, found STRING "1_0" at offset 0'),
    (uuid.UUID, b"short", "expected UUID, found BYTES b'short' at offset 0"),
    (Color, 7, "expected Color, found INT 7 at offset 0"),
    (Color, "GREEN", 'expected Color, found STRING "GREEN" at offset 0'),
    (Literal["a", "b"], "c", 'expected Literal["a", "b"], found STRING "c" at offset 0'),
    (Page, {"visits": []}, 'Page: missing field "url" at offset 0'),
    (Page, 5, "expected Page, found INT 5 at offset 0"),
    (Page, PLACED, 'expected datetime, found STRING "late" at offset 62, path .visits[1].at'),
    (Visit, ("a",), "Visit: expected 2 to 4 items, found 1 at offset 0"),
    (Visit, ("a", AT, 1, None, 2), "Visit: expected 2 to 4 items, found 5 at offset 0"),
    (Visit, ["a"], "Visit: expected 2 to 4 items, found 1 at offset 0"),
    (list[Visit], [("a", AT, "x")], 'expected int, found STRING "x" at offset 21, path [0].ms'),
    (Span, {"low": 2, "high": 1}, "Span: low is above high at offset 0"),
    (Strict, {"b": 1}, 'Strict: unknown field "b" at offset 0'),
    (Movie, (1,), "expected Movie, found VECTOR at offset 0"),
    (Cat, {"type": "Dog"}, 'expected "Cat", found STRING "Dog" at offset 14, path .type'),
    (Union[Cat, Dog], {"type": "Fish"}, 'expected Cat | Dog, found MAP with type "Fish" at offset 0'),
    (Union[Cat, Dog], {"lives": 9}, 'Cat | Dog: missing field "type" at offset 0'),
    (set[Any], [(1, {})], "MAP cannot be a MAP key; map_pairs=True gives the pairs at offset 11, path [0][1]"),
]  # fmt: skip


@pytest.mark.parametrize("hint, value, message", READ, ids=[f"{number}" for number in range(len(READ))])
def test_reading(hint, value, message):
    with pytest.raises(tb.DecodeError) as caught:
        tb.loads(tb.dumps(value), type=hint)
    assert str(caught.value) == message
    if "MAP key" not in message:
        assert type(caught.value) is tb.DecodeTypeError and isinstance(caught.value, TypeError)


def test_a_misfit_comes_before_what_is_wrong_with_its_payload():
    with pytest.raises(tb.DecodeTypeError, match="^expected int, found STRING at offset 0$"):
        tb.loads(b"\x07\0\0\0\x05ab", type=int)
    with pytest.raises(tb.DecodeTypeError, match="^expected int, found STRING at offset 0$"):
        tb.loads(b"\x07\0\0\0\x01\xff", type=int)


def test_a_stream_says_which_record_it_is():
    stream = tb.Encoder().encode_all([1, 2, "c"])
    with pytest.raises(tb.DecodeTypeError, match='expected int, found STRING "c" at offset 10, record 2') as caught:
        list(tb.Reader(stream, type=int))
    assert (caught.value.offset, caught.value.code, caught.value.record) == (10, 7, 2)


def test_the_error_of_a_constructor_is_the_cause():
    with pytest.raises(tb.DecodeTypeError) as caught:
        tb.loads(tb.dumps([{"low": 2, "high": 1}]), type=list[Span])
    assert type(caught.value.__cause__) is ValueError and caught.value.path == "[0]"


WRITTEN = [
    (int, "abc", "expected int, found str 'abc'"),
    (int, True, "expected int, found bool True"),
    (int, None, "expected int, found None"),
    (int, [1], "expected int, found list"),
    (str, b"a", "expected str, found bytes b'a'"),
    (str, 5, "expected str, found int 5"),
    (float, "1", "expected float, found str '1'"),
    (Optional[int], "a", "expected int | None, found str 'a'"),
    (Union[int, str], 1.5, "expected int | str, found float 1.5"),
    (list[int], [1, "a"], "expected int, found str 'a', at [1]"),
    (dict[str, int], {"k": None}, 'expected int, found None, at ["k"]'),
    (dict[str, int], {1: 1}, "expected str, found int 1, at .key(0)"),
    (tuple[int, int], (1,), "tuple: expected 2 items, found 1"),
    (Annotated[Visit, records.Map], tuple.__new__(Visit, (1,)), "Visit: expected 4 items, found 1"),
    (Annotated[Visit, records.Map], tuple.__new__(Visit, ("a", AT, 1, None, 2)), "Visit: expected 4 items, found 5"),
    (Page, Page("x", [Visit("a", 5)]), "expected datetime, found int 5, at .visits[0].at"),
    (Page, {"url": "x"}, "expected Page, found dict"),
    (Movie, {"year": 1}, 'Movie: unknown field "year"'),
    (datetime.date, datetime.datetime(2020, 1, 1), "expected date, found datetime.datetime"),
    (Literal["a"], "b", "expected Literal[\"a\"], found str 'b'"),
    (Color, 1, "expected Color, found int 1"),
]


@pytest.mark.parametrize("hint, value, message", WRITTEN, ids=[f"{number}" for number in range(len(WRITTEN))])
def test_writing(hint, value, message):
    encoder = tb.Encoder(type=hint)
    with pytest.raises(tb.EncodeTypeError) as caught:
        encoder.encode(value)
    assert str(caught.value) == message


VALUES = [
    (Annotated[int, tb.Byte], 128, "int does not fit a BYTE of 8 bits"),
    (Annotated[int, tb.Int], 2**31, "int does not fit an INT of 32 bits"),
    (Annotated[int, tb.Long], 2**63, "int does not fit a LONG of 64 bits"),
    (Annotated[float, tb.Float], 1e300, "number is too large for a FLOAT"),
    (float, 10**400, "int is too large for a DOUBLE"),
    (float, 2**53 + 1, "int is not exactly a DOUBLE"),
    (float, -(2**53) - 1, "int is not exactly a DOUBLE"),
    (float, 2**63 - 1, "int is not exactly a DOUBLE"),
    (float, 2**64 + 1, "int is not exactly a DOUBLE"),
    (Optional[float], -(2**70) + 1, "int is not exactly a DOUBLE"),
    (Union[float, str], 10**23, "int is not exactly a DOUBLE"),
    (datetime.datetime, datetime.datetime(2020, 1, 1, tzinfo=UTC),
     "expected a naive datetime, found an aware one: Annotated[datetime, records.UTC] takes it"),
    (Annotated[datetime.datetime, records.UTC], datetime.datetime(2020, 1, 1),
     "expected an aware datetime, found a naive one"),
    (Annotated[datetime.timedelta, records.Seconds], datetime.timedelta(0, 1, 5),
     "timedelta is not a whole number of seconds"),
    (datetime.timedelta, datetime.timedelta.max, "timedelta does not fit a LONG of 64 bits"),
]  # fmt: skip


@pytest.mark.parametrize("hint, value, message", VALUES, ids=[f"{number}" for number in range(len(VALUES))])
def test_values_that_have_no_such_form(hint, value, message):
    with pytest.raises(tb.EncodeValueError) as caught:
        tb.dumps([value], type=list[hint])
    assert str(caught.value) == f"{message}, at [0]"


@pytest.mark.parametrize("number", [2**53, -(2**53), 2**53 + 2, 2**62, 2**63 - 1024, -(2**63), 2**63, 2**100, -(3**33)])
def test_an_integer_that_a_double_holds_is_a_float(number):
    assert tb.dumps(number, type=float) == tb.dumps(float(number))
    if -(2**63) <= number < 2**63:
        for strict in (True, False):
            found = tb.loads(tb.dumps(number), type=float, strict=strict)
            assert type(found) is float and found == number


@pytest.mark.parametrize("number", [2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63) + 1])
def test_an_integer_is_not_rounded_where_types_are_not_strict(number):
    with pytest.raises(tb.DecodeTypeError, match="which is not exactly a float"):
        tb.loads(tb.dumps(number), type=float, strict=False)


@pytest.mark.parametrize("options", [{}, {"pickle": "trust"}, {"strict": False}])
@pytest.mark.parametrize("number", [2**63, 2**64 + 1])
def test_a_pickled_integer_is_no_float(number, options):
    with pytest.raises(tb.DecodeTypeError, match="expected float, found PICKLE"):
        tb.loads(tb.dumps(number), type=float, **options)


def test_an_integer_may_be_rounded_to_a_float_of_32_bits():
    """As any number that is written as one."""
    for number in (2**24 + 1, 2**53 + 1):
        assert tb.dumps(number, type=Annotated[float, tb.Float]) == tb.dumps(tb.Float(number))


# Which member of a union of records it is depends on the first tag.
@pytest.mark.parametrize(
    "hint, tags", [(Cat, []), (Cat, ["Cat"]), (Optional[Cat], []), (Optional[Cat], ["Cat"]), (Union[Cat, Dog], ["Cat"])]
)
def test_a_tag_of_another_type_is_refused_before_its_payload_is_read(hint, tags):
    """As any other value: what follows its type code may not be there."""
    start = b"".join(tb.dumps("type") + tb.dumps(tag) for tag in tags) + tb.dumps("type")
    data = b"\x0a\0\0\0" + bytes([len(tags) + 1]) + start + b"\x03\0"
    with pytest.raises(tb.DecodeTypeError) as caught:
        tb.loads(data, type=hint)
    assert (caught.value.message, caught.value.path) == ('expected "Cat", found INT', ".type")
    assert caught.value.offset == 5 + len(start)


def test_none_is_no_bool_wherever_it_comes_in_a_list():
    """Untyped lists have runs of bools and None."""
    for place in range(1, 40):
        items = [number % 3 == 0 for number in range(40)]
        items[place] = None
        with pytest.raises(tb.EncodeTypeError, match=rf"expected bool, found None, at \[{place}\]"):
            tb.dumps(items, type=list[bool])
        for kind in (list[bool], tuple[bool, ...]):
            for encoded in (tb.dumps(items), tb.dumps(tuple(items))):
                with pytest.raises(tb.DecodeTypeError, match=rf"expected bool, found PICKLE None .*\[{place}\]"):
                    tb.loads(encoded, type=kind)
        assert tb.loads(tb.dumps(items, type=list[Optional[bool]]), type=list[Optional[bool]]) == items


class Elsewhere(datetime.datetime):
    def utcoffset(self):
        return 5


def test_an_offset_from_utc_that_is_none():
    with pytest.raises(tb.EncodeValueError, match=r"utcoffset\(\) is a timedelta, found 5"):
        tb.dumps(Elsewhere(2020, 1, 1), type=Annotated[datetime.datetime, records.UTC])


def test_a_trusted_set_of_what_no_type_has():
    data = tb.dumps({int}, pickle="trust")
    with pytest.raises(tb.DecodeTypeError, match="expected set, found PICKLE of set"):
        tb.loads(data, pickle="trust", type=set[int])


class Numbered(msgspec.Struct, tag=1):
    x: int = 0


def test_a_tag_of_hive_may_be_a_short():
    fields = [(b"\x07\0\0\0\x04type", b"\x0b\0\x01"), (b"\x07\0\0\0\x01x", b"\x0b\0\x05")]
    data = b"\x0a\0\0\0\x02" + b"".join(name + value for name, value in fields)
    for kind in (Numbered, Union[Numbered, None]):
        assert tb.loads(data, dialect="hive", type=kind) == Numbered(5)
