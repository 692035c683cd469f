"""What Hadoop's properties do to a job here: some are followed, others would change its result in Hadoop.

Here: names, old and new, and what a value asks for. Not here: writing part files, and the properties of a job's own,
which only its tasks read. Invariant: a property of Hadoop that changes which records a job reads or writes, or how, is
followed, reported or an error; tests compare the tables with the properties and the old names that Hadoop itself lists.
"""

from __future__ import annotations

from typedbytes.jobs.errors import OptionError
from typedbytes.jobs.job import LINES, OLD_RECURSIVE, OUTPUT_FORMATS, RECURSIVE, WHY_NO_PARTITIONER
from typedbytes.jobs.messages import option_named
from typedbytes.jobs.properties import COMPARATORS, LINE_PROPERTIES, PARTITIONER_CLASS, REDUCERS, variables_of
from typedbytes.streaming.task_environment import BYTES_COMPARATOR, HASH_PARTITIONER

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from typedbytes.jobs.job import Job

__all__ = [
    "FOLLOWED", "OLD_NAMES", "REPORTED", "TEXT_CODECS", "check_by_key", "ignored", "output_properties", "part_options",
    "text_suffix",
]  # fmt: skip

_COMPRESS = "mapreduce.output.fileoutputformat.compress"
_SEPARATOR = "mapreduce.output.textoutputformat.separator"

FOLLOWED = {*REDUCERS, _COMPRESS, f"{_COMPRESS}.type", f"{_COMPRESS}.codec", _SEPARATOR, RECURSIVE}

#: Codecs of whole files, and the ends of their names.
TEXT_CODECS = {"DefaultCodec": ".deflate", "DeflateCodec": ".deflate", "GzipCodec": ".gz", "BZip2Codec": ".bz2"}

_REFUSED = "Hadoop Streaming refuses a job that sets it"
_GROUPS = "the values of a group have keys of equal bytes; group_by of streaming.run(...) groups others"
_FAILURES = "a job fails with its first task that fails in all attempts"
_SKIPPING = "no record is skipped; max_bad of streaming.run(...) says how many may be"
_COUNTERS = "the limits of counters are those that Hadoop has by default"
_VARIABLES = "give variables with --env"
_SHIPPED = "give files with --ship and --archive"
_SPLITS = "--split-size says how the input is split"
_FOLDERS = "a folder inside a folder is an error without --recursive"

