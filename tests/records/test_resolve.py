"""What an annotation says: each row of the table of types, each kind of class, and each refusal with its message."""

# ruff: noqa: UP006 -- the older names of types are tested too

import abc
import collections
import collections.abc
import dataclasses
import datetime
import decimal
import enum
import re
import subprocess
import sys
import textwrap
import typing
import uuid

import attr
import msgspec
import numpy
import pytest
import typing_extensions

import typedbytes as tb
from typedbytes import _records, records
from typedbytes._records.model import MISSING

pytestmark = pytest.mark.every_python

Annotated, Optional, Union, Any, Literal = typing.Annotated, typing.Optional, typing.Union, typing.Any, typing.Literal
T, S = typing.TypeVar("T"), typing.TypeVar("S")


def spelled(node, deep=True):
    """Return a node as a tuple: its kind, then what is not None of the rest."""
    found = [node.kind]
    for name in node.__slots__[2:]:
        fact = getattr(node, name)
        if name in ("item", "key", "value") and fact is not None:
            found.append(spelled(fact))
        elif name in ("items", "members") and fact is not None:
            found.append(tuple(spelled(part) for part in fact))
        elif name == "record" and fact is not None:
            found.append(fact.name)
        elif name not in ("forms", "names", "by_value") and fact is not None:
            found.append(fact)
    return tuple(found)


def resolved(annotation):
    """Return an annotation's node as a tuple."""
    return spelled(_records.resolve(annotation))


def record(cls):
    """Return the Record of a class."""
    return _records.resolve(cls).record


def fields(cls):
    """Return the fields of a class by name, each as a tuple."""
    return {field.name: spelled(field.node) for field in record(cls).fields}


class Color(enum.Enum):
    RED = 1
    GREEN = 2
    CRIMSON = 1  # noqa: PIE796 -- an alias


class Visit(typing.NamedTuple):
    user: str
    ms: int = 0


