"""Types that together cover what a type can say, and values of them: for fuzzing and for round trips.

Here: classes, and random values of any annotation. Not here: what is done with them. Invariant: a value of a type is
written and read back by that type as the same value.
"""

import dataclasses
import datetime
import decimal
import enum
import math
import typing
import uuid

import attr
import msgspec
from typing_extensions import NotRequired, TypedDict

from support.typed_reference import LISTS, MAPPINGS, SETS, UNIONS, WIDTHS, fields_of, is_record, is_typed_dict, split
from support.vectors import exact_repr
from typedbytes import records
from typedbytes._types import Byte, Float, Int, Long

Annotated, Any, Literal, Optional, Union = typing.Annotated, typing.Any, typing.Literal, typing.Optional, typing.Union
T = typing.TypeVar("T")


class Color(enum.Enum):
    RED = 1
    GREEN = 2**40
    BLUE = "blue"
    GREY = None


class Swapped(enum.Enum):
    """The names of members are the values of others."""

    LEFT = "RIGHT"
    RIGHT = "LEFT"
    NONE = "none"


class Level(enum.IntEnum):
    LOW = 0
    HIGH = 1

    @classmethod
    def _missing_(cls, value):
        return cls.HIGH if value == 100 else None


class Row(typing.NamedTuple):
    flag: bool
    n: int
    x: float
    text: str
    data: bytes
    small: Byte
    size: Annotated[int, Long]
    ratio: Float = Float(0.5)


class Visit(typing.NamedTuple):
    user: str
    at: datetime.datetime
    price: Optional[decimal.Decimal] = None


@dataclasses.dataclass
class Page:
    url: str
    visits: list[Visit]
    tags: frozenset[str] = frozenset()
    counts: dict[str, int] = dataclasses.field(default_factory=dict)
    more: Optional["Page"] = None


@dataclasses.dataclass
class Slots:
    __slots__ = ("a", "b", "c")
    a: int
    b: tuple[int, str]
    c: Any


@dataclasses.dataclass
class Checked:
    low: int
    high: int = 1 << 40

    def __post_init__(self):
        if self.low > self.high:
            raise ValueError("low is above high")


@dataclasses.dataclass
class Box(typing.Generic[T]):
    item: T
    boxes: "list[Box[T]]" = dataclasses.field(default_factory=list)


class Movie(TypedDict):
    title: str
    year: NotRequired[int]
    cast: NotRequired[list[str]]


@attr.define
class Attrs:
    name: str
    _n: int = 5
    parts: list[bytes] = attr.Factory(list)


@attr.frozen
class Converted:
    n: float = attr.field(converter=float)


