"""The runner of a job, on this machine, Hadoop or Spark: a Job of typedbytes, and its output as bytes."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import sys
import tempfile
from contextlib import suppress
from dataclasses import replace
from importlib.util import find_spec

from typedbytes._base.locations import is_url
from typedbytes.fronts.file_systems import FileSystem, HadoopFileSystem
from typedbytes.fronts.mrjob.conf import combine_envs
from typedbytes.fronts.mrjob.conf_files import options_of_files
from typedbytes.fronts.mrjob.options import words_of
from typedbytes.fronts.mrjob.paths import archived, expanded, local_path, whole
from typedbytes.fronts.mrjob.step import MRStep, StepFailedException
from typedbytes.fronts.mrjob.tasks import properties_of, steps_of
from typedbytes.fronts.mrjob.util import expand_path
from typedbytes.fronts.refusals import NoInput, NotSupported, Refusal, text_without_options
from typedbytes.jobs.errors import JobError, OptionError, SubmitError
from typedbytes.jobs.fronts import FRONTS
from typedbytes.jobs.job import Job
from typedbytes.jobs.properties import without_reducers

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, TypeVar

    from typedbytes.fronts.mrjob.job import MRJob
    from typedbytes.jobs.result import Result

    AnyJob = TypeVar("AnyJob", bound=Job)

__all__ = ["MRJobRunner", "Runner", "completed", "described"]

log: logging.Logger = logging.getLogger("mrjob.runner")

#: What mrjob sets for SORT_VALUES: keys of two fields, of which the first chooses the reducer.
SORTED_VALUES = {
    "stream.num.map.output.key.fields": "2",
    "mapreduce.partition.keypartitioner.options": "-k1,1",
    "mapred.partitioner.class": "org.apache.hadoop.mapred.lib.KeyFieldBasedPartitioner",
}
ONE_LINE = "org.apache.hadoop.mapred.lib.NLineInputFormat"  # a task for each line
REFUSED = {"setup": "a command before each task", "py_files": "give the modules with --files"}
CLOUDS = "typedbytes submit --target {} prints the job for it"


def described(job: MRJob, options: dict[str, Any], engine: str, folder: str) -> dict[str, Any]:
    """Return the fields of a Job that a job's class and options say; folder: for archives that are made."""
    given = vars(job.options)
    for name, why in REFUSED.items():
        if given.get(name) or options.get(name):
            raise NotSupported(f"--{name.replace('_', '-')} is not supported: {why}")
    files, words = _files_of_options(job)
    conf = properties_of({**options.get("jobconf", {}), **job.jobconf(), **job.options.jobconf})
    fields: dict[str, Any] = {}
    if engine == "hadoop":
        fields["streams"] = "text"
        fields["libjars"] = [
            *map(expand_path, [*options.get("libjars", []), *_listed(job.libjars()), *job.options.libjars])
        ]
        if job.hadoop_input_format():
            fields["input_format"] = job.hadoop_input_format()
        conf = {**(SORTED_VALUES if job.sort_values() else {}), **conf}
        if job.partitioner():
            conf["mapred.partitioner.class"] = job.partitioner()
        python = options.get("task_python_bin") or options.get("python_bin") or given["python_bin"]
        if python:
            fields["python"] = python if isinstance(python, str) else python[0]
    else:
        conf = FRONTS["mrjob"].properties_here(conf)
    if not any(isinstance(step, MRStep) and step.has("reducer") for step in job.steps()):
        conf = without_reducers(conf)
    named = {kind: [*options.get(f"upload_{kind}", []), *_listed(getattr(job, kind)()), *given[f"upload_{kind}"]]
             for kind in ("files", "archives", "dirs")}  # fmt: skip
    output_format = job.hadoop_output_format() if engine == "hadoop" else None
    return {
        **fields,
        "arguments": words,
        "properties": conf,
        "environment": combine_envs(options.get("cmdenv"), job.options.cmdenv),
        "files": [*expanded(named["files"]), *files],
        "archives": [*expanded(named["archives"]), *(archived(each, folder) for each in expanded(named["dirs"]))],
        "output_format": output_format or "values",
        "front": "mrjob",
    }


