"""The command submit: a job on Hadoop, by typedbytes.hadoop."""

from __future__ import annotations

import json
import os
import shlex
import tempfile
from dataclasses import replace

from typedbytes.cli._bundle_options import add_bundle_arguments, bundle_command, bundle_settings
from typedbytes.cli._failure import JOB_FAILED, UNAVAILABLE, USAGE, Failure, say_lines
from typedbytes.cli._job_options import add_job_arguments, job_of

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from typedbytes.cli._output.files import CommandOutput

PLACEHOLDER = "typedbytes-bundle.zip"


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of submit."""
    add_job_arguments(parser, "submit")
    add = parser.add_argument
    add(
        "--engine",
        choices=("hadoop", "spark"),
        default="hadoop",
        help="run the job on Hadoop or on Spark, which needs PySpark on this machine (hadoop)",
    )
    add("--master", metavar="URL", help="spark: the cluster, as spark://host:7077, yarn or local[4] (default: from Spark's configuration)")
    bundle = parser.add_mutually_exclusive_group()
    bundle.add_argument(
        "--bundle", metavar="ZIP", help="an archive made with typedbytes bundle (default: one is made, with the options below)"
    )
    bundle.add_argument("--no-bundle", action="store_true", help="the nodes have typedbytes installed")
    add_bundle_arguments(parser)
    add("--streaming-jar", metavar="JAR", help="Hadoop's streaming jar, if it is not found")
    add("--read", action="store_true", help="write the output of the job to stdout as pairs")
    add("--dry-run", action="store_true", help="print the commands, passwords in URLs included, instead of running them")
    add("--target", choices=("hadoop", "emr", "dataproc"), default="hadoop", help="for emr and dataproc the job is printed, not run")
    add("--staging", metavar="URL", help="the folder in the cloud for the job's files")
    add("--cluster", default="CLUSTER", help="the cluster's id or name, for emr and dataproc")
    add("--region", default="REGION", help="the cluster's region, for dataproc")


def run(options: Namespace, output: CommandOutput) -> int | None:
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
    if options.engine == "spark":
        return _submit_to_spark(options)
    if options.master:
        raise Failure(USAGE, "--master is for --engine spark")
    from typedbytes import hadoop

    try:
        with tempfile.TemporaryDirectory() as folder:
            plan = _plan(options, folder)
            if options.dry_run or options.target != "hadoop":
                output.write(_printed(hadoop.check(plan, say_lines), options).encode())
            else:
                _run(plan, options, output)
    except hadoop.JobFailedError as error:
        say_lines(str(error))
        return JOB_FAILED
    except hadoop.SubmitError as error:
        from typedbytes.cli._submit_failure import failure_of  # imported lazily: start-up time

        raise failure_of(error) from None


def _submit_to_spark(options):
    from typedbytes import hadoop
    from typedbytes.cli._spark_job import run_on_spark  # imported lazily: start-up time

    try:
        with tempfile.TemporaryDirectory() as folder:
            makes_bundle = bool(options.bundle or any(bundle_settings(options).values()))
            run_on_spark(options, "submit", options.master, _bundle(options, folder) if makes_bundle else None)
    except hadoop.SubmitError as error:
        from typedbytes.cli._submit_failure import failure_of  # imported lazily: start-up time

        raise failure_of(error) from None


def _plan(options, folder):
    from typedbytes import hadoop

    plan = job_of(options, "submit", hadoop.Plan, python_versions=options.python_versions)
    if options.read and plan.output_format != "sequencefile":
        raise Failure(USAGE, "--read needs SequenceFiles: do not change --output-format")
    if options.read and ":" not in plan.output and {"fs.defaultFS", "fs.default.name"} & plan.properties.keys():
        raise Failure(USAGE, "--read cannot find the output under -D fs.defaultFS: give --output as a URL")
    return replace(plan, bundle=_bundle(options, folder))


def _bundle(options, folder):
    """Return the path of the bundle, which is made in a folder unless there is one; None if the nodes need none."""
    from typedbytes import hadoop

    settings = bundle_settings(options)
    if options.bundle or options.no_bundle:
        if any(given for name, given in settings.items() if name != "python_versions"):
            message = "--module, --wheel, --require, --platform and --find-links apply only when submit makes the bundle"
            raise Failure(USAGE, f"{message}: leave them out, or leave out --bundle / --no-bundle")
        return options.bundle
    if _is_printed(options) and os.path.exists(PLACEHOLDER) and not any(settings.values()):
        return PLACEHOLDER
    path = os.path.join(folder, PLACEHOLDER)
    hadoop.bundle(path, say=say_lines, **settings)
    return path


def _is_printed(options):
    return options.dry_run or options.target != "hadoop"


def _printed(plan, options):
    """Return the commands of a job; the bundle made to check the job is made again by them."""
    from typedbytes import hadoop

    first = []
    if plan.bundle and plan.bundle not in (options.bundle, PLACEHOLDER):
        first = [bundle_command(options, PLACEHOLDER)]
        plan = replace(plan, bundle=PLACEHOLDER)
    if options.target == "hadoop":
        return "\n".join([*first, *_shell_commands(hadoop.jobs_of(plan), _command(options)), ""])
    if len(plan.steps) > 1:
        raise Failure(UNAVAILABLE, f"a job of several steps is not described for {options.target}: submit it on the cluster's main node")
    if not options.staging:
        raise Failure(USAGE, f"--target {options.target} needs --staging, a folder in the cloud that the job's files are copied to")
    description: object
    if options.target == "emr":
        description, commands = hadoop.emr(plan, options.staging, options.cluster)
    else:
        jar = {"jar": options.streaming_jar} if options.streaming_jar else {}
        description, commands = hadoop.dataproc(plan, options.staging, options.cluster, options.region, **jar)
    return "\n".join([json.dumps(description, indent=2), "", *first, *commands, ""])


def _shell_commands(jobs, command):
    """Return the commands of a job's steps, each only after those before it have succeeded."""
    from typedbytes.hadoop.steps import removals_of_output

    commands = []
    for number, job in enumerate(jobs):
        commands.append(job.shell(*command))
        if number:
            commands += [shlex.join([command[0], *words]) for words in removals_of_output(job, jobs[number - 1].output)]
    return " &&\n".join(commands).split("\n")


def _command(options):
    from typedbytes import hadoop

    try:
        return hadoop.command_of(options.streaming_jar)
    except hadoop.SubmitError:  # the command is printed for another machine
        return ["hadoop", "jar", options.streaming_jar or "hadoop-streaming.jar"]


def _run(plan, options, output):
    from typedbytes import PairWriter, hadoop
    from typedbytes.cli._job_result import counters_by_step, hints

    done = hadoop.submit(plan, jar=options.streaming_jar, say=say_lines)
    for step, counters in counters_by_step(done):
        for group, amounts in counters.items():
            for name, amount in amounts.items():
                say_lines(f"{step}{group}: {name}: {amount}")
        for hint in hints(counters):
            say_lines(f"{step}{hint}")
    if options.read:
        with PairWriter(output) as writer:
            writer.writes(hadoop.read_output(done.output))