LEAVES = [
    (Any, ("any",)),
    (object, ("any",)),
    (None, ("none",)),
    (type(None), ("none",)),
    (bool, ("bool",)),
    (int, ("int",)),
    (float, ("float",)),
    (str, ("str",)),
    (bytes, ("bytes",)),
    (bytearray, ("bytearray",)),
    (memoryview, ("memoryview",)),
    (decimal.Decimal, ("decimal",)),
    (numpy.ndarray, ("ndarray",)),
    (numpy.typing.NDArray[numpy.float64], ("ndarray",)),
    (tb.Byte, ("int", "BYTE", tb.Byte)),
    (tb.Int, ("int", "INT", tb.Int)),
    (tb.Long, ("int", "LONG", tb.Long)),
    (tb.Float, ("float", "FLOAT", tb.Float)),
    (Annotated[int, tb.Byte], ("int", "BYTE")),
    (Annotated[int, tb.Int], ("int", "INT")),
    (Annotated[int, tb.Long], ("int", "LONG")),
    (Annotated[float, tb.Float], ("float", "FLOAT")),
    (Annotated[int, "a comment", 5], ("int",)),
    (datetime.date, ("date", False)),
    (Annotated[datetime.date, records.Text], ("date", True)),
    (datetime.datetime, ("datetime", "us", False, False)),
    (Annotated[datetime.datetime, records.UTC], ("datetime", "us", False, True)),
    (Annotated[datetime.datetime, records.UTC, records.Milliseconds], ("datetime", "ms", False, True)),
    (Annotated[datetime.datetime, records.Text], ("datetime", "us", True, False)),
    (datetime.time, ("time", "us", False)),
    (Annotated[datetime.time, records.Seconds], ("time", "s", False)),
    (Annotated[datetime.time, records.Seconds, records.Text], ("time", "s", True)),
    (datetime.timedelta, ("timedelta", "us", False)),
    (Annotated[datetime.timedelta, records.Text, records.Microseconds], ("timedelta", "us", False)),
    (uuid.UUID, ("uuid", False)),
    (Annotated[uuid.UUID, records.Text], ("uuid", True)),
    (Color, ("enum", Color, False)),
    (Annotated[Color, records.Name], ("enum", Color, True)),
    (Literal["a", 1, None, True, b"x"], ("literal", ("a", 1, None, True, b"x"))),
    (Literal[Color.RED], ("literal", (Color.RED,))),
    (typing.NewType("UserId", int), ("int",)),
    (T, ("any",)),
    (typing.TypeVar("B", bound=int), ("int",)),
    (typing.TypeVar("C", int, str), ("union", (("int",), ("str",)))),
    (typing_extensions.TypeVar("D", default=str), ("str",)),
    (typing_extensions.LiteralString, ("str",)),
]
CONTAINERS = [
    *[(kind, ("list", ("any",))) for kind in (list, typing.List, typing.Sequence, typing.Collection, typing.Iterable)],
    *[
        (kind[int], ("list", ("int",)))
        for kind in (list, typing.List, typing.Sequence, typing.MutableSequence, typing.Reversible)
    ],
    *[
        (kind[int], ("list", ("int",)))
        for kind in (collections.abc.Sequence, collections.abc.Collection, typing.Container)
    ],
    (tuple, ("variadic_tuple", ("any",))),
    (typing.Tuple, ("variadic_tuple", ("any",))),
    (typing.Tuple[int, ...], ("variadic_tuple", ("int",))),
    (tuple[int, ...], ("variadic_tuple", ("int",))),
    (tuple[int, str], ("tuple", (("int",), ("str",)))),
    (typing.Tuple[int, Any], ("tuple", (("int",), ("any",)))),
    (tuple[()], ("tuple", ())),
    (typing.Tuple[()], ("tuple", ())),
    *[(kind[int], ("set", ("int",))) for kind in (set, typing.Set, typing.MutableSet, collections.abc.MutableSet)],
    *[
        (kind[int], ("frozenset", ("int",)))
        for kind in (frozenset, typing.FrozenSet, typing.AbstractSet, collections.abc.Set)
    ],
    *[
        (kind[str, int], ("dict", ("str",), ("int",)))
        for kind in (dict, typing.Dict, typing.Mapping, collections.abc.MutableMapping)
    ],
    (dict, ("dict", ("any",), ("any",))),
    (Optional[int], ("union", (("int",), ("none",)))),
    (Union[int, Union[str, None]], ("union", (("int",), ("str",), ("none",)))),
    (Union[Literal[1], Literal["a"], None], ("union", (("literal", (1, "a")), ("none",)))),
    (Union[Literal[1], Literal[True], None], ("union", (("literal", (1, True)), ("none",)))),
    (Union[int, Any], ("any",)),
    (Union[int], ("int",)),
    (Optional[T], ("any",)),
    (Union[Annotated[Optional[int], 5], str], ("union", (("int",), ("none",), ("str",)))),
    (Annotated[Optional[datetime.datetime], records.UTC], ("union", (("datetime", "us", False, True), ("none",)))),
    (Annotated[Union[bytes, uuid.UUID], records.Text], ("union", (("bytes",), ("uuid", True)))),
    (list[Visit], ("list", ("record", "Visit"))),
    (Annotated[Visit, records.Map], ("record", "Visit")),
]


def _name_of(value):
    """Return the repr of a parameter, which is the same in every process: Python 3.9 shows a NewType by its address."""
    return re.sub(r" at 0x\w+", "", repr(value))


@pytest.mark.parametrize("annotation, expected", LEAVES + CONTAINERS, ids=_name_of)
def test_a_type(annotation, expected):
    assert resolved(annotation) == expected


@pytest.mark.skipif(sys.version_info < (3, 10), reason="X | Y came with Python 3.10")
def test_unions_with_bars():
    assert resolved(int | None) == resolved(Optional[int])
    assert resolved(list[int] | str | None) == ("union", (("list", ("int",)), ("str",), ("none",)))


def test_an_enum_has_its_members_by_value_and_by_name():
    node = _records.resolve(Color)
    assert node.by_value == {1: Color.RED, 2: Color.GREEN}
    assert node.names == {"RED": Color.RED, "GREEN": Color.GREEN, "CRIMSON": Color.RED}


def test_a_union_has_the_forms_of_its_members():
    kinds = [None, bool, int, float, str, bytes, tuple[int], list[int], numpy.ndarray, dict[str, int]]
    expected = ["NULL", "BOOL", "INTEGER", "DOUBLE", "STRING", "BYTES", "VECTOR", "LIST", "NDARRAY", "MAP"]
    assert _records.resolve(Union[tuple(kinds)]).forms == tuple(frozenset([form]) for form in expected)
    node = _records.resolve(Union[Literal["a", 1], uuid.UUID, Visit])
    assert node.forms == ({"STRING", "INTEGER"}, {"BYTES"}, {"VECTOR"})


