"""A Hadoop Streaming job on this machine: the same script, the same input, the same part files, without Java.

    run(mapper, reducer, combiner, inputs=..., output=...)    functions, classes or commands
    run_script("job.py", inputs=..., output=...)              a script that calls typedbytes.streaming.run
    run_job(job)                                              a jobs.Job, which any engine runs

Tasks are processes that are started, fed and checked as Hadoop does it; between map and reduce, pairs are partitioned
by Hadoop's hash and sorted by their encoded bytes, in C and within a limit of memory. The output appears all at once
when the job has succeeded. See docs/local.md.
"""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from functools import partial

from typedbytes.jobs.errors import CommandError, InputError, JobError, OptionError, OutputError, options_as_keywords
from typedbytes.jobs.job import ROWS, job_from_user_values
from typedbytes.jobs.messages import option_named
from typedbytes.jobs.properties import reducers_of
from typedbytes.jobs.result import Result
from typedbytes.jobs.running import run_with_engine
from typedbytes.jobs.script import StepRoles, check_mappers
from typedbytes.local._functions import command_of
from typedbytes.local.scheduler import Scheduler, check_memory
from typedbytes.streaming.task_environment import check_functions

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Literal, Union

    from typedbytes.jobs.job import Code, Inputs, Job, Path

    OutputFormat = Literal["sequencefile", "pairs", "text", "values", "json", "csv", "parquet"]
    Codec = Literal["none", "zlib", "lz4", "zstd"]
    Progress = Callable[[Any, int, int], object]  # the phase, bytes done, all bytes
    Values = Union[Mapping[str, object], None]

__all__ = [
    "CommandError", "InputError", "JobError", "OptionError", "OutputError", "Result", "run", "run_job", "run_script",
]  # fmt: skip


def __dir__() -> list[str]:
    return __all__


def run(
    mapper: Code, reducer: Code | None = None, combiner: Code | None = None, *, inputs: Inputs, output: Path,
    reducers: int = 1, name: str | None = None, output_format: OutputFormat = "sequencefile",
    input_format: str = "auto", secondary: int = 0, split_size: int | None = None, combine_files: bool = False,
    processes: int | None = None, memory: int = 512 << 20, tmp: Path | None = None, codec: Codec = "none",
    attempts: int = 1, keep_failed: bool = False, params: Values = None, environ: Values = None,
    properties: Values = None, files: Iterable[Path] = (), archives: Iterable[Path] = (), recursive: bool = False,
    quiet: bool = False, inline: bool = False, fork: bool = True, overwrite: bool = False,
    output_by_key: bool = False, step_output: Path = "", report: Path = "", progress: Progress | None = None,
) -> Result:  # fmt: skip
    """Run a job and return its Result; raises JobError when it fails, and leaves no output then.

    - mapper, reducer, combiner: functions or classes as for `typedbytes.streaming.run`, of a file that another process
      can import; or commands, a string or a list of words, that read and write pairs of typed bytes as under Hadoop
      Streaming. Without a reducer the mapper's output is the job's.
    - inputs: paths of files and folders, patterns, "-" for standard input; one or a list. SequenceFiles give their
      pairs, files of typed bytes (.tb) too, text files their lines as in Hadoop: an offset and a text; binary data is
      an InputError. A folder gives its files, except those whose names start with _ or a dot. Or records in memory, an
      iterable of tuples of a key and a value, which are the input of one map task.
    - output: a folder that does not exist yet.
    - reducers: how many reduce tasks, hence part files.
    - environ: more variables for the tasks.
    - progress: called as progress(phase, done, total) with "map" or "reduce" and bytes of input.

    The other options are those of `jobs.Job`.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(os.path.join(folder, "in.txt"), "w") as file:
    ...         _ = file.write("one line" + chr(10))
    ...     result = run("cat", inputs=file.name, output=os.path.join(folder, "out"), output_format="pairs")
    ...     tasks = result.counters["org.apache.hadoop.mapreduce.TaskCounter"]
    ...     sorted(os.listdir(result.output)), tasks["MAP_INPUT_RECORDS"]
    (['_SUCCESS', 'part-00000.tb'], 1)
    """
    check_functions(mapper, reducer, combiner)
    functions = {"map": mapper, "combine": combiner, "reduce": reducer}
    with options_as_keywords():
        job = job_from_user_values(
            "", inputs, output, reducers, None, secondary, input_format, output_format, name, files=files,
            archives=archives, properties=properties, environment=environ, params=params, split_size=split_size,
            combine_files=combine_files, keep_failed=keep_failed, recursive=recursive, quiet=quiet, processes=processes,
            memory=memory, tmp=tmp, codec=codec, attempts=attempts, inline=inline, fork=fork,
            overwrite=overwrite, output_by_key=output_by_key, step_output=step_output, report=report,
            functions=functions,
        )  # fmt: skip
        return run_job(job, progress=progress)


