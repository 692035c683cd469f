"""Running a job of dumbo: here, into one file of lines, or on Hadoop.

Here: what the options of a job mean to the Job of typedbytes. Not here: those of one iteration.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import tempfile
from contextlib import suppress

from typedbytes.fronts.dumbo.command_line import variable_for_tasks
from typedbytes.fronts.dumbo.options import properties_in
from typedbytes.fronts.dumbo.util import dumpcode, dumptext, fail, named_values, number_of
from typedbytes.fronts.refusals import text_without_options

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from typedbytes.fronts.dumbo.options import StepOptions
    from typedbytes.fronts.dumbo.util import Options

__all__ = ["run_job"]

#: Formats, by dumbo's names, as Hadoop writes them; and as jobs read them, here and on Hadoop.
OUTPUT_FORMATS = {"text": "text", "code": "sequencefile", "sequencefile": "sequencefile", "raw": "values"}
INPUT_FORMATS = {"code": "text", "text": "text", "auto": "auto", "sequencefile": "sequencefile"}
HADOOP_INPUT_FORMATS = {**INPUT_FORMATS, "code": "sequencefile"}


def run_job(given: Options, steps: Sequence[StepOptions]) -> None:
    """Run the job of a script by the options of its command line, and by those of its iterations."""
    if not steps:
        fail("the job has no iterations: call additer(mapper, reducer)")
    last = steps[-1]
    readers = [step for step in steps if step.reads_input]
    inputs, output = _same("input", [step.options["input"] for step in readers]), last.first("output", "")
    if not any(inputs):
        fail("No input path specified")
    if not output:
        fail("No output path specified")
    input_format = _same("inputformat", [step.first("inputformat", "auto") for step in readers])
    output_format = last.first("outputformat", "code")
    is_on_hadoop = last.is_on_hadoop
    if not is_on_hadoop:
        inputs = _separate(inputs)
    named = [] if is_on_hadoop else inputs  # there, mappers get the URL of a file
    fields: dict[str, Any] = {
        # Where there are to be none, an iteration has no reducer.
        "nreducers": (number_of(given, "numreducetasks") or None) if any(step.nreducers for step in steps) else None,
        "files": _all(steps, "file", "cachefile"), "archives": _all(steps, "cachearchive"),
        "name": last.first("name", ""), "properties": properties_in(given),
        "environment": {**named_values(given, "cmdenv", "param"), **variable_for_tasks(given, named)},
        "input_format": _found(input_format, HADOOP_INPUT_FORMATS if is_on_hadoop else INPUT_FORMATS, is_on_hadoop),
        "front": "dumbo",
    }  # fmt: skip
    run = _run_on_hadoop if is_on_hadoop else _run_here
    from typedbytes.jobs.errors import JobError

    try:
        run(steps, fields, inputs, output, output_format)
    except JobError as error:
        fail(text_without_options(error))


def _same(key, values):
    """Return the value that all iterations have which read the input of the job."""
    if any(value != values[0] for value in values):
        fail(f"-{key} is not the same in all iterations that read the input of the job")
    return values[0] if values else []


def _all(steps, *keys):
    return [*dict.fromkeys(value for step in steps for key in keys for value in step.options[key])]


def _separate(inputs):
    """Return paths: a word that is not one may be several with spaces between them, as in dumbo."""
    return [path for word in inputs for path in ([word] if os.path.exists(word) else word.split() or [word])]


def _found(name, formats, has_classes):
    """Return the format of a job for a name of dumbo; on Hadoop, classes are formats too."""
    if has_classes and "." in name:
        return name
    if name.lower() not in formats:
        fail(f"-inputformat must be one of {', '.join(formats)}, not {name}")
    return formats[name.lower()]


def _run_here(steps, fields, inputs, output, output_format):
    from typedbytes import local
    from typedbytes.jobs.job import Job

    _check_file(output, output_format, inputs)
    with tempfile.TemporaryDirectory(prefix="dumbo-") as folder:
        target = os.path.join(folder, "output")
        local.run_job(Job(sys.argv[0], inputs, target, output_format="pairs", quiet=False, **fields))
        try:
            _write_file(target, output, output_format)
        except OSError as error:
            fail(f"{output}: {error.strerror}")


def _run_on_hadoop(steps, fields, inputs, output, output_format):
    from typedbytes import hadoop

    last = steps[-1]
    more = {"python": last.first("python", "")} if last.options["python"] else {}
    folder = tempfile.mkdtemp(prefix="dumbo-")
    try:
        bundle = os.path.join(folder, "typedbytes-bundle.zip")
        hadoop.bundle(bundle)
        plan = hadoop.Plan(
            sys.argv[0], inputs, output, output_format=OUTPUT_FORMATS.get(output_format, output_format),
            libjars=_all(steps, "libjar"), overwrite=any("yes" in step.options["overwrite"] for step in steps),
            output_by_key="yes" in last.options["getpath"], bundle=bundle, **more, **fields,
        )  # fmt: skip
        hadoop.submit(plan)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _check_file(path, output_format, inputs):
    """Fail before the job if there is no such format, or if the file cannot be made, or replaces what the job reads."""
    if output_format not in OUTPUT_FORMATS:
        fail(f"-outputformat must be one of {', '.join(OUTPUT_FORMATS)}, not {output_format}")
    if os.path.isdir(path) or not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        fail(f"-output takes the path of a file, in a folder that is there, not {path}")
    if os.path.exists(path) and any(os.path.samefile(path, each) for each in _files_here([sys.argv[0], *inputs])):
        fail(f"-output {path} is the script or an input, which it would replace: give another path")


def _files_here(paths):
    """Yield the files of this machine that inputs are; one that is not there is left to the job."""
    from typedbytes._base.locations import files, is_url

    for each in paths:
        path = each[len("file://") :] if each.startswith("file:///") else each
        if not is_url(path):
            with suppress(OSError):
                yield from filter(os.path.exists, files(path, recursive=True))


def _write_file(folder, path, output_format):
    """Write the pairs of a folder into one file, as lines of text or of reprs."""
    from typedbytes import PairReader
    from typedbytes._base.atomic import atomic_file
    from typedbytes._base.locations import written_parts

    dump = dumptext if output_format == "text" else dumpcode
    with atomic_file(path) as raw, io.BufferedWriter(raw) as file:
        for part in written_parts(folder):
            with PairReader(part) as pairs:
                if output_format == "raw":
                    pieces = (value if isinstance(value, bytes) else str(value) for _, value in pairs)
                else:
                    pieces = (f"{key}\t{value}\n" for key, value in dump(pairs))
                for piece in pieces:
                    file.write(piece if isinstance(piece, bytes) else piece.encode("utf-8", "surrogateescape"))
