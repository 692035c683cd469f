"""Classes that a line of text describes, and those of other projects that the library knows.

Here: bytes that the classes' own Java code wrote, and any bytes beside a slow reference. Invariant: expected values
are those that the Java program set, or the reference's.
"""

import dataclasses
import io
import pickle
import random
import re
import struct
import typing
from pathlib import Path

import pytest

import typedbytes as tb
from fuzz import classes as checks, inputs
from support import class_reference as reference
from support.commands import good
from support.vectors import names, read_jsonl
from typedbytes import columns, sequencefile
from typedbytes.sequencefile._classes import parse_file

VECTORS = read_jsonl("sequencefile/classes.jsonl")
GUIDE = Path(__file__).resolve().parents[2] / "docs" / "classes.md"
EVENT = "com.example.Event"
CLASSES = {EVENT: "id: long, name: text, tags: list<text>, at: optional<vlong>"}
RECORDS = [{"id": 5, "name": "\xe9", "tags": ["a", "bc"], "at": 70000}, {"id": -1, "name": "", "tags": [], "at": None}]
READ_ONLY = ("Map", "Object", "EnumSet", "Timestamp", "HiveDecimal", "Vector", "KeyValue", "Result", "Put", "Delete",
             "java.lang")  # fmt: skip


class Event(typing.NamedTuple):
    name: str
    id: int
    at: typing.Optional[int] = None


@dataclasses.dataclass
class Tagged:
    id: int
    name: str
    tags: list[str]
    at: typing.Optional[int] = None


def described(vector):
    """Return the descriptions that a vector is read with."""
    text = vector["description"]
    if text is None:
        return None
    return parse_file(text, "vector") if text.startswith("Classes$") else {vector["class"]: text}


def value_of(vector):
    """Return the value that was set."""
    return eval(vector["value"])


def written(records=RECORDS, **options):
    """Return the bytes of a SequenceFile of events by their numbers."""
    sink = io.BytesIO()
    how = {"key_class": "IntWritable", "value_class": EVENT, "classes": CLASSES}
    with sequencefile.Writer(sink, **{**how, **options}) as writer:
        writer.writes(enumerate(records))
    return sink.getvalue()


# ---- what Java wrote ----


@pytest.mark.parametrize("vector", VECTORS, ids=names(VECTORS))
def test_what_java_wrote_is_read(vector):
    found = sequencefile.decode(vector["class"], bytes.fromhex(vector["hex"]), classes=described(vector))
    assert repr(found) == repr(value_of(vector))


@pytest.mark.parametrize("vector", VECTORS, ids=names(VECTORS))
def test_every_cut_of_what_java_wrote_is_an_error(vector):
    data = bytes.fromhex(vector["hex"])
    end = data.find(b"the rest") if "rest" in (vector["description"] or "") else len(data)
    for n in range(end):
        with pytest.raises(tb.DecodeError) as caught:
            sequencefile.decode(vector["class"], data[:n], classes=described(vector))
        assert vector["class"] in str(caught.value) or vector["description"].startswith("Classes$")
        assert 0 <= caught.value.offset <= n


@pytest.mark.parametrize("vector", VECTORS, ids=names(VECTORS))
def test_bytes_after_what_java_wrote_are_an_error(vector):
    if "rest" not in (vector["description"] or ""):
        with pytest.raises(tb.FormatError):
            sequencefile.decode(vector["class"], bytes.fromhex(vector["hex"]) + b"\0", classes=described(vector))


@pytest.mark.parametrize("vector", VECTORS, ids=names(VECTORS))
def test_the_bytes_that_java_wrote_are_written(vector):
    if any(word in f"{vector['class']} {vector['description']}" for word in READ_ONLY) or (
        vector["description"] in ("java", "pyspark") or vector["name"] == "CrawlDatum"
    ):
        with pytest.raises(tb.EncodeTypeError):
            sequencefile.encode(vector["class"], value_of(vector), classes=described(vector))
    else:
        data = sequencefile.encode(vector["class"], value_of(vector), classes=described(vector))
        assert data.hex() == vector["hex"]


