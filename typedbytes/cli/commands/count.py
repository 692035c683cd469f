"""The command count."""

from __future__ import annotations

from typedbytes.cli.arguments import add_report_arguments
from typedbytes.cli.input.inputs import display_name, input_names, reading
from typedbytes.cli.output.reports import report
from typedbytes.cli.records.encoded import unit

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from typedbytes.cli.output.files import CommandOutput

SKIP_NRECORDS = 1 << 16


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of count."""
    add_report_arguments(parser)


def run(options: Namespace, output: CommandOutput) -> int | None:
    """Print the number of values in all inputs, or of pairs with --pairs.

    Values are skipped by their structure, not decoded. With --pairs a key without a value is an
    error. With --json or --table there is a line for each input.

    examples:
      typedbytes count part-0*.tb
      typedbytes count --pairs < part-00000.tb
      typedbytes count --table out
    """
    rows = (_counted(name, options) for name in input_names(options))
    if options.json or options.table:
        report(rows, options, output)
    else:
        output.line(sum(row["records"] for row in rows))


def _counted(name, options):
    total = 0
    with reading(name, options, mixed=options.json or options.table) as reader:
        while nrecords := reader.skip(SKIP_NRECORDS):
            total += nrecords
        return {"input": display_name(name), "records": total, "unit": unit(reader), "bytes": reader.offset}
