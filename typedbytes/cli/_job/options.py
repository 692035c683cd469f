"""The options of a job, as arguments of the commands run and submit, and the job that their words describe."""

from __future__ import annotations

import os
import shlex
from dataclasses import replace

from typedbytes.cli._arguments import Option, Settings, either, integer, option, size
from typedbytes.cli._failure import USAGE, Failure
from typedbytes.cli._job.submit_failure import failure_of, words_of
from typedbytes.jobs.errors import CommandError, OptionError
from typedbytes.jobs.fronts import FRONTS
from typedbytes.jobs.job import Job
from typedbytes.jobs.messages import with_reworded_options

TYPE_CHECKING = False

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Mapping
    from typing import Any, TypeVar

    from typedbytes.cli._parser import Parser

    AnyJob = TypeVar("AnyJob", bound=Job)

#: What argparse needs to know of each form of an option.
FORMS: dict[str, dict[str, Any]] = {
    "word": {},
    "integer": {"type": integer},
    "size": {"type": size},
    "switch": {"action": "store_true"},
    "words": {"action": "append"},
    "named": {"action": "append"},
}


class JobSettings(Settings):
    """The script, the inputs and the output of a job, and the options that `Job` declares for the command."""

    command: str
    engine: str
    # Options of submit that run does not have.
    streaming_jar: str | None = None
    read: bool = False
    dry_run: bool = False
    target: str = "hadoop"
    staging: str | None = None
    files: list[str] = option(
        nargs="*",
        default=[],
        metavar="SCRIPT INPUT",
        help="the script of the job, then its inputs: files, folders or patterns; run also takes - for stdin; with "
        "--mapper or --reducer there is no script",
    )
    folder: str | None = option(
        "-o", "--output", metavar="FOLDER",
        help="the folder for the part files, which must not exist; without it the result goes to stdout, as text, "
        "and for - as pairs of typed bytes",
    )  # fmt: skip
    mapper: str | None = option(
        "--mapper", metavar="COMMAND", help="a command that reads and writes lines, as Hadoop Streaming has them"
    )
    combiner: str | None = option("--combine-with", metavar="COMMAND", help="the command that combines")
    reducer: str | None = option("--reducer", metavar="COMMAND", help="the command that reduces lines sorted by key")
    profile: str | None = option(
        "--profile", metavar="NAME", help="the part [profile.NAME] of the file of options, typedbytes.toml"
    )

    @classmethod
    def all_options(cls) -> dict[str, Option]:
        """Return the options by their attributes: those of the job before those of the command."""
        own = super().all_options()
        first = {name: own.pop(name) for name in ("files", "folder", "mapper", "combiner", "reducer")}
        declared = Job.options(cls.command)
        defaults = {name: of_job.make_default() for name, of_job in declared.items()}
        defaults["output_format"] = None  # what it is depends on the job
        options = {of_job.dest: _declared(of_job, defaults[name]) for name, of_job in declared.items()}
        return {**first, **options, **own}

    @classmethod
    def with_defaults(cls, arguments: list[str], parser: Parser) -> list[str]:
        """Return the arguments after those of the file of options."""
        from typedbytes.cli._job.options_file import words_of_file

        _check_hadoop_options(arguments)
        return [*words_of_file(cls.command, arguments, parser), *arguments]

    @classmethod
    def about_unknown(cls, words: Namespace, unknown: list[str]) -> str:
        """Return how a script of an older library gets options that the command does not have."""
        front = getattr(words, Job.options(cls.command)["front"].dest)
        if not front or not words.files or not unknown[0].startswith("-"):
            return ""
        given: list[str] = []
        for word in unknown:
            if word.startswith("-") or "=" in given[-1]:
                given.append(word)
            else:
                given[-1] += f"={word}"
        return (
            f"; an option of the script is given as {' '.join(shlex.quote(f'--arg={word}') for word in given)}, "
            f"and python -m typedbytes.fronts {shlex.quote(words.files[0])} takes the script's own command line"
        )

    @property
    def is_shown(self) -> bool:
        """Whether the result goes to standard output."""
        return self.folder in (None, "-")


#: Options of Hadoop Streaming, which argparse takes for short ones, and ours. What an input is has no option.
HADOOP_OPTIONS = {
    "-mapper": "--mapper", "-combiner": "--combine-with", "-reducer": "--reducer", "-output": "--output",
    "-input": "", "-file": "--ship", "-files": "--ship", "-cacheFile": "--ship", "-archives": "--archive",
    "-cacheArchive": "--archive", "-libjars": "--libjars", "-inputformat": "--input-format",
    "-outputformat": "--output-format", "-numReduceTasks": "--reducers", "-cmdenv": "--env", "-jobconf": "-D",
}  # fmt: skip


def _check_hadoop_options(arguments):
    for word in arguments:
        if word == "--":
            return
        if word in HADOOP_OPTIONS:
            ours = HADOOP_OPTIONS[word]
            raise Failure(USAGE, f"Hadoop's {word} is {ours} here" if ours else "inputs are words without -input here")


def _declared(of_job, default):
    """Return an option of a job as one of a command."""
    flag, text = of_job.flags[0], of_job.help
    if of_job.form == "either":
        on = option(flag, action="store_true", default=default, help=text)
        off = option(
            f"--no-{flag[2:]}", action="store_false", default=default, help=f"do not {text.partition(' (')[0]}"
        )
        return either(of_job.dest, on, off)
    given: dict[str, Any] = {
        "default": [] if of_job.form in ("words", "named") else default,
        "help": text,
        **FORMS[of_job.form],
    }
    if of_job.form != "switch":
        given.update(metavar=of_job.shown, choices=of_job.choices)
    return option(*of_job.flags, **given)


