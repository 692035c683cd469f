"""Keys and values of a type: record classes in typed bytes, and what fits the other Writables.

Here: bytes as Hadoop writes them. Invariant: what a Writer with types writes, a Reader without them reads as plain
values.
"""

import dataclasses
import datetime as dt
import decimal
import enum
import io
import typing
import uuid

import numpy
import pytest

import typedbytes as tb
from support.sequencefiles import files, kinds
from typedbytes import sequencefile

DAY = dt.date(2026, 5, 1)
DAYS = (DAY - dt.date(1970, 1, 1)).days


class Visit(typing.NamedTuple):
    user: str
    day: dt.date


@dataclasses.dataclass
class Entries:
    a: str
    b: int
    c: typing.Optional[float] = None


class Colour(enum.Enum):
    RED = "red"


VISITS = [Visit("ann", DAY), Visit("", dt.date(1969, 12, 31))]
PLAIN = [("ann", DAYS), ("", -1)]


@pytest.mark.parametrize("key_class", ["TypedBytesWritable", "Text", "NullWritable"])
@pytest.mark.parametrize("compression", ["none", "record", "block"])
def test_records_in_typed_bytes(compression, key_class):
    key_type, keys = {
        "TypedBytesWritable": (Visit, VISITS), "Text": (typing.Literal["x", "y"], ["x", "y"]),
        "NullWritable": (typing.Optional[str], [None] * 2),
    }[key_class]  # fmt: skip
    types = {"key_type": key_type, "value_type": Visit}
    file = io.BytesIO()
    with sequencefile.Writer(file, key_class=key_class, compression=compression, **types) as writer:
        writer.writes(zip(keys, VISITS))
    plain = PLAIN if keys is VISITS else keys
    assert list(sequencefile.Reader(file.getvalue())) == list(zip(plain, PLAIN))
    found = list(sequencefile.Reader(file.getvalue(), **types))
    assert found == list(zip(keys, VISITS))
    assert {type(value) for _, value in found} == {Visit}
    read_value = sequencefile.Reader(file.getvalue(), value_type=Visit)
    assert read_value.read()[1] == VISITS[0] and type(read_value.read()[1]) is Visit


TYPES = {
    "typed": (typing.Any, typing.Any),
    "text-int": (str, int),
    "vint-vlong": (int, int),
    "short-float": (int, float),
    "long-text": (int, str),
    "bytes-double": (bytes, float),
    "byte-boolean": (int, bool),
    "null-null": (None, None),
    "int-sortedmap": (int, dict),
}


@pytest.mark.parametrize("form", ["none", "gzip-record", "gzip-block"])
@pytest.mark.parametrize("kind", TYPES)
def test_what_hadoop_wrote_fits_the_types_of_its_classes(kind, form):
    data = files()[f"{form}/{kind}"]
    key_type, value_type = TYPES[kind]
    found = sequencefile.Reader(data, key_type=key_type, value_type=value_type).read_all()
    assert list(map(repr, found)) == list(map(repr, sequencefile.Reader(data)))


@pytest.mark.parametrize("kind", TYPES)
def test_as_typed_bytes_they_are_what_hadoop_makes_of_them(kind):
    key_type, value_type = TYPES[kind]
    typed = sequencefile.Reader(files()[f"none/{kind}"], key_type=key_type, value_type=value_type)
    assert typed.read_typed(1 << 20) == sequencefile.Reader(files()[f"none/{kind}"]).read_typed(1 << 20)


def test_a_map_is_a_record():
    data = files()["none/int-sortedmap"]
    first = kinds()["int-sortedmap"]["records"][0]["value"]["map"]
    assert first == [[{"string": "a"}, {"string": "first"}], [{"string": "b"}, {"number": "1000"}]]
    key, entries = sequencefile.Reader(data, value_type=Entries).read()
    assert entries == Entries("first", 1000)


VALUES = [
    ("Text", "0a323032362d30352d3031", dt.date, DAY),
    ("Text", "13323032362d30352d30315431323a30303a3030", dt.datetime, dt.datetime(2026, 5, 1, 12)),
    ("Text", "04312e3530", decimal.Decimal, decimal.Decimal("1.50")),
    ("Text", "2430303030303030302d303030302d303030302d303030302d303030303030303030303035", uuid.UUID, uuid.UUID(int=5)),
    ("Text", "03726564", Colour, Colour.RED),
    ("Text", "03524544", Colour, Colour.RED),
    ("IntWritable", "0000505e", dt.date, DAY),
    ("LongWritable", "00000000000f4240", dt.datetime, dt.datetime(1970, 1, 1, 0, 0, 1)),
    ("IntWritable", "00000005", float, 5.0),
    ("IntWritable", "00000005", tb.Byte, tb.Byte(5)),
    ("FloatWritable", "3fc00000", float, 1.5),
    ("BytesWritable", "0000001000000000000000000000000000000005", uuid.UUID, uuid.UUID(int=5)),
    ("ShortWritable", "fffe", int, -2),
    ("NullWritable", "", typing.Optional[Visit], None),
    ("org.apache.hadoop.typedbytes.TypedBytesWritable", "00000012080000000207000000036d6d6d030000505e", Visit,
     Visit("mmm", DAY)),
]  # fmt: skip


@pytest.mark.parametrize("name, data, kind, value", VALUES)
def test_values_of_hadoops_classes(name, data, kind, value):
    found = sequencefile.decode(name, bytes.fromhex(data), type=kind)
    assert (found, type(found)) == (value, type(value))


