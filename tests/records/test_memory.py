"""A new class each time: a program is kept for a while, and freed with its class, whichever door it came in by."""

import dataclasses
import enum
import gc
import io
import typing
import weakref

import msgspec
import pytest

import typedbytes as tb
from typedbytes import columns, sequencefile
from typedbytes.streaming import testing

pytestmark = [pytest.mark.newest_python, pytest.mark.free_threaded]

NCLASSES = 1000
#: Classes that may be there at the end: at most 512 of a cache, and what typing and functools keep of annotations.
NKEPT = 700
MAP, TEXT = tb.dumps({"a": 1, "b": []}), tb.dumps("red")

KINDS = {
    "dataclass": lambda: dataclasses.make_dataclass("Made", [("a", int), ("b", list[int])]),
    "NamedTuple": lambda: typing.NamedTuple("Made", [("a", int), ("b", list[int])]),
    "TypedDict": lambda: typing.TypedDict("Made", {"a": int, "b": list[int]}),
    "Struct": lambda: msgspec.defstruct("Made", [("a", int), ("b", list[int])], gc=True),
    "Enum": lambda: enum.Enum("Made", {"RED": "red"}),
}


def wire_of(cls):
    return TEXT if isinstance(cls, enum.EnumMeta) else MAP


def by_annotation(cls):
    """Run a job whose functions have the class in their annotations."""

    def mapper(key: int, value: cls):
        assert type(value) in (cls, dict)
        yield key, 1

    assert testing.run_job([(1, tb.loads(MAP))], mapper) == [(1, 1)]


def by_sequence_file(cls):
    file = io.BytesIO()
    with sequencefile.Writer(file, key_type=int, value_type=cls) as writer:
        writer.write(1, tb.loads(wire_of(cls), type=cls))
    list(sequencefile.Reader(file.getvalue(), key_type=int, value_type=cls))


def fed(cls):
    decoder = tb.Decoder(type=cls)
    decoder.feed(wire_of(cls)[:-1])
    assert list(decoder) == []


DOORS = {
    "loads": lambda cls: tb.loads(wire_of(cls), type=cls),
    "of several": lambda cls: tb.loads(b"\x09" + wire_of(cls) + b"\xff", type=list[cls]),
    "optional": lambda cls: tb.dumps(tb.loads(wire_of(cls), type=typing.Optional[cls]), type=typing.Optional[cls]),
    "Decoder": lambda cls: tb.Decoder(type=cls).decode_all(wire_of(cls)),
    "fed": fed,
    "Reader": lambda cls: list(tb.Reader(io.BytesIO(wire_of(cls)), type=cls)),
    "PairReader": lambda cls: list(tb.PairReader(tb.dumps(1) + wire_of(cls), key_type=int, value_type=cls)),
    "native": lambda cls: tb.dumps(tb.loads(wire_of(cls), type=cls)),
    "misfit": lambda cls: pytest.raises(tb.DecodeTypeError, tb.loads, tb.dumps(1.5), type=cls),
    "sequencefile": by_sequence_file,
    "columns": lambda cls: list(columns.read(wire_of(cls), type=cls)),
    "annotations": by_annotation,
}


@pytest.mark.parametrize("door", DOORS)
def test_a_new_class_each_time_is_freed(door):
    kinds, made = [KINDS[name] for name in KINDS if (door, name) != ("annotations", "Enum")], []
    for number in range(NCLASSES):
        cls = kinds[number % len(kinds)]()
        made.append(weakref.ref(cls))
        DOORS[door](cls)
    del cls
    gc.collect()
    alive = sum(each() is not None for each in made)
    assert alive <= NKEPT, f"{alive} of {NCLASSES} classes are still there"
