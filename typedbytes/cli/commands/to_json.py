"""The command to-json. The form of a value is written by compiled code (typedbytes._report)."""

from __future__ import annotations

from typedbytes.cli._arguments import KEY_TYPE, OUTPUT, PLAIN, PRETTY, TYPE, RecordForm, StreamSettings
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._output.records import Records

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(StreamSettings, RecordForm):
    """The options of to-json."""

    to: str = "json"
    output: str | None = OUTPUT
    plain: bool = PLAIN
    pretty: bool = PRETTY
    type: str | None = TYPE
    key_type: str | None = KEY_TYPE


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Write each value as one line of JSON, from which from-json writes the same bytes again.

    STRING, INT, BOOL, DOUBLE and LIST are plain JSON, a MAP is an object if nothing is lost, and
    everything else is an object with one member that names the type, such as {"bytes": "AAE="}.
    With --pairs a line is [key, value]. Pickles are not loaded; with --plain those of dates, times,
    Decimals, ints and UUIDs are, and written as text and numbers.

    --type shows the values as a record class has them: fields by name, dates, times and UUIDs as text;
    a value that does not fit is an error. From the lines from-json writes values that fit the class.

    examples:
      typedbytes to-json part-00000.tb | less
      typedbytes to-json --pairs < pairs.tb | jq -c '.[0]'
      typedbytes to-json --plain --type visits:Visit visits.tb
      typedbytes to-json --plain logs.tb | mlr --ijsonl --opprint head
    """
    with Records(settings, output) as records:
        records.copy_all(Inputs(settings))
