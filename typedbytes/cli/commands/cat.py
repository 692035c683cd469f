"""The command cat. Records are not decoded, but their structure is checked."""

from __future__ import annotations

from typedbytes.cli.arguments import add_record_arguments
from typedbytes.cli.input.inputs import input_names, reading
from typedbytes.cli.output.records import Records

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import Namespace

    from typedbytes.cli.output.files import CommandOutput

add_arguments = add_record_arguments


def run(options: Namespace, output: CommandOutput) -> int | None:
    """Copy the records of all inputs to stdout, byte for byte.

    Only whole records are copied. Records before damage are written, the message gives its offset,
    and the exit code is 65. The pairs of a SequenceFile are written as typed bytes.

    examples:
      typedbytes cat part-0*.tb > all.tb
      typedbytes cat out -o all.tb
      typedbytes cat --pairs part-00000.tb | typedbytes count --pairs
    """
    with Records(options, output) as records:
        for name in input_names(options):
            with reading(name, options, raw=True) as reader:
                records.copy(reader)
