"""How splits reach the map tasks: whole, by the plug-in of src/java/hadoop, or pair by pair, by Hadoop's own.

Here: where the plug-in is, which jobs it suits, and what a job's command line needs for it. Not here:
what the tasks do with a split.
"""

import io
import os
from dataclasses import replace

from typedbytes._base.locations import is_url
from typedbytes.hadoop import _quoting
from typedbytes.jobs.errors import SubmitError
from typedbytes.jobs.messages import option_named
from typedbytes.jobs.properties import LINE_PROPERTIES, variables_of
from typedbytes.jobs.source import Source

#: Made by "make jar"; a wheel holds it if a JDK was there when it was built.
JAR = os.path.join(os.path.dirname(__file__), "typedbytes-hadoop.jar")

RESOLVER = "stream.io.identifier.resolver.class"
_PACKAGE = "org.typedbytes.hadoop"
_FORMATS = ("text", "sequencefile")
_FORMAT_PROPERTY = "typedbytes.split.format"


def with_feed(plan, say=lambda line: None):
    """Return a plan whose formats are known with its feed, "splits" or "pairs", and the plug-in if it needs one.

    A plan that leaves it open has splits if the job allows them and the plug-in is installed.
    Raises SubmitError for splits that the job cannot have.
    """
    plug_in = plan.feed_jar or JAR
    if plan.output_by_key and (unwritable := _why_not_writable(plan)):
        raise SubmitError(unwritable)
    if plan.feed == "pairs":
        return plan
    reason = _why_no_splits(plan)
    if plan.feed is None:
        if reason or not plan.bundle or is_url(plan.script) or not os.path.isfile(plug_in):
            return replace(plan, feed="pairs")
        say("map tasks get whole splits; with --feed pairs Hadoop would hand over single pairs")
    elif reason:
        message = f"the job cannot have whole splits: {reason}"
        raise SubmitError(message, hint="submit it with " + option_named("feed", "pairs"))
    elif not is_url(plug_in) and not os.path.isfile(plug_in):
        raise SubmitError(
            f"whole splits need the plug-in {plug_in}: run make jar in the sources of typedbytes, "
            "or give its path as " + option_named("feed_jar")
        )
    return replace(plan, feed="splits", feed_jar=plug_in)


def _why_no_splits(plan):
    """Return why a job cannot have whole splits, or None."""
    if plan.input_format not in _FORMATS:
        return f"its input is neither text nor SequenceFiles but {plan.input_format}"
    for name in (RESOLVER, _FORMAT_PROPERTY, *(LINE_PROPERTIES if plan.input_format == "text" else ())):
        if name in plan.properties:
            return f"it sets {name}"
    if plan.raw_text or plan.streams == "text":
        return "a step takes lines of text as they are"
    if not is_url(plan.script) and not plan.front and not Source(plan.script).calls_any_run:
        return f"{plan.script} does not call run(...), which reads them"
    return _why_not_writable(plan)


def _why_not_writable(plan):
    """Return why the tasks cannot write SequenceFiles compressed as the job's properties say, or None."""
    from typedbytes import sequencefile
    from typedbytes.streaming.formats.splits import compression_of

    if plan.output_format != "sequencefile":
        return None
    try:
        with sequencefile.Writer(io.BytesIO(), **compression_of(variables_of(plan.properties))):
            return None
    except ValueError as error:
        return f"its tasks cannot write the SequenceFiles that its properties ask for: {error}"
    except ModuleNotFoundError:
        return None  # the bundle may have it


def jar(plan):
    """Return the plug-in of a job that has whole splits, as Shipped."""
    return _quoting.parse_shipped(plan.feed_jar or JAR)


def properties(plan, nreducers):
    """Return the properties of a job that has whole splits."""
    last = "reduce" if nreducers else "map"
    added = {
        RESOLVER: f"{_PACKAGE}.SplitIdentifierResolver",
        _FORMAT_PROPERTY: plan.input_format,
        **{f"stream.{side}": "typedbytes" for side in ("map.output", "reduce.input", "reduce.output")},
        "stream.map.input": "split",
        "mapreduce.client.libjars.wildcard": "false",  # else a jar that is on the job's own file system reaches no task
    }
    if plan.output_format == "sequencefile" and not plan.output_by_key:
        added[f"stream.{last}.output"] = "split"
    return added


def formats(plan, input_formats, output_formats):
    """Return the Java classes of formats by name: those given, or the plug-in's."""
    if plan.feed != "splits":
        return input_formats, output_formats
    return (
        {**input_formats, **dict.fromkeys(_FORMATS, f"{_PACKAGE}.SplitInputFormat")},
        {**output_formats, **({} if plan.output_by_key else {"sequencefile": f"{_PACKAGE}.SplitOutputFormat"})},
    )
