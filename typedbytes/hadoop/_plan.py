"""A job as Hadoop Streaming's command line says it.

Belongs here: what of a job becomes which word. What this file must not know: what is installed where, processes, clouds.
Always true: Hadoop's generic options come before those of streaming, as it demands, and every script runs with an
interpreter that is named, since a task's PATH is not the submitter's.
"""

import os
import shlex
from dataclasses import dataclass, field

from typedbytes.hadoop._errors import SubmitError
from typedbytes.streaming._task import BINARY_PARTITIONER, BYTES_COMPARATOR

__all__ = ["Plan"]

#: What Hadoop unpacks the archive of our package to, in the folder of each task.
BUNDLE_LINK = "typedbytes-bundle"

#: The same order as the default one, without making two objects for each comparison.
COMPARATOR = {"mapreduce.job.output.key.comparator.class": BYTES_COMPARATOR}

INPUT_FORMATS = {
    "text": "org.apache.hadoop.mapred.TextInputFormat",
    "sequencefile": "org.apache.hadoop.mapred.SequenceFileInputFormat",
}
OUTPUT_FORMATS = {
    "text": "org.apache.hadoop.mapred.TextOutputFormat",
    "sequencefile": "org.apache.hadoop.mapred.SequenceFileOutputFormat",
}


@dataclass
class Plan:
    """A job: a script, what it reads, what it writes, and how.

    The script is one whose last line is ``streaming.run(...)``. A format is "text", "sequencefile" or the name of a Java
    class. `secondary` is the number of bytes at the end of an encoded key that only sort: keys that differ in nothing else
    meet in one reducer; jobs with group_by need none.

    >>> plan = Plan("job.py", ["in"], "out", bundle=None)
    >>> print(plan.shell("hadoop", "jar", "hadoop-streaming.jar"))    # doctest: +ELLIPSIS
    hadoop jar hadoop-streaming.jar \\
        -D mapreduce.job.name=job.py \\
    ...
        -mapper 'python3 job.py map' \\
        -reducer 'python3 job.py reduce'
    """

    script: str
    inputs: list
    output: str
    nreducers: int = 1
    combiner: bool = False
    secondary: int = 0
    input_format: str = "text"
    output_format: str = "sequencefile"
    name: str = ""
    python: str = "python3"
    bundle: str = None  #: archive of our package; None: the nodes have it installed
    files: list = field(default_factory=list)  #: what else each task finds in its folder
    archives: list = field(default_factory=list)
    properties: dict = field(default_factory=dict)
    environment: dict = field(default_factory=dict)

    def words(self):
        """Return the words of the command line behind that of the streaming jar."""
        return [word for part in self.parts() for word in part]

    def parts(self):
        """Return the same as a list of options, each with its value."""
        return [*self.property_parts(), *self.other_parts()]

    def property_parts(self):
        """Return the options -D."""
        return [("-D", f"{name}={value}") for name, value in self.all_properties().items()]

    def all_properties(self):
        """Return the properties of the job, the user's last."""
        properties = {"mapreduce.job.name": self.name or os.path.basename(self.script), "mapreduce.job.reduces": str(self.nreducers)}
        if self.nreducers:
            properties.update(COMPARATOR)
        if self.secondary:
            properties["mapreduce.partition.binarypartitioner.right.offset"] = str(-self.secondary - 1)
        return {**properties, **self.properties}

    def other_parts(self):
        """Return the options that are no properties."""
        parts = [("-files", ",".join(map(_checked, [self.script, *self.files])))]
        archives = [*self.archives, *([f"{self.bundle}#{BUNDLE_LINK}"] if self.bundle else [])]
        if archives:
            parts.append(("-archives", ",".join(map(_checked, archives))))
        parts.append(("-io", "typedbytes"))
        parts += [("-input", place) for place in self.inputs]
        parts.append(("-output", self.output))
        parts.append(("-inputformat", INPUT_FORMATS.get(self.input_format, self.input_format)))
        parts.append(("-outputformat", OUTPUT_FORMATS.get(self.output_format, self.output_format)))
        parts += [("-cmdenv", f"{name}={value}") for name, value in self._environment().items()]
        if self.secondary and self.nreducers:
            parts.append(("-partitioner", BINARY_PARTITIONER))
        return parts + self._commands()

    def _environment(self):
        # A script is a link into Hadoop's cache, so what lies beside it there is not what lies beside it in the task.
        path = os.pathsep.join([BUNDLE_LINK, "."] if self.bundle else ["."])
        given = self.environment.get("PYTHONPATH")
        return {**self.environment, "PYTHONPATH": f"{path}{os.pathsep}{given}" if given else path}

    def _commands(self):
        command = f"{_quoted(self.python)} {_quoted(os.path.basename(self.script))}"
        commands = [("-mapper", f"{command} map")]
        if self.combiner and self.nreducers:
            commands.append(("-combiner", f"{command} combine"))
        if self.nreducers:
            commands.append(("-reducer", f"{command} reduce"))
        return commands

    def shell(self, *start):
        """Return the whole command for a shell, an option a line."""
        return shlex.join(start) + "".join(f" \\\n    {shlex.join(part)}" for part in self.parts())


def _checked(path):
    if "," in path:
        raise SubmitError(f"Hadoop takes the comma in {path!r} for the end of a name: rename the file")
    return path


def _quoted(word):
    # Streaming splits commands itself: at spaces, but for quotes, and it knows no escapes.
    if '"' in word:
        raise SubmitError(f"Hadoop Streaming cannot run {word!r}: there is a quote in it")
    return f'"{word}"' if " " in word else word
