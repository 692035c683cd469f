"""What Spark's tasks read and write, without Spark: splits as record batches, folders whole or not there."""

import datetime as dt
import decimal
import enum
import os
import typing
import uuid

import fsspec
import msgspec
import pyarrow
import pytest
from fsspec.implementations.memory import MemoryFileSystem

import typedbytes as tb
from support.subprocess_runs import run_fresh
from support.vectors import read_jsonl
from typedbytes import columns, records, sequencefile
from typedbytes.spark import _output, _splits
from typedbytes.spark._splits import Options, SchemaError, Split

PAIRS = [(f"word {i}", i) for i in range(300)]


def write(path, pairs, **how):
    with sequencefile.open(path, "w", **how) as writer:
        writer.writes(pairs)
    return str(path)


def rows_of(path, schema=None, **given):
    """Return the rows of a path, split by split."""
    options = Options(given)
    schema = schema or _splits.infer_schema(path, options)
    return [
        tuple(row.values())
        for split in _splits.make_splits(path, options)
        for batch in _splits.batches_of(split, options, schema)
        for row in batch.to_pylist()
    ]


@pytest.mark.parametrize(
    "how",
    [{}, {"codec": "default", "block_size": 500}, {"compression": "record", "codec": "gzip", "sync_interval": 200}],
)
def test_each_record_is_in_one_split_of_any_size(tmp_path, how):
    path = write(tmp_path / "in.seq", PAIRS, **how)
    nbytes = os.path.getsize(path)
    for size in (1, 7, 100, 1000, nbytes - 1, nbytes, nbytes + 1):
        assert rows_of(path, splitSize=size) == PAIRS, size


RCFILES = {each["name"]: each for each in read_jsonl("sequencefile/rcfiles.jsonl")}
FILE_SCHEMA = "id: long, name: string, x: double"


@pytest.fixture
def warehouse(tmp_path):
    """A folder of RCFiles, and the rows that Hive reads from it."""
    rows = []
    for number, name in enumerate(["wider schema", "groups/text", "gzip/text/old"]):
        (tmp_path / f"00000{number}_0").write_bytes(bytes.fromhex(RCFILES[name]["hex"]))
        rows += map(tuple, eval(RCFILES[name]["rows"]))
    return str(tmp_path), rows


@pytest.mark.parametrize("size", ["97", "128m"])
def test_rcfiles_have_the_columns_of_their_schema(size, warehouse):
    path, rows = warehouse
    assert rows_of(path, fileSchema=FILE_SCHEMA, splitSize=size) == rows
    some = rows_of(path, fileSchema=FILE_SCHEMA, columns="x, id", pathColumn="path", splitSize=size)
    assert [(x, n) for x, n, _ in some] == [(row[2], row[0]) for row in rows]
    assert {os.path.basename(path) for _, _, path in some} == {"000000_0", "000001_0", "000002_0"}


def test_without_a_schema_rcfiles_have_text_by_number(warehouse):
    path, rows = warehouse
    schema = _splits.infer_schema(path, Options({}))
    assert schema.arrow == pyarrow.schema([(name, pyarrow.string()) for name in "012"])
    assert rows_of(path) == [tuple(None if cell is None else str(cell) for cell in row) for row in rows]


def given(path, fields, **options):
    return _splits.given_schema(path, Options(options), pyarrow.schema(fields))


def test_a_schema_of_spark_names_the_columns_of_rcfiles(warehouse):
    path, rows = warehouse
    fields = [("n", pyarrow.int64()), ("word", pyarrow.string())]
    assert rows_of(path, given(path, fields)) == [row[:2] for row in rows]
    fields = [("x", pyarrow.float64()), ("id", pyarrow.int64())]
    assert rows_of(path, given(path, fields, fileSchema=FILE_SCHEMA)) == [(row[2], row[0]) for row in rows]
    with pytest.raises(SchemaError, match="the schema has the column z"):
        given(path, [("z", pyarrow.int64())], fileSchema=FILE_SCHEMA)
    assert rows_of(path, given(path, [("2", pyarrow.string())], columns="2")) == [
        (None if row[2] is None else str(row[2]),) for row in rows
    ]
    with pytest.raises(ValueError, match="the columns of the schema are x, id, and those of the option"):
        given(path, fields, columns="x")
    with pytest.raises(SchemaError, match="at: no column of an RCFile is a timestamp.*, but timestamp_ntz"):
        given(path, [("at", pyarrow.timestamp("us", "UTC"))])
    with pytest.raises(ValueError, match="fileSchema: column 'id': expected a colon"):
        Options({"fileSchema": "id"})


@pytest.mark.parametrize("name", ["scalars/text", "nested/text"])
def test_every_type_of_hive_is_one_of_spark(name, tmp_path):
    path = tmp_path / "000000_0"
    path.write_bytes(bytes.fromhex(RCFILES[name]["hex"]))
    ours = {column: kind for column, _, kind in RCFILES[name]["columns"]}
    found = _splits.infer_schema(str(path), Options({"fileSchema": ", ".join(map(": ".join, ours.items()))}))
    schema = given(str(path), found.arrow)
    assert [kind.replace('"', "") for kind in schema.types.values()] == [
        kind.replace("row<", "struct<") for kind in ours.values()
    ]
    with columns.read(str(path), schema=ours) as reader:
        rows = [tuple(row.values()) for row in reader.to_arrow().to_pylist()]
    assert repr(rows_of(str(path), schema)) == repr(rows)  # nan is not nan


