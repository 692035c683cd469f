"""A job as a command line of Hadoop Streaming.

Here: the options and their values. Not here: what is installed where, processes, clouds. Invariant:
Hadoop's generic options come before those of streaming, as it requires, and every script is started by a named
interpreter, since a task's PATH is not that of the submitter.
"""

from __future__ import annotations

import os
import shlex

from typedbytes._base.locations import is_url
from typedbytes.hadoop import _quoting, _split_plugin
from typedbytes.jobs.environment import BY_KEY, COMBINES, INPUT, OUTPUT
from typedbytes.jobs.errors import OptionError
from typedbytes.jobs.hadoop_properties import check_by_key
from typedbytes.jobs.job import LINES, Job
from typedbytes.jobs.messages import option_named
from typedbytes.jobs.properties import PARTITIONER_CLASS, properties_of, without_reducers
from typedbytes.jobs.script import launcher
from typedbytes.streaming.task_environment import BYTES_COMPARATOR

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.jobs.messages import Text

__all__ = ["Plan"]

#: The folder, in each task's working directory, to which Hadoop unpacks the archive of our package.
BUNDLE_LINK = "typedbytes-bundle"

#: The same order as the default, without allocating two objects for each comparison.
COMPARATOR = {"mapreduce.job.output.key.comparator.class": BYTES_COMPARATOR}

STREAMS = "stream.map.input", "stream.map.output", "stream.reduce.input", "stream.reduce.output"

INPUT_FORMATS = {
    "auto": "org.apache.hadoop.mapred.TextInputFormat",  # of inputs that `check` has not seen
    "text": "org.apache.hadoop.mapred.TextInputFormat",
    "json": "org.apache.hadoop.mapred.TextInputFormat",
    "sequencefile": "org.apache.hadoop.mapred.SequenceFileInputFormat",
}
OUTPUT_FORMATS = {
    "text": "org.apache.hadoop.mapred.TextOutputFormat",
    **dict.fromkeys(LINES, "org.apache.hadoop.mapred.TextOutputFormat"),
    "sequencefile": "org.apache.hadoop.mapred.SequenceFileOutputFormat",
}