def run_script(
    script: Path, arguments: Sequence[str] = (), *, inputs: Inputs, output: Path, reducers: int | None = None,
    combiner: bool | None = None, name: str | None = None, output_format: OutputFormat = "sequencefile",
    input_format: str = "auto", secondary: int = 0, split_size: int | None = None, combine_files: bool = False,
    processes: int | None = None, memory: int = 512 << 20, tmp: Path | None = None, codec: Codec = "none",
    attempts: int = 1, keep_failed: bool = False, params: Values = None, environ: Values = None,
    properties: Values = None, files: Iterable[Path] = (), archives: Iterable[Path] = (), recursive: bool = False,
    quiet: bool = False, inline: bool = False, fork: bool = True, overwrite: bool = False,
    output_by_key: bool = False, step_output: Path = "", report: Path = "", front: str = "",
    progress: Progress | None = None,
) -> Result:  # fmt: skip
    """Run the job of a script as `run` does; raises as it does.

    The script calls `typedbytes.streaming.run`, and is started with a role and then the arguments. In a script with
    several steps, each reads what the step before wrote. The counters and tasks of the Result are totals; its `steps`
    has a Result for each step.

    - reducers: None is 1 when the script has a reducer, and 0 otherwise.
    - combiner: False leaves it out, None uses it when the script has one, and with True it must have one.
    - name: of the job; None: that of the script.

    The other options are those of `run`; `front` is that of `jobs.Job`.
    """
    with options_as_keywords():
        job = job_from_user_values(
            script, inputs, output, reducers, combiner, secondary, input_format, output_format, name, files=files,
            archives=archives, properties=properties, environment=environ, params=params, arguments=arguments,
            split_size=split_size, combine_files=combine_files, keep_failed=keep_failed, recursive=recursive,
            quiet=quiet, processes=processes, memory=memory, tmp=tmp, codec=codec, attempts=attempts, inline=inline,
            fork=fork, overwrite=overwrite, output_by_key=output_by_key, step_output=step_output, report=report,
            front=front,
        )  # fmt: skip
        return run_job(job, progress=progress)


def run_job(job: Job, *, progress: Progress | None = None) -> Result:
    """Run a Job, of a script or of functions, as `run` does; raises as it does."""
    job.check_engine("local")
    if job.inline:
        if job.attempts > 1:
            again = option_named("attempts", job.attempts)
            raise OptionError(option_named("inline", True) + " tries each task once: leave out " + again)
        job = replace(job, processes=1)
    if job.inline and not _has_only_commands(job):
        from typedbytes.local.inline import InlineTasks

        check_memory(job)
        steps = None if job.functions is None else [_step_of(job.functions)]
        return run_with_engine(partial(Scheduler, progress), job, tasks=InlineTasks(steps))
    check_memory(job)
    commands = None
    if job.functions is not None:
        job, commands = _of_functions(job, job.functions)
    return run_with_engine(partial(Scheduler, progress), job, commands)


def _has_only_commands(job):
    """Return whether nothing of a job is code of this process: its tasks are processes, one after the other."""
    return job.functions is not None and not any(map(callable, job.functions.values()))


def _step_of(functions):
    from typedbytes.streaming import Step

    for code in functions.values():
        if isinstance(code, (str, list, tuple)):
            raise OptionError(f"inline is not for functions beside commands, such as {code!r}: leave it out")
    return Step(functions.get("map"), functions.get("reduce"), functions.get("combine"))


def _of_functions(job, functions):
    """Return a job whose tasks find the modules that this process finds, and the commands of its tasks."""
    check_mappers([StepRoles(role for role, code in functions.items() if code is not None)])
    reducer = functions.get("reduce")
    commands = {
        role: command_of(role, functions.get(role), None if role == "reduce" else reducer)
        for role in ("map", "combine", "reduce")
    }
    if any(map(callable, functions.values())):
        job = replace(job, environment={"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **job.environment})
    last = "map" if reducer is None else "reduce"
    if job.output_format in ROWS and not callable(functions[last]):
        raise OptionError(f"output_format {job.output_format!r} is for functions: a command writes its output itself")
    if job.output_by_key and not callable(functions[last]):
        raise OptionError("output_by_key is for functions: a command writes its output itself")
    asked, option = reducers_of(job.properties)
    if reducer is None and asked:
        raise OptionError("the job has no reducer: give run() one, or leave out " + option)
    return job, commands
