"""The result of a job on standard output, where no folder is given: it is in one that is removed afterwards.

Here too: descriptor 1 while code of the job runs in this process. Invariant: afterwards it is what it was, and nothing
that was written meanwhile reaches it.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from contextlib import contextmanager

from typedbytes._base.locations import written_parts
from typedbytes._base.secrets import without_secret_values
from typedbytes.cli._failure import BAD_DATA, USAGE, Failure, say_lines
from typedbytes.jobs.errors import OptionError
from typedbytes.streaming.exit_guard import flush

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from typedbytes.cli._job.options import JobSettings
    from typedbytes.cli._output.files import CommandOutput
    from typedbytes.hadoop import Plan

__all__ = ["check_shown", "show_parts", "stdout_as_stderr", "submit_and_show", "write_shown"]

PIECE_NBYTES = 1 << 18


def show_parts(folder: str, output_format: str, output: CommandOutput) -> None:
    """Write the part files of a folder, one after the other; of CSV the names of the columns once.

    Raises PartsError for CSV that has other columns in some parts, before anything is written.
    """
    from typedbytes.cli._job.csv_parts import find_names, write_rows  # lazy import: start-up time

    paths = written_parts(folder)
    with_names = find_names(paths) if output_format == "csv" and len(paths) > 1 else []
    repeated = {*with_names[1:]}
    for path in paths:
        if path in repeated:
            write_rows(path, output)
            continue
        with open(path, "rb") as file:
            while data := file.read(PIECE_NBYTES):
                output.write(data)


def write_shown(run: Callable[[str], object], parent: str | None, output_format: str, output: CommandOutput) -> None:
    """Run a job, run(folder), whose output is a folder of this machine in a parent, None: of temporary files."""
    with tempfile.TemporaryDirectory(prefix="typedbytes-", dir=parent) as folder:
        target = os.path.join(folder, "output")
        run(target)
        try:
            show_parts(target, output_format, output)
        except ValueError as error:  # of parts that cannot be put together
            raise Failure(BAD_DATA, str(error)) from None


def check_shown(settings: JobSettings, plan: Plan) -> None:
    """Raise Failure for a job on Hadoop whose result cannot go to standard output."""
    for flag, is_given in (("read", settings.read), ("dry-run", settings.dry_run), ("overwrite", plan.overwrite)):
        if is_given:
            raise Failure(USAGE, f"--{flag} is for a job with --output FOLDER")
    if settings.target != "hadoop":
        raise Failure(USAGE, f"--target {settings.target} needs --output FOLDER")
    if "." in plan.output_format:
        raise Failure(USAGE, "--output-format with a Java class needs --output FOLDER")
    if {"fs.defaultFS", "fs.default.name"} & plan.properties.keys():
        raise Failure(USAGE, "a job with -D fs.defaultFS needs --output FOLDER, as a URL")


def submit_and_show(plan: Plan, run: Callable[[Plan], object], as_pairs: bool, output: CommandOutput) -> None:
    """Run a job on Hadoop, write its result, and remove its output, a folder in the user's own."""
    from typedbytes.hadoop.outputs import copied_here, remove_output
    from typedbytes.hadoop.steps import removal

    try:
        run(plan)
        with copied_here(plan.output) as folder:
            if plan.output_format == "sequencefile":
                _write_pairs(folder, as_pairs, output)
            else:
                show_parts(folder, plan.output_format, output)
    except OptionError:  # before there was any output
        raise
    except ValueError as error:  # of a record that is not a line, or of parts; JobFailedError is none
        raise Failure(BAD_DATA, f"{error}; the output of the job was kept: {plan.output}") from None
    except Exception:
        remove_output(plan.output)
        raise
    except BaseException:  # a signal: the job may go on
        words = without_secret_values(removal(plan, [plan.output]))
        say_lines(f"to remove what the job writes: {shlex.join(['hadoop', *words])}")
        raise
    remove_output(plan.output)


def _write_pairs(folder, as_pairs, output):
    from typedbytes import PairWriter, hadoop
    from typedbytes.streaming.formats.text import TextOutput

    pairs = hadoop.read_output(folder)
    if as_pairs:
        with PairWriter(output) as writer:
            writer.writes(pairs)
    else:
        lines = TextOutput(output, b"\t")
        lines.writes(pairs)
        lines.close()


@contextmanager
def stdout_as_stderr() -> Iterator[None]:
    """Have descriptor 1 be standard error for a while: print, C libraries and child processes write to it.

    For a process of our own: in a user's, other threads may write to standard output meanwhile.
    """
    _flush()
    try:
        saved = os.dup(1)
    except OSError:  # there is no standard output
        yield
        return
    try:
        os.dup2(2, 1)
        yield
    finally:
        try:
            _flush()
        finally:
            os.dup2(saved, 1)
            os.close(saved)


def _flush():
    """Write what the streams of Python and of C hold for standard output."""
    flush(sys.stdout, sys.__stdout__)
    try:
        import ctypes

        ctypes.CDLL(None).fflush(None)
    except (ImportError, OSError, TypeError, AttributeError):
        pass  # no C library is found so