# -- classes ----------------------------------------------------------------------------------------------


def test_a_named_tuple():
    found = record(Visit)
    assert (found.cls, found.name, found.form, found.make) == (Visit, "Visit", "VECTOR", "tuple")
    user, ms = found.fields
    assert (user.name, user.key, user.required, user.default, user.factory) == ("user", "user", True, MISSING, None)
    assert (ms.name, ms.required, ms.default) == ("ms", False, 0)
    assert fields(collections.namedtuple("Pair", "a b")) == {"a": ("any",), "b": ("any",)}


def test_a_form_is_changed_by_a_marker():
    assert record(Annotated[Visit, records.Map]).form == "MAP"
    assert record(Annotated[Visit, records.Map]).make == "tuple"
    assert record(Annotated[Plain, records.Vector]).form == "VECTOR"
    assert record(Annotated[Plain, records.Map]).form == "MAP"


class DerivedVisit(Visit):
    """Have an instance dict, and what Visit has."""


class NewVisit(Visit):
    def __new__(cls, user, ms):
        return super().__new__(cls, user, ms)


class InitVisit(Visit):
    def __init__(self, *args, **options):
        self.made = True


@dataclasses.dataclass
class Plain:
    a: int
    b: list = dataclasses.field(default_factory=list)
    c: typing.ClassVar[int] = 5
    d: str = "d"


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: int


@dataclasses.dataclass
class Slots:
    __slots__ = ("a", "b")
    a: int
    b: str


@dataclasses.dataclass
class SlotsAndDict(Slots):
    c: int


@dataclasses.dataclass
class OwnInit:
    a: int

    def __init__(self, a):
        self.a = a


@dataclasses.dataclass(init=False)
class NoInit(Plain):
    e: int


@dataclasses.dataclass
class PostInit:
    a: int

    def __post_init__(self):
        self.a += 1


@dataclasses.dataclass
class OwnSetattr:
    a: int

    def __setattr__(self, name, value):
        super().__setattr__(name, value)


@dataclasses.dataclass
class OwnNew:
    a: int

    def __new__(cls, *args, **options):
        return super().__new__(cls)


class CallingMeta(type):
    def __call__(cls, *args, **options):
        return super().__call__(*args, **options)


@dataclasses.dataclass
class OwnMeta(metaclass=CallingMeta):
    a: int


@dataclasses.dataclass
class InitVariable:
    a: int
    b: dataclasses.InitVar[int]

    def __post_init__(self, b):
        self.a += b


@dataclasses.dataclass
class NotInInit:
    a: int
    b: int = dataclasses.field(init=False, default=3)


@dataclasses.dataclass
class PropertyInTheWay:
    a: int


PropertyInTheWay.a = property(lambda self: 1, lambda self, value: None)


class Undecorated(Plain):
    e: int


class UndecoratedInit(Plain):
    def __init__(self, a):
        super().__init__(a)


@dataclasses.dataclass
class Error(Exception):
    a: int


class StolenSlot:
    __slots__ = ("a",)


@dataclasses.dataclass
class WithStolenSlot:
    a: int


WithStolenSlot.a = StolenSlot.a


class AbstractBase(abc.ABC):  # noqa: B024 -- a metaclass of Python's
    pass


@dataclasses.dataclass
class OfAbstractBase(AbstractBase):
    a: int


@attr.define
class Attrs:
    a: int
    _b: int = 2
    c: list = attr.Factory(list)


@attr.s
class OldAttrs:
    a = attr.ib(type=int)
    b = attr.ib(type=str, default="x")


@attr.frozen
class FrozenAttrs:
    a: int


@attr.define
class ConvertedAttrs:
    a: int = attr.field(converter=int)


@attr.define
class CheckedAttrs:
    a: int = attr.field(validator=attr.validators.instance_of(int))


@attr.define
class SelfAttrs:
    a: int
    b: int = attr.field(default=attr.Factory(lambda self: self.a + 1, takes_self=True))


@attr.define
class PostAttrs:
    a: int

    def __attrs_post_init__(self):
        self.a += 1


