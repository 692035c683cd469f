"""The command count."""

from __future__ import annotations

from typedbytes.cli._arguments import ReportSettings
from typedbytes.cli._failure import display_name
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._input.pair_detection import NOTE
from typedbytes.cli._output.reports import report
from typedbytes.cli._records.encoded import unit

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput

SKIP_NRECORDS = 1 << 16


class Settings(ReportSettings):
    """The options of count."""


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Print the number of values in all inputs, or of pairs with --pairs.

    Values are skipped by their structure, not decoded. With --pairs a key without a value is an
    error. With --json or --table there is a line for each input.

    examples:
      typedbytes count part-0*.tb
      typedbytes count --pairs < part-00000.tb
      typedbytes count --table out
    """
    inputs, is_each = Inputs(settings, NOTE), settings.json or settings.table
    rows = (_counted(name, inputs, is_each) for name in inputs)
    if is_each:
        report(rows, settings, output)
    else:
        output.line(sum(row["records"] for row in rows))


def _counted(name, inputs, mixed):
    total = 0
    with inputs.reading(name, raw=False, mixed=mixed) as reader:
        while nrecords := reader.skip(SKIP_NRECORDS):
            total += nrecords
        return {"input": display_name(name), "records": total, "unit": unit(reader), "bytes": reader.offset}