def test_rcfiles_are_not_read_with_other_files(warehouse):
    path, _ = warehouse
    write(os.path.join(path, "other"), PAIRS)
    with pytest.raises(SchemaError, match="other: RCFiles and other files cannot be read together"):
        rows_of(path, fileSchema=FILE_SCHEMA)


def test_a_described_class_is_a_struct(tmp_path):
    classes = {"com.example.Event": "id: long, tags: list<text>, at: vlong?"}
    events = [{"id": n, "tags": ["a"] * (n % 2), "at": n if n % 3 else None} for n in range(6)]
    how = {"key_class": "IntWritable", "value_class": "com.example.Event", "classes": classes}
    path = write(tmp_path / "in.seq", enumerate(events), **how)
    (tmp_path / "classes").write_text("com.example.Event: id: long, tags: list<text>, at: vlong?")
    given = {"classes": str(tmp_path / "classes")}
    schema = _splits.infer_schema(path, Options(given))
    fields = [("id", pyarrow.int64()), ("tags", pyarrow.list_(pyarrow.string())), ("at", pyarrow.int64())]
    assert schema.arrow.field("value").type == pyarrow.struct(fields)
    assert rows_of(path, **given) == list(enumerate(events))


def test_files_of_several_formats(tmp_path):
    write(tmp_path / "part-00000", PAIRS[:10])
    with tb.PairWriter(tmp_path / "part-00001") as writer:
        writer.writes(PAIRS[10:20])
    with tb.PairWriter(tmp_path / "part-00002.gz") as writer:
        writer.writes(PAIRS[20:])
    (tmp_path / "_SUCCESS").touch()
    assert rows_of(str(tmp_path)) == rows_of(f"{tmp_path}/part-*") == PAIRS
    named = rows_of(str(tmp_path), pathColumn="_path")
    assert named[0] == (*PAIRS[0], f"{tmp_path}/part-00000") and named[-1] == (*PAIRS[-1], f"{tmp_path}/part-00002.gz")


def test_values_that_are_no_pairs(tmp_path):
    tb.dump_all([1, 2, 3], tmp_path / "in.tb")
    assert rows_of(str(tmp_path / "in.tb"), pairs="false") == [(1,), (2,), (3,)]


def test_numbers_become_those_of_the_schema(tmp_path):
    write(tmp_path / "a.seq", [("a", 1 << 40)])
    write(tmp_path / "b.seq", [("b", 1), ("c", 1 << 41)])
    assert rows_of(str(tmp_path)) == [("a", 1 << 40), ("b", 1), ("c", 1 << 41)]
    os.rename(tmp_path / "a.seq", tmp_path / "z.seq")
    write(tmp_path / "b.seq", [("b", 1)])
    with pytest.raises(
        SchemaError,
        match=(
            "z.seq: the column value holds int64, and the schema has int32, which cannot hold all of the numbers: "
            "give another schema, or mergeSchema"
        ),
    ):
        rows_of(str(tmp_path))
    assert rows_of(str(tmp_path), mergeSchema="true") == [("b", 1), ("a", 1 << 40)]


@pytest.mark.parametrize(
    "value, kind",
    [
        ("text", "string"),
        (1.5, "double"),
        ([1], "list<item: int32>"),
        ((1, 2), r"fixed_size_list<item: int32>\[2\]"),
        (b"x", "binary"),
    ],
)
def test_a_value_that_does_not_fit_is_an_error_that_names_the_file(tmp_path, value, kind):
    write(tmp_path / "a.seq", [("a", 1)])
    write(tmp_path / "b.seq", [("b", value)])
    with pytest.raises(SchemaError, match=f"b.seq: the column value holds {kind}, and the schema has int32"):
        rows_of(str(tmp_path))


def test_a_column_of_several_types_holds_encoded_values_everywhere(tmp_path):
    write(tmp_path / "a.seq", [("a", 1), ("b", "x")])
    write(tmp_path / "b.seq", [("c", "y")])
    assert rows_of(str(tmp_path)) == [("a", tb.dumps(1)), ("b", tb.dumps("x")), ("c", tb.dumps("y"))]
    os.rename(tmp_path / "a.seq", tmp_path / "z.seq")
    with pytest.raises(SchemaError, match="holds values of several types, and the schema has string"):
        rows_of(str(tmp_path))


@pytest.mark.parametrize("value", [b"y", tb.Ext(60, b"y"), 2])
def test_bytes_are_of_one_kind_whatever_schema_is_given(tmp_path, value):
    """Encoded values, BYTES and application data are all binary in Arrow."""
    write(tmp_path / "a.seq", [("a", decimal.Decimal("1.5"))])
    write(tmp_path / "b.seq", [("b", value)])
    arrow = pyarrow.schema([("word", pyarrow.string()), ("blob", pyarrow.binary())])
    with pytest.raises(SchemaError, match="b.seq: the column blob holds .*, and the schema has "):
        rows_of(str(tmp_path), _splits.given_schema(str(tmp_path), Options({}), arrow))
    encoded = rows_of(str(tmp_path), _splits.given_schema(str(tmp_path), Options({"mergeSchema": True}), arrow))
    assert encoded == [("a", tb.dumps(decimal.Decimal("1.5"))), ("b", tb.dumps(value))]


