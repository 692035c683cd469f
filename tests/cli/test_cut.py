"""The command cut."""

import ast
import decimal
import io

import pytest

import typedbytes as tb
from support.commands import LIST, ONE, PAIR_STREAM, TEXT, bad, good, map_of, sequence_file, values
from typedbytes import sequencefile

RECORD = {"user": {"id": 7, "caf\u00e9's": ("x", [1, tb.Byte(2)])}, 5: "five", "l": []}


@pytest.mark.parametrize(
    "path, field",
    [
        ("value", RECORD),
        ("value['user']['id']", 7),
        ("['user']['id']", 7),
        ("""value['user']["caf\u00e9's"][1][-1]""", tb.Byte(2)),
        ("""['user']['caf\\xe9\\'s'][0]""", "x"),
        ("[5]", "five"),
        ("['l']", []),
    ],
)
def test_cut(path, field):
    record = tb.Encoder().encode(RECORD)
    assert good("cut", "-f", path, "--values", stdin=record * 2) == tb.dumps(field) * 2
    assert good("cut", "--pairs", "-f", path, stdin=TEXT + record) == tb.dumps(field)
    two = good("cut", "--pairs", "-f", path, "-f", "key", stdin=TEXT + record)
    assert two == b"\x08\x00\x00\x00\x02" + tb.dumps(field) + TEXT


@pytest.mark.parametrize(
    "path", ["['no']", "['user'][0]", "['l'][0]", "['l'][-1]", "['5']", "[6]", "['user']['id'][0]"]
)
def test_fields_that_a_record_lacks(path, file):
    first = (
        tb.dumps({"user": {"id": [0]}, "l": [0], "no": 0, "5": 0, 6: 0})
        if path != "['user'][0]"
        else tb.dumps({"user": [0]})
    )
    records = file(first + tb.dumps(RECORD))
    stdout, message = bad(65, "cut", "-f", path, "--values", records)
    assert stdout == tb.dumps(0)
    assert (
        message == f"{records}: no {path} in the record (--missing null writes null) at offset {len(first)}, record 1"
    )
    assert values(good("cut", "-f", path, "--missing", "null", "--values", records)) == [0, None]


@pytest.mark.parametrize(
    "path, pairs",
    [
        (".a", [("a", 1), ("b", 2), ("a", 3)]),
        (".a", [("a", 1), (["a"], 4), ("a", 2), ("b", 3)]),
        (".a", [("a", "x"), ("a", 2.5), ("b", "y")]),
        ("[1]", [(1, 5), (True, 6)]),
        ("[1]", [(True, 5), (1, 6), (1.0, 7)]),
        ("[1]", [(1, 5), (decimal.Decimal("1.00"), 6)]),
        ("[0]", [(False, 5), ("0", 6)]),
        ("['0']", [(0, 5), ("0", 6), (b"0", 7)]),
    ],
)
def test_of_equal_keys_of_a_map_a_path_leads_to_the_last_value(path, pairs):
    """Every option that takes a path finds what Python's dict has of these pairs: not the first of equal keys."""
    key = ast.literal_eval(path.strip("[]")) if path[0] == "[" else path[1:]
    wanted = {key: value for key, value in pairs if type(key) is not list}[key]
    record = map_of(*pairs)
    outer = b"\x0a\0\0\0\2" + tb.dumps("m") + ONE + tb.dumps("m") + record
    assert good("cut", "-f", path, "--values", stdin=record) == tb.dumps(wanted)
    assert good("cut", "-f", ".m" + path, "--values", stdin=outer) == tb.dumps(wanted)
    assert good("cut", "-k", path, "-f", "value", "--values", stdin=record) == tb.dumps(wanted) + record
    first = map_of((key, 9), (key, -9))  # the first of its values is the greatest, its last the least
    if type(wanted) is not str:
        assert good("sort", "--by", path, "--values", stdin=record + first) == first + record
        assert good("sort", "--by", path, "--reverse", "--values", stdin=first + record) == record + first


