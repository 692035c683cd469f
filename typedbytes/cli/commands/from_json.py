"""The command from-json."""

from __future__ import annotations

from typedbytes.cli._arguments import OUTPUT, FileSettings, switch
from typedbytes.cli._input.inputs import Inputs

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(FileSettings):
    """The options of from-json."""

    output: str | None = OUTPUT
    plain: bool = switch("--plain", help="natural JSON: every object is a MAP, no object names a type")


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Write the values that lines of JSON describe; the inverse of to-json.

    A value may take several lines, as to-json --pretty writes it, and a line may hold several
    values. Blank lines are skipped. With --pairs each value is an array of a key and a value.
    --max-bytes limits the length of a line and of a value. With --plain the last of equal names in
    an object counts.

    examples:
      typedbytes to-json a.tb | sed s/colour/color/ | typedbytes from-json > b.tb
      echo '{"name": "x", "data": {"bytes": "AAE="}}' | typedbytes from-json | xxd
    """
    output.refuse_terminal()
    for records in Inputs(settings, plain=settings.plain).records_of_json():
        output.write(records)
