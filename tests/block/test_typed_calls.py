"""Calls with records: what the annotations of handlers mean, and records that are written by their class."""

import dataclasses
import datetime as dt
import decimal
import functools
import typing
import uuid

import pytest

import typedbytes as tb
from support.subprocess_runs import within
from typedbytes.block import BlockEncoder, BlockReader, Command, connect, serve

pytestmark = [pytest.mark.free_threaded, pytest.mark.newest_python]

DAY = dt.date(2026, 5, 1)
DAYS = (DAY - dt.date(1970, 1, 1)).days


@pytest.fixture(autouse=True)
def bounded():
    with within():
        yield


class Item(typing.NamedTuple):
    name: str
    price: decimal.Decimal


@dataclasses.dataclass
class Order:
    number: uuid.UUID
    day: dt.date
    items: list[Item]
    tags: set[str] = dataclasses.field(default_factory=set)


NUMBER = uuid.UUID(int=5)
ORDER = Order(NUMBER, DAY, [Item("tea", decimal.Decimal("1.50"))], {"new"})
WRITTEN = {"number": NUMBER.bytes, "day": DAYS, "items": [("tea", "1.50")], "tags": ["new"]}


class Shop:
    def take(self, order: Order, count: int):
        return [type(order).__name__, order == ORDER, count]

    def __call__(self, order: Order):
        return order == ORDER


def same(function):
    @functools.wraps(function)
    def inner(*values):
        return function(*values)

    return inner


@same
def wrapped(order: Order):
    return order == ORDER


def text(order: "Order", later: "typing.Optional[Order]" = None) -> "typing.Optional[Order]":
    return later if order == ORDER else order


def all_of(*orders: Order):
    return [order == ORDER for order in orders]


def each(orders: list[Order], by: dict[str, Order]) -> list[Order]:
    return [*orders, *by.values()]


def untyped(order):
    return order


HANDLERS = {
    "take": Shop().take, "shop": Shop(), "wrapped": wrapped, "text": text, "all": all_of, "each": each,
    "untyped": untyped, "make": lambda: ORDER, "class": Item,
}  # fmt: skip


@pytest.fixture(params=[True, False])
def connection(request, tmp_path):
    with serve(tmp_path / "calls", HANDLERS, ring=request.param) as server:
        with connect(server.address, ring=request.param) as connection:
            yield connection


@pytest.mark.parametrize("order", [ORDER, WRITTEN], ids=["record", "plain"])
def test_a_parameter_gets_instances_of_the_record_class_in_its_annotation(connection, order):
    assert connection.call(Command("take"), order, 3) == [["Order", True, 3]]
    assert connection.call(Command("shop"), order) == [True]
    assert connection.call(Command("wrapped"), order) == [True]
    assert connection.call(Command("all"), order, order) == [[True, True]]
    assert connection.call(Command("all")) == [[]]


def test_a_return_annotation_says_how_the_answer_is_written(connection):
    assert connection.call(Command("each"), [ORDER], {"a": ORDER}) == [[WRITTEN, WRITTEN]]
    assert connection.call(Command("each"), [ORDER], {}, type=list[Order]) == [ORDER]
    assert connection.call(Command("text"), ORDER) == [None]
    assert connection.call(Command("text"), ORDER, ORDER) == [WRITTEN]


def test_a_record_is_written_by_its_class(connection):
    assert connection.call(Command("make")) == [WRITTEN]
    assert connection.call(Command("make"), type=Order) == ORDER
    assert connection.call(Command("untyped"), ORDER) == [WRITTEN]
    assert connection.call(Command("untyped"), ORDER.items[0]) == [("tea", "1.50")]
    assert connection.call(Command("class"), "tea", 3, type=tuple[str, int]) == ("tea", 3)  # 3 is not a price
    for other in (DAY, [DAY], {DAY: decimal.Decimal(1)}, {1, 2}):
        assert connection.call(Command("untyped"), other) == [other]


def test_a_record_that_its_class_does_not_fit_is_written_as_without_one(connection):
    @dataclasses.dataclass
    class Odd:
        number: complex
        day: dt.date

    @dataclasses.dataclass
    class Unknown:
        number: "Missing"  # noqa: F821
        day: dt.date

    for record in (Odd(1j, DAY), Unknown(1j, DAY)):
        for _ in range(2):
            assert connection.call(Command("untyped"), record) == [{"number": 1j, "day": DAY}]
    misfit = dataclasses.replace(ORDER, day="never")
    assert connection.call(Command("untyped"), misfit)[0]["day"] == "never"
    assert connection.call(Command("untyped"), ORDER) == [WRITTEN]


