"""A job of several steps as one job of Hadoop after the other, each on the output of the one before.

Here: which steps a script has, and the plan of each. Not here: Hadoop's command line, processes of Hadoop.
Invariant: no folder between two steps has a name that another job could use.
"""

import os
import subprocess
import sys
from dataclasses import replace

from typedbytes.hadoop._plan import asked_reducers
from typedbytes.hadoop._submit_errors import SubmitError
from typedbytes.streaming._job_options import REDUCERS, steps_in, variables_of
from typedbytes.streaming._own_job import OWN_JOB, variable_of

__all__ = ["jobs_of", "removal", "removals_of_output", "steps_of"]

ASK_SECONDS = 60


def steps_of(plan):
    """Return the roles of each step, which only the script itself knows: it is started here, without input. Raises SubmitError."""
    # Of a variable and a property of one name, the variable reaches the tasks.
    variables = {**variables_of(plan.own_properties()), **plan.environment, **variable_of(plan.script)}
    command = [sys.executable, plan.script, "steps", *plan.arguments]
    try:
        done = subprocess.run(command, env={**os.environ, **variables}, stdin=subprocess.DEVNULL, capture_output=True, timeout=ASK_SECONDS)
    except subprocess.TimeoutExpired:
        raise SubmitError(f"{plan.script} did not end within {ASK_SECONDS} seconds when it was asked for its steps") from None
    lines = done.stderr.decode("utf-8", "backslashreplace").splitlines()
    if done.returncode:
        if lines and OWN_JOB in lines[-1]:
            raise SubmitError(lines[-1].partition(": ")[2])
        said = f": {lines[-1]}" if lines else ""
        raise SubmitError(f"{plan.script} does not say what its steps are, with exit code {done.returncode}{said}; it must run here too")
    try:
        return steps_in(lines)
    except ValueError as error:
        raise SubmitError(f"{plan.script}: {error}") from None


def jobs_of(plan):
    """Return the plans of a checked plan's steps, in order: itself if it has one."""
    if len(plan.steps) < 2:
        return [plan]
    between = f"{plan.output.rstrip('/')}-{os.urandom(4).hex()}-step"
    outputs = [*(f"{between}{number}" for number in range(1, len(plan.steps))), plan.output]
    return [_job_of(plan, number, outputs) for number in range(1, len(plan.steps) + 1)]


def removal(plan, paths):
    """Return the words after Hadoop's command that remove paths, also those that are not there."""
    return ["fs", *_file_systems(plan), "-rm", "-r", "-f", "-skipTrash", *paths]


def removals_of_output(plan, path):
    """Return the words of two commands that remove the output of a step, but not a folder in which its tasks left side files."""
    return removal(plan, [f"{path}/part-*", f"{path}/_*"]), ["fs", *_file_systems(plan), "-rmdir", "--ignore-fail-on-non-empty", path]


def _file_systems(plan):
    return [word for name, value in plan.properties.items() if name.startswith("fs.") for word in ("-D", f"{name}={value}")]


def _job_of(plan, number, outputs):
    roles, is_last = plan.steps[number - 1], number == len(outputs)
    properties = {name: value for name, value in plan.properties.items() if name not in REDUCERS}
    nreducers, _ = asked_reducers(plan)
    start = {} if number == 1 else {"inputs": [f"{outputs[number - 2]}/part-*"], "input_format": "sequencefile"}
    return replace(
        plan,
        **start,
        output=outputs[number - 1],
        output_format=plan.output_format if is_last else "sequencefile",
        nreducers=(nreducers or 1) if "reduce" in roles else 0,
        combiner="combine" in roles and plan.combiner is not False,
        name=f"{plan.name or os.path.basename(plan.script)}, step {number} of {len(outputs)}",
        properties={**properties, "typedbytes.step": str(number)},
        steps=[],
    )
