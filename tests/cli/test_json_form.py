"""The JSON form: both directions of every kind, what it refuses, and that nothing is lost on any valid value."""

import base64
import datetime
import decimal
import json
import pathlib
import pickle
import re
import struct
import subprocess
import sys
import unicodedata
import uuid

import pytest
from hypothesis import given, settings, strategies as st

import typedbytes as tb
from support import json_reference
from typedbytes import LimitError, TruncatedError
from typedbytes._report import _native as _report
from typedbytes.cli._failure import Failure
from typedbytes.cli._forms.json_form import JsonFormError, dump_line, encoded_lines, from_tree, load_line, to_tree
from typedbytes.cli._output.terminal import indented

pytestmark = pytest.mark.quick

VECTORS = pathlib.Path(__file__).parents[2] / "test_vectors"
NONE_PICKLE = "64 00000004 80024e2e"


def string(text):
    payload = text if isinstance(text, bytes) else text.encode()
    return b"\x07" + struct.pack(">i", len(payload)) + payload


def vector(*items):
    return b"\x08" + struct.pack(">i", len(items)) + b"".join(items)


def map_(*pairs):
    return b"\x0a" + struct.pack(">i", len(pairs)) + b"".join(key + value for key, value in pairs)


def integer(number):
    return b"\x03" + struct.pack(">i", number)


A, B = string("a"), string("b")

# What is encoded (hex or bytes) and its one line of JSON, in both directions.
KINDS = [
    ("00 00000000", '{"bytes": ""}'),
    ("00 00000002 00ff", '{"bytes": "AP8="}'),
    ("01 80", '{"byte": -128}'),
    ("01 7f", '{"byte": 127}'),
    ("02 00", "false"),
    ("02 01", "true"),
    ("02 02", '{"bool": 2}'),
    ("02 ff", '{"bool": 255}'),
    ("03 80000000", "-2147483648"),
    ("03 00000000", "0"),
    ("03 7fffffff", "2147483647"),
    ("04 0000000000000005", '{"long": 5}'),
    ("04 000000007fffffff", '{"long": 2147483647}'),
    ("04 0000000080000000", "2147483648"),
    ("04 ffffffff80000000", '{"long": -2147483648}'),
    ("04 ffffffff7fffffff", "-2147483649"),
    ("04 0020000000000001", "9007199254740993"),
    ("04 8000000000000000", "-9223372036854775808"),
    ("04 7fffffffffffffff", "9223372036854775807"),
    ("05 3fc00000", '{"float": 1.5}'),
    ("05 80000000", '{"float": -0.0}'),
    ("05 3dcccccd", '{"float": 0.10000000149011612}'),
    ("05 00000001", '{"float": 1.401298464324817e-45}'),
    ("05 7f7fffff", '{"float": 3.4028234663852886e+38}'),
    ("05 7f800000", '{"float": "inf"}'),
    ("05 ff800000", '{"float": "-inf"}'),
    ("05 7fc00000", '{"float": "nan:7fc00000"}'),
    ("05 7f800001", '{"float": "nan:7f800001"}'),
    ("05 ffffffff", '{"float": "nan:ffffffff"}'),
    ("06 3ff0000000000000", "1.0"),
    ("06 8000000000000000", "-0.0"),
    ("06 4341c37937e08000", "1e+16"),
    ("06 0000000000000001", "5e-324"),
    ("06 7fefffffffffffff", "1.7976931348623157e+308"),
    ("06 7ff0000000000000", '{"double": "inf"}'),
    ("06 fff0000000000000", '{"double": "-inf"}'),
    ("06 7ff8000000000001", '{"double": "nan:7ff8000000000001"}'),
    ("06 7ff0000000000001", '{"double": "nan:7ff0000000000001"}'),
    (string(""), '""'),
    (string('"\\/\b\n\r\t\0'), '"\\"\\\\/\\b\\n\\r\\t\\u0000"'),
    (string("h\u00e9 \u20ac \U0001f600"), '"h\u00e9 \u20ac \U0001f600"'),
    (string("\x1b[2J\x7f\x9b\u2028\u202e\u2066"), '"\\u001b[2J\\u007f\\u009b\\u2028\\u202e\\u2066"'),
    (string(b"\xff"), '{"string": "/w=="}'),
    (string(b"\xed\xa0\x80"), '{"string": "7aCA"}'),
    ("08 00000000", '{"vector": []}'),
    (vector(A, vector(B)), '{"vector": ["a", {"vector": ["b"]}]}'),
    ("09 ff", "[]"),
    (b"\x09" + A + b"\x09\xff\xff", '["a", []]'),
    (map_(), "{}"),
    (map_((A, B)), '{"a": "b"}'),
    (map_((B, A), (A, B)), '{"b": "a", "a": "b"}'),
    (map_((A, A), (A, B)), '{"map": [["a", "a"], ["a", "b"]]}'),
    (map_((integer(1), A), (A, B)), '{"map": [[1, "a"], ["a", "b"]]}'),
    (map_((b"\x09\xff", map_((map_(), A)))), '{"map": [[[], {"map": [[{}, "a"]]}]]}'),
    (map_((string(b"\xff"), A)), '{"map": [[{"string": "/w=="}, "a"]]}'),
    (map_((string("bytes"), A)), '{"map": [["bytes", "a"]]}'),
    (map_((string("map"), b"\x09\xff")), '{"map": [["map", []]]}'),
    (map_((string("bytes"), A), (string("map"), B)), '{"bytes": "a", "map": "b"}'),
    (map_((string("int"), A)), '{"int": "a"}'),
    ("32 00000004 00000000", '{"writable": ["", ""]}'),
    ("32 00000008 00000003 c3a978 05", '{"writable": ["\u00e9x", "BQ=="]}'),
    ("32 00000000", '{"ext": [50, ""]}'),
    ("32 00000004 ffffffff", '{"ext": [50, "/////w=="]}'),
    ("32 00000005 00000002 61", '{"ext": [50, "AAAAAmE="]}'),
    ("32 00000005 00000001 ff", '{"ext": [50, "AAAAAf8="]}'),
    ("33 00000000", '{"ext": [51, ""]}'),
    ("90 00000001 07", '{"ext": [144, "Bw=="]}'),
    ("b1 00000000", '{"ext": [177, ""]}'),
    ("c8 00000001 00", '{"ext": [200, "AA=="]}'),
    ("65 00000001 61", '{"ext": [101, "YQ=="]}'),
    ("64 00000003 80024e", '{"ext": [100, "gAJO"]}'),
    (NONE_PICKLE, "null"),
    (vector(bytes.fromhex(NONE_PICKLE)), '{"vector": [null]}'),
]
HIVE_KINDS = [
    ("0b 8000", '{"short": -32768}'),
    ("0c", "null"),
    ("b1", '{"ext": [177, ""]}'),
    (NONE_PICKLE, '{"ext": [100, "gAJOLg=="]}'),
    (b"\x09\x0c\xb1\x0b\x00\x01\xff", '[null, {"ext": [177, ""]}, {"short": 1}]'),
    ("03 00000001", "1"),
]


