"""Classes that lie, change or interfere: an exception or a value, never a crash, and nothing left behind."""

import dataclasses
import enum
import gc
import sys
import typing

import msgspec
import pytest

import typedbytes as tb

pytestmark = [pytest.mark.codec, pytest.mark.free_threaded, pytest.mark.every_python]


def test_annotations_that_lie():
    @dataclasses.dataclass
    class Liar:
        n: int

        def __init__(self, *anything):
            raise TypeError("no keywords here")

    with pytest.raises(tb.DecodeTypeError, match="Liar: "):
        tb.loads(tb.dumps({"n": 1}), type=Liar)


def test_a_new_with_side_effects_is_called():
    made = []

    @dataclasses.dataclass
    class Counted:
        n: int

        def __new__(cls, *arguments, **options):
            made.append(cls)
            return super().__new__(cls)

    assert tb.loads(tb.dumps([{"n": 1}, {"n": 2}]), type=list[Counted]) == [Counted(1), Counted(2)]
    assert len(made) == 4


def test_a_constructor_that_raises_anything():
    class Odd(BaseException):
        pass

    @dataclasses.dataclass
    class Raises:
        n: int

        def __post_init__(self):
            raise Odd

    with pytest.raises(Odd):
        tb.loads(tb.dumps({"n": 1}), type=Raises)
    reader = tb.Reader(tb.dumps({"n": 1}) * 2, type=Raises)
    with pytest.raises(Odd):
        reader.read()
    with pytest.raises(Odd):  # it stays failed
        reader.read()


def test_a_constructor_that_uses_its_reader():
    @dataclasses.dataclass
    class Reentrant:
        n: int

        def __post_init__(self):
            seen.append(pytest.raises(RuntimeError, reader.read))
            seen.append(pytest.raises(RuntimeError, reader.close))
            assert tb.loads(tb.dumps((1,)), type=tuple[int]) == (1,)

    seen = []
    reader = tb.Reader(tb.dumps({"n": 1}), type=Reentrant)
    assert reader.read().n == 1 and len(seen) == 2


@pytest.mark.parametrize("slots", [True, False])
def test_a_class_that_changes_after_it_was_compiled(slots):
    @dataclasses.dataclass
    class Changing:
        if slots:
            __slots__ = ("a", "b")
        a: int
        b: str

    decoder, encoder = tb.Decoder(type=list[Changing]), tb.Encoder(type=list[Changing])
    encoded = tb.dumps([{"a": 1, "b": "x"}] * 3)
    values = decoder.decode(encoded)
    assert encoder.encode(values) == encoded
    if slots:
        del Changing.a
    Changing.b = property(lambda self: 5)
    Changing.__init__ = None
    # Either its memory is filled as it was compiled, or what Python does with it as it is now raises.
    try:
        values = decoder.decode(encoded)
    except AttributeError:
        values = []
    assert len(values) in (0, 3) and all(type(value) is Changing for value in values)
    for value in values:
        try:
            encoder.encode([value])
        except tb.EncodeError:
            pass
    del values
    gc.collect()


class Same(type):
    """Classes that are all equal, as a metaclass can have it."""

    def __eq__(cls, other):
        return type(other) is Same

    def __hash__(cls):
        return 7


def test_classes_that_say_they_are_equal_are_written_as_what_they_are():
    def slots(name, *fields):
        cls = Same(name, (), {"__slots__": fields, "__annotations__": dict.fromkeys(fields, int)})
        return dataclasses.dataclass(cls, eq=False, repr=False)

    objects = [slots("First", "a", "b")(1, 2), slots("Second", "x", "y")(3, 4)]
    objects += [Same("Real", (float,), {})(0.5), Same("Number", (int,), {})(5)]
    assert [tb.loads(tb.dumps(obj)) for obj in objects] == [{"a": 1, "b": 2}, {"x": 3, "y": 4}, 0.5, 5]


def test_values_that_change_while_they_are_encoded():
    @dataclasses.dataclass
    class Holder:
        first: typing.Any
        second: list[int]

    class Vanishing:
        pass

    def default(obj):
        holder.__dict__.clear()
        holder.second = 5
        return

    holder = Holder(Vanishing(), [1, 2])
    with pytest.raises(tb.EncodeTypeError, match="expected list, found int"):
        tb.dumps(holder, type=Holder, default=default)
    holder = Holder(Vanishing(), [1, 2])
    assert tb.loads(tb.dumps(holder, default=default)) == {"first": None, "second": 5}


