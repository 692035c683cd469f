"""What the options of a job mean, on this machine and on a cluster: its properties and parameters.

Here: names and their meaning, and the option of Hadoop Streaming itself from which it sets a property. Not here: how an
engine passes them on. A task itself does not import this.
"""

from __future__ import annotations

import re

from typedbytes.jobs.errors import OptionError
from typedbytes.jobs.messages import option_named
from typedbytes.streaming.task_environment import PARAM, variable_of_property

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping

    from typedbytes.jobs.messages import Message

__all__ = [
    "COMPARATORS", "LINE_PROPERTIES", "PARTITIONER_CLASS", "STREAMING_OPTION_OF", "REDUCERS", "properties_of",
    "reducers_of", "variables_of", "without_reducers",
]  # fmt: skip

#: The names of the property with the number of reduce tasks.
REDUCERS = "mapreduce.job.reduces", "mapred.reduce.tasks"

#: The names of the property with the class that orders keys.
COMPARATORS = "mapreduce.job.output.key.comparator.class", "mapred.output.key.comparator.class"

#: The name of the property with the class that chooses the reducer of a key.
PARTITIONER_CLASS = "mapred.partitioner.class"

#: Properties of TextInputFormat that change what a line is, which only Hadoop does, and what a line is without them.
LINE_PROPERTIES = {
    "textinputformat.record.delimiter": "lines end with LF, CR or CR LF",
    "mapreduce.input.linerecordreader.line.maxlength": "lines may have any length",
    "mapred.linerecordreader.maxlength": "lines may have any length",
}

#: Properties that Streaming sets from its own options, overriding -D.
STREAMING_OPTION_OF = {
    **dict.fromkeys(
        ["stream.map.input", "stream.map.output", "stream.reduce.input", "stream.reduce.output"], "-io typedbytes"
    ),
    **dict.fromkeys(["mapreduce.output.fileoutputformat.outputdir", "mapred.output.dir"], "-output"),
    "mapred.input.format.class": "-inputformat",
    "mapred.output.format.class": "-outputformat",
    "stream.addenvironment": "-cmdenv",
    "tmparchives": "-archives",
    "tmpfiles": "-files",
}


def properties_of(params: Mapping[str, object], properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties that carry a job's parameters; a task reads {"x": 3} as ``task().params["x"]``, "3".

    Raises OptionError for a name that is not one of letters, digits and underscores, and for a parameter that the job's
    other properties give too.

    >>> properties_of({"x": 3}, {})
    {'typedbytes.param.x': '3'}
    """
    given = {variable: name for name in properties for variable in variables_of({name: ""})}
    for name in params:
        if not re.fullmatch("[0-9A-Za-z_]+", name):
            raise OptionError(f"the name of a parameter has letters, digits and underscores, {name!r} has others")
        if PARAM + name in given:
            raise OptionError(
                f"the parameter {name} is given twice, as the property {given[PARAM + name]} too: leave one out"
            )
    return {f"typedbytes.param.{name}": str(value) for name, value in params.items()}


def reducers_of(properties: Mapping[str, str], nreducers: int | None = None) -> tuple[int | None, Message]:
    """Return the number of a job's reduce tasks, and the option that gives it: a property wins, as on Hadoop.

    Raises OptionError for a property that is not a number.

    >>> print(*reducers_of({"mapreduce.job.reduces": "3"}, 2))
    3 properties={'mapreduce.job.reduces': '3'}
    >>> print(*reducers_of({}, 2))
    2 nreducers=2
    """
    for name in filter(properties.__contains__, REDUCERS):
        value = str(properties[name])
        if not (value.isascii() and value.isdigit()):
            raise OptionError(f"the property {name} is a number, not {value!r}")
        return int(value), option_named("properties", {name: value})
    return nreducers, option_named("nreducers", nreducers)


def without_reducers(properties: Mapping[str, str]) -> dict[str, str]:
    """Return properties but the one for the number of reduce tasks.

    >>> without_reducers({"mapreduce.job.reduces": "3", "my.limit": "1"})
    {'my.limit': '1'}
    """
    return {name: value for name, value in properties.items() if name not in REDUCERS}


def variables_of(properties: Mapping[str, str]) -> dict[str, str]:
    """Return properties as the variables that a task finds in its environment.

    >>> variables_of({"my.limit": "3"})
    {'my_limit': '3'}
    """
    return {variable_of_property(name): value for name, value in properties.items()}
