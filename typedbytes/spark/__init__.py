"""SequenceFiles and typed bytes as data frames of Apache Spark, both ways; and the jobs of Hadoop Streaming on Spark.

Here: the format `typedbytes` of a Spark session, the function for a Spark before 4.0, and that for a script. Spark is imported when one of
them is called.
"""

__all__ = ["read", "register", "run_script"]


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


def run_script(spark, script, arguments=(), *, inputs, output, reducers=None, combiner=None, output_format="sequencefile", input_format="auto",
               secondary=0, split_size=None, params=None, environ=None, properties=None, files=(), archives=(), keep_failed=False, quiet=False):  # fmt: skip
    """Run the job of a script as tasks of a Spark session, and return its Result; raises local.JobError when it fails, and leaves no output then.

    The script, the options and the Result are those of `typedbytes.local.run_script`, and so are the part files. spark: a session; its
    machines share the file system of inputs and output, and have this package. A task runs in a folder of its own, with the script, the
    modules beside it that it imports, and files and archives. Raises ModuleNotFoundError without PySpark.
    """
    from functools import partial

    from typedbytes.local import run_script_by
    from typedbytes.spark._job import SparkJob

    return run_script_by(
        partial(SparkJob, spark), script, arguments, inputs=inputs, output=output, reducers=reducers, combiner=combiner,
        output_format=output_format, input_format=input_format, secondary=secondary, split_size=split_size, params=params, environ=environ,
        properties=properties, files=files, archives=archives, keep_failed=keep_failed, quiet=quiet,
    )  # fmt: skip
