"""A data frame by mapInArrow, for a Spark without data sources in Python: tasks read the splits of their rows."""

from __future__ import annotations

try:
    import pyspark  # noqa: F401
except ImportError as error:
    raise ModuleNotFoundError(
        "typedbytes.spark needs PySpark: pip install 'typedbytes[spark]'", name="pyspark"
    ) from error

from typedbytes.spark._schemas import arrow_schema, spark_schema
from typedbytes.spark._splits import Options, batches_of, given_schema, infer_schema, make_splits

__all__ = ["read"]


def read(spark, path, schema, options):
    """Return a data frame of the records of a path."""
    options = Options(options)
    if schema is None:
        inferred = infer_schema(path, options)
        schema = spark_schema(inferred.arrow)
        wanted = inferred.with_arrow(arrow_schema(schema))
    else:
        wanted = given_schema(path, options, arrow_schema(schema))
    splits = make_splits(path, options)
    numbers = spark.createDataFrame([(n,) for n in range(len(splits))], "n long").repartition(max(len(splits), 1))

    def records(batches):
        for batch in batches:
            for row in batch.to_pylist():
                yield from batches_of(splits[row["n"]], options, wanted)

    return numbers.mapInArrow(records, schema)
