"""The options of a job of dumbo: those of additer(opts=), of @opt, of `opts` of a class, and of the command line.

Here: what an option means to an iteration, and which ones there are. Not here: running a job. Invariant: wherever an
option is given, it is honoured, or it is one of WITHOUT_EFFECT, or it is refused with one line.
"""

from __future__ import annotations

import os

from typedbytes.fronts.dumbo.command_line import NAMED
from typedbytes.fronts.dumbo.decor import is_join
from typedbytes.fronts.dumbo.lib import MultiMapper
from typedbytes.fronts.dumbo.util import Options, fail, named_values, number_of
from typedbytes.streaming.task_environment import PARAM

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

__all__ = ["StepOptions", "codes_of", "properties_in"]

OF_STEP = {*NAMED, "numreducetasks", "nummaptasks", "priority", "queue", "addpath"}
OF_JOB = {
    "input", "output", "file", "cachefile", "cachearchive", "libjar", "inputformat", "outputformat", "overwrite",
    "getpath", "python", "name", "hadoop",
}  # fmt: skip
#: What they change is not the output: the progress, dumbo's own sort, its checks, and where it finds things.
WITHOUT_EFFECT = {
    "checkoutput", "codewritable", "debug", "hadooplib", "memlimit", "prog", "pv", "pypath", "sortbufsize",
    "sorttmpdir", "starter",
}  # fmt: skip
REFUSED = {
    "parser": "parse the value in the mapper",
    "record": "make the record in the mapper",
    "libegg": "unpack it, and give its modules with -file",
    "fake": "leave it out",
    "joinkeys": "mark the mappers with primary and secondary, and derive the reducer from JoinReducer",
    "preoutputs": "run the iterations as jobs of their own",
    "delinputs": "remove the inputs after the job",
    "streamoutput": "leave it out",
}
WORDS = {"addpath": ("yes", "no", "iter"), "overwrite": ("yes", "no"), "getpath": ("yes", "no")}
PROPERTIES = {
    "nummaptasks": "mapreduce.job.maps", "priority": "mapreduce.job.priority", "queue": "mapreduce.job.queuename",
}  # fmt: skip


def codes_of(args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Return the mapper, the reducer and the combiner that a call of additer has."""
    mapper, reducer, combiner = [*args, None, None, None][:3]
    return kwargs.get("mapper", mapper), kwargs.get("reducer", reducer), kwargs.get("combiner", combiner)


class StepOptions:
    """The options of one iteration; of two values for one thing, its own wins as in dumbo, by where it is given.

    given: the options of the command line. is_last: whether its output is that of the job.
    """

    def __init__(
        self, args: Sequence[Any], kwargs: dict[str, Any], given: Options, initializer: Any, number: int, is_last: bool
    ) -> None:
        mapper, reducer, _ = codes_of(args, kwargs)
        source = kwargs.get("input")
        source = number - 1 if source is None else source
        self.inputs: list[int] = [source] if isinstance(source, int) else [*source]
        self.reads_input: bool = self.inputs == [-1]
        self.is_last: bool = is_last
        first = Options(kwargs.get("opts"))
        self._asks_path = [*first["addpath"], *given["addpath"]]
        self._given = given
        self.options: Options = Options(first)
        for code in (mapper, reducer):
            self.options += () if isinstance(code, str) else getattr(code, "opts", None) or ()
        self.options += given
        if initializer is not None:
            initializer(self.options)
        _check(self.options, is_join(mapper, reducer))
        self._has_multimapper = isinstance(mapper, MultiMapper)
        if isinstance(mapper, str) and (self.adds_path or self.parses_code):
            fail(f"-{'addpath' if self.adds_path else 'inputformat code'} is not for a mapper that is a command")

    def first(self, key: str, default: str) -> str:
        """Return the first value of an option."""
        return str((self.options[key] or [default])[0])

    @property
    def nreducers(self) -> int | None:
        """The number of reduce tasks; None: that of the job."""
        return number_of(self.options, "numreducetasks")

    @property
    def is_on_hadoop(self) -> bool:
        """Whether the job runs on Hadoop."""
        return self.first("hadoop", "no") not in ("no", "local")

    @property
    def properties(self) -> dict[str, str]:
        """The properties that the command line does not set."""
        of_command = properties_in(self._given)
        return {name: value for name, value in properties_in(self.options).items() if name not in of_command}

    @property
    def environment(self) -> dict[str, str]:
        """The variables that the command line does not set; --param of `typedbytes run` has the last word."""
        of_command = named_values(self._given, "cmdenv", "param")
        found = named_values(self.options, "cmdenv", "param")
        return {name: os.environ.get(PARAM + name, value) for name, value in found.items() if name not in of_command}

    @property
    def adds_path(self) -> bool:
        """Whether the mapper's keys get the path of their file; a MultiMapper takes it off again."""
        words = self.options["addpath"]
        if not self.reads_input and "yes" in self._asks_path:  # which is for the input of the job
            return False
        return bool(words) and "no" not in words and not self._has_multimapper

    @property
    def parses_code(self) -> bool:
        """Whether the mapper reads lines of reprs; on Hadoop, code are SequenceFiles."""
        return self.reads_input and self.first("inputformat", "auto").lower() == "code" and not self.is_on_hadoop

    def of_job(self) -> list[tuple[str, str]]:
        """Return the options of the iteration that only the job as a whole can honour."""
        idle = {("overwrite", "no"), ("getpath", "no"), ("inputformat", "auto")}
        inner = {"input", "inputformat"} if not self.reads_input else set()
        inner |= {"output", "outputformat", "getpath"} if not self.is_last else set()
        return [each for each in self.options if each[0] in OF_JOB - inner and each not in idle]


def properties_in(options: Options) -> dict[str, str]:
    """Return the properties that options set."""
    named = {PROPERTIES[key]: str(options[key][0]) for key in PROPERTIES if options[key]}
    return {**named, **named_values(options, "jobconf", "hadoopconf")}


def _check(options, is_joined):
    """Fail for an option that is refused, or whose value is."""
    for key, value in options:
        if key in WORDS and value not in WORDS[key]:
            fail(f"-{key} must be one of {', '.join(WORDS[key])}, not {value}")
        if key in REFUSED and value != "no" and not (key == "joinkeys" and is_joined):
            fail(f"-{key} is not supported: {REFUSED[key]}")
        if key not in OF_STEP | OF_JOB | WITHOUT_EFFECT | REFUSED.keys():
            fail(f"-{key} is not an option of a job: leave it out, or have a starter take it")
    number_of(options, "numreducetasks")
    named_values(options, *NAMED)
