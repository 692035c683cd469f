"""The options of a job, as arguments of the commands run and submit, and the job that their words describe."""

from __future__ import annotations

from typedbytes.cli._arguments import Option, Settings, either, integer, option, parse_size
from typedbytes.cli._failure import USAGE, Failure
from typedbytes.jobs.errors import OptionError
from typedbytes.jobs.job import Job

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
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


class JobSettings(Settings):
    """The script, the inputs and the output of a job, and the options that `Job` declares for the command."""

    command: str
    files: list[str] = option(
        nargs="*",
        default=[],
        metavar="SCRIPT INPUT",
        help="the script of the job, then its inputs: files, folders or patterns; run also takes - for stdin",
    )
    folder: str | None = option(
        "-o", "--output", metavar="FOLDER", help="the folder for the part files; it must not exist"
    )

    @classmethod
    def all_options(cls) -> dict[str, Option]:
        """Return the options by their attributes: those of the job before those of the command."""
        found = super().all_options()
        first = {name: found.pop(name) for name in ("files", "folder")}
        of_job = {each.dest: _declared(each) for each in Job.options(cls.command).values()}
        return {**first, **of_job, **found}


def _declared(of_job):
    """Return an option of a job as one of a command."""
    flag, text, default = of_job.flags[0], of_job.help, of_job.make_default()
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


def job_of(settings: JobSettings, kind: type[AnyJob], **more: Any) -> AnyJob:
    """Return the job that the words of a command describe; raises Failure for a job that cannot be."""
    command = settings.command
    if len(settings.files) < 2 or not settings.folder:
        raise Failure(
            USAGE, f"{command} needs a SCRIPT, an INPUT and --output FOLDER (see typedbytes {command} --help)"
        )
    if settings.folder == "-":
        advice = "--read writes" if command == "submit" else "then typedbytes dumptb FOLDER writes"
        raise Failure(
            USAGE,
            f"the output of {command} is a folder, not standard output: give --output FOLDER; "
            f"{advice} its pairs to standard output",
        )
    try:
        values = Job.values(vars(settings), command)
        return kind(settings.files[0], settings.files[1:], settings.folder, **values, **more)
    except OptionError as error:
        raise Failure(USAGE, str(error)) from None
