"""A session of Spark for one job: its settings, and the Python of its workers.

Here: what a job on Spark needs of a session that it starts itself. Not here: running the job.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager

from typedbytes.jobs.errors import SubmitError
from typedbytes.spark import BUNDLE

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from typedbytes.jobs.job import Job

__all__ = ["session_of"]


@contextmanager
def session_of(job: Job, master: str | None, bundle: str | None = None) -> Iterator[Any]:
    """Return a context manager with a session for a job; bundle: the path of an archive with this package.

    master: None is that of Spark's settings. Raises ModuleNotFoundError without PySpark, SubmitError if it does not
    start.
    """
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        raise ModuleNotFoundError("--engine spark needs PySpark: pip install 'typedbytes[spark]'") from None
    os.environ["PYSPARK_PYTHON"] = _python_of_workers(job, master)
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName(job.name or os.path.basename(job.script))
    for name, value in _settings(master, bundle).items():
        builder = builder.config(name, value)
    try:
        session = builder.getOrCreate()
    except (PySparkException, OSError) as error:
        raise SubmitError(f"Spark did not start: {error}") from None
    try:
        yield session
    finally:
        session.stop()


def _python_of_workers(job, master):
    """Return what --python or Spark's variable says; else the running Python on this machine, or `python3`."""
    is_here = master is None or master.startswith("local")
    python = "python3"  # what --python is if it is not given
    return (
        job.python
        if job.python != python
        else os.environ.get("PYSPARK_PYTHON") or (sys.executable if is_here else python)
    )


def _settings(master, bundle):
    """Return the properties of the session: Spark's own messages are left out, because a failed task is reported."""
    settings = {"spark.log.level": "OFF", "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    if master:
        settings["spark.master"] = master
    if bundle:
        settings["spark.archives"] = f"{os.path.abspath(bundle)}#{BUNDLE}"
        settings["spark.executorEnv.PYTHONPATH"] = BUNDLE
    return settings