def test_a_schema_of_numbers_is_cast_to(tmp_path):
    write(tmp_path / "a.seq", [("a", (1, "x")), ("b", (2, "y"))])
    kind = pyarrow.struct([("0", pyarrow.float64()), ("1", pyarrow.string())])
    given = _splits.given_schema(
        str(tmp_path), Options({}), pyarrow.schema([("key", pyarrow.string()), ("value", kind)])
    )
    assert rows_of(str(tmp_path), given) == [("a", {"0": 1.0, "1": "x"}), ("b", {"0": 2.0, "1": "y"})]


def test_an_empty_map_in_a_struct_is_cast_or_an_error_that_names_the_file(tmp_path):
    """Of pyarrow's versions some refuse the struct that they have cast themselves, and others do not."""
    write(tmp_path / "a.seq", [("a", ({1: 1}, {}))])
    (batch,) = columns.read(tb.Encoder().encode_pairs([("a", ({1: 1 << 40}, {}))]))
    try:
        rows = rows_of(str(tmp_path), _splits.Schema(pyarrow.record_batch(batch).schema, {}))
    except SchemaError as error:
        assert f"{tmp_path}/a.seq: the records do not fit the schema: " in str(error)
    else:
        assert rows == [("a", {"0": [(1, 1)], "1": []})]


LONGS = pyarrow.struct([("a", pyarrow.int64()), ("b", pyarrow.int64())])
DEEP = pyarrow.list_(
    pyarrow.struct([("m", pyarrow.map_(pyarrow.string(), pyarrow.list_(pyarrow.int32()))), ("s", LONGS)])
)
TIMES = {
    "day": (pyarrow.date32(), dt.date(1999, 12, 31)), "wall": (pyarrow.timestamp("us"), dt.datetime(2020, 1, 2, 3)),
    "at": (pyarrow.timestamp("us", "UTC"), dt.datetime(2020, 1, 2, 3, tzinfo=dt.timezone.utc)),
    "pause": (pyarrow.duration("us"), dt.timedelta(seconds=-1.5)), "clock": (pyarrow.time64("ns"), dt.time(12, 30)),
    "price": (pyarrow.decimal128(9, 2), decimal.Decimal("-1.50")),
}  # fmt: skip
DECLARED = {
    "longs": (LONGS, [{"a": 1, "b": 1 << 40}, None, {"a": None, "b": 2}]),
    "later": (LONGS, [None, {"a": 1, "b": 2}]),
    "wide": (pyarrow.struct([(f"f{n}", pyarrow.int64()) for n in range(500)]), [{f"f{n}": n for n in range(500)}]),
    "mixed": (
        pyarrow.struct([("id", pyarrow.int32()), ("s", pyarrow.string()), ("l", pyarrow.list_(pyarrow.int32()))]),
        [{"id": 1, "s": "x", "l": [1, 2]}, {"id": 2, "s": None, "l": None}],
    ),
    "deep": (DEEP, [[{"m": [("k", [1, 2])], "s": {"a": 1, "b": 2}}, {"m": [], "s": {"a": 3, "b": None}}], [], None]),
    "list of days": (pyarrow.list_(pyarrow.date32()), [[dt.date(2020, 1, 1)], [], None]),
    "days by name": (pyarrow.map_(pyarrow.string(), pyarrow.date32()), [[("k", dt.date(2020, 1, 1))], []]),
    "times": (
        pyarrow.struct([(name, kind) for name, (kind, _) in TIMES.items()]),
        [{name: value for name, (_, value) in TIMES.items()}, dict.fromkeys(TIMES), None],
    ),
    **{name: (kind, [value, None]) for name, (kind, value) in TIMES.items()},
}  # fmt: skip


@pytest.mark.parametrize("structs", ["map", "vector"])
@pytest.mark.parametrize("name", DECLARED)
def test_a_column_is_read_back_by_the_schema_that_it_was_written_by(tmp_path, name, structs):
    """A MAP of values of one type has no fields by itself, a VECTOR no names, and an INT is no date."""
    kind, values = DECLARED[name]
    arrow = pyarrow.schema([("key", pyarrow.int32()), ("value", kind)])
    batch = pyarrow.RecordBatch.from_arrays(
        [pyarrow.array(range(len(values)), pyarrow.int32()), pyarrow.array(values, kind)], schema=arrow
    )
    output = _output.Output(f"{tmp_path}/out", {"structs": structs}, False)
    output.commit([output.write(iter([batch]), 0, 0)])
    found = rows_of(f"{tmp_path}/out", _splits.given_schema(f"{tmp_path}/out", Options({}), arrow))
    assert found == list(enumerate(values))


