"""The command to-json. The form of a value is written by compiled code (typedbytes._report)."""

from __future__ import annotations

from typedbytes.cli._arguments import OUTPUT, PLAIN, PRETTY, RecordForm, StreamSettings
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._output.records import Records

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(StreamSettings, RecordForm):
    """The options of to-json."""

    to: str = "json"
    output: str | None = OUTPUT
    plain: bool = PLAIN
    pretty: bool = PRETTY


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Write each value as one line of JSON, from which from-json writes the same bytes again.

    STRING, INT, BOOL, DOUBLE and LIST are plain JSON, a MAP is an object if nothing is lost, and
    everything else is an object with one member that names the type, such as {"bytes": "AAE="}.
    With --pairs a line is [key, value]. Pickles are not loaded; with --plain those of dates, times,
    Decimals, ints and UUIDs are, and written as text and numbers.

    examples:
      typedbytes to-json part-00000.tb | less
      typedbytes to-json --pairs < pairs.tb | jq -c '.[0]'
      typedbytes to-json --plain logs.tb | mlr --ijsonl --opprint head
    """
    with Records(settings, output) as records:
        records.copy_all(Inputs(settings))
