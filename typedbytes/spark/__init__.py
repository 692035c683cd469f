"""SequenceFiles and typed bytes as data frames of Apache Spark, both ways; and the jobs of Hadoop Streaming on Spark.

Here: the format `typedbytes` of a Spark session, the function for a Spark before 4.0, and those for jobs.
Spark is imported when one of them is called.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, Literal, Union

    from typedbytes.jobs.job import Inputs, Job, Path
    from typedbytes.jobs.result import Result

    Values = Union[Mapping[str, object], None]

BUNDLE = "typedbytes-bundle"  # the folder of a bundle among the files of an application

__all__ = ["read", "register", "run_job", "run_script"]


def __dir__() -> list[str]:
    return __all__


def register(spark: Any) -> None:
    """Make `typedbytes` a format of a session of Spark 4.0 or newer.

    Then `spark.read.format("typedbytes").load(path)` reads a file, a folder of part files or a pattern, of
    SequenceFiles or typed bytes, on this machine or at any URL that fsspec knows;
    `frame.write.format("typedbytes").mode("append").save(path)` writes a folder of SequenceFiles. The options of both
    are in the guide of Spark. Raises ModuleNotFoundError without PySpark 4 and pyarrow.
    """
    from typedbytes.spark._source import TypedBytesDataSource

    spark.dataSource.register(TypedBytesDataSource)


def read(spark: Any, path: str, schema: Any = None, **options: Any) -> Any:
    """Return a data frame of the records of a path, as the format reads them; for Spark 3.5 and newer.

    schema: a StructType, None: taken from the first records. Options as for the format: `pairs`, `splitSize`,
    `mergeSchema`, `dialect`, `pathColumn`, and those of RCFiles; `type` and `keyType` may be record classes. Raises
    ModuleNotFoundError without PySpark and pyarrow, FormatError and its like for damaged files.
    """
    from typedbytes.spark._frames import read

    return read(spark, path, schema, options)


def run_script(
    spark: Any, script: Path, arguments: Sequence[str] = (), *, inputs: Inputs, output: Path,
    reducers: int | None = None, combiner: bool | None = None,
    output_format: Literal["sequencefile", "pairs", "text", "values", "json", "csv", "parquet"] = "sequencefile",
    input_format: str = "auto", secondary: int = 0, split_size: int | None = None, combine_files: bool = False,
    params: Values = None, environ: Values = None, properties: Values = None,
    files: Iterable[Path] = (), archives: Iterable[Path] = (), keep_failed: bool = False, recursive: bool = False,
    quiet: bool = False, overwrite: bool = False, output_by_key: bool = False, step_output: Path = "",
    report: Path = "", front: str = "",
) -> Result:  # fmt: skip
    """Run the job of a script as tasks of a Spark session, and return its Result.

    Raises local.JobError when it fails, and leaves no output then. The script, the options and the Result are those of
    `typedbytes.local.run_script`, and so are the part files. spark: a session; its machines share the file system of
    inputs and output, and have this package. A task runs in a folder of its own, with the script, the modules beside it
    that it imports, and files and archives. Raises ModuleNotFoundError without PySpark.
    """
    from typedbytes.jobs.errors import options_as_keywords
    from typedbytes.jobs.job import job_from_user_values

    with options_as_keywords():
        job = job_from_user_values(
            script, inputs, output, reducers, combiner, secondary, input_format, output_format, files=files,
            archives=archives, properties=properties, environment=environ, params=params, arguments=arguments,
            split_size=split_size, combine_files=combine_files, keep_failed=keep_failed, recursive=recursive,
            quiet=quiet, overwrite=overwrite, output_by_key=output_by_key, step_output=step_output, report=report,
            front=front,
        )  # fmt: skip
        return run_job(spark, job)


def run_job(spark: Any, job: Job) -> Result:
    """Run a jobs.Job of a script as `run_script` does; raises as it does."""
    from functools import partial

    from typedbytes.jobs.running import run_with_engine
    from typedbytes.spark._job import SparkJob

    job.check_engine("spark")
    return run_with_engine(partial(SparkJob, spark), job, where="Spark")
