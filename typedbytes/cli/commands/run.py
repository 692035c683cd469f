"""The command run: a job on this machine, by typedbytes.local.

Only messages are written, to stderr; exit code 0 means that the output is complete. A job reads several files at once,
so it reports progress itself: bars with rich, lines elsewhere. _progress polls the offset of one file.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from functools import partial

from typedbytes.cli._arguments import CLASSES, option
from typedbytes.cli._failure import say
from typedbytes.cli._job.options import JobSettings, job_of
from typedbytes.jobs.job import Job

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput

SECONDS_BETWEEN_LINES = 5.0
PIECE_NBYTES = 1 << 18


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
    if not settings.is_shown:
        _run(settings, settings.folder)
        return
    with tempfile.TemporaryDirectory(prefix="typedbytes-") as folder:
        target = os.path.join(folder, "output")
        _run(settings, target)
        for name in sorted(os.listdir(target)):
            if not name.startswith(("_", ".")):
                with open(os.path.join(target, name), "rb") as file:
                    while data := file.read(PIECE_NBYTES):
                        output.write(data)


def _run(settings, target):
    from typedbytes.cli._job.result import run_and_report  # imported lazily: start-up time

    job = job_of(settings, Job, target)
    if settings.engine == "spark":
        from typedbytes.cli._job.spark_job import on_spark  # imported lazily: start-up time

        run_and_report(job, on_spark(settings, job, "local[*]"), settings.is_shown)
    else:
        run_and_report(job, partial(_run_here, job), settings.is_shown)


def _run_here(job):
    from typedbytes import local

    with _progress(job.quiet) as progress:
        return local.run_job(job, progress=progress)


def _progress(quiet):
    if quiet:
        return _NoProgress()
    if sys.stderr is not None and sys.stderr.isatty():
        try:
            return _Bar()
        except ModuleNotFoundError:
            pass
    return _Lines()


class _NoProgress:
    """Show no progress."""

    def __enter__(self):
        return None

    def __exit__(self, *error):
        pass


class _Lines(_NoProgress):
    """Report progress in lines, every few seconds."""

    def __init__(self):
        self._next = time.monotonic() + SECONDS_BETWEEN_LINES

    def __enter__(self):
        return self.update

    def update(self, phase, done, total):
        """Write a line if the last one is some seconds old."""
        if time.monotonic() >= self._next and total:
            self._next = time.monotonic() + SECONDS_BETWEEN_LINES
            say(f"typedbytes: {phase} {100 * done // total} %")


class _Bar(_NoProgress):
    """Show progress as bars on a terminal."""

    def __init__(self):
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeElapsedColumn

        columns = TextColumn("{task.description:6}"), BarColumn(), DownloadColumn(), TimeElapsedColumn()
        self._bars = Progress(*columns, console=Console(stderr=True), redirect_stdout=False)
        self._of_phase = {}

    def __enter__(self):
        self._bars.start()
        return self.update

    def update(self, phase, done, total):
        """Update the bar of a phase."""
        if phase not in self._of_phase:
            self._of_phase[phase] = self._bars.add_task(phase)
        self._bars.update(self._of_phase[phase], completed=done, total=total)

    def __exit__(self, *error):
        self._bars.stop()