MIXED = pyarrow.struct([("a", pyarrow.int32()), ("b", pyarrow.string())])
A, AB = {"a": 1, "b": None}, {"a": 2, "b": "x"}
BLOB = pyarrow.struct([("s", LONGS), ("blob", pyarrow.binary())])
#: A type, and the values of each file: fields that the first records do not have.
SPARSE = {
    "never": (MIXED, [[A]]),
    "first of one type": (MIXED, [[{"a": None, "b": "y"}], [A]]),
    "in the second file": (MIXED, [[A], [AB, A]]),
    "after a batch": (MIXED, [[A] * 70_000 + [AB]]),
    "in lists": (pyarrow.list_(MIXED), [[[A]], [[], [AB]]]),
    "in MAPs": (pyarrow.map_(pyarrow.string(), MIXED), [[[("k", A)]], [[("k", AB)]]]),
    "lists later": (pyarrow.list_(MIXED), [[[], None], [[AB]]]),
    "lists after a batch": (pyarrow.list_(MIXED), [[None] + [[]] * 70_000 + [[AB], [], [A]]]),
    "MAPs later": (pyarrow.map_(pyarrow.int64(), MIXED), [[[], None], [[(1, A), (1 << 40, AB)]]]),
    "days later": (pyarrow.map_(pyarrow.string(), pyarrow.date32()), [[[]], [[("k", dt.date(2020, 1, 1))]]]),
    "narrow numbers": (
        pyarrow.struct([("a", pyarrow.int8()), ("b", pyarrow.int32()), ("c", pyarrow.float32())]),
        [[{"a": 1, "b": None, "c": None}], [{"a": 1, "b": 2, "c": 0.5}]],
    ),
    "widened together": (
        pyarrow.struct([("day", pyarrow.date32()), ("n", pyarrow.int64()), ("x", pyarrow.float32()), *MIXED]),
        [[
            {"day": None, "n": 1 << 40, "x": None, "a": None, "b": None},
            {"day": None, "n": None, "x": 0.5, "a": None, "b": None},
            {"day": None, "n": None, "x": None, "a": None, "b": "x"},
            {"day": dt.date(2020, 1, 1), "n": None, "x": 1.5, "a": 3, "b": "y"},
        ]],
    ),
    "bytes": (BLOB, [[{"s": {"a": 1, "b": 2}, "blob": None}, {"s": None, "blob": b"x"}], [{"s": None, "blob": b"y"}]]),
    "lists and scalars": (
        pyarrow.struct([("l", pyarrow.list_(pyarrow.int32())), ("m", pyarrow.list_(pyarrow.string())), *MIXED]),
        [[{"l": [1, 2], "m": None, "a": None, "b": None}], [{"l": None, "m": ["x"], "a": 1, "b": "y"}]],
    ),
    "structs and scalars": (
        pyarrow.struct([("a", pyarrow.int32()), ("s", MIXED), ("m", pyarrow.map_(pyarrow.int32(), MIXED))]),
        [[{"a": 1, "s": None, "m": None}], [{"a": None, "s": AB, "m": [(1, AB)]}]],
    ),
}  # fmt: skip


@pytest.mark.parametrize("structs", ["map", "vector"])
@pytest.mark.parametrize("name", SPARSE)
def test_fields_that_first_records_lack_have_the_types_of_the_schema(tmp_path, name, structs):
    """A MAP of which only fields of one type are there has that type, and says nothing of its other fields."""
    kind, files = SPARSE[name]
    arrow = pyarrow.schema([("key", pyarrow.int32()), ("value", kind)])
    output, written = _output.Output(str(tmp_path), {"structs": structs}, False), []
    for number, values in enumerate(files):
        arrays = [pyarrow.array(range(len(values)), pyarrow.int32()), pyarrow.array(values, kind)]
        written.append(output.write(iter([pyarrow.RecordBatch.from_arrays(arrays, schema=arrow)]), number, 0))
    output.commit(written)
    found = rows_of(str(tmp_path), _splits.given_schema(str(tmp_path), Options({}), arrow))
    assert found == [row for values in files for row in enumerate(values)]


def test_a_field_that_is_binary_has_one_kind_of_bytes_in_all_splits(tmp_path):
    """What first records have is BYTES: encoded values of a later split are not read beside them."""
    write(tmp_path / "a.seq", [("a", {"n": 1, "blob": b"x"})])
    write(tmp_path / "b.seq", [("b", {"n": 1, "blob": b"x"}), ("c", {"n": 2, "blob": "text"})])
    kind = pyarrow.struct([("n", pyarrow.int32()), ("blob", pyarrow.binary())])
    schema = given(str(tmp_path), [("key", pyarrow.string()), ("value", kind)])
    with pytest.raises(SchemaError, match="b.seq: the column value holds .*blob: raw.*, and the schema has "):
        rows_of(str(tmp_path), schema)


@pytest.mark.parametrize(
    "blobs, expected",
    [([tb.Ext(60, b"x"), tb.Ext(60, b"y")], [b"x", b"y"]), ([1, "x"], [tb.dumps(1), tb.dumps("x")])],
    ids=["one code", "several"],
)
def test_a_field_that_is_binary_keeps_the_type_that_first_records_have(tmp_path, blobs, expected):
    write(tmp_path / "a.seq", [(number, {"n": 1, "blob": blob}) for number, blob in enumerate(blobs)])
    kind = pyarrow.struct([("n", pyarrow.int32()), ("blob", pyarrow.binary())])
    schema = given(str(tmp_path), [("key", pyarrow.int32()), ("value", kind)])
    assert [value["blob"] for _, value in rows_of(str(tmp_path), schema)] == expected