def table_of_classes():
    """Return (Writer, columns) of each class in the table of the guide, by the last part of its name."""
    found = {}
    text = GUIDE.read_text("utf-8").partition("## Classes that are known")[2]
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) == 5 and "`" in cells[0]:
            names = [name.rpartition(".")[2] for name in re.findall(r"`([\w.]+)`", cells[0])]
            kinds = re.findall(r"`([\w<>]+)`", cells[4])
            found.update(zip(names, ((cells[3], kind) for kind in kinds * len(names))))
    return found


def test_the_table_of_classes_says_what_is_read_and_written(file):
    """Each class of whose objects there are bytes is in it, and nothing else."""
    vectors = {}
    for vector in VECTORS:
        if vector["description"] is None:
            vectors.setdefault(vector["class"], []).append(vector)
    table = table_of_classes()
    others = {"Mutation", "serde2", "io", "AvroKey", "AvroValue", "AvroWrapper"}
    assert {name.rpartition(".")[2] for name in vectors} == table.keys() - others
    for name, of_class in vectors.items():
        writer, column = table[name.rpartition(".")[2]]
        sink = io.BytesIO()
        with sequencefile.Writer(sink, key_class="Text", value_class=name) as out:
            for vector in of_class:
                out.write_raw(b"\0", bytes.fromhex(vector["hex"]))
        values = [value_of(vector) for vector in of_class]
        assert repr([value for _, value in sequencefile.Reader(sink.getvalue())]) == repr(values)
        (batch,) = columns.read(sink.getvalue())
        assert re.sub(r"struct<.*", "struct", batch.schema["value"]).ljust(12, ">")[: len(column)] == column, name
        assert len(batch) == len(values)
        lines = good("to-json", file(sink.getvalue())).splitlines()
        assert len(lines) == len(values) and not any(b"writable" in line for line in lines)
        nwritten = sum(is_written(name, value) for value in values)
        assert writer.partition(", ")[0] == ("yes" if nwritten else "no"), name
        assert ", " in writer or nwritten in (0, len(values)), name  # a yes without a condition is of all


def is_written(name, value):
    try:
        sequencefile.encode(name, value)
    except tb.EncodeTypeError:
        return False
    return True


# ---- any class, any bytes ----


@pytest.mark.parametrize("seed", range(8))
def test_values_of_any_class_have_the_bytes_of_the_reference(seed):
    rng = random.Random(seed)
    for _ in range(150):
        tree = reference.made_record(rng)
        value = reference.made_value(rng, tree)
        classes = {EVENT: reference.fields_of(tree)}
        data = reference.encode(tree, value)
        assert repr(sequencefile.decode(EVENT, data, classes=classes)) == repr(value), classes
        encoded = sequencefile.encode(EVENT, value, classes=classes)
        assert encoded == data, (classes, value)


@pytest.mark.parametrize("seed", range(8))
def test_any_bytes_by_any_class(seed):
    maker = inputs.Maker(seed)
    for _ in range(300):
        checks.check_class(checks.shape(maker))


# ---- files ----


@pytest.mark.parametrize("how", [{}, {"compression": "record"}, {"compression": "block"}])
def test_a_file_is_written_and_read(how):
    data = written(**how)
    assert list(sequencefile.Reader(data, classes=CLASSES)) == list(enumerate(RECORDS))
    assert [type(value) for _, value in sequencefile.Reader(data)] == [tb.Writable] * 2


def test_a_tuple_a_list_and_a_dict_in_any_order_are_written_alike():
    first = {"at": 70000, "tags": ("a", "bc"), "name": "\xe9", "id": 5}
    rows = [first, (5, "\xe9", ["a", "bc"], 70000), [5, "\xe9", ["a", "bc"], 70000]]
    assert [value for _, value in sequencefile.Reader(written(rows), classes=CLASSES)] == [RECORDS[0]] * 3


