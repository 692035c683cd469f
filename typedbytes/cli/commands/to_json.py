"""The command to-json. The form of a value is written by compiled code (typedbytes._report)."""

from __future__ import annotations

from typedbytes.cli.arguments import add_json_arguments, add_output_argument, add_stream_arguments
from typedbytes.cli.commands import cat

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from typedbytes.cli.output.files import CommandOutput


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of to-json."""
    add_stream_arguments(parser)
    add_output_argument(parser)
    add_json_arguments(parser)


def run(options: Namespace, output: CommandOutput) -> int | None:
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
    options.to = "json"
    return cat.run(options, output)