@attr.s(cache_hash=True, frozen=True, hash=True)
class HashedAttrs:
    a = attr.ib(type=int)


@attr.define
class AttrsOwnInit:
    a: int

    def __init__(self, a):
        self.a = a


MAKES = [
    (Visit, "tuple"), (DerivedVisit, "tuple"), (NewVisit, "call"), (InitVisit, "call"),
    (Plain, "dict"), (Frozen, "dict"), (Slots, "slots"), (SlotsAndDict, "call"), (Undecorated, "dict"),
    (OfAbstractBase, "dict"),
    *[(cls, "call") for cls in (OwnInit, NoInit, PostInit, OwnSetattr, OwnNew, OwnMeta, InitVariable, NotInInit,
                                PropertyInTheWay)],
    *[(cls, "call") for cls in (UndecoratedInit, Error, WithStolenSlot)],
    (Attrs, "slots"), (FrozenAttrs, "slots"), (OldAttrs, "dict"),
    *[(cls, "call") for cls in (ConvertedAttrs, CheckedAttrs, SelfAttrs, PostAttrs, HashedAttrs, AttrsOwnInit)],
]  # fmt: skip


@pytest.mark.parametrize("cls, make", MAKES, ids=lambda value: getattr(value, "__name__", value))
def test_an_instance_is_made_without_init_only_where_that_is_the_same(cls, make):
    assert record(cls).make == make


@pytest.mark.parametrize("cls", [cls for cls, make in MAKES if make in ("dict", "slots")], ids=lambda cls: cls.__name__)
def test_what_init_does_is_to_store_the_fields(cls):
    """The premise of making an instance without it: the state after `__init__` is the fields and nothing else."""
    found = record(cls)
    values = {field.argument: object() for field in found.fields}
    obj = cls(**values)
    names = {field.name: values[field.argument] for field in found.fields}
    assert {name: getattr(obj, name) for name in names} == names
    assert getattr(obj, "__dict__", {}).keys() <= names.keys()


@pytest.mark.skipif(sys.version_info < (3, 10), reason="slots=True came with Python 3.10")
def test_a_dataclass_with_slots():
    cls = dataclasses.make_dataclass("Made", [("a", int), ("b", str, "x")], slots=True, frozen=True)
    found = record(cls)
    assert (found.make, [field.member for field in found.fields]) == ("slots", [cls.a, cls.b])
    derived = dataclasses.make_dataclass("Derived", [("c", int, 0)], bases=(cls,), slots=True, frozen=True)
    assert record(derived).make == "slots"
    # Python 3.10 gives the derived class slots of its own for the fields that it inherits.
    assert [field.member for field in record(derived).fields] == [derived.a, derived.b, derived.c]


@pytest.mark.skipif(sys.version_info < (3, 10), reason="kw_only came with Python 3.10")
def test_a_dataclass_with_keywords_only():
    cls = dataclasses.make_dataclass("Made", [("a", int, dataclasses.field(kw_only=True, default=1)), ("b", str)])
    assert [field.name for field in record(cls).fields] == ["a", "b"]
    assert record(cls).make == "dict"


def test_the_fields_of_a_dataclass():
    a, b, d = record(Plain).fields
    assert (a.required, b.required, d.required) == (True, False, False)
    assert (b.default, b.factory, d.default, d.factory) == (MISSING, list, "d", None)
    a, b = record(InitVariable).fields
    assert (a.written, b.written, spelled(b.node)) == (True, False, ("int",))
    assert [field.name for field in record(NotInInit).fields] == ["a"]


def test_the_fields_of_attrs():
    a, b, c = record(Attrs).fields
    assert (b.name, b.argument, b.key, b.default) == ("_b", "b", "_b", 2)
    assert (c.required, c.factory) == (False, list)
    assert fields(OldAttrs) == {"a": ("int",), "b": ("str",)}
    b = record(SelfAttrs).fields[1]
    assert (b.required, b.default, b.factory) == (False, MISSING, None)


class Movie(typing_extensions.TypedDict):
    title: str
    year: typing_extensions.NotRequired[int]


class LongMovie(Movie, total=False):
    hours: typing_extensions.Required[float]
    seats: typing_extensions.ReadOnly[Annotated[int, tb.Byte]]