@pytest.mark.parametrize("how", [{}, {"compression": "record"}, {"compression": "block"}])
def test_record_classes_are_read_and_written_by_the_names_of_their_fields(how):
    data = written([Tagged(**each) for each in RECORDS], value_type=Tagged, **how)
    assert list(sequencefile.Reader(data, classes=CLASSES)) == list(enumerate(RECORDS))
    assert [v for _, v in sequencefile.Reader(data, classes=CLASSES, value_type=Tagged)] == [
        Tagged(**each) for each in RECORDS
    ]
    found = [value for _, value in sequencefile.Reader(data, classes=CLASSES, value_type=Event)]
    assert found == [Event("\xe9", 5, 70000), Event("", -1)] and type(found[0]) is Event


def test_keys_and_values_have_their_own_types():
    sink = io.BytesIO()
    classes = {"a.Key": "id: long, name: text, at: vlong?", **CLASSES}
    how = {"key_class": "a.Key", "value_class": EVENT, "key_type": dict, "value_type": Tagged}
    with sequencefile.Writer(sink, classes=classes, **how) as writer:
        writer.write({"id": 1, "name": "k"}, Tagged(**RECORDS[0]))
    reader = sequencefile.Reader(sink.getvalue(), classes=classes, key_type=Event, value_type=Tagged)
    assert list(reader) == [(Event("k", 1), Tagged(**RECORDS[0]))]


def test_a_named_tuple_is_written_by_the_names_of_its_fields():
    classes = {EVENT: "id: long, name: text, at: vlong?"}
    data = written([Event("n", 7)], classes=classes, value_type=Event)
    assert list(sequencefile.Reader(data, classes=classes)) == [(0, {"id": 7, "name": "n", "at": None})]


def test_typed_bytes_of_a_described_class_are_those_of_a_dict():
    stream = sequencefile.Reader(written(RECORDS[:1]), classes=CLASSES).read_typed()
    expected = {**RECORDS[0], "id": tb.Long(5), "at": tb.Long(70000)}
    assert stream == tb.Encoder().encode_pairs([(0, expected)])


LONG_NAME = "a_field_whose_name_has_more_bytes_than_most_names_have"


@pytest.mark.parametrize("nbytes", [1, 600, 5000, 200_000])
@pytest.mark.parametrize("compression", ["none", "record", "block"])
def test_typed_bytes_have_every_length_of_text_at_every_end_of_memory(compression, nbytes):
    """Texts up to 16 bytes and names up to 32 are copied with bytes after them, where there is memory."""
    classes = {EVENT: f"n: int, text: text, {LONG_NAME}: utf, texts: list<text>?, kind: enum<vint, A, {LONG_NAME}>"}
    values = [
        {"n": n, "text": "x" * (n % 67), LONG_NAME: "y" * (n % 31), "texts": None if n % 3 else ["z" * n, ""],
         "kind": "A" if n % 2 else LONG_NAME}
        for n in range(700)
    ]  # fmt: skip
    file = written(values, classes=classes, compression=compression)
    reader = sequencefile.Reader(file, classes=classes)
    stream = b"".join(iter(lambda: reader.read_typed(nbytes), b""))
    assert stream == tb.Encoder().encode_pairs(list(enumerate(values)))
    assert [value for _, value in sequencefile.Reader(file, classes=classes)] == values


def test_functions_go_before_descriptions():
    reader = sequencefile.Reader(written(), classes=CLASSES, decoders={EVENT: len})
    assert [value for _, value in reader] == [len(value) for _, value in sequencefile.Reader(written(), raw=True)]


def test_a_description_replaces_a_class_that_is_known():
    data = sequencefile.encode("LongWritable", 2**33)
    assert sequencefile.decode("LongWritable", data, classes={"org.apache.hadoop.io.LongWritable": "int, int"}) == (
        2,
        0,
    )


