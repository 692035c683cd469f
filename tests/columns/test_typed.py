"""Columns that a class describes: the Arrow type of each annotation, every form of its values, and the errors."""

import dataclasses
import datetime as dt
import decimal
import enum
import io
import pickle
import re
import typing
import uuid

import msgspec
import numpy
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import typedbytes as tb
from support.column_pairs import written
from typedbytes import columns, records

pytestmark = [pytest.mark.newest_python, pytest.mark.free_threaded]

Annotated = typing.Annotated
UTC = dt.timezone.utc
EPOCH = dt.datetime(1970, 1, 1)
MOMENT = dt.datetime(2026, 11, 28, 5, 4, 59, 123_456)
MICROSECONDS = (MOMENT - EPOCH) // dt.timedelta(microseconds=1)
ID = uuid.UUID(int=7**40)


class Color(enum.Enum):
    RED = "red"
    GREEN = "green"


class Status(enum.IntEnum):
    OK = 200
    LOST = 404


class Visit(typing.NamedTuple):
    user: str
    at: dt.datetime
    ms: int
    price: typing.Optional[decimal.Decimal] = None


@dataclasses.dataclass
class Page:
    url: str
    visits: list[Visit]
    hits: int = 1


class Cat(msgspec.Struct, tag="cat", tag_field="kind"):
    name: str
    lives: int = 9


class Dog(msgspec.Struct, tag=7, array_like=True):
    name: str
    age: int = 1


class Home(msgspec.Struct, rename="camel"):
    first_cat: Cat
    dog: typing.Optional[Dog] = None


class Partial(msgspec.Struct):
    a: int
    b: typing.Union[int, msgspec.UnsetType] = msgspec.UNSET
    c: typing.Union[str, None, msgspec.UnsetType] = msgspec.UNSET


class Optionals(typing.TypedDict, total=False):
    b: int
    c: typing.Optional[str]


def read(data, annotation, **options):
    """Return the table of values of a type."""
    with columns.read(data, type=annotation, **options) as reader:
        table = pyarrow.table(reader)
    table.validate(full=True)
    return table


def field(annotation, *values, **options):
    """Return the column of encoded values."""
    return read(b"".join(values), annotation, **options).column("value")


