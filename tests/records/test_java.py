"""Java's records and ours agree: the same bytes are the same values on both sides, every type and every form."""

import dataclasses
import datetime as dt
import enum
import random
import re
import subprocess
import sys
import uuid
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Optional

import pytest

import typedbytes as tb
from typedbytes.records import UTC, Milliseconds, Name, Seconds, Text

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test_vectors" / "java"))

import jars  # noqa: E402

MODULE = ROOT / "src" / "java" / "records"
PEER = Path(__file__).with_name("RecordPeer.java")

pytestmark = pytest.mark.hadoop


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the folder of the module's jars, and what Maven says of it, its own tests among it."""
    folder = tmp_path_factory.mktemp("java-records")
    return folder, jars.build_with_maven(MODULE, folder, "-Prelease", "-Dmaven.javadoc.skip=true")


@pytest.fixture(scope="module")
def jar(built):
    """Return the jar that has been made, not that of its sources."""
    (jar,) = (path for path in built[0].glob("*.jar") if path.stem[-1].isdigit())
    return jar


def compiled(source, jar, folder):
    """Compile a source with the jar; return the class path to run it with."""
    command = [jars.find_tool("javac"), "-Xlint:all", "-Werror", "-cp", jar, "-d", folder, source]
    jars._run(command, f"javac could not compile {source}")
    return f"{folder}:{jar}"


def encoded(value):
    """Return the bytes of a value; a bytearray is such bytes."""
    return bytes(value) if type(value) is bytearray else tb.dumps(value)


@pytest.fixture(scope="module")
def ask(jar, tmp_path_factory):
    """Return a function that has a JVM read and write (type, options, value on the wire), and returns its answers."""
    path = compiled(PEER, jar, tmp_path_factory.mktemp("classes"))

    def ask(questions):
        lines = "".join(f"{name} {options} {encoded(data).hex()}\n" for name, options, data in questions)
        command = [jars.find_tool("java"), *jars.QUICK_START, "-Xmx64m", "-Xss512k", "-cp", path, "RecordPeer"]
        done = subprocess.run(command, input=lines.encode(), stdout=subprocess.PIPE, check=True)
        *answers, end = done.stdout.decode().split("\n")
        assert (len(answers), end) == (len(questions), "")
        return answers

    return ask


def test_the_module_builds_and_its_own_tests_pass(built):
    _, said = built
    ntests = sum(path.read_text("utf-8").count("@Test\n") for path in (MODULE / "src" / "test").rglob("*.java"))
    assert ntests > 10
    assert f"Tests run: {ntests}, Failures: 0, Errors: 0, Skipped: 0" in said
    assert "BUILD SUCCESS" in said


def test_javac_has_no_warning(tmp_path):
    """The jar is compiled by another compiler, see its pom.xml."""
    sources = sorted((MODULE / "src" / "main" / "java").rglob("*.java"))
    options = ["--release", "8", "-Xlint:all,-options", "-Werror", "-d", tmp_path]
    jars._run([jars.find_tool("javac"), *options, *sources], "javac could not compile the records")


def test_the_jar_is_for_java_8_and_knows_java_16(jar):
    with zipfile.ZipFile(jar) as archive:
        manifest = archive.read("META-INF/MANIFEST.MF").decode().splitlines()
        versions = {name: archive.read(name)[7] for name in archive.namelist() if name.endswith(".class")}
    assert {"Automatic-Module-Name: org.typedbytes.records", "Multi-Release: true"} <= set(manifest)
    assert versions.pop("META-INF/versions/16/org/typedbytes/records/Components.class") == 60
    assert len(versions) > 10 and set(versions.values()) == {52}


def test_the_jar_of_sources_has_that_of_each_class(jar):
    """Of the class for Java 16 too, where an IDE looks for it: at the path of the class."""
    with zipfile.ZipFile(jar) as archive:
        classes = {name.removesuffix(".class") for name in archive.namelist() if name.endswith(".class")}
        assert not [name for name in archive.namelist() if name.endswith(".java")]
    with zipfile.ZipFile(jar.with_name(f"{jar.stem}-sources.jar")) as archive:
        sources = {name: archive.read(name) for name in archive.namelist() if name.endswith(".java")}
    assert {name.removesuffix(".java") for name in sources} == {name for name in classes if "$" not in name}
    for folder, root in (("java16", "META-INF/versions/16/"), ("java", "")):
        for path in (MODULE / "src" / "main" / folder).rglob("*.java"):
            name = path.relative_to(MODULE / "src" / "main" / folder).as_posix()
            assert sources.pop(root + name) == path.read_bytes()
    assert sources == {}


