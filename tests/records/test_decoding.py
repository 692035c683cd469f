"""Typed decoding: every form of a record, in pieces, within the limits."""

import dataclasses
import gc
import io
import typing

import attr
import msgspec
import pytest

import typedbytes as tb
from support.record_types import TYPES, made, spelled
from support.typed_reference import dumps as reference_dumps
from support.vectors import Dribble, exact_repr, failure, names, read_folder, read_options

pytestmark = [pytest.mark.codec, pytest.mark.free_threaded, pytest.mark.every_python]


class Row(typing.NamedTuple):
    a: int
    b: str = "x"
    c: typing.Optional[float] = None


@dataclasses.dataclass
class Plain:
    a: int
    b: str = "x"
    c: typing.Optional[float] = None


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int
    b: str = "x"
    c: typing.Optional[float] = None


@dataclasses.dataclass
class Slots:
    __slots__ = ("a",)
    a: int


@attr.define
class Attrs:
    a: int
    b: str = "x"
    c: typing.Optional[float] = None


class Struct(msgspec.Struct):
    a: int
    b: str = "x"
    c: typing.Optional[float] = None


class Uncollected(msgspec.Struct, gc=False):
    a: int
    b: str = "x"
    c: typing.Optional[float] = None


CLASSES = [Row, Plain, Frozen, Attrs, Struct, Uncollected]


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize(
    "value, made_of",
    [
        ({"a": 1, "b": "y", "c": 2.5}, (1, "y", 2.5)),
        ({"c": None, "a": 2**40, "b": "\xe9"}, (2**40, "\xe9", None)),
        ({"a": 1}, (1,)),
        ({"a": 1, "zz": [1, {"k": (2.5, b"")}], "b": "y", 5: 6, ("k",): None}, (1, "y")),
        ((1, "y", 2.5), (1, "y", 2.5)),
        ((1,), (1,)),
        ([1, "y"], (1, "y")),
    ],
)
def test_the_forms_of_a_record(cls, value, made_of):
    found = tb.loads(tb.dumps(value), type=cls)
    assert type(found) is cls and found == cls(*made_of)


@pytest.mark.unportable("the collector looks at every Struct there")
@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("value", [(1, "y", 2.5), {"a": 1}])
def test_the_collector_looks_at_those_that_the_constructor_has_it_look_at(cls, value):
    made = cls(**value) if type(value) is dict else cls(*value)
    assert gc.is_tracked(tb.loads(tb.dumps(value), type=cls)) == gc.is_tracked(made)


@pytest.mark.parametrize("cls", CLASSES)
def test_the_last_of_equal_keys_wins(cls):
    encoded = b"\x0a\0\0\0\x03" + b"".join(tb.dumps("a") + tb.dumps(value) for value in (1, 2, 3))
    assert tb.loads(encoded, type=cls) == cls(3)
    with pytest.raises(tb.DecodeTypeError, match="path .a"):  # each is looked at
        tb.loads(b"\x0a\0\0\0\x02" + tb.dumps("a") + tb.dumps("x") + tb.dumps("a") + tb.dumps(1), type=cls)