#: An annotation, its Arrow type, and pairs of an encoded value and what it is.
LONG, TEXT = (lambda number: tb.dumps(tb.Long(number))), tb.dumps
PICKLED = lambda value: tb.dumps(tb.Ext(100, pickle.dumps(value, 2)))  # noqa: E731
FORMS = [
    (bool, pyarrow.bool_(), [(tb.dumps(True), True), (tb.dumps(False), False)]),
    (int, pyarrow.int64(), [
        (tb.dumps(tb.Byte(-7)), -7), (tb.dumps(5), 5), (LONG(2**40), 2**40), (LONG(-1), -1),
        (PICKLED(2**40), 2**40), (PICKLED(-1), -1)]),
    (Annotated[int, tb.Int], pyarrow.int32(), [
        (tb.dumps(tb.Byte(-7)), -7), (tb.dumps(5), 5), (LONG(-(2**31)), -(2**31))]),
    (Annotated[int, tb.Byte], pyarrow.int8(), [(tb.dumps(tb.Byte(-7)), -7), (tb.dumps(5), 5), (LONG(-128), -128)]),
    (float, pyarrow.float64(), [
        (tb.dumps(0.1), 0.1), (tb.dumps(tb.Float(0.5)), 0.5), (tb.dumps(3), 3.0), (LONG(2**53), 2.0**53)]),
    (Annotated[float, tb.Float], pyarrow.float32(), [
        (tb.dumps(tb.Float(0.5)), 0.5), (tb.dumps(0.25), 0.25), (tb.dumps(3), 3.0)]),
    (str, pyarrow.string(), [(tb.dumps("w\xf6rd"), "w\xf6rd"), (tb.dumps(""), "")]),
    (bytes, pyarrow.binary(), [(tb.dumps(b"raw"), b"raw")]),
    (dt.date, pyarrow.date32(), [
        (tb.dumps(20_785), dt.date(2026, 11, 28)), (LONG(-1), dt.date(1969, 12, 31)),
        (TEXT("2026-11-28"), dt.date(2026, 11, 28)), (tb.dumps(dt.date(2026, 11, 28)), dt.date(2026, 11, 28))]),
    (dt.datetime, pyarrow.timestamp("us"), [
        (LONG(MICROSECONDS), MOMENT), (tb.dumps(5), EPOCH + dt.timedelta(microseconds=5)),
        (TEXT("2026-11-28T05:04:59.123456"), MOMENT), (TEXT("2026-11-28 05:04:59"), MOMENT.replace(microsecond=0)),
        (tb.dumps(MOMENT), MOMENT)]),
    (Annotated[dt.datetime, records.UTC], pyarrow.timestamp("us", "UTC"), [
        (LONG(MICROSECONDS), MOMENT.replace(tzinfo=UTC)),
        (TEXT("2026-11-28T05:04:59.123456Z"), MOMENT.replace(tzinfo=UTC)),
        (TEXT("2026-11-28T10:34:59.123456+05:30"), MOMENT.replace(tzinfo=UTC)),
        (tb.dumps(MOMENT.replace(tzinfo=UTC)), MOMENT.replace(tzinfo=UTC))]),
    (Annotated[dt.datetime, records.Milliseconds], pyarrow.timestamp("ms"), [
        (LONG(1500), EPOCH + dt.timedelta(seconds=1.5)),
        (TEXT("1970-01-01T00:00:01.5"), EPOCH + dt.timedelta(seconds=1.5))]),
    (Annotated[dt.datetime, records.Seconds, records.UTC], pyarrow.timestamp("s", "UTC"), [
        (tb.dumps(60), dt.datetime(1970, 1, 1, 0, 1, tzinfo=UTC))]),
    (Annotated[dt.datetime, records.Text], pyarrow.timestamp("us"), [
        (TEXT("2026-11-28T05:04:59.123456"), MOMENT), (LONG(MICROSECONDS), MOMENT)]),
    (dt.time, pyarrow.time64("us"), [
        (LONG(86_399_999_999), dt.time.max), (tb.dumps(0), dt.time()), (TEXT("05:04:59.123456"), MOMENT.time()),
        (tb.dumps(dt.time(1)), dt.time(1))]),
    (Annotated[dt.time, records.Milliseconds], pyarrow.time32("ms"), [
        (LONG(86_399_999), dt.time(23, 59, 59, 999_000)), (tb.dumps(5), dt.time(0, 0, 0, 5000))]),
    (Annotated[dt.time, records.Seconds], pyarrow.time32("s"), [(tb.dumps(86_399), dt.time(23, 59, 59))]),
    (dt.timedelta, pyarrow.duration("us"), [
        (LONG(-1), dt.timedelta(microseconds=-1)), (tb.dumps(1), dt.timedelta(microseconds=1)),
        (TEXT("PT1.5S"), dt.timedelta(seconds=1.5)), (tb.dumps(dt.timedelta(1)), dt.timedelta(1))]),
    (decimal.Decimal, pyarrow.decimal128(38, 18), [
        (TEXT("1.50"), decimal.Decimal("1.5")), (TEXT("-1E-18"), decimal.Decimal("-1E-18")),
        (tb.dumps(5), decimal.Decimal(5)), (tb.dumps(0.1), decimal.Decimal("0.1")),
        (TEXT("9" * 20 + "." + "9" * 18), decimal.Decimal("9" * 20 + "." + "9" * 18)),
        (TEXT("+0.000"), decimal.Decimal(0)), (TEXT("1e19"), decimal.Decimal("1e19")),
        (tb.dumps(decimal.Decimal("2.5")), decimal.Decimal("2.5")), (TEXT(".5"), decimal.Decimal("0.5")),
        (TEXT("12."), decimal.Decimal(12))]),
    (Annotated[decimal.Decimal, records.Precision(18, 2)], pyarrow.decimal128(18, 2), [
        (TEXT("-9999999999999999.99"), decimal.Decimal("-9999999999999999.99")),
        (TEXT("1.500"), decimal.Decimal("1.50"))]),
    (Annotated[decimal.Decimal, records.Precision(76, 38)], pyarrow.decimal256(76, 38), [
        (TEXT("-" + "8" * 38 + "." + "7" * 38), decimal.Decimal("-" + "8" * 38 + "." + "7" * 38)),
        (TEXT("0"), decimal.Decimal(0))]),
    (uuid.UUID, pyarrow.uuid(), [(tb.dumps(ID.bytes), ID), (TEXT(str(ID)), ID), (tb.dumps(ID), ID)]),
    (Color, pyarrow.dictionary(pyarrow.int32(), pyarrow.string()), [
        (TEXT("green"), "green"), (TEXT("red"), "red"), (TEXT("green"), "green")]),
    (Annotated[Color, records.Name], pyarrow.dictionary(pyarrow.int32(), pyarrow.string()), [
        (TEXT("GREEN"), "GREEN"), (TEXT("RED"), "RED")]),
    (Status, pyarrow.dictionary(pyarrow.int32(), pyarrow.int64()), [(tb.dumps(404), 404), (LONG(200), 200)]),
    (typing.Literal["a", "b"], pyarrow.dictionary(pyarrow.int32(), pyarrow.string()), [
        (TEXT("b"), "b"), (TEXT("a"), "a")]),
    (typing.Any, pyarrow.binary(), [(tb.dumps("x"), tb.dumps("x")), (tb.dumps([1]), tb.dumps([1]))]),
    (list[int], pyarrow.list_(pyarrow.field("item", pyarrow.int64(), False)), [
        (tb.dumps([1, 2]), [1, 2]), (tb.dumps((3, 2**40)), [3, 2**40]), (tb.dumps([]), []), (tb.dumps(()), [])]),
    (set[str], pyarrow.list_(pyarrow.field("item", pyarrow.string(), False)), [
        (tb.dumps(["a"]), ["a"]), (tb.dumps({"b"}), ["b"])]),
    (tuple[dt.date, ...], pyarrow.list_(pyarrow.field("item", pyarrow.date32(), False)), [
        (tb.dumps((0, 1)), [EPOCH.date(), dt.date(1970, 1, 2)]), (tb.dumps([1]), [dt.date(1970, 1, 2)])]),
    (tuple[float, float], pyarrow.list_(pyarrow.float64(), 2), [
        (tb.dumps((0.5, 1.5)), [0.5, 1.5]), (tb.dumps((1, 2.5)), [1.0, 2.5])]),
    (tuple[int, int], pyarrow.list_(pyarrow.int64(), 2), [
        (tb.dumps((1, 2)), [1, 2]), (tb.dumps((1, 2**40)), [1, 2**40])]),
    (tuple[int, str],
     pyarrow.struct([pyarrow.field("0", pyarrow.int64(), False), pyarrow.field("1", pyarrow.string(), False)]),
     [(tb.dumps((1, "a")), {"0": 1, "1": "a"}), (tb.dumps([2**40, "b"]), {"0": 2**40, "1": "b"})]),
    (dict[str, float], pyarrow.map_(pyarrow.string(), pyarrow.field("value", pyarrow.float64(), False)), [
        (tb.dumps({"a": 1.5}), [("a", 1.5)]), (tb.dumps({"b": 2}), [("b", 2.0)]), (tb.dumps({}), [])]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("annotation", "kind", "pairs"), FORMS, ids=lambda given: str(given) if isinstance(given, pyarrow.DataType) else ""
)
def test_each_type_and_form(annotation, kind, pairs):
    data, values = [data for data, _ in pairs], [value for _, value in pairs]
    null = tb.dumps(None)
    for rows in (pairs, pairs[::-1], pairs[-1:] * 3 + pairs, *([pair] * 3 for pair in pairs)):
        encoded, expected = [data for data, _ in rows], [value for _, value in rows]
        found = field(annotation, *encoded)
        assert found.type == kind and found.to_pylist() == expected
        for batch_rows in (1, 2):
            assert field(annotation, *encoded, batch_rows=batch_rows).to_pylist() == expected
    assert not read(b"".join(data), annotation).schema.field("value").nullable
    optional = field(typing.Optional[annotation], null, *data, null)
    nullable = annotation is not typing.Any  # the type of an optional Any is Any
    assert optional.type == kind and (not nullable or optional.to_pylist() == [None, *values, None])
    assert read(b"".join(data), typing.Optional[annotation]).schema.field("value").nullable is nullable
    if nullable:
        with pytest.raises(tb.DecodeTypeError, match=r"found PICKLE None.*record 1"):
            list(columns.read(data[0] + null, type=annotation))


@pytest.mark.parametrize(
    ("annotation", "kind", "pairs"), FORMS, ids=lambda given: str(given) if isinstance(given, pyarrow.DataType) else ""
)
def test_what_was_read_is_written_in_its_declared_form(annotation, kind, pairs):
    data, values = b"".join(data for data, _ in pairs), [value for _, value in pairs]
    sink = io.BytesIO()
    columns.write(sink, columns.read(data, type=annotation), pairs=False)
    assert field(annotation, sink.getvalue()).to_pylist() == values
    if annotation not in (typing.Any,):
        arrays = columns.read(data, type=annotation)
        assert len({type(value) for value in tb.Reader(sink.getvalue())}) == 1, "one type code"
        del arrays


def rows_of(*rows):
    return tb.Encoder().encode_all(rows)


VISITS = [("ann", MICROSECONDS, 5, "1.50"), ("bob", 0, 2**40, None), ("cyd", -1, -1, "0.01")]
SCHEMA = pyarrow.schema([
    pyarrow.field("user", pyarrow.string(), False), pyarrow.field("at", pyarrow.timestamp("us"), False),
    pyarrow.field("ms", pyarrow.int64(), False), pyarrow.field("price", pyarrow.decimal128(38, 18)),
])  # fmt: skip
EXPECTED = [
    {"user": "ann", "at": MOMENT, "ms": 5, "price": decimal.Decimal("1.5")},
    {"user": "bob", "at": EPOCH, "ms": 2**40, "price": None},
    {"user": "cyd", "at": EPOCH - dt.timedelta(microseconds=1), "ms": -1, "price": decimal.Decimal("0.01")},
]


def as_map(row):
    return dict(zip(Visit._fields, row))


@pytest.mark.parametrize(
    "form",
    [
        lambda rows: rows, lambda rows: map(list, rows), lambda rows: map(as_map, rows),
        lambda rows: [dict(reversed(as_map(row).items())) for row in rows],
        lambda rows: [{"other": [1], **as_map(row), 7: 8} for row in rows],
        lambda rows: [as_map(row) if number % 2 else row for number, row in enumerate(rows)],
        lambda rows: [row if number % 2 else as_map(row) for number, row in enumerate(rows)],
        lambda rows: [row if row[3] else row[:3] for row in rows],
        lambda rows: [{name: value for name, value in as_map(row).items() if value is not None} for row in rows],
    ],
)  # fmt: skip
@pytest.mark.parametrize("threads", [1, 2])
def test_rows_of_a_record_come_by_name_and_by_position(form, threads):
    data = rows_of(*form(VISITS * 30))
    for options in ({}, {"batch_rows": 7}):
        table = read(data, Visit, threads=threads, **options)
        assert table.schema == SCHEMA and table.to_pylist() == EXPECTED * 30
    assert read(data, Visit, columns=["price", "user"]).to_pylist() == [
        {"price": row["price"], "user": row["user"]} for row in EXPECTED * 30
    ]
    pages = tb.Encoder().encode_pairs((number, value) for number, value in enumerate(tb.Reader(data)))
    with columns.read(pages, key_type=int, value_type=Visit, threads=threads) as reader:
        assert pyarrow.table(reader).to_pylist() == [
            {"key": number, "value": row} for number, row in enumerate(EXPECTED * 30)
        ]
    with columns.read(pages, key_type=int, value_type=Visit, columns=["value.ms"]) as reader:
        assert pyarrow.table(reader).to_pylist() == [{"value.ms": row["ms"]} for row in EXPECTED * 30]


def test_records_in_records():
    data = rows_of({"url": "/", "visits": VISITS}, {"visits": [], "url": "/a", "hits": 7}, ("/b", [as_map(VISITS[1])]))
    table = read(data, Page)
    assert table.to_pylist() == [
        {"url": "/", "visits": EXPECTED, "hits": 1},
        {"url": "/a", "visits": [], "hits": 7},
        {"url": "/b", "visits": EXPECTED[1:2], "hits": 1},
    ]
    batch = next(columns.read(data, type=Page))
    assert batch.schema == {
        "url": "string",
        "visits": "list<row<user: string, at: timestamp<us>, ms: long, price: decimal<38, 18>>>",
        "hits": "long",
    }
    again = next(columns.read(written({"value": batch}, pairs=False, nulls="value"), type=Page))
    assert pyarrow.record_batch(again).to_pylist() == table.to_pylist()


@pytest.mark.parametrize(
    ("annotation", "good", "bad", "path"),
    [
        (int, 1, "a", ""), (str, "a", b"a", ""), (bool, True, 1, ""), (dt.date, 1, "2026-13-01", ""),
        (dt.date, 1, "soon", ""), (dt.datetime, 1, "2026-11-28T05:04:59Z", ""),
        (Annotated[dt.datetime, records.UTC], 1, "2026-11-28T05:04:59", ""), (dt.time, 1, "24:00:00", ""),
        (decimal.Decimal, "1", "one", ""), (uuid.UUID, ID.bytes, b"short", ""), (Color, "red", "blue", ""),
        (Status, 200, 500, ""), (float, 1.5, "1.5", ""), (list[int], [1], [1, "a"], "[1]"),
        (dict[str, int], {"a": 1}, {"a": 1, "b": "c"}, '["b"]'), (tuple[int, str], (1, "a"), (1, 2), "[1]"),
        (Visit, VISITS[0], ("a", 0, "b"), ".ms"), (Visit, VISITS[0], {"user": "a", "at": [], "ms": 1}, ".at"),
        (Visit, VISITS[0], ("a",), ""), (Visit, VISITS[0], {"user": "a", "ms": 1}, ""),
        (Page, ("/", []), {"url": "/", "visits": [VISITS[0], ("a", 0, 1, [])]}, ".visits[1].price"),
        (Cat, {"name": "tom"}, {"name": "tom", "kind": "dog"}, ".kind"), (Dog, (7, "rex"), (8, "rex"), ".type"),
        (Dog, (7, "rex"), ("rex",), ""),
        (Home, {"firstCat": ("cat", "a")}, {"firstCat": ("dog", "a")}, ".first_cat.kind"),
        (Partial, {"a": 1}, {"a": 1, "b": None}, ".b"), (Partial, {"a": 1, "c": None}, {"a": 1, "c": 2}, ".c"),
        (Partial, (1,), (1, None), ".b"), (Optionals, {}, {"b": None}, ".b"),
    ],
)  # fmt: skip
def test_a_value_of_another_type_is_the_error_of_a_reader(annotation, good, bad, path):
    data = rows_of(good, good, bad, good)
    with pytest.raises(tb.DecodeTypeError) as expected:
        list(tb.Reader(data, type=annotation))
    assert expected.value.path == path and expected.value.record == 2
    for source in (data, io.BytesIO(data)):
        found = []
        with pytest.raises(tb.DecodeTypeError) as caught:
            found.extend(columns.read(source, type=annotation))
        assert str(caught.value) == str(expected.value)
        assert (caught.value.offset, caught.value.code, caught.value.path, caught.value.record) == (
            expected.value.offset, expected.value.code, expected.value.path, expected.value.record)  # fmt: skip
    rows = []
    with pytest.raises(tb.DecodeTypeError):
        for batch in columns.read(data, type=annotation):
            rows.append(len(batch))
    assert rows == [2]


@pytest.mark.parametrize(
    ("annotation", "good", "bad", "said"),
    [
        (int, 1, 2**63, "expected int of a column long, found PICKLE"),
        (Annotated[int, tb.Int], 1, 2**31, "expected int of a column int, found LONG 2147483648"),
        (float, 1, 2**54, f"expected float of a column double, found LONG {2**54}"),
        (float, 1, 2**53 + 1, f"expected float, found LONG {2**53 + 1}, which is not exactly a float"),
        (Annotated[float, tb.Float], tb.Float(1), 0.1, "expected float of a column float, found DOUBLE 0.1"),
        (Annotated[dt.datetime, records.Milliseconds], 1, "1970-01-01T00:00:00.0005",
         'expected datetime of a column timestamp<ms>, found STRING "1970-01-01T00:00:00.0005"'),
        (Annotated[decimal.Decimal, records.Precision(4, 2)], "99.99", "100",
         'expected Decimal of a column decimal<4, 2>, found STRING "100"'),
        (Annotated[decimal.Decimal, records.Precision(4, 2)], "99.99", "0.001",
         'expected Decimal of a column decimal<4, 2>, found STRING "0.001"'),
        (decimal.Decimal, "1", "NaN", 'expected Decimal of a column decimal<38, 18>, found STRING "NaN"'),
    ],
)  # fmt: skip
def test_a_value_that_its_column_cannot_hold(annotation, good, bad, said):
    data = rows_of(good, bad)
    with pytest.raises(tb.DecodeTypeError) as caught:
        list(columns.read(data, type=annotation))
    assert str(caught.value).startswith(said)
    assert caught.value.record == 1
    assert caught.value.offset == len(tb.dumps(good))


SINGLE = Annotated[float, tb.Float]


class Singles(typing.NamedTuple):
    one: SINGLE = 0.1
    two: tuple[SINGLE, SINGLE] = (0.5, 0.1)


@pytest.mark.parametrize(
    ("annotation", "good", "bad", "said", "path"),
    [
        (tuple[float, float], (1.5, 0.5), (0.5, 2**53 + 1),
         f"expected float, found LONG {2**53 + 1}, which is not exactly a float", "[1]"),
        (tuple[float, float], (1, 2), (2**53 + 1, 1),
         f"expected float, found LONG {2**53 + 1}, which is not exactly a float", "[0]"),
        (tuple[SINGLE, SINGLE], (0.5, 0.25), (0.5, 1e-50),
         "expected float of a column float, found DOUBLE 1e-50", "[1]"),
        (tuple[SINGLE, SINGLE], (0.5, 0.25), (0.1, 0.5), "expected float of a column float, found DOUBLE 0.1", "[0]"),
        (tuple[SINGLE, SINGLE], (0.5, 0.25), (tb.Float(1), 2**24 + 1),
         f"expected float of a column float, found INT {2**24 + 1}", "[1]"),
        (set[float], {0.5}, {2**53 + 1}, "expected set, found PICKLE of set", ""),
        (set[SINGLE], {0.5}, {0.1}, "expected set of a column list<float>, found PICKLE", ""),
        (set[tuple[SINGLE, int]], {(0.5, 1)}, {(0.1, 1)}, "expected set of a column list<", ""),
        (set[typing.Optional[SINGLE]], {0.5, None}, {0.1}, "expected set of a column list<", ""),
        (set[Singles], {(0.5, (0.5, 0.5))}, {(0.1, (0.5, 0.5))}, "expected set of a column list<", ""),
        (tuple[int, int], (5, 6), (5, 2**63), f"expected int of a column long, found PICKLE {2**63}", "[1]"),
        (tuple[int, int], (5, 6), (2**63, 5), f"expected int of a column long, found PICKLE {2**63}", "[0]"),
        (tuple[int, int], (5, 6), [5, 2**63], "expected tuple of a column vector<long * 2>, found LIST", ""),
        (list[tuple[int, int]], [(5, 6)], [(5, 6), (5, 2**63)],
         "expected int of a column long, found PICKLE", "[1][1]"),
        (tuple[Annotated[int, tb.Int], Annotated[int, tb.Int]], (5, 6), (5, 2**31),
         f"expected int of a column int, found LONG {2**31}", "[1]"),
    ],
)  # fmt: skip
def test_a_number_is_refused_and_not_rounded_wherever_it_is(annotation, good, bad, said, path):
    data = tb.dumps(good)
    for before in (b"", data):
        with pytest.raises(tb.DecodeTypeError) as caught:
            list(columns.read(before + tb.dumps(bad), type=annotation))
        error = caught.value
        assert str(error).startswith(said) and error.path == path
        assert error.record == (before != b"") and error.offset >= len(before)
        if path == "[1]":
            assert error.offset == len(before) + 5 + len(tb.dumps(bad[0]))
    assert read(data, annotation).num_rows == 1


def test_the_place_of_a_number_after_a_pickled_one():
    """The item that is refused is not the one that asked for a conversion."""
    pickled = b"\x08\0\0\0\x03" + PICKLED(5) + tb.dumps(6) + tb.dumps(2**63)
    with pytest.raises(tb.DecodeTypeError) as caught:
        list(columns.read(pickled, type=tuple[int, int, int]))
    assert caught.value.path == "[2]" and caught.value.offset == 5 + len(PICKLED(5)) + 5
    assert read(b"\x08\0\0\0\x02" + PICKLED(5) + tb.dumps(6), tuple[int, int])["value"].to_pylist() == [[5, 6]]


def test_a_default_is_rounded_to_a_float():
    """As it is where such a record is written."""
    (row,) = read(tb.dumps(()), Singles).to_pylist()
    tenth = float(numpy.float32(0.1))
    assert row == {"one": tenth, "two": [0.5, tenth]}


def test_text_forms_within_a_pickled_set():
    kind = set[tuple[Annotated[uuid.UUID, records.Text], int]]
    assert read(tb.dumps({(ID, 1)}), kind)["value"].to_pylist() == [[{"0": ID, "1": 1}]]


class Swap(enum.Enum):
    A = "B"
    B = "A"


@pytest.mark.parametrize("kind", [Swap, Annotated[Swap, records.Name]])
def test_a_member_is_the_one_that_a_reader_finds(kind):
    for member in Swap:
        data = tb.dumps(member, type=kind)
        assert tb.loads(data, type=kind) is member
        expected = member.value if kind is Swap else member.name
        assert field(kind, data).to_pylist() == [expected]


@pytest.mark.parametrize(
    ("annotation", "value", "row"),
    [
        (tuple[str, tuple[str, int]], ("a", ("b", 1)), {"0": "a", "1": {"0": "b", "1": 1}}),
        (tuple[str, Singles], ("a", (0.5,)), None),
        (tuple[Singles, Singles], ((0.5,), (0.25,)), None),
        (tuple[str, dict[str, int]], ("a", {"b": 1}), {"0": "a", "1": [("b", 1)]}),
        (tuple[dict[str, int], dict[str, int]], ({"b": 1}, {}), {"0": [("b", 1)], "1": []}),
        (tuple[list[int], tuple[str, int]], ([1], ("a", 1)), {"0": [1], "1": {"0": "a", "1": 1}}),
        (tuple[tuple[int, int], tuple[int, int]], ((1, 2), (3, 4)), {"0": [1, 2], "1": [3, 4]}),
        (tuple[Color, Color], ("red", "green"), {"0": "red", "1": "green"}),
        (tuple[()], (), {}),
        (tuple[int], (1,), [1]),
    ],
)
def test_tuples_of_what_is_in_containers(annotation, value, row):
    found = read(tb.dumps(value) * 2, annotation)["value"].to_pylist()
    assert found == [row or found[0]] * 2


@pytest.mark.parametrize(
    ("annotation", "said"),
    [
        (typing.Union[int, str], "int | str: no column has values of int | str: Any has them as encoded values"),
        (numpy.ndarray, "ndarray: no column has values of ndarray"),
        (dict[typing.Optional[str], int], "dict: the keys of a map are not null"),
        (
            typing.Literal["a", 1],
            'Literal["a", 1]: a column has the values of Literal["a", 1] if all are str, or all are int of 64 bits',
        ),
    ],
)
def test_types_without_a_column(annotation, said):
    with pytest.raises(TypeError, match=re.escape(said)):
        columns.read(b"", type=annotation)


@dataclasses.dataclass
class Tree:
    left: "typing.Optional[Tree]" = None


def test_types_that_contain_themselves():
    with pytest.raises(TypeError, match=re.escape("Tree.left: Tree contains itself, and columns do not")):
        columns.read(b"", type=Tree)


@pytest.mark.parametrize(
    "options", [{"schema": ["int"]}, {"on_mismatch": "widen"}, {"key_type": int}, {"key_type": int, "value_type": int}]
)
def test_options_that_do_not_go_together(options):
    with pytest.raises(
        ValueError,
        match="cannot be combined with a type|pass type for single values, or key_type and value_type for pairs",
    ):
        columns.read(b"", type=int, **options)


def test_defaults():
    @dataclasses.dataclass
    class Record:
        a: int = 7
        b: str = "x"
        c: dt.date = dt.date(1970, 1, 2)
        d: typing.Optional[int] = 5
        e: list[int] = dataclasses.field(default_factory=list)
        f: Color = Color.GREEN
        g: typing.Optional[dt.datetime] = None

    defaults = {"a": 7, "b": "x", "c": dt.date(1970, 1, 2), "d": 5, "e": [], "f": "green", "g": None}
    data = rows_of({}, {"a": 1}, (), (1, "y"), {"d": None})
    expected = [defaults, {**defaults, "a": 1}, defaults, {**defaults, "a": 1, "b": "y"}, {**defaults, "d": None}]
    assert read(data, Record).to_pylist() == expected


def from_msgspec(values, fields):
    """Return what msgspec makes of values, as rows; what it leaves out is null."""
    rows = [msgspec.to_builtins(value) for value in values]
    return [{name: row.get(name) for name in fields} if type(row) is dict else dict(zip(fields, row)) for row in rows]


@pytest.mark.parametrize(
    ("cls", "fields", "values", "others", "tag_type"),
    [
        (Cat, ("kind", "name", "lives"), [Cat("tom"), Cat("kit", 3)],
         [{"name": "tom"}, {"lives": 3, "kind": "cat", "name": "kit"}, ("cat", "tom"), ["cat", "kit", 3]],
         pyarrow.string()),
        (Dog, ("type", "name", "age"), [Dog("rex"), Dog("ben", 2)],
         [[7, "rex"], (tb.Long(7), "ben", 2), {"type": 7, "name": "rex"}, {"age": 2, "name": "ben"}], pyarrow.int64()),
    ],
)  # fmt: skip
def test_the_tag_of_a_struct_is_a_column(cls, fields, values, others, tag_type):
    expected = from_msgspec(values, fields)
    for rows in (values, values * 40, others, others[::-1], values + others):
        table = read(rows_of(*rows), cls)
        assert table.schema.names == list(fields) and not any(field.nullable for field in table.schema)
        assert table.schema.types[0] == pyarrow.dictionary(pyarrow.int32(), tag_type)
        assert table.to_pylist() == from_msgspec(list(tb.Reader(rows_of(*rows), type=cls)), fields)
    assert read(rows_of(*others), cls).to_pylist()[0] == expected[0]
    tags = [{fields[0]: row[fields[0]]} for row in expected]
    assert read(rows_of(*values), cls, columns=[fields[0]]).to_pylist() == tags


def test_tagged_structs_in_a_struct():
    homes = [Home(Cat("tom"), Dog("rex")), Home(Cat("kit", 3))]
    data = rows_of(*homes, {"dog": None, "firstCat": {"name": "may"}})
    cats = from_msgspec([Cat("tom"), Cat("kit", 3), Cat("may")], ("kind", "name", "lives"))
    dogs = [*from_msgspec([Dog("rex")], ("type", "name", "age")), None, None]
    assert read(data, Home).to_pylist() == [{"first_cat": cat, "dog": dog} for cat, dog in zip(cats, dogs)]


@pytest.mark.parametrize("cls", [Partial, Optionals])
def test_fields_that_may_be_missing_are_null(cls):
    rows = [{}, {"b": 3}, {"c": None}, {"b": 6, "c": "x"}, {"b": 2**40}]
    data = rows_of(*(({"a": 1, **row} if cls is Partial else row) for row in rows))
    table = read(data, cls)
    assert [field.nullable for field in table.schema][-2:] == [True, True]
    assert table.select(["b", "c"]).to_pylist() == [{"b": None, "c": None, **row} for row in rows]
    if cls is Partial:
        assert read(rows_of(*tb.Reader(data, type=cls)), cls).equals(table)


def test_frames_and_arrays():
    data = rows_of(*VISITS)
    frame = polars.DataFrame(columns.read(data, type=Visit))
    assert frame.schema == {
        "user": polars.String,
        "at": polars.Datetime("us"),
        "ms": polars.Int64,
        "price": polars.Decimal(38, 18),
    }
    assert frame.rows(named=True) == EXPECTED
    assert pyarrow.table(columns.read(data, type=Visit)).to_pandas()["at"].tolist() == [
        pandas.Timestamp(row["at"]) for row in EXPECTED
    ]
    batch = next(columns.read(data, type=Visit))
    assert batch.column("at").dtype == "M8[us]" and batch.column("at").tolist() == [row["at"] for row in EXPECTED]
    assert batch.column("price").tolist() == [row["price"] for row in EXPECTED]
    assert written([polars.Series([Color.RED.value])], pairs=False) == tb.dumps("red")


def test_parquet_keeps_the_types(tmp_path):
    table = read(rows_of({"url": "/", "visits": VISITS}), Page)
    pyarrow.parquet.write_table(table, tmp_path / "pages.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "pages.parquet").equals(table)


def test_a_null_record_has_no_nulls_in_columns_that_have_none():
    class Pair(typing.NamedTuple):
        first: typing.Optional[Visit]
        second: int

    data = rows_of((None, 1), (VISITS[0], 2))
    table = read(data, Pair)
    assert table.to_pylist() == [{"first": None, "second": 1}, {"first": EXPECTED[0], "second": 2}]
    assert table.column("first").chunk(0).field("user").null_count == 0
    sink = io.BytesIO()
    pyarrow.parquet.write_table(table, sink)
    assert pyarrow.parquet.read_table(io.BytesIO(sink.getvalue())).equals(table)


def test_cut_input_and_invalid_text():
    data = rows_of(*VISITS)
    for end in range(len(data)):
        found = []
        try:
            for batch in columns.read(io.BytesIO(data[:end]), type=Visit):
                found += pyarrow.record_batch(batch).to_pylist()
        except tb.TruncatedError:
            pass
        assert found == EXPECTED[: len(found)]
    with pytest.raises(tb.FormatError, match="UTF-8"):
        list(columns.read(data.replace(b"bob", b"b\xffb"), type=Visit))
    with pytest.raises(tb.FormatError, match="UTF-8"):
        list(columns.read(tb.dumps("1") + b"\x07\0\0\0\1\xff", type=decimal.Decimal))


def outcome(read_all):
    """Return the number of rows before an error, and the error."""
    rows = []
    try:
        read_all(rows)
    except tb.DecodeError as error:
        return len(rows), error
    return len(rows), None


@pytest.mark.parametrize(
    ("annotation", "kind", "pairs"), FORMS, ids=lambda given: str(given) if isinstance(given, pyarrow.DataType) else ""
)
def test_damaged_bytes_have_the_outcome_of_a_reader(annotation, kind, pairs):
    """A column refuses what it cannot hold, but holds dates beyond the year 9999; encoded values are not decoded."""
    data = b"".join(data for data, _ in pairs)
    for position in range(len(data) if annotation is not typing.Any else 0):
        for byte in (0, 1, 3, 4, 7, 8, 9, 10, 100, 255, data[position] ^ 1, data[position] ^ 128):
            damaged = data[:position] + bytes([byte]) + data[position + 1 :]
            expected, error = outcome(lambda rows: rows.extend(tb.Reader(damaged, type=annotation)))  # noqa: B023
            nrows, found = outcome(
                lambda rows: rows.extend(
                    n for batch in columns.read(damaged, type=annotation) for n in range(len(batch))
                )
            )  # noqa: B023
            if "column" in str(found):
                assert nrows <= expected
            elif "out of range" not in str(error):
                assert (nrows, str(found)) == (expected, str(error)), damaged
            elif "expected time" in str(error):
                assert nrows == expected and str(found) == str(error)


@dataclasses.dataclass
class Fine:
    x: int
    y: decimal.Decimal = decimal.Decimal("1.1234567890123456789012")


@dataclasses.dataclass
class Outer:
    fine: Fine
    n: int = 2**70


class Picky(enum.Enum):
    RED = "red"

    @classmethod
    def _missing_(cls, value):
        raise RuntimeError(f"no {value}")


@pytest.mark.parametrize("nbefore", [0, 150, 1000, 1500, 2500, 2999])
@pytest.mark.parametrize("threads", [1, 2, 4])
def test_an_exception_of_the_class_comes_after_the_batches_before_it(nbefore, threads):
    """Whichever thread meets it, and whatever it is."""
    data = TEXT("red") * nbefore + TEXT("grey") + TEXT("red") * (3000 - nbefore)
    for source in (data, io.BytesIO(data)):
        nrows = 0
        with pytest.raises(RuntimeError, match="^no grey$"):
            for batch in columns.read(source, type=Picky, batch_rows=100, threads=threads):
                nrows += len(batch)
        assert nrows == nbefore // 100 * 100


def test_a_default_that_its_column_cannot_hold():
    """The offset of an error is one of the input, where there is no such value."""
    whole = {"x": 1, "y": decimal.Decimal(1)}
    for kind, data, name in (
        (Fine, {"x": 1}, "y"),
        (Outer, {"fine": {"x": 1}}, "fine.y"),
        (Outer, {"fine": whole}, "n"),
    ):
        with pytest.raises(TypeError, match=f"the default of {name} does not fit its column"):
            list(columns.read(tb.dumps(data), type=kind))
