"""The environment of a task, with Hadoop's names, which `typedbytes.streaming` and every other streaming script reads.

It maps the job's settings to strings. Hadoop exports its whole configuration; this has the parts that a task can use.
Variables of another Hadoop task, in which this job may be running, are left out, and so are properties that have no
effect here but would have one on what a task does.
"""

from __future__ import annotations

import os

from typedbytes.jobs.hadoop_properties import output_properties
from typedbytes.jobs.job import LINES
from typedbytes.jobs.properties import COMPARATORS, PARTITIONER_CLASS, variables_of
from typedbytes.streaming.task_environment import (
    BINARY_PARTITIONER,
    HASH_PARTITIONER,
    PARAM,
    ROLE_QUERY,
    TYPED_BYTES_WRITABLE,
)

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typedbytes.jobs.job import Job
    from typedbytes.jobs.tasks.inputs import Split

__all__ = [
    "BY_KEY", "COMBINES", "INPUT", "OUTPUT", "STEP", "attempt_id", "combiner_environment",
    "combining_environment", "inherited_variables",
    "job_environment", "map_environment", "names_of_task_variables", "property_variables", "task_environment",
]  # fmt: skip

STEP = "typedbytes.step"  # the property with the number of a step, from 1
BY_KEY = "typedbytes.output.by.key"  # the property with the format of an output by key
OUTPUT = "typedbytes.output"  # the property that says what the tasks make of the pairs of the output
INPUT = "typedbytes.input"  # the property that says what tasks parse
COMBINES = "typedbytes.combines"  # the property that says that map tasks run the combiner
# Variables of a task start so.
TASK_PREFIXES = (
    "mapreduce_", "mapred_", "map_input_", "stream_", "typedbytes_step", "typedbytes_combines", "typedbytes_output",
    "typedbytes_input",
    "typedbytes_split_", PARAM, ROLE_QUERY,
)  # fmt: skip
_SPLIT_NAMES = (
    "mapreduce_map_input_file map_input_file",
    "mapreduce_map_input_start map_input_start",
    "mapreduce_map_input_length map_input_length",
)
_CLASSES = "org.apache.hadoop.streaming.io."


def inherited_variables() -> dict[str, str]:
    """Return the variables of this process that are not those of a task."""
    return {name: value for name, value in os.environ.items() if not name.startswith(TASK_PREFIXES)}


def job_environment(job: Job, job_id: str, nmaps: int) -> dict[str, str]:
    """Return the variables of all tasks of a job: those that it inherits, its properties, and its own."""
    properties = job.own_properties()
    last = "reduce" if job.nreducers else "map"
    variables = {
        "mapreduce_job_id mapred_job_id": job_id,
        "mapreduce_job_name mapred_job_name": job.name,
        "mapreduce_job_maps mapred_map_tasks": nmaps,
        "mapreduce_job_reduces mapred_reduce_tasks": job.nreducers or 0,
        "mapreduce_job_output_key_class mapred_output_key_class": TYPED_BYTES_WRITABLE,
        "mapreduce_job_output_value_class mapred_output_value_class": TYPED_BYTES_WRITABLE,
        "mapreduce_framework_name": "local",
    }
    partitioner = {PARTITIONER_CLASS: HASH_PARTITIONER, **job.partitioner}
    formats = {(side, direction): "TypedBytes" for side in ("map", "reduce") for direction in ("input", "output")}
    if job.output_format in ("text", *LINES):
        formats[last, "output"] = "Text"
    if job.raw_text:
        formats["map", "input"] = "Text"
    return {
        **inherited_variables(),
        **property_variables(properties),
        **job.environment,  # a variable wins over a property of the same name, as in Hadoop
        **variables_of({STEP: properties[STEP]} if STEP in properties else {}),
        **_under_both_names(variables),
        **variables_of(partitioner),
        **_format_environment(formats),
        **variables_of({OUTPUT: job.output_format} if job.output_format in (*LINES, "parquet") else {}),
        **variables_of({BY_KEY: job.output_format, **output_properties(job)} if job.output_by_key else {}),
    }


def property_variables(properties: Mapping[str, str]) -> dict[str, str]:
    """Return properties as variables, without those of Hadoop that only a task would follow.

    These are Streaming's, and the order of a job with its own partitioner.
    """
    variables = variables_of(properties)
    has_own = variables.get("mapred_partitioner_class", HASH_PARTITIONER) not in (HASH_PARTITIONER, BINARY_PARTITIONER)
    without = variables_of(dict.fromkeys(COMPARATORS, "")) if has_own else ()
    return {name: value for name, value in variables.items() if not name.startswith("stream_") and name not in without}


def combiner_environment() -> dict[str, str]:
    """Return the variables of a combiner: Hadoop gives it the reducer's, and here it always writes pairs."""
    return _format_environment({("reduce", "output"): "TypedBytes"})


def _format_environment(formats):
    variables = {}
    for (side, direction), name in formats.items():
        partner = {"input": "Writer", "output": "Reader"}[direction]
        variables[f"stream_{side}_{direction}"] = name.lower()
        variables[f"stream_{side}_{direction}_{partner.lower()}_class"] = (
            f"{_CLASSES}{name}{direction.capitalize()}{partner}"
        )
    return variables


def attempt_id(job_id: str, kind: str, number: int, attempt: int) -> str:
    """Return the id of an attempt of a task of the kind "m" or "r"."""
    return f"{_task_id(job_id, kind, number).replace('task', 'attempt', 1)}_{attempt}"


def _task_id(job_id, kind, number):
    return f"{job_id.replace('job', 'task', 1)}_{kind}_{number:06}"


def task_environment(job_id: str, kind: str, number: int, attempt: int, folder: str) -> dict[str, str]:
    """Return the variables of an attempt; folder: whose files become part of the job's output."""
    return _under_both_names(
        {
            "mapreduce_task_id mapred_tip_id": _task_id(job_id, kind, number),
            "mapreduce_task_attempt_id mapred_task_id": attempt_id(job_id, kind, number, attempt),
            "mapreduce_task_partition mapred_task_partition": number,
            "mapreduce_task_ismap mapred_task_is_map": "true" if kind == "m" else "false",
            "mapreduce_task_output_dir mapred_work_output_dir": folder,
        }
    )


def map_environment(split: Split) -> dict[str, str]:
    """Return the variables that describe a map task's input; none of those of Hadoop if it is of several files."""
    parsed = {INPUT: split.kind} if split.kind in ("json", "csv") else {}
    described = zip(_SPLIT_NAMES, () if split.others else (f"file:{split.path}", split.start, split.length))
    return {**_under_both_names(dict(described)), **variables_of(parsed)}


def combining_environment() -> dict[str, str]:
    """Return the variables of a map task that runs the combiner itself."""
    return variables_of({COMBINES: "true"})


def names_of_task_variables() -> list[str]:
    """Return the names of the variables that a task may have for itself, unlike other tasks of its role."""
    return [
        *task_environment("", "", 0, 0, ""),
        *_under_both_names(dict.fromkeys(_SPLIT_NAMES, "")),
        *variables_of({INPUT: "", COMBINES: ""}),
    ]


def _under_both_names(variables):
    """Return variables under each of their names, the new one and the old one."""
    return {name: str(value) for names, value in variables.items() for name in names.split()}
