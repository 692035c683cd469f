"""The command to-text."""

from __future__ import annotations

from typedbytes.cli._arguments import RecordForm, StreamSettings, TextSettings
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._input.pair_detection import NOTE
from typedbytes.cli._output.records import Records

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(TextSettings, StreamSettings, RecordForm):
    """The options of to-text."""

    to: str = "text"


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Write each value as a line of text, and each pair as its key, a TAB and its value.

    STRING and BYTES are written as they are, everything else as to-json --plain writes it: containers
    as JSON, NaN as null. Types are lost: the STRING 5 and the INT 5 are the same line. With --csv or
    --tsv the items of a VECTOR or LIST are the fields of a row, in quotes where Python's csv module
    needs them; null is an empty field, and so is NaN. With --header each value is a MAP with the keys
    of the first one.

    What does not fit on a line is an error, and the records before it are written: a line end, or
    the separator in a key, without --csv or --tsv; a MAP with other keys.

    examples:
      typedbytes to-text --pairs out | sort | head
      typedbytes to-text --csv --header people.tb -o people.csv
    """
    from typedbytes.cli._forms.text_form import Layout

    layout = Layout(settings.pairs, settings.delimiter, settings.header, settings.separator)
    with Records(settings, output, layout=layout) as records:
        records.copy_all(Inputs(settings, NOTE))
