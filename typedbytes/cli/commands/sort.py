"""The command sort. Nothing is written before all inputs have been read."""

from __future__ import annotations

import os
import tempfile

from typedbytes._sorting import external
from typedbytes.cli._arguments import MEMORY, RecordSettings, option, positive, switch
from typedbytes.cli._failure import USAGE, Failure
from typedbytes.cli._input import progress
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._input.pair_detection import CHECK_UNDECIDED
from typedbytes.cli._output.records import Records, format_of
from typedbytes.cli._query.fields import Fields
from typedbytes.cli._query.sort_inputs import SortInputs
from typedbytes.cli._query.value_order import RecordSink, with_sort_keys

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(RecordSettings):
    """The options of sort."""

    memory: int = MEMORY
    threads: int | None = option(
        "--threads", type=positive, metavar="N", help="how many threads sort (one for each processor, at most 4)"
    )
    by: list[str] | None = option(
        "--by", action="append", metavar="ORDER",
        help=(
            "what to sort by: bytes (Hadoop's order, of all bytes), or key, value, or a path as for cut; repeat these "
            "to break ties (bytes)"
        ),
    )  # fmt: skip
    reverse: bool = switch("-r", "--reverse", help="the largest first")


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Sort values by their encoded bytes, and pairs by those of their keys.

    This is the order in which Hadoop passes TypedBytesWritables to a reducer: by unsigned bytes, so
    negative numbers follow positive ones and short strings precede long ones. Records with equal
    keys keep their order, also with --reverse. What does not fit into memory is written to temporary
    files in TMPDIR, by several threads while the command reads on.

    --by value sorts as Python does, numbers by their size and text by its characters, and pairs by
    their values instead of their keys; then --reverse and head give the largest. --by key is the same
    for their keys, and --by PATH for what is at a path, such as value.size or value[0] (see cut).
    Nulls come first. A second --by decides where the first finds equals.

    examples:
      typedbytes sort --pairs part-0*.tb -o sorted.tb
      typedbytes sort --by value --reverse --pairs counts.tb | typedbytes head -3 --pairs
      typedbytes sort --by value.size --by value.name --values logs.tb -o by-size.tb
      typedbytes sort --memory 4G < big.tb | typedbytes uniq > distinct.tb
    """
    inputs = SortInputs(Inputs(settings, CHECK_UNDECIDED), settings.to == "sequencefile")
    order = settings.by or ["bytes"]
    if "bytes" in order and len(order) > 1:
        raise Failure(USAGE, "--by bytes leaves no ties to another --by: it stands alone")
    fields = Fields(order, "--by", settings.dialect) if order != ["bytes"] else None
    with inputs.name_failures():
        if format_of(settings, output) != "typedbytes":
            _sort_and_convert(inputs, settings, output, fields)
        else:
            _sort_into(output, inputs, settings, fields)


def _sort_into(sink, inputs, settings, fields):
    sources, nparts = inputs.sources()
    threads = settings.threads or _default_threads()
    options = {"memory": settings.memory, "reverse": settings.reverse, "threads": threads}
    if fields:
        fields.check(nparts == 2)
        sources = (with_sort_keys(source, nparts, settings.dialect, fields) for source in sources)
        sink = RecordSink(sink)
    else:
        options = {"nparts": nparts, "dialect": settings.dialect, **options}
    external.sort(_until_sorted(sources, sink), sink, **options)
    return nparts


def _until_sorted(sources, sink):
    """Yield the sources, and then show the progress of writing what they held."""
    nbytes = 0
    for source in sources:
        counted = progress.CountingSource(source)
        yield counted
        nbytes += counted.tell()
    progress.follow(sink, "sorted records", nbytes)


def _default_threads():
    """Return one for each processor of this process, at most four: more would wait for the thread that reads."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, 4)


def _sort_and_convert(inputs, settings, output, fields):
    """Sort into a temporary file first: the other formats are made from whole records."""
    with tempfile.TemporaryFile(buffering=0) as file:
        nparts = _sort_into(file, inputs, settings, fields)
        file.seek(0)
        with progress.show_progress(file, "sorted records") as source, Records(settings, output) as records:
            reader = inputs.reader_of_sorted(source, nparts)
            with records.writer(reader) as writer:
                writer.copy(reader)
