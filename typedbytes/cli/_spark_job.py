"""A job on Spark, for the commands run and submit: the session, and the options that Spark leaves no use for."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager

from typedbytes.cli._failure import UNAVAILABLE, USAGE, Failure
from typedbytes.cli._job_options import job_settings, named, report_ignored
from typedbytes.cli._job_result import run_and_report

PYTHON = "python3"  # what --python is if it is not given
# Options of run and of submit, and their values when they are not given.
NOT_FOR_SPARK = {
    "memory": 512 << 20, "processes": None, "attempts": 1, "tmp": None, "codec": "none",
    "feed": None, "feed_jar": None, "streaming_jar": None, "read": False, "dry_run": False, "target": "hadoop", "staging": None,
}  # fmt: skip


def run_on_spark(options, script, inputs, master, bundle=None):
    """Run a job by a session of its own. master: None is that of Spark's settings. bundle: the path of an archive with this package."""
    for name, default in NOT_FOR_SPARK.items():
        if getattr(options, name, default) != default:
            raise Failure(USAGE, f"--{name.replace('_', '-')} is not for --engine spark")
    quiet = getattr(options, "quiet", False)
    from typedbytes import spark

    if not quiet:
        report_ignored(options)
    with _session(options, master, bundle) as session:
        run_and_report(
            lambda: spark.run_script(
                session,
                script,
                options.arg,
                inputs=inputs,
                output=options.folder,
                reducers=options.reducers,
                environ=named(options.env, "--env"),
                split_size=getattr(options, "split_size", None),
                keep_failed=getattr(options, "keep_failed", False),
                quiet=quiet,
                **job_settings(options),
            ),
            quiet,
        )


@contextmanager
def _session(options, master, bundle):
    try:
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        raise Failure(UNAVAILABLE, "--engine spark needs PySpark: pip install 'typedbytes[spark]'") from None
    os.environ["PYSPARK_PYTHON"] = _python_of_workers(options, master)
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName(getattr(options, "name", "") or os.path.basename(options.files[0]))
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


def _python_of_workers(options, master):
    """Return what --python or Spark's own variable says; on this machine, and without either, the running Python or `python3`."""
    is_here = master is None or master.startswith("local")
    given = getattr(options, "python", PYTHON)
    return given if given != PYTHON else os.environ.get("PYSPARK_PYTHON") or (sys.executable if is_here else PYTHON)


def _settings(master, bundle):
    """Return the properties of the session: Spark's own messages are left out, because a failed task is reported."""
    settings = {"spark.log.level": "OFF", "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    if master:
        settings["spark.master"] = master
    if bundle:
        from typedbytes.spark._job import BUNDLE

        settings["spark.archives"] = f"{os.path.abspath(bundle)}#{BUNDLE}"
        settings["spark.executorEnv.PYTHONPATH"] = BUNDLE
    return settings
