"""Typed encoding, and instances that are encoded without a type."""

import dataclasses
import datetime
import enum
import io
import typing
from typing import Annotated

import attr
import msgspec
import pytest

import typedbytes as tb
from typedbytes import records

pytestmark = [pytest.mark.codec, pytest.mark.free_threaded, pytest.mark.every_python]


@dataclasses.dataclass
class Plain:
    a: typing.Any
    b: typing.Any = 2


@dataclasses.dataclass
class Slots:
    __slots__ = ("a",)
    a: typing.Any


@attr.define
class Attrs:
    a: typing.Any
    _b: typing.Any = 2


class Struct(msgspec.Struct):
    a: typing.Any
    b: typing.Any = 2


class Array(msgspec.Struct, array_like=True):
    a: typing.Any
    b: typing.Any = 2


class Tagged(msgspec.Struct, tag=True, rename="camel", omit_defaults=True):
    first_name: typing.Any
    last_name: typing.Any = 2


class Color(enum.Enum):
    RED = 1
    BLUE = "b"


NATIVE = [
    (Plain(1), {"a": 1, "b": 2}), (Slots(1), {"a": 1}), (Attrs(1), {"a": 1, "_b": 2}), (Struct(1), {"a": 1, "b": 2}),
    (Array(1), (1, 2)), (Tagged(1), {"type": "Tagged", "firstName": 1}),
    (Tagged(1, 3), {"type": "Tagged", "firstName": 1, "lastName": 3}), (Color.RED, 1), (Color.BLUE, "b"),
    (Plain([Struct(Color.RED), {"k": Slots(None)}]), {"a": [{"a": 1, "b": 2}, {"k": {"a": None}}], "b": 2}),
]  # fmt: skip


@pytest.mark.parametrize("obj, plain", NATIVE, ids=[type(obj).__name__ + str(i) for i, (obj, _) in enumerate(NATIVE)])
def test_instances_are_written_without_a_type(obj, plain):
    assert tb.dumps(obj) == tb.dumps(plain)
    assert tb.dumps([obj, (obj,)], sort_keys=True) == tb.dumps([plain, (plain,)], sort_keys=True)
    assert tb.Encoder(default=lambda obj: "not asked").encode(obj) == tb.dumps(plain)
    if not isinstance(obj, (enum.Enum, Tagged)):
        assert tb.dumps(obj, type=type(obj)) == tb.dumps(plain)


def test_a_class_without_fields_is_for_default():
    class Other:
        pass

    assert tb.dumps(Other(), default=lambda obj: 5) == tb.dumps(5)
    with pytest.raises(tb.EncodeTypeError, match="cannot encode an object of type .*Other"):
        tb.dumps(Other())


def test_trusted_pickles_are_as_before():
    assert tb.loads(tb.dumps(Plain(1), pickle="trust"), pickle="trust") == Plain(1)
    assert tb.dumps(Plain(1), pickle="raw") == tb.dumps({"a": 1, "b": 2})


def test_an_instance_with_more_attributes_and_one_whose_dict_was_taken():
    plain = Plain(1)
    plain.c = 5
    assert tb.dumps(plain) == tb.dumps({"a": 1, "b": 2})
    vars(plain)["b"] = 7
    assert tb.dumps(plain) == tb.dumps({"a": 1, "b": 7})
    other = Plain.__new__(Plain)
    other.b, other.a = 4, 3
    assert tb.dumps(other) == tb.dumps({"a": 3, "b": 4})


def test_a_subclass_is_written_as_what_the_type_says():
    class More(Plain):
        pass

    assert tb.dumps(More(1), type=Plain) == tb.dumps({"a": 1, "b": 2})

    @dataclasses.dataclass
    class Slotted:
        __slots__ = ("a",)
        a: int

    class Shown(Slotted):
        a = property(lambda self: 99, lambda self, value: None)

    assert tb.dumps(Shown(1), type=Slotted) == tb.dumps({"a": 99})

    class Row(typing.NamedTuple):
        a: int

    class Odd(Row):
        pass

    assert tb.dumps(Odd(1), type=Row) == tb.dumps((1,))


def test_a_union_has_an_object_as_the_most_derived_of_its_classes():
    """As msgspec has it; a class that the union lacks is written as the nearest."""

    class Pet(msgspec.Struct, tag=True):
        name: str

    class Cat(Pet, tag=True):
        lives: int = 9

    class Lion(Cat):
        pass

    @dataclasses.dataclass
    class Page:
        url: str

    @dataclasses.dataclass
    class Visit(Page):
        ms: int

    for union in (typing.Union[Pet, Cat, None], typing.Union[Cat, Pet]):
        for obj in (Pet("a"), Cat("b", 3)):
            data = tb.dumps(obj, type=union)
            assert tb.loads(data) == msgspec.msgpack.decode(msgspec.msgpack.encode(obj))
            assert tb.loads(data, type=union) == obj == msgspec.convert(tb.loads(data), union)
        assert tb.loads(tb.dumps(Lion("c", 4), type=union), type=union) == Cat("c", 4)
    for union in (
        typing.Union[Page, Annotated[Visit, records.Vector]],
        typing.Union[Annotated[Visit, records.Vector], Page],
    ):
        assert tb.loads(tb.dumps(Visit("u", 5), type=union)) == ("u", 5)
        assert tb.loads(tb.dumps(Page("u"), type=union)) == {"url": "u"}
    for union, form in (
        (typing.Union[Page, Annotated[Page, records.Vector]], {"url": "u"}),
        (typing.Union[Annotated[Page, records.Vector], Page], ("u",)),
    ):
        assert tb.loads(tb.dumps(Page("u"), type=union)) == tb.loads(tb.dumps(Visit("u", 5), type=union)) == form