def raw(encoded):
    return bytes.fromhex(encoded) if isinstance(encoded, str) else encoded


ALL_KINDS = [("hadoop", raw(encoded), line) for encoded, line in KINDS]
ALL_KINDS += [("hive", raw(encoded), line) for encoded, line in HIVE_KINDS]


@pytest.mark.parametrize("dialect, encoded, line", ALL_KINDS)
def test_kind_to_json(dialect, encoded, line):
    assert _report.lines(encoded, dialect=dialect).decode() == line + "\n"
    assert dump_line(to_tree(encoded, dialect)) == line == json_reference.line(encoded, dialect)


@pytest.mark.parametrize("dialect, encoded, line", ALL_KINDS)
def test_kind_from_json(dialect, encoded, line):
    assert from_tree(load_line(line.encode()), dialect) == encoded


# JSON that to-json does not write and from-json takes.
@pytest.mark.parametrize(
    "line, encoded",
    [
        ("-0", "03 00000000"),
        ("1E2", "06 4059000000000000"),
        ('{"double": 2}', "06 4000000000000000"),
        ('{"double": 2.5}', "06 4004000000000000"),
        ('{"double": "nan:7FF8000000000001"}', "06 7ff8000000000001"),
        ('{"float": 2}', "05 40000000"),
        ('{"float": 0.1}', "05 3dcccccd"),
        ('{"float": 1e-50}', "05 00000000"),
        ('{"bool": 1}', "02 01"),
        ('{"long": 5000000000}', "04 000000012a05f200"),
        ('{"string": "YQ=="}', string("a")),
        ('{"map": []}', map_()),
        ('{"map": [["a", "b"]]}', map_((A, B))),
        ('"\\u0061"', A),
        ('"\\ud83d\\ude00"', string("\U0001f600")),
        (" [ ] \r\n", "09 ff"),
    ],
)
def test_other_spellings(line, encoded):
    assert from_tree(load_line(line.encode())) == raw(encoded)


