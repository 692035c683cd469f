"""A job of several steps: one job after the other, each on the output of the one before.

Here: what is between the steps. Not here: running one of them, and asking a script for its steps, which _commands does. Invariant: the
input of a step is the part files of the one before, as on a cluster; what is between two steps is removed with the job, however that
ends, and as soon as the second has succeeded; side files of every step end in the output.
"""

import os
import shutil
from contextlib import suppress

from typedbytes.local._counters import Counters
from typedbytes.local._errors import JobError
from typedbytes.local._job import Result
from typedbytes.local._output_folder import PART_PREFIX, check_output
from typedbytes.local._paths import absolute

__all__ = ["run_steps"]


def run_steps(run_step, name, steps, inputs, output, input_format, output_format, caretaker):
    """Run the steps of a job and return the Result of all; run_step runs one. Raises JobError, which says which step failed."""
    check_output(output)
    parent, base = os.path.split(absolute(output))
    start = os.path.join(parent, f".{base[:50]}-{os.urandom(8).hex()}-step")
    results = []
    for number, commands in enumerate(steps, 1):
        is_last = number == len(steps)
        target = output if is_last else f"{start}{number}"
        if not is_last:
            caretaker.add(target)
        formats = input_format, output_format if is_last else "sequencefile"
        try:
            step_name = f"{name}, step {number} of {len(steps)}"
            properties = {"typedbytes.step": str(number)}
            side_file_folders = [f"{start}{each}" for each in range(1, number)] if is_last else []
            results.append(run_step(step_name, commands, inputs, target, *formats, properties, side_file_folders))
        except JobError as error:
            error.args = (f"step {number} of {len(steps)}: {error}",)
            raise
        if number > 1:
            _remove(inputs)
        if not is_last:
            inputs, input_format = _part_files(target), "sequencefile"
    for number in range(1, len(steps)):
        shutil.rmtree(f"{start}{number}", ignore_errors=True)
    return _sum([each._replace(output=results[-1].output) for each in results])


def _part_files(folder):
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.startswith(PART_PREFIX)]


def _remove(paths):
    for path in paths:
        with suppress(OSError):  # what is left goes with the job
            os.unlink(path)


def _sum(results):
    counters = Counters()
    for each in results:
        counters.merge(each.counters)
    return Result(
        output=results[-1].output,
        counters=counters,
        nmaps=sum(each.nmaps for each in results),
        nreducers=sum(each.nreducers for each in results),
        seconds=sum(each.seconds for each in results),
        steps=tuple(results),
    )
