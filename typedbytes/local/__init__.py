"""A Hadoop Streaming job on this machine: the same script, the same input, the same part files, without Java.

    run(mapper, reducer, combiner, inputs=..., output=...)    functions, classes or commands
    run_script("job.py", inputs=..., output=...)              a script that calls typedbytes.streaming.run

Tasks are processes that are started, fed and checked as Hadoop does it; between map and reduce, pairs are partitioned by Hadoop's hash
and sorted by their encoded bytes, in C and within a limit of memory. The output appears all at once when the job has succeeded.
See docs/local.md.
"""

import os
import sys
import time

from typedbytes._sorting.external import CODECS
from typedbytes.local._commands import from_code, from_script
from typedbytes.local._environment import inherited_variables, property_variables
from typedbytes.local._errors import CommandError, InputError, JobError, OptionError, OutputError
from typedbytes.local._inputs import FORMATS as INPUT_FORMATS, PAIRS, find_files, make_splits, pairs_in

try:
    from typedbytes.local._job import Job, JobSettings, Result
except ModuleNotFoundError:
    from typedbytes._base.posix import require_posix

    require_posix("typedbytes.local")
    raise

from typedbytes.local._output_folder import FORMATS as OUTPUT_FORMATS, OutputFolder
from typedbytes.local._processes import Processes
from typedbytes.local._properties import part_options
from typedbytes.local._shipped import ship_files
from typedbytes.local._steps import run_steps
from typedbytes.streaming._job_options import STREAMING_OPTION_OF, properties_of, reducers_of, variables_of
from typedbytes.streaming._own_job import refuse_own_job, variable_of
from typedbytes.streaming._user_code import check_functions

__all__ = ["CommandError", "InputError", "JobError", "OutputError", "Result", "run", "run_script"]


def __dir__():
    return __all__


MIN_MEMORY = 1 << 20  # of a process


def run(mapper, reducer=None, combiner=None, *, inputs, output, reducers=1, name=None, **options):
    """Run a job and return its Result; raises JobError when it fails, and leaves no output then.

    mapper, reducer, combiner: functions or classes as for `typedbytes.streaming.run`, of a file that another process can import;
    or commands, a string or a list of words, that read and write pairs of typed bytes as under Hadoop Streaming. Without a reducer the
    mapper's output is the job's.

    inputs: paths of files and folders, patterns, "-" for standard input; one or a list. SequenceFiles give their pairs, files of typed bytes (.tb) too,
    text files their lines as in Hadoop: an offset and a text; binary data is an InputError. Of a folder, all files except those whose names start with _ or a dot.
    Or records in memory, an iterable of tuples of a key and a value, which are the input of one map task.
    output: a folder that does not exist yet. reducers: how many reduce tasks, hence part files.

    Keyword options. Of values listed in quotes the first is the default; other defaults are in parentheses, and without one an option is off or empty::

      output_format  "sequencefile", "pairs" (typed bytes, part-00000.tb) or "text" (the last task writes text, as with
                     stream.reduce.output=text)
      input_format   "auto", "text", "pairs" or "sequencefile"
      secondary      how many bytes at the end of each encoded key affect only the order, not the choice of reducer: as BinaryPartitioner does it
                     with the right offset -secondary - 1 (0)
      split_size     bytes of input for a map task (32 MiB, as Hadoop on local files)
      processes      tasks that run at once (the number of processors)
      memory         bytes of this process, which sorts and merges for all tasks together (512 MiB)
      tmp            folder for temporary files (a folder beside the output)
      codec          of temporary files: "none", "zlib", "lz4", "zstd"
      attempts       how often a task is tried (1)
      keep_failed    leave the folder of a job that failed; JobError.kept says where
      params         parameters of the job, by name: tasks find {"x": 3} as task().params["x"], "3"
      environ        more variables for the tasks
      properties     properties of the job, as Hadoop's -D: tasks find "a.b" as the variable a_b. Of Hadoop's own, those have the same effect here
                     that give the number of reduce tasks, which wins over reducers, and the compression and the separator of the output
      files          paths, or "PATH#NAME", of files that each task finds in its folder, which is then a folder of the task's own
      archives       the same of archives, zip or tar, that each task finds unpacked
      quiet          do not pass on the tasks' standard error
      progress       called as progress(phase, done, total) with "map" or "reduce" and bytes of input

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(os.path.join(folder, "in.txt"), "w") as file:
    ...         _ = file.write("one line" + chr(10))
    ...     result = run("cat", inputs=file.name, output=os.path.join(folder, "out"), output_format="pairs")
    ...     sorted(os.listdir(result.output)), result.counters["org.apache.hadoop.mapreduce.TaskCounter"]["MAP_INPUT_RECORDS"]
    (['_SUCCESS', 'part-00000.tb'], 1)
    """
    _check_names("run", options)
    check_functions(mapper, reducer, combiner)
    codes = {"map": mapper, "combine": combiner, "reduce": reducer}
    commands = {role: from_code(role, code, None if role == "reduce" else reducer) for role, code in codes.items()}
    if any(map(callable, codes.values())):  # tasks import modules from where this process does
        options["environ"] = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **(options.get("environ") or {})}
    properties = options["properties"] = _properties(options)
    asked, option = _asked_reducers(properties)
    _check(not asked or reducer is not None, f"the job has no reducer: give run() one, or leave out {option}")
    reducers = reducers if asked is None else asked
    nprocesses = options.pop("processes", None)
    with Processes() as processes:
        processes.folder, options["environ"] = _ship(options, processes.caretaker)
        return _run(processes, name or "typedbytes", [commands], inputs, output, reducers, nprocesses=nprocesses, **options)


