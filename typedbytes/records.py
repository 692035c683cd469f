"""Typed records: what `typing.Annotated` says of a field beyond its Python type.

A class is the schema: `loads(data, type=Visit)` returns a Visit, and `dumps(visit, type=Visit)` checks each value. The
guide "Records" says which classes and types there are, and how each is written. The markers here change the form of one
field; for the width of a number there are `typedbytes.Byte`, `Int`, `Long` and `Float`.

>>> import datetime, typing
>>> import typedbytes
>>> from typedbytes import records
>>> class Visit(typing.NamedTuple):
...     user: str
...     at: typing.Annotated[datetime.datetime, records.UTC, records.Milliseconds]
...     on: typing.Annotated[datetime.date, records.Text]
>>> visit = Visit("ann", datetime.datetime(2026, 5, 1, 12, tzinfo=datetime.timezone.utc), datetime.date(2026, 5, 1))
>>> data = typedbytes.dumps(visit, type=Visit)
>>> typedbytes.loads(data)
('ann', 1777636800000, '2026-05-01')
>>> typedbytes.loads(data, type=Visit) == visit
True
"""

__all__ = ["UTC", "Map", "Microseconds", "Milliseconds", "Name", "Precision", "Seconds", "Text", "Vector"]


def __dir__() -> list[str]:
    return __all__


class _Marker(type):
    """The type of a marker, which is a name and no more."""

    def __call__(cls, *args: object, **options: object) -> None:
        raise TypeError(f"{cls.__name__} is a marker: write Annotated[..., {cls.__name__}]")


class UTC(metaclass=_Marker):
    """Say of a datetime that it is aware: written in UTC, and read as a datetime in UTC.

    A naive datetime is an error; without the marker an aware one is.

    >>> import datetime, typing
    >>> import typedbytes
    >>> Moment = typing.Annotated[datetime.datetime, UTC]
    >>> typedbytes.loads(typedbytes.dumps(1_000_000), type=Moment)
    datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=datetime.timezone.utc)
    """


class Seconds(metaclass=_Marker):
    """Say of a datetime, time or timedelta that it is written as a number of seconds.

    A value with a fraction of a second is an EncodeValueError.
    """


class Milliseconds(metaclass=_Marker):
    """Say of a datetime, time or timedelta that it is written as a number of milliseconds, as Java's clock counts.

    A value with a fraction of a millisecond is an EncodeValueError.

    >>> import datetime, typing
    >>> import typedbytes
    >>> Pause = typing.Annotated[datetime.timedelta, Milliseconds]
    >>> typedbytes.loads(typedbytes.dumps(datetime.timedelta(seconds=2), type=Pause))
    2000
    """


class Microseconds(metaclass=_Marker):
    """Say of a datetime, time or timedelta that it is written as a number of microseconds, as without a marker."""


class Text(metaclass=_Marker):
    """Say of a date, datetime, time, timedelta or UUID that it is written as text: ISO 8601 for all but a UUID.

    >>> import datetime, typing
    >>> import typedbytes
    >>> Day = typing.Annotated[datetime.date, Text]
    >>> typedbytes.loads(typedbytes.dumps(datetime.date(2026, 5, 1), type=Day))
    '2026-05-01'
    """


class Name(metaclass=_Marker):
    """Say of an Enum that a member is written by its name, not its value.

    >>> import enum, typing
    >>> import typedbytes
    >>> class Color(enum.Enum):
    ...     RED = 1
    >>> typedbytes.loads(typedbytes.dumps(Color.RED, type=typing.Annotated[Color, Name]))
    'RED'
    """


class Vector(metaclass=_Marker):
    """Say of a record class that it is written as a VECTOR, in the order of its fields.

    >>> import dataclasses, typing
    >>> import typedbytes
    >>> @dataclasses.dataclass
    ... class Point:
    ...     x: int
    ...     y: int
    >>> typedbytes.loads(typedbytes.dumps(Point(1, 2), type=typing.Annotated[Point, Vector]))
    (1, 2)
    """


class Map(metaclass=_Marker):
    """Say of a record class that it is written as a MAP from the names of its fields to their values.

    >>> import typing
    >>> import typedbytes
    >>> class Point(typing.NamedTuple):
    ...     x: int
    ...     y: int
    >>> typedbytes.loads(typedbytes.dumps(Point(1, 2), type=typing.Annotated[Point, Map]))
    {'x': 1, 'y': 2}
    """


class Precision:
    """Say of a Decimal how many digits a column of it has, of which how many are decimals: up to 76.

    Only `columns.read` looks at it; without it a column has 38 digits, of which 18 are decimals.

    >>> import decimal, typing
    >>> Price = typing.Annotated[decimal.Decimal, Precision(18, 2)]
    """

    __slots__ = ("decimals", "digits")

    digits: int
    decimals: int

    def __init__(self, digits: int, decimals: int = 0) -> None:
        if not 1 <= digits <= 76 or not 0 <= decimals <= digits:
            raise ValueError(
                f"a column of Decimals has up to 76 digits, and no more decimals, not {digits} and {decimals}"
            )
        self.digits = digits
        self.decimals = decimals

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Precision) and (self.digits, self.decimals) == (other.digits, other.decimals)

    def __hash__(self) -> int:
        return hash((self.digits, self.decimals))

    def __repr__(self) -> str:
        return f"Precision({self.digits}, {self.decimals})"