@pytest.mark.parametrize("fields", [["-f", "['user']"], ["-f", "['user']", "-f", "[5]"]], ids=len)
def test_cut_makes_pairs(fields):
    value = tb.dumps(RECORD["user"] if len(fields) == 2 else (RECORD["user"], "five"))
    assert good("cut", "-k", "[5]", *fields, "--values", stdin=tb.dumps(RECORD) * 2) == (tb.dumps("five") + value) * 2
    assert (
        good("cut", "--key", "value[5]", *fields, "--pairs", stdin=TEXT + tb.dumps(RECORD)) == tb.dumps("five") + value
    )
    assert good("cut", "-k", "[0]", "-f", "[1]", "--to", "json", "--values", stdin=tb.dumps((1, "a"))) == b'[1, "a"]\n'
    of_pairs = good("cut", "-k", "key", *fields, "--to", "sequencefile", "--pairs", stdin=TEXT + tb.dumps(RECORD))
    with sequencefile.Reader(io.BytesIO(of_pairs)) as pairs:
        assert list(pairs) == [(tb.loads(TEXT), tb.loads(value))]
    assert "no ['no'] in the record" in bad(65, "cut", "-k", "['no']", *fields, "--values", stdin=tb.dumps(RECORD))[1]
    assert (
        good("cut", "-k", "['no']", *fields, "--missing", "null", "--values", stdin=tb.dumps(RECORD))
        == tb.dumps(None) + value
    )
    assert (
        "argument -k: values have no key (see --pairs)"
        in bad(64, "cut", "-k", "key", *fields, "--values", stdin=LIST)[1]
    )


def test_cut_gives_values(file):
    assert (
        good("cut", "-f", "value[0]", "-f", "key", "--pairs", "--to", "json", stdin=TEXT + LIST)
        == b'{"vector": [1, "hi"]}\n'
    )
    assert good("cut", "-f", "key", "-f", "value", file(sequence_file())) != b""


@pytest.mark.parametrize(
    "path",
    [
        "",
        "keys",
        "value.",
        "value[a]",
        "value[01]",
        "value['a]",
        "value['\\x1']",
        "value['\\q']",
        "[1]x",
        "value.\u00b2x[",
        "value.\u0663",
        "value[\u0663]",
        "value[1\u0663]",
        "value.\udce9",
        "value['\\U00110000']",
    ],
)
def test_paths_that_are_refused(path):
    assert bad(64, "cut", "-f", path, "--values", stdin=LIST)[1].startswith(
        "argument -f: expected a path such as key, value[0] or "
    )


def test_cut_without_a_field_or_a_key():
    assert bad(64, "cut", stdin=LIST)[1].startswith("needs a field: -f PATH")
    assert "argument -f: values have no key (see --pairs)" in bad(64, "cut", "-f", "key", "--values", stdin=LIST)[1]
    assert "looks like pairs" in bad(64, "cut", "-f", "value", stdin=PAIR_STREAM)[1]


@pytest.mark.parametrize(
    "path, key",
    [
        ("value.\u00b2", "\u00b2".encode()),
        (".x\u00b2", "x\u00b2".encode()),
        ('value["\udce9"]', b"\xe9"),
        ("value['\udce9']", b"\xe9"),
        (r"value['\udce9']", b"\xe9"),
        ("value['\\\\\udce9']", b"\\\xe9"),
        ("['caf\udce9\u00e9']", b"caf\xe9\xc3\xa9"),
    ],
)
def test_names_that_are_no_numbers_and_bytes_that_are_no_text(path, key):
    record = b"\x0a\0\0\0\1\x07" + len(key).to_bytes(4, "big") + key + ONE
    assert good("cut", "-f", path, "--values", stdin=record) == ONE
    for command in ("sort", "top"):
        assert good(command, "--by", path, "--values", stdin=record) == record
    assert " in the record" in bad(65, "cut", "-f", path, "--values", stdin=LIST)[1]
