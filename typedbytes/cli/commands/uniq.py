"""The command uniq."""

from __future__ import annotations

from typedbytes.cli.arguments import CHECK_UNDECIDED, add_picking_arguments
from typedbytes.cli.failure import USAGE, Failure
from typedbytes.cli.input.inputs import input_names, reading
from typedbytes.cli.output.records import Records
from typedbytes.cli.records.encoded import is_pairs, joined

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from typedbytes.cli.output.files import CommandOutput


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of uniq."""
    add_picking_arguments(parser)
    parser.set_defaults(pair_check=CHECK_UNDECIDED)
    parser.add_argument("--by", choices=("record", "key"), default="record", help="what to compare (record)")
    parser.add_argument("--all", action="store_true", help="compare with all earlier records, not only the previous one")


def run(options: Namespace, output: CommandOutput) -> int | None:
    """Copy records to stdout without those that repeat the one before.

    Records are compared by their bytes; with --by key by those of their keys, and the first pair is
    copied. --all keeps all distinct records in memory; sorted input needs no --all.

    examples:
      typedbytes sort --pairs part-0*.tb | typedbytes uniq --pairs > distinct.tb
      typedbytes uniq --pairs --by key --all < pairs.tb
    """
    seen, last = set(), None
    with Records(options, output) as records:
        for name in input_names(options):
            with reading(name, options, raw=True) as reader, records.writer(reader) as writer:
                if options.by == "key" and not is_pairs(reader):
                    raise Failure(USAGE, "argument --by: values have no key (see --pairs)")
                for record in reader:
                    key = record[0] if options.by == "key" else joined(record)
                    if key == last or (options.all and key in seen):
                        continue
                    last = key
                    if options.all:
                        seen.add(key)
                    writer.write_raw(joined(record))