def test_a_bad_record_is_skipped_alone():
    sink = io.BytesIO()
    with sequencefile.Writer(sink, key_class="IntWritable", value_class=EVENT, classes=CLASSES) as writer:
        writer.write(1, RECORDS[0])
        writer.write_raw(struct.pack(">i", 2), b"\0" * 9)
        writer.write(3, RECORDS[1])
    reader = sequencefile.Reader(sink.getvalue(), classes=CLASSES, resync=True)
    assert [key for key, _ in reader] == [1, 3]
    (skipped,) = reader.skipped
    assert "com.example.Event: expected at least 4 bytes for a list, got 0" in str(skipped.error)


# ---- errors ----


@pytest.mark.parametrize(
    "data, kind, message, offset, path",
    [
        (b"\0" * 7, tb.TruncatedError, "expected at least 8 bytes for a long, got 7", 7, ".id"),
        (b"\0" * 8 + b"\5ab", tb.FormatError, "count 5 of text with 2 bytes left", 8, ".name"),
        (b"\0" * 8 + b"\xff", tb.FormatError, "count -1 of text with 0 bytes left", 8, ".name"),
        (b"\0" * 9 + b"\x7f\xff\xff\xff\0", tb.FormatError, "count 2147483647 of a list", 9, ".tags"),
        (b"\0" * 8 + b"\1\xff" + b"\0" * 5, tb.FormatError, "STRING is not UTF-8", 8, ".name"),
        (b"\0" * 9 + b"\0\0\0\2\1a\1\xff\0", tb.FormatError, "STRING is not UTF-8", 15, ".tags[1]"),
        (b"\0" * 15, tb.FormatError, "1 byte is left after the last field", 14, ""),
    ],
)
def test_an_error_has_the_class_the_path_and_the_offset(data, kind, message, offset, path):
    with pytest.raises(kind) as caught:
        sequencefile.decode(EVENT, data, classes=CLASSES)
    assert EVENT in str(caught.value) and message in str(caught.value)
    assert (caught.value.offset, caught.value.path) == (offset, path)


@pytest.mark.parametrize(("class_name", "data"), [("IntWritable", b"ab"), ("Text", b"\2a"), (EVENT, b"a")])
def test_an_error_of_a_value_by_itself_has_no_record(class_name, data):
    with pytest.raises(tb.DecodeError) as caught:
        sequencefile.decode(class_name, data, classes=CLASSES)
    assert caught.value.record is None and "record" not in str(caught.value)


def test_a_value_that_does_not_fit_a_type_has_its_place_in_the_writable():
    @dataclasses.dataclass
    class Wrong:
        id: int
        tags: list[int]

    data = sequencefile.encode(EVENT, RECORDS[0], classes=CLASSES)
    with pytest.raises(tb.DecodeTypeError, match="com.example.Event: expected int, found STRING") as caught:
        sequencefile.decode(EVENT, data, classes=CLASSES, type=Wrong)
    assert (caught.value.offset, caught.value.path) == (15, ".tags[0]")


@pytest.mark.parametrize(
    "value, kind, message",
    [
        ({"id": 1}, tb.EncodeTypeError, "the field is missing, at .name"),
        ({**RECORDS[0], "more": 1}, tb.EncodeTypeError, "Event has no field 'more'"),
        ({**RECORDS[0], "id": 2**70}, tb.EncodeValueError, "at most 64 bits for a long, at .id"),
        ({**RECORDS[0], "id": True}, tb.EncodeTypeError, "expected a long, not a bool, at .id"),
        ({**RECORDS[0], "tags": ["a", 1]}, tb.EncodeTypeError, r"expected text, not an int, at .tags\[1\]"),
        ({**RECORDS[0], "name": None}, tb.EncodeTypeError, "expected text, not None, at .name"),
        ((1, "a"), tb.EncodeTypeError, "expected 4 items for Event"),
        (1, tb.EncodeTypeError, "expected Event, not an int"),
        (None, tb.EncodeTypeError, "expected Event, not None"),
    ],
)
def test_a_value_that_a_class_cannot_hold_is_named(value, kind, message):
    with pytest.raises(kind, match=f"com.example.Event: .*{message}"):
        sequencefile.encode(EVENT, value, classes=CLASSES)
    assert [value for _, value in sequencefile.Reader(written(), classes=CLASSES)] == RECORDS