def test_a_flag_of_several_members_has_no_name():
    """Python 3.11 calls it A|B, which no member is called."""

    class Bits(enum.Flag):
        A = 1
        B = 2
        C = 1

    named = Annotated[Bits, records.Name]
    assert tb.dumps([Bits.A, Bits.C], type=list[named]) == tb.dumps(["A", "A"])
    with pytest.raises(tb.EncodeValueError, match="has no name"):
        tb.dumps(Bits.A | Bits.B, type=named)
    assert tb.loads(tb.dumps(Bits.A, type=Bits), type=Bits) is Bits.A


@pytest.mark.parametrize("asks_missing", [False, True])
def test_names_come_before_values_where_members_are_written_by_name(asks_missing):
    class Swap(enum.Enum):
        A = "B"
        B = "A"
        C = "c"
        D = "C"

        if asks_missing:

            @classmethod
            def _missing_(cls, value):
                return cls.D if value == "d" else None

    named = Annotated[Swap, records.Name]
    for member in Swap:
        assert tb.loads(tb.dumps(member, type=named), type=named) is member
        assert tb.loads(tb.dumps(member, type=Swap), type=Swap) is member
        assert tb.loads(tb.dumps({member: [member]}, type=dict[named, list[named]]), type=dict[named, list[named]]) == {
            member: [member]
        }
    assert tb.loads(tb.dumps("c"), type=named) is Swap.C
    if asks_missing:
        assert tb.loads(tb.dumps("d"), type=named) is Swap.D


@pytest.mark.parametrize("form", [(), (records.Text,), (records.Seconds,), (records.Milliseconds,)])
@pytest.mark.parametrize("edge, hours", [(datetime.datetime.min, 1), (datetime.datetime.max, -1)])
def test_a_moment_that_utc_has_no_datetime_for_is_refused(form, edge, hours):
    kind = Annotated[(datetime.datetime, records.UTC, *form)]
    edge = edge.replace(microsecond=0)
    zones = [datetime.timezone(datetime.timedelta(hours=each)) for each in (hours, -hours)]
    with pytest.raises(tb.EncodeError, match="out of range in UTC"):
        tb.dumps(edge.replace(tzinfo=zones[0]), type=kind)
    near = edge.replace(tzinfo=zones[1])
    assert tb.loads(tb.dumps(near, type=kind), type=kind) == near


def test_none_is_left_out_where_it_is_the_default():
    @dataclasses.dataclass
    class Page:
        a: typing.Optional[int] = None
        b: typing.Optional[int] = 3

    encoded = tb.dumps(Page(None, None), type=Page, omit_none=True)
    assert tb.loads(encoded) == {"b": None} and tb.loads(encoded, type=Page) == Page(None, None)
    assert tb.loads(tb.dumps(Page(None, None), type=Page)) == {"a": None, "b": None}


def test_a_failed_object_leaves_no_bytes():
    sink = io.BytesIO()
    with tb.Writer(sink, type=Plain) as writer:
        writer.write(Plain(1))
        with pytest.raises(tb.EncodeTypeError):
            writer.write(5)
        writer.write(Plain(2))
    assert list(tb.Reader(sink.getvalue(), type=Plain)) == [Plain(1), Plain(2)]
    with pytest.raises(tb.EncodeTypeError, match="expected str, found int 5"):
        tb.PairWriter(io.BytesIO(), key_type=str).write(5, 5)
    with pytest.raises(TypeError, match="a PairWriter has key_type= and value_type=, not type="):
        tb.PairWriter(io.BytesIO(), type=int)


def test_long_lists_and_runs():
    values = [i * 10**9 for i in range(5000)]
    assert tb.dumps(values, type=list[int]) == tb.dumps(values)
    for odd in (True, 2.5, None, "x"):
        with pytest.raises(tb.EncodeTypeError, match=r"at \[4000\]"):
            tb.dumps([*values[:4000], odd, *values[4001:]], type=list[int])
    assert tb.loads(tb.dumps([1, 2.5], type=list[float])) == [1.0, 2.5]


def test_a_class_of_many_instances_is_looked_up_once():
    made = [dataclasses.make_dataclass(f"Class{i}", ["a"])(i) for i in range(700)]
    for _ in range(2):
        assert tb.loads(tb.dumps(made)) == [{"a": i} for i in range(700)]
