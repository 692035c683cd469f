"""A folder of SequenceFiles to Parquet: `typedbytes convert`, a Spark program in Java, and PySpark.

    build/spark/bin/python bench/to_parquet.py PAIRS KEY_BYTES KEYS [CONTENDER...]    as make -C bench to-parquet does

The pairs are (Text, LongWritable) with KEYS different keys, an equal part with each codec that Hadoop has without
native code. All write snappy, with as many threads as there are processors. The row "start" is the program in Java with
one pair: what a session of Spark costs. CPU times are of all processes; wall times need an idle machine. Invariant:
each Parquet folder has the pairs and the sum of the values.
"""

import os
import random
import shutil
import string
import subprocess
import sys

import pyarrow.compute
import pyarrow.dataset
import pyspark

import local
from typedbytes import sequencefile

FOLDER = local.FOLDER / "to-parquet"
CODECS = "none", "snappy", "default", "gzip"
PARTS = 3  # of each codec
SPARK = os.path.dirname(pyspark.__file__)

JAVA = """
import org.apache.hadoop.io.*;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.*;
import scala.Tuple2;

public class ToParquet {
    public static void main(String[] folders) {
        SparkSession spark = SparkSession.builder().getOrCreate();
        var pairs = new JavaSparkContext(spark.sparkContext()).sequenceFile(folders[0], Text.class, LongWritable.class)
            .map(pair -> new Tuple2<>(pair._1.toString(), pair._2.get()));
        spark.createDataset(pairs.rdd(), Encoders.tuple(Encoders.STRING(), Encoders.LONG())).toDF("key", "value")
            .write().parquet(folders[1]);
        spark.stop();
    }
}
"""

PYTHON = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
pairs = spark.sparkContext.sequenceFile(sys.argv[1])
spark.createDataFrame(pairs, "key string, value long").write.parquet(sys.argv[2])
spark.stop()
"""


def main(npairs, nbytes, nkeys, *names):
    """Write the pairs if they are not there yet, convert them by each contender, and print a table."""
    import jars  # where local.py has made it known

    pairs, one = (FOLDER / f"pairs-{n}-{nbytes}-{nkeys}" for n in (npairs, 1))
    write(pairs, npairs, nbytes, nkeys)
    write(one, 1, nbytes, nkeys)
    (FOLDER / "ToParquet.java").write_text(JAVA)
    (FOLDER / "to_parquet.py").write_text(PYTHON)
    javac = [jars.find_tool("javac"), "-cp", f"{SPARK}/jars/*", "-d", FOLDER, FOLDER / "ToParquet.java"]
    subprocess.run(javac, check=True)
    submit = [f"{SPARK}/bin/spark-submit", "--master", "local[*]", "--driver-memory", "4g"]
    submit += ["--conf", "spark.ui.enabled=false"]
    program = [*submit, "--driver-class-path", FOLDER, "--class", "ToParquet", "spark-internal"]
    convert = [sys.executable, "-m", "typedbytes", "convert", "--to", "parquet", "--codec", "snappy"]
    commands = {
        "typedbytes": ([*convert, pairs, "-o", FOLDER / "typedbytes"], npairs),
        "start": ([*program, one, FOLDER / "start"], 1),
        "Java": ([*program, pairs, FOLDER / "Java"], npairs),
        "PySpark": ([*submit, FOLDER / "to_parquet.py", pairs, FOLDER / "PySpark"], npairs),
    }
    print(local.HEADING)
    for name in names or commands:
        shutil.rmtree(FOLDER / name, ignore_errors=True)
        run(name, *commands[name])


def write(folder, npairs, nbytes, nkeys):
    """Write pairs whose keys are parts of a text, numbered from 0 on, if the folder is not there yet."""
    if folder.is_dir():
        return
    text = "".join(random.Random(0).choices(string.ascii_lowercase + " ", k=nkeys + nbytes))
    nparts = min(npairs, len(CODECS) * PARTS)
    part = folder.with_suffix(".part")
    part.mkdir(parents=True, exist_ok=True)
    for number in range(nparts):
        starts = ((value, value * 31 % nkeys) for value in range(number, npairs, nparts))
        with sequencefile.open(part / f"part-{number:05d}", "w", **classes(CODECS[number % len(CODECS)])) as writer:
            writer.writes((text[start : start + nbytes], value) for value, start in starts)
    part.rename(folder)


def classes(codec):
    """Give the options of a Writer."""
    compression = {} if codec == "none" else {"compression": "block", "codec": codec}
    return {"key_class": "Text", "value_class": "LongWritable", **compression}


def run(name, command, npairs):
    """Measure a command, and check what it has written into the folder of that name."""
    environ = {**local.environment(), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    if local.measured(name, command, env=environ):
        table = pyarrow.dataset.dataset(FOLDER / name, format="parquet").to_table(["value"])
        total = pyarrow.compute.sum(table["value"]).as_py()
        if (len(table), total) != (npairs, npairs * (npairs - 1) // 2):
            sys.exit(f"{name}: {len(table)} pairs, {total} in all")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]), *sys.argv[4:])