@pytest.mark.parametrize(
    "line, message",
    [
        ("", "not JSON at column 1: Expecting value"),
        ("[1", "not JSON at column 3"),
        ("1 2", "not JSON at column 3: Extra data"),
        ("'a'", "not JSON at column 1"),
        ('"\x01"', "not JSON at column 2"),
        (b'"\xff"', "not JSON: 'utf-8' codec"),
        (b"\xff\xfe1\x00", "not JSON: 'utf-8' codec"),
        ("\ufeff1", "not JSON"),
        ("NaN", "NaN is not JSON"),
        ("-Infinity", "-Infinity is not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, ""),
        ('{"a": 1, "a": 2}', "a name occurs twice"),
        ('"\\ud800"', "half a surrogate pair"),
        ('{"\\udfff": 1}', "half a surrogate pair"),
        ("9223372036854775808", "an integer of 64 bits"),
        ("-9223372036854775809", "an integer of 64 bits"),
        ("1e999", "a number in the range of 64 bits"),
        ('{"bytes": 5}', "base64 text"),
        ('{"bytes": "A"}', "base64 text"),
        ('{"bytes": "AP8"}', "base64 text"),
        ('{"bytes": "AP8=\\n"}', "base64 text"),
        ('{"bytes": "A-8="}', "base64 text"),
        ('{"string": null}', "base64 text"),
        ('{"byte": 128}', "an integer of 8 bits"),
        ('{"byte": true}', "an integer of 8 bits"),
        ('{"byte": 1.0}', "an integer of 8 bits"),
        ('{"bool": 256}', "an integer from 0 to 255"),
        ('{"bool": false}', "an integer from 0 to 255"),
        ('{"long": "5"}', "an integer of 64 bits"),
        ('{"float": 1e39}', "a number in the range of 32 bits"),
        ('{"float": 1%s}' % ("0" * 400), "a number in the range of 32 bits"),
        ('{"float": "nan"}', "its bits in hex"),
        ('{"float": "nan:7f800000"}', "the bits of a NaN"),
        ('{"float": "nan:7ff8000000000001"}', "its bits in hex"),
        ('{"double": "infinity"}', "its bits in hex"),
        ('{"double": "nan:7ff800000000000g"}', "its bits in hex"),
        ('{"double": true}', "its bits in hex"),
        ('{"vector": {}}', "an array of values"),
        ('{"map": {}}', "an array of [key, value] arrays"),
        ('{"map": [["a"]]}', "an array of [key, value] arrays"),
        ('{"map": ["ab"]}', "an array of [key, value] arrays"),
        ('{"writable": ["a"]}', 'an array ["class", "base64"]'),
        ('{"writable": [1, ""]}', 'an array ["class", "base64"]'),
        ('{"writable": ["a", 1]}', "base64 text"),
        ('{"writable": ["\\ud800", ""]}', "half a surrogate pair"),
        ('{"ext": [49, ""]}', "an application code"),
        ('{"ext": [201, ""]}', "an application code"),
        ('{"ext": [true, ""]}', 'an array [code, "base64"]'),
        ('{"ext": 51}', 'an array [code, "base64"]'),
        ('{"short": 1}', "no code outside Hive's dialect"),
    ],
)
def test_refused(line, message):
    line = line if isinstance(line, bytes) else line.encode()
    with pytest.raises(JsonFormError) as caught:
        from_tree(load_line(line))
    assert message in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("line", ['{"short": 32768}', '{"ext": [177, "AA=="]}', '{"ext": [11, "AAE="]}'])
def test_refused_in_hive(line):
    with pytest.raises(JsonFormError):
        from_tree(load_line(line.encode()), "hive")


# Depth: as deep as a Reader goes and no deeper, in the kinds that cost the most brackets.


def deep_list(depth):
    return b"\x09" * depth + b"\xff" * depth


def deep_vector(depth):
    return b"\x08\x00\x00\x00\x01" * (depth - 1) + b"\x08\x00\x00\x00\x00"


def deep_value(depth):
    return b"\x0a\x00\x00\x00\x01\x01\x05" * (depth - 1) + b"\x0a\x00\x00\x00\x00"


def deep_key(depth):
    return b"\x0a\x00\x00\x00\x01" * (depth - 1) + b"\x0a\x00\x00\x00\x00" + b"\x01\x05" * (depth - 1)


@pytest.mark.parametrize("deep", [deep_list, deep_vector, deep_value, deep_key])
def test_depth(deep):
    encoded = deep(256)
    assert from_tree(load_line(dump_line(to_tree(encoded)).encode())) == encoded
    with pytest.raises(LimitError, match="nest deeper than max_depth=256"):
        _report.lines(deep(257))
    with pytest.raises(JsonFormError, match="nested deeper than 256 values"):
        from_tree(json_reference.to_tree(deep(257)))


# Any structurally valid value, built from the format's description and not by our own encoder.

payloads = st.binary(max_size=20)


def sized(code, payload):
    return bytes([code]) + struct.pack(">i", len(payload)) + payload


def fixed(code, nbytes):
    return st.binary(min_size=nbytes, max_size=nbytes).map(bytes([code]).__add__)


scalars = st.one_of(
    st.builds(sized, st.just(0), payloads),
    fixed(1, 1),
    fixed(2, 1),
    st.sampled_from([b"\x02\x00", b"\x02\x01", bytes.fromhex(NONE_PICKLE)]),
    fixed(3, 4),
    fixed(4, 8),
    st.integers(-(2**31) - 2, 2**31 + 1).map(lambda number: b"\x04" + struct.pack(">q", number)),
    fixed(5, 4),
    st.floats(width=32).map(lambda number: b"\x05" + struct.pack(">f", number)),
    fixed(6, 8),
    st.floats().map(lambda number: b"\x06" + struct.pack(">d", number)),
    st.builds(sized, st.just(7), payloads),
    st.text(max_size=20).map(lambda text: sized(7, text.encode())),
    st.sampled_from(["bytes", "map", "double", "ext", "a", ""]).map(string),
    st.builds(sized, st.integers(51, 200), payloads),
    st.builds(lambda name, rest: sized(50, sized(0, name.encode())[1:] + rest), st.text(max_size=9), payloads),
)


def containers(values):
    items = st.lists(values, max_size=4)
    pairs = st.lists(st.tuples(values, values), max_size=4)
    named = st.lists(st.tuples(st.sampled_from("ab").map(string), values), max_size=2)
    return st.one_of(
        items.map(lambda items: vector(*items)),
        items.map(lambda items: b"\x09" + b"".join(items) + b"\xff"),
        (pairs | named).map(lambda pairs: map_(*pairs)),
    )


values = st.recursive(scalars, containers, max_leaves=12)


@settings(deadline=None)
@given(values)
def test_nothing_is_lost(encoded):
    line = _report.lines(encoded).decode()[:-1]
    assert line == json_reference.line(encoded)
    assert not any(unicodedata.category(each) == "Cc" for each in line)
    json.loads(line)
    assert from_tree(load_line(line.encode())) == encoded


def test_escapes_of_any_number():
    for n in range(300):
        encoded = string("\x01" * n + "\u2028" * (n % 7))
        assert _report.lines(encoded).decode() == json_reference.line(encoded) + "\n"


@pytest.mark.parametrize(
    "names",
    [("ab", "a"), ("a", "ab"), ("", "a"), ("b" * 300, "b" * 44), tuple("abcdefghij"[:n] for n in range(10, 0, -1))],
)
def test_a_name_that_is_the_beginning_of_another(names):
    encoded = map_(*((string(name), B) for name in names))
    assert json.loads(_report.lines(encoded)) == dict.fromkeys(names, "b")


@pytest.mark.parametrize("nnames", [8, 9, 40])
def test_a_name_that_is_twice_among_many(nnames):
    pairs = [(string(f"name {number}"), B) for number in range(nnames)]
    for index in range(nnames):
        encoded = map_(*pairs, pairs[index])
        assert _report.lines(encoded).decode() == json_reference.line(encoded) + "\n"


leaves = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
names = st.sampled_from(["bytes", "vector", "map", "double", "a"])


@settings(deadline=None)
@given(st.recursive(leaves, lambda trees: st.lists(trees) | st.dictionaries(names, trees), max_leaves=12))
def test_any_json_is_taken_or_refused(tree):
    lines = [("here", json.dumps(tree).encode())]
    if "NaN" in str(lines) or "Infinity" in str(lines):
        return
    try:
        encoded = from_tree(tree)
    except JsonFormError as error:
        with pytest.raises(Failure, match=f"^here: {re.escape(str(error))}$"):
            list(encoded_lines(lines))
        return
    assert from_tree(to_tree(encoded)) == encoded
    assert list(encoded_lines(lines)) == [encoded]


@settings(deadline=None)
@given(st.recursive(leaves, lambda trees: st.lists(trees) | st.dictionaries(names, trees), max_leaves=12))
def test_any_plain_json_is_taken_or_refused(tree):
    lines = [("here", json.dumps([tree, tree]).encode())]
    try:
        expected = from_tree(tree, plain=True) * 2
        (found,) = encoded_lines(lines, pairs=True, plain=True)
    except (JsonFormError, Failure):
        with pytest.raises((JsonFormError, Failure)):
            list(encoded_lines(lines, pairs=True, plain=True))
    else:
        assert found == expected


def test_names_with_escapes_may_be_tags():
    for line in (
        b'{"byt\\u0065": 5}',
        b'{ "long"\t: 5}',
        b'[{"a": {"\\u0062ytes": "AA=="}}]',
        b'{"a": "{\\"bytes\\": 1}"}',
    ):
        assert list(encoded_lines([("here", line)])) == [from_tree(load_line(line))]


@settings(max_examples=100)
@given(st.lists(st.recursive(leaves, lambda trees: st.lists(trees) | st.dictionaries(names, trees), max_leaves=12)))
def test_indented_json_is_that_of_the_json_module(trees):
    lines = "".join(f"{json.dumps(tree)}\n" for tree in trees)
    assert indented(lines) == "".join(f"{json.dumps(tree, indent=2)}\n" for tree in trees)


# Plain JSON, which loses types.


@pytest.mark.parametrize(
    "encoded, line",
    [
        ("00 00000002 6869", '"hi"'),
        ("00 00000002 00ff", '"AP8="'),
        ("65 00000001 61", '"a"'),
        ("01 80", "-128"),
        ("02 05", "true"),
        ("04 0000000000000005", "5"),
        ("05 3dcccccd", "0.1"),
        ("05 3f800000", "1.0"),
        ("05 7f7fffff", "3.4028235e+38"),
        ("05 7fc00000", "null"),
        ("06 fff0000000000000", "null"),
        (vector(A, integer(1)), '["a", 1]'),
        (map_((string("bytes"), A)), '{"bytes": "a"}'),
        (map_((integer(1), A), (b"\x02\x01", B)), '{"1": "a", "true": "b"}'),
        (map_((vector(A), B)), '{"[\\"a\\"]": "b"}'),
        ("32 00000004 00000000", '"AAAAAA=="'),
        (tb.dumps(tb.Writable("org.apache.hadoop.io.NullWritable")).hex(), "null"),
        (
            tb.dumps(tb.Writable("org.apache.hadoop.io.NullWritable", b"a")).hex(),
            '"AAAAIW9yZy5hcGFjaGUuaGFkb29wLmlvLk51bGxXcml0YWJsZWE="',
        ),
        ("90 00000001 07", '"Bw=="'),
        (NONE_PICKLE, "null"),
    ],
)
def test_plain(encoded, line):
    assert _report.lines(raw(encoded), plain=True).decode() == line + "\n"


@pytest.mark.parametrize(
    "value, line",
    [
        (datetime.date(2020, 1, 2), '"2020-01-02"'),
        (datetime.time(1, 2, 3), '"01:02:03"'),
        (datetime.datetime(2020, 1, 2, 3, 4, 5, 6, datetime.timezone.utc), '"2020-01-02T03:04:05.000006+00:00"'),
        (datetime.timedelta(days=1, seconds=2), '"1 day, 0:00:02"'),
        (decimal.Decimal("12.50"), "12.50"),
        (decimal.Decimal("-1E+400"), "-1E+400"),
        (decimal.Decimal("NaN"), "null"),
        (decimal.Decimal("Infinity"), "null"),
        (2**70, "1180591620717411303424"),
        (1 - 10**4300, "-" + "9" * 4300),
        (uuid.UUID(int=5), '"00000000-0000-0000-0000-000000000005"'),
        ({decimal.Decimal("1.0"): [datetime.date(1, 1, 1)]}, '{"1.0": ["0001-01-01"]}'),
    ],
)
def test_plain_pickles(value, line):
    encoded = tb.dumps(value)
    assert _report.lines(encoded, plain=True).decode() == line + "\n"


@pytest.mark.parametrize(
    "payload",
    [
        *map(pickle.dumps, [{1, 2}, 1j, 10**4300, -(10**4300)]),
        b"cos\nsystem\n(S'true'\ntR.", b"not one", b"", b"I" + b"9" * 5000 + b"\n.",
    ],
)  # fmt: skip
def test_plain_pickles_that_have_no_form(payload):
    encoded = b"\x64" + struct.pack(">i", len(payload)) + payload
    assert json.loads(_report.lines(encoded, plain=True)) == base64.b64encode(payload).decode()


def test_plain_json_is_taken_as_it_is():
    assert from_tree({"bytes": "AA=="}, plain=True) == map_((string("bytes"), string("AA==")))
    assert from_tree([{"map": []}], plain=True) == b"\x09" + map_((string("map"), b"\x09\xff")) + b"\xff"


def test_text_is_checked_as_utf8_everywhere():
    for first in range(0x80, 0x100):
        for rest in (
            b"",
            b"\x80",
            b"\x80\x80",
            b"\xbf\xbf\xbf",
            b"\x8f\xbf\xbf",
            b"\x90\x80\x80",
            b"\x9f\x80",
            b"\xa0\x80",
            b"a",
        ):
            encoded = string(bytes([first]) + rest)
            assert _report.lines(encoded).decode()[:-1] == json_reference.line(encoded)


@pytest.mark.parametrize("options", [{}, {"plain": True}, {"pairs": True}])
def test_lines_of_cut_input(options):
    encoded = map_((A, vector(B, integer(1))), (B, b"\x09\x02\x01\xff")) * 2
    for end in range(1, len(encoded)):
        if end != len(encoded) // 2 or "pairs" in options:
            with pytest.raises(TruncatedError):
                _report.lines(encoded[:end], **options)


# Every vector of this project, and what Hadoop and the older libraries wrote.


def test_every_vector_comes_back():
    count = 0
    for path in sorted((VECTORS / "valid").glob("*.jsonl")):
        for vector in map(json.loads, path.read_text().splitlines()):
            dialect = (
                (vector.get("decode") or {}).get("dialect") or (vector.get("encode") or {}).get("dialect") or "hadoop"
            )
            count += comes_back(bytes.fromhex(vector["hex"]), dialect)
    for path in [*(VECTORS / "foreign/python2").glob("*.tb"), VECTORS / "foreign/hadoop/golden_pairs.tb"]:
        count += comes_back(path.read_bytes())
    for record in map(json.loads, (VECTORS / "foreign/hadoop/golden.jsonl").read_text().splitlines()):
        count += comes_back(bytes.fromhex(record["hex"]))
    assert count > 1000


def comes_back(encoded, dialect="hadoop"):
    """Check that bytes are the same after to-json and from-json; return how many values they are."""
    lines = _report.lines(encoded, dialect=dialect).splitlines(keepends=True)
    assert b"".join(encoded_lines((("", line) for line in lines), dialect=dialect)) == encoded
    return len(lines)


# The same through the command and real pipes.


def command(*arguments, stdin):
    return subprocess.run([sys.executable, "-m", "typedbytes", *arguments], input=stdin, capture_output=True)


def both_ways(stream, *options):
    lines = command("to-json", *options, stdin=stream)
    assert (lines.returncode, lines.stderr) == (0, b"")
    back = command("from-json", *options, stdin=lines.stdout)
    assert (back.returncode, back.stderr) == (0, b"")
    assert back.stdout == stream
    return lines.stdout.decode().splitlines()


@pytest.mark.parametrize("dialect", ["hadoop", "hive"])
def test_all_kinds_through_pipes(dialect):
    kinds = [(encoded, line) for which, encoded, line in ALL_KINDS if which == dialect]
    stream = b"".join(encoded for encoded, _ in kinds)
    assert both_ways(stream, "--dialect", dialect) == [line for _, line in kinds]


def test_pairs_through_pipes():
    encoded = [raw(encoded) for encoded, _ in KINDS]
    lines = both_ways(b"".join(encoded + encoded[::-1]), "--pairs")
    assert len(lines) == len(KINDS)
    assert lines[0] == '[{"bytes": ""}, {"bytes": "AP8="}]'


@settings(deadline=None, max_examples=10)
@given(st.lists(values, max_size=200))
def test_streams_through_pipes(stream):
    assert len(both_ways(b"".join(stream))) == len(stream)


def test_depth_through_pipes():
    assert len(both_ways(deep_list(256) + deep_vector(256) + deep_value(256) + deep_key(256))) == 4