@pytest.mark.parametrize(
    "text, message",
    [
        ("a: int, b", "unknown type 'b'"),
        ("a: String", r"unknown type 'String' \(text, utf or string, by the method that writes it\): "),
        ("a: Long, b: int", r"unknown type 'Long' \(long\?\): "),
        ("a: Integer", r"unknown type 'Integer' \(int\?\): "),
        ("a: int, long", "expected names for all fields, or for none"),
        ("a: int, a: long", "expected different names"),
        ("list<", "expected a type at the end"),
        ("list<int", "expected '>' at the end"),
        ("x: list<null>", "the items of a list take no bytes"),
        ("x: map<null, null>", "the pairs of a map take no bytes"),
        ("x: com.example.Event", "Event contains itself without an end"),
        ("com.example.Event", "no more than another name of itself"),
        ("x: int = a", "expected an integer type and its number"),
        ("x: byte = 300", "does not fit in a ByteWritable"),
        ("x: byte[2][3000000]", "expected a number up to 1048576"),
        ("x: long[1000000]", "takes 8000000 bytes at least"),
        ("x: " + "list<" * 50 + "int" + ">" * 50, "more than 40 levels"),
        ("x: int%", "unexpected '%'"),
        ("enum<vint, A, A>", "expected different names"),
        ("text<long>", "expected one of byte, short, int, vint, vlong"),
    ],
)
def test_a_description_that_is_wrong_is_refused_when_it_is_given(text, message):
    with pytest.raises(ValueError, match=message):
        sequencefile.Reader(written(), classes={EVENT: text})


def test_counts_take_no_memory_that_the_bytes_do_not_have():
    data = struct.pack(">i", 2**31 - 6) + b"\0" * 8
    for text in ("list<int?>", "bytes", "map<byte, byte>", "list<{a: byte, b: text}>", "TwoDArrayWritable<int>"):
        with pytest.raises(tb.FormatError, match="count 2147483642"):
            sequencefile.decode(EVENT, data, classes={EVENT: text})


def test_long_names_of_short_values_have_a_limit():
    fields = ", ".join(f"{'x' * 200}{n}: byte?" for n in range(1500))
    with pytest.raises(tb.LimitError, match="more than 268435456 bytes as typed bytes"):
        sequencefile.decode(EVENT, b"\0\0\4\0" + b"\0" * (1500 << 10), classes={EVENT: f"list<{{{fields}}}>"})


def test_recursion_has_a_limit_in_both_directions():
    classes = {"a.Node": "next: a.Node?"}
    with pytest.raises(tb.LimitError, match="values nest deeper than 64"):
        sequencefile.decode("a.Node", b"\1" * 200 + b"\0", classes=classes)
    value = None
    for _ in range(100):
        value = {"next": value}
    with pytest.raises(tb.EncodeValueError, match="values nest deeper than 64"):
        sequencefile.encode("a.Node", value, classes=classes)


def test_zeros_that_compress_well_have_a_limit():
    import zlib

    data = zlib.compress(bytes(300 << 20), 9)
    with pytest.raises(tb.LimitError, match="more than 268435456 bytes in a CompressedWritable"):
        sequencefile.decode(EVENT, struct.pack(">i", len(data)) + data, classes={EVENT: "CompressedWritable<rest>"})


# ---- rows of PySpark ----


def pickled(*batches):
    """Return the BytesWritable of a record with these pickles."""
    java = b"\xac\xed\0\5ur\0\3[[BK\xfd\x19\x15\x67\x67\xdb\x37\2\0\0xp" + struct.pack(">i", len(batches))
    for n, batch in enumerate(batches):
        kind = b"q\0\x7e\0\2" if n else b"r\0\2[B\xac\xf3\x17\xf8\6\x08\x54\xe0\2\0\0xp"
        java += b"u" + kind + struct.pack(">i", len(batch)) + batch
    return struct.pack(">i", len(java)) + java