#: By present name: what holds here, and the value with which Hadoop does the same, None if there is none.
REPORTED: dict[str, tuple[str, str | None]] = {
    **{name: (what, None) for name, what in LINE_PROPERTIES.items() if name.startswith(("mapreduce.", "text"))},
    COMPARATORS[0]: ("keys are sorted by their bytes", BYTES_COMPARATOR),
    "mapreduce.job.output.group.comparator.class": (_GROUPS, None),
    "mapreduce.job.combiner.group.comparator.class": (_GROUPS, None),
    PARTITIONER_CLASS: (WHY_NO_PARTITIONER, HASH_PARTITIONER),
    "mapred.combiner.class": ("the combiner is the script's", None),
    "mapreduce.job.combine.class": ("the combiner is the script's", None),
    **{f"mapreduce.job.{each}.class": (_REFUSED, None) for each in (
        "partitioner", "inputformat", "outputformat", "map", "reduce",
    )},
    **{f"mapred.{each}.new-api": (_REFUSED, "false") for each in ("mapper", "reducer")},
    "mapreduce.output.basename": ("names of part files start with part-, in Hadoop Streaming too", "part"),
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": ("a complete output has a file _SUCCESS", "true"),
    "mapreduce.input.pathFilter.class": ("files whose names start with _ or a dot are left out", None),
    "mapreduce.input.fileinputformat.input.dir.nonrecursive.ignore.subdirs": (_FOLDERS, "false"),
    "mapreduce.input.fileinputformat.inputdir": ("the inputs are those that the command names", None),
    "mapreduce.input.fileinputformat.split.minsize": (_SPLITS, "0"),
    "mapreduce.job.maps": (_SPLITS, "2"),
    "mapreduce.job.working.dir": ("paths are relative to the current folder", None),
    "fs.defaultFS": ("paths are those of this machine", "file:///"),
    "io.compression.codecs": ("a compressed input is recognised by its name and its first bytes", None),
    "io.skip.checksum.errors": ("a damaged input is an error", "false"),
    "mapreduce.map.failures.maxpercent": (_FAILURES, "0"),
    "mapreduce.reduce.failures.maxpercent": (_FAILURES, "0"),
    "mapreduce.job.skiprecords": (_SKIPPING, "false"),
    "mapreduce.map.skip.maxrecords": (_SKIPPING, "0"),
    "mapreduce.reduce.skip.maxgroups": (_SKIPPING, "0"),
    "mapreduce.job.counters.max": (_COUNTERS, "120"),
    "mapreduce.job.counters.groups.max": (_COUNTERS, "50"),
    "mapreduce.job.counters.group.name.max": (_COUNTERS, "128"),
    "mapreduce.job.counters.counter.name.max": (_COUNTERS, "64"),
    "mapred.child.env": (_VARIABLES, None),
    **{f"mapreduce.{each}.env": (_VARIABLES, None) for each in ("map", "reduce", "admin.user")},
    "mapreduce.job.cache.files": (_SHIPPED, None),
    "mapreduce.job.cache.archives": (_SHIPPED, None),
    "stream.non.zero.exit.is.failure": ("a task that ends with an exit code other than 0 has failed", "true"),
    "stream.stderr.reporter.prefix": ("lines with counters and a status start with reporter:", "reporter:"),
    "stream.jobconf.truncate.limit": ("tasks find the whole values of properties", "-1"),
    "stream.io.identifier.resolver.class": (
        "tasks exchange typed bytes", "org.apache.hadoop.streaming.io.IdentifierResolver",
    ),
}  # fmt: skip

#: The present names of the properties above, by their old names.
OLD_NAMES = {
    "fs.default.name": "fs.defaultFS",
    "mapred.cache.archives": "mapreduce.job.cache.archives",
    "mapred.cache.files": "mapreduce.job.cache.files",
    "mapred.input.dir": "mapreduce.input.fileinputformat.inputdir",
    OLD_RECURSIVE: RECURSIVE,
    "mapred.input.pathFilter.class": "mapreduce.input.pathFilter.class",
    "mapred.linerecordreader.maxlength": "mapreduce.input.linerecordreader.line.maxlength",
    "mapred.map.child.env": "mapreduce.map.env",
    "mapred.map.tasks": "mapreduce.job.maps",
    "mapred.max.map.failures.percent": "mapreduce.map.failures.maxpercent",
    "mapred.max.reduce.failures.percent": "mapreduce.reduce.failures.maxpercent",
    "mapred.min.split.size": "mapreduce.input.fileinputformat.split.minsize",
    "mapred.output.compress": _COMPRESS,
    "mapred.output.compression.codec": f"{_COMPRESS}.codec",
    "mapred.output.compression.type": f"{_COMPRESS}.type",
    "mapred.output.key.comparator.class": COMPARATORS[0],
    "mapred.output.value.groupfn.class": "mapreduce.job.output.group.comparator.class",
    "mapred.reduce.child.env": "mapreduce.reduce.env",
    "mapred.reduce.tasks": REDUCERS[0],
    "mapred.skip.map.max.skip.records": "mapreduce.map.skip.maxrecords",
    "mapred.skip.on": "mapreduce.job.skiprecords",
    "mapred.skip.reduce.max.skip.groups": "mapreduce.reduce.skip.maxgroups",
    "mapred.textoutputformat.separator": _SEPARATOR,
    "mapred.working.dir": "mapreduce.job.working.dir",
    "mapreduce.combine.class": "mapreduce.job.combine.class",
    "mapreduce.inputformat.class": "mapreduce.job.inputformat.class",
    "mapreduce.job.counters.limit": "mapreduce.job.counters.max",
    "mapreduce.map.class": "mapreduce.job.map.class",
    "mapreduce.outputformat.class": "mapreduce.job.outputformat.class",
    "mapreduce.partitioner.class": "mapreduce.job.partitioner.class",
    "mapreduce.reduce.class": "mapreduce.job.reduce.class",
}


