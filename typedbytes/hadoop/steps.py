"""A job of several steps as one job of Hadoop after the other, each on the output of the one before.

Here: the plan of each step. Not here: which steps a script has, Hadoop's command line, processes of Hadoop.
Invariant: no folder between two steps has a name that another job could use.
"""

from __future__ import annotations

import os
from dataclasses import replace

from typedbytes.jobs.steps import job_of_step

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterable

    from typedbytes.hadoop._plan import Plan

__all__ = ["jobs_of", "outputs_no_longer_needed", "removal", "removals_of_output", "replacement"]


def replacement(plan: Plan) -> tuple[Plan, list[list[str]]]:
    """Return a plan that writes beside its output, and the commands that put that in the place of an earlier one.

    A plan that overwrites nothing is returned as it is, without commands.
    """
    if not plan.overwrite:
        return plan, []
    beside = f"{plan.output.rstrip('/')}-{os.urandom(4).hex()}-new"
    moving = ["fs", *_file_systems(plan), "-mv", beside, plan.output]
    return replace(plan, output=beside, overwrite=False), [removal(plan, [plan.output]), moving]


def jobs_of(plan: Plan) -> list[Plan]:
    """Return the plans of a checked plan's steps, in order: itself if it has one."""
    if len(plan.steps) < 2:
        return [plan]
    between = f"{plan.output.rstrip('/')}-{os.urandom(4).hex()}-step"
    outputs = [*(f"{between}{number}" for number in range(1, len(plan.steps))), plan.output]
    return [_job_of(plan, number, outputs) for number in range(1, len(plan.steps) + 1)]


def outputs_no_longer_needed(jobs: list[Plan], number: int) -> list[str]:
    """Return the outputs that no step needs any more when the job of this number, from 0, has succeeded.

    In a chain of steps it is that of the one before; where steps read others, all go with the last.
    """
    between = [job.output for job in jobs[:-1]]
    if all(job.inputs == [f"{path}/part-*"] for job, path in zip(jobs[1:], between)):
        return between[number - 1 : number] if number else []
    return between if number == len(jobs) - 1 else []


def removal(plan: Plan, paths: Iterable[str]) -> list[str]:
    """Return the words after Hadoop's command that remove paths, also those that are not there."""
    return ["fs", *_file_systems(plan), "-rm", "-r", "-f", "-skipTrash", *paths]


def removals_of_output(plan: Plan, path: str) -> tuple[list[str], list[str]]:
    """Return two commands that remove the output of a step, but not a folder with side files of its tasks."""
    return removal(plan, [f"{path}/part-*", f"{path}/_*"]), [
        "fs", *_file_systems(plan), "-rmdir", "--ignore-fail-on-non-empty", path,
    ]  # fmt: skip


def _file_systems(plan):
    return [
        word for name, value in plan.properties.items() if name.startswith("fs.") for word in ("-D", f"{name}={value}")
    ]


def _job_of(plan, number, outputs):
    roles = plan.steps[number - 1]
    between = ("text", "values") if plan.streams == "text" else ("sequencefile", "sequencefile")
    step = job_of_step(plan, roles.settings, number, outputs, lambda path: [f"{path}/part-*"], between)
    nreducers, _ = step.asked_reducers
    return replace(
        step,
        nreducers=(1 if nreducers is None else nreducers) if "reduce" in roles else 0,
        combiner="combine" in roles and plan.combiner is not False,
        properties=step.without_reducer_property(),
        steps=[],
    )