class Camel(msgspec.Struct, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    first_name: str
    last_name: str = "x"
    all_names: list[str] = []
    age_now: Union[int, msgspec.UnsetType] = msgspec.UNSET


class Cat(msgspec.Struct, tag=True):
    lives: int


class Kitten(Cat, tag=True):
    toy: str = ""


class Dog(msgspec.Struct, tag=True):
    name: str
    age: Optional[int] = None


class Point(msgspec.Struct, array_like=True, tag="p"):
    x: float
    y: float = 0.0


class Line(msgspec.Struct, array_like=True, tag="l", forbid_unknown_fields=True):
    points: list[Point]


class Dates(typing.NamedTuple):
    day: datetime.date
    moment: datetime.datetime
    clock: datetime.time
    span: datetime.timedelta
    aware: Annotated[datetime.datetime, records.UTC]
    price: decimal.Decimal
    key: uuid.UUID


@dataclasses.dataclass(frozen=True)
class Forms:
    day: Annotated[datetime.date, records.Text]
    moment: Annotated[datetime.datetime, records.Text]
    seconds: Annotated[datetime.datetime, records.Seconds, records.UTC]
    clock: Annotated[datetime.time, records.Milliseconds]
    clock_text: Annotated[datetime.time, records.Text]
    span: Annotated[datetime.timedelta, records.Milliseconds]
    span_text: Annotated[datetime.timedelta, records.Text]
    aware: Annotated[Optional[datetime.datetime], records.UTC, records.Text]
    key: Annotated[uuid.UUID, records.Text]
    width: Annotated[int, Int]


class Choices(typing.NamedTuple):
    color: Color
    level: Level = Level.LOW
    name: Annotated[Color, records.Name] = Color.RED
    literal: Optional[Literal["a", 1, True, b"x"]] = None  # noqa: F821
    swapped: Annotated[Swapped, records.Name] = Swapped.NONE


TYPES = {
    "row": Row,
    "row as a map": Annotated[Row, records.Map],
    "page": Page,
    "pages": list[Page],
    "slots": Slots,
    "checked": Checked,
    "checked as a vector": Annotated[Checked, records.Vector],
    "box": Box[list[int]],
    "movie": Movie,
    "attrs": Attrs,
    "converted": list[Converted],
    "camel": Camel,
    "pets": list[Optional[Union[Cat, Kitten, Dog]]],
    "shapes": list[Union[Point, Line, int]],
    "dates": Dates,
    "forms": Forms,
    "choices": Choices,
    "sets": tuple[set[int], frozenset[Union[str, bytes, None]], set[datetime.date]],
    "mapping": dict[Union[int, str], list[Optional[decimal.Decimal]]],
    "keys": dict[uuid.UUID, Annotated[datetime.datetime, records.UTC]],
    "union": Union[bool, int, float, str, bytes, None, list[int], dict[str, Any], tuple[int, int]],
    "date or text": list[Union[str, datetime.datetime, None]],
    "tuples": tuple[tuple[int, ...], tuple[()], bytearray],
}

NUMBERS = [0, 1, -1, 127, 128, -128, 2**31 - 1, 2**31, -(2**31) - 1, 2**53, 2**63 - 1, -(2**63), 2**63, -(2**80)]
FLOATS = [0.0, -0.0, 1.0, 0.1, -2.5, 1e300, 2.0**63, math.inf, math.nan]
TEXTS = ["", "a", "url", "x" * 30, "\xe9", "\u20ac" * 9, "\U0001f600", "2026-05-01", "12", "true", "null", "P1D"]
DAYS = [datetime.date(1970, 1, 1), datetime.date.min, datetime.date.max, datetime.date(2026, 2, 28)]
CLOCKS = [datetime.time(), datetime.time.max, datetime.time(1, 2, 3), datetime.time(1, 2, 3, 4000)]
SPANS = [
    datetime.timedelta(),
    datetime.timedelta(-1, 1),
    datetime.timedelta(5, 3, 7000),
    datetime.timedelta(microseconds=-1),
]
DECIMALS = ["0", "-1.50", "1E+20", "NaN", "-Infinity", "0.1", "123456789012345678901234567890"]


def made(rng, hint, marks=(), depth=4):
    """Return a value of a type; `rng` is a random.Random."""
    kind, arguments, marks = split(hint, marks)
    if kind in (Any, object):
        return made(rng, rng.choice([int, str, float, list[int]]))
    if kind in UNIONS:
        return made(rng, rng.choice(arguments), marks, depth)
    if kind is Literal:
        return rng.choice(arguments)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return rng.choice(list(kind))
    if is_record(kind):
        return made_record(rng, kind, arguments, depth)
    if kind in MAPPINGS:
        return {made(rng, arguments[0]): made(rng, arguments[1], (), depth - 1) for _ in range(count(rng, depth))}
    if kind is tuple and arguments[-1:] != (...,):
        return tuple(made(rng, argument, (), depth - 1) for argument in arguments if argument != ())
    if kind in (*LISTS, *SETS, tuple):
        return {**SETS, tuple: tuple}.get(kind, list)(
            made(rng, arguments[0], (), depth - 1) for _ in range(count(rng, depth))
        )
    return made_scalar(rng, kind, marks)


def count(rng, depth):
    """Return a number of items: none where it is deep enough."""
    return rng.choice([0, 1, 1, 2, 3, 5]) if depth > 0 else 0


def made_record(rng, kind, arguments, depth):
    """Return an instance; fields with a default often have that."""
    values = {}
    for field in fields_of(kind, arguments).fields:
        if field.required or depth > 0 and rng.random() < 0.7:
            values[field.argument] = made(rng, field.hint, (), depth - 1)
    if kind is Checked:
        values["high"] = values["low"] + 1
    return values if is_typed_dict(kind) else kind(**values)


def made_scalar(rng, kind, marks):
    """Return a value without others in it."""
    coarse = [mark for mark in marks if mark in (records.Seconds, records.Milliseconds)]
    if kind in WIDTHS or any(mark in WIDTHS for mark in marks):
        width = kind if kind in WIDTHS else next(mark for mark in marks if mark in WIDTHS)
        value = width(rng.choice([0, 1, -1, 127, -128]))
        return value if kind in WIDTHS else kind(value)
    choices = {
        type(None): [None], bool: [True, False], int: NUMBERS, float: FLOATS, str: TEXTS, datetime.date: DAYS,
        datetime.time: CLOCKS, datetime.timedelta: SPANS, decimal.Decimal: [decimal.Decimal(text) for text in DECIMALS],
    }  # fmt: skip
    if kind is datetime.datetime:
        moment = datetime.datetime.combine(rng.choice(DAYS), rng.choice(CLOCKS))
        moment = moment.replace(microsecond=0) if coarse else moment
        return moment.replace(tzinfo=datetime.timezone.utc) if records.UTC in marks else moment
    if kind is uuid.UUID:
        return uuid.UUID(int=rng.getrandbits(128))
    if kind in (bytes, bytearray, memoryview):
        return kind(bytes(rng.getrandbits(8) for _ in range(rng.choice([0, 1, 5, 16, 40]))))
    value = rng.choice(choices[kind])
    if coarse and kind is datetime.time:
        value = value.replace(microsecond=value.microsecond // 1000 * 1000)
    if coarse and kind is datetime.timedelta:
        value = datetime.timedelta(value.days, value.seconds)
    return value


def spelled(value, any_order=False):
    """Return a value as text: as `exact_repr`, in records too; entries of a dict in their order, or sorted."""
    kind = type(value)
    if is_record(kind):
        fields = [f"{field.name}={spelled(getattr(value, field.name), any_order)}" for field in fields_of(kind).fields]
        return f"{kind.__name__}({', '.join(fields)})"
    if kind in (list, tuple, set, frozenset):
        items = [spelled(item, any_order) for item in value]
        return f"{kind.__name__}({', '.join(items if kind in (list, tuple) else sorted(items))})"
    if kind is dict:
        entries = [f"{spelled(key, any_order)}: {spelled(item, any_order)}" for key, item in value.items()]
        return f"dict({', '.join(sorted(entries) if any_order else entries)})"
    return exact_repr(value)
