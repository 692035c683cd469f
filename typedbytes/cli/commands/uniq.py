"""The command uniq."""

from __future__ import annotations

from typedbytes.cli._arguments import RecordSettings, option, switch
from typedbytes.cli._failure import USAGE, Failure
from typedbytes.cli._input.inputs import Inputs
from typedbytes.cli._input.pair_detection import CHECK_UNDECIDED
from typedbytes.cli._output.records import Records
from typedbytes.cli._records.encoded import is_pairs, joined

TYPE_CHECKING = False  # typing itself is not imported: start-up time

if TYPE_CHECKING:
    from typedbytes.cli._output.files import CommandOutput


class Settings(RecordSettings):
    """The options of uniq."""

    by: str = option("--by", choices=("record", "key"), default="record", help="what to compare (record)")
    all: bool = switch("--all", help="compare with all earlier records, not only the previous one")


def run(settings: Settings, output: CommandOutput) -> int | None:
    """Copy records to stdout without those that repeat the one before.

    Records are compared by their bytes; with --by key by those of their keys, and the first pair is
    copied. --all keeps all distinct records in memory; sorted input needs no --all.

    examples:
      typedbytes sort --pairs part-0*.tb | typedbytes uniq --pairs > distinct.tb
      typedbytes uniq --pairs --by key --all < pairs.tb
    """
    seen, last, inputs = set(), None, Inputs(settings, CHECK_UNDECIDED)
    with Records(settings, output) as records:
        for name in inputs:
            with inputs.reading(name) as reader, records.writer(reader) as writer:
                if settings.by == "key" and not is_pairs(reader):
                    raise Failure(USAGE, "argument --by: values have no key (see --pairs)")
                for record in reader:
                    key = record[0] if settings.by == "key" else joined(record)
                    if key == last or (settings.all and key in seen):
                        continue
                    last = key
                    if settings.all:
                        seen.add(key)
                    writer.write_raw(joined(record))
