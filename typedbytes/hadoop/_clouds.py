"""A job for a cloud: its description in JSON and the commands that submit it. This module sends nothing.

Here: Amazon EMR's steps and Google Dataproc's jobs. Not here: accounts and credentials.
Sources: EMR's API reference, AddJobFlowSteps, and ``aws emr add-steps``; Dataproc's REST reference, HadoopJob, and
``gcloud dataproc jobs submit hadoop``.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import replace

from typedbytes._base.locations import is_url
from typedbytes.hadoop import _quoting
from typedbytes.hadoop._plan import shipped_files
from typedbytes.jobs.errors import SubmitError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from typedbytes.hadoop._plan import Plan

DATAPROC_JAR = "file:///usr/lib/hadoop-mapreduce/hadoop-streaming.jar"
DELIMITERS = ";|~@!:+&"


def emr(plan: Plan, staging: str, cluster: str) -> tuple[list[dict[str, Any]], list[str]]:
    """Return (steps, commands) for Amazon EMR; `staging` is the s3:// folder that the job's files are copied to.

    >>> from typedbytes.hadoop import Plan
    >>> steps, commands = emr(Plan("job.py", ["s3://b/in"], "s3://b/out"), "s3://b/jobs", "j-1")
    >>> steps[0]["Args"][:3]
    ['hadoop-streaming', '-D', 'mapreduce.job.name=job.py']
    >>> commands
    ['aws s3 cp job.py s3://b/jobs/', 'aws emr add-steps --cluster-id j-1 --steps file://steps.json']
    """
    staged, local = _with_staged_files(plan, staging)
    step = {
        "Type": "CUSTOM_JAR",
        "Name": plan.all_properties()["mapreduce.job.name"],
        "ActionOnFailure": "CONTINUE",
        "Jar": "command-runner.jar",
        "Args": ["hadoop-streaming", *staged.words()],
    }
    copies = [shlex.join(["aws", "s3", "cp", path, f"{staging.rstrip('/')}/"]) for path in local]
    return [step], [
        *copies,
        shlex.join(["aws", "emr", "add-steps", "--cluster-id", cluster, "--steps", "file://steps.json"]),
    ]


def dataproc(
    plan: Plan, staging: str, cluster: str, region: str, jar: str = DATAPROC_JAR
) -> tuple[dict[str, Any], list[str]]:
    """Return (job, commands) for Google Dataproc; `staging` is the gs:// folder that the job's files are copied to.

    >>> from typedbytes.hadoop import Plan
    >>> job, commands = dataproc(Plan("job.py", ["gs://b/in"], "gs://b/out"), "gs://b/jobs", "c", "europe-west1")
    >>> job["hadoopJob"]["args"][:2], commands[0]
    (['-files', 'gs://b/jobs/job.py'], 'gcloud storage cp job.py gs://b/jobs/')
    """
    staged, local = _with_staged_files(plan, staging)
    args = [word for part in staged._other_parts() for word in part]
    properties = dict(word.split("=", 1) for _, word in staged._property_parts())
    job = {
        "placement": {"clusterName": cluster},
        "hadoopJob": {"mainJarFileUri": jar, "args": args, "properties": properties},
    }
    copies = [shlex.join(["gcloud", "storage", "cp", path, f"{staging.rstrip('/')}/"]) for path in local]
    listed = _gcloud_list([f"{name}={value}" for name, value in properties.items()])
    submit = ["gcloud", "dataproc", "jobs", "submit", "hadoop", f"--cluster={cluster}", f"--region={region}"]
    submit += [f"--jar={jar}", f"--properties={listed}", "--", *args]
    return job, [*copies, shlex.join(submit)]


def _gcloud_list(items):
    """Return items as a list for gcloud, after a prefix like ^;^ for another separator: values can have commas."""
    for separator in DELIMITERS:
        if not any(separator in item for item in items):
            return f"^{separator}^{separator.join(items)}"
    raise SubmitError(
        f"gcloud cannot separate the properties, because they contain all of {DELIMITERS}: "
        "use --target hadoop on the cluster"
    )


def _with_staged_files(plan, staging):
    """Return the plan with its local files moved to the staging folder, and the local paths of these files."""
    local = []

    def staged_path(path):
        if is_url(path):
            return path
        local.append(f"./{path}" if path.startswith("-") else path)
        return f"{staging.rstrip('/')}/{os.path.basename(path)}"

    def staged_link(text):
        file = _quoting.parse_shipped(text)
        return f"{staged_path(file.path)}#{file.link}"

    shipped_files(plan)  # raises SubmitError for two files of one name in the staging folder
    script, files, archives = (
        staged_path(plan.script),
        [*map(staged_link, plan.files)],
        [*map(staged_link, plan.archives)],
    )
    bundle = plan.bundle and staged_path(plan.bundle)
    jar = plan.feed_jar and staged_path(plan.feed_jar)
    return replace(plan, script=script, files=files, archives=archives, bundle=bundle, feed_jar=jar), [
        *dict.fromkeys(local)
    ]