@pytest.mark.parametrize("names", [["key"], ["value", "key"], ["key", "value", "more"]])
def test_a_schema_of_other_columns_is_refused_before_the_query(tmp_path, names):
    path = write(tmp_path / "in.seq", PAIRS)
    arrow = pyarrow.schema([(name, pyarrow.string()) for name in names])
    message = f"the columns of the schema are {', '.join(names)}, and those of records key, value"
    with pytest.raises(SchemaError, match=message):
        _splits.given_schema(path, Options({}), arrow)


def test_a_schema_with_a_struct_is_enough_for_no_records(tmp_path):
    path = write(tmp_path / "in.seq", [])
    arrow = pyarrow.schema([("key", pyarrow.string()), ("value", LONGS)])
    assert rows_of(path, _splits.given_schema(path, Options({}), arrow)) == []


def test_nulls_and_lists(tmp_path):
    pairs = [("a", (1, 2)), ("b", None), ("c", (3, 4))]
    assert rows_of(write(tmp_path / "in.seq", pairs)) == [("a", [1, 2]), ("b", None), ("c", [3, 4])]


def test_what_holds_nothing(tmp_path):
    path = write(tmp_path / "in.seq", [])
    with pytest.raises(SchemaError, match="there are no records to take the schema from"):
        _splits.infer_schema(path, Options({}))
    assert (
        rows_of(path, _splits.Schema(pyarrow.schema([("key", pyarrow.string()), ("value", pyarrow.int32())]), {})) == []
    )


@pytest.mark.parametrize(
    "given",
    [{"splitSize": "0"}, {"splitSize": "1x"}, {"pairs": "maybe"}, {"pushFilters": "true"}, {"pathGlobFilter": "*.seq"}],
)
def test_wrong_options(given):
    with pytest.raises(ValueError, match=next(iter(given))):
        Options(given)


def test_sizes():
    assert [Options({"SPLITSIZE": text}).split_size for text in ("10", "5k", "2M", "1g", 7)] == [
        10, 5 << 10, 2 << 20, 1 << 30, 7,
    ]  # fmt: skip
    assert vars(Options({"pushFilters": "false"})) == vars(Options({}))


BATCHES = [pyarrow.record_batch({"k": ["a", "b"], "v": [1, None]}), pyarrow.record_batch({"k": ["c"], "v": [3]})]


@pytest.fixture(params=["local", "memory"])
def folder(request, tmp_path):
    return str(tmp_path / "out") if request.param == "local" else f"memory://{uuid.uuid4()}"  # outlives the test


@pytest.mark.parametrize("codec", ["none", "default", "zstd"])
def test_a_job_writes_its_files_when_all_tasks_have_succeeded(folder, codec):
    output = _output.Output(folder, {"codec": codec}, False)
    written = [output.write(iter(BATCHES), 0, 5), output.write(iter([]), 1, 6), output.write(iter(BATCHES[1:]), 2, 7)]
    output.write(iter(BATCHES), 0, 8)  # an attempt that was not chosen
    output.commit(written)
    assert sorted(sequencefile.read(folder)) == [("a", 1), ("b", None), ("c", 3), ("c", 3)]
    more = _output.Output(folder, {}, False)
    more.commit([more.write(iter(BATCHES[1:]), 0, 1)])
    assert len(list(sequencefile.read(folder))) == 5
    instead = _output.Output(folder, {}, True)
    instead.commit([instead.write(iter(BATCHES[1:]), 0, 1)])
    assert list(sequencefile.read(folder)) == [("c", 3)]


@pytest.mark.parametrize("types", [{}, {"type": typing.Optional[int], "keytype": str}], ids=["", "typed"])
@pytest.mark.parametrize("nulls, encoded", [("value", b"d\0\0\0\x04\x80\x02N."), ("hive", b"\x0c")])
def test_a_null_is_nones_pickle_or_that_of_hive(folder, nulls, encoded, types):
    output = _output.Output(folder, {"nulls": nulls, "codec": "none", **types}, False)
    output.commit([output.write(iter(BATCHES), 0, 1)])
    assert sum(encoded in content for content in files_in(folder).values()) == 1
    dialect = {"dialect": "hive"} if nulls == "hive" else {}
    assert list(sequencefile.read(folder, **dialect)) == [("a", 1), ("b", None), ("c", 3)]


def files_in(folder):
    """Return the names and contents of the files of a folder, which may be a URL."""
    fs, path = fsspec.core.url_to_fs(folder)
    return {file.rpartition("/")[2]: fs.cat_file(file) for file in fs.ls(path, detail=False) if fs.isfile(file)}


