"""The command submit: a job on Hadoop, by typedbytes.hadoop."""

from __future__ import annotations

import tempfile

from typedbytes.cli._arguments import option, switch
from typedbytes.cli._failure import FAILED, say_lines
from typedbytes.cli._job.bundle_options import BundleSettings
from typedbytes.cli._job.options import JobSettings
from typedbytes.jobs.errors import JobFailedError, SubmitError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(JobSettings, BundleSettings):
    """The options of submit."""

    command = "submit"
    engine: str = option(
        "--engine",
        choices=("hadoop", "spark"),
        default="hadoop",
        help="run the job on Hadoop or on Spark, which needs PySpark on this machine (hadoop)",
    )
    master: str | None = option(
        "--master",
        metavar="URL",
        help="spark: the cluster, as spark://host:7077, yarn or local[4] (default: from Spark's configuration)",
    )
    bundle: str | None = option(
        "--bundle",
        group="bundle",
        metavar="ZIP",
        help="an archive made with typedbytes bundle (default: one is made, with the options above)",
    )
    no_bundle: bool = option(
        "--no-bundle", group="bundle", action="store_true", help="the nodes have typedbytes installed"
    )
    streaming_jar: str | None = option(
        "--streaming-jar", metavar="JAR", help="Hadoop's streaming jar, if it is not found"
    )
    read: bool = switch("--read", help="write the output of the job to stdout as pairs")
    dry_run: bool = switch("--dry-run", help="print the commands, passwords in URLs included, instead of running them")
    target: str = option(
        "--target",
        choices=("hadoop", "emr", "dataproc"),
        default="hadoop",
        help="for emr and dataproc the job is printed, not run",
    )
    staging: str | None = option("--staging", metavar="URL", help="the folder in the cloud for the job's files")
    cluster: str = option("--cluster", default="CLUSTER", help="the cluster's id or name, for emr and dataproc")
    region: str = option("--region", default="REGION", help="the cluster's region, for dataproc")


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Run a job on Hadoop, or on Spark.

    Hadoop is found by HADOOP_HOME or PATH, and the cluster by HADOOP_CONF_DIR. The script, the
    modules beside it that it imports, and this package are sent with the job. Progress, counters and
    the messages of failed tasks go to stderr. The exit code is 1 if the job fails, 64 if the command
    line or the script is wrong, for example if there is no such script, and 69 if the job cannot be
    submitted as it is, for example if a module is missing. On Spark the machines share a file system,
    where input and output are.

    examples:
      typedbytes submit wordcount.py books -o counts --reducers 2
      typedbytes submit job.py books -o out --require numpy --module mypackage --python-version 3.11
      typedbytes submit wordcount.py books -o counts --dry-run
      typedbytes submit wordcount.py books -o counts --engine spark --master spark://host:7077
    """
    try:
        with tempfile.TemporaryDirectory() as folder:
            if settings.engine == "spark":
                from typedbytes.cli._job.spark_job import submit
            else:
                from typedbytes.cli._job.hadoop_job import submit
            submit(settings, folder, output)
    except JobFailedError as error:
        say_lines(str(error))
        return FAILED
    except SubmitError as error:
        from typedbytes.cli._job.submit_failure import failure_of

        raise failure_of(error) from None