def test_a_typed_dict():
    found = record(LongMovie)
    assert (found.form, found.make) == ("MAP", "typeddict")
    assert {field.name: field.required for field in found.fields} == {
        "title": True,
        "year": False,
        "hours": True,
        "seats": False,
    }
    assert fields(LongMovie) == {"title": ("str",), "year": ("int",), "hours": ("float",), "seats": ("int", "BYTE")}


def test_a_struct():
    class Struct(msgspec.Struct, rename="camel", tag="s", omit_defaults=True, forbid_unknown_fields=True):
        a_b: int
        c: list = []
        d: Union[str, msgspec.UnsetType] = msgspec.UNSET
        e: int = 5

    found = record(Struct)
    assert (found.form, found.make, found.tag, found.post_init) == ("MAP", "struct", ("type", "s"), False)
    assert (found.omit_defaults, found.forbid_unknown, found.allow_extra_items) == (True, True, False)
    a_b, c, d, e = found.fields
    assert (a_b.name, a_b.key, a_b.required, a_b.member) == ("a_b", "aB", True, Struct.a_b)
    assert (c.required, c.factory, d.absent, d.default, e.default) == (False, list, msgspec.UNSET, msgspec.UNSET, 5)
    assert spelled(d.node) == ("str",)


def test_a_struct_as_an_array():
    class Struct(msgspec.Struct, array_like=True, tag_field="kind"):
        a: int

        def __post_init__(self):
            pass

    found = record(Struct)
    assert (found.form, found.tag, found.allow_extra_items, found.post_init) == (
        "VECTOR",
        ("kind", "Struct"),
        True,
        True,
    )


def test_tagged_structs_in_a_union():
    class One(msgspec.Struct, tag=True):
        a: int

    class Two(msgspec.Struct, tag=True):
        a: int

    class Three(msgspec.Struct, tag=True, tag_field="kind"):
        a: int

    node = _records.resolve(Union[One, Two, None])
    assert node.forms == ({"MAP"}, {"MAP"}, {"NULL"})
    with pytest.raises(TypeError, match="One and Three are both written as a MAP"):
        _records.resolve(Union[One, Three])

    class Four(msgspec.Struct, tag=True, array_like=True):
        a: int

    assert _records.resolve(Union[One, Four]).forms == ({"MAP"}, {"VECTOR"})
    with pytest.raises(TypeError, match="Two as a MAP and Four as a VECTOR are written with tags"):
        _records.resolve(Union[One, Two, Four])


# -- generics, names, recursion ---------------------------------------------------------------------------


@dataclasses.dataclass
class Box(typing.Generic[T]):
    item: T
    more: "list[Box[T]]"


@dataclasses.dataclass
class IntBox(Box[int]):
    pass


@dataclasses.dataclass
class TwoBoxes(Box[S], typing.Generic[S, T]):
    other: T


def test_generic_classes():
    assert fields(Box[int]) == {"item": ("int",), "more": ("list", ("record", "Box[int]"))}
    assert fields(Box) == {"item": ("any",), "more": ("list", ("record", "Box[Any]"))}
    assert fields(IntBox)["item"] == ("int",)
    assert fields(TwoBoxes[str, int]) == {"item": ("str",), "more": ("list", ("record", "Box[str]")), "other": ("int",)}
    assert fields(Box[list[Box[int]]])["item"] == ("list", ("record", "Box[int]"))
    assert {field.name: spelled(field.node) for field in record(GenericStruct[int]).fields} == {"a": ("list", ("int",))}
    assert fields(GenericMovie[int]) == {"a": ("int",)}
    assert fields(DerivedGenericMovie) == {"a": ("str",), "b": ("int",)}


class GenericStruct(msgspec.Struct, typing.Generic[T]):
    a: list[T]


class GenericMovie(typing_extensions.TypedDict, typing.Generic[T]):
    a: T


class DerivedGenericMovie(GenericMovie[str]):
    b: int


@dataclasses.dataclass
class Chain(typing.Generic[T]):
    item: T
    next: Optional[typing_extensions.Self]


@dataclasses.dataclass
class LongChain(Chain[int]):
    more: int = 0


def test_self_is_the_class_that_is_given():
    assert fields(Chain[str])["next"] == ("union", (("record", "Chain[str]"), ("none",)))
    assert fields(LongChain)["next"] == ("union", (("record", "LongChain"), ("none",)))