@pytest.mark.parametrize("overwrite", [False, True], ids=["append", "overwrite"])
def test_a_job_that_fails_among_its_names_leaves_what_was_there(folder, overwrite, monkeypatch):
    before = _output.Output(folder, {}, False)
    before.commit([before.write(iter(BATCHES), 0, 1)])
    found, names, rename = files_in(folder), [], _output.rename

    def fail_second(path, name):
        assert "_SUCCESS" not in files_in(folder)  # a process that is killed here leaves no folder that seems complete
        names.append(name)
        rename(path, name)
        if len(names) == 2:
            raise OSError("no answer")  # of a rename that may have been done

    output = _output.Output(folder, {}, overwrite)
    written = [output.write(iter(BATCHES), partition, 2) for partition in range(3)]
    monkeypatch.setattr(_output, "rename", fail_second)
    with pytest.raises(OSError, match="no answer"):
        output.commit(written)
    output.abort()
    assert files_in(folder) == found and "_SUCCESS" in found


def fail_after(monkeypatch, nsteps):
    """Make the step of a commit after this many fail once it is done; return the list of the steps that were begun."""
    begun = []

    def failing(function):
        def step(*arguments):
            begun.append(function.__name__)
            is_last = len(begun) == nsteps + 1
            result = function(*arguments)
            if is_last:
                raise OSError("no answer")
            return result

        return step

    for owner, name in (
        (_output, "make_folder"),
        (_output, "rename"),
        (_output, "remove"),
        (_output.Output, "_mark_complete"),
    ):
        monkeypatch.setattr(owner, name, failing(getattr(owner, name)))
    return begun


@pytest.mark.parametrize("is_complete", [False, True], ids=["incomplete", "complete"])
@pytest.mark.parametrize("overwrite", [False, True], ids=["append", "overwrite"])
def test_a_job_that_fails_at_any_step_of_its_commit_leaves_what_was_there(folder, overwrite, is_complete):
    before = _output.Output(folder, {}, False)
    before.commit([before.write(iter(BATCHES), partition, 1) for partition in range(2)])
    fs, path = fsspec.core.url_to_fs(folder)
    if not is_complete:
        fs.rm_file(f"{path}/_SUCCESS")
    found, nsteps = files_in(folder), 0
    while nsteps is not None:
        output = _output.Output(folder, {}, overwrite)
        written = [output.write(iter(BATCHES[1:]), partition, 2) for partition in range(2)]
        with pytest.MonkeyPatch.context() as monkeypatch:
            begun = fail_after(monkeypatch, nsteps)
            try:
                output.commit(written)
            except OSError:
                output.abort()
                assert files_in(folder) == found and len(fs.ls(path)) == len(found), begun
                nsteps += 1
            else:
                nsteps = None
    assert begun[-1] == "_mark_complete" and "_SUCCESS" in files_in(folder)
    assert len(list(sequencefile.read(folder))) == (2 if overwrite else 8)


def test_old_files_that_cannot_be_moved_back_are_kept(folder, monkeypatch):
    before = _output.Output(folder, {}, False)
    before.commit([before.write(iter(BATCHES), partition, 1) for partition in range(2)])
    found, rename = files_in(folder), _output.rename
    first, last = sorted(name for name in found if name != "_SUCCESS")

    def fail_from_last(path, name):
        if last in path or name == f"{folder}/{first}":
            raise OSError("no answer")
        rename(path, name)

    output = _output.Output(folder, {}, True)
    written = [output.write(iter(BATCHES), 0, 2)]
    monkeypatch.setattr(_output, "rename", fail_from_last)
    with pytest.raises(OSError, match="no answer"):
        output.commit(written)
    output.abort()
    assert files_in(folder) == {last: found[last]}
    assert files_in(output._replaced) == {first: found[first]}


def test_a_folder_with_new_files_that_cannot_be_removed_is_not_marked_complete(folder, monkeypatch):
    before = _output.Output(folder, {}, False)
    before.commit([before.write(iter(BATCHES), 0, 1)])
    remove = _output.remove

    def fail_new(path):
        if output._job in path:
            raise OSError("no answer")
        remove(path)

    def fail_once():
        monkeypatch.setattr(output, "_mark_complete", mark_complete)
        raise OSError("disk full")

    output = _output.Output(folder, {}, False)
    written = [output.write(iter(BATCHES), 0, 2)]
    monkeypatch.setattr(_output, "remove", fail_new)
    mark_complete = output._mark_complete
    monkeypatch.setattr(output, "_mark_complete", fail_once)
    with pytest.raises(OSError, match="disk full"):
        output.commit(written)
    assert "_SUCCESS" not in files_in(folder)


def test_a_temporary_folder_that_cannot_be_removed_fails_no_job(monkeypatch):
    folder, remove = f"memory://{uuid.uuid4()}", MemoryFileSystem.rm

    def fail_folder(fs, path, recursive=False, **options):
        if recursive:
            raise OSError("no answer")
        remove(fs, path, **options)

    output = _output.Output(folder, {}, False)
    written = [output.write(iter(BATCHES), 0, 1)]
    monkeypatch.setattr(MemoryFileSystem, "rm", fail_folder)
    output.commit(written)
    assert len(list(sequencefile.read(folder))) == 3 and "_SUCCESS" in files_in(folder)


def test_a_job_that_is_given_up_leaves_nothing(tmp_path):
    output = _output.Output(str(tmp_path), {}, False)
    output.write(iter(BATCHES), 0, 5)
    with pytest.raises(tb.EncodeValueError, match="value is null"):
        _output.Output(str(tmp_path), {"nulls": "error"}, False).write(iter(BATCHES), 1, 6)
    output.abort()
    assert [name for name in os.listdir(tmp_path) if not name.startswith("_temporary")] == []
    assert not os.path.exists(output._temporary)