def run_script(script, arguments=(), *, inputs, output, reducers=None, combiner=None, name=None, **options):
    """Run the job of a script as `run` does; raises as it does.

    The script calls `typedbytes.streaming.run`, and is started with a role and then the arguments. reducers: None is 1 when the script
    has a reducer, and 0 otherwise. combiner: False leaves it out, None uses it when the script has one, and with True it must have one.
    name: of the job; None: that of the script.
    Of a script with several steps, each reads what the step before wrote. The counters and tasks of the Result are totals;
    its `steps` has a Result for each step.
    """
    _check_names("run_script", options)
    return run_script_by(Job, script, arguments, inputs=inputs, output=output, reducers=reducers, combiner=combiner, name=name, **options)


def run_script_by(engine, script, arguments, *, inputs, output, reducers, combiner, name=None, **options):
    """Run the job of a script, each step by an engine: engine(settings, splits, output, progress, processes).run() returns its counters."""
    properties = options["properties"] = _properties(options)
    reducers, option = _asked_reducers(properties, reducers)
    refuse_own_job(script, CommandError)
    nprocesses = options.pop("processes", None)
    with Processes() as processes:
        processes.folder, environ = _ship(options, processes.caretaker)
        options["environ"] = {**environ, **variable_of(script)}
        environ = {**variables_of(properties), **options["environ"]}
        steps = from_script(processes, script, arguments, combiner, reducers, option, environ)
        name = name or os.path.basename(script)
        return _run(processes, name, steps, inputs, output, reducers, nprocesses=nprocesses, engine=engine, **options)


def _ship(options, caretaker):
    environ = {name: _text(value) for name, value in dict(options.get("environ") or {}).items()}
    return ship_files(options.pop("files", ()), options.pop("archives", ()), environ, caretaker)


def _text(value):
    return os.fsdecode(value) if isinstance(value, (bytes, os.PathLike)) else str(value)


