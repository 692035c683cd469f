"""A job of several steps: one job after the other, each on the output of the one before.

Here: what is between the steps. Not here: running one of them, and asking a script for its steps, which _commands does. Invariant: what is between two steps is removed with the job, however
that ends, and as soon as the second has succeeded; side files of every step end in the output.
"""

import os
import shutil

from typedbytes.local._counters import Counters
from typedbytes.local._errors import JobError
from typedbytes.local._job import Result
from typedbytes.local._output_folder import check_output
from typedbytes.sequencefile._locations import visible_names

__all__ = ["run_steps"]


def run_steps(run_step, name, steps, inputs, output, input_format, output_format, caretaker):
    """Run the steps of a job and return the Result of all; run_step runs one. Raises JobError, which says which step failed."""
    check_output(output)
    parent, base = os.path.split(os.path.abspath(output))
    start = os.path.join(parent, f".{base[:50]}-{os.urandom(8).hex()}-step")
    results = []
    for number, commands in enumerate(steps, 1):
        is_last = number == len(steps)
        target = output if is_last else f"{start}{number}"
        if not is_last:
            caretaker.add(target)
        formats = input_format, output_format if is_last else "sequencefile"
        try:
            more = {"typedbytes.step": str(number)}
            results.append(run_step(f"{name}, step {number} of {len(steps)}", commands, inputs, target, *formats, more))
        except JobError as error:
            error.args = (f"step {number} of {len(steps)}: {error}",)
            raise
        if number > 1:
            _remove_part_files(inputs[0])
        inputs, input_format = [target], "sequencefile"
    for number in range(1, len(steps)):
        _move_files(f"{start}{number}", output)
    return _sum([each._replace(output=results[-1].output) for each in results])


def _remove_part_files(folder):
    for name in os.listdir(folder):
        if name.startswith("part-"):
            os.unlink(os.path.join(folder, name))


def _move_files(folder, target):
    """Move what the tasks of a step wrote beside its output."""
    for name in visible_names(os.listdir(folder)):
        if not name.startswith("part-"):
            os.replace(os.path.join(folder, name), os.path.join(target, name))
    shutil.rmtree(folder, ignore_errors=True)


def _sum(results):
    counters = Counters()
    for each in results:
        counters.merge(each.counters)
    nmaps, nreducers, seconds = (sum(each[i] for each in results) for i in (2, 3, 4))
    return Result(results[-1].output, counters, nmaps, nreducers, seconds, tuple(results))