def test_the_guide_shows_what_java_does(jar, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    guide = (ROOT / "docs/guides/jvm.md").read_text("utf-8")
    blocks = re.findall(r"^```(?:python|java|text)\n(.*?)^```$", guide, re.S | re.M)
    write_list, java, text, read_each, write_each = blocks
    exec(write_list + write_each, {"__name__": "guide"})
    source = tmp_path / "Visits.java"
    end = java.rindex("    }\n}\n")  # of main
    source.write_text("import java.nio.ByteBuffer;\n" + java[:end] + read_each + java[end:])
    command = [jars.find_tool("java"), *jars.QUICK_START, "-cp", compiled(source, jar, tmp_path / "classes"), "Visits"]
    assert subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout == 2 * text
    assert (tmp_path / "copy.tb").read_bytes() == (tmp_path / "visits.tb").read_bytes()


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


class Mood(enum.Enum):
    GOOD = 1
    BAD = 2


class Visit(NamedTuple):
    user: str
    at: dt.datetime
    ms: tb.Long
    price: Optional[Decimal] = None


@dataclasses.dataclass
class Page:
    url: str
    visits: list[Visit]
    all_tags: Optional[set[str]] = None


@dataclasses.dataclass
class Tree:
    name: str
    children: "list[Tree]"


@dataclasses.dataclass
class Pair:
    first: str
    second: list[tb.Long]


@dataclasses.dataclass
class Customer:
    active: bool
    city: str
    id: Optional[tb.Long]
    full_name: Optional[str]


class Point(NamedTuple):
    y: float
    x: float


@dataclasses.dataclass
class Forms:
    seconds: Annotated[dt.datetime, UTC, Seconds]
    millis: Annotated[dt.datetime, Milliseconds]
    day: Annotated[dt.date, Text]
    time: Annotated[dt.time, Text]
    local: Annotated[dt.datetime, Text]
    instant: Annotated[dt.datetime, UTC, Text]
    offset: Annotated[dt.datetime, UTC, Text]
    duration: Annotated[dt.timedelta, Text]
    id: Annotated[uuid.UUID, Text]
    colour: Annotated[Colour, Name]
    waits: list[Annotated[dt.timedelta, Milliseconds]]
    number: int


LONG = 2**63 - 1
UUID = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
TIME = dt.datetime(2020, 1, 2, 3, 4, 5, 123456)
MICROS = 1_577_934_245_123_456
SHOWN = "2020-01-02T03:04:05.123456"
VISIT = Visit("ann", TIME, tb.Long(12), Decimal("9.90"))
VISIT_WIRE = ("ann", tb.Long(MICROS), tb.Long(12), "9.90")
VISIT_SHOWN = f"Visit[user=ann, at={SHOWN}, ms=12, price=Optional[9.90]]"
CHEAP = (VISIT._replace(price=None), (*VISIT_WIRE[:3], None), VISIT_SHOWN.replace("[9.90]", ".empty"))


def moment(*parts):
    return dt.datetime(*parts, tzinfo=dt.timezone.utc)


def forms(at, duration, text):
    """Return a row of dates and the like in other forms than the usual ones."""
    wall = at.replace(tzinfo=None)
    shown = wall.isoformat()
    value = Forms(at, wall, at.date(), at.time(), wall, at, at, duration, UUID, Colour.GREEN, [duration], 5)
    wire = [
        tb.Long(at.timestamp()),
        tb.Long(1000 * tb.Long(at.timestamp())),
        *shown.split("T"),
        shown,
        shown + "Z",
        shown + "Z",
    ]
    wire += [text, str(UUID), "GREEN", [tb.Long(duration // dt.timedelta(milliseconds=1))], 5]
    return "Forms", Forms, value, dict(zip(Forms.__annotations__, wire)), None


#: Java types, the same in Python, a value, what is on the wire by the format alone, and what Java says of it.
SAME = [
    ("boolean Boolean Object", bool, True, True, "true"),
    ("byte Byte Object", tb.Byte, tb.Byte(-128), tb.Byte(-128), "-128"),
    ("short Short int Integer", int, -32768, -32768, "-32768"),
    ("int Object", int, -(2**31), -(2**31), "-2147483648"),
    ("long Long Object", tb.Long, tb.Long(LONG), tb.Long(LONG), str(LONG)),
    ("long Long", Annotated[int, tb.Long], 5, tb.Long(5), "5"),
    ("float Float Object", tb.Float, tb.Float(1.5), tb.Float(1.5), "1.5"),
    ("double Double Object", float, 0.1, 0.1, "0.1"),
    ("double", float, float("nan"), float("nan"), "NaN"),
    ("double", float, -0.0, -0.0, "-0.0"),
    ("double", float, float("-inf"), float("-inf"), "-Infinity"),
    ("String Object", str, "naïve \U0001f600", "naïve \U0001f600", "naïve \U0001f600"),
    ("byte[]", bytes, b"\0\xff", b"\0\xff", "00ff"),
    ("ByteBuffer", bytes, b"\0\xff", b"\0\xff", "buffer 00ff"),
    ("BigInteger", Decimal, Decimal(-(2**70)), str(-(2**70)), str(-(2**70))),
    *[
        ("BigDecimal", Decimal, Decimal(n), n, n)
        for n in ("9.90", "-1E+3", "0E-8", "1.5E-7", "12345678901234567890.123")
    ],
    ("UUID", uuid.UUID, UUID, UUID.bytes, str(UUID)),
    ("LocalDate", dt.date, TIME.date(), 18263, "2020-01-02"),
    ("LocalDate", dt.date, dt.date(1969, 12, 31), -1, "1969-12-31"),
    ("LocalDate", dt.date, dt.date.min, -719162, "0001-01-01"),
    ("LocalDate", dt.date, dt.date.max, 2932896, "9999-12-31"),
    ("LocalTime", dt.time, dt.time(), tb.Long(0), "00:00"),
    ("LocalTime", dt.time, dt.time.max, tb.Long(86399999999), "23:59:59.999999"),
    ("LocalDateTime", dt.datetime, TIME, tb.Long(MICROS), SHOWN),
    ("LocalDateTime", dt.datetime, dt.datetime(1969, 12, 31, 23, 59, 59, 999999), tb.Long(-1),
     "1969-12-31T23:59:59.999999"),
    ("LocalDateTime", dt.datetime, dt.datetime.max, tb.Long(253402300799999999), "9999-12-31T23:59:59.999999"),
    ("Instant OffsetDateTime ZonedDateTime", Annotated[dt.datetime, UTC], TIME.replace(tzinfo=dt.timezone.utc),
     tb.Long(MICROS), SHOWN + "Z"),
    ("Instant", Annotated[dt.datetime, UTC], moment(1, 1, 1), tb.Long(-62135596800000000), "0001-01-01T00:00:00Z"),
    ("Duration", dt.timedelta, dt.timedelta(days=1, hours=2, seconds=3.5), tb.Long(93603500000), "PT26H3.5S"),
    ("Duration", dt.timedelta, dt.timedelta(microseconds=-1), tb.Long(-1), "PT-0.000001S"),
    ("Colour", Colour, Colour.GREEN, 2, "GREEN"),
    ("Mood", Annotated[Mood, Name], Mood.BAD, "BAD", "BAD"),
    ("Integer String Object LocalDate", type(None), None, None, "null"),
    ("Optional<Integer>", Optional[int], 5, 5, "Optional[5]"),
    ("Optional<Integer>", Optional[int], None, None, "Optional.empty"),
    ("List<Integer>", list[Optional[int]], [1, None, 3], [1, None, 3], "[1, null, 3]"),
    ("Set<List<Integer>>", Any, [[1], [], [2, 3]], [[1], [], [2, 3]], "[[1], [], [2, 3]]"),
    ("SortedSet<String>", set[str], {"a"}, ["a"], "TreeSet [a]"),
    ("Deque<Byte>", list[tb.Byte], [tb.Byte(1), tb.Byte(2)], [tb.Byte(1), tb.Byte(2)], "ArrayDeque [1, 2]"),
    ("Map<String,Long>", dict[str, Optional[tb.Long]], {"b": tb.Long(1), "a": None}, {"b": tb.Long(1), "a": None},
     "{b=1, a=null}"),
    ("Map<Object,Object>", dict[Any, Any], {1: "x", "y": [1.0, {}]}, {1: "x", "y": [1.0, {}]}, "{1=x, y=[1.0, {}]}"),
    ("SortedMap<Integer,Visit>", dict[int, Visit], {1: VISIT}, {1: VISIT_WIRE}, f"TreeMap {{1={VISIT_SHOWN}}}"),
    ("int[]", tuple[int, ...], (1, 2), (1, 2), "{1, 2}"),
    ("String[]", tuple[Optional[str], ...], ("a", None), ("a", None), "{a, null}"),
    ("double[][]", tuple[tuple[float, ...], ...], ((1.0, 2.5), ()), ((1.0, 2.5), ()), "{{1.0, 2.5}, {}}"),
    ("Visit", Visit, VISIT, VISIT_WIRE, VISIT_SHOWN),
    ("Visit", Visit, *CHEAP),
    ("Page", Page, Page("u", [VISIT], {"x"}), {"url": "u", "visits": [VISIT_WIRE], "all_tags": ["x"]},
     f"Page[url=u, visits=[{VISIT_SHOWN}], tags=[x]]"),
    ("Tree", Tree, Tree("a", [Tree("b", [])]), {"name": "a", "children": [{"name": "b", "children": []}]}, None),
    ("Pair<String,List<Long>>", Pair, Pair("a", [tb.Long(1)]), {"first": "a", "second": [tb.Long(1)]},
     "Pair[first=a, second=[1]]"),
    ("Customer", Customer, Customer(True, "Oslo", tb.Long(5), None),
     {"active": True, "city": "Oslo", "id": tb.Long(5), "full_name": None}, None),
    ("Point", Point, Point(2.0, 1.0), (2.0, 1.0), "Point[x=1.0, y=2.0]"),
    forms(moment(2020, 1, 2, 3, 4, 5), dt.timedelta(days=1, hours=2, seconds=3.5), "P1DT7203.5S"),
    forms(moment(1969, 12, 31, 23, 59, 59), dt.timedelta(milliseconds=-1), "-P0DT0.001S"),
    forms(moment(1, 1, 2), dt.timedelta(days=-1), "-P1D"),
    forms(moment(9999, 12, 30), dt.timedelta(), "P0D"),
]  # fmt: skip


def test_java_writes_what_it_reads(ask):
    rows = [(name, data, shown) for names, _, _, data, shown in SAME for name in names.split()]
    for (name, data, shown), answer in zip(rows, ask([(name, "-", data) for name, data, _ in rows])):
        found, _, written = answer.rpartition(" | ")
        assert written == tb.dumps(data).hex(), (name, answer)
        assert shown in (found, None), name


@pytest.mark.parametrize("row", SAME, ids=lambda row: row[0])
def test_python_has_the_same_bytes(row):
    _, annotation, value, data, _ = row
    assert tb.dumps(value, type=annotation) == tb.dumps(data)
    assert repr(tb.loads(tb.dumps(data), type=annotation)) == repr(value)


#: A Java type, a value on the wire, and the value that Java writes when it has read that.
OTHER = [
    *[(name, value, tb.Long(5)) for name in ("long", "Long") for value in (tb.Byte(5), 5)],
    ("byte", tb.Long(-5), tb.Byte(-5)),
    ("int", tb.Long(5), 5),
    ("float", 0.1, tb.Float(0.1)),
    *[("double", value, 5.0) for value in (5, tb.Long(5), tb.Byte(5), tb.Float(5.0))],
    *[("BigDecimal", value, text) for value, text in ((5, "5"), (tb.Long(5), "5"))],
    *[
        ("BigDecimal", value, str(Decimal(repr(value))))
        for value in (0.1, 100.0, 0.0, 1e15, 1e16, 2e23, 1e-4, 1e-5, 5e-324, 1.7976931348623157e308)
    ],
    ("BigInteger", tb.Long(5), "5"),
    *[("UUID", text, UUID.bytes) for text in (str(UUID), UUID.hex, str(UUID).upper())],
    *[("LocalDate", value, 18263) for value in (tb.Long(18263), tb.Byte(5), "2020-01-02") if value != 5],
    *[("LocalTime", text, tb.Long(11045000000)) for text in ("03:04:05", "03:04:05.0", "03:04:05.0000000000")],
    ("LocalTime", 5, tb.Long(5)),
    ("LocalTime", "03:04", tb.Long(11040000000)),
    *[
        ("LocalDateTime", text, tb.Long(MICROS))
        for text in (SHOWN, SHOWN + "000", SHOWN.replace("T", " "), SHOWN.replace("T", "t"))
    ],
    *[
        (name, text, tb.Long(MICROS))
        for name in ("Instant", "OffsetDateTime", "ZonedDateTime")
        for text in (SHOWN + "Z", "2020-01-02 05:34:05.123456+02:30", "2020-01-02T00:04:05.123456-0300")
    ],
    ("Forms", {**SAME[-1][3], "offset": "9999-12-30T05:30:00+05:30"}, SAME[-1][3]),
    *[("Duration", text, tb.Long(93603500000)) for text in ("P1DT2H3.5S", "PT26H3.500000S", "PT93603.5S")],
    ("Duration", "-PT1.5S", tb.Long(-1500000)),
    *[("List<Integer>", value, [1, 2]) for value in ((1, 2), [tb.Byte(1), tb.Long(2)])],
    ("int[]", [1, 2], (1, 2)),
    ("Set<List<Integer>>", ((1,), [1], [2]), [[1], [2]]),
    ("SortedSet<String>", ("b", "a", "b"), ["a", "b"]),
    ("byte[]", bytearray(b"\x65\0\0\0\1a"), b"a"),
    ("short", bytearray(b"\x0b\xff\xfe"), -2),
    *[
        ("Integer", bytearray(data), None)
        for data in (b"\x0c", b"\x64\0\0\0\2N.", *(b"\x64\0\0\0\4\x80" + bytes([n]) + b"N." for n in range(2, 6)))
    ],
    ("Visit", list(VISIT_WIRE[:3]), (*VISIT_WIRE[:3], None)),
    (
        "Visit",
        {"ms": 12, 5: [], "at": SHOWN, "user": "ann", "other": {"x": [None]}, "price": 9.5},
        (*VISIT_WIRE[:3], "9.5"),
    ),
    *[
        ("Page", value, {"url": "u", "visits": [], "all_tags": None})
        for value in ({"url": "u", "visits": []}, ("u", ()))
    ],
    ("Customer", {}, {"active": False, "city": "Rome", "id": None, "full_name": None}),
    ("Point", {"x": 1}, (-1.0, 1.0)),
    ("Point", (1,), (1.0, 0.0)),
]


def test_java_reads_other_forms(ask):
    for (name, data, written), answer in zip(OTHER, ask([(name, "-", data) for name, data, _ in OTHER])):
        assert answer.rpartition(" | ")[2] == tb.dumps(written).hex(), (name, data, answer)


#: NaNs, of which some are signalling, and an infinity.
NANS = [bytes.fromhex(bits) for bits in ("7fa00001", "ffa00001", "7f800001", "7fc00000", "7fffffff", "7f800000")]
WIDE_NANS = [bytes.fromhex(bits) for bits in ("7ff4000020000000", "7ff4000000000001", "fff0000000000001")]


def narrower(data, annotation):
    """Return the bytes of a number as Python writes it after it has read it by a type."""
    return bytearray(tb.dumps(tb.loads(data, type=annotation), type=annotation))


#: A Java type, options of it, a value on the wire, and what Java writes of it.
OPTIONS = [
    *[("boolean", "l", value, True) for value in (1, "1", "TRUE", tb.Byte(1))],
    *[("Boolean", "l", value, False) for value in (0, "0", "false")],
    *[("int", "l", value, -5) for value in ("-5", -5.0, tb.Float(-5))],
    ("long", "l", "+" + str(LONG), tb.Long(LONG)),
    *[("double", "l", text, float(text)) for text in ("1.5", "-1e3", ".5", "5.", "nan", "-Infinity", "INF")],
    *[
        (name, "l", "null", None)
        for name in ("Integer", "Boolean", "LocalDate", "UUID", "List<Integer>", "Optional<Integer>")
    ],
    *[(name, "l", "null", "null") for name in ("String", "Object")],
    *[(name, "l", text, None) for name in ("Integer", "LocalDate") for text in ("NULL", "Null", "nulL")],
    *[(name, "l", "NULL", "NULL") for name in ("String", "Object")],
    ("double", "l", "1e-20000000000", 0.0),
    *[("BigDecimal", "-", f"1E{n:+}", f"1E{n:+}") for n in (2**31 - 1, -(2**31 - 1), -2_000_000_000)],
    *[
        (name, "-", bytearray(nan), bytearray(nan))
        for name in ("float", "Float", "Object", "float[]")
        for bits in NANS
        for nan in [b"\x08\0\0\0\1" * (name == "float[]") + b"\5" + bits]
    ],
    *[("double", "-", bytearray(b"\5" + bits), narrower(b"\5" + bits, float)) for bits in NANS],
    *[
        ("float", "-", bytearray(b"\6" + bits), narrower(b"\6" + bits, Annotated[float, tb.Float]))
        for bits in WIDE_NANS
    ],
    ("List<Integer>", "h", [1, None], bytearray(b"\x09\x03\0\0\0\1\x0c\xff")),
    ("List<Integer>", "o", [1, None], [1, None]),
    ("Page", "o", {"url": None, "visits": [CHEAP[1]], "all_tags": None}, {"url": None, "visits": [CHEAP[1]]}),
    ("Customer", "o", {"active": True, "city": None}, {"active": True, "city": None}),
]


def test_options(ask):
    for (name, options, data, written), answer in zip(OPTIONS, ask([row[:3] for row in OPTIONS])):
        assert answer.rpartition(" | ")[2] == encoded(written).hex(), (name, options, data, answer)


#: A Java type, a value on the wire, and the error.
WRONG = [
    ("int", "abc", 'expected int, found STRING "abc" at offset 0'),
    ("int", tb.Long(2**31), "expected int, found LONG 2147483648, which is out of range at offset 0"),
    ("int", 1.0, "expected int, found DOUBLE 1.0 at offset 0"),
    ("int", True, "expected int, found BOOL true at offset 0"),
    ("boolean", 1, "expected boolean, found INT 1 at offset 0"),
    ("int", None, "expected int, found PICKLE at offset 0"),
    ("Long", 2**70, "expected Long, found PICKLE, and of Python's pickles only None can be read here at offset 0"),
    ("LocalDate", dt.date(2020, 1, 2),
     "expected LocalDate, found PICKLE, and of Python's pickles only None can be read here at offset 0"),
    ("String", b"a", "expected String, found BYTES at offset 0"),
    ("String", ("x" * 41,), "expected String, found VECTOR at offset 0"),
    ("double", "x" * 41, "expected double, found STRING at offset 0"),
    ("double", tb.Long(2**53 + 1),
     f"expected double, found LONG {2**53 + 1}, which is not exactly a double at offset 0"),
    ("double", tb.Long(2**63 - 1),
     f"expected double, found LONG {2**63 - 1}, which is not exactly a double at offset 0"),
    ("float", 1e300, "expected float, found DOUBLE 1.0E300, which is out of range at offset 0"),
    ("BigDecimal", "NaN", 'expected BigDecimal, found STRING "NaN" at offset 0'),
    ("BigDecimal", "1e9999999999",
     'expected BigDecimal, found STRING "1e9999999999", whose exponent is out of range at offset 0'),
    ("BigInteger", "-" + "1" * 10_000,
     "expected BigInteger, found STRING of 10001 characters, more than the 10000 that a number can have at offset 0"),
    ("UUID", b"x" * 15, "expected UUID, found BYTES of 15 bytes at offset 0"),
    ("UUID", "1-1-1-1-1", 'expected UUID, found STRING "1-1-1-1-1" at offset 0'),
    ("LocalDate", tb.Long(LONG), f"expected LocalDate, found LONG {LONG}, which is out of range at offset 0"),
    *[
        ("LocalDate", text, f'expected LocalDate, found STRING "{text}" at offset 0')
        for text in ("2020-02-30", "0000-01-01", SHOWN, "2020-1-2")
    ],
    ("LocalTime", tb.Long(86400000000),
     "expected LocalTime, found LONG 86400000000, which is out of range at offset 0"),
    *[
        ("LocalTime", text, f'expected LocalTime, found STRING "{text}" at offset 0')
        for text in ("24:00", "03:04:05.0000001", "03:04.5", "03:04:05Z")
    ],
    *[
        ("LocalDateTime", text, f'expected LocalDateTime, found STRING "{text}" at offset 0')
        for text in (SHOWN + "Z", "2020-01-02", "03:04:05")
    ],
    *[
        ("Instant", text, f'expected Instant, found STRING "{text}" at offset 0')
        for text in (SHOWN, "2020-01-02Z", SHOWN + "+99:00")
    ],
    *[("Duration", text, f'expected Duration, found STRING "{text}" at offset 0') for text in ("P", "PT", "1D", "P1Y")],
    ("Colour", "RED", 'expected Colour, found STRING "RED" at offset 0'),
    ("Colour", 3, "expected Colour, found INT 3 at offset 0"),
    ("Mood", "red", 'expected Mood, found STRING "red" at offset 0'),
    ("List<Integer>", {1: 2}, "expected List, found MAP at offset 0"),
    ("Map<String,Long>", [], "expected Map, found LIST at offset 0"),
    ("Map<String,Long>", {"a": tb.Long(1), 2: tb.Long(1)}, "expected String, found INT 2 at offset 20, path .key(1)"),
    ("Map<String,Long>", {'a"': "b"}, 'expected Long, found STRING "b" at offset 12, path ["a\\""]'),
    ("Visit", VISIT_WIRE[:2], "Visit: expected 3 to 4 items, found 2 at offset 0"),
    ("Visit", (*VISIT_WIRE, 5), "Visit: expected 3 to 4 items, found 5 at offset 0"),
    ("Visit", "a", 'expected Visit, found STRING "a" at offset 0'),
    ("List<Page>", [{"url": "u", "visits": [{"user": "a"}]}],
     'Visit: missing field "at" at offset 32, path [0].visits[0]'),
    ("List<Page>", [{"url": "u", "visits": [("a", "2020-13-01T00:00", 1)]}],
     'expected LocalDateTime, found STRING "2020-13-01T00:00" at offset 43, path [0].visits[0].at'),
    ("Positive", (0,), "Positive: java.lang.IllegalArgumentException: not positive: 0 at offset 0"),
    ("Positive", (), "Positive: expected 1 item, found 0 at offset 0"),
    ("double[][]", ((1.0,), ("x",)), 'expected double, found STRING "x" at offset 24, path [1][0]'),
]  # fmt: skip


def test_errors_have_a_place(ask):
    for (name, data, message), answer in zip(WRONG, ask([(name, "-", data) for name, data, _ in WRONG])):
        assert answer == f"! {message}", (name, data, answer)


def spoiled(rng, data):
    """Return bytes with a few others, or fewer: what remains is often a value, of another type or size."""
    data = bytearray(data)
    for _ in range(rng.randrange(1, 4)):
        offset = rng.randrange(len(data))
        byte = bytes([rng.randrange(rng.choice((13, 256)))])
        piece = rng.choice((byte, byte, b"\x7f\xff\xff\xff", b"\xff", tb.dumps(None)))
        data[offset : offset + rng.choice((0, len(piece), len(data)) if rng.random() < 0.5 else (len(piece),))] = piece
    return data


def test_java_survives_hostile_bytes(ask):
    """Whatever the bytes, in little memory: a value, which is the same when it is read again, or a RecordException."""
    rng = random.Random("records")
    names = sorted({name for row in SAME for name in row[0].split()})
    rows = [(name, tb.dumps(row[3])) for row in SAME for name in row[0].split()]
    questions = [
        (name if rng.random() < 0.8 else rng.choice(names), rng.choice("-lho"), spoiled(rng, data))
        for name, data in rows * 50
    ]
    again = []
    for question, answer in zip(questions, ask(questions)):
        assert not answer.startswith("!!"), (question, answer)
        if not answer.startswith("! "):
            again.append((question[0], question[1], bytearray.fromhex(answer.rpartition(" | ")[2])))
    assert len(again) > len(questions) / 10
    for question, answer in zip(again, ask(again)):
        assert answer.rpartition(" | ")[2] == question[2].hex(), (question, answer)