def completed(job: AnyJob) -> AnyJob:
    """Return the Job of a command with what the class in its script says."""
    folder = tempfile.mkdtemp(prefix="mrjob-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    engine = "hadoop" if job.is_for_hadoop else "local"
    if job.params:
        name, value = next(iter(job.params.items()))
        word = f"--{name.replace('_', '-')}={value}"
        raise OptionError(f"a script of mrjob gets no --param: give its own options by --arg, as in --arg={word}")
    kind = _class_in(job)
    try:
        found = kind(list(job.arguments))
        words = found.options.args
        if words:
            raise OptionError(
                f"--arg={words[0]!r} is not an option of {job.script}, which takes it for an input: give inputs after "
                "the script, and each option with its value by one --arg, as in --arg=--least=2"
            )
        fields = described(found, {}, engine, folder)
    except OptionError:
        raise
    except (ValueError, Refusal) as error:
        raise OptionError(f"{job.script}: {error}") from error
    fields["output_format"] = job.output_format if job.output_format != "values" else fields["output_format"]
    if job.input_format != "auto":
        fields.pop("input_format", None)
    if job.nreducers is not None:  # the command wins over the class
        fields["properties"] = without_reducers(fields["properties"])
    for name in ("properties", "environment"):
        fields[name] = {**fields[name], **getattr(job, name)}
    for name in ("files", "archives", "libjars"):
        fields[name] = expanded([*fields.get(name, []), *getattr(job, name)])
    return replace(job, **fields)


def _class_in(job):
    """Return the class whose run() the script calls."""
    from typedbytes.fronts.mrjob.job import MRJob
    from typedbytes.jobs.source import parsed
    from typedbytes.streaming.capture import NoCallError, captured, write_error

    try:
        return captured(job.script, job.arguments, wanted="job")
    except NoCallError:
        classes = [each for each in vars(sys.modules["__main__"]).values() if isinstance(each, type)]
        names = [each.__name__ for each in classes if issubclass(each, MRJob) and each.__module__ == "__main__"]
        call = f"{names[-1] if names else 'MRJob'}.run()"
        raise OptionError(f"{job.script} ends without a call of {call}") from None
    except Exception as error:
        if isinstance(error, SyntaxError):
            parsed(job.script)  # raises CommandError where it is the script's, and not that of a module
        write_error(error)
        message = f"{job.script} fails before it reads any input: {type(error).__name__}: {error}"
        raise OptionError(message) from error


def _listed(paths):
    """Return what a method of a job gives as a list: it may be a path, or None."""
    return [paths] if isinstance(paths, str) else paths or []


def _files_of_options(job):
    """Return the files of file options, and the words that tasks get: files by their names there."""
    files: dict[str, str] = {}

    def rename(dest, words):
        if dest not in job._file_arg_dests:
            return words
        names = []
        for word in words:
            path, sign, name = word.partition("#")
            name = name if sign else os.path.basename(path)
            while files.get(name, path) != path:
                name = f"1-{name}"
            files[name] = path
            names.append(name)
        return names

    words = words_of(job.arg_parser, job._cl_args, job._passthru_arg_dests | job._file_arg_dests, rename)
    return [f"{whole(path)}#{name}" for name, path in files.items()], words


class Runner:
    """Runs a job; a context manager, which removes what is temporary."""

    def __init__(self, job: MRJob) -> None:
        self._job = job
        self.alias: str = job.options.runner or "inline"
        if self.alias in ("emr", "dataproc"):
            raise NotSupported(f"-r {self.alias} is not here: {CLOUDS.format(self.alias)}")
        self._opts = options_of_files(self.alias, job.options.conf_paths)
        self._folder = tempfile.mkdtemp(prefix="mrjob-")
        self._result: Result | None = None
        self._output: str = self._path(job.options.output_dir or "")
        self.fs: Any = HadoopFileSystem() if self.alias == "hadoop" else FileSystem()
        self._remote: str | None = None  # a folder of Hadoop's, for what is temporary
        self.is_of_command_line: bool = False  # else the caller handles what the job has raised

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *error: object) -> None:
        self.cleanup()

    def cleanup(self, mode: Any = None) -> None:
        """Remove what is temporary."""
        shutil.rmtree(self._folder, ignore_errors=True)
        if self._remote:
            with suppress(SubmitError, OSError):  # there is no Hadoop here, or it does not answer
                self.fs.rm(self._remote)

    def run(self) -> None:
        """Run all steps. Raises StepFailedException, OSError for an input that does not exist.

        On the runner inline it raises what the job itself has raised; of the command line, that is written.
        """
        if self.alias != "hadoop":
            self._check_paths()
        job = self._as_job()
        try:
            self._result = getattr(self, f"_run_{self.alias}")(job)
        except JobError as error:
            cause = error.__cause__ if self.alias == "inline" else None
            if isinstance(cause, Exception) and self.is_of_command_line and not isinstance(cause, Refusal):
                from typedbytes.streaming.capture import write_error

                write_error(cause)
            elif cause is not None:
                raise cause from None
            nsteps = len(self._job.steps())
            raise StepFailedException(text_without_options(error), 0 if nsteps == 1 else None, nsteps) from error
        if self._job.options.output_dir:  # else it is removed at the end
            log.info(f"job output is in {self._output}")
        log.debug(f"counters: {self.counters()}")

    def _check_paths(self):
        """Raise OSError for an input that does not exist; remove the folder of the output if it is empty."""
        for path in map(self._path, self._job.options.args):
            if path != "-" and not self.fs.exists(path) and not os.path.lexists(path):
                raise NoInput(f"Input path {path} does not exist!")
        if self._output and os.path.isdir(self._output) and not os.listdir(self._output):
            os.rmdir(self._output)

    def _as_job(self):
        engine = "hadoop" if self.alias == "hadoop" else "local"
        fields = described(self._job, self._opts, engine, self._folder)
        if self.alias in ("inline", "local"):  # which join paths to those of this process too
            own = {name: os.environ[name] for name in fields["environment"] if name in os.environ}
            fields["environment"] = combine_envs(own, fields["environment"])
        if self.alias == "hadoop":
            self._remote = f"{self._opts.get('hadoop_tmp_dir', 'tmp/mrjob')}/{os.path.basename(self._folder)}"
        if not self._output:
            self._output = os.path.join(self._remote or self._folder, "output")
        inputs = self._inputs()
        if any(step["mapper_raw"] for step in self._job.steps() if hasattr(step, "has")):
            inputs = self._manifests(inputs)
            if engine == "hadoop":
                fields["input_format"] = ONE_LINE
        nreducers = self._job.options.num_cores or os.cpu_count() or 1
        quiet = {} if engine == "hadoop" else {"quiet": True}
        processes = {"processes": nreducers} if self.alias == "local" else {}
        script = self._job.mr_job_script() or ""
        step_output = self._job.options.step_output_dir
        kept = {"step_output": step_output} if step_output and engine != "hadoop" else {}
        return Job(script, inputs, self._output, **{"name": self._name(script), **fields, **quiet, **processes, **kept})

    def _name(self, script):
        label = self._job.options.label or self._opts.get("label") or os.path.splitext(os.path.basename(script))[0]
        return str(label or "mrjob")

    def _inputs(self):
        paths = self._job.options.args or ["-"]
        return [self._kept_stdin() if path == "-" else self._path(path) for path in paths]

    def _path(self, path):
        return path if self.alias == "hadoop" else local_path(path)

    def _kept_stdin(self):
        path = os.path.join(self._folder, "STDIN")
        with open(path, "wb") as file:
            for line in self._job.stdin:
                file.write(line)
        return path

    def _manifests(self, inputs):
        """Return a file for each input file, with its path, or a file of them all for Hadoop: a task for each line."""
        if self.alias == "hadoop":
            files = [path for each in self._uploaded(inputs) for path in self.fs.ls(each)]
        else:
            files = [os.path.abspath(path) for each in inputs for path in self.fs.ls(each)]
        made: list[str] = []
        for number, path in enumerate(files):
            if self.alias != "hadoop" or not made:
                made.append(os.path.join(self._folder, f"manifest-{number:05}"))
            with open(made[-1], "ab") as file:
                file.write(os.fsencode(path) + b"\n")
        return made

    def _run_inline(self, job):
        from typedbytes.jobs.running import run_with_engine
        from typedbytes.local.inline import InlineTasks
        from typedbytes.local.scheduler import Scheduler

        tasks = InlineTasks(steps_of(type(self._job), job.arguments, self._job), is_reporting=False)
        return run_with_engine(lambda *of_step: Scheduler(None, *of_step), replace(job, processes=1), tasks=tasks)

    def _run_local(self, job):
        from typedbytes import local

        return local.run_job(replace(job, quiet=self._job.options.quiet))

    def _run_spark(self, job):
        if find_spec("pyspark") is None:
            raise NotSupported("-r spark needs PySpark: pip install 'typedbytes[spark]'")
        from typedbytes import spark
        from typedbytes.spark.session import session_of

        master = self._job.options.spark_master or self._opts.get("spark_master") or "local[*]"
        with session_of(job, master) as session:
            return spark.run_job(session, job)

    def _run_hadoop(self, job):
        from typedbytes import hadoop

        inputs = self._uploaded(job.inputs)
        fields = {name: getattr(job, name) for name in Job.options() if name != "quiet"}
        plan = hadoop.Plan(job.script, inputs, job.output, **fields)
        jar = self._job.options.hadoop_streaming_jar or self._opts.get("hadoop_streaming_jar")
        bundle = os.path.join(self._folder, "typedbytes-bundle.zip")
        hadoop.bundle(bundle)
        plan = replace(plan, bundle=bundle)
        quiet = self._job.options.quiet
        return hadoop.submit(plan, jar=jar, **({"say": _say_nothing} if quiet else {}))

    def _uploaded(self, paths):
        """Return the paths on Hadoop's file system of inputs: those of this machine are put there.

        Files that have the same name come into folders of their own.
        """
        found: list[str] = []
        folders: list[dict[str, str]] = []
        for path in paths:
            if not is_url(path) and os.path.exists(path):
                name = os.path.basename(os.path.abspath(path))
                number = next((number for number, names in enumerate(folders) if name not in names), len(folders))
                folders[number:] = folders[number:] or [{}]
                folders[number][name] = path
                path = f"{self._remote}/input/{number}/{name}"
            found.append(path)
        for number, names in enumerate(folders):
            self.fs.put_all(names.values(), f"{self._remote}/input/{number}")
        return found

    # -- what came of it

    def cat_output(self) -> Iterator[bytes]:
        """Yield the output, in pieces; an empty piece between two files."""
        return self.fs.cat_parts(self._output)

    def stream_output(self) -> Iterator[bytes]:
        """Yield the lines of the output: the older name."""
        from typedbytes.fronts.mrjob.util import to_lines

        return to_lines(self.cat_output())

    def counters(self) -> list[dict[str, dict[str, int]]]:
        """Return the counters of each step that were counted by the job itself."""
        if self._result is None:
            return []
        steps = self._result.steps or (self._result,)
        return [
            {group: dict(names) for group, names in step.counters.items() if not group.startswith("org.apache.hadoop.")}
            for step in steps
        ]

    def get_output_dir(self) -> str:
        """Return the folder of the output."""
        return self._output

    def get_opts(self) -> dict[str, Any]:
        """Return the options from mrjob.conf."""
        return dict(self._opts)

    def get_job_key(self) -> str:
        """Return a name that no other run has."""
        return os.path.basename(self._folder)


MRJobRunner = Runner


def _say_nothing(line):
    """Take a line about progress."""