def ignored(properties: Mapping[str, str], output_format: str) -> dict[str, str]:
    """Return what holds here, by each property that would change the result in Hadoop and has no effect here."""
    found = {}
    for name, value in properties.items():
        now = OLD_NAMES.get(name, name)
        what, default = REPORTED.get(now, (None, None))
        if now == _COMPRESS and output_format in ("pairs", "parquet"):
            what, default = f"it says nothing of part files of {output_format}", "false"
        if what is not None and value.strip() not in ("", default):  # to Hadoop, an empty value is none
            found[name] = what
    return found


def text_suffix(properties: Mapping[str, str], output_format: str) -> str:
    """Return how the names of compressed part files of text end; "" if they are not, or the codec is refused."""
    properties, compresses = _presently_named(properties)
    if output_format not in ("text", *LINES) or not compresses:
        return ""
    return TEXT_CODECS.get(properties.get(f"{_COMPRESS}.codec", "DefaultCodec").rpartition(".")[2], "")


def part_options(properties: Mapping[str, str], output_format: str) -> dict[str, Any]:
    """Return how the part files of a job are written, as keywords of the writer of this format. Raises OptionError."""
    properties, compresses = _presently_named(properties)
    if output_format == "sequencefile" and compresses:
        return _sequence_file_options(properties)
    if output_format not in ("text", *LINES):
        return {}
    options: dict[str, Any] = {}
    if _SEPARATOR in properties and output_format == "text":
        options["separator"] = properties[_SEPARATOR].encode("utf-8", "surrogateescape")
    if compresses:
        name = properties.get(f"{_COMPRESS}.codec", "DefaultCodec")
        options["codec"] = name.rpartition(".")[2]
        if options["codec"] not in TEXT_CODECS:
            raise OptionError(f"text is written by run with one of the codecs {', '.join(TEXT_CODECS)}, not {name}")
    return options


def check_by_key(job: Job) -> None:
    """Raise OptionError for an output by key that tasks, which write its files, cannot write."""
    _, compresses = _presently_named(job.properties)
    if job.output_by_key and compresses and job.output_format in ("text", *LINES):
        raise OptionError(
            option_named("output_by_key") + f" writes text as it is: leave out {_COMPRESS}, or write SequenceFiles"
        )
    if job.output_by_key and job.output_format not in OUTPUT_FORMATS:
        raise OptionError(
            option_named("output_by_key") + f" needs a format that tasks can write, not {job.output_format}"
        )


def output_properties(job: Job) -> dict[str, str]:
    """Return the properties that say how an output by key is written, by their present names."""
    properties, _ = _presently_named(job.properties)
    return {name: value for name, value in properties.items() if name.startswith(_COMPRESS) or name == _SEPARATOR}


def _presently_named(properties):
    """Return properties by their present names, without empty ones, and whether they compress the output."""
    found = {OLD_NAMES.get(name, name): value for name, value in properties.items() if value}
    return found, found.get(_COMPRESS, "").strip().lower() == "true"


def _sequence_file_options(properties):
    import io

    from typedbytes import sequencefile
    from typedbytes.streaming.formats.splits import compression_of

    options = compression_of({**variables_of(properties), **variables_of({_COMPRESS: "true"})})
    if options["compression"] == "none":
        return {}
    try:
        sequencefile.Writer(io.BytesIO(), **options).close()
    except ValueError as error:
        raise OptionError(f"the output cannot be compressed as its properties say: {error}") from None
    return options