def test_an_argument_that_does_not_fit_is_an_error_with_its_path(connection):
    late = {**WRITTEN, "items": [("tea", "1.50"), ("milk", [])]}
    with pytest.raises(tb.CallError, match=r"TypeError: expected Decimal, found LIST.*, argument order\.items\[1\]"):
        connection.call(Command("shop"), late)
    with pytest.raises(tb.CallError, match=r"expected Order, found INT 5, argument orders$"):
        connection.call(Command("all"), ORDER, 5)
    with pytest.raises(tb.CallError, match="TypeError: .*missing"):
        connection.call(Command("shop"))
    with pytest.raises(tb.CallError, match="TypeError: expected .*, found INT 5, argument later$"):
        connection.call(Command("text"), ORDER, 5)


def test_an_answer_that_does_not_fit_is_an_error_with_its_path(tmp_path):
    def late(day) -> Order:
        return dataclasses.replace(ORDER, day=day)

    with serve(tmp_path / "calls", {"late": late}) as server, connect(server.address) as connection:
        assert connection.call(Command("late"), DAY, type=Order) == ORDER
        with pytest.raises(tb.CallError, match=r"EncodeTypeError: .*str.*at \.?day"):
            connection.call(Command("late"), "never")


def test_one_function_for_all_commands_has_annotations_too(tmp_path):
    def answer(command: str, order: Order) -> Order:
        return dataclasses.replace(order, tags={command})

    with serve(tmp_path / "calls", answer) as server, connect(server.address) as connection:
        assert connection.call(Command("a"), ORDER, type=Order).tags == {"a"}


def test_annotations_that_no_record_can_have_are_refused_at_once(tmp_path):
    @dataclasses.dataclass
    class Odd:
        number: complex

    def take(odd: Odd):
        pass

    def give() -> Odd:
        pass

    for handler, named in ((take, "odd"), (give, "returned")):
        with pytest.raises(TypeError, match=f"the handler 'a': {named}: Odd.number: complex is not a type"):
            serve(tmp_path / "calls", {"a": handler})
    assert not (tmp_path / "calls").exists()


def test_a_handler_without_record_classes_is_called_as_it_is():
    from typedbytes.block._handlers import typed_handler

    def plain(number: int, day: dt.date, *more: "Missing") -> list[int]:  # noqa: F821
        pass

    for handler in (plain, print, len, [].append, dict, Order, functools.partial(plain, 1), lambda: None):
        assert typed_handler("a", handler, {"default": None, "pickle": "safe"}) is handler


def test_messages_that_are_not_calls_are_written_as_before():
    message = BlockReader(BlockEncoder("native").encode([ORDER])).read()
    assert message[0]["day"] == DAY


def test_an_encoder_holds_few_classes(tmp_path):
    with serve(tmp_path / "calls", HANDLERS) as server, connect(server.address) as connection:
        for number in range(600):
            record = typing.NamedTuple("Record", [("day", dt.date)])(DAY)
            assert connection.call(Command("untyped"), record) == [(DAYS,)], number


def test_options_hold_for_what_is_written_by_its_class(tmp_path):
    class Other:
        pass

    class Anything(typing.NamedTuple):
        value: typing.Any
        day: dt.date

    with serve(tmp_path / "calls", HANDLERS) as server:
        with connect(server.address, default=lambda value: "other") as connection:
            assert connection.call(Command("untyped"), Anything(Other(), DAY)) == [("other", DAYS)]
        with connect(server.address) as connection:
            with pytest.raises(tb.EncodeTypeError, match=r"Other.*\[1\]"):
                connection.call(Command("untyped"), Anything(Other(), DAY))
            assert connection.call(Command("untyped"), 1) == [1]


def test_only_whole_containers_are_sent_as_they_are():
    from typedbytes.block._native import Encoded

    for data in (b"", tb.dumps(5), tb.dumps(None)):
        with pytest.raises(ValueError):
            Encoded(data)
    with pytest.raises(TypeError):
        Encoded(None)
    assert BlockReader(BlockEncoder("native").encode([Encoded(tb.dumps([1, (2,)]))])).read() == [[1, (2,)]]