def test_a_generic_class_is_one_record_for_the_same_arguments():
    node = _records.resolve(Box[int])
    assert node.record.fields[1].node.item.record is node.record


@dataclasses.dataclass
class Growing(typing.Generic[T]):
    more: "Optional[Growing[list[T]]]"


Json = Union[dict[str, "Json"], list["Json"], str, int, None]


@dataclasses.dataclass
class Document:
    body: "Json"
    next: "Optional[Document]" = None


def test_recursion():
    node = _records.resolve(Document)
    body, following = node.record.fields
    assert following.node.members[0].record is node.record
    inner = body.node.members[0].value
    assert [member.kind for member in inner.members] == ["dict", "list", "str", "int", "none"]
    assert inner.members[1].item.members is not None


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type statements came with Python 3.12")
def test_aliases_of_type_statements():
    names = {}
    exec(
        textwrap.dedent("""
            type Json = dict[str, Json] | list[Json] | str | None
            type Pair[T] = tuple[T, T]
            type Loop = Loop
            type Tree = list[Tree]
        """),
        names,
    )
    node = _records.resolve(names["Json"])
    assert node.members[0].value.members[1].item.members == node.members
    assert resolved(names["Pair"][int]) == ("tuple", (("int",), ("int",)))
    tree = _records.resolve(names["Tree"])
    assert tree.kind == tree.item.kind == tree.item.item.kind == "list"
    with pytest.raises(TypeError, match="Loop is nothing but itself"):
        _records.resolve(names["Loop"])


def test_names_of_the_class_itself_and_of_its_body():
    @dataclasses.dataclass
    class Local:
        class Inner(typing.NamedTuple):
            x: int

        list: "Optional[Local]"
        items: "list[Inner]"

    node = _records.resolve(Local)
    assert node.record.fields[0].node.members[0].record is node.record
    assert spelled(node.record.fields[1].node) == ("list", ("record", "Inner"))


def test_a_field_may_have_the_name_of_its_type():
    names = {"__name__": __name__, "dataclasses": dataclasses, "date": datetime.date}
    source = "@dataclasses.dataclass\nclass Day:\n    date: 'date' = None\n    int: 'int' = 5\n"
    exec(source, names)
    sys.modules[__name__].date = datetime.date
    try:
        assert fields(names["Day"]) == {"date": ("date", False), "int": ("int",)}
    finally:
        del sys.modules[__name__].date


def test_annotations_as_text_in_a_module(tmp_path, monkeypatch):
    (tmp_path / "text_annotations.py").write_text(
        textwrap.dedent("""
            from __future__ import annotations
            import dataclasses, datetime as dt, typing
            from typedbytes import records
            @dataclasses.dataclass
            class Base:
                at: dt.datetime
                kind: typing.ClassVar[int] = 3
            class Movie(typing.TypedDict, total=False):
                title: str | None
            class Visit(typing.NamedTuple):
                page: Page | None
                on: typing.Annotated[dt.date, records.Text]
            @dataclasses.dataclass
            class Page:
                visits: list[Visit]
                start: dataclasses.InitVar[int]
        """)
    )
    monkeypatch.syspath_prepend(tmp_path)
    import text_annotations

    @dataclasses.dataclass
    class Derived(text_annotations.Base):
        dt: int

    assert fields(Derived) == {"at": ("datetime", "us", False, False), "dt": ("int",)}
    assert fields(text_annotations.Movie) == {"title": ("union", (("str",), ("none",)))}
    assert fields(text_annotations.Visit) == {"page": ("union", (("record", "Page"), ("none",))), "on": ("date", True)}
    assert fields(text_annotations.Page) == {"visits": ("list", ("record", "Visit")), "start": ("int",)}
    assert [field.written for field in record(text_annotations.Page).fields] == [True, False]


def test_a_long_chain_of_classes():
    cls = Visit
    for n in range(3000):
        cls = typing_extensions.TypedDict(f"Link{n}", {"next": cls})  # noqa: UP013 -- of another class each time
    assert record(cls).name == "Link2999"


def test_ten_thousand_fields():
    cls = typing_extensions.TypedDict("Wide", {f"f{n}": int for n in range(10_000)})
    assert len(record(cls).fields) == 10_000


# -- refusals ---------------------------------------------------------------------------------------------