@pytest.mark.parametrize("protocol", range(6))
def test_rows_are_read_by_the_safe_pickle(protocol):
    rows = [("a", 1, None), {"x": [1.5, b"y"]}, [True, 2**40], "text", {1: "one"}]
    data = pickled(pickle.dumps(rows[:3], protocol), pickle.dumps(rows[3:], protocol))
    assert sequencefile.decode("BytesWritable", data, classes={"org.apache.hadoop.io.BytesWritable": "pyspark"}) == rows


@pytest.mark.parametrize(
    "batch, message",
    [
        (pickle.dumps([print]), "asks for 'builtins'.'print'"),
        (b"\x80\2]cposix\nsystem\n(S'x'\ntRa.", "asks for 'posix'.'system'"),
        (b"\x80\2](]q\0h\0h\0e.", "it shares a list"),
        (b"\x80\2]", "it ends without STOP"),
    ],
)
def test_a_pickle_that_is_no_plain_row_is_refused(batch, message):
    with pytest.raises(tb.FormatError, match=message):
        sequencefile.decode("BytesWritable", pickled(batch), classes={"org.apache.hadoop.io.BytesWritable": "pyspark"})


# ---- columns ----


@pytest.mark.parametrize("how", [{}, {"compression": "block"}])
def test_a_described_class_is_a_struct_whatever_its_first_record(how):
    data = written(RECORDS[::-1] * 3, **how)
    (batch,) = columns.read(data, classes=CLASSES)
    assert batch.schema == {"key": "int", "value": "struct<id: long, name: string, tags: list<string>, at: long>"}
    assert batch.column("value.id").tolist() == [-1, 5] * 3
    assert batch.column("value.at").tolist() == [None, 70000] * 3
    (part,) = columns.read(sequencefile.Reader(data, classes=CLASSES), columns=["value.name"])
    assert part.column("value.name").tolist() == ["", "\xe9"] * 3


def test_columns_of_all_vectors_hold_what_a_reader_gives():
    for vector in VECTORS:
        classes, data = described(vector), bytes.fromhex(vector["hex"])
        sink = io.BytesIO()
        with sequencefile.Writer(sink, key_class="IntWritable", value_class=vector["class"]) as writer:
            writer.write_raw(b"\0\0\0\1", data)
        (batch,) = columns.read(sink.getvalue(), classes=classes)
        assert len(batch) == 1 and batch.column("key").tolist() == [1], vector["name"]


def test_a_reader_has_its_own_classes():
    with pytest.raises(ValueError, match="classes cannot be combined with a sequencefile.Reader"):
        columns.read(sequencefile.Reader(written()), classes=CLASSES)


# ---- files of descriptions, and MapFiles ----

TEXT = """\
# events
com.example.Event: id: long, name: text,
    tags: list<text>,   # of the event
    at: optional<vlong>
mrgeo.TileId: LongWritable
"""


