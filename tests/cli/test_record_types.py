"""Record classes on the command line: --type of to-json and validate, and the classes that schema prints."""

import datetime as dt
import decimal
import importlib
import json
import struct
import sys
import uuid

import pytest

import typedbytes as tb
from support.commands import bad, good, rows, run

MODULE = """
import dataclasses, datetime, decimal, enum, typing, uuid
from typedbytes import records

class Colour(enum.Enum):
    RED = "red"

class Visit(typing.NamedTuple):
    user: str
    at: datetime.datetime
    day: datetime.date
    seen: typing.Annotated[datetime.datetime, records.UTC, records.Milliseconds]
    pause: datetime.timedelta
    price: typing.Optional[decimal.Decimal] = None
    id: typing.Optional[uuid.UUID] = None
    colour: Colour = Colour.RED

@dataclasses.dataclass
class Page:
    url: str
    visits: list[Visit]
    raw: bytes = b""

Visits = list[Visit]
Day = typing.Union[datetime.date, None]
DayOrKey = typing.Union[datetime.date, uuid.UUID, None]
DayOrText = typing.Union[datetime.date, str]
PriceOrKey = typing.Union[decimal.Decimal, uuid.UUID]
VisitOrPage = typing.Union[Visit, Page]
VisitOrMap = typing.Union[Visit, dict[str, int]]
class Stay(typing.TypedDict):
    day: datetime.date
    other: typing.Union[datetime.date, str, VisitOrMap]
    visit: Visit
"""
exec(MODULE, IN_MODULE := {"__name__": __name__})
ROW = ("ann", 1777636800000000, 20574, 1777636800000, 90_000_000)
SHOWN = {
    "user": "ann",
    "at": "2026-05-01T12:00:00",
    "day": "2026-05-01",
    "seen": "2026-05-01T12:00:00Z",
    "pause": "PT90S",
    "price": None,
    "id": None,
    "colour": "red",
}
ID = uuid.UUID(int=5)
FULL = tb.dumps((*ROW, "1.50", ID.bytes, "RED"))


