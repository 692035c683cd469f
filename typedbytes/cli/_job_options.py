"""The options of a job, the same for the commands run and submit, and their values."""

from __future__ import annotations

from typedbytes.cli._arguments import integer
from typedbytes.cli._failure import USAGE, Failure, say

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    import argparse


def add_job_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of a job, wherever it runs."""
    add = parser.add_argument
    add(
        "files",
        nargs="*",
        default=[],
        metavar="SCRIPT INPUT",
        help="the script of the job, then its inputs: files, folders or patterns; run also takes - for stdin",
    )
    add("-o", "--output", dest="folder", metavar="FOLDER", help="the folder for the part files; it must not exist")
    add(
        "-r",
        "--reducers",
        type=integer,
        metavar="N",
        help="the number of reduce tasks and part files; 0: no reducer (1, or 0 if the script has no reducer)",
    )
    combiner = parser.add_mutually_exclusive_group()
    combiner.add_argument("--combiner", action="store_true", default=None, help="run the script's combiner (if it has one)")
    combiner.add_argument("--no-combiner", dest="combiner", action="store_false", default=None, help="do not run the script's combiner")
    add(
        "--secondary",
        type=integer,
        default=0,
        metavar="N",
        help="ignore the last N bytes of a key when choosing its reducer; not needed with group_by (0)",
    )
    _add_format_arguments(add)
    _add_repeatable_arguments(add)


def _add_format_arguments(add):
    add(
        "--input-format",
        default="auto",
        metavar="F",
        help="auto (by content), text or sequencefile; for run also pairs, for submit a Java class (auto)",
    )
    add(
        "--output-format",
        default="sequencefile",
        metavar="F",
        help="sequencefile or text; for run also pairs, for submit a Java class (sequencefile)",
    )


def _add_repeatable_arguments(add):
    add("--arg", action="append", default=[], metavar="WORD", help="pass WORD to the script after its role; may be repeated")
    add("--param", action="append", default=[], metavar="NAME=VALUE", help="a parameter: tasks find it in task().params")
    add("--env", action="append", default=[], metavar="NAME=VALUE", help="a variable in the environment of each task")
    add(
        "-D",
        dest="properties",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a property of the job; tasks find a.b as the variable a_b",
    )
    add(
        "--ship",
        action="append",
        default=[],
        metavar="FILE[#NAME]",
        help="a file that each task finds in its folder; where nothing is shipped, tasks of run find all files of the current folder, those of submit none",
    )
    add(
        "--archive",
        action="append",
        default=[],
        metavar="FILE[#NAME]",
        help="an archive, zip or tar, that each task finds unpacked as NAME",
    )


def job_files(options: argparse.Namespace, command: str) -> tuple[str, list[str]]:
    """Return the script and the inputs; raises Failure if one of them, or the output, was not given."""
    if len(options.files) < 2 or not options.folder:
        raise Failure(USAGE, f"{command} needs a SCRIPT, an INPUT and --output FOLDER (see typedbytes {command} --help)")
    if options.folder == "-":
        advice = "--read writes" if command == "submit" else "then typedbytes dumptb FOLDER writes"
        raise Failure(
            USAGE, f"the output of {command} is a folder, not standard output: give --output FOLDER; {advice} its pairs to standard output"
        )
    return options.files[0], options.files[1:]


def job_settings(options: argparse.Namespace) -> dict:
    """Return the keywords that mean the same for local.run_script and hadoop.Plan."""
    return {
        "combiner": options.combiner,
        "secondary": options.secondary,
        "input_format": options.input_format,
        "output_format": options.output_format,
        "params": named(options.param, "--param"),
        "properties": named(options.properties, "-D"),
        "files": options.ship,
        "archives": options.archive,
    }


def report_ignored(options: argparse.Namespace) -> None:
    """Report each property of the job with which Hadoop would give another result, and which has no effect outside it.

    Where text is compressed, as Hadoop does it, the names of part files are others than usual: that is reported too.
    """
    from typedbytes.local._properties import ignored, text_suffix  # imported lazily: start-up time

    properties = named(options.properties, "-D")
    for name, what in ignored(properties, options.output_format).items():
        say(f"typedbytes: -D {name} has no effect here: {what}")
    suffix = text_suffix(properties, options.output_format)
    if suffix:
        say(f"typedbytes: part files end in {suffix}: mapreduce.output.fileoutputformat.compress is set")


def named(words: list[str], option: str) -> dict[str, str]:
    """Return the values by their names; raises Failure for a word that is not NAME=VALUE."""
    pairs = [word.partition("=") for word in words]
    for word, (name, sign, _) in zip(words, pairs):
        if not name or not sign:
            raise Failure(USAGE, f"{option} takes NAME=VALUE, not {word!r}")
    return {name: value for name, _, value in pairs}
