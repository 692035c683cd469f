"""The data source of Spark 4: its classes are imported by Spark's own workers."""

from __future__ import annotations

import json

try:
    from pyspark.sql.datasource import (
        DataSource,
        DataSourceArrowWriter,
        DataSourceReader,
        InputPartition,
        WriterCommitMessage,
    )
except ImportError as error:
    raise ModuleNotFoundError(
        "typedbytes.spark.register needs PySpark 4: pip install 'typedbytes[spark]'", name="pyspark"
    ) from error

from typedbytes.spark._output import Output
from typedbytes.spark._schemas import arrow_schema, spark_schema
from typedbytes.spark._splits import Options, batches_of, given_schema, infer_schema, make_splits

__all__ = ["TypedBytesDataSource"]


class TypedBytesDataSource(DataSource):
    """Read and write SequenceFiles and typed bytes."""

    @classmethod
    def name(cls):
        """Return the name of the format."""
        return "typedbytes"

    def schema(self):
        """Return the schema of the path, if none was given."""
        return spark_schema(infer_schema(self._paths(), Options(self.options)).arrow)

    def reader(self, schema):
        """Return the reader of the paths."""
        return _Reader(self._paths(), Options(self.options), schema)

    def writer(self, schema, overwrite):
        """Return the writer of a data frame with a key and a value."""
        if len(schema) != 2:
            raise ValueError(f"a SequenceFile has a key and a value: select two columns, not {len(schema)}")
        paths = self._paths()
        if len(paths) > 1:
            raise ValueError(f"save(path) takes one path, not {len(paths)}")
        arrow_schema(schema)  # refuses the types that Spark cannot hand over
        return _Writer(Output(paths[0], self.options, overwrite))

    def _paths(self):
        """Return the paths: Spark has one in the option path, and the list of load([...]) as JSON in paths."""
        if "path" in self.options:
            found = [self.options["path"]]
        else:
            found = json.loads(self.options.get("paths", "[]"))
        if not found:
            raise ValueError(
                "no path: load(path) takes one or several, save(path) one; a table of Spark's catalog hands on none, "
                "a temporary view does"
            )
        return [f"/{path[5:].lstrip('/')}" if path.startswith("file:/") else path for path in found]


class _Partition(InputPartition):
    def __init__(self, split):
        super().__init__(tuple(split))
        self.split = split


class _Reader(DataSourceReader):
    # Without pushFilters(): Spark 4.1 to 4.3 keeps the read function that follows from it for all later queries of the
    # same data frame. A query without filters does not ask again, so that each row that is left out for one query would
    # be missing from another.

    def __init__(self, paths, options, schema):
        self._paths = paths
        self._options = options
        self._schema = given_schema(paths, options, arrow_schema(schema))

    def partitions(self):
        """Return the splits."""
        return [_Partition(split) for split in make_splits(self._paths, self._options)]

    def read(self, partition):
        """Yield the record batches of a split; of one that Spark made up where there are no splits, none."""
        if not isinstance(partition, _Partition):
            return iter(())
        return batches_of(partition.split, self._options, self._schema)


class _Writer(DataSourceArrowWriter):
    def __init__(self, output):
        self._output = output

    def write(self, iterator):
        """Write the batches of a task; return what it wrote."""
        from pyspark import TaskContext

        context = TaskContext.get()
        written = self._output.write(iter(iterator), context.partitionId(), context.taskAttemptId())
        return _Written(written)

    def commit(self, messages):
        """Finish the job."""
        self._output.commit([message.written for message in messages])

    def abort(self, messages):
        """Give the job up."""
        self._output.abort()


class _Written(WriterCommitMessage):
    def __init__(self, written):
        self.written = written
