"""A data frame by mapInArrow, for a Spark without data sources in Python: tasks read the splits of their rows."""

from __future__ import annotations

try:
    import pyspark  # noqa: F401
except ImportError as error:
    raise ModuleNotFoundError(
        "typedbytes.spark needs PySpark: pip install 'typedbytes[spark]'", name="pyspark"
    ) from error

from typedbytes.spark._schemas import arrow_schema, spark_schema
from typedbytes.spark._splits import Options, Schema, Split, batches_of, given_schema, infer_schema, make_splits

__all__ = ["read"]


def read(spark, path, schema, options):
    """Return a data frame of the records of a path."""
    options = Options(options)
    if schema is None:
        inferred = infer_schema(path, options)
        schema = spark_schema(inferred.arrow)
        wanted = Schema(arrow_schema(schema), inferred.types)
    else:
        wanted = given_schema(path, options, arrow_schema(schema))
    rows = [tuple(split) for split in make_splits(path, options)]
    splits = spark.createDataFrame(rows, "path string, start long, length long").repartition(max(len(rows), 1))

    def records(batches):
        for batch in batches:
            for row in batch.to_pylist():
                yield from batches_of(Split(**row), options, wanted)

    return splits.mapInArrow(records, schema)
