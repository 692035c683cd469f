"""The command freq."""

from __future__ import annotations

from typedbytes._report._native import RecordStatistics
from typedbytes.cli.arguments import add_report_arguments, integer
from typedbytes.cli.output.reports import report
from typedbytes.cli.query.statistics import collect, most_frequent

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from typedbytes.cli.output.files import CommandOutput


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of freq."""
    add_report_arguments(parser)
    parser.add_argument("-n", type=integer, default=10, metavar="N", dest="nkeys", help="report the N most frequent (10); 0: all")


def run(options: Namespace, output: CommandOutput) -> int | None:
    """Count how often each value occurs, for pairs each key, and report the most frequent.

    They are compared by their bytes. All distinct ones are kept in memory.

    examples:
      typedbytes freq --pairs part-0*.tb
      typedbytes freq -n 0 --json < words.tb
    """
    counts: dict[bytes, int] = {}
    statistics, pairs = collect(RecordStatistics, options, top=counts)
    report(most_frequent(counts, options.nkeys, statistics.nrecords, options, pairs), options, output)
