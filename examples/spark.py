"""Exchange SequenceFiles with a real Spark on this machine, both ways, and see that nothing is another.

``make spark`` installs PySpark into its own folder and runs this. Spark reads files that ``typedbytes.sequencefile``
wrote (simple Writables in compressed blocks; typed bytes, whose class is in Hadoop's streaming jar), and writes ones
that it reads. Spark gives a TypedBytesWritable as its bytes, and makes a BytesWritable of bytes, or with
``TypedBytesConverter.java`` a TypedBytesWritable: ``loads`` and ``dumps`` do the rest.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

if sys.argv[1:] in (["-h"], ["--help"]):  # before what help does not need
    sys.exit(print(__doc__))

import pyspark  # noqa: E402
from pyspark import SparkConf, SparkContext  # noqa: E402

import typedbytes as tb  # noqa: E402
from typedbytes import sequencefile  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test_vectors" / "java"))

import jars  # noqa: E402

TYPED_BYTES = "org.apache.hadoop.typedbytes.TypedBytesWritable"
OUTPUT_FORMAT = "org.apache.hadoop.mapreduce.lib.output.SequenceFileOutputFormat"
CONVERTER = "TypedBytesConverter"
NRECORDS = 10_000

WORDS = [(f"word {i}", i) for i in range(NRECORDS)]
TYPED = [(("word", i), {"count": i, "part": [i / 3, f"{i}"]}) for i in range(NRECORDS)]


def main():
    with tempfile.TemporaryDirectory() as folder, spark(f"{folder}/classes") as context:
        for codec in ("default", "gzip", "bzip2", "snappy", "lz4"):
            spark_reads_words(context, f"{folder}/{codec}", codec)
        spark_reads_typed_bytes(context, f"{folder}/typed")
        spark_writes_words(context, f"{folder}/words")
        spark_writes_bytes(context, f"{folder}/bytes")
        for compression in ("NONE", "RECORD", "BLOCK"):
            spark_writes_typed_bytes(context, f"{folder}/typed-{compression}", compression)
        print(f"Spark {context.version} and typedbytes {tb.__version__} agree on {NRECORDS:,} records of each kind")


def spark(classes):
    """Start Spark with Hadoop's streaming jar, and with the converter compiled into a folder."""
    jars.class_path()  # fetches what is missing
    (streaming,) = (jars.BUILD / "hadoop-jars").glob("hadoop-streaming-*.jar")
    sparks = Path(pyspark.__file__).parent / "jars" / "*"
    source = Path(__file__).with_name(f"{CONVERTER}.java")
    subprocess.run(["javac", "-d", classes, "-cp", f"{sparks}{os.pathsep}{streaming}", source], check=True)
    conf = SparkConf().setMaster("local[2]").setAppName("typedbytes")
    conf.set("spark.driver.extraClassPath", f"{streaming}{os.pathsep}{classes}").set("spark.ui.enabled", "false").set(
        "spark.ui.showConsoleProgress", "false"
    )
    return SparkContext(conf=conf)


def spark_reads_words(context, path, codec):
    with sequencefile.Writer(
        path, key_class="Text", value_class="IntWritable", compression="block", codec=codec
    ) as writer:
        writer.writes(WORDS)
    assert context.sequenceFile(path).collect() == WORDS


def spark_reads_typed_bytes(context, path):
    with sequencefile.Writer(path, compression="record", sync_interval=1000) as writer:
        writer.writes(TYPED)
    pairs = context.sequenceFile(path, TYPED_BYTES, TYPED_BYTES, minSplits=7)
    assert pairs.getNumPartitions() >= 7
    assert [(tb.loads(key), tb.loads(value)) for key, value in pairs.collect()] == TYPED


def spark_writes_words(context, path):
    context.parallelize(WORDS, 3).saveAsSequenceFile(path, "org.apache.hadoop.io.compress.GzipCodec")
    assert list(sequencefile.read(path)) == WORDS
    assert list(sequencefile.read(path, processes=2, ordered=True)) == WORDS


def spark_writes_bytes(context, path):
    encoded(context).saveAsSequenceFile(path)
    assert [(tb.loads(key), tb.loads(value)) for key, value in sequencefile.read(path)] == TYPED


def spark_writes_typed_bytes(context, path, compression):
    compress = {
        "mapreduce.output.fileoutputformat.compress": str(compression != "NONE").lower(),
        "mapreduce.output.fileoutputformat.compress.type": compression,
    }
    encoded(context).saveAsNewAPIHadoopFile(
        path, OUTPUT_FORMAT, TYPED_BYTES, TYPED_BYTES, CONVERTER, CONVERTER, compress
    )
    for part in Path(path).glob("part-*"):
        with sequencefile.open(part) as reader:
            assert (reader.key_class, reader.value_class, reader.compression) == (
                TYPED_BYTES,
                TYPED_BYTES,
                compression.lower(),
            )
    assert list(sequencefile.read(path)) == TYPED


def encoded(context):
    """Return the typed pairs as a distributed collection of bytes."""
    return context.parallelize([(bytearray(tb.dumps(key)), bytearray(tb.dumps(value))) for key, value in TYPED], 3)


if __name__ == "__main__":
    main()
