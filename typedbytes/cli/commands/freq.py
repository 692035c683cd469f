"""The command freq."""

from __future__ import annotations

from typedbytes._report import RecordStatistics
from typedbytes.cli._arguments import ReportSettings, integer, option
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._input.pair_detection import NOTE
from typedbytes.cli._output.reports import report
from typedbytes.cli._query.statistics import collect, most_frequent

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(ReportSettings):
    """The options of freq."""

    nkeys: int = option("-n", type=integer, default=10, metavar="N", help="report the N most frequent (10); 0: all")


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Count how often each value occurs, for pairs each key, and report the most frequent.

    They are compared by their bytes. All distinct ones are kept in memory.

    examples:
      typedbytes freq --pairs part-0*.tb
      typedbytes freq -n 0 --json < words.tb
    """
    counts: dict[bytes, int] = {}
    statistics, pairs = collect(RecordStatistics, Inputs(settings, NOTE), top=counts)
    report(most_frequent(counts, settings.nkeys, statistics.nrecords, settings.dialect, pairs), settings, output)
