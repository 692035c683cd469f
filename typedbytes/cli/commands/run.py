"""The command run: a job on this machine, by typedbytes.local.

Messages are written to stderr, the result to a folder or to stdout; exit code 0 means that the output is complete.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from typedbytes.cli._arguments import CLASSES, option
from typedbytes.cli._job.options import JobSettings, job_of
from typedbytes.cli._job.shown import stdout_as_stderr, write_shown
from typedbytes.jobs.job import Job

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(JobSettings):
    """The options of run."""

    command = "run"
    engine: str = option(
        "--engine",
        choices=("local", "spark"),
        default="local",
        help="what runs the tasks; spark: PySpark on this machine (local)",
    )
    classes: str | None = CLASSES


def run(settings: Settings, output: CommandOutput) -> None:
    """Run the job of a script on this machine, as Hadoop Streaming would, and write its part files.

    SCRIPT calls typedbytes.streaming.run, and runs under Hadoop unchanged, with the same part files.
    The inputs are pairs of SequenceFiles and of files named .tb, or lines of text; input that is
    clearly not text is an error unless --input-format is text. The output appears only on success.
    The map, combine and reduce tasks are processes; what they print is written to stderr.

    examples:
      typedbytes run wordcount.py book.txt -o counts
      typedbytes run --reducers 4 --memory 2G job.py logs/ 'more/*.gz' -o out
      zcat big.gz | typedbytes run job.py - -o out --output-format text
      typedbytes run --mapper 'grep -o [a-z]*' --reducer 'uniq -c' book.txt
      typedbytes run --as mrjob old_job.py book.txt
      typedbytes dumptb counts | typedbytes to-json --pairs
    """
    job = job_of(settings, Job)
    if not settings.is_shown:
        _run(settings, job)
        return
    if job.output_format == "pairs":
        output.refuse_terminal()
    write_shown(lambda target: _run(settings, replace(job, output=target)), None, job.output_format, output)


def _run(settings, job):
    from typedbytes.cli._job.result import run_and_report

    if settings.engine == "spark":
        from typedbytes.cli._job.spark_job import on_spark

        run_and_report(job, on_spark(settings, job, "local[*]"), settings.is_shown)
    else:
        run_and_report(job, partial(_run_here, job), settings.is_shown)


def _run_here(job):
    from typedbytes import local
    from typedbytes.cli._job.progress import progress_of

    if not job.inline:
        return local.run_job(job, progress=progress_of(job.quiet))
    with stdout_as_stderr():  # the result alone is for standard output, and child processes of the tasks have it too
        return local.run_job(job, progress=progress_of(job.quiet))