def dataclass_of(**annotations):
    """Return a dataclass called Page with these fields."""
    return dataclasses.make_dataclass("Page", list(annotations.items()))


class Flavor(enum.Enum):
    SWEET = (1, 2)


class Abstract(abc.ABC):
    @abc.abstractmethod
    def run(self):
        pass


@dataclasses.dataclass
class AbstractPage(Abstract):
    a: int


class NoMembers(enum.Enum):
    pass


@dataclasses.dataclass
class ItsOwnName:
    kind: "kind" = "kind"  # noqa: F821


ONE_NAME, OTHER_NAME = "OTHER_NAME", "ONE_NAME"


@dataclasses.dataclass
class InACircle:
    a: "ONE_NAME"


class Text(str):
    """A subclass of str, of which decoding would make no instance."""


REFUSED = [
    (complex, "complex is not a type that records can have"),
    (dataclass_of(visits=complex), "Page.visits: complex is not a type that records can have"),
    (dataclass_of(visits=list[Optional[complex]]), "Page.visits: complex is not a type that records can have"),
    (list[dataclass_of(visits=dict[str, complex])], "Page.visits: complex is not a type that records can have"),
    (Text, "test_resolve.Text is not a type that records can have"),
    (collections.OrderedDict, "collections.OrderedDict is not a type that records can have"),
    (typing.Callable[[int], int], "collections.abc.Callable is not a type that records can have"),
    (typing.Iterator[int], "Iterator is not a type that records can have"),
    (5, "5 is not a type that records can have"),
    ([int], "[<class 'int'>] is not a type that records can have"),
    ("Visit", "'Visit' is only a name: give the class itself"),
    (list["Visit"], "'Visit' is only a name: give the class itself"),
    (dataclass_of(a="Nowhere"), ": name 'Nowhere' is not defined"),
    (ItsOwnName, "ItsOwnName.kind: 'kind' stands for itself"),
    (InACircle, "InACircle.a: 'ONE_NAME' stands for itself"),
    (dataclass_of(a="int[5"), "Page.a: 'int[5' cannot be resolved: "),
    (Annotated[str, records.UTC], "UTC says nothing of str"),
    (dataclass_of(a=Annotated[Optional[str], tb.Byte]), "Page.a: Byte says nothing of str | None"),
    (Annotated[tb.Byte, tb.Long], "Long says nothing of Byte"),
    (Annotated[list[datetime.date], records.Text], "Text says nothing of list"),
    (Annotated[datetime.date, records.Seconds], "Seconds says nothing of date"),
    (Annotated[Movie, records.Vector], "Movie is a TypedDict, which is always a MAP"),
    (Annotated[int, msgspec.Meta(ge=0)], "constraints are not checked here: Meta(ge=...)"),
    (dataclass_of(a=Annotated[str, msgspec.Meta(pattern="x")]),
     "Page.a: constraints are not checked here: Meta(pattern=...)"),
    (Union[str, decimal.Decimal],
     "str and Decimal are both written as a STRING, so that a union of them cannot be read"),
    (dataclass_of(a=Union[int, datetime.date]), "Page.a: int and date are both written as an INT or LONG"),
    (Union[bytes, uuid.UUID], "bytes and UUID are both written as BYTES"),
    (Union[list[int], set[int]], "list and set are both written as a LIST"),
    (Union[list[int], list[str]], "list and list are both written as a LIST"),
    (Union[Plain, Frozen], "Plain and Frozen are both written as a MAP"),
    (Union[Visit, tuple[int]], "Visit and tuple are both written as a VECTOR"),
    (Union[Literal["a"], str], 'Literal["a"] and str are both written as a STRING'),
    (Union[Color, int], "Color and int are both written as an INT or LONG"),
    (Literal[Flavor.SWEET], "Flavor.SWEET cannot be in a Literal"),
    (Flavor, "Flavor.SWEET has no scalar as its value: use Annotated[Flavor, Name]"),
    (NoMembers, "NoMembers has no members"),
    (typing.ClassVar[int], "ClassVar[int] has no place here"),
    (typing.Final, "Final has no place here"),
    (list[typing_extensions.NotRequired[int]] if sys.version_info >= (3, 11) else typing_extensions.NotRequired[int],
     "has no place here"),
    (dict[list[int], int], "list cannot be a key of a dict: it has no hash"),
    (set[dict[str, int]], "dict cannot be an element of a set: it has no hash"),
    (frozenset[Plain], "Plain cannot be an element of a frozenset: it has no hash"),
    (AbstractPage, "AbstractPage is not a type that records can have"),
    (Growing[int], ".more: Growing contains itself with ever other arguments"),
    (typing.Type[int], "type is not a type that records can have"),
]  # fmt: skip


