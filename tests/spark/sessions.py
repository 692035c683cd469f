"""A real Spark reads and writes typed bytes here; `make spark` runs these tests, which need PySpark and a JDK."""

import collections
import datetime
import decimal
import os
import random
import sys

import pytest
from pyspark.sql import SparkSession, functions, types

import typedbytes as tb
from support.vectors import read_jsonl
from typedbytes import sequencefile, spark as typedbytes_spark

PAIRS = [(f"word {i}", i) for i in range(2000)]


@pytest.fixture(scope="module")
def spark(tmp_path_factory):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": 2}
    settings["spark.sql.warehouse.dir"] = str(tmp_path_factory.mktemp("warehouse"))
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    typedbytes_spark.register(session)
    yield session
    session.stop()


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "in.seq", PAIRS)


def write(path, pairs, **how):
    with sequencefile.open(path, "w", **{"codec": "default", "block_size": 1000, **how}) as writer:
        writer.writes(pairs)
    return str(path)


def load(spark, path, **options):
    return spark.read.format("typedbytes").options(**options).load(str(path))


def rows(frame):
    return sorted(map(tuple, frame.collect()))


@pytest.mark.parametrize("size", ["500", "2k", "1m"])
def test_every_record_is_read_once_whatever_the_splits(spark, path, size):
    frame = load(spark, path, splitSize=size)
    assert frame.rdd.getNumPartitions() == -(-os.path.getsize(path) // {"500": 500, "2k": 2048, "1m": 1 << 20}[size])
    assert rows(frame) == sorted(PAIRS)
    assert frame.select(functions.sum("value")).collect()[0][0] == sum(range(2000))


@pytest.mark.parametrize("size", [500, 10**6])
def test_without_a_data_source(spark, path, size):
    frame = typedbytes_spark.read(spark, path, splitSize=size)
    assert rows(frame) == sorted(PAIRS)
    given = types.StructType(
        [types.StructField("key", types.StringType()), types.StructField("value", types.LongType())]
    )
    assert typedbytes_spark.read(spark, path, given).schema["value"].dataType == types.LongType()
    assert rows(typedbytes_spark.read(spark, path, given)) == sorted(PAIRS)


@pytest.mark.parametrize("size", ["200", "128m"])
def test_rcfiles_by_the_schema_of_their_table(spark, tmp_path, size):
    vectors = {each["name"]: each for each in read_jsonl("sequencefile/rcfiles.jsonl")}
    found = []
    for number, name in enumerate(["groups/text", "wider schema"]):
        (tmp_path / f"00000{number}_0").write_bytes(bytes.fromhex(vectors[name]["hex"]))
        found += map(tuple, eval(vectors[name]["rows"]))
    found.sort(key=repr)
    given = spark.read.format("typedbytes").option("splitSize", size).schema("id bigint, name string, x double")
    frame = given.load(str(tmp_path))
    assert sorted(map(tuple, frame.collect()), key=repr) == found
    wide = load(spark, tmp_path, splitSize=size, fileSchema="id: long, name: string, x: double", columns="x,id")
    assert wide.columns == ["x", "id"]
    assert sorted(((row.id, row.x) for row in wide.collect()), key=repr) == sorted(
        ((row[0], row[2]) for row in found), key=repr
    )
    old = typedbytes_spark.read(spark, str(tmp_path), frame.schema, splitSize=size)
    assert sorted(map(tuple, old.collect()), key=repr) == found


Record = collections.namedtuple("Record", "key value path")
CONDITIONS = [
    ("value = 7", lambda record: record.value == 7), ("value >= 20", lambda record: record.value >= 20),
    ("value IN (1, 5, 11)", lambda record: record.value in (1, 5, 11)),
    ("value = 2 OR key = 'c'", lambda record: record.value == 2 or record.key == "c"),
    ("key = 'a'", lambda record: record.key == "a"), ("key <> 'b'", lambda record: record.key != "b"),
    ("key LIKE 'd%'", lambda record: record.key.startswith("d")),
    ("upper(key) = 'A'", lambda record: record.key == "a"),
    ("path LIKE '%part-2'", lambda record: record.path.endswith("part-2")),
    ("path NOT LIKE '%part-0'", lambda record: not record.path.endswith("part-0")),
]  # fmt: skip


def random_query(generator, frame, records, depth=3):
    """Return a query of a data frame, and what it finds among the frame's records."""
    kind = generator.choice(["all", "where", "where", "union", "join"] if depth else ["all"])
    if kind == "all":
        return frame, records
    query, left = random_query(generator, frame, records, depth - 1)
    if kind == "where":
        condition, holds = generator.choice(
            [each for each in CONDITIONS if "path" in frame.columns or "path" not in each[0]]
        )
        return query.where(condition), list(filter(holds, left))
    other, right = random_query(generator, frame, records, depth - 1)
    if kind == "union":
        return query.union(other), left + right
    joined = [one for one in left for two in right if one.value == two.value]
    return query.join(other.select("value"), "value").select(frame.columns), joined


@pytest.mark.parametrize("columns", [("key", "value"), ("key", "value", "path")])
def test_each_query_of_one_frame_finds_its_own_records(spark, tmp_path, columns):
    """Spark 4.1 to 4.3 keeps a format's answer to a query's filters for later queries of the same data frame.

    A query without filters does not ask again, and two sides of a union or a join use the same answer.
    """
    records = [Record("abcd"[i % 3 + (i > 15)], i, str(tmp_path / f"part-{i // 8}")) for i in range(24)]
    for path in sorted({record.path for record in records}):
        write(path, [record[:2] for record in records if record.path == path])
    frame = load(spark, tmp_path, **({"pathColumn": "path"} if "path" in columns else {}))
    generator = random.Random(len(columns))
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        assert frame.count() == 24
        for _ in range(12):
            query, expected = random_query(generator, frame, records)
            chosen = generator.sample(columns, generator.randint(1, len(columns)))
            assert rows(query.select(chosen)) == sorted(
                tuple(getattr(record, name) for name in chosen) for record in expected
            )
            query, expected = random_query(generator, frame, records, depth=1)
            assert query.count() == len(expected)
    finally:
        spark.conf.unset("spark.sql.python.filterPushdown.enabled")


def test_pushing_filters_is_refused(spark, path):
    with pytest.raises(Exception, match="pushFilters cannot be true: Spark keeps the filters of a query"):
        load(spark, path, pushFilters="true")


VALUES = {
    "bool": (True, types.BooleanType()), "byte": (tb.Byte(-3), types.ByteType()), "int": (7, types.IntegerType()),
    "long": (1 << 40, types.LongType()), "float": (tb.Float(0.5), types.FloatType()),
    "double": (1.25, types.DoubleType()),
    "text": ("caf\u00e9 \U0001f600", types.StringType()), "bytes": (b"\xff\0", types.BinaryType()),
    "list": ([1, 2], types.ArrayType(types.IntegerType())), "vector": ((1, 2), types.ArrayType(types.IntegerType())),
    "map": ({"a": 1}, types.MapType(types.StringType(), types.IntegerType())),
    "nested": ([["a"], []], types.ArrayType(types.ArrayType(types.StringType()))),
}  # fmt: skip


def plain(value):
    return list(value) if isinstance(value, tuple) else bytes(value) if isinstance(value, bytearray) else value


@pytest.mark.parametrize("name", VALUES)
def test_values_of_every_type_come_and_go(spark, tmp_path, name):
    value, kind = VALUES[name]
    frame = load(spark, write(tmp_path / "in.seq", [("a", value), ("b", None), ("c", value)]))
    assert frame.schema["value"].dataType == kind
    assert [(key, plain(found)) for key, found in frame.collect()] == [
        ("a", plain(value)),
        ("b", None),
        ("c", plain(value)),
    ]
    frame.write.format("typedbytes").mode("append").save(str(tmp_path / "out"))
    back = [(key, plain(found)) for key, found in sequencefile.read(tmp_path / "out")]
    assert sorted(back, key=str) == sorted([("a", plain(value)), ("b", None), ("c", plain(value))], key=str)


def test_pairs_of_items(spark, tmp_path):
    frame = load(spark, write(tmp_path / "in.seq", [(("a", 1), (2.5, b"x"))]))
    ((key, value),) = frame.collect()
    assert (tuple(key), tuple(value)) == (("a", 1), (2.5, b"x"))
    assert frame.select("key.0", "value.1").collect()[0] == ("a", b"x")


def test_a_schema_that_is_given_and_a_path_column(spark, path):
    frame = spark.read.format("typedbytes").schema("key string, value long").load(path)
    assert frame.schema["value"].dataType == types.LongType() and rows(frame) == sorted(PAIRS)
    frame = load(spark, path, pathColumn="_path")
    assert {row[0] for row in frame.select("_path").distinct().collect()} == {path}
    wrong = spark.read.format("typedbytes").schema("key string, value string").load(path)
    with pytest.raises(Exception, match="the column value holds int32, and the schema has string"):
        wrong.collect()


def test_a_folder_is_written_whole_or_not_at_all(spark, tmp_path, path):
    frame, out = load(spark, path, splitSize="2k"), str(tmp_path / "out")
    frame.write.format("typedbytes").mode("append").option("codec", "zstd").save(out)
    assert sorted(sequencefile.read(out)) == sorted(PAIRS)
    assert os.path.exists(f"{out}/_SUCCESS")
    frame.write.format("typedbytes").mode("append").save(out)
    assert sorted(sequencefile.read(out)) == sorted(PAIRS * 2)
    before = sorted(os.listdir(out))

    def fails(batches):
        for batch in batches:
            if "word 1999" in batch.column(0).to_pylist():
                raise RuntimeError("on purpose")
            yield batch

    with pytest.raises(Exception, match="on purpose"):
        frame.mapInArrow(fails, frame.schema).write.format("typedbytes").mode("overwrite").save(out)
    assert sorted(os.listdir(out)) == before
    frame.limit(5).write.format("typedbytes").mode("overwrite").save(out)
    assert len(list(sequencefile.read(out))) == 5


def test_what_cannot_be_written_is_said(spark, tmp_path, path):
    frame = load(spark, path)
    with pytest.raises(Exception, match="a SequenceFile has a key and a value: select two columns, not 1"):
        frame.select("key").write.format("typedbytes").mode("append").save(str(tmp_path / "out"))
    with pytest.raises(Exception, match="select two columns, not 3"):
        frame.selectExpr("key", "value", "value more").write.format("typedbytes").mode("append").save(f"{tmp_path}/out")
    years = frame.selectExpr("key", "interval '1' year value")
    with pytest.raises(Exception, match="YearMonthIntervalType.* is not supported"):
        years.write.format("typedbytes").mode("append").save(str(tmp_path / "out"))
    for mode in ("error", "ignore"):
        with pytest.raises(Exception, match='use either the "Append" or "Overwrite" mode'):
            frame.write.format("typedbytes").mode(mode).save(str(tmp_path / "out"))
    with pytest.raises(Exception, match="partitioning or clustering columns do not match"):
        frame.write.format("typedbytes").mode("append").partitionBy("key").save(str(tmp_path / "out"))
    with pytest.raises(Exception, match="no path"):
        frame.write.format("typedbytes").mode("append").saveAsTable("pairs")
    assert not (tmp_path / "out").exists()


def test_what_cannot_be_read_is_said_before_the_query(spark, path):
    for kind, message in (("key string", "are key, and those of records key, value"),
                          ("value int, key string", "are value, key, and those")):  # fmt: skip
        with pytest.raises(Exception, match=f"the columns of the schema {message}"):
            spark.read.format("typedbytes").schema(kind).load(path).collect()
    with pytest.raises(Exception, match="pathGlobFilter is not supported"):
        load(spark, path, pathGlobFilter="*.seq")
    with pytest.raises(Exception, match="No such file or directory: '/nowhere'"):
        load(spark, "/nowhere")


STRUCT = "a: long, b: long"
TIMES = "d: date, t: timestamp, n: timestamp_ntz, c: decimal(9,2), i: interval day to second"
TIME_VALUES = (
    datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4, 5, 6), datetime.datetime(2020, 1, 2, 3, 4, 5, 6),
    decimal.Decimal("1.50"), datetime.timedelta(seconds=1.5),
)  # fmt: skip
FRAMES = {
    "longs": (f"struct<{STRUCT}>", [(1, 1 << 40), None, (None, 2)]),
    "lists of structs": (f"array<struct<{STRUCT}>>", [[(1, 2), (3, 4)], [], None]),
    "wide": (f"struct<{', '.join(f'f{n}: long' for n in range(300))}>", [tuple(range(300))]),
    "nested": (f"map<string, struct<x: struct<{STRUCT}>, y: array<string>>>", [{"k": ((1, 2), ["z"])}, {}, None]),
    "times": (f"struct<{TIMES}>", [TIME_VALUES, None]),
    "date": ("date", [TIME_VALUES[0], None]), "decimal": ("decimal(9,2)", [TIME_VALUES[3]]),
    "none": ("struct<a: date>", []),
    "never there": ("struct<a: int, b: string>", [(1, None), (2, None)]),
    "there later": (
        "map<string, array<struct<a: int, b: string>>>", [{}, {"k": []}, {"k": [(1, None)]}, {"k": [(2, "x")]}]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_is_read_back_by_its_schema(spark, tmp_path, name):
    kind, values = FRAMES[name]
    frame = spark.createDataFrame(list(enumerate(values)), f"key int, value {kind}")
    for structs in ("map", "vector"):
        out = f"{tmp_path}/{structs}"
        frame.write.format("typedbytes").mode("append").option("structs", structs).save(out)
        back = spark.read.format("typedbytes").schema(frame.schema).load(out)
        assert back.schema == frame.schema and rows(back) == rows(frame)


def test_paths_and_tables_as_spark_has_them(spark, tmp_path, path):
    """Spark writes a path as file:/tmp/..., with one slash, and gives the format no options of a table."""
    assert load(spark, f"file:{path}").count() == load(spark, f"file://{path}").count() == 2000
    out = tmp_path / "an out\u00e9"
    load(spark, path).write.format("typedbytes").mode("append").save(f"file:{out}")
    assert sorted(sequencefile.read(out)) == sorted(PAIRS)
    spark.sql(f"create temporary view pairs using typedbytes options (path '{out}')")
    assert spark.sql("select sum(value) from pairs where key like 'word 1%'").collect()[0][0] == sum(
        value for key, value in PAIRS if key.startswith("word 1")
    )
    spark.sql(f"create table kept using typedbytes options (path 'file:{out}')")
    try:
        with pytest.raises(Exception, match="a table of Spark's catalog hands on none, a temporary view does"):
            spark.table("kept").count()
    finally:
        spark.sql("drop table kept")


def test_a_folder_without_records(spark, tmp_path):
    (tmp_path / "_SUCCESS").touch()
    frame = spark.read.format("typedbytes").schema("key string, value long").load(str(tmp_path))
    assert frame.collect() == [] and frame.count() == 0
    with pytest.raises(Exception, match="no records to take the schema from: give one"):
        load(spark, tmp_path)


def test_several_paths_at_once(spark, tmp_path, path):
    other = write(tmp_path / "other.seq", [("more", 7)])
    frame = spark.read.format("typedbytes").load([path, other])
    assert rows(frame) == sorted([*PAIRS, ("more", 7)])


def test_structs_keep_their_names_as_maps(spark, tmp_path):
    kind = "key string, value struct<id: long, n: string, in: struct<m: int, s: string>>"
    frame = spark.createDataFrame([("a", (1, "x", (2, "y"))), ("b", (3, None, (4, "z")))], kind)
    out = str(tmp_path / "out")
    frame.write.format("typedbytes").mode("append").option("structs", "map").option("nulls", "error").save(out)
    expected = [("a", {"id": 1, "n": "x", "in": {"m": 2, "s": "y"}}), ("b", {"id": 3, "in": {"m": 4, "s": "z"}})]
    assert sorted(sequencefile.read(out), key=str) == expected
    back = spark.read.format("typedbytes").schema(frame.schema).load(out)
    assert back.schema == frame.schema and rows(back) == rows(frame)
    with pytest.raises(Exception, match='structs must be "vector" or "map"'):
        frame.write.format("typedbytes").mode("append").option("structs", "json").save(str(tmp_path / "no"))


def test_classes_that_spark_reads_by_itself(spark, tmp_path, path):
    """A SequenceFile of Text and LongWritable, which sequenceFile() of Spark reads without this package."""
    out = str(tmp_path / "out")
    frame = load(spark, path).selectExpr("key", "cast(value as long) as value")
    options = {"keyClass": "Text", "valueClass": "LongWritable"}
    frame.write.format("typedbytes").mode("append").options(**options).save(out)
    assert sorted(spark.sparkContext.sequenceFile(out).collect()) == sorted(PAIRS)


def test_damage_names_the_file_and_the_offset(spark, tmp_path, path):
    data = bytearray((tmp_path / "in.seq").read_bytes())
    data[-40:] = bytes(40)
    (tmp_path / "in.seq").write_bytes(data)
    with pytest.raises(Exception, match="at offset"):
        load(spark, path).collect()


VISITS = """
import dataclasses, datetime, decimal, enum, typing, uuid
from typedbytes import records

class Color(enum.Enum):
    RED = "red"
    GREEN = "green"

class Status(enum.IntEnum):
    OK = 200

class Item(typing.NamedTuple):
    name: str
    price: typing.Annotated[decimal.Decimal, records.Precision(9, 2)]

@dataclasses.dataclass
class Visit:
    user: str
    day: datetime.date
    at: typing.Annotated[datetime.datetime, records.UTC, records.Milliseconds]
    wall: typing.Annotated[datetime.datetime, records.Text]
    total: decimal.Decimal
    color: typing.Annotated[Color, records.Name]
    status: Status
    id: uuid.UUID
    pause: datetime.timedelta
    clock: datetime.time
    items: list[Item]
    counts: dict[str, int]
    pair: tuple[int, str]
    note: typing.Optional[str] = None
"""
VISIT = {
    "user": "ann", "day": datetime.date(2026, 5, 1),
    "at": datetime.datetime(2026, 5, 1, 12, tzinfo=datetime.timezone.utc), "wall": datetime.datetime(2026, 5, 1, 14),
    "total": decimal.Decimal("1.5"), "color": "GREEN", "status": 200, "id": bytes(range(16)),
    "pause": datetime.timedelta(seconds=-1), "clock": datetime.time(12, 30),
    "items": [("tea", decimal.Decimal("1.50"))], "counts": {"a": 1}, "pair": (1 << 40, "x"), "note": None,
}  # fmt: skip
#: What a reader without the class sees: the wire of docs/records.md.
VISIT_WIRE = {
    "user": "ann", "day": 20574, "at": 1777636800000, "wall": "2026-05-01T14:00:00", "total": "1.500000000000000000",
    "color": "GREEN", "status": 200, "id": bytes(range(16)), "pause": -1_000_000, "clock": 45_000_000_000,
    "items": [("tea", "1.50")], "counts": {"a": 1}, "pair": (1 << 40, "x"), "note": None,
}  # fmt: skip


@pytest.fixture
def visits(spark, tmp_path, monkeypatch):
    """Return the class of a module that the driver and the workers import, and what Spark calls its columns."""
    (tmp_path / "visits.py").write_text(VISITS)
    monkeypatch.syspath_prepend(tmp_path)
    spark.sparkContext.addPyFile(str(tmp_path / "visits.py"))
    typedbytes_spark.register(spark)
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    item = types.StructType(
        [
            types.StructField("name", types.StringType(), False),
            types.StructField("price", types.DecimalType(9, 2), False),
        ]
    )
    kinds = {
        "user": types.StringType(), "day": types.DateType(), "at": types.TimestampType(),
        "wall": types.TimestampNTZType(), "total": types.DecimalType(38, 18), "color": types.StringType(),
        "status": types.LongType(), "id": types.BinaryType(), "pause": types.DayTimeIntervalType(),
        "clock": types.TimeType(), "items": types.ArrayType(item, False),
        "counts": types.MapType(types.StringType(), types.LongType(), False),
        "pair": types.StructType(
            [types.StructField("0", types.LongType(), False), types.StructField("1", types.StringType(), False)]
        ),
        "note": types.StringType(),
    }  # fmt: skip
    yield types.StructType([types.StructField(name, kind, name == "note") for name, kind in kinds.items()])
    sys.modules.pop("visits", None)


def test_a_class_is_the_schema(spark, tmp_path, visits):
    write(tmp_path / "in.seq", [("a", VISIT_WIRE), ("b", {**VISIT_WIRE, "note": "hello", "unknown": 1})])
    for load_it in (
        lambda **how: load(spark, tmp_path / "in.seq", **how),
        lambda **how: typedbytes_spark.read(spark, str(tmp_path / "in.seq"), **how),
    ):
        frame = load_it(type="visits:Visit", keyType="builtins:str")
        assert frame.schema["value"].dataType == visits
        assert not frame.schema["key"].nullable and not frame.schema["value"].nullable
        found = [(row.key, plain_row(row.value)) for row in frame.orderBy("key").collect()]
        assert found == [("a", plain_row(VISIT)), ("b", plain_row({**VISIT, "note": "hello"}))]
    with pytest.raises(Exception, match="type: visits:Page: AttributeError"):
        load(spark, tmp_path / "in.seq", type="visits:Page", keyType="builtins:str")


def test_a_frame_is_written_in_the_forms_of_a_class(spark, tmp_path, visits):
    """The frame is Spark's own, of its own values; what is written is what docs/records.md says of each type."""
    kind = types.StructType([types.StructField("key", types.StringType()), types.StructField("value", visits)])
    rows = [("a", tuple(VISIT.values())), ("b", tuple({**VISIT, "note": "hello"}.values()))]
    frame, words = spark.createDataFrame(rows, kind), {"type": "visits:Visit", "keyType": "builtins:str"}
    for nulls, dialect in (("value", {}), ("hive", {"dialect": "hive"})):
        out = str(tmp_path / nulls)
        frame.write.format("typedbytes").mode("append").options(nulls=nulls, **words).save(out)
        expected = {"a": VISIT_WIRE, "b": {**VISIT_WIRE, "note": "hello"}}
        assert dict(sequencefile.read(out, **dialect)) == expected
        assert load(spark, out, **words, **dialect).select("value").orderBy("key").collect() == sorted(
            frame.select("value").collect(), key=lambda row: row.value.note or ""
        )
    bad = spark.createDataFrame([("a", (1,))], "key string, value struct<user: int>")
    with pytest.raises(Exception, match="the frame does not fit its type: expected str, found INT 1"):
        bad.write.format("typedbytes").mode("append").options(**words).save(str(tmp_path / "bad"))
    with pytest.raises(Exception, match="structs cannot be combined with type"):
        frame.write.format("typedbytes").mode("append").options(structs="map", **words).save(str(tmp_path / "bad"))


def plain_row(row):
    """Return a Row, or the dict of one, as plain values."""
    values = row.asDict() if hasattr(row, "asDict") else row
    return {
        name: bytes(value) if isinstance(value, bytearray)
        else value.astimezone(datetime.timezone.utc).replace(tzinfo=None) if name == "at"
        else list(map(tuple, value)) if name == "items" else tuple(value) if name == "pair" else value
        for name, value in values.items()
    }  # fmt: skip
