"""A job on Hadoop, for the command submit: it is run, or its commands are printed."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

from typedbytes import PairWriter, hadoop
from typedbytes.cli._failure import UNAVAILABLE, USAGE, Failure, say_lines
from typedbytes.cli._job.bundle_options import bundle_command
from typedbytes.cli._job.options import job_of
from typedbytes.cli._job.result import counters_by_step, hints
from typedbytes.cli._job.shown import check_shown, submit_and_show
from typedbytes.cli._job.submit_options import SubmitSettings, bundle_of
from typedbytes.hadoop.steps import outputs_no_longer_needed, removals_of_output, replacement

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput

__all__ = ["submit"]

BUNDLE = "typedbytes-bundle.zip"  # printed commands make it


def submit(settings: SubmitSettings, folder: str, output: CommandOutput) -> None:
    """Submit the job, its temporary files in a folder. Raises Failure, JobFailedError and SubmitError."""
    if settings.master:
        raise Failure(USAGE, "--master is for --engine spark")
    plan = _plan(settings, folder)
    if _is_printed(settings):
        output.write(_printed(hadoop.check(plan, say_lines), settings).encode())
    elif settings.is_shown:
        if settings.folder == "-":
            output.refuse_terminal()
        submit_and_show(plan, lambda plan: _run(plan, settings, output), settings.folder == "-", output)
    else:
        _run(plan, settings, output)


def _plan(settings, folder):
    plan = job_of(settings, hadoop.Plan, python_versions=settings.python_versions)
    if settings.is_shown:
        check_shown(settings, plan)
    if settings.read and plan.output_format != "sequencefile":
        raise Failure(USAGE, "--read needs SequenceFiles: do not change --output-format")
    if settings.read and ":" not in plan.output and {"fs.defaultFS", "fs.default.name"} & plan.properties.keys():
        raise Failure(USAGE, "--read cannot find the output under -D fs.defaultFS: give --output as a URL")
    return replace(plan, bundle=bundle_of(settings, folder, BUNDLE if _is_printed(settings) else ""))


def _is_printed(settings):
    return settings.dry_run or settings.target != "hadoop"


def _printed(plan, settings):
    """Return the commands of a job; the bundle made to check the job is made again by them."""
    first = []
    if plan.bundle and plan.bundle not in (settings.bundle, BUNDLE):
        first = [bundle_command(settings, BUNDLE)]
        plan = replace(plan, bundle=BUNDLE)
    if settings.target == "hadoop":
        command = _command(settings)
        plan, moves = replacement(plan)
        shown = _shell_commands(hadoop.jobs_of(plan), command, moves)
        return "\n".join([*first, *shown, ""])
    if plan.overwrite:
        raise Failure(USAGE, f"--overwrite is not for --target {settings.target}: remove the output first")
    if len(plan.steps) > 1:
        raise Failure(
            UNAVAILABLE,
            f"a job of several steps is not described for {settings.target}: submit it on the cluster's main node",
        )
    if not settings.staging:
        raise Failure(
            USAGE,
            f"--target {settings.target} needs --staging, a folder in the cloud that the job's files are copied to",
        )
    description: object
    if settings.target == "emr":
        description, commands = hadoop.emr(plan, settings.staging, settings.cluster)
    else:
        jar = {"jar": settings.streaming_jar} if settings.streaming_jar else {}
        description, commands = hadoop.dataproc(plan, settings.staging, settings.cluster, settings.region, **jar)
    return "\n".join([json.dumps(description, indent=2), "", *first, *commands, ""])


def _shell_commands(jobs, command, moves):
    """Return the commands of a job's steps, and then its moves, each only after those before it have succeeded."""
    commands = []
    for number, job in enumerate(jobs):
        commands.append(job.shell(*command))
        removals = [words for path in outputs_no_longer_needed(jobs, number) for words in removals_of_output(job, path)]
        commands += [shlex.join([command[0], *words]) for words in removals]
    commands += [shlex.join([command[0], *words]) for words in moves]
    return " &&\n".join(commands).split("\n")


def _command(settings):
    try:
        return hadoop.command_of(settings.streaming_jar)
    except hadoop.SubmitError:  # the command is printed for another machine
        return ["hadoop", "jar", settings.streaming_jar or "hadoop-streaming.jar"]


def _run(plan, settings, output):
    done = hadoop.submit(plan, jar=settings.streaming_jar, say=say_lines)
    for step, counters in counters_by_step(done):
        for group, amounts in counters.items():
            for name, amount in amounts.items():
                say_lines(f"{step}{group}: {name}: {amount}")
        for hint in hints(counters):
            say_lines(f"{step}{hint}")
    if settings.read:
        with PairWriter(output) as writer:
            writer.writes(hadoop.read_output(done.output))