def values_of(words: Mapping[str, Any], command: str) -> dict[str, Any]:
    """Return the values of a job's options, by field, from what a command's parser has made of their words."""
    return {
        name: _named(words[declared.dest], declared.flags[0]) if declared.form == "named" else words[declared.dest]
        for name, declared in Job.options(command).items()
    }


def _named(words: Iterable[str], flag: str) -> dict[str, str]:
    """Return values by their names; raises Failure for a word that is not NAME=VALUE.

    >>> _named(["x=3", "y=a=b"], "--param")
    {'x': '3', 'y': 'a=b'}
    """
    pairs = [word.partition("=") for word in words]
    for word, (name, sign, _) in zip(words, pairs):
        if not name or not sign:
            raise Failure(USAGE, f"{flag} takes NAME=VALUE, not {word!r}")
    return {name: value for name, _, value in pairs}


def job_of(settings: JobSettings, kind: type[AnyJob], **more: Any) -> AnyJob:
    """Return the job that the words of a command describe; raises Failure for a job that cannot be.

    The output of a job whose result is shown is a name of its own.
    """
    command = settings.command
    commands = {
        f"--{role}": words
        for role, words in (("map", settings.mapper), ("combine", settings.combiner), ("reduce", settings.reducer))
        if words is not None
    }
    script, *inputs = ([_script_of_commands()] if commands else []) + settings.files or [""]
    if not inputs:
        needs = "an INPUT" if script else "a SCRIPT and an INPUT"
        raise Failure(USAGE, f"needs {needs} (see typedbytes {command} --help)")
    try:
        values = values_of(vars(settings), command)
        values["output_format"] = _output_format(settings, values["output_format"], bool(commands), values["front"])
        arguments = values["arguments"]
        values["arguments"] = [word for pair in commands.items() for word in pair] or arguments
        values["name"] = values.get("name") or (" | ".join(commands.values()) if commands else "")
        output = f"typedbytes-{os.urandom(8).hex()}" if settings.is_shown else settings.folder or ""
        job = kind(script, inputs, output, **values, **more)
        _check_commands(job, settings, commands, arguments)
        _check_by_key(job, settings, commands)
        return _completed(job, commands)
    except (OptionError, CommandError) as error:
        raise failure_of(error) from None


def _output_format(settings, given, has_commands, front):
    """Return the format of the output: that of the option, or what the job has without one."""
    if settings.is_shown and given in ("sequencefile", "parquet"):
        what = {"sequencefile": "SequenceFiles", "parquet": "Parquet files"}[given]
        raise Failure(USAGE, f"{what} are files of a folder: give --output FOLDER, or another --output-format")
    if given is not None:
        return given
    on_hadoop = settings.engine == "hadoop"  # read from SequenceFiles
    if settings.folder == "-":
        return "sequencefile" if on_hadoop else "pairs"
    if front and FRONTS[front].writes_lines:
        return "values"
    return "text" if (settings.is_shown and not on_hadoop) or has_commands else "sequencefile"


def _check_commands(job, settings, commands, arguments):
    """Raise Failure for options that do not go with the commands of a job, before the script that runs them is asked.

    That script is ours: its messages would name a file that the user has never seen.
    """
    if not commands:
        return
    for flag, is_given in (("arg", arguments), ("as", job.front)):
        if is_given:
            raise Failure(USAGE, f"--{flag} is for scripts, not for commands")
    for flag, words in (
        ("mapper", settings.mapper),
        ("combine-with", settings.combiner),
        ("reducer", settings.reducer),
    ):
        if words is not None and not words.strip():
            raise Failure(USAGE, f"--{flag} needs a command, not {words!r}")
    if job.combiner and settings.combiner is None:
        raise Failure(
            USAGE, "--combiner is a switch for scripts: --combine-with COMMAND gives the command that combines"
        )
    reducers, given = job.asked_reducers
    needing = [
        *(["--combine-with"] if settings.combiner is not None else []),
        *([with_reworded_options(given, words_of)] if reducers else []),
    ]
    if needing and settings.reducer is None:
        raise Failure(USAGE, f"{needing[0]} needs --reducer COMMAND")


def _check_by_key(job, settings, commands):
    if not job.output_by_key:
        return
    if commands:
        raise Failure(USAGE, "--output-by-key is for scripts: commands write lines, whose keys have no folder")
    if settings.is_shown or settings.read:
        without = ", without --read" if settings.read else ""  # which only submit has
        raise Failure(USAGE, f"--output-by-key writes folders: give --output FOLDER{without}")


def _script_of_commands():
    from typedbytes.jobs import command_script

    return os.path.abspath(command_script.__file__)


def _completed(job, commands):
    """Return a job with what the commands need, or its front says."""
    if commands and (job.files or not job.is_for_hadoop):
        return job
    if commands:
        from typedbytes.jobs.command_script import files_in

        return replace(job, files=files_in(commands.values()))
    if job.front:
        from typedbytes.fronts import check_library, install

        check_library(job.script, job.front)
        install()  # a job with --inline runs in this process
    if job.front == "mrjob":
        from typedbytes.fronts.mrjob.runner import completed

        return completed(job)
    return job
