"""The command submit: a job on Hadoop, by typedbytes.hadoop."""

from __future__ import annotations

import json
import os
import shlex
import tempfile
from dataclasses import replace

from typedbytes.cli._arguments import option, switch
from typedbytes.cli._failure import FAILED, UNAVAILABLE, USAGE, Failure, say_lines
from typedbytes.cli._job.bundle_options import BundleSettings, bundle_command, bundle_settings
from typedbytes.cli._job.options import JobSettings, job_of
from typedbytes.cli._job.shown import check_shown, submit_and_show, write_shown

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput

PLACEHOLDER = "typedbytes-bundle.zip"


class Settings(JobSettings, BundleSettings):
    """The options of submit."""

    command = "submit"
    engine: str = option(
        "--engine",
        choices=("hadoop", "spark"),
        default="hadoop",
        help="run the job on Hadoop or on Spark, which needs PySpark on this machine (hadoop)",
    )
    master: str | None = option(
        "--master",
        metavar="URL",
        help="spark: the cluster, as spark://host:7077, yarn or local[4] (default: from Spark's configuration)",
    )
    bundle: str | None = option(
        "--bundle",
        group="bundle",
        metavar="ZIP",
        help="an archive made with typedbytes bundle (default: one is made, with the options above)",
    )
    no_bundle: bool = option(
        "--no-bundle", group="bundle", action="store_true", help="the nodes have typedbytes installed"
    )
    streaming_jar: str | None = option(
        "--streaming-jar", metavar="JAR", help="Hadoop's streaming jar, if it is not found"
    )
    read: bool = switch("--read", help="write the output of the job to stdout as pairs")
    dry_run: bool = switch("--dry-run", help="print the commands, passwords in URLs included, instead of running them")
    target: str = option(
        "--target",
        choices=("hadoop", "emr", "dataproc"),
        default="hadoop",
        help="for emr and dataproc the job is printed, not run",
    )
    staging: str | None = option("--staging", metavar="URL", help="the folder in the cloud for the job's files")
    cluster: str = option("--cluster", default="CLUSTER", help="the cluster's id or name, for emr and dataproc")
    region: str = option("--region", default="REGION", help="the cluster's region, for dataproc")


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Run a job on Hadoop, or on Spark.

    Hadoop is found by HADOOP_HOME or PATH, and the cluster by HADOOP_CONF_DIR. The script, the
    modules beside it that it imports, and this package are sent with the job. Progress, counters and
    the messages of failed tasks go to stderr. The exit code is 1 if the job fails, 64 if the command
    line or the script is wrong, for example if there is no such script, and 69 if the job cannot be
    submitted as it is, for example if a module is missing. On Spark the machines share a file system,
    where input and output are.

    examples:
      typedbytes submit wordcount.py books -o counts --reducers 2
      typedbytes submit job.py books -o out --require numpy --module mypackage --python-version 3.11
      typedbytes submit wordcount.py books -o counts --dry-run
      typedbytes submit wordcount.py books -o counts --engine spark --master spark://host:7077
    """
    from typedbytes import hadoop

    try:
        with tempfile.TemporaryDirectory() as folder:
            if settings.engine == "spark":
                _submit_to_spark(settings, folder, output)
            else:
                _submit_to_hadoop(settings, folder, output)
    except hadoop.JobFailedError as error:
        say_lines(str(error))
        return FAILED
    except hadoop.SubmitError as error:
        from typedbytes.cli._job.submit_failure import failure_of

        raise failure_of(error) from None


def _submit_to_spark(settings, folder, output):
    from typedbytes.cli._job.result import run_and_report
    from typedbytes.cli._job.spark_job import on_spark
    from typedbytes.jobs.job import Job

    makes_bundle = bool(settings.bundle or any(bundle_settings(settings).values()))
    bundle = _bundle(settings, folder) if makes_bundle else None
    job = job_of(settings, Job)

    def run(job):
        run_and_report(job, on_spark(settings, job, settings.master, bundle), settings.is_shown)

    if settings.is_shown:  # in this folder, which the machines share
        write_shown(lambda target: run(replace(job, output=target)), os.curdir, job.output_format, output)
    else:
        run(job)


def _submit_to_hadoop(settings, folder, output):
    from typedbytes import hadoop

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
    from typedbytes import hadoop

    plan = job_of(settings, hadoop.Plan, python_versions=settings.python_versions)
    if settings.is_shown:
        check_shown(settings, plan)
    if settings.read and plan.output_format != "sequencefile":
        raise Failure(USAGE, "--read needs SequenceFiles: do not change --output-format")
    if settings.read and ":" not in plan.output and {"fs.defaultFS", "fs.default.name"} & plan.properties.keys():
        raise Failure(USAGE, "--read cannot find the output under -D fs.defaultFS: give --output as a URL")
    return replace(plan, bundle=_bundle(settings, folder))


def _bundle(settings, folder):
    """Return the path of the bundle, which is made in a folder unless there is one; None if the nodes need none."""
    from typedbytes import hadoop

    contents = bundle_settings(settings)
    if settings.bundle or settings.no_bundle:
        if any(given for name, given in contents.items() if name != "python_versions"):
            message = (
                "--module, --wheel, --require, --platform and --find-links apply only when submit makes the bundle"
            )
            raise Failure(USAGE, f"{message}: leave them out, or leave out --bundle / --no-bundle")
        return settings.bundle
    if _is_printed(settings) and os.path.exists(PLACEHOLDER) and not any(contents.values()):
        return PLACEHOLDER
    path = os.path.join(folder, PLACEHOLDER)
    hadoop.bundle(path, say=say_lines, **contents)
    return path


def _is_printed(settings):
    return settings.dry_run or settings.target != "hadoop"


def _printed(plan, settings):
    """Return the commands of a job; the bundle made to check the job is made again by them."""
    from typedbytes import hadoop

    first = []
    if plan.bundle and plan.bundle not in (settings.bundle, PLACEHOLDER):
        first = [bundle_command(settings, PLACEHOLDER)]
        plan = replace(plan, bundle=PLACEHOLDER)
    if settings.target == "hadoop":
        from typedbytes.hadoop.steps import replacement

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
    from typedbytes.hadoop.steps import removals_of_output, unneeded

    commands = []
    for number, job in enumerate(jobs):
        commands.append(job.shell(*command))
        removals = [words for path in unneeded(jobs, number) for words in removals_of_output(job, path)]
        commands += [shlex.join([command[0], *words]) for words in removals]
    commands += [shlex.join([command[0], *words]) for words in moves]
    return " &&\n".join(commands).split("\n")


def _command(settings):
    from typedbytes import hadoop

    try:
        return hadoop.command_of(settings.streaming_jar)
    except hadoop.SubmitError:  # the command is printed for another machine
        return ["hadoop", "jar", settings.streaming_jar or "hadoop-streaming.jar"]


def _run(plan, settings, output):
    from typedbytes import PairWriter, hadoop
    from typedbytes.cli._job.result import counters_by_step, hints

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
