"""A job: its script or functions, its inputs and output, and its options, each declared once.

Here: what an option is called, what it may be and what it means to every engine. Not here: what an engine makes of it.
Invariant: a Job is valid by itself; what its script, its inputs or its engine do not allow is found by the code that
looks at them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields

from typedbytes.jobs.errors import OptionError
from typedbytes.jobs.fronts import FRONTS, Front
from typedbytes.jobs.input_formats import named_formats
from typedbytes.jobs.messages import option_named
from typedbytes.jobs.options import Option, converted, option, path_of
from typedbytes.jobs.properties import (
    PARTITIONER_CLASS,
    STREAMING_OPTION_OF,
    properties_of,
    reducers_of,
    without_reducers,
)
from typedbytes.streaming.task_environment import BINARY_PARTITIONER

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Union

    from typedbytes.jobs.messages import Message, Text

    Path = Union[str, os.PathLike[str]]
    Code = Union[Callable[..., Any], type, str, Sequence[Path]]
    Inputs = Union[Path, Iterable[Path], Iterable[tuple[Any, Any]]]
    Commands = Mapping[str, Union[list[str], None]]  # of a step, by role

__all__ = [
    "LINES", "OLD_RECURSIVE", "OUTPUT_FORMATS", "WHY_NO_PARTITIONER", "RECURSIVE", "ROWS", "Job",
    "job_from_user_values",
]  # fmt: skip

#: The formats of tasks of this package; Hadoop has Java classes, too.
OUTPUT_FORMATS = ("sequencefile", "pairs", "text", "values", "json", "csv", "parquet")
#: Those whose lines the tasks write, the same with each engine; and those that have rows.
LINES, ROWS = ("values", "json", "csv"), ("json", "csv", "parquet")
WHY_NO_PARTITIONER = "Hadoop's hash of a key chooses the reducer; --secondary leaves out the end of the key"
MAX_REDUCERS = 65536
RECURSIVE = "mapreduce.input.fileinputformat.input.dir.recursive"
OLD_RECURSIVE = "mapred.input.dir.recursive"
NOT_HADOOP, LOCAL, HADOOP = ("local", "spark"), ("local",), ("hadoop",)


@dataclass(frozen=True)
class Job:
    """A job, for any engine: `local.run_job(job)`, `spark.run_job(session, job)`.

    `hadoop.Plan` is the Job that `hadoop.submit` takes. Raises OptionError for an option that is wrong by itself; an
    engine does so for one that it does not follow.

    script: ends with `streaming.run(...)`. inputs: paths of files and folders, patterns, "-" for standard input; one or
    a list. Or, on this machine and on Spark, records in memory: an iterable of tuples of a key and a value. output: a
    folder that does not exist yet.

    Options, which are off or empty by default where nothing else is said::

      nreducers      how many reduce tasks, hence part files (1, or 0 for a script without a reducer); a property with
                     the number wins
      combiner       False leaves the script's combiner out, None uses it if there is one, with True there must be one
      secondary      ignore the last N bytes of a key when choosing its reducer; not needed with group_by (0)
      input_format   "auto" (by content), "text", "sequencefile", "json" (lines, parsed). Hadoop also takes names of
                     Java classes; the others also "csv" (rows as dicts), "file" (a path and its bytes), "pairs", and
                     several formats, "users/*=csv,*.log=text"
      output_format  "sequencefile", "text" (as with stream.reduce.output=text), "values" (text without the keys),
                     "json" (lines) and "csv", rows with the columns of the key and of the value. Hadoop also takes
                     Java classes; the others also "parquet" (rows) and "pairs" (typed bytes, part-00000.tb)
      overwrite      the output may be that of an earlier job, which is removed when this one has succeeded (False)
      output_by_key  each key of the output is a tuple of a folder and a key: the pair, with this key, is in the part
                     files of that folder of the output (False)
      step_output    not Hadoop: a folder in which the output of each step but the last is kept ("")
      recursive      read the folders inside an input too (an error), as Hadoop's property of that name
      report         the path of an HTML file that says what the tasks did, also where the job fails ("")
      name           of the job (that of the script)
      python         Hadoop and Spark: the Python of the nodes ("python3")
      bundle         Hadoop: an archive of this package; None: the nodes have it installed
      files          paths, or "PATH#NAME", of files that each task finds in its folder, which is then a folder of
                     the task's own
      archives       the same for archives, zip or tar, that each task finds unpacked
      libjars        Hadoop: paths of jars with classes of the job's own, such as those of its formats
      properties     as Hadoop's -D: tasks find "a.b" as the variable a_b. Every engine follows Hadoop's properties
                     with the number of reduce tasks, and with the compression and the separator of the output
      environment    more variables for the tasks
      params         parameters, by name: tasks find {"x": 3} as task().params["x"], "3"
      python_versions  Hadoop: versions of Python of the nodes, like "3.11" (what `python` is)
      arguments      words for the script, after its role
      steps          Hadoop: the roles of each step in a job of several, which `check` asks the script for
      raw_text       map tasks get lines of text as they are, without offsets; set by a Step (False)
      streams        Hadoop: what tasks exchange with it, "typedbytes" or "text", as mrjob's do ("typedbytes")
      front          the library whose names the script imports, such as "mrjob": it gets those of
                     `typedbytes.fronts` ("")
      feed           Hadoop: "splits": map tasks get whole splits; "pairs": single pairs (splits if the job allows them)
      feed_jar       Hadoop: the plug-in for splits (the one that is installed)
      split_size     not Hadoop: bytes of input for a map task (32 MiB, as Hadoop on local files)
      combine_files  not Hadoop: a map task reads as many small files as make a split; it has no input file then
      keep_failed    not Hadoop: leave the folder of a job that failed; JobError.kept says where
      quiet          not Hadoop: do not pass on the tasks' standard error
      processes      this machine: tasks that run at once (the number of processors)
      memory         this machine: bytes of this process, which sorts and merges for all tasks together (512 MiB)
      tmp            this machine: folder for temporary files (a folder beside the output)
      codec          this machine: compression of temporary files, "none", "zlib", "lz4" or "zstd" ("none")
      attempts       this machine: how often a task is tried (1)
      inline         this machine: all tasks in this process, one after the other, for a debugger or functions of
                     a notebook (False)
      fork           this machine: fork tasks from a process that has imported the script, if it cannot tell (True)
      functions      this machine, in the place of a script: the code of "map", "combine" and "reduce", as
                     `local.run` takes it
    """

    is_for_hadoop = False  # of the class

    script: str
    inputs: Any
    output: str
    nreducers: int | None = option(
        None, "-r", "--reducers", form="integer", metavar="N",
        help="the number of reduce tasks and part files; 0: no reducer (1, or 0 if the script has no reducer)",
    )  # fmt: skip
    combiner: bool | None = option(None, "--combiner", form="either", help="run the script's combiner (if it has one)")
    secondary: int = option(
        0, "--secondary", form="integer", metavar="N",
        help="ignore the last N bytes of a key when choosing its reducer; not needed with group_by (0)",
    )  # fmt: skip
    input_format: str = option(
        "auto", "--input-format", metavar="F",
        help="auto (by content), text, json (lines) or sequencefile; for run also csv, file (whole files), pairs, and "
        "PATTERN=F,... for some inputs; for submit a Java class (auto)",
    )  # fmt: skip
    output_format: str = option(
        "sequencefile",
        "--output-format",
        metavar="F",
        help="sequencefile, text, values (text without keys), json (lines) or csv; run has pairs and parquet too, "
        "submit Java classes (sequencefile)",
    )
    name: str = option("", "--name", help="the name of the job (the script's name)", commands=("submit",))
    overwrite: bool = option(
        False, "--overwrite", form="switch",
        help="replace the output of an earlier job, which is removed when this one has succeeded",
    )  # fmt: skip
    output_by_key: bool = option(
        False, "--output-by-key", form="switch",
        help="each key of the output is (FOLDER, KEY): its pair, with KEY, goes into that folder of the output",
    )  # fmt: skip
    step_output: str = option(
        "", "--step-output", metavar="FOLDER", engines=NOT_HADOOP,
        help="keep the output of each step but the last in a folder of this one: step1, step2 ...",
    )  # fmt: skip
    recursive: bool = option(False, "--recursive", form="switch", help="read the folders inside an input too")
    report: str = option(
        "", "--report", metavar="FILE",
        help="write an HTML page to FILE: when each task ran, records, counters, bad records, or why the job failed",
    )  # fmt: skip
    python: str = option(
        "python3", "--python", metavar="PATH", help="the Python of the nodes (python3)", engines=("hadoop", "spark")
    )
    bundle: str | None = option(None, engines=HADOOP)
    files: Sequence[Any] = option(
        list, "--ship", form="words", metavar="FILE[#NAME]",
        help="a file that each task finds in its folder; where nothing is shipped, tasks of run find all files of the "
        "current folder, those of submit none",
    )  # fmt: skip
    archives: Sequence[Any] = option(
        list,
        "--archive",
        form="words",
        metavar="FILE[#NAME]",
        help="an archive, zip or tar, that each task finds unpacked as NAME",
    )
    libjars: Sequence[Any] = option(
        list, "--libjars", form="words", metavar="JAR", engines=HADOOP,
        help="a jar for the job's own Java classes, such as those of its formats",
    )  # fmt: skip
    properties: Mapping[str, Any] = option(
        dict, "-D", form="named", metavar="NAME=VALUE", help="a property of the job; tasks find a.b as the variable a_b"
    )
    environment: Mapping[str, Any] = option(
        dict, "--env", form="named", metavar="NAME=VALUE", help="a variable in the environment of each task"
    )
    params: Mapping[str, Any] = option(
        dict, "--param", form="named", metavar="NAME=VALUE", help="a parameter: tasks find it in task().params"
    )
    python_versions: Sequence[str] = option(list, form="words", engines=HADOOP)
    arguments: Sequence[str] = option(
        list, "--arg", form="words", metavar="WORD", help="pass WORD to the script after its role; may be repeated"
    )
    steps: Sequence[Sequence[str]] = option(list, engines=HADOOP)
    raw_text: bool = False
    streams: str = option("typedbytes", choices=("typedbytes", "text"), engines=HADOOP)
    front: str = option(
        "", "--as", choices=tuple(FRONTS),
        help="run a script of this library as it is: the names that it imports are those of typedbytes.fronts",
    )  # fmt: skip
    feed: str | None = option(
        None, "--feed", choices=("splits", "pairs"), engines=HADOOP,
        help="what map tasks get: whole splits, much cheaper, or single pairs (splits if possible)",
    )  # fmt: skip
    feed_jar: str | None = option(
        None, "--feed-jar", metavar="JAR", engines=HADOOP, help="the plug-in for whole splits, if it is not installed"
    )
    split_size: int | None = option(
        None,
        "--split-size",
        form="size",
        metavar="SIZE",
        engines=NOT_HADOOP,
        help="the input of a map task (32M, as in Hadoop for local files)",
    )
    combine_files: bool = option(
        False, "--combine-files", form="switch", engines=NOT_HADOOP,
        help="give small files together to a map task, up to the size of a split",
    )  # fmt: skip
    keep_failed: bool = option(
        False,
        "--keep-failed",
        form="switch",
        engines=NOT_HADOOP,
        help="keep the folder of a job that fails, and report its path",
    )
    quiet: bool = option(
        False, "-q", "--quiet", form="switch", engines=NOT_HADOOP, help="report only why the job failed"
    )
    processes: int | None = option(
        None, "--processes", form="integer", metavar="N", engines=LOCAL,
        help="the number of tasks that run at once (default: the number of processors)",
    )  # fmt: skip
    memory: int = option(
        512 << 20, "--memory", form="size", metavar="SIZE", engines=LOCAL,
        help="memory of the parent process, which sorts and merges for all tasks; tasks need their own (512M)",
    )  # fmt: skip
    tmp: Path | None = option(
        None, "--tmp", metavar="FOLDER", engines=LOCAL, help="the folder for temporary files (beside the output)"
    )
    codec: str = option(
        "none",
        "--codec",
        choices=("none", "zlib", "lz4", "zstd"),
        engines=LOCAL,
        help="the compression of temporary files (none)",
    )
    attempts: int = option(
        1, "--attempts", form="integer", metavar="N", engines=LOCAL, help="the number of attempts of a task (1)"
    )
    inline: bool = option(
        False, "--inline", form="switch", engines=LOCAL,
        help="run all tasks in this process, one after the other: breakpoint() works in them",
    )  # fmt: skip
    fork: bool = option(
        True, "--fork", form="either", engines=LOCAL,
        help="fork tasks from a process that has imported the script (the default, if it cannot tell)",
    )  # fmt: skip
    functions: Mapping[str, Code | None] | None = option(None, engines=LOCAL)

    def __post_init__(self) -> None:
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        for name in ("script", "output", "step_output", "report"):
            put(name, path_of(name, getattr(self, name)))
        if isinstance(self.inputs, (str, os.PathLike)):
            put("inputs", [self.inputs])
        elif isinstance(self.inputs, bytes) or not hasattr(self.inputs, "__iter__"):
            raise OptionError(f"inputs must be paths, or tuples of a key and a value, not {self.inputs!r:.80}")
        put("name", self.name or "")
        for name, declared in _OPTIONS.items():
            put(name, converted(name, declared, getattr(self, name)))
        self._check()

    def _check(self) -> None:
        for name in filter(STREAMING_OPTION_OF.__contains__, self.properties):
            raise OptionError(
                f"Hadoop Streaming sets the property {name} from {STREAMING_OPTION_OF[name]} and ignores "
                "what a job says: leave it out"
            )
        properties_of(self.params, self.properties)
        reducers, _ = self.asked_reducers
        _require(
            reducers is None or 0 <= reducers <= MAX_REDUCERS,
            option_named("nreducers") + f" must be 0 to {MAX_REDUCERS}, not {reducers}",
        )
        _require(self.secondary >= 0, option_named("secondary") + f" must be a number of bytes, not {self.secondary}")
        _require(
            (self.processes is None or self.processes > 0) and self.attempts > 0,
            option_named("processes") + " and " + option_named("attempts") + " must be at least 1",
        )
        _require(
            not self.output_by_key or not self.library.writes_lines,
            option_named("output_by_key")
            + f" needs keys of a folder and a key, and a job of {self.front} writes lines",
        )
        for name, declared in _OPTIONS.items():
            value = getattr(self, name)
            if declared.choices and value != declared.make_default():
                known = ", ".join(declared.choices)
                _require(value in declared.choices, option_named(name) + f" must be one of {known}, not {value!r}")

    def check_formats(self) -> None:
        """Raise OptionError for a format that tasks of this package do not have, or which needs Hadoop."""
        named_formats(self.input_format)
        known, given = ", ".join(OUTPUT_FORMATS), self.output_format
        _require(given in OUTPUT_FORMATS, option_named("output_format") + f" must be one of {known}, not {given!r}")
        if self.output_format == "parquet":
            from importlib.util import find_spec

            _require(find_spec("pyarrow") is not None, "parquet needs the library pyarrow: pip install pyarrow")

    def check_engine(self, engine: str) -> None:
        """Raise OptionError for an option that an engine does not follow."""
        refused = self.options_not_for(engine)
        if refused:
            raise OptionError(
                option_named(refused[0]) + f" is not an option of a job on {_ENGINE_NAMES[engine]}: leave it out"
            )

    def options_not_for(self, engine: str) -> list[str]:
        """Return the names of the options that were given, and that an engine does not follow."""
        return [
            name
            for name, declared in _OPTIONS.items()
            if engine not in declared.engines and getattr(self, name) != declared.make_default()
        ]

    @property
    def asked_reducers(self) -> tuple[int | None, Message]:
        """The number of reduce tasks that the job asks for, None if it leaves it open, and the option that gives it."""
        return reducers_of(self.properties, self.nreducers)

    @property
    def library(self) -> Front:
        """How the jobs of the script's library differ, if it is an older one."""
        return FRONTS.get(self.front, Front())

    def own_properties(self) -> dict[str, str]:
        """Return the properties that the user gives the job: its parameters, and those of -D."""
        return {**properties_of(self.params, self.properties), **self.input_properties, **self.properties}

    @property
    def input_properties(self) -> dict[str, str]:
        """The properties that say how inputs are found."""
        return {RECURSIVE: "true"} if self.recursive else {}

    @property
    def reads_nested_folders(self) -> bool:
        """Whether the folders inside an input are read."""
        properties = self.own_properties()
        return any(properties.get(name, "").strip().lower() == "true" for name in (RECURSIVE, OLD_RECURSIVE))

    @property
    def partitioner(self) -> dict[str, str]:
        """The properties of a job that sends keys to reducers by a part of each; none for the hash of the whole key."""
        if not self.secondary:
            return {}
        return {
            PARTITIONER_CLASS: BINARY_PARTITIONER,
            "mapreduce.partition.binarypartitioner.right.offset": str(self._right_offset),
        }

    def partitioning(self, npartitions: int) -> dict[str, int]:
        """Return the options of a Sorter that gives each pair its partition as Hadoop does."""
        return {"npartitions": npartitions, "right_offset": self._right_offset}

    @property
    def _right_offset(self) -> int:
        return -self.secondary - 1

    def without_reducer_property(self) -> dict[str, str]:
        """Return the properties without the number of reduce tasks."""
        return without_reducers(self.properties)

    @staticmethod
    def options(command: str | None = None) -> dict[str, Option]:
        """Return the options by the names of their fields: all of them, or those that have flags of a command."""
        return {
            name: declared
            for name, declared in _OPTIONS.items()
            if command is None or (declared.flags and command in declared.commands)
        }


#: Job, called with values that users pass. A Job converts them, so its fields are annotated with the types after that.
job_from_user_values: Callable[..., Job] = Job

_OPTIONS: dict[str, Option] = {each.name: each.metadata["option"] for each in fields(Job) if "option" in each.metadata}
_ENGINE_NAMES = {"local": "this machine", "spark": "Spark", "hadoop": "Hadoop"}


def _require(holds: bool, message: Text) -> None:
    if not holds:
        raise OptionError(message)
