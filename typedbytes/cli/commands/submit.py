"""The command submit: a job on Hadoop, by typedbytes.hadoop."""

from __future__ import annotations

import tempfile

from typedbytes.cli._failure import FAILED, say_lines
from typedbytes.cli._job.submit_options import SubmitSettings
from typedbytes.jobs.errors import JobFailedError, SubmitError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput

Settings = SubmitSettings


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
