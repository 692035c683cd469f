"""A job on Spark, for the commands run and submit: the session, and the options that have no use on Spark."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager

from typedbytes.cli._failure import UNAVAILABLE, USAGE, Failure
from typedbytes.jobs.job import Job

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from typedbytes.cli._job.options import JobSettings
    from typedbytes.jobs.result import Result

#: Options of submit that are not those of a job, and their values when they are not given.
NOT_FOR_SPARK = {"streaming_jar": None, "read": False, "dry_run": False, "target": "hadoop", "staging": None}


def on_spark(settings: JobSettings, job: Job, master: str | None, bundle: str | None = None) -> Callable[[], Result]:
    """Return the function that runs a job by a session of its own; raise Failure for options that Spark does not have.

    master: None is that of Spark's settings. bundle: the path of an archive with this package.
    """
    refused = [Job.options()[name].flags[-1] for name in job.options_not_for("spark")]
    refused += [
        f"--{name.replace('_', '-')}"
        for name, default in NOT_FOR_SPARK.items()
        if vars(settings).get(name, default) != default
    ]
    for flag in refused:
        raise Failure(USAGE, f"{flag} is not for --engine spark")

    def run():
        from typedbytes import spark

        with session_of(job, master, bundle) as session:
            return spark.run_job(session, job)

    return run


@contextmanager
def session_of(job: Job, master: str | None, bundle: str | None = None) -> Iterator[Any]:
    """Return a context manager with a session of Spark for a job; bundle: the path of an archive with this package."""
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        raise Failure(UNAVAILABLE, "--engine spark needs PySpark: pip install 'typedbytes[spark]'") from None
    os.environ["PYSPARK_PYTHON"] = _python_of_workers(job, master)
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName(job.name or os.path.basename(job.script))
    for name, value in _settings(master, bundle).items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except (PySparkException, OSError) as error:
        raise Failure(UNAVAILABLE, f"Spark did not start: {error}") from None
    try:
        yield session
    finally:
        session.stop()


def _python_of_workers(job, master):
    """Return what --python or Spark's variable says; else the running Python on this machine, or `python3`."""
    if job.python != "python3":  # what --python is if it is not given
        return job.python
    is_here = master is None or master.startswith("local")
    return os.environ.get("PYSPARK_PYTHON") or (sys.executable if is_here else job.python)


def _settings(master, bundle):
    """Return the properties of the session: Spark's own messages are left out, because a failed task is reported."""
    settings = {"spark.log.level": "OFF", "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    if master:
        settings["spark.master"] = master
    if bundle:
        from typedbytes.spark import BUNDLE

        settings["spark.archives"] = f"{os.path.abspath(bundle)}#{BUNDLE}"
        settings["spark.executorEnv.PYTHONPATH"] = BUNDLE
    return settings
