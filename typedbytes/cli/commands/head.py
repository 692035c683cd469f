"""The command head."""

from __future__ import annotations

from typedbytes.cli._arguments import RecordSettings, number_option
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._input.pair_detection import REFUSE
from typedbytes.cli._output.records import Records
from typedbytes.cli._query.ranges import copy_range

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(RecordSettings):
    """The options of head."""

    nrecords: int = number_option()


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Copy the first records to stdout, byte for byte.

    The rest of the input is not read.

    examples:
      typedbytes head -n 3 --pairs part-00000.tb | typedbytes to-json --pairs
      typedbytes head --pairs < pairs.tb > ten.tb
    """
    with Records(settings, output) as records:
        copy_range(Inputs(settings, REFUSE), records, range(settings.nrecords))
