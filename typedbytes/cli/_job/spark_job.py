"""A job on Spark, for the commands run and submit: the options that have no use on Spark, and its errors."""

from __future__ import annotations

import os
from dataclasses import replace

from typedbytes.cli._failure import USAGE, Failure
from typedbytes.cli._job.bundle_options import bundle_settings
from typedbytes.cli._job.options import job_of
from typedbytes.cli._job.result import run_and_report
from typedbytes.cli._job.shown import write_shown
from typedbytes.cli._job.submit_options import SubmitSettings, bundle_of
from typedbytes.jobs.job import Job

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable

    from typedbytes.cli._job.options import JobSettings
    from typedbytes.cli._output.files import CommandOutput
    from typedbytes.jobs.result import Result

__all__ = ["on_spark", "submit"]


def submit(settings: SubmitSettings, folder: str, output: CommandOutput) -> None:
    """Run the job of the command submit, its bundle in a folder. Raises Failure and SubmitError."""
    makes_bundle = bool(settings.bundle or any(bundle_settings(settings).values()))
    bundle = bundle_of(settings, folder) if makes_bundle else None
    job = job_of(settings, Job)

    def run(job: Job) -> None:
        run_and_report(job, on_spark(settings, job, settings.master, bundle), settings.is_shown)

    if settings.is_shown:  # in this folder, which the machines share
        write_shown(lambda target: run(replace(job, output=target)), os.curdir, job.output_format, output)
    else:
        run(job)


def on_spark(settings: JobSettings, job: Job, master: str | None, bundle: str | None = None) -> Callable[[], Result]:
    """Return the function that runs a job by a session of its own; raise Failure for options that Spark does not have.

    master: None is that of Spark's settings. bundle: the path of an archive with this package.
    """
    refused = [Job.options()[name].flags[-1] for name in job.options_not_for("spark")]
    of_submit = {
        "--streaming-jar": settings.streaming_jar is not None, "--read": settings.read, "--dry-run": settings.dry_run,
        "--target": settings.target != "hadoop", "--staging": settings.staging is not None,
    }  # fmt: skip
    refused += [flag for flag, is_given in of_submit.items() if is_given]
    if refused:
        raise Failure(USAGE, f"{refused[0]} is not for --engine spark")

    def run():
        from typedbytes import spark
        from typedbytes.spark.session import session_of

        with session_of(job, master, bundle) as session:
            return spark.run_job(session, job)

    return run