@pytest.fixture(autouse=True)
def in_folder_of_the_module(tmp_path, monkeypatch):
    (tmp_path / "visits.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)


# Values as a type shows them


def test_values_are_shown_as_the_class_has_them():
    lines = good("to-json", "--values", "--type", "visits:Visit", stdin=tb.dumps(ROW) + FULL)
    first, second = map(json.loads, lines.splitlines())
    pause = first["pause"]
    assert first == {**SHOWN, "pause": pause} and tb.loads(tb.dumps(pause), type=dt.timedelta).seconds == 90
    assert second == {**first, "price": "1.50", "id": str(ID)}


def test_what_is_shown_fits_the_class_again():
    page = tb.dumps({"url": "/", "visits": [tb.loads(FULL)], "raw": b"\0"})
    lines = good("to-json", "--values", "--type", "visits:Page", stdin=page)
    assert json.loads(lines)["raw"] == {"bytes": "AA=="}
    again = good("from-json", stdin=lines)
    assert good("to-json", "--values", "--type", "visits:Page", stdin=again) == lines
    assert tb.loads(again)["visits"][0]["day"] == "2026-05-01"


def test_keys_of_pairs_stay_as_they_are():
    stdin = tb.dumps(tb.Long(5)) + FULL
    key, value = json.loads(good("to-json", "--pairs", "--type", "visits:Visit", stdin=stdin))
    assert key == {"long": 5} and value["day"] == "2026-05-01"


def test_keys_have_a_type_of_their_own():
    stdin = tb.dumps(20574) + FULL + tb.dumps("x") + FULL
    words = ("--pairs", "--key-type", "datetime:date")
    output, message = bad(65, "to-json", *words, stdin=stdin)
    assert json.loads(output)[0] == "2026-05-01" and json.loads(output)[1] == {"vector": json_of(FULL)}
    assert message.startswith('standard input: expected date, found STRING "x" at offset ') and "record 1" in message
    output, _ = bad(65, "validate", *words, stdin=stdin)
    assert [fault["message"] for fault in rows(output)[0]["faults"]] == ['expected date, found STRING "x"']
    good("validate", "--pairs", "--key-type", "builtins:str", "--type", "visits:Visit", stdin=tb.dumps("x") + FULL)


def json_of(record):
    return json.loads(good("to-json", "--values", stdin=record))["vector"]


def test_the_type_may_be_any():
    lines = good("to-json", "--values", "--type", "visits:Visits", stdin=tb.dumps([ROW]))
    assert json.loads(lines)[0]["day"] == "2026-05-01"


def test_a_value_that_does_not_fit_ends_the_output():
    stdin = tb.dumps(ROW) + tb.dumps((*ROW[:2], "no day", *ROW[3:])) + tb.dumps(ROW)
    output, message = bad(65, "to-json", "--values", "--type", "visits:Visit", stdin=stdin)
    assert len(output.splitlines()) == 1
    offset = stdin.index(b"\x07\0\0\0\x06no day")
    assert f'expected date, found STRING "no day" at offset {offset}, record 1, path .day' in message


# Values that fit


def test_validate_reports_each_misfit_with_its_path(tmp_path):
    stdin = tb.dumps(ROW) + tb.dumps((*ROW[:2], "no day", *ROW[3:])) + tb.dumps(ROW[:3]) + b"\x07\0\0\0\1\xff" + FULL
    output, message = bad(65, "validate", "--values", "--type", "visits:Visit", stdin=stdin)
    (row,) = rows(output)
    assert (row["ok"], row["records"], row["bad"]) == (False, 2, 3)
    starts = [
        stdin.index(b"\x07\0\0\0\x06no day"),
        *(stdin.index(each) for each in (tb.dumps(ROW[:3]), b"\x07\0\0\0\1\xff")),
    ]
    parts = ("error", "message", "path", "record", "offset")
    assert [tuple(fault[part] for part in parts) for fault in row["faults"]] == [
        ("DecodeTypeError", 'expected date, found STRING "no day"', ".day", 1, starts[0]),
        ("DecodeTypeError", "Visit: expected 5 to 8 items, found 3", "", 2, starts[1]),
        ("DecodeTypeError", "expected Visit, found STRING", "", 3, starts[2]),
    ]  # fmt: skip
    assert message.startswith('standard input: expected date, found STRING "no day"')
    good("validate", "--values", "--type", "visits:Visit", stdin=tb.dumps(ROW) + FULL)
    repaired = tmp_path / "good.tb"
    (tmp_path / "bad.tb").write_bytes(stdin)
    bad(65, "validate", "--values", "--type", "visits:Visit", "--repair", str(repaired), "bad.tb")
    assert repaired.read_bytes() == tb.dumps(ROW) + FULL


def test_validate_sequence_files(tmp_path):
    from typedbytes import sequencefile

    with sequencefile.Writer("in.seq", key_class="Text") as writer:
        writer.writes([("a", ROW), ("b", 5), ("c", ROW)])
    good("validate", "--key-type", "builtins:str", "in.seq")
    output, _ = bad(65, "validate", "--key-type", "builtins:int", "in.seq")
    assert rows(output)[0]["bad"] == 3
    output, message = bad(65, "validate", "--type", "visits:Visit", "in.seq")
    (row,) = rows(output)
    assert (row["records"], row["bad"], row["faults"][0]["message"]) == (2, 1, "expected Visit, found INT 5")
    bad(65, "validate", "--type", "visits:Visit", "--repair", "out.seq", "in.seq")
    with sequencefile.Reader("out.seq") as reader:
        assert reader.read_all() == [("a", ROW), ("c", ROW)]


def test_what_the_module_prints_is_not_of_the_output(tmp_path):
    (tmp_path / "loud.py").write_text("from visits import Visit\nprint('hello')\n")
    done = run("to-json", "--values", "--type", "loud:Visit", stdin=tb.dumps(ROW))
    assert (done.returncode, done.stderr, done.stdout.count(b"\n")) == (0, b"hello\n", 1)


# Types that cannot be found

WRONG = {
    "visits": "argument --type: expected MODULE:CLASS, such as visits:Visit, not 'visits'",
    "visits:": "argument --type: expected MODULE:CLASS, such as visits:Visit, not 'visits:'",
    "nothing:Visit": "argument --type: nothing:Visit: ModuleNotFoundError: No module named 'nothing'",
    "visits:Visits2": "argument --type: visits:Visits2: AttributeError: module 'visits' has no attribute 'Visits2'",
    "visits:records.Text": "argument --type: visits:records.Text: TypeError: typedbytes.records.Text is not a type "
    "that records can have",
    "broken:X": "argument --type: broken:X: SystemExit: 0",
}


@pytest.mark.parametrize("command", ["to-json", "validate"])
@pytest.mark.parametrize("name", WRONG)
def test_a_type_that_is_not_there(name, command, tmp_path):
    (tmp_path / "broken.py").write_text("raise SystemExit(0)")
    output, message = bad(64, command, "--type", name, stdin=tb.dumps(1))
    assert (output, message) == (b"", WRONG[name])


# Classes for data

PAGES = [
    {"url": "/home", "visits": [("ann", dt.datetime(2026, 5, 1, 12), 1.5)], "tags": {1},
     "price": decimal.Decimal("1.50"), "size": 5, "is_new": True},
    {"url": "/", "visits": [("bob", dt.datetime(2026, 5, 1), 2.5)], "tags": set(), "price": None, "size": 1 << 40,
     "is_new": False, "more": {"a-b": [1, "x"], "n": {5: 1.0}}},
]  # fmt: skip
PYTHON = """\
from __future__ import annotations

import datetime
import decimal
from dataclasses import dataclass
from typing import Optional, TypedDict, Union


# Not all names of fields are identifiers, so that this is a dict.
More = TypedDict(
    "More",
    {
        "a-b": list[Union[int, str]],
        "n": dict[int, float],
    },
)


@dataclass
class Record:
    url: str
    visits: list[tuple[str, datetime.datetime, float]]
    tags: set[int]
    size: int
    is_new: bool
    price: Optional[decimal.Decimal] = None
    more: Optional[More] = None

# typedbytes.Reader(file, type=Record)
"""


def test_python_classes():
    printed = good("schema", "--values", "--python", stdin=tb.Encoder().encode_all(PAGES))
    assert printed.decode() == PYTHON


@pytest.fixture
def import_printed(tmp_path, monkeypatch):
    def load(text):
        name = f"printed{len(list(tmp_path.glob('printed*.py')))}"
        (tmp_path / f"{name}.py").write_bytes(text)
        monkeypatch.syspath_prepend(str(tmp_path))
        return importlib.import_module(name)

    yield load
    for name in [name for name in sys.modules if name.startswith("printed")]:
        del sys.modules[name]


DATA = {
    "pages": PAGES,
    "dataclass": [{"a": 1, "b": [{"x": 1}, {"x": 2, "y": None}]}],
    "optional fields": [{"a": 1, "list": [2], "None_": 1}, {"b": {"c": (1, "x")}, "a": None}],
    "rows": [("ann", 1, None), ("bob", 2, 1.5)],
    "rows of two lengths": [("ann", 1), ("bob", 2, dt.date(2026, 5, 1))],
    "rows of many lengths": [(), (1,), (1, 2), (1, 2, 3)],
    "scalars": [1, 2.5, "x", True, b"", None],
    "no common type": ["x", decimal.Decimal(1), [1], (1, 2)],
    "many names": [{f"name{i}": i for i in range(100)}],
    "other keys": [{1: "x", 2: "y"}],
    "moments": [
        (dt.datetime(2026, 5, 1, tzinfo=dt.timezone.utc), dt.time(1, 2), dt.timedelta(1), ID, dt.date(1, 1, 1)),
    ],
    "odd names": [{"": 1, "a b": 2, "class": 3, "__x": 4, "é": 5, '"': 6, "\n": 7}],
    "empty": [{}, [], ()],
    "deep": [[[[[[{"a": {"a": {"a": 1}}}]]]]]],
    "pickled": [{"x": frozenset({1})}, {"x": complex(1, 2)}],
}  # fmt: skip


@pytest.mark.parametrize("name", DATA)
def test_values_fit_the_classes_that_are_printed_for_them(name, import_printed):
    stream = tb.Encoder(pickle="trust").encode_all(DATA[name])
    module = import_printed(good("schema", "--values", "--python", stdin=stream))
    kind = eval(module_type(module), vars(module))
    how = {"pickle": "trust"} if name == "pickled" else {}
    found = tb.Decoder(type=kind, **how).decode_all(stream)
    assert [plain(each) for each in found] == [plain(each) for each in tb.Decoder(**how).decode_all(stream)]


def module_type(module):
    with open(module.__file__) as file:
        return file.read().rpartition("type=")[2].strip()[:-1]


def plain(value):
    """Return what a value would be without a class; a field that was missing is None in one of them only."""
    fields = getattr(value, "__dataclass_fields__", None)
    if fields is not None:
        value = {name: getattr(value, name) for name in fields}
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items() if item is not None}
    if isinstance(value, tuple):
        items = [plain(item) for item in value]
        while items and items[-1] is None:
            items.pop()
        return tuple(items)
    return [plain(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("values", [[{b"caf\xe9": 1}], [{b"\xe9": 1, b"x": "a"}, {b"y": [2.5], b"\xe9": 3}]])
def test_a_key_that_is_not_utf8_is_not_a_field(values, import_printed):
    """No class has one: its text cannot be written."""
    stream = b""
    for value in values:
        pairs = (b"\x07" + struct.pack(">i", len(key)) + key + tb.dumps(item) for key, item in value.items())
        stream += b"\x08\0\0\0\2" + tb.dumps(1) + b"\x0a" + struct.pack(">i", len(value)) + b"".join(pairs)
    module = import_printed(good("schema", "--values", "--python", stdin=stream))
    kind = f"{module.__name__}:Record"
    good("validate", "--values", "--type", kind, "--unicode-errors", "surrogateescape", stdin=stream)
    how = {"unicode_errors": "surrogateescape"}
    found = [tuple(each) for each in tb.Decoder(type=module.Record, **how).decode_all(stream)]
    assert found == tb.Decoder(**how).decode_all(stream)
    assert b"Map<String, " in good("schema", "--values", "--java", stdin=stream)


def test_shorts_are_integers(import_printed):
    lines = (
        b'{"a": {"short": 5}, "b": null, "c": {"short": 1}, "d": {"short": 1}}\n'
        b'{"a": {"short": -6}, "b": {"short": 7}, "c": 70000, "d": {"byte": 1}}\n'
    )
    stream = good("from-json", "--dialect", "hive", stdin=lines)
    printed = good("schema", "--dialect", "hive", "--values", "--python", stdin=stream)
    assert "    a: int\n    c: int\n    d: int\n    b: Optional[int] = None\n" in printed.decode()
    record = import_printed(printed).Record
    found = tb.Decoder(dialect="hive", type=record).decode_all(stream)
    assert found == [record(5, 1, 1), record(-6, 70000, 1, 7)]
    java = good("schema", "--dialect", "hive", "--values", "--java", stdin=stream).decode()
    kinds = ("short a", "Optional<Short> b", "int c", "short d")
    assert [line.strip(" ,") for line in java.splitlines() if line.endswith((",", "{ }"))] == [
        *kinds[:3], f"{kinds[3]}) {{ }}",
    ]  # fmt: skip


def test_pairs_have_two_classes(import_printed):
    stream = tb.Encoder().encode_pairs([("a", {"n": 1}), ("b", {"n": 2, "at": dt.date(2026, 5, 1)})])
    printed = good("schema", "--pairs", "--python", stdin=stream)
    assert printed.decode().splitlines()[-1] == "# typedbytes.PairReader(file, key_type=str, value_type=Value)"
    value = import_printed(printed).Value
    assert tb.PairReader(stream, key_type=str, value_type=value).read_all() == [
        ("a", value(1)), ("b", value(2, dt.date(2026, 5, 1))),
    ]  # fmt: skip


def test_damage_is_reported_as_elsewhere():
    _, message = bad(65, "schema", "--values", "--python", stdin=tb.dumps(1) + b"\x03\0")
    assert "at offset 7, record 1" in message


@pytest.mark.parametrize(
    "kind, values, shown",
    [
        ("Day", [dt.date(2020, 1, 1), None], ["2020-01-01", None]),
        ("DayOrKey", [dt.date(2020, 1, 1), ID, None], [18262, {"bytes": "AAAAAAAAAAAAAAAAAAAABQ=="}, None]),
        ("DayOrText", [dt.date(2020, 1, 1), "2020-01-01"], [18262, "2020-01-01"]),
        ("PriceOrKey", [decimal.Decimal("1.50"), ID], ["1.50", {"bytes": "AAAAAAAAAAAAAAAAAAAABQ=="}]),
    ],
)
def test_members_of_a_union_are_shown_in_forms_that_are_told_apart(kind, values, shown):
    data = b"".join(tb.dumps(value, type=eval(kind, IN_MODULE)) for value in values)
    lines = good("to-json", "--values", "--type", f"visits:{kind}", stdin=data)
    assert rows(lines) == shown
    assert good("from-json", stdin=lines) == data or kind == "Day"
    good("validate", "--values", "--type", f"visits:{kind}", stdin=good("from-json", stdin=lines))


@pytest.mark.parametrize(
    "kind, other", [("VisitOrPage", {"url": "u", "visits": [], "raw": b""}), ("VisitOrMap", {"user": 1})]
)
def test_a_record_beside_a_map_in_a_union_is_shown_as_what_it_is(kind, other):
    data = FULL + tb.dumps(other)
    lines = good("to-json", "--values", "--type", f"visits:{kind}", stdin=data)
    assert [[*row] for row in rows(lines)] == [["vector"], [*other]]
    good("validate", "--values", "--type", f"visits:{kind}", stdin=good("from-json", stdin=lines))


def test_a_type_in_a_union_is_shown_as_text_elsewhere():
    data = tb.dumps({"day": 18262, "other": "x", "visit": ROW})
    lines = good("to-json", "--values", "--type", "visits:Stay", stdin=data)
    [row] = rows(lines)
    assert (row["day"], row["other"], row["visit"]["day"]) == ("2020-01-01", "x", SHOWN["day"])