def test_an_unknown_codec_is_refused_before_the_job():
    with pytest.raises(tb.FormatError, match="unknown codec 'best'"):
        _output.Output("never", {"codec": "best"}, False)


def test_a_split_of_a_stream_of_pairs_is_the_file(tmp_path):
    (tmp_path / "in.tb").write_bytes(tb.Encoder().encode_pairs(PAIRS))
    assert _splits.make_splits(str(tmp_path / "in.tb"), Options({"splitSize": 10})) == [
        Split(str(tmp_path / "in.tb"), None, None)
    ]


def test_what_is_missing_is_said():
    code = """
        import sys
        sys.modules["pyspark"] = None    # whether or not it is installed
        from typedbytes import spark

        for function in (lambda: spark.register(None), lambda: spark.read(None, "never")):
            try:
                function()
            except ModuleNotFoundError as error:
                print(str(error).endswith(": pip install 'typedbytes[spark]'"))
        print(dir(spark))
    """
    assert run_fresh(code).splitlines() == ["True", "True", "['read', 'register', 'run_job', 'run_script']"]


def map_of(*pairs):
    """Return the encoded MAP of these pairs, equal keys among them."""
    return b"\x0a" + len(pairs).to_bytes(4, "big") + b"".join(tb.dumps(item) for pair in pairs for item in pair)


EQUAL = map_of(("a", 1), ("b", 2), ("a", 3))


LONG = [(str(n), n) for n in range(30)]


@pytest.mark.parametrize(
    "value",
    [EQUAL, map_of((5, 1), (5, 1)), map_of(*LONG, LONG[0]), map_of(("x", 0))[:11] + EQUAL, b"\x09" + EQUAL + b"\xff"],
)
def test_equal_keys_of_a_map_are_refused(tmp_path, value):
    """Spark's collect() takes the last value of equal keys, and value['a'] the first."""
    (tmp_path / "in.tb").write_bytes(value)
    with pytest.raises(_splits.SchemaError, match="a MAP in column 'value' has equal keys"):
        rows_of(str(tmp_path), pairs="false")


def test_maps_without_equal_keys_are_read(tmp_path):
    values = [dict(LONG[:n]) for n in (1, 5, 1, 0, 5, 30, 5)]
    (tmp_path / "in.tb").write_bytes(b"".join(map(tb.dumps, values)))
    assert [dict(row[0]) for row in rows_of(str(tmp_path), pairs="false")] == values


class Size(enum.IntEnum):
    SMALL = 1


class Point(typing.NamedTuple):
    x: int
    y: float = 0.5


class Tagged(msgspec.Struct, tag="t", rename="camel"):
    long_name: str
    left_out: typing.Union[int, msgspec.UnsetType] = msgspec.UNSET


class Partial(typing.TypedDict, total=False):
    n: int


ZONED = dt.datetime(2026, 5, 1, 12, tzinfo=dt.timezone.utc)
#: An annotation, a type of Spark in Arrow, values as Spark's rows have them, and what is written of each.
TYPED = {
    "seconds": (typing.Annotated[dt.datetime, records.Seconds], pyarrow.timestamp("us"), [
        (ZONED.replace(tzinfo=None), tb.Long(1777636800))]),
    "text": (typing.Annotated[dt.datetime, records.UTC, records.Text], pyarrow.timestamp("us", "UTC"), [
        (ZONED, "2026-05-01T12:00:00Z")]),
    "day": (typing.Annotated[dt.date, records.Text], pyarrow.date32(), [(ZONED.date(), "2026-05-01")]),
    "time": (typing.Annotated[dt.time, records.Seconds], pyarrow.time64("us"), [(dt.time(1), 3600)]),
    "pause": (typing.Annotated[dt.timedelta, records.Milliseconds], pyarrow.duration("us"), [
        (dt.timedelta(1), 86400000)]),
    "decimal": (typing.Annotated[decimal.Decimal, records.Precision(9, 2)], pyarrow.decimal128(9, 2), [
        (decimal.Decimal("1.50"), "1.50")]),
    "enum": (Size, pyarrow.int64(), [(1, 1)]),
    "uuid": (typing.Annotated[uuid.UUID, records.Text], pyarrow.binary(), [(bytes(16), str(uuid.UUID(int=0)))]),
    "narrow": (typing.Annotated[int, tb.Byte], pyarrow.int8(), [(-1, tb.Byte(-1))]),
    "set": (set[str], pyarrow.list_(pyarrow.field("item", pyarrow.string(), False)), [(["a"], ["a"])]),
    "numbers": (tuple[float, float], pyarrow.list_(pyarrow.float64()), [([0.5, 1.5], (0.5, 1.5))]),
    "texts": (tuple[str, str], pyarrow.struct([
        pyarrow.field("0", pyarrow.string(), False), pyarrow.field("1", pyarrow.string(), False)]), [
        ({"0": "a", "1": "b"}, ("a", "b"))]),
    "vector": (Point, pyarrow.struct([
        pyarrow.field("x", pyarrow.int64(), False), pyarrow.field("y", pyarrow.float64(), False)]), [
        ({"x": 1, "y": 2.5}, (1, 2.5))]),
    "optional": (typing.Optional[list[typing.Optional[Point]]], pyarrow.list_(pyarrow.struct([
        pyarrow.field("x", pyarrow.int64(), False), pyarrow.field("y", pyarrow.float64(), False)])), [
        ([{"x": 1, "y": 2.5}, None], [(1, 2.5), None]), (None, None)]),
    "tagged": (Tagged, pyarrow.struct([
        pyarrow.field("type", pyarrow.string(), False), pyarrow.field("long_name", pyarrow.string(), False),
        pyarrow.field("left_out", pyarrow.int64())]), [
        ({"type": "t", "long_name": "a", "left_out": None}, {"type": "t", "longName": "a"}),
        ({"type": "t", "long_name": "a", "left_out": 2}, {"type": "t", "longName": "a", "leftOut": 2})]),
    "partial": (Partial, pyarrow.struct([pyarrow.field("n", pyarrow.int64())]), [
        ({"n": None}, {}), ({"n": 1}, {"n": 1})]),
}  # fmt: skip


