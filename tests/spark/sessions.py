"""A real Spark reads and writes typed bytes on this machine; `make spark` runs these tests, which need PySpark and a JDK."""

import datetime
import os
import sys

import pytest
from pyspark.sql import SparkSession, functions, types

import typedbytes as tb
from typedbytes import sequencefile, spark as typedbytes_spark

PAIRS = [(f"word {i}", i) for i in range(2000)]


@pytest.fixture(scope="module")
def spark():
    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
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
    given = types.StructType([types.StructField("key", types.StringType()), types.StructField("value", types.LongType())])
    assert typedbytes_spark.read(spark, path, given).schema["value"].dataType == types.LongType()
    assert rows(typedbytes_spark.read(spark, path, given)) == sorted(PAIRS)


FILTERED = {
    "number": [1, 300, -5, 1, None, 2**31 - 1],
    "word": ["short", "long word", "", "caf\u00e9", None, "short"],
    "flag": [True, False, None, True],
    "share": [0.25, 0.75, float("nan"), None, -0.0],
}
CONDITIONS = [
    "number = 1", "number <> 1", "number > 1", "number >= 1 AND number < 300", "number <= -5", "number IN (1, 300, 7)", "number NOT IN (1, 300)",
    "number IS NULL", "number IS NOT NULL", "number <=> 1", "number <=> NULL", "number = 1 OR key = 2", "number > 3000000000",
    "word = 'short'", "word > 'm'", "word LIKE 's%'", "word LIKE '%word'", "word LIKE '%o%'", "word NOT LIKE 's%'", "word IN ('short', NULL)",
    "word NOT IN ('short', NULL)", "flag", "NOT flag", "share > 0.5", "share = double('NaN')", "share <> 0.25", "share <= 0",
]  # fmt: skip


@pytest.mark.parametrize("condition", CONDITIONS)
def test_filters_leave_the_rows_that_spark_would(spark, tmp_path, condition):
    name = next(name for name in FILTERED if name in condition)
    path = write(tmp_path / "in.seq", list(enumerate(FILTERED[name])))
    condition = condition.replace(name, "value")
    found = []
    for pushed in ("true", "false"):
        spark.conf.set("spark.sql.python.filterPushdown.enabled", pushed)
        found.append([row.key for row in load(spark, path, pushFilters=pushed).filter(condition).orderBy("key").collect()])
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "condition, keys",
    [("value = 7", [7]), ("value >= 1998", [1998, 1999]), ("key LIKE '%99'", range(99, 2000, 100)), ("value <> 0", range(1, 2000))],
)
def test_rows_are_left_out_before_they_go_to_spark(spark, path, condition, keys):
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    frame = load(spark, path, pushFilters="true").filter(condition)
    assert [value for _, value in sorted(frame.collect(), key=lambda row: row.value)] == list(keys)
    plan = frame._jdf.queryExecution().executedPlan().toString()
    assert "Filter (" not in plan


def test_a_filter_on_the_path_leaves_files_out(spark, tmp_path):
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    for number in range(4):
        write(tmp_path / f"part-{number}", [(number, number)])
    frame = load(spark, tmp_path, pathColumn="path", pushFilters="true").filter(functions.col("path").endswith("part-2"))
    assert frame.rdd.getNumPartitions() == 1
    assert [tuple(row) for row in frame.collect()] == [(2, 2, str(tmp_path / "part-2"))]


VALUES = {
    "bool": (True, types.BooleanType()), "byte": (tb.Byte(-3), types.ByteType()), "int": (7, types.IntegerType()),
    "long": (1 << 40, types.LongType()), "float": (tb.Float(0.5), types.FloatType()), "double": (1.25, types.DoubleType()),
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
    assert [(key, plain(found)) for key, found in frame.collect()] == [("a", plain(value)), ("b", None), ("c", plain(value))]
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
    dates = spark.createDataFrame([("a", datetime.date(2020, 1, 1))], "key string, value date")
    with pytest.raises(Exception, match="has no type code"):
        dates.write.format("typedbytes").mode("append").save(str(tmp_path / "out"))
    assert not list(tmp_path.glob("out/*"))


def test_damage_names_the_file_and_the_offset(spark, tmp_path, path):
    data = bytearray((tmp_path / "in.seq").read_bytes())
    data[-40:] = bytes(40)
    (tmp_path / "in.seq").write_bytes(data)
    with pytest.raises(Exception, match="at offset"):
        load(spark, path).collect()