def test_a_file_of_descriptions_is_read_again_after_an_error(monkeypatch, tmp_path):
    path = tmp_path / "typedbytes" / "classes"
    path.parent.mkdir()
    path.write_text("com.example.E: lnog\n")
    monkeypatch.delenv("TYPEDBYTES_CLASSES", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    for _ in range(2):
        with pytest.raises(ValueError, match=f"^{path}: class com.example.E: unknown type 'lnog'"):
            sequencefile.decode("com.example.E", bytes(8))
    path.write_text("com.example.E: long\n")
    assert sequencefile.decode("com.example.E", bytes(8)) == 0


@pytest.mark.parametrize("kind", ["MapWritable", "ObjectWritable", "list<SortedMapWritable>", "short = 1, text"])
def test_a_file_of_descriptions_with_classes_that_are_known(monkeypatch, tmp_path, kind):
    (tmp_path / "classes").write_text(f"com.example.E: {kind}\n")
    monkeypatch.setenv("TYPEDBYTES_CLASSES", str(tmp_path / "classes"))
    assert sequencefile.decode("IntWritable", bytes(4)) == 0
    assert sequencefile.decode("MapWritable", b"\0\0\0\0\0") == {}
    with pytest.raises(tb.DecodeError, match="com.example.E"):
        sequencefile.decode("com.example.E", b"")


def test_a_file_of_descriptions(tmp_path, monkeypatch):
    path = tmp_path / "classes"
    path.write_text(TEXT)
    assert list(sequencefile.Reader(written(), classes=path)) == list(enumerate(RECORDS))
    monkeypatch.setenv("TYPEDBYTES_CLASSES", str(path))
    assert list(sequencefile.Reader(written())) == list(enumerate(RECORDS))
    monkeypatch.delenv("TYPEDBYTES_CLASSES")
    (tmp_path / "typedbytes").mkdir()
    path.rename(tmp_path / "typedbytes" / "classes")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert list(sequencefile.Reader(written())) == list(enumerate(RECORDS))


@pytest.mark.parametrize(
    "text, message",
    [
        ("  id: long", "line 1: a line that continues nothing"),
        ("\ncom.example.Event", "line 2: expected 'class name: description'"),
        ("a.B: int\na.B: long", "line 2: class a.B is described twice"),
        ("a.B: nothing", "class a.B: unknown type 'nothing'"),
    ],
)
def test_a_file_that_is_wrong_says_where(tmp_path, text, message):
    (tmp_path / "classes").write_text(text)
    with pytest.raises(ValueError, match=message):
        sequencefile.Reader(written(), classes=tmp_path / "classes")


def map_file(folder, key_class, keys, classes):
    """Write a MapFile from keys to their numbers."""
    how = {"key_class": key_class, "classes": classes}
    with (
        sequencefile.Writer(folder / "data", value_class="IntWritable", **how) as data,
        sequencefile.Writer(folder / "index", value_class="LongWritable", **how) as index,
    ):
        for number, key in enumerate(keys):
            if number % 3 == 0:
                index.write(key, data.offset)
            data.write(key, number)


@pytest.mark.parametrize(
    "name, text, keys",
    [
        ("mrgeo.TileId", "LongWritable", [-(2**40), -1, 0, 1, 2**40]),
        ("org.apache.hadoop.hbase.io.ImmutableBytesWritable", None, [b"", b"\0", b"a", b"ab", b"\x80", b"\xff"]),
        ("a.Pair", "name: text, number: vint", [{"name": n, "number": i} for n in ("a", "b") for i in (-300, 0, 300)]),
        ("a.Utf", "utf", ["a", "\U0001f600", "\uff01"]),
        ("a.Colour", "enum<vint, RED, GREEN, BLUE>", ["RED", "GREEN", "BLUE"]),
    ],
)
def test_described_keys_are_looked_up_in_the_order_of_their_fields(tmp_path, name, text, keys):
    classes = {name: text} if text else {}
    map_file(tmp_path, name, keys, classes)
    with sequencefile.MapFile(tmp_path, classes=classes) as file:
        for number, key in enumerate(keys):
            assert file[key] == number and key in file


def test_described_keys_are_in_any_part_of_a_job(tmp_path):
    """Their hashCode() is known to the Java class alone."""
    classes = {"a.Pair": "name: text, number: vint"}
    keys = [{"name": name, "number": number} for name in ("a", "b") for number in range(6)]
    for number in range(3):
        (tmp_path / f"part-r-{number:05}").mkdir()
        map_file(tmp_path / f"part-r-{number:05}", "a.Pair", keys[number::3], classes)
    with sequencefile.MapFile(tmp_path, classes=classes) as file:
        for number, key in enumerate(keys):
            assert file[key] == file.get(key) == number // 3 and key in file
        missing = {"name": "c", "number": 0}
        assert file.get(missing) is None and missing not in file
        with pytest.raises(KeyError):
            file[missing]


def test_keys_without_a_clear_order_are_not_looked_up(tmp_path):
    classes = {"a.Key": "list<int>"}
    map_file(tmp_path, "a.Key", [[1]], classes)
    with pytest.raises(TypeError, match="cannot look up keys of unknown order, of class 'a.Key'"):
        sequencefile.MapFile(tmp_path, classes=classes)