def _run(
    processes, name, steps, inputs, output, reducers, *, engine=Job, output_format="sequencefile", input_format="auto", secondary=0, split_size=None, nprocesses=None,
    memory=512 << 20, tmp=None, codec="none", attempts=1, keep_failed=False, environ=None, properties=None,
    quiet=False, progress=None,
):  # fmt: skip
    nprocesses = (os.cpu_count() or 1) if nprocesses is None else nprocesses
    properties = properties or {}
    reducers = 1 if reducers is None else reducers
    _check_options(output_format, input_format, codec, reducers, secondary, nprocesses, attempts, memory)
    given = environ or {}
    environ = {**inherited_variables(), **given}
    formats = {output_format, *(["sequencefile"] if len(steps) > 1 else [])}
    part_options_of = {each: part_options(properties, each) for each in formats}
    # Of a variable and a property of one name, the variable reaches the tasks, as in Hadoop.
    own_variables = {name: value for name, value in property_variables(properties).items() if name not in given}

    def run_step(name, commands, paths, output, input_format, output_format, step_properties=(), side_file_folders=()):
        start = time.monotonic()
        nreducers = reducers if commands["reduce"] else 0
        variables = {**own_variables, **variables_of(dict(step_properties))}
        settings = JobSettings(
            name, commands, nreducers, secondary, output_format, part_options_of[output_format], memory, nprocesses, attempts, codec,
            quiet, environ, variables,
        )  # fmt: skip
        with OutputFolder(output, processes.caretaker, keep_failed, tmp) as folder:
            records, paths = pairs_in(paths)
            if records is not None:
                splits = make_splits([folder.keep_records(records)], PAIRS)
            else:
                files = find_files([folder.keep_stdin() if each == "-" else each for each in paths])
                splits = make_splits(files, input_format, split_size)
            counters = engine(settings, splits, folder, progress, processes).run()
            for earlier in side_file_folders:
                folder.take_from(earlier)
        return Result(folder.path, counters, len(splits), nreducers, time.monotonic() - start)

    paths = [inputs] if isinstance(inputs, (str, os.PathLike)) else inputs
    if len(steps) == 1:
        return run_step(name, steps[0], paths, output, input_format, output_format)
    return run_steps(run_step, name, steps, paths, output, input_format, output_format, processes.caretaker)


_OPTIONS = {"params", "files", "archives", "processes", *_run.__kwdefaults__} - {"engine", "nprocesses"}


def _check_names(function, options):
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(f"{function}() got an unexpected keyword argument {name!r}")


def _check_options(output_format, input_format, codec, reducers, secondary, nprocesses, attempts, memory):
    for option, value, known in (
        ("output_format", output_format, OUTPUT_FORMATS),
        ("input_format", input_format, INPUT_FORMATS),
        ("codec", codec, CODECS),
    ):
        _check(value in known, f"{option} must be one of {', '.join(known)}, not {value!r}")
    _check(0 <= reducers <= 65536, f"reducers must be 0 to 65536, not {reducers}")
    _check(secondary >= 0, f"secondary must be a number of bytes, not {secondary}")
    _check(nprocesses > 0 and attempts > 0, "processes and attempts must be at least 1")
    min_memory = nprocesses * MIN_MEMORY
    _check(memory >= min_memory, f"memory must be at least {min_memory} bytes for {nprocesses} processes, not {memory}")


def _properties(options):
    """Return the properties of a job, its parameters among them; raises OptionError for one that an engine sets itself."""
    properties = {name: _text(value) for name, value in dict(options.get("properties") or {}).items()}
    for each in filter(STREAMING_OPTION_OF.__contains__, properties):
        raise OptionError(f"Hadoop Streaming sets the property {each} from {STREAMING_OPTION_OF[each]} and ignores -D: leave it out")
    try:
        return {**properties_of(options.pop("params", None) or {}, properties), **properties}
    except ValueError as error:
        raise OptionError(str(error)) from None


def _asked_reducers(properties, reducers=None):
    """Return the number of reduce tasks that a job asks for, None if it leaves it open, and the option that gives it."""
    try:
        return reducers_of(properties, reducers)
    except ValueError as error:
        raise OptionError(str(error)) from None


def _check(holds, message):
    if not holds:
        raise OptionError(message)