def test_a_slot_without_a_value():
    @dataclasses.dataclass
    class Empty:
        __slots__ = ("a",)
        a: int

    empty = Empty(1)
    del empty.a
    for options in ({}, {"type": Empty}):
        with pytest.raises(tb.EncodeTypeError, match="Empty: no value of a"):
            tb.dumps(empty, **options)


def test_finalizers_see_whole_objects():
    seen = []

    @dataclasses.dataclass
    class Final:
        n: int
        text: str = "x"

        def __del__(self):
            seen.append((self.n, self.text))

    tb.loads(tb.dumps([{"n": 1}, (2, "y")]), type=list[Final])
    gc.collect()
    assert sorted(seen) == [(1, "x"), (2, "y")]


def test_the_collector_sees_whole_objects():
    class Row(typing.NamedTuple):
        a: list[int]
        b: typing.Optional[str]

    encoded = tb.dumps([([1], "x")] * 2000)
    threshold = gc.get_threshold()
    gc.set_threshold(1)
    seen = []

    def watch(phase, info):
        if len(seen) < 3:
            seen.append(sum(len(row) for row in gc.get_objects() if type(row) is Row))

    gc.callbacks.append(watch)
    try:
        for _ in range(3):
            assert len(tb.loads(encoded, type=list[Row])) == 2000
    finally:
        gc.callbacks.remove(watch)
        gc.set_threshold(*threshold)
    assert seen


def test_no_reference_is_lost_or_kept():
    class Member(enum.Enum):
        A = 1

    @dataclasses.dataclass
    class Plain:
        a: typing.Optional[Member]
        b: typing.Any = ()

    class Struct(msgspec.Struct):
        a: typing.Optional[Member]
        b: typing.Any = ()

    class Row(typing.NamedTuple):
        a: typing.Optional[Member]
        b: typing.Any = ()

    mark = "a text that is met nowhere else"
    for cls in (Plain, Struct, Row):
        good = tb.dumps([(1, mark), {"a": None}, {"b": 5, "a": 1}])
        bad = tb.dumps([(1, mark), {"a": 1, "b": mark}, {"b": 5}])
        counts = []
        for _ in range(5):
            for _ in range(20):
                values = tb.loads(good, type=list[cls])
                assert tb.loads(tb.dumps(values, type=list[cls]), type=list[cls]) == values
                tb.dumps(values)
                with pytest.raises(tb.DecodeTypeError):
                    tb.loads(bad, type=list[cls])
            values = None
            gc.collect()
            counts.append((sys.getrefcount(Member.A), sys.getrefcount(cls), len(gc.get_objects())))
        assert counts[1][:2] == counts[4][:2] and counts[4][2] - counts[1][2] < 20, cls


@pytest.mark.unportable("the collector looks at every Struct there")
def test_a_struct_that_is_not_tracked_is_when_it_has_to_be():
    class Node(msgspec.Struct):
        n: int
        more: typing.Any = None

    node = tb.loads(tb.dumps({"n": 1}), type=Node)
    assert not gc.is_tracked(node)
    node.more = [node]
    assert gc.is_tracked(node)
    del node
    assert gc.collect() >= 1


def test_types_that_cannot_be_hashed_are_compiled_each_time():
    hint = typing.Annotated[int, []]
    assert tb.loads(tb.dumps(5), type=hint) == 5 and tb.dumps(5, type=hint) == tb.dumps(5)


def test_an_equality_that_raises():
    @dataclasses.dataclass
    class Rude:
        n: int

        def __hash__(self):
            return 1

        def __eq__(self, other):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        tb.loads(tb.dumps([{"n": 1}, {"n": 2}]), type=set[Rude])


def test_keys_made_to_collide():
    hint = set[tuple[float, ...]]
    encoded = tb.dumps([(float(i), -1.0 if i % 2 else -2.0) for i in range(2000)])
    assert len(tb.loads(encoded, type=hint)) == 2000


def test_a_metaclass_that_lies_about_instances():
    class Meta(type):
        def __instancecheck__(cls, obj):
            return True

    @dataclasses.dataclass
    class Lied(metaclass=Meta):
        __slots__ = ("a",)
        a: int

    with pytest.raises(tb.EncodeTypeError, match="expected Lied, found int 5"):
        tb.dumps(5, type=Lied)
    assert tb.loads(tb.dumps(Lied(1), type=Lied), type=Lied).a == 1
