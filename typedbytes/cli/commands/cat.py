"""The command cat. Records are not decoded, but their structure is checked."""

from __future__ import annotations

from typedbytes.cli._arguments import RecordSettings
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._output.records import Records

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(RecordSettings):
    """The options of cat."""


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Copy the records of all inputs to stdout, byte for byte.

    Only whole records are copied. Records before damage are written, the message gives its offset,
    and the exit code is 65. The pairs of a SequenceFile are written as typed bytes.

    examples:
      typedbytes cat part-0*.tb > all.tb
      typedbytes cat out -o all.tb
      typedbytes cat --pairs part-00000.tb | typedbytes count --pairs
    """
    with Records(settings, output) as records:
        records.copy_all(Inputs(settings))
