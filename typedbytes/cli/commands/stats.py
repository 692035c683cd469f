"""The command stats."""

from __future__ import annotations

from typedbytes._report import RecordStatistics
from typedbytes.cli._arguments import ReportSettings, integer, option
from typedbytes.cli._failure import USAGE, Failure
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._input.pair_detection import NOTE
from typedbytes.cli._output.reports import report_sections
from typedbytes.cli._query.statistics import collect, most_frequent, type_name

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(ReportSettings):
    """The options of stats."""

    nkeys: int = option("-n", type=integer, default=0, metavar="N", help="report the N most frequent keys (0)")
    reducers: int = option(
        "--reducers", type=integer, default=0, metavar="N", help="report how many records each of N reducers would get"
    )


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Report the number of records, their bytes and types, and the minimum, the maximum and the mean.

    For numbers these are of their values, for other types of the number of bytes or items.
    --reducers assigns keys as Hadoop's HashPartitioner does; a skew of 2 means that a reducer gets
    twice its share.

    examples:
      typedbytes stats --pairs part-0*.tb
      typedbytes stats --pairs -n 10 --reducers 8 < pairs.tb
    """
    top: dict[bytes, int] | None = {} if settings.nkeys else None
    if settings.reducers > 65536:
        raise Failure(USAGE, "argument --reducers: expected at most 65536")
    statistics, pairs = collect(RecordStatistics, Inputs(settings, NOTE), npartitions=settings.reducers, top=top)
    parts = ("key", "value") if pairs else ("value",)
    types = [
        _type_row(name, code, row) for part, name in enumerate(parts) for code, row in statistics.by_type(part).items()
    ]
    nbytes = sum(row["bytes"] for row in types)
    sections = {"records": [{"records": statistics.nrecords, "unit": "pairs" if pairs else "values", "bytes": nbytes}]}
    if types:
        sections["types"] = types
    if top:
        sections["most frequent"] = most_frequent(top, settings.nkeys, statistics.nrecords, settings.dialect, pairs)
    if settings.reducers:
        sections["reducers"] = _reducers(statistics.partitions)
    report_sections(sections, settings, output)


def _type_row(part, code, row):
    return {"of": part, "type": type_name(code), **row}


def _reducers(counts):
    mean = sum(counts) / len(counts)
    return [{"reducer": index, "records": n, "skew": n / mean if mean else 0.0} for index, n in enumerate(counts)]