def test_instances_have_what_their_constructor_gives_them():
    plain = tb.loads(tb.dumps({"b": "y", "a": 1}), type=Plain)
    assert vars(plain) == {"a": 1, "b": "y", "c": None} and list(vars(plain)) == ["a", "b", "c"]
    plain.d = 5
    del plain.a
    assert vars(plain) == {"b": "y", "c": None, "d": 5} and not hasattr(plain, "a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        tb.loads(tb.dumps((1,)), type=Frozen).a = 2
    assert tb.loads(tb.dumps((1,)), type=Slots).a == 1


def test_each_instance_has_its_own_default():
    @dataclasses.dataclass
    class Page:
        tags: list[int] = dataclasses.field(default_factory=list)

    first, second = tb.loads(tb.dumps([{}, {}]), type=list[Page])
    first.tags.append(1)
    assert second.tags == []


def test_a_wide_class():
    cls = dataclasses.make_dataclass("Wide", [(f"field_{i}", int) for i in range(10_000)])
    names_of = [f"field_{i}" for i in range(10_000)]
    for order in (names_of, names_of[::-1], names_of[1::2] + names_of[::2]):
        found = tb.loads(tb.dumps({name: int(name[6:]) for name in order}), type=cls)
        assert vars(found) == {name: int(name[6:]) for name in names_of}
    assert vars(tb.loads(tb.dumps(tuple(range(10_000))), type=cls)) == vars(found)
    with pytest.raises(tb.DecodeTypeError, match='missing field "field_1"'):
        tb.loads(tb.dumps({"field_0": 0}), type=cls)


@dataclasses.dataclass
class Tree:
    n: int
    left: typing.Optional["Tree"] = None
    more: "list[Tree]" = dataclasses.field(default_factory=list)


def test_tags_tell_records_apart_in_each_form_that_they_are_read_from():
    class Point(msgspec.Struct, array_like=True, tag=7):
        x: int

    class Line(msgspec.Struct, array_like=True, tag=8):
        x: int

    class Cat(msgspec.Struct, tag="cat"):
        lives: int

    class Dog(msgspec.Struct, tag="dog"):
        lives: int

    for value, union in (
        ([8, 1], typing.Union[Point, Line]),
        ((8, 1), typing.Union[Point, Line]),
        ({"type": 8, "x": 1}, typing.Union[Point, Line]),
        (["dog", 1], typing.Union[Cat, Dog]),
        (("dog", 1), typing.Union[Cat, Dog]),
        ({"lives": 1, "type": "dog"}, typing.Union[Cat, Dog]),
    ):
        kind = typing.get_args(union)[1]
        assert tb.loads(tb.dumps(value), type=union) == tb.loads(tb.dumps(value), type=kind) == kind(1)


def test_recursion_and_depth():
    value = expected = None
    for n in range(100):
        value, expected = {"n": n, "left": value}, Tree(n, expected)
    assert tb.loads(tb.dumps(value), type=Tree) == expected
    with pytest.raises(tb.LimitError, match="max_depth=99"):
        tb.loads(tb.dumps(value), type=Tree, max_depth=99)
    with pytest.raises(tb.LimitError, match="max_depth=3"):  # in what is skipped, too
        tb.loads(tb.dumps({"n": 1, "x": [[[]]]}), type=Tree, max_depth=3)
    assert tb.loads(tb.dumps({"n": 1, "x": [[]]}), type=Tree, max_depth=3) == Tree(1)


VALID = [vector for vector in read_folder("valid") if vector["direction"] != "encode"]
INVALID = [vector for vector in read_folder("invalid") if vector["direction"] == "decode"]


@pytest.mark.parametrize("vector", VALID, ids=names(VALID))
@pytest.mark.parametrize("hint", [typing.Any, object])
def test_any_is_what_is_read_without_a_type(vector, hint):
    options = read_options(vector.get("decode", {}))
    data = bytes.fromhex(vector["hex"])
    assert exact_repr(tb.loads(data, type=hint, **options)) == exact_repr(tb.loads(data, **options))


@pytest.mark.parametrize("vector", INVALID, ids=names(INVALID))
def test_any_fails_as_without_a_type(vector):
    options = read_options(vector.get("decode", {}))
    data = bytes.fromhex(vector["hex"])
    with pytest.raises(tb.DecodeError) as untyped:
        tb.loads(data, **options)
    with pytest.raises(tb.DecodeError) as typed:
        tb.loads(data, type=typing.Any, **options)
    assert failure(typed.value) == failure(untyped.value)


@pytest.mark.parametrize("name", TYPES)
def test_in_pieces(name):
    import random

    rng = random.Random(5)
    hint = TYPES[name]
    values = [made(rng, hint) for _ in range(5)]
    stream = b"".join(reference_dumps(value, hint) for value in values)
    expected = [spelled(value) for value in values]
    assert [spelled(value) for value in tb.Decoder(type=hint).decode_all(stream)] == expected
    assert [spelled(value) for value in tb.Reader(Dribble(stream), type=hint, buffer_size=64)] == expected
    decoder, found = tb.Decoder(type=hint), []
    for byte in stream:
        decoder.feed(bytes([byte]))
        found += map(spelled, decoder)
    decoder.close()
    assert found == expected


@pytest.mark.parametrize("name", TYPES)
def test_errors_are_the_same_in_pieces(name):
    import random

    hint = TYPES[name]
    encoded = bytearray(reference_dumps(made(random.Random(9), hint), hint)[:120])
    for position in range(len(encoded)):
        for change in (1, 0x80):
            encoded[position] ^= change
            whole = outcome(lambda: [spelled(value) for value in tb.Reader(bytes(encoded), type=hint)])
            assert (
                outcome(
                    lambda: [spelled(value) for value in tb.Reader(Dribble(bytes(encoded)), type=hint, buffer_size=64)]
                )
                == whole
            )
            encoded[position] ^= change


def outcome(call):
    """Return what a call returns, or what its error says."""
    try:
        return call()
    except tb.DecodeError as error:
        return str(error)


def test_pairs_and_groups():
    pairs = [("a", Row(1)), ("a", Row(2)), ("b", Row(3))]
    encoded = tb.Encoder(key_type=str, value_type=Row).encode_pairs(pairs)
    assert tb.Decoder(key_type=str, value_type=Row).decode_pairs(encoded) == pairs
    assert list(tb.PairReader(io.BytesIO(encoded), key_type=str, value_type=Row)) == pairs
    groups = [(key, list(values)) for key, values in tb.PairReader(encoded, key_type=str, value_type=Row).groups()]
    assert groups == [("a", [Row(1), Row(2)]), ("b", [Row(3)])]
    with pytest.raises(tb.DecodeTypeError, match="expected int"):
        list(tb.PairReader(encoded, key_type=int))
    with pytest.raises(TypeError, match="a PairReader has key_type= and value_type=, not type="):
        tb.PairReader(encoded, type=Row)
    with pytest.raises(TypeError, match="a Reader has type=, not key_type="):
        tb.Reader(encoded, key_type=Row)


def test_a_record_is_limited_in_bytes():
    encoded = tb.dumps([Row(1, "x" * 100)] * 3, type=list[Row])
    with pytest.raises(tb.LimitError, match="max_bytes=100"):
        list(tb.Reader(Dribble(encoded), type=list[Row], max_bytes=100))
    assert tb.Reader(Dribble(encoded), type=list[Row], max_bytes=len(encoded)).read() == [Row(1, "x" * 100)] * 3


def test_the_collector_is_as_before():
    encoded = tb.dumps([{"a": i} for i in range(3000)] + [{"a": "x"}])
    for enabled in (True, False):
        (gc.enable if enabled else gc.disable)()
        with pytest.raises(tb.DecodeTypeError):
            tb.loads(encoded, type=list[Plain])
        assert gc.isenabled() == enabled
    gc.enable()


def test_strings_of_a_type_are_shared_as_without_one():
    encoded = tb.dumps([{"a": 1, "b": "word"}] * 100)
    found = tb.loads(encoded, type=list[Plain])
    assert len({id(row.b) for row in found}) < 10


def test_a_type_alone_is_cached_by_what_it_is():
    assert tb.loads(b"\x08\0\0\0\0", type=tuple[int, ...]) == ()
    assert tb.loads(tb.dumps([1]), type=list[int]) == [1]
    with pytest.raises(tb.DecodeTypeError):
        tb.loads(tb.dumps([True]), type=list[int])
    with pytest.raises(tb.DecodeTypeError):
        tb.loads(tb.dumps([1]), type=list[bool])
    assert tb.loads(tb.dumps(1), type=None) == 1
    assert tb.loads(tb.dumps("1"), type=int, strict=False) == 1
    with pytest.raises(tb.DecodeTypeError):
        tb.loads(tb.dumps("1"), type=int)