class Plan(Job):
    r"""A Job for Hadoop, and its command line; jobs.Job has the options.

    A format is "text", "sequencefile" or the name of a Java class; the input's also "auto". "auto", and None for
    `nreducers` and `combiner`, leave it to `check`, which looks at the inputs and the script; a plan that was not
    checked has Hadoop's own defaults then: text, one reducer and no combiner.

    >>> plan = Plan("job.py", ["in"], "out", bundle=None)
    >>> print(plan.shell("hadoop", "jar", "hadoop-streaming.jar"))    # doctest: +ELLIPSIS
    hadoop jar hadoop-streaming.jar \
        -D mapreduce.job.name=job.py \
    ...
        -mapper 'python3 job.py map' \
        -reducer 'python3 job.py reduce'
    """

    is_for_hadoop = True

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_engine("hadoop")
        check_by_key(self)

    @property
    def _nreducers(self):
        nreducers, _ = self.asked_reducers
        return 1 if nreducers is None else nreducers

    def words(self) -> list[str]:
        """Return the arguments of the command line after the streaming jar."""
        return [word for part in self._parts() for word in part]

    def _parts(self) -> list[tuple[str, ...]]:
        """Return the same as a list of options, each with its value if it has one."""
        return [*self._property_parts(), *self._other_parts()]

    def _property_parts(self) -> list[tuple[str, str]]:
        """Return the options -D."""
        return [("-D", _quoting.assignment("-D", name, value)) for name, value in self.all_properties().items()]

    def all_properties(self) -> dict[str, str]:
        """Return the properties of the job, the user's last."""
        properties = {"mapreduce.job.name": self._job_name, "mapreduce.job.reduces": str(self._nreducers)}
        if self._nreducers and self.streams != "text":
            properties.update(COMPARATOR)
        properties.update({name: value for name, value in self.partitioner.items() if name != PARTITIONER_CLASS})
        if self.feed == "splits":
            properties.update(_split_plugin.properties(self, self._nreducers))
        properties.update(self._stream_properties())
        # The number of reducers is there already, under one name: of two, Hadoop takes the last.
        return {**properties, **without_reducers(self.own_properties())}

    @property
    def _job_name(self):
        """The name that the user gives the job, or else that of its commands or its script, in a form that is safe."""
        commands = " | ".join(self.arguments[1::2])  # each after the flag of its role
        if self.name and self.name != commands:
            return _quoting.literal("mapreduce.job.name", self.name)
        return _quoting.safe_title(self.name or script_of(self).link)

    def _stream_properties(self):
        """Return the properties that name what tasks exchange, where -io alone does not, and what they have to know."""
        side, for_tasks = "reduce" if self._nreducers else "map", {}
        streams = {}
        if self.raw_text and self.streams != "text" and self.input_format in ("auto", "text"):
            streams["stream.map.input"] = "text"
        if self.input_format == "json":
            for_tasks[INPUT] = "json"
        if self.output_by_key:
            for_tasks[BY_KEY] = self.output_format
        if self.output_format in LINES:
            for_tasks[OUTPUT] = self.output_format
            if self._combines_alone:
                for_tasks[COMBINES] = "true"
        if self.output_format in LINES and (self._combines_alone or not self._has_combiner):
            streams[f"stream.{side}.output"] = "keyonlytext"
        elif self.output_format == "text" and self.raw_text and not self._has_combiner:
            streams[f"stream.{side}.output"] = "text"
        if streams and self.feed != "splits":
            streams = {**dict.fromkeys(STREAMS, self.streams), **streams}
        return {**for_tasks, **streams}

    @property
    def _has_combiner(self):
        return bool(self.combiner and self._nreducers)

    @property
    def _combines_alone(self):
        """Whether map tasks run the combiner: from Hadoop it would get the format of the output."""
        return self._has_combiner and self.output_format in LINES and self.streams != "text"

    def own_properties(self) -> dict[str, str]:
        """Return the properties that the user gives the job: its parameters, and those of -D."""
        params = {
            name: _quoting.literal(name, value) for name, value in properties_of(self.params, self.properties).items()
        }
        return {**params, **self.input_properties, **self.properties}

    def _other_parts(self) -> list[tuple[str, ...]]:
        """Return the options other than properties."""
        files, archives = shipped_files(self)
        parts: list[tuple[str, ...]] = [("-files", _urls("-files", files))]
        if archives:
            parts.append(("-archives", _urls("-archives", archives)))
        jars = [*map(_quoting.parse_shipped, self.libjars)]
        if self.feed == "splits":
            jars.append(_split_plugin.jar(self))
        if jars:
            parts.append(("-libjars", _urls("-libjars", jars)))
        if STREAMS[0] not in self.all_properties():
            parts.append(("-io", self.streams))
        parts += [("-input", _quoting.input_location(path)) for path in self.inputs]
        parts.append(("-output", _quoting.location("-output", self.output)))
        input_formats, output_formats = _split_plugin.formats(self, INPUT_FORMATS, OUTPUT_FORMATS)
        parts.append(("-inputformat", _java_class("-inputformat", input_formats, self.input_format)))
        parts.append(("-outputformat", _java_class("-outputformat", output_formats, self.output_format)))
        if self.output_by_key:  # tasks write all files themselves, and Hadoop none that is empty
            parts.append(("-lazyOutput",))
        parts += [("-cmdenv", _quoting.variable(name, value)) for name, value in self._environment().items()]
        if self.partitioner and self._nreducers:
            parts.append(("-partitioner", self.partitioner[PARTITIONER_CLASS]))
        return parts + self._commands()

    def _environment(self):
        # The script is a link into Hadoop's cache: Python would look for modules there,
        # not in the task's working directory.
        path = f"{BUNDLE_LINK}:." if self.bundle else "."
        given = self.environment.get("PYTHONPATH")
        return {**self.environment, "PYTHONPATH": f"{path}:{given}" if given else path}

    def _commands(self):
        link = script_of(self).link
        start = [self.python, *launcher(self), f"./{link}" if link.startswith("-") else link]
        roles = [
            ("-mapper", "map", True),
            ("-combiner", "combine", self._has_combiner and not self._combines_alone),
            ("-reducer", "reduce", self._nreducers),
        ]
        return [
            (option, _quoting.command([*start, role, *self.arguments])) for option, role, is_there in roles if is_there
        ]

    def shell(self, *start: str) -> str:
        """Return the whole command for a shell, one option per line."""
        return shlex.join(start) + "".join(f" \\\n    {shlex.join(part)}" for part in self._parts())


#: What to do instead of a format for which Hadoop has no class.
ELSEWHERE: dict[str, Text] = {
    "csv": "Hadoop cuts a file at any line, and tasks would not know the names of the columns: make JSON lines of it",
    "file": "Hadoop has no such input format; give the name of a Java class of yours as "
    + option_named("input_format"),
    "pairs": "for Hadoop, convert inputs with typedbytes loadtb, and read SequenceFile output with dumptb",
    "parquet": "for Hadoop, leave the output in SequenceFiles, and typedbytes convert makes Parquet of them",
}


def _java_class(option, formats, name):
    if option == "-inputformat" and "=" in name:
        raise OptionError(f"a job on Hadoop has one format for all inputs, not {name!r}")
    if name in ELSEWHERE and name not in formats:
        where = "typedbytes run" if name == "pairs" else "typedbytes run and Spark"
        raise OptionError(f'the format "{name}" works only with {where}: ' + ELSEWHERE[name])
    if name and name not in formats and "." not in name:
        raise OptionError(f"unknown format {name!r}; known: {', '.join(formats)}, and the full name of any Java class")
    return _quoting.option(option, formats.get(name, name))  # refuses an empty name


def _urls(name, files):
    return ",".join(_quoting.url_path(name, file) for file in files)


def shipped_files(plan: Plan) -> list[list[_quoting.Shipped]]:
    """Return [files, archives] of Shipped, each a path or URL and its name in a task's folder, or SubmitError."""
    files = [script_of(plan), *map(_quoting.parse_shipped, plan.files)]
    archives = [*map(_quoting.parse_shipped, plan.archives)]
    if plan.bundle:
        archives.append(_quoting.Shipped(plan.bundle, BUNDLE_LINK))
    return _quoting.unique(files, archives)


def script_of(plan: Plan) -> _quoting.Shipped:
    """Return the script as Shipped. In a local path a # has no special meaning; `url_path` refuses it later."""
    if is_url(plan.script):
        return _quoting.parse_shipped(plan.script)
    return _quoting.Shipped(plan.script, os.path.basename(plan.script))
