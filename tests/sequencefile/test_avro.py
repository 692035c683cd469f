"""Keys and values of Avro's serialization, by the schema in the header of the file.

Here: files that Avro's own code wrote, both ways; schemas and bytes that are wrong. Invariant: expected pairs are those
that the Java program set.
"""

import io
import json
import random
from math import inf, nan

import pytest

import typedbytes as tb
from support.commands import good
from support.vectors import names, read_jsonl
from typedbytes import columns, sequencefile

VECTORS = read_jsonl("sequencefile/avro.jsonl")
FILES = {each["name"]: bytes.fromhex(each["hex"]) for each in VECTORS}
AVRO = "org.apache.avro.mapred.Avro"


def pairs_of(vector):
    return eval(vector["pairs"], {"__builtins__": {"bytes": bytes}}, {"inf": inf, "nan": nan})


def written(schema, values, **how):
    """Return the bytes of a file of values by a schema."""
    sink = io.BytesIO()
    metadata = {"avro.value.schema": schema if isinstance(schema, str) else json.dumps(schema)}
    classes = {"key_class": "NullWritable", "value_class": f"{AVRO}Value", "metadata": metadata}
    with sequencefile.Writer(sink, **{**classes, **how}) as writer:
        for value in values:
            if isinstance(value, bytes):
                writer.write_raw(b"", value)
            else:
                writer.write(None, value)
    return sink.getvalue()


def values_of(data):
    return [value for _, value in sequencefile.Reader(data)]


@pytest.mark.parametrize("vector", VECTORS, ids=names(VECTORS))
def test_what_java_wrote_is_read(vector):
    assert repr(list(sequencefile.Reader(FILES[vector["name"]]))) == repr(pairs_of(vector))


@pytest.mark.parametrize("vector", VECTORS, ids=names(VECTORS))
def test_the_bytes_that_java_wrote_are_written(vector):
    with sequencefile.Reader(FILES[vector["name"]], raw=True) as reader:
        how = {name: getattr(reader, name) for name in ("key_class", "value_class", "metadata")}
        expected = list(reader)
    sink = io.BytesIO()
    with sequencefile.Writer(sink, **how) as writer:
        writer.writes(pairs_of(vector))
    assert list(sequencefile.Reader(sink.getvalue(), raw=True)) == expected


def test_columns_have_the_types_of_the_schema():
    (batch,) = columns.read(FILES["scalars by blocks"])
    assert batch.schema["value"] == (
        "struct<n: unknown, b: bool, i: int, l: long, f: float, d: double, data: bytes, s: string, e: string, x: bytes,"
        " again: bytes, maybe: string>"
    )
    assert batch.column("value.l").tolist() == [2**40, -(2**63)]
    assert batch.column("value.maybe").tolist() == [None, "RED"]
    (batch,) = columns.read(FILES["parts"])
    assert batch.schema["value"] == (
        "struct<ints: list<int>, counts: map<string, long>, any: raw, next: raw, day: int, at: long, price: string>"
    )
    assert [None if each is None else tb.loads(each) for each in batch.column("value.any").tolist()] == [
        "text", 2**33, 0.5, ["x", "y"],
    ]  # fmt: skip


def test_commands_have_the_values(file, tmp_path):
    path = file(FILES["parts"])
    lines = [json.loads(line) for line in good("to-json", "--plain", path).splitlines()]
    assert [dict(value)["ints"] for _, value in lines] == [[1, -64, 64, 2**30], [7], [], []]
    good("convert", "--to", "sequencefile", "--codec", "gzip", "-o", f"{tmp_path}/copy.seq", path)
    assert values_of((tmp_path / "copy.seq").read_bytes()) == values_of(FILES["parts"])


@pytest.mark.parametrize(
    "schema", ["", "[", "5", '"nothing"', '{"type": "record", "name": "R"}', '{"type": "array"}', "[" * 5000, "null",
               '{"type": "bytes", "logicalType": "decimal", "precision": 4, "scale": -1}'],
)  # fmt: skip
def test_a_schema_that_is_none_is_an_error_and_raw_bytes_are_read(schema):
    data = written(schema, [b"\2a"], encoders={f"{AVRO}Value": bytes})  # they look at no schema
    with pytest.raises(tb.FormatError, match="avro.value.schema is not a schema of Avro"):
        sequencefile.Reader(data)
    assert list(sequencefile.Reader(data, raw=True)) == [(b"", b"\2a")]


def test_without_a_schema_or_by_a_function_the_bytes_are_the_callers():
    classes = {"key_class": "NullWritable", "value_class": f"{AVRO}Value"}
    sink = io.BytesIO()
    with sequencefile.Writer(sink, **classes) as writer:
        writer.write_raw(b"", b"\2a")
    assert values_of(sink.getvalue()) == [tb.Writable(f"{AVRO}Value", b"\2a")]
    data = written('"string"', ["a"])
    assert [value for _, value in sequencefile.Reader(data, decoders={f"{AVRO}Value": bytes})] == [b"\2a"]


NESTED = {"type": "record", "name": "N", "fields": [{"name": "next", "type": ["null", "N"]}]}
EMPTY = {"type": "array", "items": {"type": "record", "name": "E", "fields": [{"name": "n", "type": "null"}]}}
DECIMAL = {"type": "fixed", "name": "D", "size": 2, "logicalType": "decimal", "precision": 4, "scale": 1}


