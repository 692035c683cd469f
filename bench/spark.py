"""Read pairs into a data frame of Spark and add them up: typed bytes, PySpark's SequenceFiles, and Parquet.

    build/spark/bin/python bench/spark.py --pairs 10000000 --rounds 3    after make spark, which installs PySpark

Here: the files, three ways of reading them, the least wall time of each. Invariant: each way gives the same sum,
checked in every round; the ways take turns, and the first round, which warms the virtual machine, does not count.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time

import pyarrow
import pyarrow.parquet
from pyspark.sql import SparkSession, functions

import typedbytes.spark
from typedbytes import sequencefile

NFILES = 4
WORDS = [f"word{i}" for i in range(10_000)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    folder = tempfile.mkdtemp()
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "4g")
        .getOrCreate()
    )
    try:
        spark.sparkContext.setLogLevel("OFF")
        typedbytes.spark.register(spark)
        write(folder, arguments.pairs)
        compare(ways_of(spark, folder), arguments)
    finally:
        spark.stop()
        shutil.rmtree(folder)


def write(folder, npairs):
    """Write the same pairs three times: typed bytes, Text and LongWritable, Parquet."""
    for each in ("typed", "simple", "parquet"):
        os.mkdir(f"{folder}/{each}")
    for number in range(NFILES):
        pairs = [(WORDS[i % len(WORDS)], i) for i in range(number, npairs, NFILES)]
        with sequencefile.open(f"{folder}/typed/part-{number:05d}", "w", int_width=64) as writer:
            writer.writes(pairs)
        with sequencefile.open(
            f"{folder}/simple/part-{number:05d}", "w", key_class="Text", value_class="LongWritable"
        ) as writer:
            writer.writes(pairs)
        keys, values = zip(*pairs)
        pyarrow.parquet.write_table(
            pyarrow.table({"key": keys, "value": values}),
            f"{folder}/parquet/part-{number:05d}.parquet",
            compression="none",
        )


def ways_of(spark, folder):
    """Return functions that give the sum, by name."""

    def total(frame):
        return frame.select(functions.sum("value")).collect()[0][0]

    return {
        "typedbytes": lambda: total(spark.read.format("typedbytes").option("splitSize", "32m").load(f"{folder}/typed")),
        "sc.sequenceFile": lambda: total(
            spark.createDataFrame(spark.sparkContext.sequenceFile(f"{folder}/simple"), "key string, value long")
        ),
        "parquet": lambda: total(spark.read.parquet(f"{folder}/parquet")),
    }


def compare(ways, arguments):
    expected, least = sum(range(arguments.pairs)), dict.fromkeys(ways, float("inf"))
    for number in range(arguments.rounds + 1):
        for name, way in ways.items():
            start = time.perf_counter()
            found = way()
            seconds = time.perf_counter() - start
            if found != expected:
                sys.exit(f"{name}: {found}, not {expected}")
            if number:
                least[name] = min(least[name], seconds)
    for name, seconds in least.items():
        print(f"{name:16} {seconds:8.2f} s   typedbytes / it {least['typedbytes'] / seconds:6.2f}")


if __name__ == "__main__":
    main()
