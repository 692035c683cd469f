"""SequenceFiles and typed bytes as data frames of Apache Spark, both ways.

Here: the format `typedbytes` of a Spark session, and the function for a Spark before 4.0. Spark is imported when one of them is called.
"""

__all__ = ["read", "register"]


def __dir__():
    return __all__


def register(spark):
    """Make `typedbytes` a format of a session of Spark 4.0 or newer.

    Then `spark.read.format("typedbytes").load(path)` reads a file, a folder of part files or a pattern, of SequenceFiles or typed bytes, on
    this machine or at any URL that fsspec knows; `frame.write.format("typedbytes").mode("append").save(path)` writes a folder of SequenceFiles.
    The options of both are in the guide of Spark. Raises ModuleNotFoundError without PySpark 4 and pyarrow.
    """
    from typedbytes.spark._source import TypedBytesDataSource

    spark.dataSource.register(TypedBytesDataSource)


def read(spark, path, schema=None, **options):
    """Return a data frame of the records of a path, as the format reads them; for Spark 3.5 and newer.

    schema: a StructType, None: taken from the first records. Options as for the format: `pairs`, `splitSize`, `mergeSchema`, `dialect`,
    `pathColumn`. Raises ModuleNotFoundError without PySpark and pyarrow, FormatError and its like for damaged files.
    """
    from typedbytes.spark._frames import read

    return read(spark, path, schema, options)