@pytest.mark.parametrize("annotation, message", REFUSED, ids=lambda value: str(value)[:60])
def test_what_is_refused(annotation, message):
    with pytest.raises(TypeError) as caught:
        _records.resolve(annotation)
    assert message in str(caught.value)


def test_an_annotation_that_is_nested_too_deeply():
    annotation = int
    for _ in range(200):
        annotation = list[annotation]
    with pytest.raises(TypeError, match="the annotation is nested too deeply"):
        _records.resolve(annotation)


def test_markers_have_no_instances():
    for name in set(records.__all__) - {"Precision"}:
        with pytest.raises(TypeError, match=f"{name} is a marker"):
            getattr(records, name)()


# -- without a type ---------------------------------------------------------------------------------------


def test_how_instances_are_written_without_a_type():
    @dataclasses.dataclass
    class Wrong:
        a: "Nowhere"  # noqa: F821
        b: dataclasses.InitVar[complex]

    class Struct(msgspec.Struct, rename="camel", tag="s", array_like=True):
        a_b: complex
        c: int = 1

    record = _records.native_of(Wrong).record
    assert [(field.name, field.key, field.node.kind, field.written) for field in record.fields] == [
        ("a", "a", "any", True),
        ("b", "b", "any", False),
    ]
    record = _records.native_of(Struct).record
    assert (record.form, record.tag, [field.key for field in record.fields]) == ("VECTOR", ("type", "s"), ["aB", "c"])
    assert all(field.absent is msgspec.UNSET for field in record.fields)
    assert [field.member for field in _records.native_of(Attrs).record.fields] == [Attrs.a, Attrs._b, Attrs.c]
    assert _records.native_of(Color).names["CRIMSON"] is Color.RED
    assert _records.native_of(Flavor).kind == "enum"


@pytest.mark.parametrize("cls", [Visit, Movie, dict, str, enum.IntEnum("Number", "ONE"), object, complex, AbstractPage])
def test_what_has_no_form_of_its_own_without_a_type(cls):
    assert _records.native_of(cls) is None


# -- programs ---------------------------------------------------------------------------------------------


def test_a_program_is_made_once():
    made = []

    def compiled(node):
        made.append(node)
        return object()

    @dataclasses.dataclass
    class Own:
        a: int

    assert _records.program_of(Own, compiled) is _records.program_of(Own, compiled)
    assert _records.program_of(list[Own], compiled) is _records.program_of(list[Own], compiled)
    assert len(made) == 2
    assert _records.program_of(Union[uuid.UUID, datetime.date], compiled) is not _records.program_of(
        Union[datetime.date, uuid.UUID], compiled
    )
    unhashable = Annotated[Own, []]
    assert _records.program_of(unhashable, compiled) is not _records.program_of(unhashable, compiled)


def test_programs_that_are_kept_have_a_limit():
    for n in range(2 * _records.MAX_PROGRAMS):
        _records.program_of(Annotated[int, n], repr)
    assert len(_records._programs) <= _records.MAX_PROGRAMS


def test_a_task_without_types_imports_nothing_of_them():
    code = """
        import sys, typedbytes as tb
        tb.loads(tb.dumps([1, "a"]))
        print({"typing", "dataclasses", "enum", "typedbytes._records", "typedbytes.records"} & {*sys.modules})
        import typedbytes._records
        typedbytes._records.resolve(int)
        print({"dataclasses", "attr", "msgspec", "numpy"} & {*sys.modules})
    """
    command = [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}\n" + textwrap.dedent(code)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.split("\n")[:2] == ["set()", "set()"]


def test_the_generic_classes_can_be_written_with_their_types():
    """The stubs make them generic: an annotation is evaluated."""
    for annotation in (tb.Decoder[Visit], tb.Reader[Visit], tb.PairReader[str, Visit], tb._core.Reader[Visit]):
        assert annotation is not None
