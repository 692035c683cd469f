"""What the options of a job mean, on this machine and on a cluster: its properties, parameters and steps.

Here: names and their meaning, and the option of Hadoop Streaming itself from which it sets a property. Not here: how an engine passes them
on. A task itself does not import this.
"""

import re

from typedbytes.streaming._task import PARAM, STEP_LINE

__all__ = ["COMPARATORS", "LINE_PROPERTIES", "STREAMING_OPTION_OF", "REDUCERS", "properties_of", "reducers_of", "steps_in", "variables_of"]

#: The names of the property with the number of reduce tasks.
REDUCERS = "mapreduce.job.reduces", "mapred.reduce.tasks"

#: The names of the property with the class that orders keys.
COMPARATORS = "mapreduce.job.output.key.comparator.class", "mapred.output.key.comparator.class"

#: Properties of TextInputFormat that change what a line is, which only Hadoop does, and what a line is without them.
LINE_PROPERTIES = {
    "textinputformat.record.delimiter": "lines end with LF, CR or CR LF",
    "mapreduce.input.linerecordreader.line.maxlength": "lines may have any length",
    "mapred.linerecordreader.maxlength": "lines may have any length",
}

#: Properties that Streaming sets from its own options, overriding -D.
STREAMING_OPTION_OF = {
    **dict.fromkeys(["stream.map.input", "stream.map.output", "stream.reduce.input", "stream.reduce.output"], "-io typedbytes"),
    **dict.fromkeys(["mapreduce.output.fileoutputformat.outputdir", "mapred.output.dir"], "-output"),
    "mapred.input.format.class": "-inputformat",
    "mapred.output.format.class": "-outputformat",
    "stream.addenvironment": "-cmdenv",
    "tmparchives": "-archives",
    "tmpfiles": "-files",
}


def properties_of(params, properties):
    """Return the properties that carry a job's parameters; a task reads {"x": 3} as ``task().params["x"]``, "3".

    Raises ValueError for a name that is not one of letters, digits and underscores, and for a parameter that the job's other properties give too.

    >>> properties_of({"x": 3}, {})
    {'typedbytes.param.x': '3'}
    """
    given = {variable: name for name in properties for variable in variables_of({name: ""})}
    for name in params:
        if not re.fullmatch("[0-9A-Za-z_]+", name):
            raise ValueError(f"the name of a parameter has letters, digits and underscores, {name!r} has others")
        if PARAM + name in given:
            raise ValueError(f"the parameter {name} is given twice, as the property {given[PARAM + name]} too: leave one out")
    return {f"typedbytes.param.{name}": str(value) for name, value in params.items()}


def reducers_of(properties, nreducers=None):
    """Return the number of a job's reduce tasks, and the option that gives it: a property wins, as on Hadoop.

    Raises ValueError for a property that is not a number.

    >>> reducers_of({"mapreduce.job.reduces": "3"}, 2)
    (3, '-D mapreduce.job.reduces=3')
    >>> reducers_of({}, 2)
    (2, '--reducers 2')
    """
    for name in filter(properties.__contains__, REDUCERS):
        value = str(properties[name])
        if not (value.isascii() and value.isdigit()):
            raise ValueError(f"the property {name} is a number, not {value!r}")
        return int(value), f"-D {name}={value}"
    return nreducers, f"--reducers {nreducers}"


def steps_in(lines):
    """Return the roles of each step of a job, from the lines that its script wrote to standard error when started with the argument `steps`.

    >>> steps_in(["loading", "typedbytes: step: map combine reduce", "typedbytes: step: map"])
    [['map', 'combine', 'reduce'], ['map']]
    """
    steps = [line[len(STEP_LINE) :].split() for line in lines if line.startswith(STEP_LINE)]
    for number, roles in enumerate(steps, 1):
        if "map" not in roles:
            raise ValueError(f"step {number} of {len(steps)} has no mapper: typedbytes.streaming.lib.identitymapper passes pairs on")
    return steps


def variables_of(properties):
    """Return properties as the variables that a task finds in its environment.

    >>> variables_of({"my.limit": "3"})
    {'my_limit': '3'}
    """
    return {re.sub("[^0-9A-Za-z]", "_", name): value for name, value in properties.items()}
