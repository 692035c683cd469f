"""A job of several steps: one job after the other, each on the output of the one before.

Here: what is between the steps. Not here: running one of them, and asking a script for its steps, which
script.py does. Invariant: the input of a step is the part files of the one before, as on a cluster; what is
between two steps is removed with the job, however that ends, and as soon as the second has succeeded; side files
of every step end in the output.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from dataclasses import replace

from typedbytes._base.locations import is_url, written_parts
from typedbytes.jobs.counters import Counters
from typedbytes.jobs.environment import STEP
from typedbytes.jobs.errors import JobError, OutputError
from typedbytes.jobs.messages import option_named
from typedbytes.jobs.paths import absolute
from typedbytes.jobs.properties import reducers_of, without_reducers
from typedbytes.jobs.result import Result
from typedbytes.jobs.tasks.output_folder import check_output

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TypeVar

    from typedbytes.jobs.job import Commands, Job
    from typedbytes.jobs.tasks.caretaker import Caretaker

    AnyJob = TypeVar("AnyJob", bound=Job)
    RunStep = Callable[[Job, Commands, list[str]], Result]

__all__ = ["job_of_step", "run_steps", "with_settings"]


def with_settings(job: AnyJob, settings: Mapping[str, Any], **more: Any) -> AnyJob:
    """Return the job of one step, with more changes, and with what its Step says, which wins over the job."""
    own = settings.get("properties", {})
    if not job.is_for_hadoop:
        own = job.library.properties_here(own)
    properties = {**job.properties, **own}
    nreducers, _ = reducers_of(own, settings.get("reducers"))
    if nreducers is not None:
        more["nreducers"] = nreducers
        properties = without_reducers(properties)
    return replace(job, properties=properties, raw_text="raw_text" in settings, **more)


def job_of_step(
    job: AnyJob,
    settings: Mapping[str, Any],
    number: int,
    outputs: Sequence[str],
    parts_of: Callable[[str], list[str]],
    between: tuple[str, str] = ("sequencefile", "sequencefile"),
) -> AnyJob:
    """Return the job of one of several steps.

    settings: what its Step says. number: from 1. outputs: those of all steps. parts_of: to the paths that read one.
    between: the formats of what a step reads from another, and writes for it.
    """
    is_last = number == len(outputs)
    sources, start = settings.get("inputs", [number - 1]), {}
    if sources != [0]:
        paths = [path for source in sources for path in parts_of(outputs[source - 1])]
        start = {"inputs": paths, "input_format": between[0]}
    return with_settings(
        job,
        {**settings, "properties": {**settings.get("properties", {}), STEP: str(number)}},
        **start,
        name=f"{job.name or os.path.basename(job.script)}, step {number} of {len(outputs)}",
        output=outputs[number - 1],
        overwrite=job.overwrite and (is_last or bool(job.step_output)),
        output_format=job.output_format if is_last else between[1],
        output_by_key=job.output_by_key and is_last,
    )


def run_steps(
    run_step: RunStep,
    job: Job,
    steps: list[Commands],
    settings: list[Mapping[str, Any]],
    caretaker: Caretaker,
    output: str | None = None,
) -> Result:
    """Run the steps of a job, each by run_step, and return the Result of all; a JobError says which step failed.

    output: the path of this machine that the output of the job is copied to in the end, None if it is not.
    """
    parent, base = os.path.split(check_output(job.output, job.overwrite))
    start = os.path.join(parent, f".{base[:50]}-{os.urandom(8).hex()}-step")
    kept = _kept_folders(job, len(steps), output or job.output)
    between = kept or [f"{start}{number}" for number in range(1, len(steps))]
    results: list[Result] = []
    is_chain = not any("inputs" in own for own in settings)
    for number, (commands, own) in enumerate(zip(steps, settings), 1):
        is_last = number == len(steps)
        if not is_last and not kept:
            caretaker.add(between[number - 1])
        step = job_of_step(job, own, number, [*between, job.output], written_parts)
        try:
            results.append(run_step(step, commands, between if is_last and not kept else []))
        except JobError as error:
            error.add(before=f"step {number} of {len(steps)}: ")
            raise
        if number > 1 and not kept and is_chain:
            _remove(step.inputs)
    if not kept:
        for path in between:
            shutil.rmtree(path, ignore_errors=True)
    return _sum([replace(each, output=results[-1].output) for each in results])


def _kept_folders(job, nsteps, output):
    """Return the folders in which the outputs of all steps but the last are kept, and make their parent.

    An empty list if they are not kept. Raises OutputError, before anything is made, where an output cannot be.
    """
    if not job.step_output:
        return []
    if is_url(job.step_output):
        raise OutputError(option_named("step_output") + f" is a folder of this machine, not {job.step_output}")
    path = absolute(job.step_output)
    folders = [os.path.join(path, job.library.step_folder(number)) for number in range(1, nsteps)]
    for number, folder in enumerate(folders, 1):
        if _is_in(folder, output) or _is_in(output, folder):
            raise OutputError(
                option_named("step_output")
                + f" would keep step {number} in {folder}, and the output of the job is {output}, where one would "
                "replace the other: give another folder"
            )
        if os.path.lexists(folder):
            check_output(folder, job.overwrite)
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise OutputError(f"the folder {path} for the outputs of steps cannot be made: {error.strerror}") from None
    return folders


def _is_in(path, folder):
    """Return whether a path is a folder or in it."""
    path, folder = os.path.realpath(path), os.path.realpath(folder)
    return os.path.commonpath([path, folder]) == folder


def _remove(paths):
    for path in paths:
        with suppress(OSError):  # what is left goes with the job
            os.unlink(path)


def _sum(results):
    counters = Counters()
    for result in results:
        counters.merge(result.counters)
    return Result(
        output=results[-1].output,
        counters=counters,
        nmaps=sum(result.nmaps or 0 for result in results),
        nreducers=sum(result.nreducers or 0 for result in results),
        seconds=sum(result.seconds for result in results),
        steps=tuple(results),
    )