WRITTEN = [
    ("Text", typing.Annotated[dt.date, tb.records.Text], DAY, "0a323032362d30352d3031"),
    ("Text", decimal.Decimal, decimal.Decimal("1.50"), "04312e3530"),
    ("Text", Colour, Colour.RED, "03726564"),
    ("IntWritable", dt.date, DAY, "0000505e"),
    ("LongWritable", dt.datetime, dt.datetime(1970, 1, 1, 0, 0, 1), "00000000000f4240"),
    ("BytesWritable", uuid.UUID, uuid.UUID(int=5), "0000001000000000000000000000000000000005"),
    ("DoubleWritable", float, 2, "4000000000000000"),
    ("NullWritable", type(None), None, ""),
    ("NullWritable", typing.Optional[str], None, ""),
    ("NullWritable", typing.Any, None, ""),
]


@pytest.mark.parametrize("name, kind, value, data", WRITTEN)
def test_values_are_written_as_hadoops_classes(name, kind, value, data):
    for dialect in ("hadoop", "hive"):
        assert sequencefile.encode(name, value, type=kind, dialect=dialect).hex() == data


def test_a_value_that_does_not_fit_has_its_record_and_path():
    file = io.BytesIO()
    with sequencefile.Writer(file, key_class="Text") as writer:
        writer.writes([("a", ("ann", DAYS)), ("b", ("bob", "no day"))])
    reader = sequencefile.Reader(file.getvalue(), value_type=Visit)
    assert reader.read() == ("a", Visit("ann", DAY))
    with pytest.raises(tb.DecodeTypeError) as caught:
        reader.read()
    error = caught.value
    assert (error.message, error.path, error.record) == ('expected date, found STRING "no day"', ".day", 1)
    assert file.getvalue()[error.offset :].startswith(b"\x07\0\0\0\x06no day")

    reader = sequencefile.Reader(file.getvalue(), key_type=int, resync=True)
    assert reader.read_all() == []
    assert [str(each.error.message) for each in reader.skipped] == [
        'expected int, found STRING "a"',
        'expected int, found STRING "b"',
    ]
    start = file.getvalue().index(b"\x01a")
    assert reader.skipped[0].error.offset == start


def test_text_of_numbers_needs_leniency():
    data = sequencefile.encode("Text", "31")
    assert sequencefile.decode("Text", data, type=int, strict=False) == 31
    with pytest.raises(tb.DecodeTypeError, match='expected int, found STRING "31"'):
        sequencefile.decode("Text", data, type=int)


def test_functions_for_classes_are_called_inside():
    file = io.BytesIO()
    coders = {"encoders": {"my.Day": str.encode}, "value_type": typing.Annotated[dt.date, tb.records.Text]}
    with sequencefile.Writer(file, key_class="NullWritable", value_class="my.Day", **coders) as writer:
        writer.write(None, DAY)
    decoders = {"my.Day": bytes.decode}
    assert sequencefile.Reader(file.getvalue(), decoders=decoders).read() == (None, "2026-05-01")
    assert sequencefile.Reader(file.getvalue(), decoders=decoders, value_type=dt.date).read() == (None, DAY)


VALUES_OF_ANY_TYPE = [
    None, {"a": None, "b": [(None, "x")], None: 1}, DAY, {DAY: decimal.Decimal("1.5")}, 1 << 70, {1, 2}, tb.Long(5),
    {"n": tb.Float(0.5)}, tb.Ext(60, b"x"), [tb.Ext(100, b"no pickle")], numpy.arange(3),
]  # fmt: skip


@pytest.mark.parametrize("dialect", ["hadoop", "hive"])
@pytest.mark.parametrize("value", VALUES_OF_ANY_TYPE, ids=repr)
def test_functions_for_classes_get_the_value(value, dialect):
    """Not the bytes of the pickle, or of the array, that it is in typed bytes."""
    found = []
    encoders = {"my.Class": lambda obj: found.append(obj) or b""}
    sequencefile.encode("my.Class", value, type=typing.Any, encoders=encoders, dialect=dialect)
    assert repr(found) == repr([value])


def test_a_value_may_nest_as_deep_as_max_depth():
    value = deep = []
    for _ in range(400):
        deep.append([])
        deep = deep[0]
    encoders = {"my.Class": lambda obj: repr(obj).encode()}
    how = {"type": typing.Any, "max_depth": 500}
    written = sequencefile.encode("my.Class", value, encoders=encoders, **how)
    assert written == repr(value).encode()
    assert sequencefile.decode("my.Class", written, decoders={"my.Class": lambda _: value}, **how) == value


def test_none_does_not_fit_other_classes():
    with pytest.raises(tb.EncodeTypeError, match="expected a str for a Text, not NoneType"):
        sequencefile.encode("Text", None, type=typing.Optional[str])


@pytest.mark.parametrize("make", [sequencefile.Reader, sequencefile.Writer])
def test_the_type_of_a_single_value_is_refused(make):
    with pytest.raises(TypeError, match="a SequenceFile has pairs: give key_type= and value_type=, not type="):
        make(io.BytesIO(), type=Visit)


def test_what_is_written_has_to_fit():
    file = io.BytesIO()
    with sequencefile.Writer(file, key_class="Text", value_type=Visit, omit_none=True) as writer:
        with pytest.raises(tb.EncodeTypeError, match="expected date, found int 5"):
            writer.write("a", Visit("ann", 5))
        writer.write("b", Visit("ann", DAY))
    assert sequencefile.Reader(file.getvalue()).read_all() == [("b", ("ann", DAYS))]