@pytest.mark.parametrize("name", TYPED)
def test_a_type_is_read_and_written_in_its_forms(tmp_path, name):
    """Both ways by facts of the wire: what is written, read without a type, is that of docs/records.md."""
    annotation, kind, values = TYPED[name]
    types = {"type": annotation, "keytype": int}
    schema = pyarrow.schema([pyarrow.field("key", pyarrow.int64(), False), pyarrow.field("value", kind)])
    rows = [{"key": number, "value": value} for number, (value, _) in enumerate(values)]
    output = _output.Output(str(tmp_path / "out"), types, False)
    output.commit([output.write(iter([pyarrow.RecordBatch.from_pylist(rows, schema)]), 0, 1)])
    written = [value for _, value in sequencefile.read(tmp_path / "out")]
    assert written == [wire for _, wire in values]
    found = _splits.infer_schema(str(tmp_path / "out"), Options(types)).arrow
    assert found.field("value").type == kind and found.field("value").nullable is (name == "optional")
    assert rows_of(str(tmp_path / "out"), **types) == [(number, value) for number, (value, _) in enumerate(values)]


@pytest.mark.parametrize(
    "given, message",
    [
        ({"type": "Visit"}, "type: expected MODULE:CLASS, such as visits:Visit, not 'Visit'"),
        ({"type": "builtins:int"}, "pairs need type and keyType, such as builtins:str; type alone is for pairs=false"),
        ({"keyType": "builtins:int"}, "pairs need type and keyType"),
        ({"keyType": "builtins:int", "type": "builtins:int", "pairs": "false"}, "keyType is for pairs"),
        ({"type": "builtins:int", "pairs": "false", "mergeSchema": "true"}, "mergeSchema, encoding and unicodeErrors"),
        ({"type": "builtins:complex", "pairs": "false"}, "type: builtins:complex: TypeError: complex is not"),
    ],
)  # fmt: skip
def test_types_that_cannot_be(given, message):
    with pytest.raises(ValueError, match=message):
        Options(given)


def test_single_values_have_a_column_for_each_field(tmp_path):
    tb.dump_all([(1, 2.5), {"x": 3}], tmp_path / "in.tb")
    given = {"pairs": "false", "type": Point, "pathColumn": "path"}
    path = str(tmp_path / "in.tb")
    assert _splits.infer_schema(path, Options(given)).arrow.names == ["x", "y", "path"]
    assert rows_of(path, **given) == [(1, 2.5, path), (3, 0.5, path)]
    options = Options({"pairs": "false", "type": Point})
    narrow = pyarrow.schema([("x", pyarrow.int32()), ("y", pyarrow.float64())])
    assert rows_of(path, _splits.given_schema(path, options, narrow), pairs=False, type=Point) == [(1, 2.5), (3, 0.5)]
    with pytest.raises(SchemaError, match=r"the columns of the schema are \['z'\], and those of the type \['x', 'y'\]"):
        _splits.given_schema(path, options, pyarrow.schema([("z", pyarrow.int32())]))
    tb.dump_all([(1, "x")], tmp_path / "in.tb")
    with pytest.raises(tb.DecodeTypeError, match=r'in.tb: expected float, found STRING "x" .* path .y'):
        rows_of(path, pairs=False, type=Point)


def test_what_spark_has_no_type_for_is_refused(tmp_path):
    wide = typing.Annotated[decimal.Decimal, records.Precision(76, 2)]
    with pytest.raises(SchemaError, match="value: a decimal of Spark has at most 38 digits, not 76"):
        _splits.infer_schema(str(tmp_path), Options({"pairs": "false", "type": wide}))
    with pytest.raises(TypeError, match="Any: a frame has no values of any type"):
        _output.Output(str(tmp_path / "out"), {"type": typing.Any, "keytype": str}, False)
    with pytest.raises(ValueError, match='nulls must be "value" or "hive" with type'):
        _output.Output(str(tmp_path / "out"), {"type": int, "keytype": str, "nulls": "error"}, False)