def doubled(kind, nlevels=40):
    """Return a schema of a few lines, whose records have two fields of the record before: 2**n values in all."""
    schema = kind
    for level in range(nlevels):
        fields = [{"name": "x", "type": schema}, {"name": "y", "type": f"R{level - 1}" if level else kind}]
        schema = {"type": "record", "name": f"R{level}", "fields": fields}
    return schema


WRONG = [
    ("int", b"\xff\xff\xff\xff\x1f", "does not fit in 32 bits"),
    ("long", b"\xff" * 9 + b"\x7f", "does not fit in 64 bits"),
    ("long", b"\x80" * 3, "a number ends early"),
    ("boolean", b"\2", "a boolean of 2"),
    ("string", b"\x0eab", "expected 7 bytes, found 2"),
    ("string", b"\1", "negative length -1"),
    ("string", b"\2\xff", "not UTF-8"),
    ({"type": "enum", "name": "E", "symbols": ["A"]}, b"\2", "symbol 1 of an enum of 1"),
    (["null", "int"], b"\4", "member 2 of a union of 2"),
    ({"type": "array", "items": "int"}, b"\xfe\xff\xff\xff\x0f\0", "a count of 2147483647, with 1 bytes left"),
    ({"type": "map", "values": "null"}, b"\xfe\xff\xff\xff\x0f\0", "a count of 2147483647, with 1 bytes left"),
    (EMPTY, b"\xfe\xff\xff\xff\x0f\0", "more than 65536 values without bytes"),
    (EMPTY, (b"\xfe\xff\x07" * 2) + b"\0", "more than 65536 values without bytes"),
    (doubled("null"), b"", "more than 65536 values without bytes"),
    (doubled("int"), b"\2" * 100, "a number ends early"),
    (doubled({"type": "array", "items": "int"}), b"\2", "a count of 1, with 0 bytes left"),
    (NESTED, b"\2" * 500 + b"\0", "nest deeper"),
    ({"type": "bytes", "logicalType": "decimal", "precision": 4}, b"\0", "a decimal of 0 bytes"),
    ("int", b"\2\2", "left after the last field"),
]


@pytest.mark.parametrize("schema, data, message", WRONG)
def test_bytes_that_are_wrong_are_refused(schema, data, message):
    reader = sequencefile.Reader(written(schema if isinstance(schema, (dict, list)) else f'"{schema}"', [data]))
    with pytest.raises(tb.DecodeError, match=message):
        reader.read()


@pytest.mark.parametrize("seed", range(4))
def test_any_bytes_are_values_or_an_error_of_the_data(seed):
    rng = random.Random(seed)
    with sequencefile.Reader(FILES["parts"], raw=True) as reader:
        schema, good_ones = reader.metadata["avro.value.schema"], [value for _, value in reader]
    for _ in range(300):
        data = bytearray(rng.choice(good_ones))
        for _ in range(rng.randrange(3)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            values_of(written(schema, [bytes(data[: rng.randrange(1, len(data) + 1)])]))
        except tb.DecodeError:
            pass


@pytest.mark.parametrize(
    "schema, value",
    [
        ('"int"', 2**31), ('"int"', True), ('"long"', 2**63), ('"string"', 5), ('"null"', 0), ('"float"', 1e300),
        ('{"type": "enum", "name": "E", "symbols": ["A"]}', "B"), (DECIMAL, "1.25"), (DECIMAL, "99999"), (DECIMAL, 5),
        ({"type": "map", "values": "int"}, {5: 5}), ({"type": "array", "items": "int"}, "text"),
        (NESTED, {"other": None}), (NESTED, {"next": {"next": 5}}), (["null", "int"], "text"),
    ],
)  # fmt: skip
def test_values_that_do_not_fit_are_refused(schema, value):
    with pytest.raises(tb.EncodeError):
        written(schema, [value])


def test_a_union_has_the_first_type_that_fits():
    union = ["null", "int", "long", "float", "double", "string"]
    values = [None, 1, tb.Long(1), 2**40, tb.Float(1.5), 0.1, "a"]
    assert [raw[0] for _, raw in sequencefile.Reader(written(union, values), raw=True)] == [0, 2, 4, 4, 6, 8, 10]
    assert values_of(written(union, values)) == values
    hive = written(union, values, dialect="hive")
    assert values_of(hive) == values


def test_decimals_are_text():
    assert values_of(written(DECIMAL, ["-0.1", "12", "0.0"])) == ["-0.1", "12.0", "0.0"]


def test_names_are_found_in_their_namespaces():
    inner = {"type": "fixed", "name": "F", "size": 1}
    schema = {
        "type": "record", "name": "a.b.R", "fields": [
            {"name": "x", "type": inner}, {"name": "y", "type": "a.b.F"}, {"name": "z", "type": "F"},
            {"name": "w", "type": {"type": "record", "name": "S", "namespace": "c", "fields": [
                {"name": "v", "type": {"type": "enum", "name": "F", "symbols": ["A"]}}, {"name": "u", "type": "F"}]}},
        ],
    }  # fmt: skip
    value = {"x": b"1", "y": b"2", "z": b"3", "w": {"v": "A", "u": "A"}}
    assert values_of(written(schema, [value])) == [value]
