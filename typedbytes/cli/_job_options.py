"""The options of a job, as arguments of the commands run and submit, and the job that their words describe."""

from __future__ import annotations

from typedbytes.cli._arguments import integer, parse_size
from typedbytes.cli._failure import USAGE, Failure, say
from typedbytes.jobs.errors import OptionError
from typedbytes.jobs.job import Job

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    import argparse
    from typing import Any, TypeVar

    AnyJob = TypeVar("AnyJob", bound=Job)

#: What argparse needs to know of each form of an option.
FORMS: dict[str, dict[str, Any]] = {
    "word": {},
    "integer": {"type": integer},
    "size": {"type": parse_size},
    "switch": {"action": "store_true"},
    "words": {"action": "append"},
    "named": {"action": "append"},
}


def add_job_arguments(parser: argparse.ArgumentParser, command: str) -> None:
    """Declare the script, the inputs, the output and the options of a job that a command runs."""
    parser.add_argument(
        "files",
        nargs="*",
        default=[],
        metavar="SCRIPT INPUT",
        help="the script of the job, then its inputs: files, folders or patterns; run also takes - for stdin",
    )
    parser.add_argument("-o", "--output", dest="folder", metavar="FOLDER", help="the folder for the part files; it must not exist")
    defaults = Job("", [], "")
    for name, option in Job.options(command).items():
        default = getattr(defaults, name)
        if option.form == "either":
            either = parser.add_mutually_exclusive_group()
            flag = option.flags[0]
            either.add_argument(flag, dest=option.dest, action="store_true", default=default, help=option.help)
            either.add_argument(
                f"--no-{flag[2:]}", dest=option.dest, action="store_false", default=default, help=f"do not {option.help.partition(' (')[0]}"
            )
            continue
        given: dict[str, Any] = {"default": [] if option.form in ("words", "named") else default, "help": option.help, **FORMS[option.form]}
        if option.form != "switch":
            given.update(metavar=option.shown, choices=option.choices)
        parser.add_argument(*option.flags, dest=option.dest, **given)


def job_of(options: argparse.Namespace, command: str, kind: type[AnyJob], **more: Any) -> AnyJob:
    """Return the job that the words of a command describe; raises Failure for a job that cannot be."""
    if len(options.files) < 2 or not options.folder:
        raise Failure(USAGE, f"{command} needs a SCRIPT, an INPUT and --output FOLDER (see typedbytes {command} --help)")
    if options.folder == "-":
        advice = "--read writes" if command == "submit" else "then typedbytes dumptb FOLDER writes"
        raise Failure(
            USAGE, f"the output of {command} is a folder, not standard output: give --output FOLDER; {advice} its pairs to standard output"
        )
    try:
        values = Job.values(vars(options), command)
        return kind(options.files[0], options.files[1:], options.folder, **values, **more)
    except OptionError as error:
        raise Failure(USAGE, str(error)) from None


def report_ignored(job: Job) -> None:
    """Report each property of the job with which Hadoop would give another result, and which has no effect outside it.

    Where text is compressed, as Hadoop does it, the names of part files are others than usual: that is reported too.
    """
    from typedbytes.jobs.hadoop_properties import ignored, text_suffix  # imported lazily: start-up time

    for name, what in ignored(job.properties, job.output_format).items():
        say(f"typedbytes: -D {name} has no effect here: {what}")
    suffix = text_suffix(job.properties, job.output_format)
    if suffix:
        say(f"typedbytes: part files end in {suffix}: mapreduce.output.fileoutputformat.compress is set")
